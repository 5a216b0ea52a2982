"""`inquesto-dag ui`: Dagster on this project."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import typer

from inquesto_dag.errors import InfrastructureError, InputError

HOME = ".dagster"
LOG = "ui.log"
LAST_LINES = 12
HOST = "127.0.0.1"
START_S, END_S = 180.0, 15.0  # how long to wait for an answer, and for an orderly end


def serve(project: Path, port: int) -> int:
    """Run Dagster on the project's definitions until it is stopped; returns its exit code.

    Everything that it starts is one process group, servers, runs and their stages, and ends with it. What
    they print goes to `.dagster/ui.log`. InputError when the port is taken, InfrastructureError when Dagster
    ends by itself or never answers.
    """
    require_free(port)
    home = dagster_home(project)
    log = home / LOG
    with log.open("wb") as stream:
        servers = subprocess.Popen(
            [sys.executable, "-m", "assets.serve", str(port)],
            cwd=project,
            env={
                **os.environ,
                "DAGSTER_HOME": str(home),
                "INQUESTO_PROJECT": str(project),  # assets/definitions.py
                "PYTHONPATH": os.pathsep.join([str(project), *filter(None, [os.environ.get("PYTHONPATH")])]),
                "GX_ANALYTICS_ENABLED": "false",
                "DVC_NO_ANALYTICS": "1",
                "PYTHONWARNINGS": "ignore",  # Dagster's notes of what it will change; tests see them
            },
            stdin=subprocess.DEVNULL, stdout=stream, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
    # Both, and by itself: a shell starts what it puts in the background with interrupts ignored.
    before = {number: signal.signal(number, _interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        typer.echo(f"starting Dagster on {project}")
        wait_until_served(servers, port, log)
        typer.echo(f"open http://{HOST}:{port}   (Ctrl-C ends it; what it says goes to {log})")
        servers.wait()
        raise ended(servers, log)
    except KeyboardInterrupt:
        typer.echo("ending Dagster and its runs; what was finished is kept")
        return 0
    finally:
        end_group(servers)
        for number, handler in before.items():
            signal.signal(number, handler)


def require_free(port: int) -> None:
    """InputError when something answers on the port, or it may not be used."""
    if port < 1:  # 0 would be any port, which nobody is told
        raise InputError(f"is {port}", where="ui", field="--port", remedy="choose one from 1024 to 65535")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except (OSError, OverflowError) as error:
            raise InputError(
                f"port {port} of {HOST} cannot be used: {getattr(error, 'strerror', None) or error}",
                where="ui", field="--port",
                remedy=f"end what uses it, or choose another: inquesto-dag ui --port {min(port + 10, 65000)}",
            ) from error  # fmt: skip


def wait_until_served(servers: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Wait for the first answer; InfrastructureError when the servers end before, or none comes."""
    until = time.monotonic() + START_S
    while time.monotonic() < until and servers.poll() is None:
        try:
            with urllib.request.urlopen(f"http://{HOST}:{port}/server_info", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise ended(servers, log)


def ended(servers: subprocess.Popen[bytes], log: Path) -> InfrastructureError:
    """The error that Dagster is not there, with the last that it said."""
    code = servers.poll()
    how = "does not answer" if code is None else f"ended by itself, exit code {code}"
    said = "\n".join(log.read_text(errors="replace").splitlines()[-LAST_LINES:])
    return InfrastructureError(
        f"Dagster {how}; it said:\n{said}",
        where="ui",
        remedy=f"see {log}; what runs have finished is kept, and `rm -r {log.parent}` takes away Dagster's "
        "database alone",
    )


def end_group(leader: subprocess.Popen[bytes]) -> None:
    """End a process and all of its group: asked first, killed when they are still there after END_S."""
    for number, patience_s in ((signal.SIGINT, END_S), (signal.SIGTERM, 3.0), (signal.SIGKILL, 3.0)):
        try:
            os.killpg(leader.pid, number)
        except ProcessLookupError:
            return
        until = time.monotonic() + patience_s
        while time.monotonic() < until:
            leader.poll()
            if not group_members(leader.pid):
                return
            time.sleep(0.1)


def group_members(group: int) -> list[int]:
    """Process ids of a group, zombies left out."""
    import psutil

    found = []
    for process in psutil.process_iter():
        try:
            if os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except (ProcessLookupError, psutil.Error):
            continue
    return found


def dagster_home(project: Path) -> Path:
    """The project's Dagster folder, with the project's `dagster.yaml`; its database is disposable."""
    home = project / HOME
    home.mkdir(exist_ok=True)
    shutil.copyfile(project / "dagster.yaml", home / "dagster.yaml")
    return home


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt
