"""`stateward migrate`: sessions that began under an older definition go on under the one at hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from langchain_core.runnables import RunnableConfig

from stateward.cli import options
from stateward.cli.declaration import read_declaration
from stateward.cli.loading import AnyGraph, load, load_around
from stateward.cli.pairs import json_values, pairs
from stateward.cli.place import find_session, open_existing
from stateward.cli.rendering import print_facts, print_json, print_table, say, watched
from stateward.errors import InputRefused, SessionBusy
from stateward.migration import Line, Migration, Report, adopt, adopt_nodes
from stateward.run.checkpoint import TERMINAL, Pins
from stateward.run.migration import told
from stateward.run.session import Session
from stateward.run.store.database import Database
from stateward.run.store.session_row import SessionRow

EXIT_BLOCKED = 1
_HELP = """Let a session that began under an older chart, policy or schema go on
under the one at hand.

What was renamed is declared; what keeps its name needs no word. With
--dry-run nothing is changed: the report says what becomes of each part and
what is still to be declared. Exit code 1 when something is. See
docs/migration.md.

Of a LangGraph graph that has charts as its nodes, SESSION is a thread and
--graph the graph: each chart inside that has not ended is migrated.

Examples:

  stateward migrate inbox-001 --dry-run
  stateward migrate inbox-001 --state WORK.ACT=WORK.DO --key question=query
  stateward migrate --all --graph support_desk --file renamed.yaml --by ann
