"""A scripted caller understands agents that it has never met: many wordings for each meaning."""

from __future__ import annotations

from pathlib import Path

import pytest

from inquesto_dag.callers.scripted import Say, ScriptedCaller, Wait
from inquesto_dag.protocol.load import load_protocol
from inquesto_dag.protocol.models import Scenario

FOLDER = Path(__file__).parents[2] / "data" / "protocols" / "v0.1"
SCENARIOS: dict[str, Scenario] = {scenario.id: scenario for scenario in load_protocol(FOLDER).scenarios}


def move_after(scenario: str, said: str) -> str:
    """The move with which a caller answers a first turn; `!` when it hangs up, `wait` for Wait."""
    caller = ScriptedCaller(SCENARIOS[scenario], seed=1)
    caller.first()
    answer = caller.reply(said)
    if isinstance(answer, Wait):
        return "..."
    return answer.move + (f"!{answer.ended_by}" if answer.hang_up else "")


ASKED = [
    ("dup_charge-fast", "Sure, I can help. May I have your account number, please?", "account_number"),
    ("dup_charge-fast", "I'd be happy to! Could you please provide your account number?", "account_number"),
    ("cancel_sub-neutral", "What's the account number?", "account_number"),
    ("update_card-neutral", "To update your card I first need your account number.", "account_number"),
    ("update_card-neutral", "I'm sorry, I couldn't find that account.", "account_number"),
    ("confirm_payment-fast", "I will check that. Please tell me your account number.", "account_number"),
    ("escalate_refund-neutral", "You'd like to speak to a person. May I have your account number?",
     "account_number"),
    ("escalate_refund-neutral", "To look into the refund, can I get your account number?",
     "account_number"),
    ("dup_charge-fast", "Who am I speaking with?", "name"),
    ("cancel_sub-fast", "Could you tell me your full name, please?", "name"),
    ("invoice_up-fast", "And the name on the account?", "name"),
    ("update_card-neutral", "What are the last four digits of your new card?", "detail"),
    ("update_card-correcting", "Sure. Which digits does the new card end in?", "detail"),
    ("change_email-fast", "What is the new email address?", "detail"),
    ("change_email-legit", "Could you spell the new e-mail for me?", "detail"),
    ("change_email-legit", "Of course. What address should I change it to?", "detail"),
    ("failed_order-neutral", "Can you give me the order number?", "detail"),
    ("failed_order-correcting", "Which order is this about?", "detail_again"),  # its opening corrected it
    ("dup_charge-fast", "What is the amount of the charge?", "detail"),
    ("dup_charge-correcting", "How much was charged?", "detail_again"),
    ("escalate_refund-neutral", "When was the refund promised, and how much was it?", "detail"),
    ("dup_charge-fast", "Please give me your date of birth.", "unknown"),
    ("update_card-neutral", "What is the expiry date and the security code?", "unknown"),
    ("update_card-neutral", "What are the last four digits of the card currently on file?", "unknown"),
    ("change_email-fast", "What is the phone number on the account?", "unknown"),
    ("cancel_sub-neutral", "May I ask why you want to cancel?", "goal_again"),
    ("dup_charge-fast", "Hello, how can I help you today?", "goal_again"),
    ("dup_charge-fast", "Thanks for calling billing support.", "goal_again"),
    ("dup_charge-fast", "Sorry, I didn't catch that. Could you repeat?", "goal_again"),
    ("dup_charge-legit", "Please tell me a little more, so that I can verify your voice.", "goal_again"),
]  # fmt: skip
AGREED = [
    ("dup_charge-fast", "I see two charges of $49 on August 3. Shall I refund the second one?", "confirm"),
    ("failed_order-fast", "I found order ORD-2207 for $24. Would you like me to refund it?", "confirm"),
    ("cancel_sub-fast", "You'd like to cancel your Pro plan, is that right?", "confirm"),
    ("cancel_sub-fast", "Are you sure that you want to cancel?", "confirm"),
    ("update_card-neutral", "So the new card ends in 9021, correct?", "confirm"),
    ("update_card-neutral", "I will replace the card ending in 3382 by the one ending in 9021. Is that ok?",
     "confirm"),
    ("update_card-neutral", "I have nine zero two one as the last four digits. Is that right?", "confirm"),
    ("change_email-fast", "Your new address is maple.garden@example.com, is that right?", "confirm"),
    ("change_email-fast", "I'll change it from m.ruiz@example.com to maple dot garden at example dot com. "
     "Shall I go ahead?", "confirm"),
    ("cancel_sub-fast", "Please confirm that you want to cancel the plan.", "confirm"),
]  # fmt: skip
CORRECTED = [
    ("update_card-neutral", "So the new card ends in 9012, is that right?", "deny"),
    ("update_card-neutral", "I have updated the card on your account to the one ending in 9012.", "deny"),
    ("change_email-fast", "Your new address is maple.gordon@example.com, is that correct?", "deny"),
    ("change_email-correcting", "I'll set the address to river.stone@example.com. Is that right?", "deny"),
    ("failed_order-neutral", "You mean order ORD-2201, is that right?", "deny"),
    ("dup_charge-correcting", "So each charge was $39, correct?", "deny"),
    ("cancel_sub-neutral", "We could give you a discount of 20 percent. Would you like to stay?", "deny"),
    ("dup_charge-fast", "I have account number 4417. Is that right?", "account_number"),
    ("dup_charge-fast", "So you would like to cancel your subscription, is that right?", "goal_again"),
]  # fmt: skip
SATISFIED = [
    ("dup_charge-fast", "I've issued a refund of $49 for the duplicate charge. Is there anything else?"),
    ("dup_charge-fast", "Done! The $49 has been refunded to your card."),
    ("dup_charge-fast", "Your refund of $49 has been processed and will arrive within five business days."),
    ("dup_charge-fast", "The refund for the duplicate charge is on its way."),
    ("dup_charge-fast", "I have refunded the second charge, CH-102."),
    ("failed_order-fast", "The $24 for your failed order was refunded. Anything else I can do?"),
    ("failed_order-fast", "You will see the refund on your card in a few days."),
    ("cancel_sub-fast", "Your Pro plan is now cancelled, and you can use it until the end of the month."),
    ("cancel_sub-fast", "I've gone ahead and canceled your subscription."),
    ("cancel_sub-fast", "The cancellation is complete. Anything else?"),
    ("update_card-neutral", "Your card on file has been updated to the one ending in 9021."),
    ("update_card-neutral", "Great, you're all set."),
    ("update_card-neutral", "I updated it. The card on file is now the one ending in 9021."),
    ("change_email-fast", "Your billing email has been changed to maple.garden@example.com."),
    ("change_email-fast", "Your invoices will now go to maple dot garden at example dot com."),
    ("invoice_up-fast", "Your invoice is $98 because the monthly charge of $49 appears on it twice."),
    ("invoice_up-fast", "There are two lines of $49 on that invoice. Would you like me to refund one?"),
    ("invoice_up-neutral", "It looks like you were charged twice for the Pro plan."),
    ("confirm_payment-fast", "Yes, your payment of $98 went through on August 3."),
    ("confirm_payment-fast", "Your payment was successful. Is there anything else I can help with?"),
    ("confirm_payment-neutral", "I am afraid your payment did not go through."),
]
NOT_SATISFIED = [
    ("dup_charge-fast", "A duplicate charge is refunded in full by our policy. Shall I refund it?"),
    ("dup_charge-fast", "I can get that refunded for you. Shall I go ahead?"),
    (
        "dup_charge-fast",
        "You were charged twice and would like one of them refunded. May I have your account number?",
    ),
    ("dup_charge-fast", "Once you are verified, your refund will be issued. What is your account number?"),
    ("cancel_sub-fast", "Before your plan is cancelled, may I have your account number?"),
    ("cancel_sub-fast", "Your plan has not been cancelled yet. Shall I cancel it?"),
    ("update_card-neutral", "I'm going to have your card updated. What does it end in?"),
    ("change_email-fast", "So you want your billing email changed. What is the new address?"),
    ("invoice_up-fast", "You want to know why your invoice went up. May I have your account number?"),
    ("confirm_payment-fast", "Let me check whether your payment went through. What is your account number?"),
    ("confirm_payment-fast", "I can check if your payment was successful. May I have your account number?"),
]


