"""What people see: tables, JSON, messages. Text from outside is shown as text, never as markup or control codes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import accumulate
from typing import TypeVar, cast

import typer
from pydantic_core import to_jsonable_python
from rich.console import Console
from rich.progress import track
from rich.table import Table
from rich.text import Text

from stateward.cli.columns import broken, natural, widths
from stateward.errors import StatewardError

T = TypeVar("T")

WIDE = 200
"""Columns of a table that goes into a file or pipe, unless `COLUMNS` says otherwise."""
MANY = 20
"""From so many items on a bar shows how far the work on them is."""
_SHORT = 20
"""Up to this many letters a column is not wrapped."""
_STYLES = {
    "completed": "green",
    "waiting": "yellow",
    "running": "cyan",
    "halted": "magenta",
    "failed": "bold red",
    "cancelled": "magenta",
    "error": "bold red",
    "warning": "yellow",
    "allowed": "green",
    "restricted": "yellow",
    "forbidden": "red",
}


def stdout() -> Console:
    """Return a console for results."""
    return Console(width=shutil.get_terminal_size((WIDE, 24)).columns, highlight=False)


def stderr() -> Console:
    """Return a console for messages and progress."""
    return Console(stderr=True, highlight=False)


def print_json(value: object) -> None:
    """Print a value as JSON, indented, in UTF-8.

    Args:
        value: Anything Pydantic can turn into JSON; what it cannot becomes text.
    """
    typer.echo(json.dumps(to_jsonable_python(value, fallback=str), ensure_ascii=False, indent=2))


def print_table(rows: Sequence[Mapping[str, object]], *, empty: str, one_line: bool = False) -> None:
    """Print rows as a table whose columns are the keys in the order of their first appearance.

    Args:
        rows: The rows.
        empty: What to say when there are none.
        one_line: Whether to cut what does not fit instead of wrapping it.
    """
    console = stdout()
    if not rows:
        console.print(Text(empty))
        return
    if one_line:
        _print_cut(console, rows)
        return
    cells = {column: [_cell(row.get(column)) for row in rows] for column in columns_of(rows)}
    texts = {column: [column, *(each.plain for each in told)] for column, told in cells.items()}
    if natural(texts.values()) > console.width:
        texts = {column: told for column, told in texts.items() if any(told[1:])}
    fitted = widths(texts.values(), width=console.width)
    if fitted is None:
        _print_blocks(console, rows)
        return
    table = Table(header_style="bold")
    for column, width in zip(texts, fitted, strict=True):
        table.add_column(column, overflow="fold", width=width)
    for at in range(len(rows)):
        table.add_row(*(_broken(cells[column][at], width) for column, width in zip(texts, fitted, strict=True)))
    console.print(table)


def _print_blocks(console: Console, rows: Sequence[Mapping[str, object]]) -> None:
    """Print rows below each other: the screen is so narrow that names would be torn in a table."""
    for row in rows:
        print_facts(row)
        console.print()


def _print_cut(console: Console, rows: Sequence[Mapping[str, object]]) -> None:
    """Print rows of one line: what is long is cut, and columns for which there is no room are named below."""
    columns = columns_of(rows)
    lines = [[_line(row.get(column)) for column in columns] for row in rows]
    widest = [max(len(column), *(len(line[at]) for line in lines)) for at, column in enumerate(columns)]
    count = _fitting(widest, width=console.width)
    table = Table(header_style="bold")
    for column, width in zip(columns[:count], widest, strict=False):
        # Short columns keep their width; the long ones share what is left.
        table.add_column(column, overflow="fold", no_wrap=width <= _SHORT)
    for line in lines:
        table.add_row(*line[:count])
    console.print(table)
    if count < len(columns):
        console.print(Text(f"Not shown here: {', '.join(columns[count:])}"))


def _fitting(widths: Sequence[int], *, width: int) -> int:
    """Count the columns that fit when long ones are cut to what is short."""
    ends = list(accumulate(min(each, _SHORT) + 3 for each in widths))
    return max(sum(end < width for end in ends), 1)


def print_facts(facts: Mapping[str, object]) -> None:
    """Print names and values, one a line; empty values are left out.

    Args:
        facts: The values by name.
    """
    shown = {name: value for name, value in facts.items() if cell(value)}
    width = max((len(name) for name in shown), default=0)
    console = stdout()
    for name, value in shown.items():
        console.print(Text.assemble((f"{name:<{width}}  ", "bold"), _cell(value)), soft_wrap=True)


def watched(items: Iterable[T], doing: str, *, total: int) -> Iterable[T]:
    """Let a bar show how far the work on items is, when there are many.

    Args:
        items: The items.
        doing: What is done with them.
        total: How many they are.
    """
    return track(items, doing, total=total, console=stderr(), transient=True) if total >= MANY else items


def say(text: str) -> None:
    """Print a message to stderr.

    Args:
        text: Plain text.
    """
    stderr().print(Text(plain(text)), soft_wrap=True)


def complain(error: StatewardError) -> None:
    """Print an error to stderr: what happened, where, and what to do.

    Args:
        error: The error.
    """
    console = stderr()
    parts = (("error", error.what, "bold red"), ("where", error.where, "bold"), ("fix", error.fix, "bold"))
    for name, text, style in parts:
        if text:
            console.print(Text.assemble((f"{name + ':':<7}", style), plain(text)), soft_wrap=True)


def columns_of(rows: Iterable[Mapping[str, object]]) -> list[str]:
    """List the keys of rows in the order of their first appearance.

    Args:
        rows: The rows.
    """
    return list(dict.fromkeys(key for row in rows for key in row))


def cell(value: object) -> str:
    """Write a value as one text, for a table or a CSV file.

    Args:
        value: A text, number, list or mapping.

    Returns:
        The text; lists are joined with `; `, mappings are JSON.
    """
    if value is None or value is False:
        return ""
    if value is True:
        return "yes"
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return json.dumps(to_jsonable_python(value, fallback=str), ensure_ascii=False) if value else ""
    if isinstance(value, list | tuple):
        return "; ".join(cell(each) for each in cast("Sequence[object]", value))
    return str(value)


def plain(text: str) -> str:
    """Take control codes out of a text, so that a message from outside cannot steer the terminal.

    Args:
        text: Any text.
    """
    return "".join(letter if letter.isprintable() or letter == "\n" else " " for letter in text)


def money(usd: float) -> str:
    """Write an amount of money.

    Args:
        usd: Dollars.

    Returns:
        At least cents, and as many digits as a small amount needs; empty for none.
    """
    if not usd:
        return ""
    return f"{usd:.2f}" if usd >= 0.1 else f"{usd:.6f}".rstrip("0")


def age(seconds: float) -> str:
    """Write how long ago something was.

    Args:
        seconds: From 0.

    Returns:
        The two largest units, such as `3 h 20 min`.
    """
    units = (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1))
    left, parts = max(int(seconds), 0), list[str]()
    for name, size in units:
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count} {name}")
    return " ".join(parts[:2]) or "0 s"


def moment(seconds: float) -> str:
    """Write a point in time.

    Args:
        seconds: Since the epoch.

    Returns:
        Date and time in UTC, to the second.
    """
    return datetime.fromtimestamp(seconds, UTC).isoformat(sep=" ", timespec="seconds")


def _cell(value: object) -> Text:
    text = plain(cell(value))
    return Text(text, style=_STYLES.get(text.partition(" ")[0], "") if isinstance(value, str) else "")


def _line(value: object) -> Text:
    told = _cell(value)
    return Text(" ".join(told.plain.split()), style=told.style, no_wrap=True, overflow="ellipsis")


def _broken(text: Text, width: int) -> Text:
    return Text(broken(text.plain, width=width), style=text.style)
