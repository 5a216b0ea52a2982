"""The telephone line: band-pass 300-3400 Hz, 8 kHz, G.711 mu-law, and back to 16 kHz (PROTOCOL P3, D5).

Both filters are symmetric and short (12.5 ms and 6.3 ms), applied around each sample: nothing is delayed, and
further than 10 ms from any sound digital silence stays digital silence. Band edges are the -6 dB points.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from inquesto_dag.audio import g711
from inquesto_dag.units import SAMPLE_RATE, Audio, from_pcm16, quantise, to_pcm16

LOW_HZ, HIGH_HZ = 300.0, 3400.0
RETURN_HZ = 3700.0  # of the receiver's filter: wider than the band, narrower than the first image at 4600 Hz
SEND_TAPS, RETURN_TAPS = 201, 101  # odd, so that the middle tap is the sample itself
STOP_DB = 50.0  # of the Kaiser windows; edges are then 240 Hz (send) and 470 Hz (return) wide


@cache
def _filters() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    from scipy.signal import firwin, kaiser_beta

    window = ("kaiser", float(kaiser_beta(STOP_DB)))
    send = firwin(SEND_TAPS, [LOW_HZ, HIGH_HZ], window=window, pass_zero=False, fs=SAMPLE_RATE)
    back = 2.0 * firwin(RETURN_TAPS, RETURN_HZ, window=window, fs=SAMPLE_RATE)  # 2: every other sample is 0
    return send, back


def carry(audio: Audio) -> Audio:
    """Audio (n,) 16 kHz as a telephone line delivers it: (n,) 16 kHz, on the 16-bit grid, not delayed.

    At least 20 dB down at 100 Hz and 6 kHz, within 1 dB from 500 to 3000 Hz; louder than full scale clips.
    """
    from scipy.signal import upfirdn

    if not len(audio):
        return np.zeros(0, np.float32)
    send, back = _filters()
    # A symmetric filter of 2 m + 1 taps is late by m; m zeros less in front take that back exactly.
    late = len(send) // 2
    narrow = upfirdn(send, np.asarray(audio, np.float64))[late : late + len(audio)][::2]
    received = from_pcm16(g711.decode(g711.encode(to_pcm16(narrow))))
    late = len(back) // 2
    wide = upfirdn(back, np.asarray(received, np.float64), up=2)[late:]
    return quantise(wide[: len(audio)].astype(np.float32))
