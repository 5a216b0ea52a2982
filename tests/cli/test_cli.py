"""The command line: what it prints, its exit codes, and that a user's mistake never shows a traceback."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from inquesto_dag.cli import main
from inquesto_dag.cli.models import FetchProgress, needed_models
from inquesto_dag.cli.project import find_project
from inquesto_dag.cli.score import choose_agents, print_scores
from inquesto_dag.cli.ui import dagster_home
from inquesto_dag.errors import InputError
from inquesto_dag.files import write_json
from inquesto_dag.provenance.params import load_params
from inquesto_dag.speech.fetch import Step

ROOT = Path(__file__).parents[2]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project's inputs, without code and outputs."""
    for name in ("data/protocols", "data/agents"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for name in ("dvc.yaml", "params.yaml", "dagster.yaml"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """The exit code of a command, run in this process."""
    monkeypatch.setattr(sys, "argv", ["inquesto-dag", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def test_help_starts_fast_and_imports_nothing_heavy() -> None:
    """`--help` loads no numbers, tables, engines or graphs."""
    program = (
        "import sys, inquesto_dag.cli\n"
        "heavy = {'numpy', 'pandas', 'torch', 'pyarrow', 'scipy', 'dvc', 'dagster', 'onnxruntime', 'yaml'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    assert python("-c", program).strip() == "[]"
    shown = python("-m", "inquesto_dag", "--help")
    assert all(name in shown for name in ("score", "stage", "models", "agents", "ui"))


def python(*arguments: str) -> str:
    """What a Python command prints, run in the project's folder."""
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("stage", "scoring"), "unknown stage 'scoring'"),
        (("stage", "calls"), "needs an agent"),
        (("stage", "calls", "--agent", "nobody"), "unknown agent 'nobody'"),
        (("stage", "population", "--agent", "embedded-700"), "is the same for every agent"),
        (("score", "--agent", "nobody"), "unknown agent 'nobody'"),
        (("models", "verify", "gpt"), "gpt"),
        (("audit", "record.json", "--sample", "5"), "--sample: draws nothing without --deep"),
        (("protocol", "diff", "v0.1", "../agents"), "../agents: is no version of the protocol"),
        (("judges", "check", "--wordings", "data/agents"), "data/agents: cannot be read"),
        (("label", "embedded-700", "--labels", "data"), "data: cannot be read: Is a directory"),
        (("measure", "params.yaml", "--out", "data/record/mine"), "lies where stages keep their outputs"),
        (("ui", "--port", "0"), "--port: is 0"),
    ],
)
def test_wrong_use_exits_with_2_and_a_next_step(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    project: Path,
    arguments: tuple[str, ...],
    told: str,
) -> None:
    """Where, what, and the next step; no traceback."""
    monkeypatch.chdir(project)
    assert run(monkeypatch, *arguments) == 2
    error = capsys.readouterr().err
    assert told in error
    assert "next: " in error
    assert "Traceback" not in error


@pytest.mark.parametrize(
    ("path", "old", "new", "told"),
    [
        ("params.yaml", "population: quick", "population: some", r"population"),
        ("params.yaml", "profile: embedded", "profile: pocket", "unknown profile 'pocket'"),
        ("params.yaml", "protocol: v0.1", "protocol: v9", "v9"),
        ("data/agents/embedded-700.yaml", "endpointing_ms: 700", "endpointing_ms: soon", "endpointing_ms"),
        ("data/protocols/v0.1/account.yaml", "number:", "numbre:", "account.yaml"),
        ("params.yaml", "profile:", "population: full\nprofile:", "the key 'population' is given twice"),
        ("dvc.yaml", "  leaderboard:\n", "  leader:\n", "dvc.yaml: has no stage leaderboard"),
        ("data/agents/embedded-700.yaml", "kind: cascade", "endpointing_ms: 1\nkind: cascade", "given twice"),
    ],
)
def test_wrong_input_exits_with_2_before_anything_runs(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    project: Path,
    path: str,
    old: str,
    new: str,
    told: str,
) -> None:
    """`score` reads parameters, agents and protocol itself, so DVC's exit code does not hide the fault."""
    text = (project / path).read_text()
    assert old in text
    (project / path).write_text(text.replace(old, new))
    monkeypatch.chdir(project)
    assert run(monkeypatch, "score") == 2
    captured = capsys.readouterr()
    assert told in captured.err
    assert "next: " in captured.err
    assert "Traceback" not in captured.err
    assert not (project / "dvc.lock").exists()


def test_a_wrong_command_changes_no_parameter(monkeypatch: pytest.MonkeyPatch, project: Path) -> None:
    """`--population` is written into params.yaml once all else of the command is right."""
    before = (project / "params.yaml").read_bytes()
    monkeypatch.chdir(project)
    assert run(monkeypatch, "score", "--population", "full", "--agent", "nobody") == 2
    assert (project / "params.yaml").read_bytes() == before


@pytest.mark.parametrize("data", [b"", b"- a list\n", b"\xff\xfe", None])
@pytest.mark.parametrize("command", ["status", "score", "timings"])
@pytest.mark.parametrize("name", ["params.yaml", "dvc.yaml"])
def test_a_ruined_file_of_the_project_is_named(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    project: Path,
    name: str,
    command: str,
    data: bytes | None,
) -> None:
    """Empty, of another kind, no text, or a folder."""
    (project / name).unlink()
    (project / name).mkdir() if data is None else (project / name).write_bytes(data)
    monkeypatch.chdir(project)
    code = run(monkeypatch, command)
    told = capsys.readouterr()
    assert "Traceback" not in told.err
    if command != "timings":  # which reads neither
        assert code == 2
        assert (
            name if data is not None or name == "params.yaml" else "no dvc.yaml here or above"
        ) in told.err
        assert "next: " in told.err


def test_what_nobody_foresaw_of_a_disk_is_told_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file and the system's reason."""

    def fail(project: Path) -> None:
        raise PermissionError(13, "Permission denied", "/some/file")

    monkeypatch.setattr("inquesto_dag.cli.timings.print_timings", fail)
    monkeypatch.chdir(ROOT)
    assert run(monkeypatch, "timings") == 1
    assert capsys.readouterr().err.startswith("error: /some/file: Permission denied\n  next: ")


@pytest.mark.parametrize(
    ("arguments", "stage"),
    [
        (("judges", "compare", "embedded-700", "embedded-700"), "verdicts"),
        (("rejudge", "embedded-700", "--judge", "rules"), "calls"),
        (("validate", "timing", "--agent", "embedded-700"), "annotations"),
        (("agents", "cost", "embedded-700"), "calls"),
    ],
)
def test_no_command_makes_a_number_from_an_edited_output(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    project: Path,
    arguments: tuple[str, ...],
    stage: str,
) -> None:
    """What lies in the folder is not what dvc.lock names: named, and `score` restores it."""
    out = f"data/{stage}/embedded-700"
    (project / out).mkdir(parents=True)
    (project / out / "table.parquet").write_text("edited")
    (project / "dvc.lock").write_text(
        f"schema: '2.0'\nstages:\n  {stage}@embedded-700:\n    cmd: x\n    outs:\n"
        f"    - path: {out}\n      md5: {'0' * 32}.dir\n"
    )
    monkeypatch.chdir(project)
    assert run(monkeypatch, *arguments) == 1
    told = capsys.readouterr()
    assert f"{out} is not what was computed" in told.err and "next: run `inquesto-dag score`" in told.err
    assert told.out == ""


def test_ctrl_c_says_that_nothing_is_lost(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The library that reads the command line would end without a word."""

    def interrupted(project: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("inquesto_dag.cli.timings.print_timings", interrupted)
    monkeypatch.chdir(ROOT)
    assert run(monkeypatch, "timings") == 130
    assert capsys.readouterr().err.startswith("stopped; what was finished is kept")


def test_an_unknown_option_exits_with_2(monkeypatch: pytest.MonkeyPatch) -> None:
    """As every command line does."""
    assert run(monkeypatch, "score", "--population", "half") == 2
    assert run(monkeypatch, "sing") == 2


def test_outside_a_project_says_so(tmp_path: Path) -> None:
    """The nearest folder upwards counts; none is an error."""
    with pytest.raises(InputError, match=r"no dvc\.yaml here or above"):
        find_project(tmp_path)
    (tmp_path / "dvc.yaml").touch()
    (tmp_path / "a" / "b").mkdir(parents=True)
    assert find_project(tmp_path / "a" / "b") == tmp_path.resolve()


def test_agents_are_listed_with_their_window(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], project: Path
) -> None:
    """Every file under data/agents, whether or not params.yaml names it."""
    (project / "params.yaml").write_text(
        (project / "params.yaml").read_text().replace("  - embedded-1100\n", "")
    )
    monkeypatch.chdir(project)
    assert run(monkeypatch, "agents", "list") == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert set(lines) >= {"embedded-400", "embedded-700", "embedded-1100"}
    assert "700 ms" in lines["embedded-700"] and "in params.yaml" in lines["embedded-700"]
    assert "not scored" in lines["embedded-1100"]


def test_agents_are_chosen_in_the_order_of_the_parameters(project: Path) -> None:
    """None named means all; the order asked for does not matter."""
    params = load_params(project)
    assert choose_agents(params, []) == list(params.agents)
    assert choose_agents(params, ["embedded-1100", "embedded-400"]) == ["embedded-400", "embedded-1100"]
    with pytest.raises(InputError, match=r"unknown agent 'x'\n.*data/agents/NAME\.yaml"):
        choose_agents(params, ["x"])


def test_scores_are_told_as_cited_with_record_and_page(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """PROTOCOL N2 for each agent, and where to look."""
    rate = {"passes": 22, "n": 30, "interval": [55.56, 85.82]}
    none = {"passes": 0, "n": 0}
    record = {
        "protocol": {"version": "v0.1"},
        "score": rate,
        "departures": {"judge": "rules", "caller": "scripted"},
        "population": {"calls": 30, "size": 306},
        "status": {"unjudged": 0, "infrastructure": 0},
        "views": {
            "behavior": {"passes": 2, "n": 3},
            "robustness": {"passes": 1, "n": 2},
            "identity": none,
            "fairness": {"worst": "uk_male", "groups": {"uk_male": {"passes": 1, "n": 4}}},
        },
    }
    write_json(tmp_path / "data" / "record" / "one" / "record.json", record)
    monkeypatch.chdir(tmp_path)
    print_scores(tmp_path, ["one"], leaderboard=True)
    assert capsys.readouterr().out.split("\n") == [
        "",
        "one",
        "  Inquesto v0.1 variant [judge=rules, caller=scripted, n=30 of 306] = 73.3% "
        "(95% CI 55.6–85.8; n = 30)",
        "  B 67 · R 50 · I – · F 25",
        "  record data/record/one/record.json",
        "  page   data/record/one/page/index.html",
        "",
        "side by side: data/leaderboard/page/index.html",
        "",
    ]


def test_models_of_the_profile_are_fetched_by_default(project: Path) -> None:
    """What the embedded profile loads, voices included, and nothing that it does not."""
    needed = ["kokoro-int8", "whisper-base", "silero-vad", "ge2e", "kokoro-voices"]
    assert needed_models(project, []) == needed
    assert needed_models(project, ["whisper-tiny"]) == ["whisper-tiny"]


def test_missing_models_exit_with_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], project: Path
) -> None:
    """A check that failed, with the command that mends it."""
    monkeypatch.chdir(project)
    monkeypatch.setenv("INQUESTO_MODELS", str(project / "nowhere"))
    assert run(monkeypatch, "models", "verify", "ge2e") == 1
    captured = capsys.readouterr()
    assert "missing      ge2e/pretrained.pt" in captured.out
    assert "inquesto-dag models fetch" in captured.err


def test_fetch_tells_notes_and_ends_but_not_every_block(capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is there already is not worth a line."""
    tell = FetchProgress()
    for done in range(0, 11):
        tell(Step("m", "f", "a source", done * 1_000_000, 10_000_000))
    tell(Step("m", "f", "another source", 0, 10, note="does not answer"))
    tell(Step("m", "g", "models folder", 5, 5))
    assert capsys.readouterr().err.splitlines() == [
        "m/f: 0.0 of 10.0 MB from a source",
        "m/f: 10.0 of 10.0 MB from a source",
        "m/f: another source: does not answer",
    ]


def test_dagster_gets_the_projects_settings(project: Path) -> None:
    """`.dagster/dagster.yaml` is the project's, telemetry off."""
    home = dagster_home(project)
    assert home == project / ".dagster"
    assert (home / "dagster.yaml").read_bytes() == (project / "dagster.yaml").read_bytes()
    assert "enabled: false" in (home / "dagster.yaml").read_text()


def test_a_failed_stage_makes_score_exit_with_1(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DVC's failure is passed on; here the project is no DVC repository at all."""
    monkeypatch.chdir(project)
    assert run(monkeypatch, "score") == 1


def test_timings_sum_what_the_stages_cost(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Shares are ratios of sums: 30 of 40 worker seconds, where the stages have 50 % and 100 %."""
    for stage, agent, wall, engine in (("caller_audio", None, 10.0, 10.0), ("calls", "one", 10.0, 20.0)):
        report = {
            "stage": stage, "agent": agent, "workers": 2, "wall_s": wall, "engine_s": {"tts": engine},
            "counts": {"tts_computed": 3, "tts_reused": 1},
        }  # fmt: skip
        write_json(project / ".reports" / f"{stage}.json", report)
    assert run(monkeypatch, "timings", "--project", str(project)) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[1] == ["caller_audio", "10.0", "50", "%", "3", "1"]
    assert lines[2] == ["calls@one", "10.0", "100", "%", "3", "1"]
    assert lines[3] == ["all", "20.0", "75", "%", "6", "2"]


def test_timings_of_nothing_say_what_to_run(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch, "timings", "--project", str(project)) == 2
