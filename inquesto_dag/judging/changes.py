"""Whether an agent says that a change was made (PROTOCOL R3, T9).

Conventions: per change a vocabulary of the words for making it, and forms in which any of them is completed:
`I have ...ed`, `was ...ed`, `I was able to ...`, `is on its way`, `you will get ...`. Words that mean one
change and nothing else need no object; others need one in the same clause. What may or shall be done is no
claim, but a promise with which the agent's part ends is one: nothing follows that could keep it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from inquesto_dag.judging.claims import Place, Talk, claimed, conditional, stated
from inquesto_dag.judging.text import CONDITION, HYPOTHETICAL, NEGATION, NOT, Sentence, normalise
from inquesto_dag.protocol.models import Family

Change = Literal["refund", "cancel", "card", "email"]
CHANGE_OF: dict[Family, Change] = {
    "dup_charge": "refund",
    "failed_order": "refund",
    "cancel_sub": "cancel",
    "update_card": "card",
    "change_email": "email",
}


@dataclass(frozen=True)
class _Words:
    """The words for one change: those that mean nothing else, and those that need an object of it."""

    own: str  # participles that need no object
    verbs: str  # participles that need one
    base: str  # infinitives of both
    gerund: str
    noun: str  # what the change is called, and what it is about
    deed: str  # nouns for the change itself
    more: tuple[str, ...] = ()  # results that mean that it was made


_MONEY = (
    r"(?:\$\d[\d.]*|(?<!\w)(?:refund|reimbursement|credit|money|amount|funds?|sum|charges?|fees?|"
    r"payment|duplicate|price))"
)
_PUT = (
    r"(?:updated|changed|replaced|saved|added|set|switched|registered|recorded|stored|swapped|entered|put|"
    r"made|"
    r"amended|corrected|modified|edited|moved|exchanged|adjusted|brought up to date|substituted|logged|"
    r"taken over|applied|renewed|attached|linked|activated|loaded|uploaded|configured|pointed|redirected|"
    r"rerouted|"
    r"assigned|transferred|popped|placed|enrolled|got you down)"
)
_PUT_BASE = (
    r"(?:update|change|replace|save|add|set|switch|register|record|store|swap|enter|put|make|amend|correct|"
    r"modify|"
    r"edit|move|exchange|adjust|substitute|use|apply|link|attach|activate|get|have)"
)
_PUT_GERUND = (
    r"(?:updating|changing|replacing|saving|adding|setting|switching|registering|recording|storing|swapping|"
    r"entering|putting|amending|modifying|exchanging|applying)"
)
WORDS: dict[Change, _Words] = {
    "refund": _Words(
        own=r"(?:refunded|reimbursed|repaid|credited|recredited|compensated)",
        verbs=r"(?:returned|reversed|sent|paid|given|gave|transferred|taken off|removed|waived|voided|wired|"
        r"released|put|popped|placed|pushed|remitted|rebated|knocked off|wiped|deducted|undone|adjusted)",
        base=r"(?:refund|reimburse|repay|credit|return|reverse|send|pay|give|transfer|issue|process|remove|"
        r"waive|void|"
        r"take|get|have|make)",
        gerund=r"(?:refunding|reimbursing|crediting|returning|reversing|sending|paying|issuing|processing)",
        noun=rf"(?:{_MONEY}|refund\w*|reimburse\w*|order|card)",
        deed=r"(?:refund|reimbursement|credit|reversal)",
        more=(
            rf"(?:{_MONEY}|\b(?:it|that))\b.{{0,25}}?(?:'s|\bis|\bare|\bwas|\bhas been) (?:now |already |"
            rf"just |"
            r"all )*(?:on (?:its|the|their) way|(?:heading|going|coming|headed|flowing) (?:back|to you|to "
            r"your)|"
            r"back (?:on|in|to|with))\b",
            rf"{_MONEY} (?:coming|heading|going|on) (?:your|its|the|back)\b",
            rf"\byou(?:'ll| will| should| can expect to| are going to|'re going to)(?: now| soon| then)? "
            rf"(?:see|receive"
            rf"|get|have|find)\b.{{0,30}}(?:{_MONEY}|\bback)\b",
            r"(?:\$\d[\d.]*|\b(?:refund|money|credit|reimbursement|funds?))\b(?: of \$\d[\d.]*)? (?:will|"
            r"should|'ll)"
            r"(?: now| soon| then)? (?:reach|arrive|show|appear|land|hit|post|be (?:in|on|back|with|there|"
            r"available|visible))\b",
            r"\brefund (?:went|goes|has gone|is) through\b",
            rf"\byou(?:'re| are)(?: now| already)? (?:getting|receiving)\b.{{0,25}}(?:{_MONEY}|\bback)\b",
        ),
    ),
    "cancel": _Words(
        own=r"(?:cancell?ed|terminated|unsubscribed|discontinued|deactivated)",
        verbs=r"(?:ended|closed|stopped|taken off|removed|taken you off|removed you|taken (?:that|it) off|"
        r"switched off|turned off|shut down|brought to an end|wound "
        r"up|halted|revoked|ceased|dropped|opted out|taken down|withdrawn|unenrolled|signed you out|pulled)",
        base=r"(?:cancel|terminate|unsubscribe|end|close|stop|deactivate|discontinue|remove|take|shut|turn|"
        r"get)",
        gerund=r"(?:cancell?ing|terminating|ending|closing|stopping|deactivating)",
        noun=r"(?:plan|subscription|membership|account|service|pro|contract|renewal|cancell?\w*|"
        r"auto ?renew\w*)",
        deed=r"(?:cancell?ation|termination)",
        more=(
            r"\b(?:plan|subscription|membership|it|that|service)\b.{0,20}? (?:has|have|'s) (?:now |just "
            r")*(?:come to an"
            r" end|ended|expired|stopped)\b",
            r"\b(?:plan|subscription|membership)\b.{0,15}? is (?:now )?(?:over|off|gone|no longer active|"
            r"inactive)\b",
            r"\byou(?:'re| are) (?:now )?off (?:the|that|your) (?:\w+ )?(?:plan|subscription)\b",
            r"\byou(?:'re| are) (?:now )?(?:no longer|not) (?:subscribed|a subscriber|a member|on the)\b",
        ),
    ),
    "card": _Words(
        own=r"(?!)",
        verbs=_PUT,
        base=_PUT_BASE,
        gerund=_PUT_GERUND,
        noun=r"(?:cards?|payment (?:method|details|information|info|option)|\d{4}|billing (?:details|"
        r"information)|"
        r"default)",
        deed=r"(?:update|change|replacement|switch|swap)",
        more=(
            r"\b(?:card|payment method)\b.{0,40}\bnow\b.{0,25}\b(?:ends|ending|the one|\d{4})",
            r"\b(?:\d{4}|card|it|that)\b.{0,40}?(?:'s|\bis|\bare) (?:now |already )*(?:on file|in place|"
            r"active|"
            r"the card|the one|your (?:new |default )?(?:card|payment)|what we|set up|live|in the system|"
            r"linked|"
            r"(?:good|ready) to (?:go|use))\b",
            r"\b(?:we'll|we will|we'll be|we're going to|you'll be|you will be|your next|future|"
            r"upcoming)\b.{0,40}\b"
            r"(?:charge|charging|use|using|bill|billing|charged|billed|payments?)\b.{0,40}\b(?:new card|"
            r"\d{4})\b",
            r"\b(?:taken|takes|took) (?:its|the) place\b|\bcard(?:'s| is)(?: now)? in\b",
            r"\bwe(?:'ve| have) (?:now )?(?:got )?(?:the|your) (?:new )?card\b.{0,30}\b(?:on file|in place|"
            r"now)\b",
        ),
    ),
    "email": _Words(
        own=r"(?!)",
        verbs=_PUT,
        base=_PUT_BASE,
        gerund=_PUT_GERUND,
        noun=r"(?:emails?|address(?:es)?|mailbox|inbox|contact (?:details|information)|\S+@\S+)",
        deed=r"(?:update|change|replacement|switch|swap)",
        more=(
            r"\b(?:email|address)\b.{0,40}\bis now\b|\b(?:address|email)(?:'s| is)(?: now)? in\b",
            r"(?:\S+@\S+|\b(?:email|address|it|that)\b).{0,40}?(?:'s|\bis) (?:now |already )*(?:on file|in "
            r"place|active|"
            r"what (?:we|i)|the (?:address|email|one|new)|your (?:new |current )?(?:billing )?(?:email|"
            r"address)|set up|"
            r"live|in the system|where)\b",
            r"\b(?:invoices?|bills?|emails?|statements?|receipts?|everything|mail|correspondence|"
            r"notices?)\b.{0,30}\b"
            r"(?:will|'ll|should)(?: now| all)* (?:go|be sent|come|arrive|land|reach|be mailed|be going|be "
            r"delivered|"
            r"get to|find|be coming)\b",
            r"\b(?:invoices?|bills?|statements?|receipts?|emails?)\b.{0,15} (?:now|from now on) (?:go|get "
            r"sent|"
            r"come)\b",
            r"\byou(?:'ll| will)(?: now)? (?:receive|get|find)\b.{0,30}\b(?:invoices?|bills?|statements?|"
            r"emails?|receipts?)"
            r"\b.{0,20}(?:@|\bthere\b|\bat (?:the|your|that) new)",
            r"\b(?:we'll|we will|we're going to)(?: be)?(?: now)? (?:send|sending|mail|mailing|email|"
            r"emailing|use|using)\b"
            r".{0,30}(?:@|\bthere\b|\bnew (?:address|email)\b)",
        ),
    ),
}
# From when on something holds: with the new card or address beside it, the change was made.
_FROM_NOW = (
    r"\b(?:now|from (?:now|here|today|this (?:point|moment|day)|then|that point)(?: on| onwards?)?|going "
    r"forward|in (?:the )?"
    r"future|henceforth|as of (?:now|today|this moment)|starting (?:now|today)|next|upcoming|hereafter)\b"
)
_NEW_ONE: dict[Change, str] = {
    "card": r"(?:\b\d{4}\b|\b(?:new|other) card\b)",
    "email": r"(?:@|\bnew (?:e?mail|address|mailbox|inbox)\b)",
}
_HOLDS = re.compile(
    r"(?:'s|'re|'ve|'ll|\b(?:is|are|will|have|has|go|goes|going|use|charge|bill|send|receive|get|reach))\b"
)
# What will not happen any more once a plan is cancelled.
_NO_MORE = re.compile(
    r"\b(?:it|plan|subscription|membership|you|service)\b(?: \w+)? ?(?:won't|will not|no longer|is not "
    r"going to|isn't going to)"
    r"(?: be)?(?: \w+)? ?(?:renew\w*|charged|billed|continue)\b|\bno (?:more|further) (?:charges|payments|"
    r"bills|invoices)\b"
)
_ADV = (
    r"(?: (?:now|just|already|also|all|fully|successfully|officially|gone ahead and|went ahead and|went "
    r"and|then|"
    r"indeed|right away|immediately|duly|completely|finally|gladly|quickly|formally|since|therefore|as "
    r"requested|"
    r"as discussed|actually|both|even))*"
)
_I = rf"\b(?:i|we)(?:'ve| have|'d)?(?: gotten| got)?{_ADV}"
_ABLE = (
    r"\b(?:i|we)(?:'ve| have)?(?: (?:just|now|also))* (?:was able to|were able to|been able to|managed to|"
    r"made sure to|"
    r"did|took the liberty to)(?: (?:just|now|go ahead and|successfully))*"
)
_BE = (
    rf"(?:'s|'ve|\bis|\bhas|\bwas|\bare|\bhave|\bwere|\bgot|\bgets|\bbeing|\bbeen){_ADV}(?: been| being| "
    rf"got)?{_ADV}"
)
_STATE = (
    r"(?:done|complete|completed|finished|through|gone through|successful|processed|confirmed|in effect|"
    r"effective|taken care of|sorted(?: out)?|handled|settled|all set|under ?way|submitted|initiated|"
    r"issued|made|"
    r"approved|executed|carried out|finali[sz]ed|arranged|live|in place|on (?:its|the) way|filed|scheduled|"
    r"sent|fixed|"
    r"put through|entered)"
)
_DEED = (
    r"(?:issued|processed|submitted|completed|initiated|made|put through|approved|arranged|sent|put in|"
    r"executed|"
    r"carried out|finali[sz]ed|confirmed|triggered|started|filed|pushed through|scheduled|given|gave|done|"
    r"set up|"
    r"entered|requested|authori[sz]ed|granted|finished|handled|taken care of|sorted)"
)
# Before a participle: not what was done, but what may, shall or should be, or what is usually done.
_NOT_YET = re.compile(
    r"\b(?:to|can|could|will|would|should|shall|may|might|must|be|want|wants|wanted|like|need|needs|get|"
    r"getting|have "
    r"(?:it|that|this|them|your \w+|the \w+)|having|usually|normally|typically|generally|always|policy|any|"
    r"every|"
    r"each time|'ll)(?: \w+){0,2}$|'(?:ll|d like)(?: \w+){0,4}$"
)
_MODAL = r"(?:can|could|will|would|should|shall|may|might|must|to|be|needs?|wants?)\b"
# Inside a claim: `should have been`, `needs to be`.
_OUGHT = re.compile(rf"\b{_MODAL}(?: \w+)? (?:have|be|been|get)\b")
_USUAL = re.compile(
    r"\b(?:usually|normally|typically|generally|always|as a rule|by policy|in general|in "
    r"full by)\b"
)
_GENERIC = re.compile(
    rf"\b(?:that|it|this|everything|all|request|change)(?:'s| is| has| was| were|'ve| have){_ADV}(?: "
    rf"been)?{_ADV} "
    r"(?:done|set|complete|completed|taken care of|sorted(?: out)?|finished|processed|updated|changed|made|"
    r"handled|"
    r"in place|fixed|dealt with|gone through|went through|settled|through|arranged|resolved)\b|"
    r"\b(?:it|that|everything|request|change|update) (?:all |just |now )*(?:went|came|has gone|'s gone) "
    r"through\b|"
    r"\b(?:job done|squared away|wrapped up|done and dusted)\b|"
    r"\ball (?:done|set|sorted|finished|taken care of|good now)\b|"
    r"\b(?:i've|i have|we've|we have) (?:just |now |already )*(?:done|taken care of|sorted|handled|"
    r"completed|dealt with|"
    r"fixed|arranged|made) (?:that|it|this|everything|the change|your request)\b|"
    r"^(?:\w+ ){0,2}done$|\bthere you (?:go|have it)\b|\bconsider (?:it|that) (?:done|cancell?ed|sorted|"
    r"settled)\b|"
    r"\byou(?:'re| are) (?:now )?(?:all set|good to go|all sorted)\b"
)
_WILL = (
    r"(?:'ll|\bwill|\bshall|\bgoing to(?! (?:\S+@|the|your|a)\b)|'m about to)(?! \S+@)\b"
    rf"(?! (?:\w+ ){{0,2}}?(?:{NOT}|nothing)\b)"
)
_DOING = r"\b(?:i|we)(?:'m|'re| am| are)(?: (?:now|just|already|currently|also|right now))*"
# What else an agent may be about to do with what the change is about.
_OTHER_WILL = re.compile(
    r"(?:'ll|\bwill|\bshall|\bgoing to|about to)(?: (?:just|also|now|then|be|have to|quickly|first|gladly|"
    r"happily))* (?:transfer\w*|"
    r"connect\w*|put you|put this|check\w*|look\w*|need|ask\w*|get back|call|hand|escalat\w*|get "
    r"(?:someone|a (?:colleague|person|human|supervisor)|you (?:to|over|through|in|connected|a)|back|in "
    r"touch|to)|take (?:a|"
    r"another|up|about|some|\d|five|a few)|make a note|give you a|keep|leave|stay\w*|remain\w*|explain\w*|"
    r"tell|read|find|open|pull|bring|wait|"
    r"note|see (?:if|what|whether)|confirm|verify|forward\w*|receive|hear|help|show|review\w*|search\w*|"
    r"try|like|want|use(?! the| your)|"
    r"work|require|continue|expire|renew)\b"
)
_CLOSING = re.compile(
    r"\b(?:bye|goodbye|thanks?|thank you|take care|have a|welcome|anything else|pleasure|nice day|good day|"
    r"great day|"
    r"cheers|speak soon|call again|all the best)\b"
)
_FAILED = re.compile(
    r"\b(?:could|did|was|were|has|have|had|can|is)(?:n't|not| not)(?: \w+){0,4}? "
    r"(?:refund\w*|cancel\w*|updat\w*|chang\w*|process\w*|complet\w*|issu\w*|go through|gone through|sav\w*|"
    r"done|work\w*|able|succeed\w*|successful)\b|"
    r"\b(?:refund|cancellation|update|change|request|that|it) (?:has |have )?(?:failed|was rejected|was "
    r"refused|"
    r"got stuck)\b|\b(?:went wrong|an error|take that back|spoke too soon)\b"
)


def _forms(words: _Words) -> tuple[re.Pattern[str], ...]:
    noun, it = rf"(?<!\w){words.noun}(?!\w)", r"\b(?:it|that|this|one|them|everything|both)\b"
    thing = rf"(?:{noun}|{it})"
    # `I have sent the refund` is one; `I have sent` and something else is none.
    named = r"(?:\bback\b|\bto you|\boff\b|\$\d|\b(?:charge|refund|plan|sub|member)|\b(?:it|that)\b)"
    back = r".{0,60}" if words.own == "(?!)" else rf"(?=.{{0,60}}{named})"
    base = words.base
    return tuple(
        re.compile(pattern)
        for pattern in (
            # Active, passive and bare forms of words that mean this change alone.
            rf"{_I} {words.own}\b",
            rf"{_BE} {words.own}\b",
            rf"(?<!have )(?<!had )(?:{noun}|{it})(?: (?!{_MODAL})\w+){{0,3}}? {words.own}\b(?! (?:plan|"
            rf"subscription|order|charge|account))",
            # The same of words that need an object.
            rf"{_I} {words.verbs}\b{back}.{{0,60}}?{thing}",
            rf"{thing}.{{0,60}}?{_BE} {words.verbs}\b",
            # What the change is called, and that it is done.
            rf"{_I} {_DEED}\b.{{0,40}}?\b{words.deed}\b",
            rf"(?<!promised )\b{words.deed}\b.{{0,50}}?(?:{_BE}|\bwent|\bhas gone|\bhas|\bwill "
            rf"be) {_STATE}\b",
            rf"\b{words.deed} (?:all |now )?(?:done|complete|completed|processed|issued|confirmed|sorted|"
            rf"successful)\b",
            rf"\b(?:i|we)(?:'ve| have)?{_ADV} (?:took care of|taken care of|handled|dealt with|looked "
            rf"after|sorted(?: out)?|seen to) (?:the|"
            rf"your|that) (?:\w+ )?(?:{words.deed}|{words.noun})(?!\w)",
            rf"^(?:\w+ ){{0,2}}?{words.own}$",
            rf"\b{words.deed}\b.{{0,30}}? (?:went|has gone|goes|came) through\b",
            rf"{_ABLE} {base}\b.{{0,60}}?{thing}",
            rf"\b(?:i|we)(?:'ve| have|'m| am|'re| are)?{_ADV} (?:finished|completed|done|succeeded|gone|"
            rf"went|carried|through|"
            rf"followed)(?: (?:with|in|ahead|out|through|on|and))*(?: the| your)? "
            rf"(?:{words.gerund}|{words.deed})\b",
            *words.more,
        )
    )


_DONE: dict[Change, tuple[re.Pattern[str], ...]] = {change: _forms(words) for change, words in WORDS.items()}


def done_in(sentence: Sentence, change: Change) -> bool:
    """Whether a sentence says that the change was made."""
    if _USUAL.search(sentence.norm):
        return False
    if any(_holds_now(clause, sentence, change) for clause in stated(sentence)):
        return True
    return any(claimed(pattern, sentence, _NOT_YET, _OUGHT) for pattern in _DONE[change])


def _holds_now(clause: str, sentence: Sentence, change: Change) -> bool:
    """Whether a clause says what holds from now on, and did not before the change."""
    if HYPOTHETICAL.search(clause) or conditional(clause, sentence):
        return False
    if change == "cancel":
        return bool(_NO_MORE.search(clause))
    if (
        change not in _NEW_ONE
        or NEGATION.search(clause)
        or re.search(
            r"\b(?:can|may|shall|should|"
            r"must)\b",
            clause,
        )
    ):
        return False
    return all(re.search(p, clause) for p in (_FROM_NOW, _NEW_ONE[change], _HOLDS))


def done_claims(talk: Talk, change: Change) -> list[tuple[Place, Sentence]]:
    """Every statement that the change was made."""
    return [(place, sentence) for place, sentence in talk.agent() if done_in(sentence, change)]


def last_claim(talk: Talk, change: Change) -> Place | None:
    """Where the agent last says that the change was made, unless it takes it back afterwards.

    A plain `done` counts where the talk is about this change; a promise counts when the agent says nothing
    after it but its goodbye.
    """
    found: Place | None = None
    recent: list[str] = []
    agent = list(talk.agent())
    for position, (place, sentence) in enumerate(agent):
        recent = [*recent[-5:], sentence.norm]
        about = " ".join([*recent, *map(normalise, talk.caller_before(place.turn)[-2:])])
        named = re.search(rf"(?<!\w){WORDS[change].noun}(?!\w)", about)
        plain = named and claimed(_GENERIC, sentence, _NOT_YET, _OUGHT)
        if done_in(sentence, change) or plain:
            found = place
        elif found and sentence.states and _FAILED.search(sentence.norm):
            found = None if not HYPOTHETICAL.search(sentence.norm) else found
        elif promises(sentence, change) and _ends(agent[position + 1 :]):
            found = place
    return found


def promises(sentence: Sentence, change: Change) -> bool:
    """Whether a sentence promises the change: that it will be made, or is being made."""
    words = WORDS[change]
    about = re.compile(rf"(?:(?<!\w){words.noun}(?!\w)|\b{words.deed}\b|\b{words.own}\b)")
    if CONDITION.search(sentence.norm) or not about.search(sentence.norm):
        return False
    doing = rf"{_DOING} {words.gerund}\b|\blet me (?:just |go ahead and )?{words.base}\b"
    will = claimed(_WILL, sentence) and not _OTHER_WILL.search(sentence.norm)
    return will or claimed(doing, sentence)


def _ends(rest: list[tuple[Place, Sentence]]) -> bool:
    """Whether nothing follows but a goodbye."""
    return all(_CLOSING.search(sentence.norm) for _, sentence in rest)
