"""The embedded agent's dialogue: request, account number, lookup, voice, details, read back, act, confirm.

The state is what is known; after each utterance `_proceed` asks for the next thing missing or does what is
due. Nothing of the account is said before the voice was verified, and no change is made before the caller
agreed to what was read back. A caller who was cut off in mid-sentence is understood in context: what did not
make sense alone is read again together with what follows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from typing import Any, Literal

from inquesto_dag.agents.brain import Heard
from inquesto_dag.agents.program import Program
from inquesto_dag.agents.scripted import phrases as say
from inquesto_dag.agents.scripted.tasks import (
    DETAIL_REQUIRED,
    Action,
    Details,
    needs_detail,
    plan_task,
)
from inquesto_dag.agents.scripted.understand import (
    Intent,
    Understood,
    find_intent,
    has_words,
    score_intents,
    understand,
)
from inquesto_dag.agents.tools import ToolBox
from inquesto_dag.provenance.versions import function_version

Question = Literal["request", "number", "speech", "detail", "confirm", "more", "refused", "handed_over"]
KEPT_FRAGMENTS = 3  # utterances that are read again together with the next


class ScriptedBrain:
    """The embedded agent's program; it draws nothing, so the seed of a call changes nothing."""

    def __init__(self, greeting: str | None, program: Program) -> None:
        self.greeting, self.program = greeting, program

    @property
    def identity(self) -> Mapping[str, Any]:
        """All that decides its answers."""
        return {
            "kind": "scripted",
            "version": function_version("policy"),
            "greeting": self.greeting,
            "program": vars(self.program).copy(),
        }

    def start(self, seed: int) -> ScriptedSession:
        """A fresh call."""
        return ScriptedSession(self.greeting, self.program)


