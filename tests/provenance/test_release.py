"""A released version is frozen: whatever changes in it, nothing is scored with it (PROTOCOL N4)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from inquesto_dag.cli import main
from inquesto_dag.errors import CheckFailed, InputError
from inquesto_dag.protocol.load import load_protocol, protocol_digest
from inquesto_dag.provenance.dvc import dvc_environment, repro_command
from inquesto_dag.provenance.release import (
    new_version,
    read_release,
    release_path,
    release_version,
    require_frozen,
)
from inquesto_dag.provenance.version_diff import diff_versions
from inquesto_dag.stages.chain import CHAIN
from inquesto_dag.stages.run import open_context

ROOT = Path(__file__).parents[2]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The inputs of a project, without code, outputs and releases."""
    for name in ("data/protocols/v0.1", "data/agents"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for name in ("dvc.yaml", "params.yaml"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


@pytest.fixture
def frozen(project: Path) -> Path:
    """The same with v0.1 released."""
    assert release_version(project, "v0.1")
    return project


def edit(project: Path, file: str, old: str, new: str, version: str = "v0.1") -> None:
    path = project / "data" / "protocols" / version / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def reword(project: Path) -> None:
    edit(project, "lines.yaml", "Okay", "All right")


def add_scenarios(project: Path) -> None:
    (project / "data" / "protocols" / "v0.1" / "scenarios" / "another.yaml").write_text("lines: {}\n")


def remove_facts(project: Path) -> None:
    (project / "data" / "protocols" / "v0.1" / "facts.yaml").unlink()


def comment(project: Path) -> None:
    edit(project, "events.yaml", "- id: T1\n", "- id: T1  # as it was\n")


CHANGES = [
    (reword, "lines.yaml was changed"),
    (add_scenarios, "scenarios/another.yaml was added"),
    (remove_facts, "facts.yaml was removed"),
    (comment, "events.yaml was changed"),
]


def test_N4_a_release_is_the_digest_that_records_name(frozen: Path) -> None:
    """Per file and whole, the whole being `protocol_digest`; beside the folder, and so outside the digest."""
    release = read_release(frozen, "v0.1")
    assert release is not None
    folder = frozen / "data" / "protocols" / "v0.1"
    assert release.sha256 == protocol_digest(folder) == protocol_digest(ROOT / "data" / "protocols" / "v0.1")
    assert set(release.files) == {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    require_frozen(frozen, "v0.1")


def test_an_unreleased_version_may_change(project: Path) -> None:
    """Until its release a version is work."""
    reword(project)
    require_frozen(project, "v0.1")
    assert read_release(project, "v0.1") is None


@pytest.mark.parametrize(("change", "told"), CHANGES)
def test_N4_every_stage_refuses_a_released_version_that_was_changed(
    frozen: Path, change: object, told: str
) -> None:
    """Also stages that read nothing of the protocol: they lead to a score under its name."""
    assert callable(change)
    change(frozen)
    for stage in CHAIN:
        with pytest.raises(CheckFailed, match=rf"(?s){told}.*protocol new v0\.2 --from v0\.1") as caught:
            open_context(frozen, stage.name, "embedded-700" if stage.per_agent else None)
        assert caught.value.exit_code == 1


@pytest.mark.parametrize("arguments", [("score",), ("stage", "population"), ("protocol", "release", "v0.1")])
def test_N4_commands_refuse_it_with_the_file_and_the_way_out(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    frozen: Path,
    arguments: tuple[str, ...],
) -> None:
    """Exit code 1 and no traceback; `score` refuses before DVC is asked."""
    reword(frozen)
    monkeypatch.chdir(frozen)
    monkeypatch.setattr(sys, "argv", ["inquesto-dag", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    error = capsys.readouterr().err
    assert ended.value.code == 1
    assert "data/protocols/v0.1: is released and is not what was released: lines.yaml was changed" in error
    assert "next: restore it (`git restore -- data/protocols/v0.1`)" in error
    assert "Traceback" not in error
    assert not (frozen / "dvc.lock").exists()


def test_N4_dvc_repro_refuses_it_too(frozen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stage that would read the changed file fails, and leaves no output."""
    shutil.copytree(
        ROOT / "inquesto_dag", frozen / "inquesto_dag", ignore=shutil.ignore_patterns("__pycache__")
    )
    (frozen / ".dvc").mkdir()
    for name in (".dvc/config", ".dvcignore", ".gitignore"):
        shutil.copy(ROOT / name, frozen / name)
    subprocess.run(["git", "init", "--quiet", "."], cwd=frozen, check=True)
    monkeypatch.setenv("DVC_SITE_CACHE_DIR", str(frozen / ".dvc" / "tmp" / "site"))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    reword(frozen)
    done = subprocess.run(
        repro_command(["population"]), cwd=frozen, env={**os.environ, **dvc_environment()},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert "lines.yaml was changed" in done.stdout + done.stderr
    assert not (frozen / "data" / "population").exists()


def test_N4_a_release_is_written_once(frozen: Path) -> None:
    """Again is no fault while nothing changed; a changed version cannot be released over the first one."""
    path = release_path(frozen, "v0.1")
    before = path.read_bytes()
    assert not release_version(frozen, "v0.1")
    reword(frozen)
    with pytest.raises(CheckFailed, match="is released and is not what was released"):
        release_version(frozen, "v0.1")
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"version": "v0.1"', '"version": "v0.2"', r"is the release of v0\.2"),
        ('"lines.yaml": "', '"lines.yaml": "0', "is not a release"),
        ("}", "", "is not a release"),
    ],
)
def test_N4_a_release_that_was_edited_releases_nothing(frozen: Path, old: str, new: str, told: str) -> None:
    """Its digests are held to one another."""
    path = release_path(frozen, "v0.1")
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(CheckFailed, match=told):
        require_frozen(frozen, "v0.1")


def test_N4_a_release_with_one_digest_swapped_is_seen(frozen: Path) -> None:
    """The whole's digest is not that of the files any more."""
    reword(frozen)
    path = release_path(frozen, "v0.1")
    release = json.loads(path.read_text())
    release["files"]["lines.yaml"] = "0" * 64
    path.write_text(json.dumps(release))
    with pytest.raises(CheckFailed, match="not that of its files"):
        require_frozen(frozen, "v0.1")


def test_a_version_that_does_not_hold_together_is_not_released(project: Path) -> None:
    """What cannot be loaded is never frozen."""
    remove_facts(project)
    with pytest.raises(InputError, match=r"facts\.yaml: does not exist"):
        release_version(project, "v0.1")
    assert not release_path(project, "v0.1").exists()


def test_N4_a_version_cannot_score_under_anothers_name(project: Path) -> None:
    """A copied folder that still calls itself v0.1 would be cited as v0.1."""
    shutil.copytree(project / "data/protocols/v0.1", project / "data/protocols/v0.3")
    with pytest.raises(InputError, match=r"version: is 'v0\.1', not the folder's name.*cited"):
        require_frozen(project, "v0.3")


def test_N4_the_way_out_is_a_new_version_that_keeps_the_edit(frozen: Path) -> None:
    """The changed folder is copied under a new name, which may be scored with and changed."""
    reword(frozen)
    folder = new_version(frozen, "v0.2", "v0.1")
    require_frozen(frozen, "v0.2")
    assert load_protocol(folder).version == "v0.2"
    line, version = diff_versions(ROOT / "data/protocols/v0.1", folder)
    assert str(version) == '~ protocol.yaml: version: "v0.1" -> "v0.2"'
    assert line.file == "lines.yaml"
    assert line.after is not None and "All right" in line.after
    assert release_version(frozen, "v0.2")
    edit(frozen, "scoring.yaml", "S3", "S4", "v0.2")
    with pytest.raises(CheckFailed, match=r"scoring\.yaml was changed.*\n.*protocol new v0\.3"):
        require_frozen(frozen, "v0.2")


@pytest.mark.parametrize(
    ("version", "source", "told"),
    [
        ("v0.1", "v0.1", "exists already"),
        ("second", "v0.1", "'second' is no version's name"),
        ("../v0.2", "v0.1", "is no version's name"),
        ("v0.2", "v0.9", "is no version of the protocol"),
        ("v0.2", "../agents", "is no version of the protocol"),
        ("v0.2", "", "is no version of the protocol"),
    ],
)
def test_a_new_version_needs_a_new_name_and_a_source(
    project: Path, version: str, source: str, told: str
) -> None:
    """Nothing is overwritten, and nothing half-copied stays."""
    before = sorted((project / "data" / "protocols").iterdir())
    with pytest.raises(InputError, match=told):
        new_version(project, version, source)
    assert sorted((project / "data" / "protocols").iterdir()) == before


def test_a_broken_source_leaves_no_copy(project: Path) -> None:
    """The copy is checked before it takes its name."""
    edit(project, "scoring.yaml", "S3", "high")
    with pytest.raises(InputError, match=r"scoring\.yaml: fail_severity"):
        new_version(project, "v0.2", "v0.1")
    assert [path.name for path in (project / "data" / "protocols").iterdir()] == ["v0.1"]


def test_a_difference_is_told_by_field(project: Path) -> None:
    """Changed, added and removed fields; items by their id; what only looks different; files of one side."""
    folder = new_version(project, "v0.2", "v0.1")
    assert [str(d) for d in diff_versions(folder, folder)] == []
    edit(project, "events.yaml", "threshold: 60", "threshold: 50", "v0.2")
    edit(project, "conditions.yaml", "snr_db: 10.0", "rate_hz: 8000", "v0.2")
    edit(project, "voices.yaml", "voice: am_michael", "voice: am_adam", "v0.2")
    edit(project, "tools.yaml", "# What", "# For what", "v0.2")
    add = folder / "extra.yaml"
    add.write_text("a: 1\n")
    (folder / "facts.yaml").unlink()
    assert [str(d) for d in diff_versions(project / "data/protocols/v0.1", folder)] == [
        "- conditions.yaml: babble.snr_db: 10.0",
        "+ conditions.yaml: babble.rate_hz: 8000",
        "~ events.yaml: T1.threshold: 60 -> 50",
        "+ extra.yaml: in the second version only",
        "- facts.yaml: in the first version only",
        '~ protocol.yaml: version: "v0.1" -> "v0.2"',
        "~ tools.yaml: the same values -> written differently",
        '~ voices.yaml: us_male.voice: "am_michael" -> "am_adam"',
    ]


def test_a_list_in_another_order_differs(project: Path) -> None:
    """T1 to T11 have an order, and so have conditions."""
    folder = new_version(project, "v0.2", "v0.1")
    path = folder / "voices.yaml"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], lines[2], lines[1], *lines[3:]]) + "\n")
    (order,) = [d for d in diff_versions(project / "data/protocols/v0.1", folder) if d.file == "voices.yaml"]
    assert order.after == "us_male, us_female, uk_female, uk_male"


def test_commands_of_a_version_say_what_comes_next(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], project: Path
) -> None:
    """Release, again, new, diff: each in one run of the command line."""

    def told(*arguments: str) -> str:
        monkeypatch.chdir(project)
        monkeypatch.setattr(sys, "argv", ["inquesto-dag", "protocol", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        assert not ended.value.code
        return capsys.readouterr().out

    assert "commit data/protocols/v0.1.release.json" in told("release", "v0.1")
    assert "was released before" in told("release", "v0.1")
    assert "set `protocol: v0.2` in params.yaml" in told("new", "v0.2", "--from", "v0.1")
    assert told("diff", "v0.1", "v0.2") == '~ protocol.yaml: version: "v0.1" -> "v0.2"\n'
    assert "byte for byte" in told("diff", "v0.1", "v0.1")
