"""Stage states against DVC's own word, on real DVC stages: what is stale and why, what is broken on disk."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from inquesto_dag.errors import InfrastructureError, InputError
from inquesto_dag.provenance.digests import SETTLED_NS, Digests
from inquesto_dag.provenance.dvc import read_lock
from inquesto_dag.provenance.state import ProjectState, TargetState, project_states
from tests.provenance.tiny_project import changed_by_dvc, dvc, write_tiny


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny project, run once."""
    folder = write_tiny(tmp_path_factory.mktemp("tiny"))
    states(folder)  # an earlier look, so that listings of the inputs are remembered
    dvc(folder, "repro", "--quiet")
    return folder


@pytest.fixture
def project(finished: Path, tmp_path: Path) -> Path:
    """A copy of the finished project."""
    return Path(shutil.copytree(finished, tmp_path / "tiny", symlinks=True))


def states(project: Path) -> dict[str, TargetState]:
    """The state of each target, with digests kept."""
    state = ProjectState(project)
    found = {target.target: target for target in project_states(state)}
    state.digests.save()
    return found


def kinds(project: Path) -> dict[str, str]:
    return {name: state.kind for name, state in states(project).items()}


def test_digests_are_those_of_dvc(project: Path) -> None:
    """Of files, folders and folders with ignored files, as DVC wrote them into its lock."""
    digests = Digests(project)
    checked = 0
    for stage in read_lock(project).values():
        for path, digest in {**stage.inputs.deps, **stage.outs}.items():
            assert digests.digest(path) == digest, path
            checked += 1
    assert checked == 11
    assert digests.listing("code") is not None and "__pycache__/a.pyc" not in (digests.listing("code") or {})
    assert digests.digest("nothing") is None


def test_a_finished_project_is_current(project: Path) -> None:
    """Every target, and DVC agrees."""
    assert set(kinds(project).values()) == {"current"}
    assert changed_by_dvc(project) == set()


@pytest.mark.parametrize(
    ("path", "old", "new", "stale", "follow", "reason"),
    [
        ("code/a.txt", "a", "A", {"base"}, {"part@one", "part@two", "whole"}, "code changed (a.txt)"),
        ("in.txt", "in", "IN", {"base"}, {"part@one", "part@two", "whole"}, "in.txt changed"),
        ("params.yaml", "level: 1", "level: 2", {"base"}, {"part@one", "part@two", "whole"},
         "parameter level changed from 1 to 2"),
        ("data/agents/two.yaml", "700", "600", {"part@two"}, {"whole"}, "data/agents/two.yaml changed"),
        ("dvc.yaml", "cat data/part/*/x.txt >", "cat data/part/*/x.txt  >", {"whole"}, set(),
         "the command is now"),
    ],
)  # fmt: skip
def test_an_edit_makes_stale_what_dvc_calls_changed(
    project: Path, path: str, old: str, new: str, stale: set[str], follow: set[str], reason: str
) -> None:
    """Stale is what `dvc status` names, what is after it follows; taken back, all is current."""
    text = (project / path).read_text()
    assert old in text
    (project / path).write_text(text.replace(old, new))
    found = states(project)
    assert {name for name, state in found.items() if state.kind == "stale"} == stale
    assert changed_by_dvc(project) == stale
    assert {name for name, state in found.items() if state.kind == "follows"} == follow
    for name in stale:
        assert any(reason in told for told in found[name].reasons)
    for name in follow:
        assert set(found[name].follows) == stale
    (project / path).write_text(text)
    assert set(kinds(project).values()) == {"current"}


def test_a_stage_run_alone_makes_those_after_it_stale(project: Path) -> None:
    """`dvc repro --single-item`: the lock itself is out of step, also for a folder of outputs."""
    (project / "data/agents/one.yaml").write_text("window: 1\n")
    dvc(project, "repro", "--quiet", "--single-item", "part@one")
    found = states(project)
    assert {name: state.kind for name, state in found.items()} == {
        "base": "current", "part@one": "current", "part@two": "current", "whole": "stale",
    }  # fmt: skip
    assert found["whole"].reasons == ("data/part was computed again since, with another result",)
    assert changed_by_dvc(project) == {"whole"}


def delete(path: Path) -> None:
    path.unlink()


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[0] ^= 1
    path.write_bytes(data)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def flip_unseen(path: Path) -> None:
    """A change that keeps size and modification time."""
    stat = path.stat()
    flip(path)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


