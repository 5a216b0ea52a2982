"""Whether a caller that a model plays has played its part: what it did wrong is no agent's failure.

Three faults, each found in what was said and in the order of the turns, without a model:

*left_role*: it spoke for the agent (a label of the other side, an agent's phrases), or of itself as a model;
*gave_away*: it told its instructions: eight or more words of them in a row that are not in its goal or lines,
the name of a tool, or, as an impostor, that it is not the account holder;
*hung_up_early*: it ended the call before the agent could act: before any reply to its first line, or before
one that followed the account number, unless it was refused, handed over or left in silence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inquesto_dag.protocol.models import Scenario
from inquesto_dag.protocol.spoken import holds_value
from inquesto_dag.tables import CALLER_FAULT

ROW = 8  # words; fewer stand in what anybody says
_AGENT_TALK = re.compile(
    r"\bhow (?:can|may) i (?:help|assist) you\b|\bi(?:'m| am) (?:the|your) (?:billing )?agent\b"
    r"|\bi(?:'ve| have) (?:issued|processed|cancelled|canceled|updated|verified) (?:your|the|it)\b"
    r"|\bis there anything else i can\b|\bthank you for calling\b"
    r"|\blet me (?:look up|pull up|check|verify) your\b",
    re.IGNORECASE,
)
_MODEL_TALK = re.compile(
    r"\bas an ai\b|\blanguage model\b|\bai (?:assistant|model)\b|\bi(?:'m| am) (?:an? )?(?:ai|bot|machine)\b"
    r"|\brole[- ]?play|\bmy (?:instructions|prompt|role|script)\b|\bsimulat",
    re.IGNORECASE,
)
_NOT_HOLDER = re.compile(
    r"\b(?:i(?:'m| am) not (?:really )?(?:maria|ms\.? ruiz|the (?:account )?(?:holder|owner))"
    r"|pretend(?:ing)? to be|not my account|somebody else's account|someone else's account)\b",
    re.IGNORECASE,
)
_TOOLS = re.compile(
    r"\b(?:lookup_account|verify_voice|issue_refund|update_card|update_email|cancel_subscription)\b"
)


@dataclass(frozen=True)
class CallerFault:
    """One fault: its kind, and the words or the fact that show it."""

    kind: str
    shown: str


def caller_faults(
    scenario: Scenario, brief: str, turns: Sequence[Mapping[str, Any]], ended_by: str, other_side: int
) -> list[CallerFault]:
    """The faults of a caller in a call, at most one of a kind.

    `brief` is what it was told, `turns` are rows of `tables.TURNS` in their order, `other_side` counts the
    replies in which it wrote the agent's part.
    """
    lines = [str(turn["said"]) for turn in turns if turn["speaker"] == "caller"]
    found = [
        _left_role(lines, other_side),
        _gave_away(scenario, brief, lines),
        _hung_up_early(scenario, turns, ended_by),
    ]
    return [fault for fault in found if fault is not None]


def problem_of(faults: Sequence[CallerFault]) -> str:
    """One line for the call's row."""
    return f"{CALLER_FAULT}: " + "; ".join(f"{fault.kind} ({fault.shown})" for fault in faults)


def _left_role(lines: Sequence[str], other_side: int) -> CallerFault | None:
    for line in lines:
        match = _AGENT_TALK.search(line) or _MODEL_TALK.search(line)
        if match:
            return CallerFault("left_role", match[0])
    return CallerFault("left_role", "wrote the agent's part") if other_side else None


def _gave_away(scenario: Scenario, brief: str, lines: Sequence[str]) -> CallerFault | None:
    # What a caller may say in these very words: what it wants, what it knows, what its scripted lines say.
    own = _words(" ".join([scenario.goal, *scenario.knows.values(), *scenario.lines.values()]))
    allowed = {tuple(own[at : at + ROW]) for at in range(len(own))}
    told = _words(brief)
    secret = {tuple(told[at : at + ROW]) for at in range(len(told) - ROW + 1)} - allowed
    for line in lines:
        if match := _TOOLS.search(line):
            return CallerFault("gave_away", match[0])
        if scenario.role == "impostor" and (match := _NOT_HOLDER.search(line)):
            return CallerFault("gave_away", match[0])
        words = _words(line)
        for at in range(len(words) - ROW + 1):
            if tuple(words[at : at + ROW]) in secret:
                return CallerFault("gave_away", " ".join(words[at : at + ROW]))
    return None


def _hung_up_early(
    scenario: Scenario, turns: Sequence[Mapping[str, Any]], ended_by: str
) -> CallerFault | None:
    if ended_by not in ("goal_met", "gave_up"):
        return None
    number = scenario.knows.get("account_number")
    speakers = [str(turn["speaker"]) for turn in turns]
    if "caller" in speakers and "agent" not in speakers[speakers.index("caller") + 1 :]:
        return CallerFault("hung_up_early", "before any reply")
    given = [
        at
        for at, turn in enumerate(turns)
        if number is not None and turn["speaker"] == "caller" and holds_value(str(turn["said"]), number)
    ]
    # An agent that never asked for the number had no mind to act.
    if given and "agent" not in speakers[given[0] + 1 :]:
        return CallerFault("hung_up_early", "before a reply to the account number")
    return None


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9']+", text.lower())
