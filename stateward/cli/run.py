"""`stateward run`: a file of items through a job, or one input through one session."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from stateward.cli import options
from stateward.cli.display import progress
from stateward.cli.driving import drive_alone, run_until_stopped
from stateward.cli.job_run import Plan, Report, Row, Runner, count_failed, plan_job, refuse_unfinished
from stateward.cli.loading import Loaded, load
from stateward.cli.outcome import FAILING, exit_code, show_outcome
from stateward.cli.place import checked_drift
from stateward.cli.rendering import cell, columns_of, print_facts, print_json, print_table, say
from stateward.cli.stop import EXIT_STOPPED, Stop, Stopped
from stateward.cli.values import CONVERSATION
from stateward.errors import ConfigError, DefinitionError, InputRefused
from stateward.job import Job
from stateward.migration import keep
from stateward.opening import open_database
from stateward.run.conversation import OnDrift
from stateward.run.events.event import StreamEvent
from stateward.run.events.form import to_json
from stateward.run.invocation import new_id
from stateward.run.session import Session
from stateward.run.store.backend import MEMORY
from stateward.run.store.database import Database

_HELP = """Run a chart on a file of items, or on one input.

A graph with a job reads INPUT as a file: each message becomes a session,
follow-ups go to the session of the message they follow, and many sessions
run at once. Without a job, or when INPUT is JSON or @FILE.json, INPUT is
the input of one session.

Examples:

  stateward run support_desk samples/inbox.jsonl --out tickets.csv
  stateward run support_desk inbox.csv --map text=body --map id=ticket_no
  stateward run support_desk inbox.csv policy.fuses.usd=0.2
  stateward run support_desk inbox.csv --resume
  stateward run support_desk inbox.csv --resume --drift keep
  stateward run react '{"messages": "What is (2 + 3) * 4?"}' --session q1
  stateward run react '{"messages": "What is (2 + 3) * 4?"}' --events

Stopped or killed, it loses nothing: run it again with --resume. Without
--resume, sessions that ended or wait are shown as they are, and unfinished
ones stop the command before anything runs.

Exit codes: 0 done; 1 a bad row, a failed or halted session; 2 refused;
130 stopped.
"""


_REMARKS = ("error", "note")
"""What is told below the table and not in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Order:
    """What was asked for on the command line."""

    graph: str
    given: str
    overrides: tuple[str, ...]
    out: Path | None
    resume: bool
    concurrency: int
    columns: Mapping[str, str]
    session: str | None
    drift: OnDrift
    events: bool
    db: str
    as_json: bool

    @property
    def again(self) -> str:
        """The command that goes on with this one."""
        words = ["run", self.graph, self.given, *self.overrides, "--resume"]
        if self.out is not None:
            words += ["--out", str(self.out)]
        if self.session is not None:
            words += ["--session", self.session]
        for ours, theirs in self.columns.items():
            words += ["--map", f"{ours}={theirs}"]
        words += ["--concurrency", str(self.concurrency)] if self.concurrency != 8 else []
        words += ["--drift", self.drift] if self.drift != "refuse" else []
        words += ["--events"] if self.events else []
        return options.again(*words, *(["--json"] if self.as_json else []), db=self.db)


def add_to(app: typer.Typer) -> None:
    """Add the command.

    Args:
        app: The application.
    """
    app.command("run", help=_HELP)(_run)


