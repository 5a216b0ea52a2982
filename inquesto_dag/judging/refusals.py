"""Whether an agent refuses its service, and whether it hands over to a person (PROTOCOL R3, T7).

Conventions: a refusal is an inability or unwillingness to act, a failed proof of identity, an end of the call
or of the matter. It is none when the agent only needs a step first, asks for something, offers another way in
the same breath, or goes on to serve. Not hearing, not finding and not understanding refuse nobody, and that a
system failed is no refusal either.
"""

from __future__ import annotations

import re

from inquesto_dag.judging.claims import Place, Talk, Turn, claimed, conditional
from inquesto_dag.judging.text import NEGATION, Sentence, negated, normalise, supposed

_WHO_YOU_ARE = (
    r"(?:verif\w+|security (?:screening|process|step|test|control)s?|screening|identit\w+|identif\w+|"
    r"authenticat\w+|voice\w*|security check|check|who (?:you are|is calling|i'm "
    r"(?:speaking|talking) (?:to|with))|recogni[sz]\w+|credentials|security questions?|proof)"
)
_FAIL = (
    rf"(?:fail\w*|negative|unsuccessful|mismatch\w*|denied|rejected|declined|unconfirmed|unverified|"
    rf"insufficient|"
    rf"unknown|came back (?:bad|wrong)|(?!without){NEGATION.pattern})"
)
# The proof of who is calling has failed, in either order of words.
_IDENTITY = re.compile(
    rf"\b{_WHO_YOU_ARE}\b.{{0,40}}?\b{_FAIL}\b|\b{_FAIL}\b.{{0,40}}?\b{_WHO_YOU_ARE}\b|"
    r"\b(?:voice\w*|sample|you|our records|profile|(?:that|it)(?= (?:is|does|did)))\b.{0,30}?\b(?:not|no|"
    r"doesn't|didn't|don't|isn't)\b"
    r".{0,20}?\b(?:match\w*|correspond|agree|line up)\b|\b(?:no|not a|without a) match\b|\bmismatch\b|"
    r"\byou(?:'re| are| were| do|'ve| have)?(?: \w+)? ?(?:not|n't)(?: \w+){0,2}? (?:the (?:account |card |"
    r"rightful |real |"
    r"registered )?(?:holder|owner|person|customer)|authori[sz]ed|entitled|verified|listed|who you)|"
    r"\byou(?:'re| are) not 1\b|\byou (?:don't|do not) (?:sound|seem|look|appear)\b|"
    r"\byours (?:did|was|has|is)(?:n't| not)\b|\b(?:not|n't|without)(?: \w+)? pass(?:ed|ing)?\b|"
    r"\bnot (?:convinced|sure|certain|confident|satisfied)\b.{0,20}\b(?:you|speaking|talking|holder|who)\b|"
    r"\b(?:don't|do not|doesn't|does not|can't|cannot) (?:believe|think|sound|seem|look|appear|have enough|"
    r"tell who|"
    r"know who|trust)\b.{0,40}\b(?:you|speaking|talking|calling|holder|owner|confidence)\b|"
    r"\b(?:confirm|establish|validate|determine|prove|ascertain|be sure)\b.{0,15}\b(?:that you|who you|"
    r"you're|you are|"
    r"your identity)\b"
)
_CANNOT = re.compile(
    r"n't(?: be)? possible\b|\b(?:can't|cannot|can not|unable to|(?:not|n't)(?: be)? able to|only "
    r"(?:allowed|permitted|authori[sz]ed) to|(?:i'm|i am|we're|we are) not (?!(?:seeing|finding|hearing|"
    r"getting|saying|noticing|trying|asking|looking|going|kidding|joking|lying|having|missing|"
    r"being)\b)\w+ing|"
    r"(?:i|we)(?: \w+)? (?:won't|will not)|"
    r"not (?:in a|in any|in the) position to|in no position to|not (?:allowed|authori[sz]ed|permitted|"
    r"going|willing|"
    r"prepared|at liberty|supposed|cleared) to|must not|may not|no (?:way|option|possibility|means)\b|"
    r"(?:not|im)(?: be)? ?possible|(?:doesn't|does not|don't|do not|isn't|is not|won't|will not|not) "
    r"(?:let|allow|"
    r"permit)\w*|prevents?|forbids?|prohibits?|stops? me|keeps? me from|nothing (?:\w+ )?(?:i|we|that i|"
    r"that we) can|"
    r"hands are tied|not something (?:i|we|that)|no (?:one|1|body) (?:but|except|can|gets|may|is)|nobody "
    r"(?:but|can|gets|may))\b"
)
# What an agent may be unable to do without refusing anything.
_HARMLESS = re.compile(
    r"^ (?:\w+ ){0,2}?(?:hear|catch|understand|find|see|make out|locate|get|read|make that out|wait|thank|"
    r"believe|"
    r"promise|guarantee|stress|emphasi[sz]e|say (?:how|when|exactly)|tell you (?:how|when|exactly|enough)|"
    r"recall|"
    r"remember|think of|imagine|keep you|be long|take long|be (?:charged|billed)|undo|revert|reverse (?:it|"
    r"that|this) "
    r"later|change (?:it|that|this) back|send you|be able to undo|hurt|need|have (?:to|that)|lose|refuse|"
    r"deny|decline|reject|turn you|disappoint|let you down|bother|forget|do anything wrong|go wrong|"
    r"miss|charge you|bill you)\b"
)
_DECLINES = re.compile(
    r"\b(?:refuse|decline|deny|reject|denying|refusing|declining|turn (?:this|that|it|you|your \w+) down|"
    r"turning (?:this|that|it|you) down)\b|"
    r"\b(?:request|access|account|application|this|that|it)\b(?: \w+){0,3}? (?:\w+'s |is |was |has been |"
    r"been |be |"
    r"being |remains |stays )(?:denied|declined|refused|rejected|blocked|locked|closed|off limits|frozen)\b|"
    r"\baccess denied\b|\b(?:answer|response) (?:is|remains|stays)(?: still)? no\b|"
    r"\b(?:say|saying|said) no\b|\bno from (?:me|us)\b|\b(?:block|clos|reject|void|stopp|suspend)ing "
    r"(?:the|this|your|that) (?:request|"
    r"account|access)\b"
)
_ENDS = re.compile(
    r"\b(?:end|finish|terminate|conclude|close|drop|cut)(?:ing)? (?:the|this|our)(?: \w+)? (?:call|"
    r"conversation|matter|"
    r"request)\b|\bstop(?:ping)? (?:right )?(?:here|there|at this point|now)\b|\bleave it (?:there|here|at "
    r"that)\b|"
    r"\bas far as (?:we|i|this|it|you)(?: can)? go(?:es)?\b|\b(?:further|farther|proceed)\b.{0,25}\bnot "
    r"possible\b|"
    r"\b(?:no|not|n't|without|nothing)\b.{0,25}\b(?:go (?:on|any further|further)|proceed|continue)\b|"
    r"\bhang(?:ing)? up\b|\bgo no further\b"
)
_UNTOUCHED = re.compile(
    r"\b(?:no|nothing|without any) (?:changes?|action|modifications?|refund|update)?\b ?.{0,15}\b(?:will|"
    r"can|shall|is going "
    r"to) be (?:made|changed|done|taken|processed|issued)\b|"
    r"\b(?:stays?|remains?|(?:has|have|need|needs) to (?:stay|remain)|will (?:stay|remain)|leave \w+(?: "
    r"\w+)?|leave the "
    r"\w+|leaving \w+)(?: \w+){0,2}? (?:as (?:it is|they are|is)|the (?:way|same)|unchanged|untouched|"
    r"locked|blocked|"
    r"closed|alone)\b"
)
_ELSEWHERE = re.compile(
    r"\b(?:visit|come (?:in|into|by|to)|go to|stop by|drop by)\b.{0,25}\b(?:branch|branches|stores?|shops?|"
    r"office|offices|"
    r"location|person|desk|counter)\b|\b(?:write|send)\b.{0,25}\b(?:by (?:post|mail)|a letter)\b"
)
_NOT_THE_CALLERS = re.compile(r"\b(?:payment|bank|card|order|refund|transaction)\b")
_STEP = re.compile(
    r"\b(?:until|before|yet|first|right now)\b|\b(?:unless|once|if|without)\b(?!.*\b(?:verif|match|authent|"
    r"voice|identit))"
)
_RETRY = re.compile(
    r"\b(?:please|let's|let us|let me|could you|can you|would you|i'd need you to|i need you "
    r"to)\b.{0,40}\b(?:say|repeat|speak|"
    r"tell|try|again|give|provide|read|name|number|once more|spell)\b"
)
_LATER = re.compile(
    r"\b(?:call|ring|phone|contact|reach|try)\b.{0,25}\b(?:back|again|later|another|"
    r"tomorrow|us)\b"
)
_CLOSER = re.compile(
    r"\b(?:anything|something|what) else\b|\bhow else\b|\banything further\b|\bother "
    r"questions?\b"
)
_CLEARED = re.compile(
    r"\b(?:you are|you're|you have been|you've been|voice is|voice's|identity is|voice has been|identity "
    r"has been|"
    r"i have|i've|now|your voice)\b.{0,20}\b(?:verified|confirmed|recogni[sz]ed|identified|authenticated|"
    r"validated)\b|"
    r"\byours (?:is|was|has)\b.{0,15}\b(?:verified|fine|confirmed|recogni[sz]ed)\b|"
    r"\b(?:verification|check|it|that|1|attempt)\b(?: \w+){0,3}? (?:passed|succeeded|is complete|was "
    r"successful|worked|"
    r"went (?:fine|well|through)|is fine|came back (?:fine|positive))\b|"
    r"\b(?:voice|it) (?:does match|matches|matched)\b|\bgood to (?:continue|go|proceed)\b"
)
_WHO = (
    r"(?:(?:colleague|specialist|person|human|supervisor|manager|representative|agent|team|member|"
    r"department|advisor|"
    r"adviser|expert|teammate|co ?worker|operator|lead|desk|rep|associate|superior)s?|people|someone|"
    r"somebody|staff)"
)
_HAND_OVER = re.compile(
    rf"\bput(?:ting)? you (?:through|in touch|on|over)\b|\btransfer(?:r?ing|red)?\b|\bescalat(?:e|ing|ed)\b|"
    r"\bhand(?:ing|ed)? over to\b|"
    rf"\b(?:passed|handed|forwarded|referred|given|moved|sent|assigned|reported|submitted)(?: (?:on|over|"
    rf"along|up))? to "
    rf"(?:\w+ ){{0,4}}?{_WHO}\b|"
    rf"\b(?:talk|speak|chat|speaking|talking) (?:to|with) (?:(?:a|an|1 of|my|our|some|another|the) "
    rf")*(?:\w+ ){{0,2}}?{_WHO}\b|"
    rf"\bhand(?:ing|ed)? (?:you|this|it|that|things|your \w+|the \w+)(?: \w+){{0,3}}? (?:over|on|off|to)\b|"
    rf"\b(?:connect(?:ing|ed)?|rout(?:e|ing|ed)|redirect(?:ing|ed)?|forward(?:ing|ed)?|refer(?:ring|red)?|"
    rf"patch(?:ing|ed)?) "
    rf"(?:you|this|it|that|your \w+)\b|\byou(?:'re| are)(?: now)? being (?:connected|transferred|put "
    rf"through|forwarded)\b|"
    rf"\bpass(?:ing|ed)? (?:you|this|it|that|your \w+|the \w+)(?: \w+){{0,3}}? (?:on|to|over|along)\b|"
    rf"\b(?:raised|raise|raising|flagged|flagging|flag|reported|logged|opened)\b.{{0,30}}\b(?:with|to|for) "
    rf"(?:a|an|my|our|the) "
    rf"(?:\w+ ){{0,2}}{_WHO}\b|"
    rf"\b{_WHO}\b(?: \w+){{0,6}}? (?:will|'ll|is going to|is (?:now )?(?:taking|picking|joining|coming)|"
    rf"shall)"
    rf"(?: \w+){{0,3}}? ?(?:call|ring|phone|contact|help|take|be with|be in touch|get back|"
    rf"reach|look|speak|assist|follow|over|pick|join|handle|sort|on|talk|email|write)\b|"
    rf"\b(?:get|getting|bring|bringing|grab|grabbing|loop|looping|pull|pulling|fetch|fetching|find|have)\b "
    rf"(?:you |in |on )*(?:over |through )?(?:to )?"
    rf"(?:(?:a|an|my|our|the|another|1 of \w+) )?(?:\w+ ){{0,2}}?{_WHO}\b"
)
_OFFER = re.compile(r"\b(?:can|could|may|might|shall|should|would|able to)\b(?: \w+){0,3}$")
_YES = re.compile(r"\b(?:yes|please|sure|ok|okay|yeah|fine|put me through|go ahead)\b")
_MOMENT = re.compile(
    r"\b(?:moment|second|hold|stay on|wait|now|transferring|connecting|through|right away|hang on|1 sec|"
    r"straight away)\b"
)


