"""Asset `caller_audio`: speech lies inside its file, at the protocol's active speech level."""

from collections.abc import Sequence
from pathlib import Path

from assets.suites import Expectation, expect, expect_order
from inquesto_dag.protocol.load import load_protocol
from inquesto_dag.provenance.params import load_params

STAGE = "caller_audio"
LEVEL_TOLERANCE_DB = 0.1


def promise_utterances(project: Path, agent: str | None) -> Sequence[Expectation]:
    """Onset before offset before the end, the stated level, pauses as JSON, one file a row."""
    params = load_params(project)
    level = load_protocol(project / "data" / "protocols" / params.protocol).caller_level_dbov
    return [
        expect("ExpectTableRowCountToBeBetween", min_value=1),
        expect_order("onset_s", "offset_s", equal=False),
        expect_order("offset_s", "duration_s"),
        expect(
            "ExpectColumnValuesToBeBetween",
            column="active_level_dbov",
            min_value=level - LEVEL_TOLERANCE_DB,
            max_value=level + LEVEL_TOLERANCE_DB,
        ),
        expect("ExpectColumnValuesToBeJsonParseable", column="pauses_s"),
        expect("ExpectColumnValuesToBeUnique", column="path"),
        expect("ExpectColumnValueLengthsToEqual", column="sha256", value=64),
    ]


PROMISES = {"utterances": promise_utterances}
