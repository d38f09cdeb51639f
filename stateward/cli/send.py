"""`stateward send`: an event for a session, whoever runs it."""

from __future__ import annotations

from typing import Annotated

import typer

from stateward.cli import options
from stateward.cli.driving import is_recorded, run_until_stopped, told
from stateward.cli.loading import load
from stateward.cli.outcome import FAILING
from stateward.cli.place import checked_drift, open_existing
from stateward.cli.rendering import print_facts, print_json, say
from stateward.cli.resume import event_fields
from stateward.cli.stop import EXIT_STOPPED, Stop, Stopped
from stateward.errors import DefinitionError
from stateward.run.session import Outcome, Sent, Session
from stateward.run.store.database import Database

_HELP = """Send an event to a session.

If the session waits, it goes on here. If another process runs it, the
event is left for that one, and this command waits until it was taken or
refused; --wait limits how long. An event that is still waiting then is
not lost: whoever goes on with the session takes it.

Examples:

  stateward send support_desk inbox-001 pause
  stateward send support_desk inbox-001 change --data '{"days": 5}'
  stateward send support_desk inbox-001 stop --wait 0
  stateward send support_desk inbox-001 stop --drift keep
"""

Wait = Annotated[
    float | None,
    typer.Option("--wait", metavar="SECONDS", min=0, help="How long to wait at most; without it, to the end."),
]


def add_to(app: typer.Typer) -> None:
    """Add the command.

    Args:
        app: The application.
    """
    app.command("send", help=_HELP)(_send)


def _send(
    graph: options.Graph,
    session: options.SessionId,
    event: Annotated[str, typer.Argument(metavar="EVENT", help="An event of the chart.", show_default=False)],
    data: Annotated[str | None, typer.Option("--data", metavar="JSON", help="The event's fields.")] = None,
    wait: Wait = None,
    by: options.By = None,
    drift: options.Drift = "refuse",
    overrides: options.Overrides = None,
    db: options.Db = options.DEFAULT_DB,
    as_json: options.AsJson = False,
) -> None:
    fields = event_fields(data, event=event)
    wait_s = float("inf") if wait is None else wait
    with open_existing(db) as database:
        found = _session(graph, session, overrides=tuple(overrides or ()), database=database, drift=drift)

        async def sending(_: Stop) -> Sent | str:
            try:
                return await found.asend(event, data=fields, by=options.person(by), wait_s=wait_s)
            except Exception as error:
                if not is_recorded(error):
                    raise
                return told(error)

        try:
            sent = run_until_stopped(sending)
        except Stopped:
            say("Stopped. An event that was posted is not lost: whoever goes on with the session takes it.")
            raise typer.Exit(EXIT_STOPPED) from None
        raise typer.Exit(_show(found, sent, as_json=as_json))


def _session(graph: str, session: str, *, overrides: tuple[str, ...], database: Database, drift: str) -> Session:
    loaded, row = load(graph, overrides=overrides), database.sessions.get(session)
    if loaded.graph.machine.name != row.graph:
        raise DefinitionError(
            f"Session `{session}` belongs to graph `{row.graph}`, not to `{loaded.graph.machine.name}`",
            fix="Name its own graph.",
        )
    found = Session(session, loaded.graph.attach(database), database, drift=checked_drift(drift))
    found.refuse_strange()
    return found


def _show(session: Session, sent: Sent | str, *, as_json: bool) -> int:
    """Print what became of an event; a text is what an activity raised after it was taken."""
    error = sent if isinstance(sent, str) else ""
    taken = isinstance(sent, str) or sent.taken
    letter = None if isinstance(sent, str) else sent.letter
    here: Outcome | None = session.outcome() if isinstance(sent, str) else sent.outcome
    row = session.row()
    status = here.status if here is not None else row.status if row is not None else ""
    facts: dict[str, object] = {
        "session": session.id,
        "event": "taken" if taken else "posted",
        "letter": letter.no if letter is not None else None,
        "status": status,
        "state": here.path if here is not None else ", ".join(row.path if row is not None else ()),
        "error": error or None,
    }
    if as_json:
        print_json(facts)
    else:
        print_facts(facts)
    return 1 if error or (here is not None and status in FAILING) else 0
