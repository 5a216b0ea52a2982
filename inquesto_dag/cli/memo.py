"""`inquesto-dag memo`: what the memo holds, whether it is whole, what may go, and what its code counts as."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import typer

from inquesto_dag.provenance import versions
from inquesto_dag.provenance.memo import default_memo
from inquesto_dag.provenance.upkeep import DAY_S, entries_of, parse_size, prune, remove_damaged, stats_of
from inquesto_dag.stages.progress import progress

SHOWN = 20  # damaged entries that are named


def print_stats(project: Path) -> None:
    """One line a kind and the sum; then the functions whose code has not been declared."""
    memo = default_memo(project)
    stats = stats_of(memo.root)
    typer.echo(f"{'kind':14} {'entries':>9} {'size':>11}   last used, oldest to newest")
    for kind in stats:
        typer.echo(
            f"{kind.kind:14} {kind.entries:9} {_size(kind.size):>11}   "
            f"{_day(kind.oldest)} to {_day(kind.newest)}"
        )
    entries, size = sum(kind.entries for kind in stats), sum(kind.size for kind in stats)
    typer.echo(f"{'all':14} {entries:9} {_size(size):>11}   {memo.root}")
    edited = versions.edited_functions()
    if edited:
        typer.echo(f"code edited since it was declared: {', '.join(edited)} (see `inquesto-dag memo accept`)")


def verify(project: Path, kinds: Sequence[str]) -> int:
    """Read every entry and remove the damaged ones; 1 when there were some."""
    memo = default_memo(project)
    entries = list(entries_of(memo.root, kinds))
    with progress("memo verify", len(entries)) as advance:
        damaged = remove_damaged(entries, advance)
    for entry in damaged[:SHOWN]:
        typer.echo(f"damaged, removed: {entry.path}")
    if len(damaged) > SHOWN:
        typer.echo(f"… and {len(damaged) - SHOWN} more")
    size = _size(sum(entry.size for entry in entries))
    typer.echo(f"{len(entries)} entries of {size} read in {memo.root}, {len(damaged)} damaged")
    if damaged:
        typer.echo("  next: nothing; they are computed again when they are needed", err=True)
    return 1 if damaged else 0


def prune_memo(
    project: Path, kinds: Sequence[str], older_than: float | None, keep_bytes: str | None, dry_run: bool
) -> None:
    """Remove entries by their last use and say what went, or would go."""
    memo = default_memo(project)
    keep = parse_size(keep_bytes) if keep_bytes is not None else None
    pruned = prune(memo.root, kinds, older_than_days=older_than, keep_bytes=keep, dry_run=dry_run)
    verb = "would remove" if dry_run else "removed"
    typer.echo(
        f"{verb} {len(pruned.removed)} entries of {_size(pruned.size)} and {pruned.leftovers} files of "
        f"writers that are gone; {pruned.kept} entries of {_size(pruned.kept_size)} stay in {memo.root}"
    )
    if older_than is None and keep is None:
        typer.echo("  next: say which entries may go, with --older-than DAYS or --keep-bytes SIZE")


def accept_code(functions: Sequence[str], bump: bool) -> None:
    """Declare edited code and say what its results count as."""
    declared = versions.accept(functions, bump=bump)
    for function, version in declared.items():
        what = "other results than before" if bump else "the same results as before"
        typer.echo(f"{function}: {what}, version {version}")
    if not declared:
        typer.echo("nothing to declare: the code is what it was declared to be")


def _size(size: int) -> str:
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= scale:
            return f"{size / scale:.1f} {unit}"
    return f"{size} bytes"


def _day(moment: float) -> str:
    days = int((time.time() - moment) // DAY_S)
    return time.strftime("%Y-%m-%d", time.localtime(moment)) if days > 0 else "today"
