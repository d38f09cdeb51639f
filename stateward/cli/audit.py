"""`stateward audit`: read the audit log, verify its chain, and take its head or all of it elsewhere."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from stateward.cli import options
from stateward.cli.place import open_existing
from stateward.cli.rendering import complain, print_facts, print_json, print_table, say, watched
from stateward.errors import CheckpointError, InputRefused
from stateward.govern.audit import read_head
from stateward.run.store.audit_log import AuditRow
from stateward.run.store.database import Database

EXIT_BROKEN = 1
_HELP = """Read the audit log, or verify that nobody changed it.

With --verify every row is checked against the one before it: the exit code
is 1 when one was changed, removed, moved or put in between. A tail that was
cut off is found by a head that was kept elsewhere. STATEWARD_AUDIT_KEY
chains the log with a key, so that it cannot be written anew without it.

Examples:

  stateward audit --session inbox-001 --event denied --event revoked
  stateward audit --head > elsewhere/audit.head
  stateward audit --verify --head "$(cat elsewhere/audit.head)"
  stateward audit --export audit.jsonl --since 2026-11-01
"""
_PLACE = ("session", "run", "branch", "path", "activation", "call", "at", "event")


def add_to(app: typer.Typer) -> None:
    """Add the command.

    Args:
        app: The application.
    """
    app.command("audit", help=_HELP)(_audit)


def _audit(
    kept: Annotated[
        str | None,
        typer.Argument(metavar="SEQ:HASH", help="With --verify --head: a head that was kept.", show_default=False),
    ] = None,
    verify: Annotated[bool, typer.Option("--verify", help="Check the chain; exit code 1 when it breaks.")] = False,
    head: Annotated[bool, typer.Option("--head", help="Print the end of the log, to keep it elsewhere.")] = False,
    export: Annotated[
        Path | None, typer.Option("--export", metavar="FILE", help="Write the rows as JSON lines.", dir_okay=False)
    ] = None,
    session: Annotated[str | None, typer.Option("--session", metavar="ID", help="Only of this session.")] = None,
    events: Annotated[
        list[str] | None, typer.Option("--event", metavar="NAME", help="Only of this kind; may be repeated.")
    ] = None,
    since: Annotated[str | None, typer.Option("--since", metavar="TIME", help="Only from then on, ISO 8601.")] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="TIME", help="Only before then, ISO 8601.")] = None,
    last: Annotated[int, typer.Option("--last", metavar="N", min=1, help="List so many of the newest rows.")] = 50,
    db: options.Db = options.DEFAULT_DB,
    as_json: options.AsJson = False,
) -> None:
    if kept is not None and not (verify and head):
        raise InputRefused(
            "A head is compared with the log", where="stateward audit", fix="Write `--verify --head SEQ:HASH`."
        )
    _refuse_filters(
        "--verify" if verify else "--head" if head else "",
        {"--session": session, "--event": events, "--since": since, "--until": until, "--export": export},
    )
    with open_existing(db) as database:
        if verify:
            _verify(database, kept, as_json=as_json)
            return
        if head:
            _tell({"head": str(database.audit.head())}, as_json=as_json, bare=True)
            return
        found = database.audit.read(session, events=events or (), since=_time(since), until=_time(until))
        if export is not None:
            _tell({"file": str(export), "rows": _export(database, found, session, export)}, as_json=as_json)
            return
        _list(found, last=last, as_json=as_json)


def _refuse_filters(of_all: str, given: Mapping[str, object]) -> None:
    """The chain is one over all rows: a part of it proves nothing, and would read as if it had been looked at alone."""
    named = [word for word, value in given.items() if value]
    if of_all and named:
        raise InputRefused(
            f"`{of_all}` is of the whole log, and {', '.join(f'`{word}`' for word in named)} of a part of it",
            where="stateward audit",
            fix=f"Leave {'it' if len(named) == 1 else 'them'} out, or leave out `{of_all}`.",
        )


def _verify(database: Database, kept: str | None, *, as_json: bool) -> None:
    head = None if kept is None else read_head(kept)
    try:
        rows = database.audit.verify(head=head)
    except CheckpointError as broken:
        if as_json:
            print_json({"holds": False, "rows": None, "head": None, "broken": broken.what})
        else:
            complain(broken)
        raise typer.Exit(EXIT_BROKEN) from None
    told = {"holds": True, "rows": rows, "head": str(database.audit.head())}
    _tell({**told, "broken": None}, as_json=as_json)


def _export(database: Database, rows: Iterable[AuditRow], session: str | None, file: Path) -> int:
    written = 0
    try:
        with file.open("x", encoding="utf-8") as lines:
            for row in watched(rows, "Exporting", total=database.audit.count(session)):
                lines.write(json.dumps(_row_json(row), ensure_ascii=False, separators=(",", ":")) + "\n")
                written += 1
    except OSError as error:
        raise InputRefused(
            f"The file cannot be written: {error.strerror or error}", where=f"`{file}`", fix="Name a new file."
        ) from error
    return written


def _list(rows: Iterable[AuditRow], *, last: int, as_json: bool) -> None:
    newest: deque[AuditRow] = deque(maxlen=last)
    count = 0
    for row in rows:
        newest.append(row)
        count += 1
    if as_json:
        print_json([_row_json(row) for row in newest])
    else:
        print_table([_line(row) for row in newest], empty="No records.")
    if count > len(newest):
        say(f"{count - len(newest)} older rows are not shown; `--last {count}` shows them, `--export` writes all.")


def _line(row: AuditRow) -> dict[str, object]:
    record = row.record
    rest = {key: value for key, value in record.items() if key not in _PLACE}
    at, state = str(record.get("at", ""))[:19], record.get("path", "")
    return {
        "seq": row.seq,
        "at": at,
        "session": row.session,
        "state": state,
        "event": record.get("event"),
        "about": rest,
    }


def _row_json(row: AuditRow) -> dict[str, object]:
    told: dict[str, object] = {"seq": row.seq, "record": dict(row.record), "previous": row.previous, "hash": row.hash}
    return told | ({"sealed": row.text} if not row.text.startswith("{") else {})


def _time(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        given = datetime.fromisoformat(text)
    except ValueError as error:
        raise InputRefused(
            f"`{text}` is no time", fix="Write it as 2026-11-30 or 2026-11-30T12:00:00+01:00."
        ) from error
    return (given if given.tzinfo else given.replace(tzinfo=UTC)).timestamp()


def _tell(facts: dict[str, object], *, as_json: bool, bare: bool = False) -> None:
    if as_json:
        print_json(facts)
    elif bare:
        typer.echo(next(iter(facts.values())))
    else:
        print_facts(facts)
