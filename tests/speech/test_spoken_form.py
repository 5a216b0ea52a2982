"""What is written is said as a person would say it."""

import pytest

from inquesto_dag.speech.spoken_form import spoken_form


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("I refunded $49.", "I refunded 49 dollars."),
        ("It is $1 or $12.50.", "It is 1 dollar or 12 dollars and 50 cents."),
        ("Account 4471, card 3382.", "Account 4 4 7 1, card 3 3 8 2."),
        ("On 3 August 2026.", "On 3 August 2026."),
        ("On 2026-08-03.", "On 2026-08-03."),
        ("Write to m.ruiz@example.com.", "Write to m dot ruiz at example dot com."),
        ("Charge CH-102 of order ORD-2207.", "Charge C H 1 0 2 of order O R D 2 2 0 7."),
        ("Nothing to change.", "Nothing to change."),
    ],
)
def test_spoken_form(written, said):
    assert spoken_form(written) == said
