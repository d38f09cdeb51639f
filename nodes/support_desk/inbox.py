"""The inbox: customer messages from a JSONL or CSV file; a malformed row is a value, not an exception."""

from __future__ import annotations

import csv
import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import cast

from nodes.support_desk.facts import language_of
from stateward.errors import ConfigError, InputRefused

FIELDS = ("id", "customer", "name", "lang", "text", "received_at", "follows", "part")
"""The texts a message has; only `customer` and `text` must be there."""

REQUIRED = ("customer", "text")
MAX_TEXT = 20_000
"""The longest message, in characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One message."""

    line: int
    """Where it begins in the file, from 1."""
    id: str
    customer: str
    """The customer's e-mail address, in small letters."""
    text: str
    name: str = ""
    lang: str = "en"
    received_at: str = ""
    follows: str = ""
    """The id of the earlier message this one continues, or empty."""
    part: str = ""
    label: Mapping[str, object] = field(default_factory=dict[str, object])
    """What a person said about the message; empty when nobody did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BadRow:
    """A row that cannot be taken."""

    line: int
    reason: str


def read_inbox(file: Path, *, columns: Mapping[str, str] | None = None) -> Iterator[Row | BadRow]:
    """Read an inbox. The file is checked when this is called, the rows when they are asked for.

    Args:
        file: A `.jsonl` or `.csv` file, in UTF-8 with or without a byte order mark.
        columns: The file's own names for our fields, such as `{"text": "body"}`.

    Returns:
        The rows in the order of the file. Empty lines are passed over.

    Raises:
        ConfigError: `columns` maps to a field that does not exist, or the file's kind is unknown.
        InputRefused: The file is missing or empty, or a CSV file lacks a column it should have.
    """
    names = _names(columns or {})
    if not file.is_file():
        raise InputRefused(f"`{file}` is not a file", fix="Name an inbox: a .jsonl or .csv file.")
    raw = _raw_rows(file, names=names)
    first = next(raw, None)
    if first is None:
        raise InputRefused(f"`{file}` has no message", fix="Give it one line or more.")
    return _checked(itertools.chain((first,), raw), names=names)


def _names(columns: Mapping[str, str]) -> Mapping[str, str]:
    for ours, theirs in columns.items():
        if ours not in FIELDS:
            raise ConfigError(
                file="columns", key=ours, expected=f"one of {', '.join(FIELDS)}", given=f"{ours}={theirs}"
            )
    return {name: columns.get(name, name) for name in FIELDS}


_Raw = tuple[int, "Mapping[str, object] | str"]


def _raw_rows(file: Path, *, names: Mapping[str, str]) -> Iterator[_Raw]:
    suffix = file.suffix.lower()
    if suffix in (".jsonl", ".ndjson"):
        return _json_rows(file)
    if suffix == ".csv":
        header = _header(file)
        wanted = [names[name] for name in FIELDS if name in REQUIRED or names[name] != name]
        missing = [column for column in wanted if column not in header]
        if missing and header:
            raise InputRefused(
                f"`{file}` has no column {', '.join(f'`{column}`' for column in missing)}",
                fix=f"Its columns are {', '.join(header)}; map them, as in `text=body`.",
            )
        return _csv_rows(file)
    raise ConfigError(file=str(file), key="(suffix)", expected=".jsonl or .csv", given=file.suffix)


def _json_rows(file: Path) -> Iterator[_Raw]:
    with file.open("rb") as stream:
        for line, raw in enumerate(stream, 1):
            content = raw.removeprefix(b"\xef\xbb\xbf") if line == 1 else raw
            if content.strip():
                yield line, _json_row(content)


def _json_row(raw: bytes) -> Mapping[str, object] | str:
    try:
        data: object = json.loads(raw.decode("utf-8"))
    except UnicodeDecodeError:
        return "not UTF-8"
    except (ValueError, RecursionError) as error:
        return f"not JSON: {error}"
    return cast("dict[str, object]", data) if isinstance(data, dict) else "not a JSON object"


def _header(file: Path) -> list[str]:
    with file.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as stream:
        return [name.strip() for name in next(csv.reader(stream), list[str]())]


def _csv_rows(file: Path) -> Iterator[_Raw]:
    with file.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as stream:
        reader = csv.reader(stream)
        header = [name.strip() for name in next(reader, list[str]())]
        while True:
            line = reader.line_num + 1
            try:
                values = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield line, f"not CSV: {error}"
                continue
            if values:
                yield line, _csv_row(values, header=header)


def _csv_row(values: list[str], *, header: list[str]) -> Mapping[str, object] | str:
    if len(values) != len(header):
        return f"{len(values)} values for {len(header)} columns"
    return dict(zip(header, values, strict=True))


def _checked(raw: Iterator[_Raw], *, names: Mapping[str, str]) -> Iterator[Row | BadRow]:
    seen: set[str] = set()
    for line, data in raw:
        row = BadRow(line=line, reason=data) if isinstance(data, str) else _row(line, data=data, names=names)
        reason = _clash(row, seen=seen) if isinstance(row, Row) else ""
        if isinstance(row, Row) and not reason:
            seen.add(row.id)
        yield BadRow(line=line, reason=reason) if reason else row


def _clash(row: Row, *, seen: set[str]) -> str:
    if row.id in seen:
        return f"the id `{row.id}` stands on an earlier line too"
    if row.follows and row.follows not in seen:
        return f"it follows `{row.follows}`, which no earlier line has"
    return ""


def _row(line: int, *, data: Mapping[str, object], names: Mapping[str, str]) -> Row | BadRow:
    try:
        texts = {name: _text(data.get(names[name]), name=names[name]) for name in FIELDS}
        for name in REQUIRED:
            _require(texts[name], f"`{names[name]}` is missing or empty")
        _require(len(texts["text"]) <= MAX_TEXT, f"`{names['text']}` has more than {MAX_TEXT} characters")
        _require("@" in texts["customer"], f"`{names['customer']}` is not an e-mail address")
        _require(_is_id(texts["id"] or "-"), f"`{names['id']}` is longer than 100 characters or has blanks")
        _require(_is_time(texts["received_at"]), f"`{names['received_at']}` is not an ISO 8601 time")
        _require(isinstance(data.get("label", {}), dict), "`label` is not an object")
    except ValueError as error:
        return BadRow(line=line, reason=str(error))
    return Row(
        line=line,
        id=texts["id"] or f"line-{line}",
        customer=texts["customer"].lower(),
        text=texts["text"],
        name=texts["name"],
        lang=texts["lang"].lower()[:2] or language_of(texts["text"]),
        received_at=texts["received_at"],
        follows=texts["follows"],
        part=texts["part"],
        label=cast("dict[str, object]", data.get("label", {})),
    )


def _text(value: object, *, name: str) -> str:
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise ValueError(f"`{name}` is not a text")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(f"`{name}` is not UTF-8") from error
    return value.strip()


def _require(condition: object, reason: str) -> None:
    if not condition:
        raise ValueError(reason)


def _is_id(text: str) -> bool:
    return len(text) <= 100 and text.isprintable() and not any(c.isspace() for c in text)


def _is_time(text: str) -> bool:
    try:
        return not text or bool(datetime.fromisoformat(text))
    except ValueError:
        return False