def _run(
    graph: options.Graph,
    given: Annotated[
        str,
        typer.Argument(metavar="INPUT", help="A file for the graph's job; or JSON, or @FILE.json.", show_default=False),
    ],
    overrides: Annotated[
        list[str] | None,
        typer.Argument(metavar="KEY=VALUE", help="Dotted overrides of the configuration.", show_default=False),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write the table as CSV.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Finish what an earlier run left unfinished.")] = False,
    concurrency: Annotated[int, typer.Option("--concurrency", metavar="N", min=1, help="Sessions at once.")] = 8,
    mapping: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="NAME=COLUMN", help="The file's column for one of the job's names; repeatable."),
    ] = None,
    session: Annotated[
        str | None, typer.Option("--session", metavar="ID", help="The id of the one session; a new one by default.")
    ] = None,
    drift: options.Drift = "refuse",
    events: Annotated[
        bool, typer.Option("--events", help="Print what happens as JSON lines, while it happens; of one session.")
    ] = False,
    db: options.Db = options.DEFAULT_DB,
    as_json: options.AsJson = False,
) -> None:
    if out is not None:
        _refuse_unwritable(out)
    order = _Order(
        graph=graph,
        given=given,
        overrides=tuple(overrides or ()),
        out=out,
        resume=resume,
        concurrency=concurrency,
        columns=dict(_pair(text) for text in mapping or ()),
        session=session,
        drift=checked_drift(drift),
        events=events,
        db=db,
        as_json=as_json,
    )
    loaded = load(order.graph, overrides=order.overrides)
    inline = order.given.lstrip().startswith(("{", "@"))
    job = None if inline else loaded.job()
    if not inline and job is None:
        raise InputRefused(
            f"Graph `{order.graph}` has no job, and `{order.given}` is no inline input",
            fix=_own_input(loaded),
        )
    _refuse_misplaced(order, many=job is not None)
    with open_database(order.db) as database:
        code = _one(order, loaded, database) if job is None else _all(order, job, loaded=loaded, database=database)
    raise typer.Exit(code)


def _refuse_misplaced(order: _Order, *, many: bool) -> None:
    """Refuse an option that would do nothing here."""
    of_one, of_many = (
        {"--session": order.session, "--events": order.events},
        {"--out": order.out, "--map": order.columns},
    )
    for option in (name for name, value in (of_one if many else of_many).items() if value):
        if many:
            what, fix = "one session, and a file of items has many", "Give JSON, or @FILE.json, as the input."
        else:
            what, fix = "a file of items, and this is the input of one session", "Leave it out; `--json` prints all."
        raise InputRefused(f"`{option}` is for {what}", where=option, fix=fix)


def _own_input(loaded: Loaded) -> str:
    """Say how an input of this graph looks: it gives the conversation, where there is one."""
    keys = sorted(loaded.graph.machine.schema.channels)
    first = CONVERSATION if CONVERSATION in keys else next(iter(keys), "key")
    return f"Give JSON such as '{{\"{first}\": …}}', or @FILE.json. Its keys: {', '.join(keys)}."


def _pair(text: str) -> tuple[str, str]:
    ours, equals, theirs = text.partition("=")
    if not (ours and equals and theirs):
        raise ConfigError(file="--map", key=text, expected="NAME=COLUMN, such as text=body", given=text)
    return ours, theirs


def _one(order: _Order, loaded: Loaded, database: Database) -> int:
    attached, user = loaded.graph.attach(database), options.person(None)
    session = Session(order.session or new_id("session"), attached, database, user=user, drift=order.drift)
    going_on = order.resume and session.outcome().status == "running"
    session = keep(session) if order.drift == "keep" else session
    try:
        given = None if going_on else _inline(order.given)
        driven = drive_alone(session, given, tell=_print_event if order.events else None)
    except Stopped:
        graph = None if order.graph == session.graph.machine.name else order.graph
        later = options.again_with(session.id, overrides=order.overrides, db=order.db, graph=graph, drift=order.drift)
        say("Stopped.")
        _say_how_to_go_on(later, db=order.db)
        return EXIT_STOPPED
    if order.events:  # the last of them says where the session stands
        return exit_code(driven)
    return show_outcome(driven, as_json=order.as_json)


def _print_event(event: StreamEvent) -> None:
    typer.echo(json.dumps(to_json(event), ensure_ascii=False))


def _inline(text: str) -> Mapping[str, Any]:
    source = text.strip()
    try:
        content: object = json.loads(Path(source[1:]).read_text(encoding="utf-8") if source[0] == "@" else source)
    except OSError as error:
        what = f"The input cannot be read: {error.strerror}"
        raise InputRefused(what, where=source[1:], fix="Behind `@` stands the name of a file with JSON.") from error
    except ValueError as error:
        fix = "Put it in single quotes, so that the shell leaves it as it is, or into a file: @FILE.json."
        raise InputRefused(f"The input is not JSON: {error}", where="INPUT", fix=fix) from error
    if not isinstance(content, Mapping):
        raise InputRefused("The input is not a JSON object", where="INPUT", fix="Give the state's keys as an object.")
    return cast("Mapping[str, Any]", content)


