"""The memo with real processes and file systems: many writers, kills, damage, full and locked disks."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from inquesto_dag.errors import InfrastructureError
from inquesto_dag.files import TEMPORARY
from inquesto_dag.provenance.code import ROOT
from inquesto_dag.provenance.memo import MEMO_VARIABLE, TOUCHED_EVERY_S, Memo, default_memo, payload_of
from inquesto_dag.provenance.upkeep import WRITING_S, prune

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}

WRITER = """
import sys, time
from pathlib import Path
from inquesto_dag.provenance.memo import Memo
memo = Memo(Path(sys.argv[1]))
def payload(n):
    return bytes([n]) * (1000 + 20_000 * n)
"""
ALL = """
got = [memo.compute("call", 1, {"n": n}, lambda n=n: payload(n)) for n in range(60)]
assert got == [payload(n) for n in range(60)]
print(memo.hits, memo.misses, len(memo.damaged))
"""
FOREVER = """
print("writes", flush=True)
while True:
    memo.put("call", "ab" * 32, b"x" * 20_000_000)
"""


def start(root: Path, program: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER + program, str(root)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env=ENVIRONMENT,
    )  # fmt: skip


def files_of(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.is_file())


def test_many_processes_compute_the_same_keys_into_one_store(tmp_path: Path) -> None:
    """Each gets every result right, nothing is damaged, and no temporary file stays."""
    running = [start(tmp_path, ALL) for _ in range(4)]
    told = [process.communicate(timeout=120) for process in running]
    assert [process.returncode for process in running] == [0] * 4, told
    for hits, misses, damaged in (map(int, out.split()) for out, _ in told):
        assert hits + misses == 60 and damaged == 0
    files = files_of(tmp_path)
    assert len(files) == 60
    assert all(payload_of(path.read_bytes()) is not None for path in files)


def test_a_writer_killed_at_any_instant_leaves_no_half_entry(tmp_path: Path) -> None:
    """SIGKILL ten times in or just after a write; what stays is whole, or temporary and swept."""
    entry = Memo(tmp_path).path("call", "ab" * 32)
    rng, caught = random.Random(7), 0
    for _ in range(10):
        writer = start(tmp_path, FOREVER)
        assert writer.stdout is not None
        assert writer.stdout.readline() == "writes\n"
        while not list(tmp_path.rglob(f"{TEMPORARY}*")):
            pass  # until it is in the middle of a write
        time.sleep(rng.uniform(0.0, 0.01))
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
        leftovers = [path for path in files_of(tmp_path) if path != entry]
        assert all(path.name.startswith(TEMPORARY) for path in leftovers)
        caught += bool(leftovers)
        if entry.exists():
            assert payload_of(entry.read_bytes()) == b"x" * 20_000_000
        assert prune(tmp_path).leftovers == 0  # they might be being written
        assert prune(tmp_path, now=time.time() + WRITING_S + 1).leftovers == len(leftovers)
        assert files_of(tmp_path) in ([], [entry])
        entry.unlink(missing_ok=True)
    assert caught > 0  # at least one kill fell into a write


@pytest.mark.parametrize("position", [0, 30, 64, 65, 80, -1])
def test_a_flipped_byte_anywhere_is_computed_again_and_reported(
    tmp_path: Path, position: int, caplog: pytest.LogCaptureFixture
) -> None:
    """In the digest, at the border, in the payload."""
    memo = Memo(tmp_path)
    assert memo.compute("call", 1, {}, lambda: b"the result of a long computation") == memo.compute(
        "call", 1, {}, lambda: b"not asked"
    )
    (path,) = files_of(tmp_path)
    content = bytearray(path.read_bytes())
    content[position] ^= 1
    path.write_bytes(content)
    assert memo.compute("call", 1, {}, lambda: b"again") == b"again"
    assert memo.damaged == [path] and (memo.hits, memo.misses) == (1, 2)
    assert f"memo entry {path} is damaged; it is removed and computed again" in caplog.text
    assert memo.compute("call", 1, {}, lambda: b"not asked") == b"again"


@pytest.mark.parametrize("length", [0, 1, 64, 70])
def test_a_truncated_entry_is_damaged(tmp_path: Path, length: int) -> None:
    """As a machine that lost its power may leave one."""
    memo = Memo(tmp_path)
    memo.put("call", "ab" * 32, b"payload")
    with memo.path("call", "ab" * 32).open("r+b") as stream:
        stream.truncate(length)
    assert memo.get("call", "ab" * 32) is None and len(memo.damaged) == 1


def test_kind_code_and_parts_are_in_the_key(tmp_path: Path) -> None:
    """Each of the three gives another entry."""
    memo = Memo(tmp_path)
    for kind, code, parts in (("a", 1, {}), ("b", 1, {}), ("a", 2, {}), ("a", 1, {"x": None})):
        memo.compute(kind, code, parts, lambda: b"x")
    assert memo.misses == 4


def test_a_use_is_noted_once_a_day(tmp_path: Path) -> None:
    """A second read on the same day writes nothing."""
    memo = Memo(tmp_path)
    memo.put("call", "ab" * 32, b"x")
    path = memo.path("call", "ab" * 32)
    earlier, long_ago = time.time() - TOUCHED_EVERY_S / 2, time.time() - 2 * TOUCHED_EVERY_S
    os.utime(path, (earlier, earlier))
    memo.get("call", "ab" * 32)
    assert path.stat().st_mtime == pytest.approx(earlier, abs=0.01)
    os.utime(path, (long_ago, long_ago))
    memo.get("call", "ab" * 32)
    assert path.stat().st_mtime > time.time() - 60


def test_a_root_that_is_a_file_is_said_as_such(tmp_path: Path) -> None:
    """No traceback: where, what, and the next step."""
    (tmp_path / "memo").write_text("")
    memo = Memo(tmp_path / "memo")
    with pytest.raises(InfrastructureError, match=r"memo/call.*could not be written(.|\n)*INQUESTO_MEMO"):
        memo.compute("call", 1, {}, lambda: b"x")


@pytest.fixture
def other_disk() -> Iterator[Path]:
    """A folder on another file system than the temporary one."""
    folder = Path("/dev/shm") / f"inquesto-memo-{os.getpid()}"
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("no second file system that can be written")
    yield folder
    shutil.rmtree(folder)


def test_the_memo_may_lie_on_another_file_system(
    tmp_path: Path, other_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """INQUESTO_MEMO: a temporary file lies beside its entry, so the rename stays on one file system."""
    if other_disk.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("/dev/shm is on the same file system")
    monkeypatch.setenv(MEMO_VARIABLE, str(other_disk / "memo"))
    memo = default_memo(tmp_path)
    assert memo.compute("call", 1, {}, lambda: b"x") == memo.compute("call", 1, {}, lambda: b"y") == b"x"
    assert len(files_of(other_disk / "memo")) == 1 and files_of(tmp_path) == []


def on_small_disk(program: str) -> subprocess.CompletedProcess[str]:
    """A program in name spaces of its own, with a disk of 256 kB at /mnt that it may mount as it likes."""
    if subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "x", "/mnt"], check=False).returncode:
        pytest.skip("user name spaces are not allowed here")
    script = 'mount -t tmpfs -o size=256k x /mnt && exec "$@"'
    python = [sys.executable, "-c", WRITER + program, "/mnt/memo"]
    command = ["unshare", "-rm", "sh", "-c", script, "sh", *python]
    return subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, check=False)


def test_a_full_disk_is_said_and_leaves_what_was_there(tmp_path: Path) -> None:
    """The real thing: no space left in the middle of an entry; earlier entries stay readable."""
    done = on_small_disk(
        "from inquesto_dag.errors import InfrastructureError\n"
        "memo.compute('call', 1, {}, lambda: b'small')\n"
        "try:\n    memo.compute('call', 1, {'n': 1}, lambda: b'x' * 1_000_000)\n"
        "except InfrastructureError as error:\n    print(error)\n"
        "print(memo.compute('call', 1, {}, lambda: b''))\n"
        "print([path.name for path in memo.root.rglob('.tmp-*')])\n"
    )
    assert "could not be written: No space left on device\n  next: free space" in done.stdout, done.stderr
    assert done.stdout.endswith("b'small'\n[]\n")


def test_a_store_that_may_only_be_read_gives_what_it_has_and_says_why_it_takes_nothing() -> None:
    """The real thing: mounted read-only, with an entry that was last used long ago, and a damaged one."""
    done = on_small_disk(
        "import os, subprocess\n"
        "from inquesto_dag.errors import InfrastructureError\n"
        "memo.compute('call', 1, {}, lambda: b'small')\n"
        "memo.put('call', 'ab' * 32, b'x')\n"
        "memo.path('call', 'ab' * 32).write_bytes(b'')\n"
        "for path in memo.root.rglob('*'):\n    os.utime(path, (1, 1))\n"
        "subprocess.run(['mount', '-o', 'remount,ro', '/mnt'], check=True)\n"
        "print(memo.compute('call', 1, {}, lambda: b''), memo.get('call', 'ab' * 32))\n"
        "try:\n    memo.compute('call', 1, {'n': 1}, lambda: b'x')\n"
        "except InfrastructureError as error:\n    print(error)\n"
    )
    assert done.stdout.startswith("b'small' None\n/mnt/memo/call/"), done.stderr
    assert "could not be written: Read-only file system\n  next: " in done.stdout
