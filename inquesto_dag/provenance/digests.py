"""Digests of files and folders as DVC takes them, kept between runs so that asking again costs a `stat` each.

A file's digest is the MD5 of its bytes, a folder's the MD5 of its listing plus `.dir`; what `.dvcignore`
leaves out is left out. Digests are kept in `.dvc/tmp/inquesto/digests.json` by path, size, times and inode:
a file that looks the same is not read again. A lost or damaged keep is no fault, its files are read again.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from inquesto_dag.errors import InfrastructureError
from inquesto_dag.files import write_bytes

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

DIR = ".dir"
KEEP = Path(".dvc", "tmp", "inquesto")
KEEP_VERSION = 1
# DVC leaves these out whatever `.dvcignore` says (dvc.ignore.DvcIgnoreFilter).
ALWAYS_IGNORED = (".hg/", ".git/", ".git", ".dvc/")
# A file written again within one tick of the file system's clock keeps its time; so young ones are not kept.
SETTLED_NS = 100_000_000
KEPT_LISTINGS = 500

Listing = Mapping[str, str]  # digest by path relative to a folder; one entry with an empty path for a file
Stamp = tuple[int, int, int, int]  # size, modification and change time in ns, inode


class Digests:
    """The digests of a project's files; `save` keeps them for the next process.

    Without `keep` every byte is read, whatever was learnt before, and nothing is kept.
    """

    def __init__(self, project: Path, *, keep: bool = True) -> None:
        self.project = project
        self._keep = keep
        self.read = 0  # files whose bytes were read, in this process
        self._changed = False
        self._seen: set[str] = set()

    def digest(self, path: str) -> str | None:
        """DVC's digest of a file or folder, relative to the project; None when it does not exist."""
        listing = self.listing(path)
        return None if listing is None else listing_digest(listing)

    def listing(self, path: str) -> dict[str, str] | None:
        """Digest by relative path of every file of a folder, or of the file itself; None when absent."""
        whole = os.path.join(self.project, path)
        try:
            if os.path.isdir(whole):
                start = len(path) + 1
                return {name[start:]: digest for name, digest in self._walk(path)}
            return {"": self._file(path, os.stat(whole))}
        except (FileNotFoundError, NotADirectoryError):
            return None

    def remember(self, listing: Listing) -> str:
        """The digest of a listing, which is kept so that `recall` can tell what a later folder differs in."""
        digest = listing_digest(listing)
        if digest.endswith(DIR):
            path = self._listing_path(digest)
            if self._can_keep and not path.exists():
                with suppress(InfrastructureError):  # a project that may only be read
                    write_bytes(path, listing_bytes(listing))
        return digest

    def recall(self, digest: str) -> dict[str, str] | None:
        """The listing behind a folder's digest: DVC's cache has those of outputs."""
        for path in (self._listing_path(digest), self._cached(digest)):
            try:
                data = path.read_bytes()
                found = {str(entry["relpath"]): str(entry["md5"]) for entry in json.loads(data)}
            except (OSError, ValueError, KeyError, TypeError):
                continue
            if listing_digest(found) == digest:
                return found
        return None

    def in_cache(self, digest: str) -> bool:
        """Whether DVC's cache has an output of this digest, every file of it."""
        if not digest.endswith(DIR):
            return self._cached(digest).is_file()
        listing = self.recall(digest) if self._cached(digest).is_file() else None
        return listing is not None and all(self._cached(file).is_file() for file in listing.values())

    def drop_damaged(self, digest: str, files: Collection[str]) -> list[Path]:
        """Remove from DVC's cache what does not hold the bytes that its name says; returns what that was.

        Read are an output's listing and these files of it. DVC takes an object that may not be written for
        sound, restores it as it is, and says that all is up to date.
        """
        listing = (self.recall(digest) or {}) if digest.endswith(DIR) else {"": digest}
        damaged = []
        for name in dict.fromkeys([digest, *(listing[file] for file in files if file in listing)]):
            path = self._cached(name)
            if path.is_file() and file_md5(path) != name.removesuffix(DIR):
                path.unlink()
                damaged.append(path)
        return damaged

    def save(self) -> None:
        """Keep what was learnt; other processes' digests stay, those of files that are gone do not."""
        if not (self._changed and self._can_keep):
            return
        merged = {**_read_keep(self._keep_path), **self._known}
        kept = {
            path: entry
            for path, entry in merged.items()
            if path in self._seen or os.path.lexists(os.path.join(self.project, path))
        }
        text = json.dumps({"version": KEEP_VERSION, "files": kept}, separators=(",", ":"))
        with suppress(InfrastructureError):  # a project that may only be read: read again the next time
            write_bytes(self._keep_path, text.encode())
        self._changed = False
        listings = sorted((self.project / KEEP / "listings").glob("*.json"), key=os.path.getmtime)
        for old in listings[:-KEPT_LISTINGS]:
            old.unlink(missing_ok=True)

    @cached_property
    def cache_folder(self) -> Path:
        """Where DVC keeps outputs: `cache.dir` of its configuration, or `.dvc/cache`."""
        return dvc_cache_folder(self.project)

    @property
    def _can_keep(self) -> bool:
        return self._keep and (self.project / ".dvc").is_dir()

    @property
    def _keep_path(self) -> Path:
        return self.project / KEEP / "digests.json"

    def _cached(self, digest: str) -> Path:
        return self.cache_folder / "files" / "md5" / digest[:2] / digest[2:]

    def _listing_path(self, digest: str) -> Path:
        return self.project / KEEP / "listings" / f"{digest}.json"

    @cached_property
    def _known(self) -> dict[str, list[int | str]]:
        return _read_keep(self._keep_path) if self._keep else {}

    def _file(self, path: str, stat: os.stat_result) -> str:
        stamp: Stamp = (stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)
        self._seen.add(path)
        known = self._known.get(path)
        if known is not None and tuple(known[:4]) == stamp:
            return str(known[4])
        digest = file_md5(os.path.join(self.project, path))
        self.read += 1
        if time.time_ns() - max(stat.st_mtime_ns, stat.st_ctime_ns) > SETTLED_NS:
            self._known[path] = [*stamp, digest]
            self._changed = True
        return digest

    def _walk(self, path: str) -> Iterator[tuple[str, str]]:
        with os.scandir(os.path.join(self.project, path)) as entries:
            for entry in entries:
                name = f"{path}/{entry.name}"
                is_folder = entry.is_dir()
                if self._ignore(name, is_folder):
                    continue
                if is_folder:
                    yield from self._walk(name)
                elif entry.is_file():
                    with suppress(FileNotFoundError):  # removed since the folder was listed
                        yield name, self._file(name, entry.stat())

    @cached_property
    def _ignore(self) -> Ignore:
        return Ignore(self.project)


