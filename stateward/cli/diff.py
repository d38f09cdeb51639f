"""`stateward diff`: what lies between two steps of a session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

import typer

from stateward.cli import options
from stateward.cli.history import call_json
from stateward.cli.place import opened_session
from stateward.cli.rendering import money, print_facts, print_json, print_table
from stateward.cli.step import BranchName, step_of, timeline_of
from stateward.run.difference import Change, Difference
from stateward.run.moment import Moment
from stateward.run.store.entry import Entry

_HELP = """Show what lies between two steps of a session.

State keys that differ, where the chart stood, what histories remember, the
calls made on the way to B and not on the way to A, and what they cost. A
and B are numbers of steps of the branch, or ids of checkpoints: those may
be on two branches.

Examples:

  stateward diff inbox-001 2 5
  stateward diff inbox-001 2 5 --branch main --json
"""


def add_to(app: typer.Typer) -> None:
    """Add the command.

    Args:
        app: The application.
    """
    app.command("diff", help=_HELP)(_diff)


def _diff(
    session: options.SessionId,
    before: Annotated[str, typer.Argument(metavar="A", help="One step.", show_default=False)],
    after: Annotated[str, typer.Argument(metavar="B", help="The other.", show_default=False)],
    branch: BranchName = None,
    graph: options.GraphOfSession = None,
    overrides: options.Overrides = None,
    db: options.Db = options.DEFAULT_DB,
    as_json: options.AsJson = False,
) -> None:
    with opened_session(session, db=db, graph=graph, overrides=overrides) as found:
        difference = timeline_of(found, branch=branch).diff(step_of(before), step_of(after))
    if as_json:
        print_json(difference_json(difference))
        return
    print_table(list(_lines(difference)), empty="The state is the same, and so is where the chart stands.")
    total = {"tokens": difference.tokens or "", "usd": money(difference.usd)}
    print_facts({"calls": _calls(difference.calls), "calls on A's way only": _calls(difference.others), **total})


def _lines(difference: Difference) -> Iterator[dict[str, object]]:
    for name, change in (("(states)", difference.path), ("(status)", difference.status)):
        if change is not None:
            yield _line(name, change)
    for name, change in difference.history.items():
        yield _line(f"(history of {name})", change)
    for name, change in difference.values.items():
        yield _line(name, change)


def _line(what: str, change: Change) -> dict[str, object]:
    return {"what": what, "before": change.before, "after": change.after}


def _calls(calls: Sequence[Entry]) -> str:
    return ", ".join(f"{call.name} {call.status}" for call in calls)


def difference_json(difference: Difference) -> dict[str, object]:
    """Return a difference as the command line's JSON tells it.

    Args:
        difference: What lies between two steps.
    """
    return {
        "before": _place(difference.before),
        "after": _place(difference.after),
        "values": _changes(difference.values),
        "path": _change(difference.path),
        "status": _change(difference.status),
        "history": _changes(difference.history),
        "calls": [call_json(call) for call in difference.calls],
        "calls_before_only": [call_json(call) for call in difference.others],
        "tokens": difference.tokens,
        "usd": difference.usd,
    }


def _place(moment: Moment) -> dict[str, object]:
    return {"step": moment.step, "checkpoint": moment.checkpoint, "branch": moment.branch}


def _change(change: Change | None) -> dict[str, object] | None:
    return None if change is None else {"before": change.before, "after": change.after}


def _changes(changes: Mapping[str, Change]) -> dict[str, object]:
    return {name: _change(change) for name, change in changes.items()}
