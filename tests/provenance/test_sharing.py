"""A finished project shared through a DVC remote: a second clone has all current and computes nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.provenance.small_project import SmallProject

pytestmark = pytest.mark.engines

CURRENT = "Data and pipelines are up to date."
RAN = "Running stage"


@dataclass(frozen=True)
class Remote:
    """Where a remote lies, what else its configuration needs, and the variables of its commands."""

    url: str
    settings: tuple[tuple[str, str], ...] = ()
    variables: tuple[tuple[str, str], ...] = ()


@contextmanager
def on_s3() -> Iterator[Remote]:
    """A bucket of a server that speaks S3, on this machine."""
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        endpoint = f"http://{host}:{port}"
        keys = {"aws_access_key_id": "someone", "aws_secret_access_key": "something"}
        client = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1", **keys)
        client.create_bucket(Bucket="calls")
        variables = tuple((name.upper(), value) for name, value in keys.items())
        yield Remote("s3://calls/inquesto", (("endpointurl", endpoint),), variables)
    finally:
        server.stop()


@pytest.fixture(params=["folder", "s3"])
def remote(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Remote]:
    """A local folder, and S3-compatible storage."""
    if request.param == "folder":
        yield Remote(str(tmp_path / "storage"))
        return
    with on_s3() as found:
        for name, value in found.variables:
            monkeypatch.setenv(name, value)
        yield found


def git(folder: Path, *arguments: str) -> None:
    """A git command of somebody."""
    name = ("-c", "user.name=t", "-c", "user.email=t@example.com")
    subprocess.run(["git", *name, *arguments], cwd=folder, check=True, capture_output=True)


def share(finished: SmallProject, folder: Path, remote: Remote) -> SmallProject:
    """A copy of the finished project with its remote and its lock in git, as the README says."""
    shutil.copytree(finished.folder, folder, symlinks=True)
    first = SmallProject(folder, finished.memo)
    first.dvc("remote", "add", "--default", "storage", remote.url)
    for name, value in remote.settings:
        first.dvc("remote", "modify", "storage", name, value)
    git(folder, "add", ".dvc/config", "dvc.lock")
    git(folder, "commit", "--quiet", "--message", "scored")
    return first


def clone(first: SmallProject, folder: Path) -> SmallProject:
    """Another clone, with a memo of its own that holds nothing."""
    git(folder.parent, "clone", "--quiet", str(first.folder), str(folder))
    return SmallProject(folder, folder / ".memo")


def test_a_second_clone_pulls_and_computes_nothing(
    finished: SmallProject, remote: Remote, tmp_path: Path
) -> None:
    """Every output byte for byte, `dvc status` clean, no stage run by DVC or by `score`; its audit holds."""
    first = share(finished, tmp_path / "first", remote)
    first.dvc("push")
    second = clone(first, tmp_path / "second")
    assert not (second.folder / "data" / "record").exists()
    second.dvc("pull")
    assert second.outputs() == first.outputs()
    assert CURRENT in second.dvc("status")
    assert "Cache and remote 'storage' are in sync." in second.dvc("status", "--cloud")
    assert RAN not in second.dvc("repro")
    told = second.cli("score")
    assert RAN not in told
    assert "Inquesto v0.1 variant" in told
    assert "holds: " in second.cli("audit", "data/record/embedded-400/record.json")
    assert not (second.folder / ".reports").exists()
    assert not second.memo.exists()
    changed = subprocess.run(
        ["git", "status", "--porcelain", "--", ".", ":(exclude).dvc/site"],  # where the test puts DVC's state
        cwd=second.folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert changed.stdout == ""


def test_the_run_cache_carries_earlier_states_too(finished: SmallProject, tmp_path: Path) -> None:
    """What one clone has computed under other parameters, another takes up without computing it."""
    first = share(finished, tmp_path / "first", Remote(str(tmp_path / "storage")))
    ours, other = "resamples: 200", "resamples: 300"
    first.edit("params.yaml", ours, other)
    assert RAN in first.dvc("repro")
    wanted = first.outputs()
    first.edit("params.yaml", other, ours)
    assert RAN not in first.dvc("repro")
    first.dvc("push", "--run-cache")
    second = clone(first, tmp_path / "second")
    second.dvc("pull", "--run-cache")
    second.edit("params.yaml", ours, other)
    told = second.dvc("repro")
    assert RAN not in told
    assert "leaderboard' is cached - skipping run" in told
    assert second.outputs() == wanted


def test_outputs_are_copies_or_reflinks_of_the_cache(finished: SmallProject, tmp_path: Path) -> None:
    """Never hard links: a program that writes into an output would change what every clone restores."""
    project = share(finished, tmp_path / "first", Remote(str(tmp_path / "storage")))
    config = (project.folder / ".dvc" / "config").read_text()
    assert 'type = "reflink,copy"' in config
    output = project.folder / "data" / "population" / "population.parquet"
    before = output.read_bytes()
    assert output.stat().st_nlink == 1
    assert not output.is_symlink()
    os.chmod(output, 0o644)
    output.write_bytes(b"spoilt")
    project.dvc("checkout", "--force", "population")
    assert output.read_bytes() == before
