"""G.711 mu-law on 16-bit samples, bit-exact (ITU-T G.711, table 2a/2b).

The law is defined on 14-bit uniform PCM; a 16-bit sample counts by its magnitude without its last two bits,
so that positive and negative samples are coded alike. A code byte, sent inverted, is sign (1), segment (3)
and step (4); both zeros exist, and 0 is coded as positive zero, 0xFF.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

BIAS = 33  # in 14-bit steps: shifts the magnitude so that a segment is the place of its highest bit
LARGEST = 8158  # the greatest 14-bit magnitude that is not clipped: 8158 + 33 = 2**13 - 1


def _decoding() -> npt.NDArray[np.int16]:
    codes = ~np.arange(256, dtype=np.uint8)
    segment, step = (codes >> 4) & 7, (codes & 15).astype(np.int32)
    magnitude = ((2 * step + BIAS) << segment) - BIAS
    return np.where(codes & 0x80, -4 * magnitude, 4 * magnitude).astype(np.int16)


def _encoding() -> npt.NDArray[np.uint8]:
    """The code of every 16-bit sample, at the sample's value as an unsigned index."""
    samples = np.arange(65_536, dtype=np.uint16).view(np.int16).astype(np.int32)
    biased = np.minimum(np.abs(samples) >> 2, LARGEST) + BIAS
    segment = np.frexp(biased.astype(np.float64))[1] - 6  # bit length less that of BIAS
    step = (biased >> (segment + 1)) & 15
    sign = np.where(samples < 0, 0x80, 0)
    codes: npt.NDArray[np.uint8] = ~(sign | (segment << 4) | step).astype(np.uint8)
    return codes


DECODED = _decoding()
CODES = _encoding()


def encode(pcm16: npt.NDArray[np.int16]) -> npt.NDArray[np.uint8]:
    """The mu-law codes of 16-bit samples, same shape."""
    return CODES[np.asarray(pcm16, np.int16).view(np.uint16)]


def decode(codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.int16]:
    """The 16-bit samples of mu-law codes, same shape."""
    return DECODED[np.asarray(codes, np.uint8)]