@pytest.mark.parametrize(
    ("harm", "word"),
    [(delete, "removed in.txt"), (flip, "changed in.txt"), (truncate, "changed in.txt"),
     (flip_unseen, "changed in.txt")],
)  # fmt: skip
def test_an_edited_output_is_named(project: Path, harm: Callable[[Path], None], word: str) -> None:
    """What differs in which output; what reads it follows, as restoring it makes both current."""
    kinds(project)  # digests are kept from before the edit
    harm(project / "data/base/in.txt")
    found = states(project)
    assert found["base"].kind == "edited on disk"
    assert found["base"].reasons == (f"data/base is not what was computed: {word}",)
    assert {found[name].kind for name in ("part@one", "part@two", "whole")} == {"follows"}


def test_an_edited_part_does_not_make_the_whole_stale(project: Path) -> None:
    """The folder of all parts is judged as if the part were restored."""
    flip(project / "data/part/one/x.txt")
    found = states(project)
    assert found["part@one"].kind == "edited on disk"
    assert found["whole"].kind == "follows" and found["whole"].follows == ("part@one",)


def test_a_missing_output_and_a_new_file(project: Path) -> None:
    """A folder that is gone, a file that nobody computed."""
    shutil.rmtree(project / "data/part/two")
    (project / "data/base/new.txt").write_text("new")
    found = states(project)
    assert found["part@two"].kind == "missing"
    assert found["part@two"].reasons == ("data/part/two is not on disk",)
    assert found["base"].reasons == ("data/base is not what was computed: added new.txt",)


def test_a_missing_dependency_is_said(project: Path) -> None:
    """Not merely `changed`."""
    (project / "in.txt").unlink()
    assert states(project)["base"].reasons == ("in.txt does not exist",)


def test_agents_that_come_and_go(project: Path) -> None:
    """A new one was never run, one that left is left over; neither is an error."""
    (project / "params.yaml").write_text("level: 1\nagents:\n  - one\n  - three\n")
    found = states(project)
    assert found["part@three"].kind == "never run"
    assert found["part@three"].reasons == ("data/agents/three.yaml does not exist",)
    assert "part@two" not in found
    assert ProjectState(project).left_over() == ["part@two"]
    assert found["whole"].kind == "stale"


def test_nothing_run_yet(tmp_path: Path) -> None:
    """No lock: every target was never run, and follows the first."""
    found = states(write_tiny(tmp_path))
    assert {state.kind for state in found.values()} == {"never run"}
    assert found["part@one"].follows == ("base",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<<<<<<< HEAD\nschema: '2.0'\n=======\n>>>>>>> x\n", r"dvc\.lock: has merge conflicts\n.*--ours"),
        ("stages: [\n", r"dvc\.lock: is not valid YAML \(line 2: .*\n.*git checkout dvc\.lock"),
        ("stages:\n  base:\n    cmd: x\n    outs:\n    - path: data/base\n", "is not a whole lock file"),
        ("just text", "is not a whole lock file"),
        ("", "is not a whole lock file"),  # what a full disk leaves
        ("[]\n", "is not a whole lock file"),
        (
            "stages:\n  base: {}\n  base: {}\n",
            "line 3: the key 'base' is given twice",
        ),
        ("schema: '2.0'\n", "is not a whole lock file"),
    ],
)
def test_a_broken_lock_says_what_to_do(project: Path, text: str, message: str) -> None:
    """Merge conflicts, no YAML, cut off: nothing is guessed from it."""
    (project / "dvc.lock").write_text(text)
    with pytest.raises(InputError, match=message):
        ProjectState(project)


def test_digests_are_kept_and_a_broken_keep_is_no_fault(project: Path) -> None:
    """The second look reads no byte; a changed file is read again, and all when the keep is broken."""
    (project / "code/b.txt").write_text("B\n")
    time.sleep(2 * SETTLED_NS / 1e9)  # files younger than a clock tick are not kept
    first = Digests(project)
    before = first.listing("code")
    first.save()
    again = Digests(project)
    assert again.listing("code") == before
    assert again.read == 0
    (project / "code/a.txt").write_text("A\n")
    changed = Digests(project)
    assert changed.listing("code") != before
    assert changed.read == 1
    (project / ".dvc/tmp/inquesto/digests.json").write_text('{"version": 1, "files": [')
    broken = Digests(project)
    assert broken.listing("code") == changed.listing("code")
    assert broken.read == 2


def test_a_project_that_may_only_be_read_can_be_looked_at(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is kept of digests is no result: without it files are read again."""

    def refuse(path: Path, data: bytes) -> None:
        raise InfrastructureError("could not be written: Permission denied", where=path)

    monkeypatch.setattr("inquesto_dag.provenance.digests.write_bytes", refuse)
    (project / "in.txt").write_text("other\n")
    assert states(project)["base"].kind == "stale"