"""


def add_to(app: typer.Typer) -> None:
    """Add the command.

    Args:
        app: The application.
    """
    app.command("migrate", help=_HELP)(_migrate)


def _migrate(  # one argument an option
    session: Annotated[str | None, typer.Argument(metavar="SESSION", help="Its id.", show_default=False)] = None,
    every: Annotated[bool, typer.Option("--all", help="Every session of --graph under an older definition.")] = False,
    states: Annotated[
        list[str] | None, typer.Option("--state", metavar="OLD=NEW", help="A state's path; `OLD=` if it is gone.")
    ] = None,
    keys: Annotated[
        list[str] | None, typer.Option("--key", metavar="OLD=NEW", help="A key; `OLD=` leaves its value behind.")
    ] = None,
    events: Annotated[
        list[str] | None, typer.Option("--event", metavar="OLD=NEW", help="A pending event; `OLD=` forgets it.")
    ] = None,
    values: Annotated[
        list[str] | None, typer.Option("--value", metavar="KEY=JSON", help="A value for a key of the new schema.")
    ] = None,
    withdraw: Annotated[
        list[str] | None, typer.Option("--withdraw", metavar="TOOL", help="Take back open questions about a tool.")
    ] = None,
    file: Annotated[Path | None, typer.Option("--file", help="A YAML file that declares it.", dir_okay=False)] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Change nothing; say what would be.")] = False,
    by: options.By = None,
    graph: options.GraphOfSession = None,
    overrides: options.Overrides = None,
    db: options.Db = options.DEFAULT_DB,
    as_json: options.AsJson = False,
) -> None:
    declared = read_declaration(file)
    migration = Migration(
        states={**declared.states, **_names(states, option="--state")},
        keys={**declared.keys, **_names(keys, option="--key")},
        events={**declared.events, **_names(events, option="--event")},
        values={**declared.values, **json_values(values or (), option="--value")},
        withdraw=frozenset({*declared.withdraw, *(withdraw or ())}),
    )
    with open_existing(db) as database:
        who = options.person(by)
        around = None if graph is None else load_around(graph, overrides=overrides or ())
        if around is not None:
            reports = _inside(around, session, migration, by=who, dry_run=dry_run, database=database)
        else:
            found = _sessions(database, session, every=every, graph=graph, overrides=overrides or ())
            reports = [
                _one(each, migration, by=who, dry_run=dry_run) for each in watched(found, "Migrating", total=len(found))
            ]
    _tell(reports, dry_run=dry_run, as_json=as_json)
    if any(report.blocking for report in reports):
        raise typer.Exit(EXIT_BLOCKED)


def _sessions(
    database: Database, session: str | None, *, every: bool, graph: str | None, overrides: Sequence[str]
) -> list[Session]:
    if every == (session is not None):
        raise InputRefused("It is not said which sessions are meant", fix="Give a SESSION, or --all with --graph.")
    if session is not None:
        return [find_session(session, database=database, graph=graph, overrides=overrides)]
    if graph is None:
        raise InputRefused("--all needs the graph whose sessions are meant", fix="Name it with --graph.")
    attached = load(graph, overrides=overrides).graph.attach(database)
    rows = [row for row in database.sessions.list() if row.run and row.graph == attached.machine.name]
    return [Session(row.id, attached, database) for row in rows if _is_older(row, attached.machine.pins)]


def _inside(
    graph: AnyGraph, session: str | None, migration: Migration, *, by: str, dry_run: bool, database: Database
) -> list[Report]:
    if session is None:
        raise InputRefused(
            f"`{graph.name}` is a graph with charts inside, whose sessions nobody lists", fix="Name the SESSION."
        )
    config: RunnableConfig = {"configurable": {"thread_id": session}}
    planned = adopt_nodes(graph, config, migration, by=by, dry_run=True, database=database)
    if dry_run or any(report.blocking for report in planned):
        return list(planned)
    return list(adopt_nodes(graph, config, migration, by=by, database=database))


def _is_older(row: SessionRow, pins: Pins) -> bool:
    pinned = Pins(chart=row.chart_hash, policy=row.policy_hash, schema=row.schema_hash, mode=row.mode)
    return pinned != pins and (row.status not in TERMINAL or row.status == "halted")


def _one(session: Session, migration: Migration, *, by: str, dry_run: bool) -> Report:
    """Look first: then a session that is blocked is told whole, and the others are migrated all the same."""
    planned = adopt(session, migration, by=by, dry_run=True)
    if dry_run or planned.blocking or planned.note:
        return planned
    try:
        return adopt(session, migration, by=by)
    except SessionBusy as busy:
        return _blocked(planned, str(busy))


def _names(words: Iterable[str] | None, *, option: str) -> dict[str, str | None]:
    return {old: new or None for old, new in pairs(words or (), option=option, form="OLD=NEW")}


def _blocked(report: Report, why: str) -> Report:
    line = Line(kind="migration", name=report.session, note=why, blocks=True)
    return replace(report, lines=(*report.lines, line))


def _tell(reports: Sequence[Report], *, dry_run: bool, as_json: bool) -> None:
    if as_json:
        print_json({"dry_run": dry_run, "sessions": [report_json(report) for report in reports]})
        return
    several = len(reports) > 1 or any(report.node for report in reports)
    print_table([row for report in reports for row in _rows(report, several=several)], empty="Nothing to migrate.")
    counts = Counter(report.status_word for report in reports)
    print_facts({word: counts[word] for word in ("migrated", "ready", "blocked", "nothing to do")})
    for report in reports:
        if report.note:
            say(f"{_named(report)}: {report.note}")


def _named(report: Report) -> str:
    return f"{report.session}, node {report.node}" if report.node else report.session


def _rows(report: Report, *, several: bool) -> list[dict[str, object]]:
    about: dict[str, object] = {"session": _named(report)} if several else {}
    parts = [] if report.before is None or report.note else _hashes(report.before, report.after)
    lines = [
        {
            "part": line.kind,
            "before": line.name,
            "after": "blocked" if line.blocks else line.to or "(left behind)",
            "note": line.note,
        }
        for line in report.lines
    ]
    return [{**about, **row} for row in (*parts, *lines)]


def _hashes(before: Pins, after: Pins) -> list[dict[str, object]]:
    old, new = told(before), told(after)
    return [
        {"part": part, "before": old[part][:12], "after": new[part][:12], "note": "changed"}
        for part in old
        if old[part] != new[part]
    ]


def report_json(report: Report) -> dict[str, object]:
    """Return a report as the command line's JSON tells it.

    Args:
        report: The report.
    """
    before = report.before
    return {
        "session": report.session,
        "node": report.node,
        "run": report.run,
        "status": report.status,
        "result": report.status_word,
        "note": report.note,
        "checkpoint": report.checkpoint,
        "before": None if before is None else told(before),
        "after": told(report.after),
        "lines": [
            {"part": line.kind, "before": line.name, "after": line.to, "note": line.note, "blocks": line.blocks}
            for line in report.lines
        ],
    }
