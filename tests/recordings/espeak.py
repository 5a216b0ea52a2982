"""espeak-ng says a line, through the library that Kokoro's phonemes come from: a voice of another kind.

    python -m tests.recordings.espeak VOICE TEXT OUT.wav

In a process of its own: the library keeps its voice and its callback as globals. A formant synthesiser, it
has neither Kokoro's pauses nor its breath, and digital silence around its words.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
import tempfile
from pathlib import Path

import espeakng_loader
import numpy as np
import soundfile
import soxr

from inquesto_dag.units import SAMPLE_RATE, Audio

RETRIEVAL, UTF8 = 1, 1  # espeak-ng's speak_lib.h: AUDIO_OUTPUT_RETRIEVAL, espeakCHARS_UTF8
BUFFER_MS = 200
Callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)


def synthesise(voice: str, text: str, path: Path) -> None:
    """Write what a voice of espeak-ng says as WAV at the library's own rate; SystemExit when it cannot."""
    library = ctypes.CDLL(espeakng_loader.get_library_path())
    pieces: list[bytes] = []

    def take(samples: ctypes._Pointer[ctypes.c_short], count: int, _events: int) -> int:
        if samples and count > 0:
            pieces.append(ctypes.string_at(samples, 2 * count))
        return 0

    callback = Callback(take)
    rate = library.espeak_Initialize(RETRIEVAL, BUFFER_MS, espeakng_loader.get_data_path().encode(), 0)
    if rate <= 0:
        raise SystemExit("espeak-ng does not start")
    library.espeak_SetSynthCallback(callback)
    if library.espeak_SetVoiceByName(voice.encode()) != 0:
        raise SystemExit(f"espeak-ng has no voice {voice}")
    spoken = text.encode() + b"\0"
    library.espeak_Synth(spoken, len(spoken), 0, 0, 0, UTF8, None, None)
    library.espeak_Synchronize()
    soundfile.write(path, np.frombuffer(b"".join(pieces), np.int16), rate)


def speak(text: str, voice: str) -> Audio:
    """(n,) float32 at 16 kHz."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "said.wav"
        subprocess.run([sys.executable, "-m", "tests.recordings.espeak", voice, text, str(path)], check=True)
        audio, rate = soundfile.read(path, dtype="float32")
    return np.asarray(soxr.resample(audio, rate, SAMPLE_RATE), np.float32)


if __name__ == "__main__":
    synthesise(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
