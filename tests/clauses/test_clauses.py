"""Every clause of the protocol is held by a test, or said not to be; and what says so can itself fail."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path

import pytest
from pydantic import ValidationError

from inquesto_dag.clauses.bindings import count, faults, find_bindings, hold
from inquesto_dag.clauses.load import Clause, Clauses, load_clauses
from inquesto_dag.cli import main
from inquesto_dag.errors import InputError

ROOT = Path(__file__).parents[2]
SIZES = {"P": 7, "R": 4, "T": 14, "V": 4, "I": 2, "N": 4, "S": 2, "A": 6, "D": 20}


def made(*clauses: dict[str, str]) -> Clauses:
    given = [{"demands": "something", **clause} for clause in clauses]
    return Clauses.model_validate({"version": "v0.1", "source": "s", "clauses": given})


@pytest.fixture
def tests_of(tmp_path: Path):
    """A folder of one module of tests with this source."""

    def write(source: str) -> Path:
        (tmp_path / "tests").mkdir()
        (tmp_path / "tests" / "test_x.py").write_text(source)
        return tmp_path / "tests"

    return write


def test_no_clause_is_unbound_and_no_binding_names_a_stranger() -> None:
    """The table that `inquesto-dag protocol clauses` prints is true of this tree."""
    bindings = find_bindings(ROOT / "tests")
    assert faults(load_clauses(), bindings) == []
    print(count(hold(load_clauses(), bindings)))


def test_every_numbered_clause_is_in_the_data() -> None:
    """P1 to P7, R1 to R4 and so on, in the protocol's order and without a gap."""
    ids = [clause.id for clause in load_clauses().clauses]
    assert ids == [f"{letter}{number}" for letter, size in SIZES.items() for number in range(1, size + 1)]
    assert Counter(name[0] for name in ids) == SIZES


def test_clauses_that_the_code_names_exist() -> None:
    """A docstring or comment that refers to `PROTOCOL T3` refers to something."""
    known = {clause.id for clause in load_clauses().clauses}
    named: dict[str, str] = {}
    for path in (ROOT / "inquesto_dag").rglob("*.py"):
        for group in re.findall(
            r"PROTOCOL ((?:[A-Z]\d+(?:, | and |-| to )?)+)", path.read_text(encoding="utf-8")
        ):
            named |= {name: path.name for name in re.findall(r"[A-Z]\d+", group)}
    assert len(named) > 30
    assert {name: path for name, path in named.items() if name not in known} == {}


SOURCE = """
import pytest
def test_T1_T2_two_clauses():
    assert 1
def test_T3_asserts_nothing():
    print("T3")
@pytest.mark.skip(reason="later")
def test_T4_is_skipped():
    assert 1
@pytest.mark.xfail
def test_T5_is_expected_to_fail():
    assert 0
def test_T6_raises():
    with pytest.raises(ValueError):
        raise ValueError
class TestMore:
    def test_T7_in_a_class(self):
        assert 1
class TestLater:
    pytestmark = pytest.mark.skip(reason="later")
    def test_T8_in_a_skipped_class(self):
        assert 1
def helper_T9_x():
    assert 1
def test_a_word_before_T10_the_id():
    assert 1
def test_ITU_P56_is_no_id():
    assert 1
"""


def test_a_test_binds_by_its_name_when_it_can_fail(tests_of) -> None:
    """Skipped tests, expected failures, helpers and tests that assert nothing hold no clause."""
    found = find_bindings(tests_of(SOURCE))
    assert [(binding.test, binding.clauses) for binding in found] == [
        ("tests/test_x.py::test_T1_T2_two_clauses", ("T1", "T2")),
        ("tests/test_x.py::test_T6_raises", ("T6",)),
        ("tests/test_x.py::TestMore::test_T7_in_a_class", ("T7",)),
    ]


def test_a_skipped_module_binds_nothing(tests_of) -> None:
    """Its mark counts for all in it."""
    assert find_bindings(tests_of("import pytest\npytestmark = [pytest.mark.skip]\n" + SOURCE)) == []


