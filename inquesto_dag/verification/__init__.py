"""What the calibrated verifier is worth: scores, margins and equal errors, in numbers and on a page (I2)."""
