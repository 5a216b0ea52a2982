"""`inquesto-dag agents check` against a server that lacks one thing after the other."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
import yaml

from inquesto_dag.cli import main
from tests.agents.chat.server import MODEL, PerfectModel, Wire, says, serving, status, stream, whole

ROOT = Path(__file__).parents[2]
KEY = "sk-test-51b07c"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one scripted agent and one behind an endpoint."""
    shutil.copytree(ROOT / "data" / "protocols", tmp_path / "data" / "protocols")
    for name in ("dvc.yaml", "params.yaml"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "data" / "agents").mkdir()
    scripted = ROOT / "data" / "agents" / "embedded-700.yaml"
    shutil.copy(scripted, tmp_path / "data" / "agents")
    brain = {
        "kind": "openai",
        "settings": {"model": MODEL},
        "transport": {"base_url_env": "CHECK_URL", "api_key_env": "CHECK_KEY", "connect_s": 1, "read_s": 1},
    }
    raw = yaml.safe_load(scripted.read_text()) | {"id": "mine", "brain": brain}
    (tmp_path / "data" / "agents" / "mine.yaml").write_text(yaml.safe_dump(raw))
    return tmp_path


Check = pytest.CaptureFixture[str]


def check(
    monkeypatch: pytest.MonkeyPatch, capsys: Check, project: Path, *names: str, url: str = "", key: str = ""
) -> tuple[int, str]:
    """Exit code and what was printed; the key is in none of it."""
    for name, value in (("CHECK_URL", url), ("CHECK_KEY", key)):
        monkeypatch.setenv(name, value) if value else monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "argv", ["inquesto-dag", "agents", "check", *names, "--project", str(project)])
    with pytest.raises(SystemExit) as ended:
        main()
    shown = capsys.readouterr()
    assert KEY not in shown.out + shown.err
    return int(ended.value.code or 0), shown.out + shown.err


def test_an_agent_that_lacks_nothing(monkeypatch: pytest.MonkeyPatch, capsys: Check, project: Path) -> None:
    """All agents: the scripted one needs nothing, the other answers a turn with its tools."""
    with serving(PerfectModel(), key=KEY) as server:
        code, shown = check(monkeypatch, capsys, project, url=server.url, key=KEY)
    assert code == 0, shown
    assert "needs nothing from outside" in shown and f"{MODEL} is served" in shown
    assert "called lookup_account, verify_voice" in shown and "first sentence after" in shown
    assert "2 of 2 agents are ready" in shown


def test_what_the_environment_lacks(monkeypatch: pytest.MonkeyPatch, capsys: Check, project: Path) -> None:
    """First the address, then the key; the variables are named."""
    code, shown = check(monkeypatch, capsys, project)
    assert code == 1 and "$CHECK_URL, which should hold" in shown and "export CHECK_URL=" in shown
    assert "1 of 2 agents are ready; not ready: mine" in shown
    code, shown = check(monkeypatch, capsys, project, "mine", url="http://127.0.0.1:9/v1")
    assert code == 1 and "$CHECK_KEY, which should hold" in shown


def test_nobody_listens(monkeypatch: pytest.MonkeyPatch, capsys: Check, project: Path) -> None:
    """The port is closed."""
    code, shown = check(monkeypatch, capsys, project, "mine", url="http://127.0.0.1:9/v1", key=KEY)
    assert code == 1 and "no connection to the endpoint" in shown and "turn" not in shown


def test_a_refused_key(monkeypatch: pytest.MonkeyPatch, capsys: Check, project: Path) -> None:
    """The server wants another one."""
    with serving(says("Yes."), key="another") as server:
        code, shown = check(monkeypatch, capsys, project, "mine", url=server.url, key=KEY)
    assert code == 1 and "refused the key (401: wrong key)" in shown and not server.requests


def test_a_model_that_is_not_served(monkeypatch: pytest.MonkeyPatch, capsys: Check, project: Path) -> None:
    """The names that are near are shown, and what the turn came to."""
    with serving(says("Yes."), models=("test-model-7b", "other")) as server:
        code, shown = check(monkeypatch, capsys, project, "mine", url=server.url, key=KEY)
    assert code == 1 and "it lists 2, such as test-model-7b" in shown and "has no model 'test-model'" in shown


@pytest.mark.parametrize(
    ("play", "told"),
    [
        (says(""), "said nothing, called no tool"),
        (status(500), "the endpoint failed (500)"),
        (whole("<html>", "text/html"), "content type is 'text/html'"),
        (stream(Wire.drop), "ended in mid-completion"),
    ],
)
def test_a_turn_that_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: Check, project: Path, play: object, told: str
) -> None:
    """Model and key are right, and it does not work all the same; it is tried once."""
    with serving(play) as server:  # type: ignore[arg-type]
        code, shown = check(monkeypatch, capsys, project, "mine", url=server.url, key=KEY)
    assert code == 1 and told in shown
    assert len(server.requests) == (2 if "nothing" in told else 1)


def test_an_unknown_agent_is_wrong_use(monkeypatch: pytest.MonkeyPatch, capsys: Check, project: Path) -> None:
    """Exit code 2."""
    code, shown = check(monkeypatch, capsys, project, "nobody")
    assert code == 2 and "unknown agent 'nobody'" in shown
