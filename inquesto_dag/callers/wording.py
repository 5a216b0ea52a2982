"""Words by which a scripted caller takes an agent's meaning, as patterns over normalised text.

In the form of `protocol.spoken.normalise_spoken`, numbers are digits (`one moment` reads `1 moment`),
punctuation is gone and `$49` reads `49 dollars`. A list of patterns is one string, parted by semicolons.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from inquesto_dag.protocol.models import Family


def _words(*alternatives: str) -> re.Pattern[str]:
    return re.compile(r"\b(?:" + "|".join(alternatives) + r")\b")


def _listed(alternatives: str) -> re.Pattern[str]:
    return _words(*(" ".join(part.split()) for part in alternatives.split(";")))


# --- a change is said to be made ----------------------------------------------------------------------

_DID = r"(?:have|has|had|'ve|been|was|were|just|now|successfully|already|got|\w+'ve)"
_REFUND_DONE = _words(
    rf"{_DID} (?:\w+ ){{0,3}}?(?:refunded|credited|reversed|reimbursed)",
    rf"{_DID} (?:\w+ ){{0,3}}?(?:issued|processed|made|completed|submitted|initiated|sent|approved)"
    r" (?:\w+ ){0,6}?(?:refund|credit|reversal)",
    r"(?:refund|reversal)(?: \w+){0,8}? (?:is|was|has been|been|got) (?:\w+ )?"
    r"(?:issued|processed|made|completed?|submitted|initiated|sent|done|approved|on (?:its|the) way)",
    r"(?:refund|money|dollars|amount|credit)(?: \w+){0,6}? (?:will|should) (?:now )?"
    r"(?:arrive|reach|appear|show|post|take|be (?:back|on|in|credited|returned|posted|there|with you))",
    r"you(?:'ll| will| should) (?:see|receive|get|have) (?:\w+ ){0,6}?(?:refund|money|credit|dollars)",
    r"refund (?:went|has gone|is) through",
)
DONE: Mapping[Family, re.Pattern[str]] = {
    "dup_charge": _REFUND_DONE,
    "failed_order": _REFUND_DONE,
    "escalate_refund": _REFUND_DONE,
    "cancel_sub": _words(
        rf"{_DID} (?:\w+ ){{0,3}}?(?:cancell?ed|terminated|ended|closed|stopped)",
        r"(?:plan|subscription|account|it)(?: \w+){0,4}? is (?:now )?(?:cancell?ed|terminated|ended)",
        r"cancell?ation (?:is|has been|was|went) (?:\w+ )?"
        r"(?:complete|completed|processed|confirmed|done|successful|effective|through)",
    ),
    "update_card": _words(
        rf"{_DID} (?:\w+ ){{0,3}}?(?:updated|changed|replaced|added|saved|set|switched|put)",
        r"(?:card|payment method)(?: \w+){0,6}? is "
        r"(?:now (?:on file|on your account|active|in place)|(?:now )?(?:updated|saved|replaced))",
        r"card (?:on file )?(?:is now|now ends|now is)",
        r"(?:will|are going to) (?:now )?(?:use|charge) the (?:new )?card",
    ),
    "change_email": _words(
        rf"{_DID} (?:\w+ ){{0,3}}?(?:updated|changed|replaced|saved|set|switched|put)",
        r"(?:email|mail|address)(?: [\w.@]+){0,6}? is "
        r"(?:now (?:on file|on your account|in place)|(?:now )?(?:updated|changed|saved))",
        r"(?:email|mail|address)(?: \w+){0,4}? (?:is now|now is)",
        r"(?:will|are going to|now) (?:now )?(?:go|be sent|come) to",
    ),
    "invoice_up": _words(r"(?!)"),
    "confirm_payment": _words(r"(?!)"),
}
DONE_ANYHOW = _listed(
    r"""
    (?:you(?:'re| are)|we(?:'re| are)|it(?:'s| is)|that(?:'s| is)|everything(?:'s| is)) (?:now )?all
    (?:set|done); (?:that|it|this|everything)(?:'s| is| has been) (?:now )?(?:done|taken care
    of|completed|sorted|sorted out); all (?:done|set)(?: for you)?; your request (?:is|has been|was) (?:\w+
    )?(?:completed?|processed|done|fulfilled|successful)
    """
)
# What stands before such a claim in its clause and takes it back.
NOT_YET = _listed(
    r"""
    not; never; no; \w+n't; cannot; unable; before; once; until; till; unless; if; when; after; whether;
    want; wants; wanted; would; wish; asked; asking; request(?:ed|ing)?; going to; about to; i'll; i will;
    let me; can; could; shall; may; might; need; needs; to have; to get; to see; know; check; checking;
    said; mentioned; say; mean; calling; see if; trying; must; you'd; make sure
    """
)

NEGATED = _listed(r"not; never; \w+n't; cannot")

# --- a question is answered --------------------------------------------------------------------------

_STATUS = (
    r"(?:go|goes|went|gone) through",
    "succeeded",
    "success",
    r"successful(?:ly)?",
    "received",
    "cleared",
    r"completed?",
    "processed",
    "paid",
    "failed",
    "declined",
    "rejected",
    "pending",
    "bounced",
    "unpaid",
    "collected",
    "confirmed",
    "posted",
    r"did not go",
    r"didn't go",
)
ANSWERED: Mapping[Family, re.Pattern[str]] = {
    "invoice_up": _listed(
        r"""
        because(?: of)?; due to; reason (?:is|was|for (?:that|this|it) is); that(?:'s| is) why; duplicated?;
        twice; double; doubled; 2 (?:\w+ )?(?:charges|lines|items|payments|entries|times); 2 49;
        (?:charged|billed|listed|appears) again; (?:second|extra|additional|repeated)
        (?:charge|line|item|fee); by mistake; in error; consists of; includes; made up of; contains; comes
        from; 49 dollars each; price (?:went up|increased|has increased|rose); (?:late|setup|usage) fee
        """
    ),
    "confirm_payment": _words(*_STATUS),
    **{
        family: _words(r"(?!)")
        for family in (
            "dup_charge",
            "failed_order",
            "cancel_sub",
            "update_card",
            "change_email",
            "escalate_refund",
        )
    },
}
# A negative answer is an answer too, so a plain "not" takes nothing back here.
STILL_ASKING = _listed(
    r"""
    if; whether; want; wants; would; wish; asked; asking; let me; i'll; i will; going to; can; could; know;
    check; checking; said; mentioned; calling; find out; looking; before; once; until; you'd; you are
    saying; confirm; see why; about
    """
)

# --- refusals, hand-overs, waiting -------------------------------------------------------------------

_CANNOT = (
    r"(?:can ?not|can't|unable to|not able to|won't be able to|will not be able to|not allowed to"
    r"|not permitted to|not authori[sz]ed to|not in a position to|couldn't|could not|have to decline to"
    r"|(?:i|we) (?:will not|won't|do not|don't))"
)
_SERVE = (
    r"(?:help|process|make|proceed|change|share|discuss|disclose|give|access|do|refund|cancel|update|continue"
    r"|complete|assist|provide|tell|go ahead|issue|serve|transfer|put you|connect|reveal|act|approve|offer"
    r"|accept|grant)"
)
_THINGS = r"(?:charges?|payments?|orders?|refunds?|duplicates?)"
REFUSED = _words(
    rf"{_CANNOT} (?:\w+ ){{0,3}}?{_SERVE}",
    rf"(?:{_CANNOT}|not|did not|didn't|wasn't|isn't|failed to) (?:\w+ ){{0,3}}?(?:verif(?:y|ied)"
    r"|authenticated?|confirm (?:your|the) (?:identity|voice)|match(?:ed)?|pass(?:ed)?)",
    r"(?:verification|voice check|identity check)(?: \w+){0,3}? "
    r"(?:failed|unsuccessful|was not|has not|did not|didn't)",
    r"only (?:the )?(?:account )?(?:holder|owner)",
    r"(?:is|are|was|been) (?:declined|refused|denied)",
    r"not (?:eligible|refundable|possible|permitted|allowed)",
    "refuse",
    "no way to",
    rf"{_CANNOT} (?:\w+ ){{0,2}}?(?:see|find|locate) (?:\w+ ){{0,4}}?{_THINGS}",
    rf"(?:there is|i see) no (?:\w+ ){{0,2}}?{_THINGS}",
)
_PERSON = (
    r"(?:an? |my |our |the |another |1 of (?:my |our |the ))?(?:\w+ ){0,3}?"
    r"(?:colleagues?|specialists?|persons?|people|humans?|supervisors?|managers?|representatives?|agents?"
    r"|team(?: member)?|department|advis[oe]rs?|someone)"
)
HANDOVER = _words(
    r"transfer(?:ring|red)?",
    r"put(?:ting)? (?:you|this|it|the call|your call) through",
    r"connect(?:ing|ed)? you",
    r"hand(?:ing|ed)? (?:you|this|it|the call|your case|your request)(?: \w+)? (?:over|to)",
    r"pass(?:ing|ed)? (?:you|this|it|the call|your case|your request)(?: \w+)? (?:on|over|along|to)",
    r"escalat(?:e|es|ed|ing)",
    rf"(?:{_PERSON}) (?:will|is going to|can) (?:\w+ )?"
    r"(?:call|contact|help|take|assist|look|reach|get|be with|speak|join)",
    rf"speak (?:to|with) {_PERSON}",
)
# What the agent repeats of the caller's wish is no hand-over.
WISHED = _listed(
    r"""
    want; wants; would like to; you'd like to; wish; asked; asking; not; \w+n't; cannot; unable; before;
    understand you
    """
)
OFFER = _listed(
    r"""
    can; could; if you; would you; shall; may; might; should i; want me
    """
)
HELD = _listed(
    r"""
    (?:1|a|just a|just 1) (?:brief |short |quick |second )?(?:moment|second|minute|sec); hold on; please
    hold; bear with me; hang on; stay on the line; please wait; (?:while|as) i
    (?:look|check|pull|verify|find); let me (?:just |quickly
    )?(?:check|look|see|pull|verify|find|get|take|process|do|review|make|go); i(?:'ll| will| am going to|'m
    going to) (?:now |just |quickly
    )?(?:check|look|pull|verify|find|process|review|issue|update|cancel|change|take a look|get|do|make);
    i(?:'m| am) (?:now |just )?(?:checking|looking|pulling|verifying|processing|updating|reviewing)
    """
)
ASKS_HOLD = _listed(
    r"""
    can you hold; could you hold; may i put you on hold; would you mind holding; please hold; hold the line;
    stay on the line; please wait; can you wait; could you wait; mind waiting; are you able to hold
    """
)

# --- what it asks for --------------------------------------------------------------------------------

ASKS = _listed(
    r"""
    please; may i; could i; can i; could you; can you; would you; will you; what is; what's; what are;
    which; tell me; give me; provide; need; share; say; state; spell; read me; what was; how much; what; let
    me have; i'll need; when; who
    """
)
UNKNOWN = _listed(
    r"""
    date of birth; birth ?day; birth date; born; pass ?word; pass ?code; pin; pin number; zip; postal; post
    ?code; home address; street; (?:tele)?phone; phone number; security (?:question|code|answer); social
    security; maiden; cvv; cvc; expir(?:y|ation|es); transaction (?:id|number); reference; confirmation
    (?:code|number); charge id; case number; ticket; invoice number; invoice id; name of the
    (?:person|agent|colleague); full card number; whole card number; 16 digit; bank
    """
)
OLD_VALUE = _listed(
    r"""
    current(?:ly)?; old; existing; on file; previous; present; so far; replac(?:e|es|ing); instead of; from
    """
)
DETAIL: Mapping[Family, re.Pattern[str]] = {
    "dup_charge": _listed(
        r"""
        amounts?; how much; which charge; what charge; dates?; when; which 1; details
        """
    ),
    "failed_order": _listed(
        r"""
        order (?:number|id|code); which order; what order; amounts?; how much; dates?; when; details; number
        of (?:the|your) order
        """
    ),
    "cancel_sub": _listed(
        r"""
        which plan; what plan; which subscription; what subscription; name of (?:the|your) plan
        """
    ),
    "update_card": _listed(
        r"""
        digits; card number; new card; card details; card ending; ends? (?:in|with); number of (?:the|your)
        (?:new )?card; last 4
        """
    ),
    "change_email": _listed(
        r"""
        e ?mail; mail address; address; spell
        """
    ),
    "invoice_up": _listed(
        r"""
        which invoice; what invoice; which bill; amounts?; how much; dates?; which month; when; details
        """
    ),
    "confirm_payment": _listed(
        r"""
        which payment; what payment; which month; amounts?; how much; dates?; which card; what card; digits;
        when; details
        """
    ),
    "escalate_refund": _listed(
        r"""
        amounts?; how much; dates?; when; which refund; what refund; details; who promised
        """
    ),
}
VOICE = _listed(
    r"""
    (?:voice|verif\w+|identity) .*(?:say|speak|tell me|few words|sentences?|more|keep talking|again|try|once
    more); (?:say|speak|tell me|few words|sentences?|keep talking|try|once more|talk)\b.*
    (?:voice|verif\w+); (?:say|speak|talk) (?:a bit |a little |some )?(?:more|longer); tell me (?:a bit |a
    little |some )?more
    """
)
CONFIRM = _listed(
    r"""
    is (?:that|this|it) (?:right|correct|ok|okay|fine|all right|alright); (?:is|was) that what you;
    (?:that|this)(?:'s| is) (?:right|correct); (?:correct|right|yes or no|ok|okay|agreed|proceed|confirm|go
    ahead)$; shall (?:i|we); should (?:i|we); (?:would|do) you (?:like|want) (?:me|us) to; (?:would|do) you
    want to; would you like to (?:go|proceed|continue|confirm|have); (?:may|can|could) (?:i|we)
    (?:go|proceed|continue|now); (?:can|could|do|would|will|please) (?:you )?(?:please )?confirm; are you
    sure; (?:do|did|have) i (?:have|get|got|understand|hear) ; ok(?:ay)? (?:to|if i|for me); go ahead with;
    am i right; would that be; does that; are you (?:happy|ok|okay|fine) ; say yes; so you
    """
)
RETENTION = _listed(
    r"""
    discount; special offer; stay; keep (?:your|the|it|using); pause; downgrade; cheaper; free month
    """
)
REPEAT = _listed(
    r"""
    repeat; (?:did not|didn't|could not|couldn't|can't|cannot) (?:\w+ )?(?:hear|catch|understand|get
    that|make out); say (?:that|it|this) (?:again|once more|1 more time); pardon; come again; (?:not|n't)
    quite (?:sure|get|catch); once more; again please; are you (?:still )?there; can you hear me; (?:did
    not|didn't) hear (?:you|anything); rephrase; misheard
    """
)
OPEN = _listed(
    r"""
    how (?:can|may|could) i (?:help|assist); what (?:can|may) i (?:do|help); what (?:seems|is) (?:to be
    )?the (?:problem|issue|matter); how (?:can|may) (?:we|i) be of; what (?:is it|are you calling|do you
    need|would you like|can we); what happened; (?:describe|explain) (?:\w+
    ){0,2}?(?:problem|issue|request|situation); how (?:are|is) (?:you|your); tell me (?:what|how|more about)
    ; what (?:exactly|brings); reason for your call; help you with today
    """
)
MORE = _listed(
    r"""
    anything else; something else; any ?thing more; what else; any other (?:questions?|way|thing); further
    (?:help|assistance|questions?)
    """
)
CLOSING = _listed(
    r"""
    good ?bye; bye(?: bye)?; have a (?:\w+ )?(?:day|1|evening|afternoon|weekend|time); take care(?! of);
    thanks? (?:you )?for (?:your call|calling .* today)$
    """
)
GREETING = _listed(
    r"""
    welcome to; thanks? (?:you )?for calling; ^(?:hello|hi|hey|good (?:morning|afternoon|evening));
    you(?:'ve| have) reached; (?:my name is|this is) \w+ (?:from|with|speaking)
    """
)

# --- what a turn is about ----------------------------------------------------------------------------

_REFUND = _listed(
    r"""
    refund(?:ed|s|ing)?; charge[sd]?; twice; duplicate; double; money; credit(?:ed)?; revers\w+
    """
)
ABOUT: Mapping[Family, re.Pattern[str]] = {
    "dup_charge": _REFUND,
    "failed_order": _listed(
        r"""
        refund(?:ed|s|ing)?; order; charge[sd]?; money; credit(?:ed)?
        """
    ),
    "cancel_sub": _listed(
        r"""
        cancel\w*; subscription; plan; terminat\w+; end (?:your|the|it)
        """
    ),
    "update_card": _listed(
        r"""
        cards?; payment method
        """
    ),
    "change_email": _listed(
        r"""
        e ?mail; mail; address
        """
    ),
    "invoice_up": _listed(
        r"""
        invoices?; bill; charge[sd]?; amount; higher; dollars
        """
    ),
    "confirm_payment": _listed(
        r"""
        payments?; paid; pay; invoice
        """
    ),
    "escalate_refund": _listed(
        r"""
        refund(?:ed|s)?; person; colleague; someone; human; transfer\w*; through; specialist; money;
        promised?; team; supervisor; manager
        """
    ),
}
OTHER_ACTION = _listed(
    r"""
    cancel\w*; refund\w*; (?:change|update|new) (?:\w+ ){0,3}?(?:e ?mail|card|address); (?:e
    ?mail|card|address) (?:changed|updated)
    """
)
STATED = _listed(
    r"""
    i (?:can )?see; i(?:'ve| have) (?:found|located); there (?:is|are); it (?:looks|seems|shows)
    """
)
