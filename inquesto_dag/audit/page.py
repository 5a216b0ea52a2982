"""The page of an audit or of a crate's verification: whether it holds, and every link as it came out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from inquesto_dag.audit.links import Link
from inquesto_dag.files import write_bytes
from inquesto_dag.report.page import render


def counted(links: Sequence[Link]) -> str:
    """`21 ok, 4 not available here`, in the order of first appearance."""
    counts = Counter(link.outcome for link in links)
    return ", ".join(f"{count} {outcome}" for outcome, count in counts.items())


def write_links_page(path: Path, links: Sequence[Link], *, of: str) -> None:
    """Write one HTML file, without network or sound; `of` says what was checked."""
    text = render(
        "audit.html.j2",
        index={},
        title=f"Inquesto: {of}",
        crumb=of,
        failed=[link for link in links if link.failed],
        counts=counted(links),
        links=links,
    )
    write_bytes(path, text.encode())
