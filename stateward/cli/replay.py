"""`stateward replay`: play the recorded runs of a session again, and tell where they differ."""

from __future__ import annotations

from typing import Annotated

import typer

from stateward.cli import options
from stateward.cli.place import opened_session
from stateward.cli.rendering import plain, print_json, print_table, stdout
from stateward.replay import Divergence, Replayed, replay

_HELP = """Play the recorded runs of a session again, offline.

The chart as it is now is given the inputs, events and answers of the record;
tools and models are answered from the journal, and none is called. Transitions,
guards, decisions and state are compared step by step, up to the first
difference. Nothing in the database is changed.

Exit code 0 when all is the same, 1 when a run differs.

Examples:

  stateward replay inbox-001
  stateward replay inbox-001 --run 2 --json
"""

EXIT_DIFFERS = 1

Run = Annotated[int | None, typer.Option("--run", metavar="N", help="Only the run of this number, from 1.")]


def add_to(app: typer.Typer) -> None:
    """Add the command.

    Args:
        app: The application.
    """
    app.command("replay", help=_HELP)(_replay)


def _replay(
    session: options.SessionId,
    run: Run = None,
    graph: options.GraphOfSession = None,
    overrides: options.Overrides = None,
    db: options.Db = options.DEFAULT_DB,
    as_json: options.AsJson = False,
) -> None:
    with opened_session(session, db=db, graph=graph, overrides=overrides) as found:
        played = replay(found, run=run)
    if as_json:
        print_json({"session": session, "runs": [replayed_json(one) for one in played]})
    else:
        print_table([_line(one) for one in played], empty="There is no run to play.")
        for one in played:
            if one.divergence is not None:
                stdout().print(plain(str(one.divergence)), markup=False)
    if not all(one.same for one in played):
        raise typer.Exit(EXIT_DIFFERS)


def _line(one: Replayed) -> dict[str, object]:
    return {
        "run": one.run_no,
        "steps": one.steps,
        "calls": one.calls,
        "result": "the same" if one.divergence is None else f"differs at step {one.divergence.step}",
        "defined otherwise": ", ".join(one.drift),
    }


def replayed_json(one: Replayed) -> dict[str, object]:
    """Return what a replay came to as the command line's JSON tells it.

    Args:
        one: The replay of a run.
    """
    return {
        "run": one.run,
        "run_no": one.run_no,
        "steps": one.steps,
        "calls": one.calls,
        "same": one.same,
        "drift": list(one.drift),
        "divergence": None if one.divergence is None else _divergence_json(one.divergence),
    }


def _divergence_json(found: Divergence) -> dict[str, object]:
    return {
        "step": found.step,
        "checkpoint": found.checkpoint,
        "state": found.state,
        "differences": [
            {"what": each.what, "recorded": each.recorded, "came": each.came} for each in found.differences
        ],
    }