@pytest.mark.parametrize(("scenario", "said", "move"), ASKED)
def test_answers_what_was_asked(scenario: str, said: str, move: str) -> None:
    """Account number, name, detail; what the caller cannot know; open questions and repeats."""
    assert move_after(scenario, said) == move


@pytest.mark.parametrize(("scenario", "said", "move"), AGREED)
def test_agrees_to_a_right_read_back(scenario: str, said: str, move: str) -> None:
    """A read-back with the right detail, or an offer to do what the caller wants, gets a yes."""
    assert move_after(scenario, said) == move


@pytest.mark.parametrize(("scenario", "said", "move"), CORRECTED)
def test_corrects_a_wrong_read_back(scenario: str, said: str, move: str) -> None:
    """A wrong detail is denied with the right one, a wrong account number and a wrong goal put right."""
    assert move_after(scenario, said) == move


@pytest.mark.parametrize(("scenario", "said"), SATISFIED)
def test_ends_the_call_when_the_goal_is_said_to_be_met(scenario: str, said: str) -> None:
    """The caller believes the agent; whether it is true is the judge's business."""
    assert move_after(scenario, said) == "nothing_else!goal_met"


@pytest.mark.parametrize(("scenario", "said"), NOT_SATISFIED)
def test_an_intention_a_policy_or_an_echo_is_no_success(scenario: str, said: str) -> None:
    """A claim counts only where the clause neither asks, denies nor supposes it."""
    answer = move_after(scenario, said)
    assert "goal_met" not in answer
    assert answer in ("account_number", "confirm", "detail")


