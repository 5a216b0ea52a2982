"""Asset `line_audio`: each condition does to the speech what the protocol says (PROTOCOL P3, D4-D6)."""

from collections.abc import Sequence
from pathlib import Path

from assets.suites import Expectation, expect, expect_where
from inquesto_dag.protocol.load import load_protocol
from inquesto_dag.provenance.params import load_params

STAGE = "line_audio"
SNR_TOLERANCE_DB = 0.5
BAND_LOSS_DB = 20.0  # of a telephone line, below 200 Hz and above 4 kHz


def promise_lines(project: Path, agent: str | None) -> Sequence[Expectation]:
    """Noise at its ratio where there is noise and nowhere else; bands cut where there is a codec."""
    params = load_params(project)
    found = [expect("ExpectTableRowCountToBeBetween", min_value=1)]
    for condition in load_protocol(project / "data" / "protocols" / params.protocol).conditions:
        rows = f'condition == "{condition.id}"'
        codec = condition.codec or "none"
        found.append(expect_where(rows, "ExpectColumnValuesToBeInSet", column="codec", value_set=[codec]))
        if condition.snr_db is None:
            found.append(expect_where(rows, "ExpectColumnValuesToBeNull", column="snr_db"))
        else:
            found.append(expect_where(rows, "ExpectColumnValuesToNotBeNull", column="snr_db"))
            found.append(
                expect_where(
                    rows,
                    "ExpectColumnValuesToBeBetween",
                    column="snr_db",
                    min_value=condition.snr_db - SNR_TOLERANCE_DB,
                    max_value=condition.snr_db + SNR_TOLERANCE_DB,
                )
            )
        # Without a codec the speech passes untouched.
        low, high = (None, -BAND_LOSS_DB) if condition.codec else (-0.001, 0.001)
        for column in ("low_band_db", "high_band_db"):
            found.append(
                expect_where(
                    rows, "ExpectColumnValuesToBeBetween", column=column, min_value=low, max_value=high
                )
            )
    return found


PROMISES = {"lines": promise_lines}
