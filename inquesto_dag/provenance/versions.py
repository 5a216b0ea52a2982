"""The versions of the functions behind the memo, which nobody has to remember to raise (PROTOCOL D17).

Each function has roots; its code is everything that they reach (`definitions`), and `versions.json` beside
this module records, for each, the digest of the code that was last declared and the version of its results.
While the code is the declared one the version is the recorded one; as soon as it differs the version is
taken from the code's own digest, so results of other code are never given back, whether or not anybody said
so. `accept` then declares the code: as giving the same results (what the memo holds is used again), or, with
`bump`, as giving others. A version after a bump is the one that the code had before, so nothing that was
computed in between is lost.

A process runs the code that it loaded, and digests are taken of the files: when a file changes in a way
that counts after a process has loaded it, keys can no longer be formed there, and `deciding_code` says so.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

from inquesto_dag import LOADED_NS
from inquesto_dag.errors import CheckFailed, InputError
from inquesto_dag.files import read_json, write_json
from inquesto_dag.provenance.code import PACKAGE, ROOT
from inquesto_dag.provenance.definitions import Closure, Definition, close_over
from inquesto_dag.provenance.memo import Memo

RECORD = Path(__file__).with_suffix(".json")
SHORT = 16  # hex digits of a digest that make a version

# Roots by function. The kinds of memo entry come first, then what stands behind an interface in them: the
# engines and the judge, whose version is part of their identity, and an agent's program, part of the agent's:
# the policy, or what is around a language model.
FUNCTIONS: Mapping[str, tuple[str, ...]] = {
    "synthesis": ("speech.engines:MemoisedSpeech",),
    "recognition": ("speech.engines:MemoisedRecogniser",),
    "embedding": ("speech.engines:MemoisedEncoder",),
    "call": ("calls.job:place", "speech.engines:TimedVad"),
    "annotation": ("stages.annotations:read_recording",),
    "probe": ("validation.probes.place:place_probe", "speech.engines:TimedVad"),
    "verdict": ("stages.verdicts:judge_call",),
    "kokoro-int8": ("speech.kokoro:KokoroOnnx",),
    "kokoro-fp32": ("speech.kokoro:KokoroTorch",),
    "whisper": ("speech.whisper:Whisper",),
    "silero": ("speech.silero:Silero",),
    "ge2e": ("speech.ge2e:Ge2e",),
    "wespeaker": ("speech.wespeaker:WeSpeaker",),
    "rules": ("judging.rules:RuleJudge",),
    "model-judge": ("judging.model:ModelJudge",),
    "model-caller": ("callers.model:ModelCaller", "calls.simulated:speak_line"),
    "policy": ("agents.scripted.policy:ScriptedBrain",),
    "chat": ("agents.chat.session:ChatBrain",),
    "local-chat": ("agents.chat.local:LocalModel",),
}
KINDS = ("synthesis", "recognition", "embedding", "call", "annotation", "probe", "verdict")

# What is reached and decides no result: words of errors, transport of results, what only forms keys.
DECIDE_NOTHING = (
    "agents.chat.endpoint:*", "agents.chat.faults:*",  # how a model is reached, and what failed
    # Functions of their own, in the keys of the calls that have them.
    "agents.brain:_make_transformers", "calls.simulated:SimulatedCaller",
    "errors:*", "provenance.memo:*", "provenance.versions:*", "provenance.definitions:*", "provenance.code:*",
    "speech.engines:Engines", "speech.engines:EngineSpec", "speech.engines:make_engine",
    "speech.loaded:digest_of", "speech.loaded:versions_of", "files:read_json", "files:sha256_file",
)  # fmt: skip

# Installed packages behind an import, whose versions are part of a key; () for one that computes nothing.
LIBRARIES: Mapping[str, tuple[str, ...]] = {
    "espeakng_loader": ("espeakng-loader",),
    "faster_whisper": ("faster-whisper", "ctranslate2", "tokenizers"),
    "httpx": (),
    "jinja2": ("jinja2",),
    "kaldi_native_fbank": ("kaldi-native-fbank",),
    "kokoro": ("kokoro", "torch", "transformers"),
    "kokoro_onnx": ("kokoro-onnx",),
    "numpy": ("numpy",),
    "onnxruntime": ("onnxruntime",),
    "phonemizer": ("phonemizer-fork",),
    "pydantic": (),
    "scipy": ("scipy",),
    "soundfile": ("soundfile",),  # its wheel holds libsndfile and the FLAC encoder
    "soxr": ("soxr",),
    "tenacity": (),
    "torch": ("torch",),
    "transformers": ("transformers", "tokenizers", "gguf", "accelerate", "torch"),
    "yaml": (),
}


@dataclass
class _Known:
    """A function's code as this process loaded it, and the state of its files when it was last looked at."""

    closure: Closure
    states: tuple[tuple[int, int, int], ...]


_known: dict[str, _Known] = {}


def code_of(function: str) -> Closure:
    """The code of a function as this process runs it; CheckFailed when its files no longer hold that code."""
    known = _known.get(function)
    if known is None:
        closure = _walk(function)
        _refuse_edited(closure)
        known = _known[function] = _Known(closure, _states(closure.files))
    states = _states(known.closure.files)
    if states != known.states:
        if not _still(function, known.closure.digest):
            changed = [
                path for path, old, new in zip(known.closure.files, known.states, states, strict=True)
                if old != new
            ]  # fmt: skip
            raise _edited(changed)
        known.states = states  # a comment, or the edit was taken back
    return known.closure


