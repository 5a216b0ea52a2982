"""Versions of the functions behind the memo: what changes them, what does not, and how they are declared."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from inquesto_dag.errors import InputError
from inquesto_dag.files import read_json
from inquesto_dag.provenance import versions
from inquesto_dag.provenance.code import PACKAGE
from inquesto_dag.provenance.versions import FUNCTIONS, KINDS


def test_D17_the_code_behind_the_memo_is_declared() -> None:
    """Whoever edits it says what its results count as; until then other results are never given back."""
    assert versions.edited_functions() == {}, (
        "code behind the memo changed. If it gives the results that it gave, run "
        "`inquesto-dag memo accept FUNCTION`; if it gives others, `inquesto-dag memo accept --bump FUNCTION`"
    )


def test_every_kind_and_library_is_known() -> None:
    """Roots exist, what they import is listed, and the kinds of the memo are among the functions."""
    for function in FUNCTIONS:
        assert len(versions.deciding_code(function)["version"]) == 16
    assert set(KINDS) < set(FUNCTIONS)
    assert versions.deciding_code("whisper")["libraries"].keys() == {
        "ctranslate2", "faster-whisper", "numpy", "tokenizers",
    }  # fmt: skip


EDITS = [
    # file, old, new, the functions whose version the edit changes
    ("speech/kokoro.py", "RUN_PAUSE = 0.2  # s", "RUN_PAUSE = 0.2  # seconds", set()),
    ("speech/whisper.py", '"""Read the words of', '"""Read all the words of', set()),
    ("units.py", "def to_samples(", "\n\ndef to_samples(", set()),
    ("speech/whisper.py", "audio: Audio) -> R", "audio: Audio | Any) -> R", set()),
    ("stages/annotations.py", '"substitutions": errors.sub', '"substitutions": 0 * errors.sub', set()),
    ("cli/app.py", "add_completion=False", "add_completion=True", set()),
    ("protocol/models.py",
     "class Question(Frozen):", "class Question(Frozen):\n    x: int = 1\n",
     {"rules", "model-judge"}),
    ("speech/kokoro.py", "RUN_PAUSE = 0.2", "RUN_PAUSE = 0.3", {"kokoro-int8", "kokoro-fp32"}),
    ("speech/kokoro.py", "[[0, *tokens, 0]]), torch", "[[0, *tokens, 1]]), torch", {"kokoro-fp32"}),
    ("speech/whisper.py", "SHORTEST = 400", "SHORTEST = 401", {"whisper"}),
    ("speech/silero.py", "CONTEXT = 64", "CONTEXT = 65", {"silero"}),
    ("speech/mel.py", "HOP = 160", "HOP = 161", {"ge2e"}),
    ("speech/loaded.py", "log_severity_level = 3", "log_severity_level = 2",
     {"kokoro-int8", "silero", "wespeaker"}),
    ("speech/engines.py", "return flac_bytes(audio)", "return flac_bytes(-audio)", {"synthesis"}),
    ("speech/engines.py", "engine.recognise(quantise(audio))", "engine.recognise(audio)", {"recognition"}),
    ("speech/engines.py", "engine.embed(quantise(audio))", "engine.embed(audio)", {"embedding"}),
    ("agents/scripted/policy.py", "KEPT_FRAGMENTS = 3", "KEPT_FRAGMENTS = 2", {"policy", "call"}),
    ("callers/listening.py", "\ndef ", "\nprint()\ndef ", {"call", "probe"}),
    ("calls/caller.py", "SILENCE: Seconds = 10.0", "SILENCE: Seconds = 9.0", {"call", "probe"}),
    ("annotation/turns.py", "1.25", "1.5", {"annotation"}),
    ("judging/claims.py", "\ndef ", "\nprint()\ndef ", {"rules"}),
    ("judging/case.py", "nothing was said", "no word was said", {"model-judge"}),
    ("stages/verdicts.py", "canonical_json(verdict_rows(judge, call))", "canonical_json([])", {"verdict"}),
]  # fmt: skip


def shown(value: object) -> str:
    return " ".join(sorted(value)) if isinstance(value, set) else str(value)[:40]


@pytest.mark.parametrize(("file", "old", "new", "changed"), EDITS, ids=shown)
def test_D17_an_edit_changes_the_versions_of_what_it_can_change(
    edited: Path, file: str, old: str, new: str, changed: set[str]
) -> None:
    """And of nothing else: comments, docstrings, layout and annotations of functions change none."""
    path = edited / PACKAGE / file
    before = {function: versions._walk(function).digest for function in FUNCTIONS}
    source = path.read_text()
    assert old in source
    path.write_text(source.replace(old, new, 1))
    ast.parse(path.read_text())
    after = {function: versions._walk(function).digest for function in FUNCTIONS}
    differing = {function for function in FUNCTIONS if before[function] != after[function]}
    assert differing == changed
    path.write_text(source)
    assert all(versions._walk(function).digest == before[function] for function in changed)


def test_an_import_from_elsewhere_is_an_edit(edited: Path) -> None:
    """The same name, another function behind it."""
    before = versions._walk("ge2e").digest
    path = edited / PACKAGE / "speech" / "ge2e.py"
    line = "from inquesto_dag.audio.levels import frame_levels, rms_dbov"
    swapped = "from inquesto_dag.audio.levels import power_dbov as rms_dbov, frame_levels"
    assert line in path.read_text()
    path.write_text(path.read_text().replace(line, swapped))
    assert versions._walk("ge2e").digest != before


def test_a_library_that_nobody_listed_is_refused(edited: Path) -> None:
    """Its version might decide results, so it must be said whether it does."""
    path = edited / PACKAGE / "speech" / "mel.py"
    source = path.read_text()
    assert "    padded = np.pad(" in source
    used = source.replace("    padded = np.pad(", "    librosa.show()\n    padded = np.pad(")
    path.write_text(used + "\nimport librosa\n")
    with pytest.raises(InputError, match=r"versions\.py: LIBRARIES: librosa is imported by code behind"):
        versions.deciding_code("ge2e")


def _edit(project: Path) -> None:
    path = project / PACKAGE / "speech" / "whisper.py"
    path.write_text(path.read_text().replace("SHORTEST = 400", "SHORTEST = 800"))


def test_edited_code_has_its_own_version_until_it_is_declared(edited: Path) -> None:
    """Accepted, it counts as what it was; edited and taken back, too."""
    old = versions.function_version("whisper")
    assert old == read_json(versions.RECORD)["whisper"]["version"]
    source = (edited / PACKAGE / "speech" / "whisper.py").read_text()
    _edit(edited)
    versions._known.clear()  # as in a new process
    other = versions.function_version("whisper")
    assert other != old and other == versions.code_digest("whisper")[:16]
    assert list(versions.edited_functions()) == ["whisper"]
    assert versions.accept(["silero"]) == {}
    assert versions.function_version("whisper") == other
    assert versions.accept() == {"whisper": old}
    assert versions.function_version("whisper") == old
    (edited / PACKAGE / "speech" / "whisper.py").write_text(source)
    versions._known.clear()
    assert versions.function_version("whisper") == old  # the code that the version was taken from


def test_a_bump_keeps_what_was_computed_since_the_edit(edited: Path) -> None:
    """Its version is the one that the edited code had of itself, and never the earlier one."""
    old = versions.function_version("whisper")
    _edit(edited)
    versions._known.clear()
    since = versions.function_version("whisper")
    assert versions.accept(["whisper"], bump=True) == {"whisper": since}
    assert versions.function_version("whisper") == since != old
    assert versions.edited_functions() == {}


def test_a_function_that_does_not_exist_lists_those_that_do(edited: Path) -> None:
    """The user's mistake."""
    with pytest.raises(InputError, match=r"unknown function 'speech'\n.*synthesis, recognition"):
        versions.accept(["speech"])