def _all(order: _Order, job: Job[Any], *, loaded: Loaded, database: Database) -> int:
    _refuse_columns(order.columns, job)
    plan = plan_job(job, job.read(Path(order.given), columns=order.columns), database=database)
    if not order.resume:
        refuse_unfinished(plan, advice=order.again)
    report = _work(order, plan, job=job, loaded=loaded, database=database)
    for bad in plan.bad:
        say(f"line {bad.line}: {bad.reason}")
    if report.stopped:
        return _stopped(order, report, plan=plan)
    _show(order, plan, rows=report.table, summary=job.summary(report.table))
    return 1 if plan.bad or count_failed(report.table) else 0


def _refuse_columns(columns: Mapping[str, str], job: Job[Any]) -> None:
    for ours, theirs in columns.items():
        if ours not in job.columns:
            known = f"one of {', '.join(job.columns)}"
            raise ConfigError(file="--map", key=ours, expected=known, given=f"{ours}={theirs}")


def _work(order: _Order, plan: Plan, *, job: Job[Any], loaded: Loaded, database: Database) -> Report:
    graph, report = loaded.graph.attach(database), Report()

    async def work(stop: Stop) -> Report:
        with progress(len(plan.batches)) as display:
            runner = Runner(
                graph=graph,
                database=database,
                job=job,
                resume=order.resume,
                drift=order.drift,
                display=display,
                stop=stop,
                report=report,
            )
            return await runner.run(plan, concurrency=order.concurrency)

    try:
        return run_until_stopped(work)
    except Stopped:
        report.stopped = True
        return report


def _stopped(order: _Order, report: Report, *, plan: Plan) -> int:
    total = len(plan.batches)
    middle, rest = report.begun - report.done, total - report.begun
    say(f"Stopped: {report.done} of {total} sessions done, {middle} in the middle, {rest} not begun.")
    _say_how_to_go_on(order.again, db=order.db)
    return EXIT_STOPPED


def _say_how_to_go_on(command: str, *, db: str) -> None:
    in_memory = "The database was in memory, so nothing is left of it."
    say(in_memory if db == MEMORY else f"Nothing is lost; go on with:\n  {command}")


def _show(order: _Order, plan: Plan, *, rows: Sequence[Row], summary: Mapping[str, object]) -> None:
    if order.out is not None:
        _write_csv(order.out, rows)
        say(f"Wrote {len(rows)} rows to {order.out}.")
    if order.as_json:
        bad = [{"line": row.line, "reason": row.reason} for row in plan.bad]
        print_json({"rows": rows, "summary": summary, "bad_rows": bad})
        return
    shown = [{key: value for key, value in row.items() if key not in _REMARKS} for row in rows]
    print_table(shown, empty="No items.", one_line=True)
    failed = count_failed(rows)
    print_facts({**summary, "bad rows": len(plan.bad) or "", " or ".join(FAILING): failed or ""})
    for row in rows:
        for remark in filter(None, map(row.get, _REMARKS)):
            say(f"{row.get('id', '')}: {remark}")
    if any(row.get("status") == "waiting" for row in rows):
        say("Some sessions wait: `stateward inbox` lists the asks, `stateward sessions --status waiting` all of them.")


def _write_csv(file: Path, rows: Sequence[Row]) -> None:
    columns = columns_of(rows)
    beside = file.with_name(f"{file.name}.part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(columns)
            writer.writerows([cell(row.get(column)) for column in columns] for row in rows)
        beside.replace(file)
    except OSError as error:
        raise _unwritable(file, error.strerror) from error


def _refuse_unwritable(file: Path) -> None:
    """Refuse before anything runs what could not be written in the end."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(file, error.strerror) from error
    if file.is_dir() or not os.access(file.parent, os.W_OK):
        raise _unwritable(file, "Is a directory" if file.is_dir() else "Permission denied")


def _unwritable(file: Path, reason: str | None) -> DefinitionError:
    what = f"The table cannot be written: {reason}"
    return DefinitionError(what, where=str(file), fix="Name another file with `--out`.")