def test_a_test_that_another_of_its_name_replaces_binds_nothing(tests_of) -> None:
    """Python keeps the last, and so does pytest."""
    source = "def test_T1_x():\n    assert 1\ndef test_T1_x():\n    pass\n"
    assert find_bindings(tests_of(source)) == []


def test_an_unbound_clause_and_an_unknown_one_are_faults(tests_of) -> None:
    """Each is named, with what it demands or where it is claimed."""
    folder = tests_of("def test_T1_T99_x():\n    assert 1\n")
    assert faults(made({"id": "T1"}, {"id": "T2", "demands": "silence"}), find_bindings(folder)) == [
        "tests/test_x.py::test_T1_T99_x binds T99, which is no clause",
        "T2 is held by no test: silence",
    ]


def test_what_is_not_built_is_counted_apart_and_cannot_be_bound(tests_of) -> None:
    """A clause without a part is no held clause, and a test that claims it is a fault."""
    folder = tests_of("def test_T1_T2_T3_x():\n    assert 1\n")
    clauses = made({"id": "T1"}, {"id": "T2", "lacks": "a half"}, {"id": "T4", "not_built": "all of it"})
    holdings = hold(clauses, find_bindings(folder))
    assert [holding.state for holding in holdings] == ["held", "in part", "not yet built"]
    assert count(holdings) == "3 clauses: 1 held by tests, 1 in part (T2), 1 not yet built (T4), 0 unbound"
    claimed = made({"id": "T1"}, {"id": "T2", "not_built": "all of it"}, {"id": "T3"})
    assert faults(claimed, find_bindings(folder)) == [
        "T2 is marked as not built, and tests/test_x.py::test_T1_T2_T3_x binds it"
    ]


def test_data_that_contradicts_itself_is_refused() -> None:
    """Twice the same clause, both states at once, an empty demand, an unknown field."""
    for wrong in (
        [{"id": "T1"}, {"id": "T1"}],
        [{"id": "T1", "lacks": "a", "not_built": "b"}],
        [{"id": "T1", "demands": ""}],
        [{"id": "T1", "tests": "all"}],
        [{"id": "t1"}],
    ):
        with pytest.raises(ValidationError):
            made(*wrong)
    assert Clause(id="T1", demands="x").lacks is None


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["inquesto-dag", "protocol", "clauses", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def test_the_table_says_what_is_demanded_and_which_tests_hold_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As lines, and as JSON with the same content."""
    assert run(monkeypatch, "--project", str(ROOT)) == 0
    shown = capsys.readouterr().out
    assert re.search(r"(?m)^T3 +held +talk_over, S2", shown)
    assert "tests/events/test_timing.py::test_T3_talk_over_is_half_a_second_before_the_caller_ends" in shown
    assert re.search(r"(?m)^T14 +in part +", shown)
    assert "lacks: A run on Gemma's own weights." in shown
    assert shown.splitlines()[-1].startswith("63 clauses: ")
    assert run(monkeypatch, "--json", "--project", str(ROOT)) == 0
    table = {row["id"]: row for row in json.loads(capsys.readouterr().out)}
    assert len(table) == 63
    assert table["I2"]["state"] == "in part" and table["I2"]["lacks"]
    assert table["R2"]["tests"] == [
        "tests/scoring/test_record.py::test_R2_the_score_is_the_share_of_calls_that_passed"
    ]


def test_a_fault_in_the_table_exits_with_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tests_of
) -> None:
    """In a project whose tests hold next to nothing; without tests at all it is wrong use."""
    project = tests_of("def test_T1_T99_x():\n    assert 1\n").parent
    (project / "dvc.yaml").touch()
    assert run(monkeypatch, "--project", str(project)) == 1
    captured = capsys.readouterr()
    assert "binds T99, which is no clause" in captured.err
    assert "T2 is held by no test" in captured.err
    with pytest.raises(InputError, match="is not a folder"):
        find_bindings(project / "none")
