"""`stateward answer`: one ask, answered once, and its session goes on in this process."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, cast

import typer

from stateward.cli import inbox_branch, options
from stateward.cli.driving import drive_alone
from stateward.cli.outcome import show_outcome
from stateward.cli.place import find_session, open_existing
from stateward.cli.rendering import print_facts, print_json, say
from stateward.cli.stop import EXIT_STOPPED, Stopped
from stateward.errors import InputRefused, SessionBusy
from stateward.run.edited import refuse_misfit
from stateward.run.session import Session
from stateward.run.store.ask import Ask
from stateward.run.store.database import Database
from stateward.run.store.given import DECISIONS, Given
from stateward.run.store.kind import CHOOSE, as_word
from stateward.run.text import checked_text

_HELP = """Answer an ask, and go on with its session.

The session goes on in this process as soon as none of its asks is open.
An ask takes as many approvals of different people as its policy wants, and
then no more, whatever the number of processes: a later answer is refused
with exit code 2 and told who answered when. One that does not approve ends
it at once. An edit names all arguments of the call that is to be made
instead; every check of the policy runs on that. With `respond` nothing is
called, and the note is what the model is told.

What an activity asks is answered in its own words: the option that is
chosen, a text, or, with `edit` or `respond`, a JSON value.

Examples:

  stateward answer ask_0123456789ab approve --by ann
  stateward answer ask_0123456789ab reject --note "no proof of payment"
  stateward answer ask_0123456789ab edit --arguments '{"order": "A-1", "eur": 5}'
  stateward answer ask_0123456789ab respond --note "It was paid by hand."
  stateward answer ask_0123456789ab "formal tone"
  stateward answer ask_0123456789ab edit --value '{"title": "Spring"}'
  stateward answer ask_0123456789ab approve --no-resume
  stateward answer ask_0123456789ab approve --drift keep
  stateward answer ask_0123456789ab approve --branch main
"""

_SHOWN = 200
"""Characters of what is no JSON that a message repeats."""


def add_to(app: typer.Typer) -> None:
    """Add the command.

    Args:
        app: The application.
    """
    app.command("answer", help=_HELP)(_answer)


def _answer(
    ask: Annotated[str, typer.Argument(metavar="ASK", help="Its id, from `stateward inbox`.", show_default=False)],
    word: Annotated[str, typer.Argument(metavar="approve|reject|edit|respond|TEXT", show_default=False)],
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="Why; the agent and the audit log see it.")] = "",
    by: options.By = None,
    tool: Annotated[str, typer.Option("--tool", metavar="NAME", help="Of an edit: another tool.")] = "",
    arguments: Annotated[
        str | None, typer.Option("--arguments", metavar="JSON", help="Of an edit: all arguments of the call.")
    ] = None,
    value: Annotated[
        str | None, typer.Option("--value", metavar="JSON", help="Of an edit or a response: the value.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume/--no-resume", help="Go on with the session.")] = True,
    branch: inbox_branch.Branch = None,
    drift: options.Drift = "refuse",
    graph: options.GraphOfSession = None,
    overrides: options.Overrides = None,
    db: options.Db = options.DEFAULT_DB,
    as_json: options.AsJson = False,
) -> None:
    with open_existing(db) as database:
        found = database.asks.get(ask)
        said = _said(found, word, note, by=options.person(by), tool=tool, arguments=arguments, value=value)
        # The graph is found, and asked, before anything is recorded: an answer must not be kept and then lead nowhere.
        going_on = resume and found.status == "open"
        session = (
            find_session(found.session, database=database, graph=graph, overrides=overrides or (), drift=drift)
            if going_on
            else None
        )
        if session is not None:
            inbox_branch.expect(session, found, branch)
            refuse_misfit(session.graph.machine, found, said, tool=said.tool, arguments=said.arguments)
        answered = database.asks.answer(
            ask,
            decision=said.decision,
            by=said.by,
            note=said.note,
            tool=said.tool,
            arguments=said.arguments,
            value=said.value,
        )
        beside = [other for other in database.asks.open(found.session) if inbox_branch.is_beside(other, found)]
        if session is None or beside:
            _show(answered, database=database, as_json=as_json)
            return
        later = options.again_with(session.id, overrides=overrides or (), db=db, graph=graph, drift=drift)
        raise typer.Exit(_go_on(session, answered, later=later, as_json=as_json))


def _said(found: Ask, word: str, note: str, *, by: str, tool: str, arguments: str | None, value: str | None) -> Given:
    """Read an answer: one of the four words, or what is said to a question; an option may be one of them too."""
    for what, text in (("who answers", by), ("the note", note), ("the answer", word)):
        checked_text(text, what=what)
    given = _json(value, "--value") if value is not None else None
    is_option = found.kind == CHOOSE and as_word(word) in map(as_word, found.arguments["options"])
    call: Mapping[str, Any] = {} if is_option else _call(word, tool, arguments, value)
    for decision in () if is_option else DECISIONS:
        if word == decision:
            return Given(by=by, decision=decision, note=note, value=given, **call)
    if not found.is_question or given is not None:
        raise InputRefused(f"`{word}` is no answer to `{found.id}`", fix=f"Answer {', '.join(found.allowed)}.")
    if note:
        raise InputRefused("What is said stands in two places", fix="Leave `--note` out.")
    return Given(by=by, decision="respond", note=word)


def _json(text: str, option: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
        raise InputRefused(f"`{option}` is no JSON: {shown}", fix=f"Write it as JSON: `{option} '\"text\"'`.") from None


def _call(decision: str, tool: str, arguments: str | None, value: str | None) -> Mapping[str, Any]:
    """Read what an edit wants; only an edit may want anything."""
    if decision == "edit" and value is not None and not tool and arguments is None:
        return {}
    if decision != "edit":
        if tool or arguments is not None:
            raise InputRefused(
                f"`{decision}` takes no `--tool` and no `--arguments`", fix="To have another call made, answer `edit`."
            )
        return {}
    try:
        given: Any = json.loads(arguments or "")
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise InputRefused(
            "An edit names all arguments of its call, as a JSON object",
            fix='Give them: `--arguments \'{"order": "A-1"}\'`.',
        )
    return {"tool": tool, "arguments": cast("dict[str, Any]", given)}


def _go_on(session: Session, answered: Ask, *, later: str, as_json: bool) -> int:
    try:
        inbox_branch.turn(session, answered)
        return show_outcome(drive_alone(session, None), as_json=as_json)
    except Stopped:
        say(f"Stopped. The answer is recorded; go on with:\n  {later}")
        return EXIT_STOPPED
    except SessionBusy as busy:
        say(f"The answer is recorded, but the session is busy: {busy.what}. Go on later with:\n  {later}")
        return 1


def _show(answered: Ask, *, database: Database, as_json: bool) -> None:
    facts: dict[str, object] = {
        "session": answered.session,
        "status": database.sessions.get(answered.session).status,
        "ask": answered.id,
        "decision": answered.last.decision if answered.last else None,
        **({"value": answered.last.value} if answered.last and answered.last.value is not None else {}),
        "by": answered.by,
        "approvals": answered.progress,
        "asks": [other.id for other in database.asks.open(answered.session)],
    }
    if as_json:
        print_json(facts)
        return
    print_facts(facts)
    if answered.status == "open":
        say(f"It has {answered.progress} approvals; another person must approve.")