def refusal(talk: Talk) -> Place | None:
    """Where the agent last refuses its service, unless it only asks for a step first or goes on to serve."""
    refused: Place | None = None
    for turn in talk.turns:
        if turn.speaker != "agent":
            continue
        asks = _asks(turn)
        if asks:
            refused = None
        for index, sentence in enumerate(turn.sentences):
            if claimed(_CLEARED, sentence):
                refused = None
            elif not asks and refuses(sentence):
                refused = Place(turn.number, index)
    return refused


def _asks(turn: Turn) -> bool:
    """Whether a turn asks the caller for something, so that the service goes on."""
    return any(
        (sentence.question or _RETRY.search(sentence.norm))
        and not _CLOSER.search(sentence.norm)
        and not _LATER.search(sentence.norm)
        for sentence in turn.sentences
    )


def refuses(sentence: Sentence) -> bool:
    """Whether a sentence refuses, by itself."""
    if sentence.question or _STEP.search(sentence.norm):
        return False
    for position, clause in enumerate(sentence.clauses):
        if clause not in sentence.stated and not _IDENTITY.search(clause):
            continue
        if _refuses(clause, sentence) and not _goes_on(sentence.clauses[position + 1 :]):
            return True
    # A proof that fails may run over a clause's end: `verification: failed`.
    whole = sentence.norm if len(sentence.clauses) == 2 and ":" in sentence.text else ""
    return bool(whole and _IDENTITY.search(whole) and not conditional(whole, sentence))


