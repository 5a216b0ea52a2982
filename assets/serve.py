"""Dagster on this project: code server, web server and daemon, as `dagster dev` runs them, beside `data/`.

What is added is the project's `data/` folder under `/data`, read-only, on the same address: a page that a run
links to opens from wherever the UI is open, and its sound seeks (ranges are served). `inquesto-dag ui` starts
this module; it needs DAGSTER_HOME, and the project's folder as the working directory.
"""

import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import dagster as dg
import uvicorn
import yaml
from dagster._cli.proxy_server_manager import ProxyServerManager
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import ModuleTarget, WorkspaceFileTarget
from dagster._utils.log import configure_loggers
from dagster_webserver.app import create_app_from_workspace_process_context
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from assets.run_metadata import DATA_ROUTE

HOST = "127.0.0.1"  # of this machine only: there is no password
LOCATION = "inquesto"


def serve(project: Path, port: int) -> None:
    """Serve until interrupted; runs that are queued wait in Dagster's database for the next time."""
    configure_loggers(log_level="WARNING")
    target = ModuleTarget("assets.definitions", None, str(project), LOCATION)
    with (
        dg.DagsterInstance.get() as instance,
        ProxyServerManager(instance, target, code_server_log_level="warning") as code_server,
        tempfile.TemporaryDirectory(prefix="inquesto-ui-") as folder,
    ):
        instance.optimize_for_webserver(None, None, None)  # type: ignore[arg-type]  # SQLite has none of them
        workspace = Path(folder) / "workspace.yaml"
        workspace.write_text(yaml.safe_dump({"load_from": list(code_server.get_code_server_specs())}))
        daemon = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "dagster._daemon",
                "run",
                "--workspace",
                str(workspace),
                "--log-level",
                "warning",
            ]
        )
        try:
            with WorkspaceProcessContext(instance, WorkspaceFileTarget([str(workspace)])) as context:
                app = create_app_from_workspace_process_context(context, "", 2000)
                uvicorn.run(with_data(app, project), host=HOST, port=port, log_level="warning")
        finally:
            daemon.terminate()
            daemon.wait()


def with_data(app: Starlette, project: Path) -> Starlette:
    """The web server's application with the project's `data/` before its own routes, which catch all."""
    (project / "data").mkdir(exist_ok=True)
    app.routes.insert(0, Mount(DATA_ROUTE, StaticFiles(directory=project / "data", html=True)))
    return app


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    serve(Path.cwd(), int(sys.argv[1]))