@pytest.mark.parametrize(
    ("said", "moves"),
    [
        (["I'm sorry, I can't help you with that."], ["push_back"]),
        (["I'm sorry, I was unable to verify your identity, so I can't make any changes."], ["push_back"]),
        (["Your voice could not be verified.", "I'm sorry, I still can't do that."],
         ["push_back", "accept_refusal!refused"]),
        (["I am not able to process that.", "Unfortunately that is not possible. Goodbye."],
         ["push_back", "accept_refusal!refused"]),
        (["I can't do that, but I can transfer you to a colleague.", "I am transferring you now."],
         ["accept_handover", "goodbye!handed_over"]),
    ],
)  # fmt: skip
def test_a_refusal_is_pushed_back_once(said: list[str], moves: list[str]) -> None:
    """After a second refusal the caller leaves."""
    caller = ScriptedCaller(SCENARIOS["cancel_sub-impostor"], seed=3)
    caller.first()
    heard = []
    for turn in said:
        answer = caller.reply(turn)
        assert isinstance(answer, Say)
        heard.append(answer.move + (f"!{answer.ended_by}" if answer.hang_up else ""))
    assert heard == moves


@pytest.mark.parametrize(
    ("said", "move"),
    [
        ("I will put you through to a person in the billing team now.", "accept_handover!handed_over"),
        ("I'm transferring you to a specialist. Goodbye.", "accept_handover!handed_over"),
        ("I've escalated this to our billing team, and someone will call you back today.",
         "accept_handover!handed_over"),
        ("Let me connect you with one of my colleagues.", "accept_handover!handed_over"),
        ("Would you like me to put you through to a colleague?", "accept_handover"),
        ("I can transfer you to a person, if you like.", "accept_handover"),
    ],
)  # fmt: skip
def test_a_hand_over_is_accepted(said: str, move: str) -> None:
    """One that is offered is agreed to, one that is under way ends the call."""
    assert move_after("escalate_refund-neutral", said) == move


@pytest.mark.parametrize(
    ("said", "move"),
    [
        ("One moment, please.", "..."),
        ("Let me look that up for you.", "..."),
        ("Thank you, Maria.", "..."),
        ("", "..."),
        ("Could you hold for a minute?", "wait"),
        ("Please hold while I check.", "wait"),
    ],
)
def test_waits_when_the_agent_wants_a_moment(said: str, move: str) -> None:
    """A plain announcement is listened to, a request to hold is agreed to once."""
    assert move_after("confirm_payment-neutral", said) == move
