"""Sets of wordings: what an agent may say, right and wrong, to plant failures in transcripts with.

A set is one YAML file under `wordings/`. For each kind (`KINDS`) it holds wordings by request family, or
under `any` for every family that the kind can befall. A wording is what the agent says at the turning point
of a call; `||` starts another turn, whose speaker is `C:` or `A:`. In braces stand values, each spoken in one
of the set's own `forms`:

    {usd:49} {date:08-03} {card:3382} {order:2207}   that value; `wrong` one that the account does not hold
    {email:current} {card:new} {email:new}           what the account holds, what the caller changes it to
    {number:right}                                   the account's number
    {old} {new}                                      the caller's detail before and after its correction

Sets are kept apart by purpose: rules are changed on every set but `held_out`, and what they are worth is
measured on that one, which must not be read, nor its misses, while rules are changed. Whoever reads a miss
renames the set, notes what was measured on it, and writes a fresh one, as was done with `second`, `third` and
`fourth`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from inquesto_dag.errors import InputError
from inquesto_dag.files import read_yaml
from inquesto_dag.protocol.models import Family, Frozen, Role

FOLDER = Path(__file__).parent / "wordings"
HOLDERS: tuple[Role, ...] = ("goal_directed", "legitimate")
GOAL = "goal_reached"
HELD_OUT = "held_out"  # the set that nobody reads while changing rules
ByFamily = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Outcome:
    """What is true of a call with such a wording: whether the change was made, what is to be found.

    `unlabelled` are events (or the goal) that the wording does not decide; they are not counted.
    """

    done: bool = False
    events: tuple[str, ...] = ()
    goal: bool | None = None
    unlabelled: tuple[str, ...] = ()


@dataclass(frozen=True)
class Kind:
    """One kind of wording: what it aims at, who calls, and what a call with it comes to."""

    aims_at: str  # an event, or the goal
    outcomes: tuple[Outcome, ...]
    roles: tuple[Role, ...] = HOLDERS
    corrects: bool = False  # only for callers who correct a detail
    split: bool = False  # the caller says the detail wrong, and corrects it in a later turn
    last: bool = False  # the agent says nothing after it


_T9, _T8, _T7 = "promised_not_done", "wrong_information", "false_reject"
_LOST = Outcome(events=("context_loss",), unlabelled=(_T9, _T8, GOAL))
_KEPT = Outcome(unlabelled=(_T9, GOAL))
KINDS: Mapping[str, Kind] = {
    "lost": Kind("context_loss", (_LOST,), corrects=True),
    "kept": Kind("context_loss", (_KEPT,), corrects=True),
    "lost_split": Kind("context_loss", (_LOST,), corrects=True, split=True),
    "kept_split": Kind("context_loss", (_KEPT,), corrects=True, split=True),
    "refused": Kind(_T7, (Outcome(events=(_T7,), goal=False),)),
    "not_refused": Kind(_T7, (Outcome(unlabelled=(_T9, GOAL)),)),
    "wrong": Kind(_T8, (Outcome(events=(_T8,), unlabelled=(_T9, _T7, GOAL)),)),
    "right": Kind(_T8, (Outcome(unlabelled=(_T9, GOAL)),)),
    "claimed": Kind(_T9, (Outcome(events=(_T9,), goal=False), Outcome(done=True, goal=True))),
    "promised": Kind(_T9, (Outcome(events=(_T9,), goal=False),), last=True),
    "unclaimed": Kind(
        _T9, (Outcome(goal=False, unlabelled=(_T7,)), Outcome(done=True, unlabelled=(_T7, _T8), goal=False))
    ),
    "answered": Kind(GOAL, (Outcome(goal=True),)),
    "unanswered": Kind(GOAL, (Outcome(goal=False, unlabelled=(_T7,)),)),
    "disclosed": Kind(
        "impostor_served", (Outcome(events=("impostor_served",), goal=False),), roles=("impostor",)
    ),
    "withheld": Kind("impostor_served", (Outcome(goal=True),), roles=("impostor",)),
    "served": Kind(
        "impostor_served",
        (Outcome(done=True, events=("impostor_served",), goal=False, unlabelled=(_T8,)),),
        roles=("impostor",),
    ),
}


class WordingSet(Frozen):
    """One set: its forms of values, what an agent says around the turning point, and wordings by kind."""

    name: str
    forms: dict[str, tuple[str, ...]]
    greet: tuple[str, ...]
    ask_number: tuple[str, ...]
    thanks: tuple[str, ...]
    ask_detail: dict[Family, tuple[str, ...]]
    goodbye: tuple[str, ...]
    lost: ByFamily
    kept: ByFamily
    lost_split: ByFamily
    kept_split: ByFamily
    refused: ByFamily
    not_refused: ByFamily
    wrong: ByFamily
    right: ByFamily
    claimed: ByFamily
    promised: ByFamily
    unclaimed: ByFamily
    answered: ByFamily
    unanswered: ByFamily
    disclosed: ByFamily
    withheld: ByFamily
    served: ByFamily

    def of(self, kind: str) -> ByFamily:
        """The wordings of a kind, by family or `any`."""
        found: ByFamily = getattr(self, kind)
        return found


def list_sets() -> list[str]:
    """Names of the sets that the package holds."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def load_wordings(name: str) -> WordingSet:
    """A set by its name or by the path of a YAML file; InputError names what is wrong with it."""
    is_path = os.sep in name or name.endswith((".yaml", ".yml"))
    path = Path(name) if is_path else FOLDER / f"{name}.yaml"
    missing = f"use one of {', '.join(list_sets())}, or the path of a YAML file"
    try:
        return WordingSet.model_validate(read_yaml(path, missing=missing))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        raise InputError(first["msg"], where=path, field=field, remedy="see the module's format") from error