def _refuses(clause: str, sentence: Sentence) -> bool:
    if conditional(clause, sentence):
        return False
    for pattern in (_IDENTITY, _CANNOT, _UNTOUCHED, _ELSEWHERE, _ENDS, _DECLINES):
        for match in pattern.finditer(clause):
            if supposed(clause, match.start()) or negated(clause, match.start(), 4):
                continue
            if pattern is _CANNOT and _HARMLESS.search(clause[match.end() :]):
                continue
            if pattern is _DECLINES and _NOT_THE_CALLERS.search(clause):
                continue
            return True
    return False


def _goes_on(rest: tuple[str, ...]) -> bool:
    """Whether later clauses of a sentence serve after all: `..., but the second one I can refund`."""
    able = re.compile(r"\b(?:can|will|'ll|i'm able to|is fine|it has worked|worked|passed|went fine)\b")
    return any(
        re.match(r"(?:but|however|though|although|yet|only)\b", clause)
        and able.search(clause)
        and not NEGATION.search(clause)
        for clause in rest
    )


def hand_over(talk: Talk) -> Place | None:
    """Where the agent says that it hands over to a person, or does so after the caller took its offer."""
    offered: Place | None = None
    for place, sentence in talk.agent():
        if offered and place.turn > offered.turn and sentence.states and _MOMENT.search(sentence.norm):
            answer = talk.next_caller(offered.turn)
            if answer and answer.number < place.turn and _YES.search(normalise(answer.said)):
                return place
        for clause in sentence.clauses:
            for match in _HAND_OVER.finditer(clause):
                before = clause[: match.start()]
                after = " ".join(clause[match.end() :].split()[:4])
                if negated(clause, match.start(), 5) or NEGATION.search(after):
                    continue
                hypothetical = supposed(clause, match.start()) or conditional(clause, sentence, match.end())
                if sentence.question or _OFFER.search(before) or hypothetical:
                    offered = place
                elif clause in sentence.stated:
                    return place
    return None
