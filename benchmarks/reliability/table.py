"""What the proofs came to: as text, as JSON, and as the tables of `docs/reliability.md`."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.reliability.figure import Figure
from benchmarks.reliability.place import KINDS, LABELS, Kind

HOWS = ("sync", "async")
CELLS = tuple((kind, how) for kind in KINDS for how in HOWS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What one proof came to on one database, one way."""

    proof: int
    title: str
    kind: Kind
    how: str
    figures: Sequence[Figure]
    seconds: float
    """How long it took."""

    @property
    def holds(self) -> bool:
        """Whether every claim does."""
        return all(figure.holds for figure in self.figures)


def as_text(results: Sequence[Result], *, console: Console) -> None:
    """Print the tables.

    Args:
        results: What the proofs came to.
        console: Where they go.
    """
    for proof in sorted({result.proof for result in results}):
        mine = [result for result in results if result.proof == proof]
        head, lines = _laid_out(mine)
        title = f"{proof}. {mine[0].title} ({sum(one.seconds for one in mine):.0f} s)"
        table = Table(title=title, title_justify="left", box=None, pad_edge=False)
        for place, name in enumerate(head):
            table.add_column(name, justify="left" if place == 0 else "right")
        for line in lines:
            table.add_row(*line)
        console.print(table, "", sep="\n")


def as_json(results: Sequence[Result]) -> str:
    """Return one object for each figure.

    Args:
        results: What the proofs came to.
    """
    lines = [
        {
            "proof": result.proof,
            "database": result.kind,
            "how": result.how,
            "figure": figure.name,
            "value": figure.value,
            "limit": figure.limit,
            "holds": figure.holds,
        }
        for result in results
        for figure in result.figures
    ]
    return json.dumps(lines, indent=2, ensure_ascii=False)


def write(results: Sequence[Result], *, page: Path, server: str) -> None:
    """Put the tables into the page, each between its markers; proofs that did not run keep theirs.

    Args:
        results: What the proofs came to.
        page: The document.
        server: PostgreSQL's version.

    Raises:
        ValueError: The page has no markers for a proof.
    """
    text = page.read_text(encoding="utf-8")
    for proof in sorted({result.proof for result in results}):
        mine = [result for result in results if result.proof == proof]
        begin, end = f"<!-- proof {proof}: measured -->", f"<!-- proof {proof}: end -->"
        if begin not in text or end not in text:
            raise ValueError(f"{page} has no `{begin}` and `{end}`: add both lines where the table belongs")
        before, _, rest = text.partition(begin)
        after = rest.partition(end)[2]
        text = f"{before}{begin}\n\n{_markdown(mine)}\n\n{_circumstances(mine, server=server)}\n\n{end}{after}"
    page.write_text(text, encoding="utf-8")


def _markdown(mine: Sequence[Result]) -> str:
    head, lines = _laid_out(mine)
    rule = [":--", *["--:" for _ in head[1:]]]
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, rule, *lines))


def _circumstances(mine: Sequence[Result], *, server: str) -> str:
    kinds = {result.kind for result in mine}
    databases = [f"SQLite {sqlite3.sqlite_version}"] * ("sqlite" in kinds)
    databases += [f"PostgreSQL {server}"] * ("postgresql" in kinds)
    return (
        f"Measured in {sum(result.seconds for result in mine):.0f} s on {os.cpu_count()} cores with Python"
        f" {platform.python_version()}, langgraph {importlib.metadata.version('langgraph')},"
        f" {' and '.join(databases)}."
    )


def _laid_out(mine: Sequence[Result]) -> tuple[list[str], list[list[str]]]:
    """Put the figures of a proof into lines and the databases and ways into columns."""
    by_cell = {(result.kind, result.how): {one.name: one for one in result.figures} for result in mine}
    cells = [cell for cell in CELLS if cell in by_cell]
    names = _in_order([one.name for one in result.figures] for result in mine)
    head = ["", *[f"{LABELS[kind]} {how}" for kind, how in cells], "limit"]
    return head, [_line(name, [by_cell[cell].get(name) for cell in cells]) for name in names]


def _line(name: str, figures: Sequence[Figure | None]) -> list[str]:
    limits = {kind: None for one in figures if one for kind in [one.limit]}
    return [name, *map(_shown, figures), " / ".join(limit for limit in limits if limit)]


def _shown(figure: Figure | None) -> str:
    if figure is None:
        return "–"
    return f"{figure.value:,.10g}" + ("" if figure.holds else " ✗")


def _in_order(lists: Iterable[Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(name for names in lists for name in names))