class Ignore:
    """Whether `.dvcignore` leaves a path out. Only the file in the project's folder is read."""

    def __init__(self, project: Path) -> None:
        from pathspec import GitIgnoreSpec

        try:
            lines = (project / ".dvcignore").read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            lines = []
        patterns = [line for line in lines if line.strip() and not line.startswith("#")]
        spec = GitIgnoreSpec.from_lines([*ALWAYS_IGNORED, *patterns])
        # Without an inner slash and without exceptions, the last part of a path decides: ask once for each.
        self._by_name = not any("/" in line.rstrip().rstrip("/") or line[0] == "!" for line in patterns)
        self._match = lru_cache(maxsize=None)(lambda path: _matches(spec, path))

    def __call__(self, path: str, is_folder: bool) -> bool:
        """Whether a path relative to the project, in folders that are not left out, is left out."""
        asked = path.rpartition("/")[2] if self._by_name else path
        return self._match(f"{asked}/" if is_folder else asked)


def _matches(spec: GitIgnoreSpec, path: str) -> bool:
    return bool(spec.match_file(path))


def listing_bytes(listing: Listing) -> bytes:
    """A folder's listing as DVC writes it: by path, with the digest of each file."""
    rows = [{"md5": listing[name], "relpath": name} for name in sorted(listing)]
    return json.dumps(rows, sort_keys=True).encode()


def listing_digest(listing: Listing) -> str:
    """The digest that a listing gives: a file's own, or that of the folder's listing."""
    if set(listing) == {""}:
        return listing[""]
    return hashlib.md5(listing_bytes(listing), usedforsecurity=False).hexdigest() + DIR


def differences(before: Listing, after: Listing) -> list[str]:
    """Paths that were changed, added or removed, sorted; the empty path is the file itself."""
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


def file_md5(path: str | Path) -> str:
    """Hex MD5 of a file's bytes, read in blocks."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def dvc_cache_folder(project: Path) -> Path:
    """The cache folder of a project's DVC configuration; `config.local` goes before `config`."""
    from configparser import ConfigParser, Error

    config = ConfigParser(interpolation=None)
    try:
        config.read([project / ".dvc" / "config", project / ".dvc" / "config.local"], encoding="utf-8")
        folder = config.get("cache", "dir", fallback="").strip("\"'")
    except (Error, UnicodeDecodeError):
        folder = ""
    return project / ".dvc" / (folder or "cache")


def shown_names(names: Sequence[str], limit: int = 3) -> str:
    """A few names, and how many more."""
    more = len(names) - limit
    return ", ".join(names[:limit]) + (f" and {more} more" if more > 0 else "")


def _read_keep(path: Path) -> dict[str, list[int | str]]:
    try:
        data = json.loads(path.read_bytes())
        files = data["files"] if data["version"] == KEEP_VERSION else {}
        return {str(name): entry for name, entry in files.items() if len(entry) == 5}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
