"""A caller that follows its scenario and answers whatever an agent says, without a language model.

It wants one thing, knows what its scenario says that it knows, and stays within the scenario's lines. It ends
every call: when it has what it came for, when it was refused twice, when it was handed over, when nobody
speaks, or when its patience ends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from inquesto_dag.callers.listening import Request, Understood, understand
from inquesto_dag.callers.script import style_line
from inquesto_dag.protocol.models import Scenario
from inquesto_dag.protocol.spoken import position_of

PATIENCE = (11, 13)  # turns after which a caller gives up, drawn per call
SAME_MOVE = 3  # how often a caller says the same thing
ENDINGS = ("goal_met", "refused", "handed_over", "gave_up", "silence")


@dataclass(frozen=True)
class Say:
    """What the caller says: its move and words, whether it then hangs up, and why (`tables.CALLS`)."""

    move: str
    text: str
    hang_up: bool = False
    ended_by: str | None = None


@dataclass(frozen=True)
class Wait:
    """The caller keeps listening."""


class ScriptedCaller:
    """One caller in one call; `seed` decides its patience. It is a state machine, not safe to share."""

    def __init__(self, scenario: Scenario, seed: int) -> None:
        self.scenario = scenario
        self.patience = int(np.random.default_rng(seed).integers(PATIENCE[0], PATIENCE[1] + 1))
        self._counts: Counter[str] = Counter()
        self._unanswered = ""  # what the agent said since the caller last spoke
        self._last_move = ""
        self._stated = self._opening_states_detail()
        self._handed_over = False
        self._pushed_back = False
        self._silences = 0
        self._over = False

    def first(self) -> Say:
        """The opening: the caller speaks first."""
        return self._say("opening")

    def reply(self, said: str) -> Say | Wait:
        """The answer to what the agent said since the caller last spoke, or Wait.

        Words that were answered with Wait may be left out or given again the next time.
        """
        if self._over:
            return Wait()
        said = " ".join(said.split())
        known = self._unanswered
        self._unanswered = said if said.startswith(known) else f"{known} {said}".strip()
        heard = understand(self._unanswered, self.scenario)
        if not heard.words:
            return Wait()
        for move in self._moves(heard):
            if move == "listen":
                return Wait()
            if self._counts[move] < SAME_MOVE:
                return self._say(move)
        return self._say("goodbye")

    def silence(self) -> Say:
        """After 10 s in which nobody spoke: once whether anybody is there, then goodbye."""
        self._silences += 1
        if self._handed_over:
            return self._say("goodbye")
        if self._silences == 1 and self._counts["still_there"] < SAME_MOVE:
            return self._say("still_there")
        return self._say("goodbye", ended_by="silence")

    # --- deciding ------------------------------------------------------------------------------------

    def _moves(self, heard: Understood) -> Iterator[str]:
        """Moves that fit what was heard, best first; one that was said too often is passed over."""
        if heard.wrong == "detail":
            yield "deny"
        if heard.wrong == "account_number":
            yield "account_number"
        if heard.wrong == "goal":
            yield "goal_again"
        if heard.wrong:  # set right as often as a caller will; nobody agrees to what they know to be wrong
            yield "goodbye"
        satisfied = (heard.done or heard.answered) and not heard.wrong
        if satisfied:
            yield "nothing_else"
        if heard.keep:
            yield "deny"
        yield from self._handed(heard)
        yield from self._answers(heard)
        if heard.refused:
            if not self._pushed_back:
                yield "push_back"
            yield "accept_refusal"
        yield from self._agreements(heard)
        yield from self._small_talk(heard)

    def _handed(self, heard: Understood) -> Iterator[str]:
        """A hand-over that is made, offered, or was agreed to and now takes place."""
        if heard.requests or not (heard.handover or self._handed_over):
            return
        if heard.handover == "made" and not self._handed_over:
            yield "accept_handover!"
        if heard.handover == "offered" and not self._handed_over:
            yield "accept_handover"
        if self._handed_over and not heard.question:
            yield "listen" if heard.held and not (heard.handover or heard.closing) else "goodbye"

    def _answers(self, heard: Understood) -> Iterator[str]:
        """What was asked for, beginning with what has not been said yet."""
        moves = [self._move_for(request) for request in heard.requests]
        yield from sorted(moves, key=lambda move: bool(self._counts[move]))
        if moves:  # asked again and again for the same
            yield from ("goal_again", "goodbye")

    def _move_for(self, request: Request) -> str:
        if request == "detail":
            return "detail_again" if self._stated else "detail"
        if request in ("voice", "reason"):
            return "goal_again"
        return str(request)

    def _agreements(self, heard: Understood) -> Iterator[str]:
        """Yes to what was asked, patience when the agent wants a moment."""
        if heard.confirm:
            yield "confirm"
        if heard.held == "asked" and not self._counts["wait"]:
            yield "wait"
        if heard.held and not heard.question:
            yield "listen"
        if heard.repeat:
            yield self._repeated()

    def _small_talk(self, heard: Understood) -> Iterator[str]:
        """Whatever is left: open questions, goodbyes, what a caller cannot know, plain statements."""
        if heard.closing and not heard.question:
            yield "goodbye"
        if heard.open or heard.more:
            yield "goal_again"
        if heard.question:
            yield from ("unknown", "goal_again", "goodbye")
        if heard.greeting:
            yield "goal_again"
        if heard.about_goal and self._counts["account_number"]:
            yield "confirm"  # the agent states what it found and leaves it there
        yield "listen"

    def _repeated(self) -> str:
        """The last thing again, plainly."""
        again = {"opening": "goal_again", "detail": "detail_again", "still_there": "goal_again"}
        return again.get(self._last_move, self._last_move)

    # --- saying --------------------------------------------------------------------------------------

    def _say(self, move: str, ended_by: str | None = None) -> Say:
        move, at_once = move.rstrip("!"), move.endswith("!")
        ended_by = ended_by or self._ending(move, at_once)
        turns = sum(self._counts.values())
        if ended_by is None and turns + 1 >= self.patience:
            move, ended_by = "goodbye", self._ending("goodbye", at_once=False)
        self._counts[move] += 1
        self._unanswered = ""
        self._last_move = move
        self._stated |= move in ("detail", "deny", "detail_again")
        self._handed_over |= move == "accept_handover"
        self._pushed_back |= move == "push_back"
        self._over = ended_by is not None
        if move != "still_there":
            self._silences = 0
        return Say(move, style_line(self.scenario, move).text, self._over, ended_by)

    def _ending(self, move: str, at_once: bool) -> str | None:
        """Why the call ends with a move, or None when it goes on."""
        if move == "nothing_else":
            return "goal_met"
        if move == "accept_refusal":
            return "refused"
        if move == "accept_handover":
            return "handed_over" if at_once else None
        if move == "goodbye":
            if self._handed_over:
                return "handed_over"
            return "refused" if self._pushed_back else "gave_up"
        return None

    def _opening_states_detail(self) -> bool:
        """Whether the opening holds the corrected detail, so that it need not be said wrong once more."""
        correction = self.scenario.corrects
        opening = self.scenario.lines["opening"]
        return correction is not None and position_of(opening, correction.first) >= 0