def code_digest(function: str) -> str:
    """Hex SHA-256 of a function's code (see `definitions`)."""
    return code_of(function).digest


def function_version(function: str) -> str:
    """The version of a function's results: the recorded one, or the code's own where that is not declared."""
    digest = code_digest(function)
    entry = _recorded().get(function, {})
    return str(entry["version"]) if entry.get("code") == digest else digest[:SHORT]


def deciding_code(function: str) -> dict[str, Any]:
    """What of code decides a function's results, for a key: its version, and those of the libraries in it."""
    return {"version": function_version(function), "libraries": _versions(code_of(function).libraries)}


def function_of(made: object) -> str:
    """The function whose root is an object's class; InputError when no function has it."""
    root = f"{type(made).__module__.removeprefix(PACKAGE + '.')}:{type(made).__qualname__}"
    for function, roots in FUNCTIONS.items():
        if root in roots:
            return function
    raise InputError(
        "has no version", where=root, remedy=f"give it an entry in FUNCTIONS of {Path(__file__).name}"
    )


def remember(memo: Memo, kind: str, parts: Mapping[str, Any], compute: Callable[[], bytes]) -> bytes:
    """The payload of a kind for these parts, from the memo or computed, keyed by the code behind it too.

    CheckFailed when the code was edited while it ran: such a result belongs to neither version.
    """

    def checked() -> bytes:
        payload = compute()
        for function in tuple(_known):
            code_of(function)
        return payload

    return memo.compute(kind, deciding_code(kind), parts, checked)


def edited_functions() -> dict[str, str]:
    """The functions whose code on disk is not the declared one, with the digest that it has now."""
    recorded = read_json(RECORD)
    found = {function: _walk(function).digest for function in FUNCTIONS}
    return {name: digest for name, digest in found.items() if recorded.get(name, {}).get("code") != digest}


def accept(functions: Iterable[str] = (), *, bump: bool = False) -> dict[str, str]:
    """Declare the code on disk of functions (of all when none is named); returns those that had been edited,
    with the version that their results have from now on.

    Without `bump` the results are said to be what they were, and keep their version. InputError for a
    function that does not exist.
    """
    wanted = tuple(functions) or tuple(FUNCTIONS)
    unknown = [name for name in wanted if name not in FUNCTIONS]
    if unknown:
        raise InputError(f"unknown function {unknown[0]!r}", remedy=f"use some of {', '.join(FUNCTIONS)}")
    recorded = {name: entry for name, entry in read_json(RECORD).items() if name in FUNCTIONS}
    declared = {}
    for name, digest in edited_functions().items():
        if name in wanted:
            old = recorded.get(name, {}).get("version")
            declared[name] = digest[:SHORT] if bump or old is None else str(old)
            recorded[name] = {"version": declared[name], "code": digest}
    write_json(RECORD, recorded)
    _recorded.cache_clear()
    return declared


@cache
def _recorded() -> dict[str, Any]:
    recorded: dict[str, Any] = read_json(RECORD)
    return recorded


def _walk(function: str) -> Closure:
    return close_over(map(_definition, FUNCTIONS[function]), map(_definition, DECIDE_NOTHING))


def _still(function: str, digest: str) -> bool:
    try:
        return _walk(function).digest == digest
    except (OSError, SyntaxError, InputError):  # removed, or saved half-way
        return False


def _definition(text: str) -> Definition:
    module, _, name = text.partition(":")
    return f"{PACKAGE}.{module}", name


def _states(files: Iterable[Path]) -> tuple[tuple[int, int, int], ...]:
    return tuple(_state(path) for path in files)


def _state(path: Path) -> tuple[int, int, int]:
    try:
        state = path.stat()
    except FileNotFoundError:
        return 0, 0, 0
    return state.st_size, state.st_mtime_ns, state.st_ctime_ns


def _refuse_edited(closure: Closure) -> None:
    """CheckFailed when a file was changed after this process may have loaded it.

    By the time of the inode's change, which no tool sets back.
    """
    late = [
        path for path in closure.files
        if path.stat().st_ctime_ns > LOADED_NS and _module_name(path) in sys.modules
    ]  # fmt: skip
    if late:
        raise _edited(late)


def _module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _edited(paths: Iterable[Path]) -> CheckFailed:
    names = ", ".join(path.relative_to(ROOT).as_posix() for path in paths)
    return CheckFailed(
        f"code changed after it was loaded: {names}",
        where="memo",
        remedy="run the command again (restart workers that outlive a run); what was finished is kept",
    )


def _versions(libraries: Iterable[str]) -> dict[str, str]:
    unknown = sorted(set(libraries) - set(LIBRARIES))
    if unknown:
        raise InputError(
            f"{unknown[0]} is imported by code behind the memo and is not listed",
            where=Path(__file__).name, field="LIBRARIES",
            remedy="name the installed packages that compute in it, or () when it decides nothing",
        )  # fmt: skip
    return {package: _installed(package) for name in sorted(libraries) for package in LIBRARIES[name]}


@cache
def _installed(package: str) -> str:
    return installed_version(package)
