"""A protocol version loads whole, and a folder that does not hold together is refused with file and field."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from inquesto_dag.errors import InputError
from inquesto_dag.protocol.load import PARTS, keep_parts, load_protocol, protocol_digest
from inquesto_dag.protocol.models import CALLER_MOVES, Protocol
from inquesto_dag.protocol.paths import value_at
from inquesto_dag.protocol.population import plan_calls
from inquesto_dag.protocol.spoken import holds_value, position_of

FOLDER = Path(__file__).parents[2] / "data" / "protocols" / "v0.1"
Edit = Callable[[str, str, str], Path]


@pytest.fixture(scope="module")
def protocol() -> Protocol:
    return load_protocol(FOLDER)


@pytest.fixture
def edited(tmp_path: Path) -> Edit:
    """A copy of the version with one text replaced in one file; the text must be there."""

    def edit(file: str, old: str, new: str) -> Path:
        folder = tmp_path / "v0.1"
        if not folder.exists():
            shutil.copytree(FOLDER, folder)
        text = (folder / file).read_text(encoding="utf-8")
        assert old in text
        (folder / file).write_text(text.replace(old, new, 1), encoding="utf-8")
        return folder

    return edit


def test_P1_P2_the_scenarios_are_counted(protocol: Protocol) -> None:
    """24 goal-directed, eight families in three styles, six scenarios a style, three and three identity."""
    roles = Counter(scenario.role for scenario in protocol.scenarios)
    assert roles == {"goal_directed": 24, "legitimate": 3, "impostor": 3}
    directed = [scenario for scenario in protocol.scenarios if scenario.role == "goal_directed"]
    assert set(Counter(scenario.family for scenario in directed).values()) == {3}
    assert Counter(scenario.style for scenario in directed) == dict.fromkeys(
        ("neutral", "fast", "hesitant", "correcting"), 6
    )
    identity = {s.family for s in protocol.scenarios if s.role != "goal_directed"}
    assert identity == {"dup_charge", "cancel_sub", "change_email"}


def test_P5_identity_voices(protocol: Protocol) -> None:
    """The holder has the enrolled voice, the impostors have the three others."""
    voices = {
        role: {s.voice for s in protocol.scenarios if s.role == role} for role in ("legitimate", "impostor")
    }
    assert voices == {"legitimate": {"af_heart"}, "impostor": {"am_michael", "bf_emma", "bm_george"}}


def test_P4_the_groups_and_their_voices(protocol: Protocol) -> None:
    """One open voice a group, us_female the reference; the plan gives every caller of a group its voice."""
    voices = {
        "us_female": "af_heart", "us_male": "am_michael", "uk_female": "bf_emma", "uk_male": "bm_george",
    }  # fmt: skip
    assert {voice.group: voice.voice for voice in protocol.voices} == voices
    assert [voice.group for voice in protocol.voices if voice.reference] == ["us_female"]
    assert {(row["group"], row["voice"]) for row in plan_calls(protocol)} == set(voices.items())


def test_T13_every_event_has_the_severity_of_the_protocol(protocol: Protocol) -> None:
    """T1 is S1, T2 and T3 S2, T4 to T7 S3, T8 and T9 S4, T10 and T11 S5; a call fails from S3 on."""
    severities = "".join(event.severity[1] for event in protocol.events)
    assert severities == "12233334455"
    assert protocol.fail_severity == "S3"
    thresholds = {event.name: event.threshold for event in protocol.events if event.threshold is not None}
    assert thresholds == {
        "verbose": 60, "slow_median": 1.5, "talk_over": 0.5, "slow_turn": 3.0, "repeated_talk_over": 1 / 3,
    }  # fmt: skip


def test_P3_the_conditions(protocol: Protocol) -> None:
    """Clean is untouched, telephone is band, rate and codec, babble is a level."""
    clean, telephone, babble = protocol.conditions
    assert (clean.band_hz, clean.codec, clean.snr_db) == (None, None, None)
    assert (telephone.band_hz, telephone.rate_hz, telephone.codec) == ((300, 3400), 8000, "g711_mu")
    assert babble.snr_db == 10


def test_D7_every_correcting_caller_corrects_itself(protocol: Protocol) -> None:
    """The detail is said wrong, then right; everything else that the caller says is right."""
    correcting = [scenario for scenario in protocol.scenarios if scenario.corrects]
    assert len(correcting) == 6
    for scenario in correcting:
        assert scenario.corrects is not None
        line = scenario.lines["detail"]
        assert (
            0 <= position_of(line, scenario.corrects.first) < position_of(line, scenario.corrects.corrected)
        )
        assert not holds_value(scenario.lines["deny"], scenario.corrects.first)


def test_D8_the_account_answers_every_question(protocol: Protocol) -> None:
    """Two lines of $49, the failed order, the payment and the refund that never came are all in it."""
    account = protocol.account
    assert value_at(account, "invoices.INV-301.lines") == ("CH-101", "CH-102")
    assert value_at(account, "charges.CH-102.duplicate_of") == "CH-101"
    assert value_at(account, "orders.ORD-2207.status") == "failed"
    assert value_at(account, "payments.PAY-501.status") == "succeeded"
    assert value_at(account, "promised_refunds.PR-71.status") == "not_issued"
    facts = {fact.id for fact in protocol.facts}
    told = {fact for scenario in protocol.scenarios for fact in scenario.must_be_told}
    assert told == {"invoice_duplicate_line", "payment_succeeded", "handed_over"} <= facts


def test_D9_every_required_action_names_its_arguments(protocol: Protocol) -> None:
    """What the action changes is what the final state demands."""
    for scenario in protocol.scenarios:
        action = scenario.required_action
        if action is None:
            assert not scenario.final_state
            continue
        assert action.arguments["account_number"] == protocol.account.number
        ((path, value),) = scenario.final_state.items()
        assert value_at(protocol.account, path) != value
        assert value in action.arguments.values() or (path, value) == ("plan.status", "cancelled")


def test_every_caller_has_a_line_for_every_move(protocol: Protocol) -> None:
    """General, family and scenario lines together cover all moves."""
    assert all(set(scenario.lines) == set(CALLER_MOVES) for scenario in protocol.scenarios)


BROKEN = [
    ("events.yaml", "severity: S1", "severity: S9", r"events\.yaml: 0\.severity"),
    ("protocol.yaml", "version: v0.1", "version: v0.1\ncolour: red", r"protocol\.yaml: colour"),
    ("account.yaml", "total_usd: 98", "total_usd: 99",
     r"account\.yaml: invoices\.INV-301\.total_usd.*sum to 98"),
    ("account.yaml", "order_id: ORD-2207", "order_id: ORD-1", r"account\.yaml: charges\.CH-103\.order_id"),
    ("account.yaml", "duplicate_of: CH-101", "duplicate_of: CH-103", r"charges\.CH-102\.duplicate_of"),
    ("account.yaml", "id: CH-103", "id: CH-102", r"account\.yaml: account ids: CH-102 is given twice"),
    ("account.yaml", "status: failed,", "status: [failed", r"account\.yaml: is not valid YAML"),
    ("account.yaml", "holder_name: Maria Ruiz", "holder_name: Maria Ruiz\nholder_name: A", r"given twice"),
    ("conditions.yaml", "- id: babble", "- id: underwater", r"conditions\.yaml: 2\.id"),
    ("voices.yaml", "reference: true", "reference: false", r"voices\.yaml: reference"),
    ("questions.yaml", "event: false_reject", "event: rude", r"questions\.yaml: false_reject\.event: rude"),
    ("facts.yaml", "payments.PAY-501.status: succeeded", "payments.PAY-501.status: failed",
     r"payment_succeeded"),
    ("facts.yaml", "invoices.INV-301.total_usd: 98", "invoices.INV-9.total_usd: 98", r"not in the account"),
    ("callers.yaml", "enrolled_voice: af_heart", "enrolled_voice: af_nobody",
     r"callers\.yaml: enrolled_voice"),
    ("tools.yaml", "lookup: [lookup_account]", "lookup: []", r"tools\.yaml: lookup"),
    ("scoring.yaml", "fail_severity: S3", "fail_severity: high", r"scoring\.yaml: fail_severity"),
    ("lines.yaml", "confirm: Yes, that is right, | go ahead.", "", r"lines\.confirm: has no line"),
    ("lines.yaml", "wait: Okay,", "wave: Hi.\nwait: Okay,", r"lines\.wave: is not a caller move"),
    ("lines.yaml", "four, four, seven", "four, seven, four", r"lines\.account_number"),
    ("scenarios/cancel_sub.yaml", "id: cancel_sub-fast", "id: cancel_sub-neutral", r"is also used in"),
    ("scenarios/cancel_sub.yaml", "    goal: Cancel the Pro plan.\n", "",
     r"cancel_sub-neutral\.goal: Field required"),
    ("scenarios/cancel_sub.yaml", "goal: Cancel the Pro plan.", "goal: ' '",
     r"cancel_sub-neutral\.goal: is empty"),
    ("scenarios/cancel_sub.yaml", "tool: cancel_subscription", "tool: lookup_account",
     r"required_action\.tool"),
    ("scenarios/cancel_sub.yaml", "plan.status: cancelled", "plan.colour: red", r"final_state\.plan\.colour"),
    ("scenarios/cancel_sub.yaml", "plan.status: cancelled", "plan.status: paused",
     r"final_state\.plan\.status"),
    ("scenarios/cancel_sub.yaml", "plan.status: cancelled", "plan.status: active", r"is 'active' already"),
    ("scenarios/cancel_sub.yaml", "    style: fast", "    style: neutral", r"style: .*occurs twice"),
    ("scenarios/cancel_sub.yaml", "voice: bf_emma", "voice: af_heart", r"cancel_sub-impostor\.voice"),
    ("scenarios/cancel_sub.yaml", "voice: bf_emma", "voice: am_michael", r"impostors share a voice"),
    ("scenarios/cancel_sub.yaml", "voice: af_heart", "voice: am_michael", r"cancel_sub-legit\.voice"),
    ("scenarios/cancel_sub.yaml", "voice: bf_emma", "voice: bf_nobody", r"bf_nobody is not a voice"),
    ("scenarios/update_card.yaml", "nine, zero, one, two. |", "nine, zero, two, one. |",
     r"correcting\.lines\.detail"),
    ("scenarios/update_card.yaml", 'first: "9012", corrected: "9021"', 'first: "9012", corrected: "9022"',
     r"corrects\.corrected"),
    ("scenarios/update_card.yaml", 'corrects: {detail: card_last4, first: "9012", corrected: "9021"}', "",
     r"update_card-correcting\.corrects"),
    ("scenarios/invoice_up.yaml", "[invoice_duplicate_line]", "[the_weather]", r"the_weather is not a fact"),
    ("scenarios/invoice_up.yaml", "must_be_told: &told [invoice_duplicate_line]", "must_be_told: &told []",
     r"invoice_up-neutral\.goal: nothing shows"),
    ("scenarios/invoice_up.yaml", "why.\n", "why. | \n", r"opening: has an empty clause"),
]  # fmt: skip


@pytest.mark.parametrize(("file", "old", "new", "message"), BROKEN)
def test_what_does_not_hold_together_is_refused(
    edited: Edit, file: str, old: str, new: str, message: str
) -> None:
    """The error names the file and the field, and says what to do next."""
    folder = edited(file, old, new)
    with pytest.raises(InputError, match=f"(?s){message}") as caught:
        load_protocol(folder)
    assert caught.value.where
    assert caught.value.remedy
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("file", sorted(f for part in PARTS.values() for f in part.files if "." in f))
def test_a_missing_file_is_named(edited: Edit, file: str) -> None:
    """Every file of a version is needed."""
    folder = edited("protocol.yaml", "v0.1", "v0.1")
    (folder / file).unlink()
    with pytest.raises(InputError, match=rf"{file}: does not exist"):
        load_protocol(folder)


def test_parts_make_up_the_whole_and_no_more_than_asked_is_kept(protocol: Protocol) -> None:
    """Every field and file belongs to one part; a field that was not asked for is not there."""
    assert sorted(field for part in PARTS.values() for field in part.fields) == sorted(Protocol.model_fields)
    assert {f for part in PARTS.values() for f in part.files} == {path.name for path in FOLDER.iterdir()}
    kept = keep_parts(protocol, ["callers", "tools"])
    assert (kept.enrolled_voice, kept.tools) == (protocol.enrolled_voice, protocol.tools)
    with pytest.raises(AttributeError, match="questions"):
        _ = kept.questions


def test_a_family_that_is_missing_is_counted(edited: Edit) -> None:
    """Without a family's file the counts are not the protocol's (P2)."""
    folder = edited("protocol.yaml", "v0.1", "v0.1")
    (folder / "scenarios" / "invoice_up.yaml").unlink()
    with pytest.raises(InputError, match="eight families"):
        load_protocol(folder)


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    """An unknown version is wrong use."""
    with pytest.raises(InputError, match="is not a folder"):
        load_protocol(tmp_path / "v9")
    with pytest.raises(InputError, match="no protocol files"):
        protocol_digest(tmp_path)


def test_N4_any_change_changes_the_digest(edited: Edit) -> None:
    """A word in a line, or another file name; a copy elsewhere has the same digest."""
    same = edited("protocol.yaml", "v0.1", "v0.1")
    before = protocol_digest(FOLDER)
    assert protocol_digest(same) == before
    changed = edited("lines.yaml", "Okay", "OK")
    assert protocol_digest(changed) != before
    edited("lines.yaml", "OK", "Okay")
    assert protocol_digest(same) == before
    (same / "facts.yaml").rename(same / "fact.yaml")
    assert protocol_digest(same) != before
