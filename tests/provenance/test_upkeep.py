"""Looking after a store: statistics, verification, pruning, all also while it is used."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from inquesto_dag.cli.app import app
from inquesto_dag.errors import InputError
from inquesto_dag.provenance.code import ROOT
from inquesto_dag.provenance.memo import MEMO_VARIABLE, Memo, result_key
from inquesto_dag.provenance.upkeep import DAY_S, entries_of, parse_size, prune, stats_of

NOW = time.time()


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memo:
    """Ten calls of 1,000 bytes and five embeddings of 100, the n-th of each last used n days ago."""
    memo = Memo(tmp_path / "memo")
    monkeypatch.setenv(MEMO_VARIABLE, str(memo.root))
    for kind, count, size in (("call", 10, 1000), ("embedding", 5, 100)):
        for n in range(count):
            key = result_key(kind, 1, {"n": n})
            memo.put(kind, key, bytes([n]) * (size - 65))
            os.utime(memo.path(kind, key), (NOW - n * DAY_S, NOW - n * DAY_S))
    return memo


def command(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["memo", *arguments])
    return done.exit_code, done.output


def held(memo: Memo) -> dict[str, int]:
    return {kind.kind: kind.entries for kind in stats_of(memo.root)}


def test_stats_count_entries_bytes_and_days(store: Memo) -> None:
    """Of each kind and in all; what is no entry is passed over."""
    (store.root / "call" / "README").write_text("not an entry")
    (store.root / ".hidden").mkdir()
    stats = {kind.kind: kind for kind in stats_of(store.root)}
    assert (stats["call"].entries, stats["call"].size) == (10, 10_000)
    assert stats["embedding"].newest - stats["embedding"].oldest == pytest.approx(4 * DAY_S, abs=1)
    code, text = command("stats")
    assert code == 0
    lines = [line.split() for line in text.splitlines()]
    assert lines[1][:4] == ["call", "10", "10.0", "kB"] and lines[1][-1] == "today"
    assert lines[3][:4] == ["all", "15", "10.5", "kB"] and lines[3][-1] == str(store.root)


def test_an_empty_store_has_statistics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the first run there is no folder."""
    monkeypatch.setenv(MEMO_VARIABLE, str(tmp_path / "none"))
    assert command("stats")[0] == command("verify")[0] == command("prune")[0] == 0


def test_verify_removes_what_is_damaged_and_fails(store: Memo) -> None:
    """Exit code 1 and the files by name; the second time everything is whole."""
    assert command("verify")[0] == 0
    entry = next(entries_of(store.root, ["call"]))
    content = bytearray(entry.path.read_bytes())
    content[-1] ^= 1
    entry.path.write_bytes(content)
    code, text = command("verify", "--kind", "embedding")
    assert code == 0 and "5 entries of 500 bytes read" in text
    code, text = command("verify")
    assert code == 1
    assert f"damaged, removed: {entry.path}" in text and "15 entries of 10.5 kB read" in text
    assert "memo verify: 15/15 done" in text and not entry.path.exists()
    assert command("verify")[0] == 0


@pytest.mark.parametrize(
    ("options", "left"),
    [
        (["--older-than", "3.5"], {"call": 4, "embedding": 4}),
        (["--older-than", "3.5", "--kind", "call"], {"call": 4, "embedding": 5}),
        (["--keep-bytes", "2.2kB"], {"call": 2, "embedding": 2}),
        (["--keep-bytes", "0"], {}),
        (["--keep-bytes", "1GB", "--older-than", "0.5"], {"call": 1, "embedding": 1}),
        (["--keep-bytes", "1GB"], {"call": 10, "embedding": 5}),
        ([], {"call": 10, "embedding": 5}),
    ],
    ids=" ".join,
)
def test_prune_removes_what_was_used_longest_ago(
    store: Memo, options: list[str], left: dict[str, int]
) -> None:
    """By age, by what may stay, by kind; a dry run says the same and removes nothing."""
    code, said = command("prune", "--dry-run", *options)
    assert code == 0 and held(store) == {"call": 10, "embedding": 5}
    code, done = command("prune", *options)
    assert code == 0 and held(store) == left
    assert said.replace("would remove", "removed") == done
    assert done.startswith(f"removed {15 - sum(left.values())} entries of ")
    assert ("--older-than DAYS or --keep-bytes" in done) == (options == [])


def test_prune_leaves_a_temporary_file_that_may_be_being_written(store: Memo) -> None:
    """One of a minute ago stays, one of yesterday goes."""
    folder = store.root / "call" / "ab"
    folder.mkdir(exist_ok=True)
    fresh, old = folder / ".tmp-1-aa-x", folder / ".tmp-1-bb-x"
    for path, age in ((fresh, 60.0), (old, DAY_S)):
        path.write_bytes(b"half")
        os.utime(path, (NOW - age, NOW - age))
    assert "and 1 files of writers" in command("prune", "--dry-run")[1]
    assert old.exists()
    assert prune(store.root).leftovers == 1
    assert fresh.exists() and not old.exists()


def test_wrong_use_names_what_is_there(store: Memo) -> None:
    """An unknown kind, a size that is none."""
    with pytest.raises(InputError, match=r"holds no kind 'calls'\n.*call, embedding"):
        prune(store.root, ["calls"])
    with pytest.raises(InputError, match=r"--keep-bytes: is 'much'"):
        parse_size("much")
    sizes = [parse_size(text) for text in ("12", "1kB", "1.5 GB", "2g")]
    assert sizes == [12, 1000, 1_500_000_000, 2_000_000_000]


def test_a_run_may_use_the_store_while_it_is_pruned(store: Memo) -> None:
    """Whatever vanishes under a reader is computed again; results stay right and nothing fails."""
    program = (
        "import sys, time; from pathlib import Path\n"
        "from inquesto_dag.provenance.memo import Memo\n"
        "memo = Memo(Path(sys.argv[1])); end = time.monotonic() + 3\n"
        "while time.monotonic() < end:\n"
        "    for n in range(40):\n"
        "        text = b'%d' % n\n"
        "        assert memo.compute('call', 2, {'n': n}, lambda: text) == text\n"
        "print(memo.misses, len(memo.damaged))\n"
    )
    users = [
        subprocess.Popen([sys.executable, "-c", program, str(store.root)], stdout=subprocess.PIPE, text=True,
                         env={**os.environ, "PYTHONPATH": str(ROOT)}) for _ in range(2)
    ]  # fmt: skip
    pruned = 0
    while any(user.poll() is None for user in users):
        pruned += len(prune(store.root, keep_bytes=0).removed)
    told = [user.communicate()[0].split() for user in users]
    assert [user.returncode for user in users] == [0, 0]
    assert all(damaged == "0" for _, damaged in told)
    assert pruned > 80 and sum(int(misses) for misses, _ in told) > 80
