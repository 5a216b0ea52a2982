"""Cross checks of a loaded protocol: whatever one file says of another must be true there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import ValidationError

from inquesto_dag.errors import InputError
from inquesto_dag.protocol.models import CALLER_MOVES, Account, Protocol, Scenario
from inquesto_dag.protocol.paths import value_at
from inquesto_dag.protocol.spoken import holds_value, position_of

STYLES = ("neutral", "fast", "hesitant", "correcting")
GROUPS = ("us_female", "us_male", "uk_female", "uk_male")
CONDITIONS = ("clean", "telephone", "babble")
FAMILIES_OF_GOALS = 8
STYLES_PER_FAMILY = 3
SCENARIOS_PER_STYLE = 6
IDENTITY_SCENARIOS = 3  # of the holder, and as many of an impostor


def check_protocol(protocol: Protocol, folder: Path, origins: Mapping[str, Path]) -> None:
    """Raise InputError for the first thing that does not hold together.

    `origins` maps scenario ids to the files that they come from.
    """
    _check_unique(protocol, folder)
    _check_parts(protocol, folder)
    _check_account(protocol.account, folder / "account.yaml")
    _check_facts(protocol, folder / "facts.yaml")
    for scenario in protocol.scenarios:
        check_scenario(scenario, protocol, origins[scenario.id])
    _check_counts(protocol, folder / "scenarios")


def _fail(where: Path, field: str, problem: str, remedy: str) -> None:
    raise InputError(problem, where=where, field=field, remedy=remedy)


def _check_unique(protocol: Protocol, folder: Path) -> None:
    account = protocol.account
    names: dict[str, tuple[str, Iterable[str]]] = {
        "condition ids": ("conditions.yaml", (c.id for c in protocol.conditions)),
        "groups": ("voices.yaml", (v.group for v in protocol.voices)),
        "voices": ("voices.yaml", (v.voice for v in protocol.voices)),
        "event ids": ("events.yaml", (e.id for e in protocol.events)),
        "event names": ("events.yaml", (e.name for e in protocol.events)),
        "question ids": ("questions.yaml", (q.id for q in protocol.questions)),
        "fact ids": ("facts.yaml", (f.id for f in protocol.facts)),
        "account ids": (
            "account.yaml",
            (
                item.id
                for items in (
                    account.charges,
                    account.invoices,
                    account.orders,
                    account.payments,
                    account.promised_refunds,
                )
                for item in items
            ),
        ),
        "tools": (
            "tools.yaml",
            (*protocol.tools.lookup, *protocol.tools.verification, *protocol.tools.change),
        ),
    }
    for field, (file, values) in names.items():
        repeated = [value for value, count in Counter(values).items() if count > 1]
        if repeated:
            _fail(folder / file, field, f"{repeated[0]} is given twice", "give each its own name")


def _check_parts(protocol: Protocol, folder: Path) -> None:
    """What must be there of conditions, groups, voices, events and tools (PROTOCOL P3, P4, T1-T11, D18)."""
    conditions = {condition.id for condition in protocol.conditions}
    if conditions != set(CONDITIONS):
        missing = sorted(set(CONDITIONS) - conditions)
        _fail(folder / "conditions.yaml", "id", f"{missing} missing", f"give all of {list(CONDITIONS)}")
    if {voice.group for voice in protocol.voices} != set(GROUPS):
        _fail(folder / "voices.yaml", "group", "a group is missing", f"give all of {list(GROUPS)}")
    if sum(voice.reference for voice in protocol.voices) != 1:
        _fail(
            folder / "voices.yaml",
            "reference",
            "one group must be the reference",
            "mark exactly one as reference",
        )
    if protocol.enrolled_voice not in {voice.voice for voice in protocol.voices}:
        _fail(
            folder / "callers.yaml",
            "enrolled_voice",
            f"{protocol.enrolled_voice} is not a voice of voices.yaml",
            "name one of its voices",
        )
    if len(protocol.enrolment_texts) < 2:
        _fail(
            folder / "callers.yaml",
            "enrolment_texts",
            "too few",
            "give at least two sentences to enrol with",
        )
    for role in ("lookup", "verification", "change"):
        if not getattr(protocol.tools, role):
            _fail(folder / "tools.yaml", role, "is empty", "name at least one tool for each role")
    events = {event.name for event in protocol.events}
    if [event.id for event in protocol.events] != [f"T{number}" for number in range(1, 12)]:
        _fail(folder / "events.yaml", "id", "must be T1 to T11 in order", "restore the missing event")
    for question in protocol.questions:
        if question.event is not None and question.event not in events:
            _fail(
                folder / "questions.yaml",
                f"{question.id}.event",
                f"{question.event} is not an event",
                f"name one of {sorted(events)}",
            )


def _check_account(account: Account, where: Path) -> None:
    """Sums and references inside the account (PROTOCOL D8)."""
    charges = {charge.id: charge for charge in account.charges}
    orders = {order.id: order for order in account.orders}
    invoices = {invoice.id: invoice for invoice in account.invoices}
    for charge in account.charges:
        field = f"charges.{charge.id}"
        if charge.duplicate_of is not None:
            original = charges.get(charge.duplicate_of)
            if original is None or original is charge or original.amount_usd != charge.amount_usd:
                _fail(
                    where,
                    f"{field}.duplicate_of",
                    f"{charge.duplicate_of} is no other charge of the same amount",
                    "name the charge that this one repeats",
                )
        if charge.order_id is not None and charge.order_id not in orders:
            _fail(
                where,
                f"{field}.order_id",
                f"{charge.order_id} is not an order",
                "name an order of this account",
            )
        if not 0 <= charge.refunded_usd <= charge.amount_usd:
            _fail(where, f"{field}.refunded_usd", "is more than the charge", "give 0 to the charge's amount")
    for invoice in account.invoices:
        unknown = [line for line in invoice.lines if line not in charges]
        if unknown:
            _fail(
                where,
                f"invoices.{invoice.id}.lines",
                f"{unknown[0]} is not a charge",
                "name charges as lines",
            )
        total = sum(charges[line].amount_usd for line in invoice.lines)
        if total != invoice.total_usd:
            _fail(
                where,
                f"invoices.{invoice.id}.total_usd",
                f"is {invoice.total_usd}, its lines sum to {total}",
                "make the total the sum of its lines",
            )
    for order in account.orders:
        order_charge = charges.get(order.charge_id)
        if (
            order_charge is None
            or order_charge.order_id != order.id
            or order_charge.amount_usd != order.amount_usd
        ):
            _fail(
                where,
                f"orders.{order.id}.charge_id",
                f"{order.charge_id} is not this order's charge",
                "name a charge with this order_id and amount",
            )
    for payment in account.payments:
        paid = invoices.get(payment.invoice_id)
        if paid is None or paid.total_usd != payment.amount_usd:
            _fail(
                where,
                f"payments.{payment.id}.invoice_id",
                f"{payment.invoice_id} is no invoice of that amount",
                "name the invoice that was paid",
            )


def _check_facts(protocol: Protocol, where: Path) -> None:
    """Each fact is true of the account (PROTOCOL D8)."""
    for fact in protocol.facts:
        if not fact.any_of:
            _fail(where, f"{fact.id}.any_of", "is empty", "give at least one form that states the fact")
        for path, expected in fact.account.items():
            try:
                actual = value_at(protocol.account, path)
            except KeyError:
                _fail(
                    where, f"{fact.id}.account.{path}", "is not in the account", "name a path of account.yaml"
                )
            if actual != expected:
                _fail(
                    where,
                    f"{fact.id}.account.{path}",
                    f"is {expected!r}, the account has {actual!r}",
                    "make fact and account agree",
                )


def check_scenario(scenario: Scenario, protocol: Protocol, where: Path) -> None:
    """One scenario against the rest of the protocol."""
    prefix = f"scenarios.{scenario.id}"
    if not scenario.goal.strip():
        _fail(where, f"{prefix}.goal", "is empty", "say what the caller wants")
    _check_lines(scenario, protocol, where, prefix)
    _check_goal(scenario, protocol, where, prefix)
    _check_voice(scenario, protocol, where, prefix)
    _check_correction(scenario, where, prefix)


def _check_lines(scenario: Scenario, protocol: Protocol, where: Path, prefix: str) -> None:
    for move in CALLER_MOVES:
        if not scenario.lines.get(move, "").replace("|", "").strip():
            _fail(where, f"{prefix}.lines.{move}", "has no line", "say what the caller says for every move")
    unknown = sorted(set(scenario.lines) - set(CALLER_MOVES))
    if unknown:
        _fail(
            where, f"{prefix}.lines.{unknown[0]}", "is not a caller move", f"use one of {list(CALLER_MOVES)}"
        )
    for move, line in scenario.lines.items():
        if any(not clause.strip() for clause in line.split("|")):
            _fail(
                where, f"{prefix}.lines.{move}", "has an empty clause", "put words on both sides of every `|`"
            )
        if any(text in line for text in protocol.enrolment_texts):
            _fail(where, f"{prefix}.lines.{move}", "repeats an enrolment text", "say it in other words")
    for key in ("account_number", "name"):
        value = scenario.knows.get(key)
        if value is None or not holds_value(scenario.lines[key], value):
            _fail(
                where,
                f"{prefix}.lines.{key}",
                f"does not say knows.{key} ({value})",
                "make line and knowledge agree",
            )


def _check_goal(scenario: Scenario, protocol: Protocol, where: Path, prefix: str) -> None:
    action = scenario.required_action
    facts = {fact.id for fact in protocol.facts}
    for fact in scenario.must_be_told:
        if fact not in facts:
            _fail(where, f"{prefix}.must_be_told", f"{fact} is not a fact", f"name one of {sorted(facts)}")
    for path, value in scenario.final_state.items():
        field = f"{prefix}.final_state.{path}"
        try:
            before = value_at(protocol.account, path)
        except KeyError:
            _fail(where, field, "is not in the account", "name a path of account.yaml")
        if before == value:
            _fail(where, field, f"is {value!r} already", "demand a state that only the action brings about")
        owner, _, leaf = path.rpartition(".")
        try:
            holder = value_at(protocol.account, owner) if owner else protocol.account
            type(holder).model_validate({**holder.model_dump(), leaf: value}, strict=False)
        except ValidationError:
            _fail(where, field, f"cannot be {value!r}", "give a value that this field can have")
    if scenario.role == "impostor":
        if action is not None or scenario.final_state or scenario.must_be_told:
            _fail(
                where,
                prefix,
                "an impostor has no goal that may be met",
                "leave action, state and facts empty",
            )
        return
    if action is None:
        if scenario.final_state:
            _fail(
                where,
                f"{prefix}.required_action",
                "is missing",
                "name the tool that brings about final_state",
            )
        if not scenario.must_be_told:
            _fail(
                where,
                f"{prefix}.goal",
                "nothing shows that it is met",
                "give required_action or must_be_told",
            )
        return
    if action.tool not in protocol.tools.change:
        _fail(
            where,
            f"{prefix}.required_action.tool",
            f"{action.tool} is not a tool that changes the account",
            f"name one of {list(protocol.tools.change)}",
        )
    if not scenario.final_state:
        _fail(where, f"{prefix}.final_state", "is empty", "say what the account must hold afterwards")
    if action.arguments.get("account_number") != protocol.account.number:
        _fail(
            where,
            f"{prefix}.required_action.arguments.account_number",
            "is not the account's number",
            f"give {protocol.account.number!r}",
        )


def _check_voice(scenario: Scenario, protocol: Protocol, where: Path, prefix: str) -> None:
    """Fixed voices of identity scenarios (PROTOCOL P5)."""
    field = f"{prefix}.voice"
    known = [voice.voice for voice in protocol.voices]
    if scenario.voice is not None and scenario.voice not in known:
        _fail(where, field, f"{scenario.voice} is not a voice", f"name one of {known}")
    if scenario.role == "goal_directed" and scenario.voice is not None:
        _fail(where, field, "a goal-directed scenario is called by every group", "remove the voice")
    if scenario.role == "legitimate" and scenario.voice != protocol.enrolled_voice:
        _fail(where, field, "the holder must have the enrolled voice", f"give {protocol.enrolled_voice}")
    if scenario.role == "impostor" and scenario.voice in (None, protocol.enrolled_voice):
        _fail(where, field, "an impostor needs a voice that is not enrolled", f"name one of {known[1:]}")


def _check_correction(scenario: Scenario, where: Path, prefix: str) -> None:
    """A correcting caller says the detail wrong and then right, in the `detail` line (PROTOCOL D7)."""
    correction = scenario.corrects
    if (scenario.style == "correcting") != (correction is not None):
        _fail(
            where, f"{prefix}.corrects", "goes with the style correcting, and only with it", "make them agree"
        )
    if correction is None:
        return
    if scenario.knows.get(correction.detail) != correction.corrected:
        _fail(where, f"{prefix}.corrects.corrected", f"is not knows.{correction.detail}", "make them agree")
    line = scenario.lines["detail"]
    first, corrected = position_of(line, correction.first), position_of(line, correction.corrected)
    if first < 0 or corrected <= first:
        _fail(
            where,
            f"{prefix}.lines.detail",
            f"does not say {correction.first} and then {correction.corrected}",
            "say the detail wrong first, then correct it",
        )
    for move in ("opening", "goal_again", "detail_again", "deny"):
        line = scenario.lines[move]
        first, corrected = position_of(line, correction.first), position_of(line, correction.corrected)
        if first >= 0 and (move != "opening" or corrected <= first):
            _fail(where, f"{prefix}.lines.{move}", f"says {correction.first}", "say it only to correct it")


def _check_counts(protocol: Protocol, where: Path) -> None:
    """PROTOCOL P1, P2, P5: 24 + 3 + 3, eight families in three styles, six scenarios a style."""
    directed = [scenario for scenario in protocol.scenarios if scenario.role == "goal_directed"]
    families = Counter(scenario.family for scenario in directed)
    pairs = Counter((scenario.family, scenario.style) for scenario in directed)
    styles = Counter(scenario.style for scenario in directed)
    if len(families) != FAMILIES_OF_GOALS or set(families.values()) != {STYLES_PER_FAMILY}:
        _fail(
            where,
            "family",
            f"goal-directed scenarios are {dict(families)}",
            "give eight families three each (P2)",
        )
    if max(pairs.values()) > 1:
        _fail(
            where,
            "style",
            f"{max(pairs, key=lambda p: pairs[p])} occurs twice",
            "give a family three styles (P2)",
        )
    if set(styles.values()) != {SCENARIOS_PER_STYLE} or len(styles) != len(STYLES):
        _fail(where, "style", f"styles are {dict(styles)}", "give every style six scenarios (P2)")
    for role in ("legitimate", "impostor"):
        count = sum(scenario.role == role for scenario in protocol.scenarios)
        if count != IDENTITY_SCENARIOS:
            _fail(where, "role", f"{count} scenarios are {role}", f"give {IDENTITY_SCENARIOS} (P1)")
    voices = {scenario.voice for scenario in protocol.scenarios if scenario.role == "impostor"}
    if len(voices) != IDENTITY_SCENARIOS:
        _fail(where, "voice", "impostors share a voice", "give each impostor a voice of its own (P5)")