class ScriptedSession:
    """One call of the embedded agent; `ended` once it has said goodbye."""

    def __init__(self, greeting: str | None, program: Program) -> None:
        self.ended = False
        self._greeting, self._program = greeting, program
        self._intent: Intent | None = None
        self._record: dict[str, Any] | None = None  # the latest answer of lookup_account
        self._number: str | None = None
        self._verified = False
        self._details = Details()
        self._asked: Question | None = None
        self._fragments: list[str] = []  # what was not understood by itself yet
        self._story: list[str] = []  # what the caller said before the request was clear
        self._misses: Counter[str] = Counter()
        self._last: list[str] = []  # what was said last, to repeat it
        self._proposed: Action | None = None  # what was read back and waits for consent
        self._outcome: list[str] = []  # what the finished request came to

    def greet(self) -> Iterator[str]:
        """The greeting, if the agent has one."""
        if self._greeting:
            yield self._greeting

    def reply(self, heard: Heard, tools: ToolBox) -> Iterator[str]:
        """Sentences in answer to an utterance; none when only fillers were heard or the call is over."""
        if self.ended or not has_words(heard.text):
            return
        sentences: list[str] = []
        for sentence in self._answer(understand(heard.text), tools):
            sentences.append(sentence)
            yield sentence
        self._last = sentences

    # --- steering -------------------------------------------------------------------------------------

    def _answer(self, heard: Understood, tools: ToolBox) -> Iterator[str]:
        if self._asked == "refused":
            yield from self._refuse_again()
        elif self._asked == "handed_over":
            yield say.HAND_OVER_NOW
            self.ended = True
        elif heard.still_there and self._last:
            yield say.HERE
            yield self._last[-1]
        elif heard.repeat and self._last and not heard.numbers and not heard.email:
            yield from self._last
        elif self._is_farewell(heard):
            yield say.GOODBYE
            self.ended = True
        elif heard.wants_person and self._intent not in (None, "escalate_refund"):
            yield from self._hand_over()
        else:
            yield from self._take_in(heard, tools)

    def _is_farewell(self, heard: Understood) -> bool:
        if heard.numbers or heard.email or heard.disagrees:
            return False
        if self._asked == "more" and (heard.no_more or heard.goodbye or heard.polarity == "no"):
            return find_intent(heard.text) in (None, self._intent)
        return heard.goodbye and heard.polarity != "yes" and find_intent(heard.text) is None

    def _refuse_again(self) -> Iterator[str]:
        yield say.REFUSE_AGAIN
        if self._too_many("refused", 3):
            yield say.GOODBYE
            self.ended = True

    def _hand_over(self) -> Iterator[str]:
        self._asked = "handed_over"
        yield say.HAND_OVER

    def _too_many(self, question: str, limit: int) -> bool:
        """Count an answer that did not help; true when it was the last that is borne."""
        self._misses[question] += 1
        return self._misses[question] >= limit

    # --- taking in what was said ----------------------------------------------------------------------

    def _take_in(self, heard: Understood, tools: ToolBox) -> Iterator[str]:
        joined = understand(" ".join([*self._fragments, heard.text]))
        found_request = self._take_request(heard)
        found_detail = self._take_details(heard, joined)
        self._fragments = [*self._fragments, heard.text][-KEPT_FRAGMENTS:]
        if found_request or found_detail:
            self._fragments.clear()
        if self._record is None:
            problem = self._take_number(heard, joined, tools)
            if problem == say.HAND_OVER:
                yield from self._hand_over()
                return
            if problem:
                yield problem
                return
        if self._asked == "more":
            yield from self._after_outcome(heard, found_request or found_detail, tools)
        elif self._asked == "confirm":
            yield from self._take_consent(heard, found_request, tools)
        else:
            yield from self._proceed(tools)

    def _take_request(self, heard: Understood) -> bool:
        """Note the request; a later utterance changes it only by speaking clearly for another one."""
        if self._intent is None:
            self._story.append(heard.text)
            enough = 3 if self._asked == "request" else 4
            self._intent = find_intent(heard.text, enough) or find_intent(" ".join(self._story), enough)
            return self._intent is not None
        if self._record is None:  # pieces of one opening may only together tell what it is about
            self._story.append(heard.text)
        for text in (heard.text, " ".join(self._story)):
            found = find_intent(text)
            scores = score_intents(text)
            if found and scores[found] >= scores[self._intent] + 2:
                self._intent = found
                self._misses.pop("detail", None)
                return True
        return False

    def _take_details(self, heard: Understood, joined: Understood) -> bool:
        """Note every detail said, the last as corrected; true when the one that is needed is new."""
        before = self._details.of(self._intent) if self._intent else None
        asked = self._asked in ("detail", "confirm")
        if self._intent == "update_card":
            uses = ("card", "plain") if asked else ("card",)
            on_file = self._record["card_last4"] if self._record else None
            card = heard.last(*uses, length=4) or (joined.last(*uses, length=4) if asked else None)
            if card is not None and card not in (on_file, self._number):
                self._details.card = card
        self._details.email = _whole_email(heard.email, joined.email, self._details.email)
        uses = ("order", "plain") if asked and self._intent == "failed_order" else ("order",)
        self._details.order = heard.last(*uses, length=4) or self._details.order
        self._details.amounts += heard.amounts
        if not heard.amounts and asked and self._intent in ("dup_charge", "invoice_up", "escalate_refund"):
            bare = heard.last("plain", length=2)
            self._details.amounts += (int(bare),) if bare else ()
        after = self._details.of(self._intent) if self._intent else None
        return after is not None and after != before

    def _take_number(self, heard: Understood, joined: Understood, tools: ToolBox) -> str | None:
        """Look the account up by a number that was heard; returns what to say when that leads nowhere."""
        length = self._program.account_digits
        uses = ("account", "plain", "card", "order") if self._asked == "number" else ("account",)
        number = heard.last(*uses, length=length) or joined.last(*uses, length=length)
        if number is None:
            part = self._asked == "number" and heard.last("account", "plain") is not None
            if part and not self._too_many("number", self._program.attempts):
                return say.NUMBER_PARTIAL
            return None
        self._fragments.clear()
        result = tools.call("lookup_account", {"account_number": number})
        if result.ok:
            self._number, self._record = number, result.content
            return None
        self._asked = "number"
        if self._too_many("lookup", self._program.number_attempts):
            return say.HAND_OVER
        return say.NUMBER_UNKNOWN

    # --- the next step --------------------------------------------------------------------------------

    def _proceed(self, tools: ToolBox) -> Iterator[str]:
        """Ask for the next thing that is missing, or do what is due."""
        if self._record is not None and not self._verified:
            stopped = yield from self._verify(tools)
            if stopped:
                return
        if self._intent is None:
            yield from self._ask_request()
        elif self._record is None:
            yield from self._ask_number()
        else:
            yield from self._serve(self._intent, self._record)

    def _ask_request(self) -> Iterator[str]:
        first, self._asked = self._asked != "request", "request"
        if self._too_many("request", self._program.attempts):
            yield from self._hand_over()
        else:
            yield say.HOW_HELP if first else say.HOW_HELP_AGAIN

    def _ask_number(self) -> Iterator[str]:
        first, self._asked = self._asked != "number", "number"
        if not first and self._too_many("number", self._program.attempts):
            yield from self._hand_over()
        else:
            yield say.ASK_NUMBER if first else say.ASK_NUMBER_AGAIN

    def _verify(self, tools: ToolBox) -> Generator[str, None, bool]:
        """Verify the voice; true when the dialogue stops here for now."""
        status = tools.call("verify_voice", {"account_number": self._number}).content.get("status")
        if status == "verified":
            self._verified = True
            return False
        if status == "not_verified":
            self._asked = "refused"
            yield say.REFUSE
        elif self._too_many("speech", self._program.verification_attempts):
            yield from self._hand_over()
        else:
            self._asked = "speech"
            yield say.MORE_SPEECH
        return True

    def _serve(self, intent: Intent, record: dict[str, Any]) -> Iterator[str]:
        if needs_detail(intent, record, self._details):
            asked_before = self._misses["detail"]
            if intent in DETAIL_REQUIRED and asked_before >= self._program.attempts:
                yield from self._hand_over()
                return
            if intent in DETAIL_REQUIRED or not asked_before:
                again, self._asked = self._asked == "detail", "detail"
                self._misses["detail"] += 1
                yield (say.ASK_DETAIL_AGAIN if again else say.ASK_DETAIL)[intent]
                return
        task = plan_task(intent, record, self._details)
        if isinstance(task, Action):
            self._asked, self._proposed = "confirm", task
            yield from task.read_back
            return
        yield from task.sentences
        if task.hand_over:
            yield from self._hand_over()
        else:
            yield from self._offer_more(list(task.sentences))

    def _take_consent(self, heard: Understood, found_request: bool, tools: ToolBox) -> Iterator[str]:
        """The answer to a read-back: consent, a correction, a no, or neither."""
        assert self._intent is not None and self._record is not None and self._proposed is not None
        task = plan_task(self._intent, self._record, self._details)
        if found_request or not isinstance(task, Action) or task.arguments != self._proposed.arguments:
            yield from self._proceed(tools)
        elif heard.polarity == "yes":
            yield from self._act(self._proposed, tools)
        elif heard.polarity == "no":
            yield say.SORRY
            yield from self._after_no(heard, tools)
        elif self._too_many("confirm", self._program.attempts):
            yield from self._hand_over()
        else:
            yield say.NOT_CAUGHT
            yield from self._proposed.read_back

    def _after_no(self, heard: Understood, tools: ToolBox) -> Iterator[str]:
        if self._too_many("no", self._program.attempts):
            yield from self._hand_over()
        elif self._intent in DETAIL_REQUIRED:
            said_again = heard.email or heard.last("card", "plain", length=4)
            if not said_again:  # they may say it next; until then there is none
                self._details.card = self._details.email = None
            self._fragments.clear()
            yield from self._proceed(tools)
        elif find_intent(heard.text) == self._intent or heard.amounts:
            yield from self._proceed(tools)
        else:
            self._intent, self._asked = None, "request"
            self._story.clear()
            yield say.WHAT_INSTEAD

    def _act(self, action: Action, tools: ToolBox) -> Iterator[str]:
        self._fragments.clear()
        result = tools.call(action.tool, dict(action.arguments))
        if not result.ok:
            yield say.FAILED
            yield from self._hand_over()
            return
        yield action.done
        yield from self._offer_more([action.done])

    def _offer_more(self, outcome: list[str]) -> Iterator[str]:
        self._outcome, self._asked, self._proposed = outcome, "more", None
        yield say.ANYTHING_ELSE

    def _after_outcome(self, heard: Understood, found: bool, tools: ToolBox) -> Iterator[str]:
        """What follows once a request was met: another one, a correction, or something unclear."""
        wrong = heard.disagrees and self._intent in DETAIL_REQUIRED
        if wrong and not found:  # what is right will come, now or with the next utterance
            self._details.card = self._details.email = None
            yield say.SORRY
        if wrong or found:
            self._misses.clear()
            result = tools.call("lookup_account", {"account_number": self._number})
            self._record = result.content if result.ok else self._record
            yield from self._proceed(tools)
        elif self._too_many("more", self._program.attempts):
            yield say.GOODBYE
            self.ended = True
        else:
            yield from self._outcome
            yield say.ANYTHING_ELSE


def _whole_email(heard: str | None, joined: str | None, known: str | None) -> str | None:
    """The address as it stands now: of this utterance, or of it with what came before, or as it was known."""
    if joined and (heard is None or joined.endswith(f".{heard}")):
        # "... is maple" and "dot garden at example dot com"; but what is left of an old one says nothing new
        return known if known and known.endswith(f".{joined}") else joined
    return heard or known
