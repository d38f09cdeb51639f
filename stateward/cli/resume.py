"""`stateward resume`: go on with a session, or send it an event; a person may raise a limit first."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, cast

import typer

from stateward.cli import options
from stateward.cli.driving import drive_alone, event_command
from stateward.cli.outcome import show_outcome
from stateward.cli.place import opened_session
from stateward.cli.rendering import say
from stateward.cli.stop import EXIT_STOPPED, Stopped
from stateward.errors import GovernanceError, InputRefused
from stateward.run.session import Session

_HELP = """Go on with a session, or send it an event.

--raise sets another limit for the session's present run, in the name of a
person and with a reason; both go into the audit log. UNIT is turns, usd,
tokens, runtime_s, calls or calls:TOOL. When several states limit the same
unit, name one: turns@WORKING=20.

A run that began under another policy is refused, unless --drift keep lets
it go on under that one. When more than a policy has changed, the session
can adopt the new definition: `stateward migrate`.

Examples:

  stateward resume inbox-001
  stateward resume inbox-001 resume --data '{"note": "go on"}'
  stateward resume inbox-001 retry --raise turns=20 --by ann --reason "long"
  stateward resume inbox-001 --drift keep
"""


def add_to(app: typer.Typer) -> None:
    """Add the command.

    Args:
        app: The application.
    """
    app.command("resume", help=_HELP)(_resume)


def _resume(
    session: options.SessionId,
    event: Annotated[str | None, typer.Argument(metavar="EVENT", help="An event the chart waits for.")] = None,
    data: Annotated[str | None, typer.Option("--data", metavar="JSON", help="The event's fields.")] = None,
    raises: Annotated[
        list[str] | None, typer.Option("--raise", metavar="UNIT[@STATE]=VALUE", help="Another limit; repeatable.")
    ] = None,
    by: options.By = None,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why the limit is raised.")] = "",
    drift: options.Drift = "refuse",
    graph: options.GraphOfSession = None,
    overrides: options.Overrides = None,
    db: options.Db = options.DEFAULT_DB,
    as_json: options.AsJson = False,
) -> None:
    fields = event_fields(data, event=event)
    with opened_session(session, db=db, graph=graph, overrides=overrides, drift=drift) as found:
        _raise_limits(found, raises or (), by=options.person(by), reason=reason)
        try:
            driven = drive_alone(found, event_command(event, data=fields))
        except Stopped:
            later = options.again_with(session, overrides=overrides or (), db=db, graph=graph, drift=drift)
            say(f"Stopped. Nothing is lost; go on with:\n  {later}")
            raise typer.Exit(EXIT_STOPPED) from None
        raise typer.Exit(show_outcome(driven, as_json=as_json))


def event_fields(data: str | None, *, event: str | None) -> Mapping[str, Any] | None:
    """Read the fields of an event from the command line.

    Args:
        data: JSON, or None.
        event: The event's name, or None.

    Returns:
        The fields; None when none were given.

    Raises:
        InputRefused: There is no event, or the data is no JSON object.
    """
    if data is None:
        return None
    if event is None:
        raise InputRefused("There is data and no event", where="--data", fix="Name the event before it.")
    try:
        content: object = json.loads(data)
    except ValueError as error:
        fix = "Give the event's fields, such as '{\"days\": 5}'."
        raise InputRefused(f"The data is not JSON: {error}", where="--data", fix=fix) from error
    if not isinstance(content, Mapping):
        raise InputRefused("The data is not a JSON object", where="--data", fix="Give the event's fields.")
    return cast("Mapping[str, Any]", content)


def _raise_limits(session: Session, raises: Sequence[str], *, by: str, reason: str) -> None:
    if raises and not reason:
        raise GovernanceError("A limit is raised for a reason", where="--raise", fix="Say why with --reason.")
    limits = [_limit(session, text) for text in raises]
    run = session.database.sessions.get(session.id).run
    for scope, unit, value in limits:
        session.database.ledger.raise_limit(session.id, run, scope, unit, value, by, reason)


def _limit(session: Session, text: str) -> tuple[str, str, float]:
    """Read `UNIT[@STATE]=VALUE` as scope, unit and value."""
    name, _, number = text.rpartition("=")
    unit, at, scope = name.partition("@")
    try:
        value = float(number)
    except ValueError:
        raise InputRefused(f"`{text}` is no limit", where="--raise", fix="Write it as turns=20.") from None
    scopes = _scopes(session, unit)
    if at and scope in scopes:
        return scope, unit, value
    if not at and len(scopes) == 1:
        return scopes[0], unit, value
    known = ", ".join(f"`{unit}@{one}`" for one in scopes)
    raise InputRefused(
        f"`{name}` names no single limit of graph `{session.graph.machine.name}`",
        where="--raise",
        fix=f"Its limits: {known or _units(session)}.",
    )


def _scopes(session: Session, unit: str) -> list[str]:
    effectives = session.graph.machine.effectives.values()
    return list(dict.fromkeys(limit.scope for one in effectives for limit in one.limits if limit.unit == unit))


def _units(session: Session) -> str:
    effectives = session.graph.machine.effectives.values()
    units = sorted({limit.unit for one in effectives for limit in one.limits})
    return ", ".join(f"`{unit}`" for unit in units) or "none"