RUN = """
import sys
from pathlib import Path
from inquesto_dag.speech import whisper
from inquesto_dag.provenance.memo import Memo
from inquesto_dag.provenance.versions import function_version, remember
source = Path(whisper.__file__)
def edit(old, new):
    text = source.read_text()
    assert old in text
    source.write_text(text.replace(old, new))
memo = Memo(Path(sys.argv[1]))
"""


def run_edited(project: Path, program: str) -> subprocess.CompletedProcess[str]:
    """A program in a process of its own, on the copy."""
    return subprocess.run(
        [sys.executable, "-c", RUN + program, str(project / "memo")], capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(project)}, cwd=project, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    "program",
    [
        "edit('SHORTEST = 400', 'SHORTEST = 800'); function_version('whisper')",
        "function_version('whisper'); edit('SHORTEST = 400', 'SHORTEST = 800'); function_version('whisper')",
        "function_version('whisper'); edit('SHORTEST = 400', 'SHORTEST = '); function_version('whisper')",
        "function_version('whisper'); source.unlink(); function_version('whisper')",
        "function_version('whisper')\n"
        "def compute():\n    edit('SHORTEST = 400', 'SHORTEST = 800')\n    return b'old code'\n"
        "remember(memo, 'recognition', {}, compute)",
    ],
    ids=["before the first key", "after it", "half saved", "removed", "while it computes"],
)
def test_a_process_whose_code_was_edited_forms_no_keys_and_keeps_nothing(copied: Path, program: str) -> None:
    """It runs what it loaded, and the files say otherwise: its results belong to neither version."""
    done = run_edited(copied, program)
    assert "CheckFailed: memo: code changed after it was loaded: inquesto_dag/speech/wh" in done.stderr
    assert [path for path in (copied / "memo").rglob("*") if path.is_file()] == []


def test_a_comment_written_meanwhile_disturbs_nobody(copied: Path) -> None:
    """Nor an edit that is taken back."""
    done = run_edited(
        copied,
        "def compute():\n    edit('SHORTEST = 400', 'SHORTEST = 400  # more')\n    return b'x'\n"
        "first = function_version('whisper')\n"
        "print(remember(memo, 'recognition', {}, compute), function_version('whisper') == first)",
    )
    assert done.stdout == "b'x' True\n", done.stderr
