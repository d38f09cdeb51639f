"""`stateward history`: what happened in a session, step by step."""

from __future__ import annotations

import typer

from stateward.chart.tables import ACTIVITY_DONE
from stateward.cli import options
from stateward.cli.place import opened_session
from stateward.cli.rendering import cell, money, print_facts, print_json, print_table
from stateward.cli.sessions import session_json
from stateward.cli.standing import standings
from stateward.cli.step import BranchName
from stateward.run.store.entry import Entry
from stateward.run.timeline import TimelineRow, timeline

_HELP = """Show what happened in a session, step by step.

State, event, transitions, guards, changed keys, calls and cost. Calls that
led to no checkpoint yet, because the process died or is still at work,
stand at the end as (not committed). A session that was forked shows the
branch it is on, from the beginning; --branch shows another one.

Examples:

  stateward history inbox-001
  stateward history inbox-001 --branch main --json
"""


def add_to(app: typer.Typer) -> None:
    """Add the command.

    Args:
        app: The application.
    """
    app.command("history", help=_HELP)(_history)


def _history(
    session: options.SessionId,
    branch: BranchName = None,
    graph: options.GraphOfSession = None,
    overrides: options.Overrides = None,
    db: options.Db = options.DEFAULT_DB,
    as_json: options.AsJson = False,
) -> None:
    with opened_session(session, db=db, graph=graph, overrides=overrides) as found:
        row = found.database.sessions.get(session)
        steps = timeline(found.graph, database=found.database, session=session, branch=branch)
        state = standings([row], database=found.database)[row.id]
    if as_json:
        print_json({"session": session_json(row), "steps": [step_json(step) for step in steps]})
        return
    forked = len({step.branch for step in steps}) > 1
    print_table(_filled([_line(step, forked=forked) for step in steps]), empty="Nothing happened yet.")
    total = {"turns": row.turns, "tokens": row.tokens, "usd": money(row.usd)}
    print_facts({"session": row.id, "status": row.status, "state": state, **total})


def _line(step: TimelineRow, *, forked: bool) -> dict[str, object]:
    return {
        "step": "" if step.step is None else step.step,
        "branch": step.branch if forked else "",
        "run": step.run_no,
        "state": step.state,
        "event": "done" if step.event == f"{ACTIVITY_DONE}{step.state}" else step.event,
        "transitions": [arrow.removeprefix(f"{step.state} ") for arrow in step.taken],
        "guards": [
            f"{verdict.guard.rpartition('.')[2]} {'yes' if verdict.passed else 'no'}" for verdict in step.verdicts
        ],
        "changed": ", ".join(step.changed),
        "calls": [call_text(call) for call in step.calls],
        "tokens": step.tokens or "",
        "usd": money(step.usd),
        "then": step.status,
    }


def call_text(call: Entry) -> str:
    """Say how a call ended, who answered in the place of its role, and what it spent beyond what it had reserved.

    Args:
        call: Its entry in the journal.
    """
    answered = call.answered_by
    parts = [f"{call.name} {call.status}"]
    parts += [f"answered by {answered}"] if answered not in ("", call.name) else []
    parts += [f"{excess:g} {unit} over its bound" for unit, excess in call.overrun.items()]
    return ", ".join(parts)


def _filled(lines: list[dict[str, object]]) -> list[dict[str, object]]:
    """Leave out the columns that are empty in all lines."""
    used = {name for line in lines for name, value in line.items() if cell(value)}
    return [{name: value for name, value in line.items() if name in used} for line in lines]


def step_json(step: TimelineRow) -> dict[str, object]:
    """Return a step as the command line's JSON tells it.

    Args:
        step: A row of the timeline.
    """
    return {
        "step": step.step,
        "checkpoint": step.checkpoint,
        "at": step.at_s,
        "run": step.run,
        "run_no": step.run_no,
        "branch": step.branch,
        "state": step.state,
        "activation": step.activation,
        "event": step.event,
        "transitions": list(step.taken),
        "verdicts": [{"guard": verdict.guard, "passed": verdict.passed} for verdict in step.verdicts],
        "changed": list(step.changed),
        "status": step.status,
        "path": list(step.path),
        "turns": step.turns,
        "tokens": step.tokens,
        "usd": step.usd,
        "calls": [call_json(call) for call in step.calls],
    }


def call_json(call: Entry) -> dict[str, object]:
    """Return a call as the command line's JSON tells it.

    Args:
        call: Its entry in the journal.
    """
    told: dict[str, object] = {
        "call": call.key.call,
        "kind": call.kind,
        "name": call.name,
        "status": call.status,
        "tries": call.tries,
        "tokens": call.tokens_in + call.tokens_out,
        "usd": call.usd,
    }
    if call.overrun:
        told["overrun"] = dict(call.overrun)
    if call.prompts:
        told["prompts"] = [dict(each) for each in call.prompts]
    if call.attempts:
        told.update({"answered_by": call.answered_by, "attempts": list(call.attempts)})
    return told
