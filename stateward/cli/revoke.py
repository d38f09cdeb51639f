"""`stateward revoke`: take a tool, an agent or a state back from running sessions, for good."""

from __future__ import annotations

from typing import Annotated

import typer

from stateward.cli import options
from stateward.cli.known_tool import is_known_tool
from stateward.cli.loading import is_known, load
from stateward.cli.place import open_existing
from stateward.cli.rendering import print_facts, print_json, say
from stateward.errors import DefinitionError, InputRefused
from stateward.govern.revocation import Revocation, Revoked
from stateward.run.plan import Machine
from stateward.run.state_name import named_state, states_named
from stateward.run.store.database import Database

_HELP = """Take a tool, an agent or a state back from a session, or from all.

It holds from the next call on, in whatever process the session runs, and
for nested agents as well. It is never undone: neither by a fork, nor by a
migration, nor by moving the session to another database.

A bare WORD is looked up in the graph; --tool, --agent and --state say
which is meant. An agent is a model role, or a nested agent.

Examples:

  stateward revoke inbox-001 refund --reason "fraud" --by ann
  stateward revoke --all --tool send_mail --reason "leaks addresses"
  stateward revoke --all --state WORKING.ACT --graph support_desk
"""


_UNKNOWN = (
    "Warning: no definition on record knows the tool `{name}`, neither a policy nor a graph at hand. It is revoked all "
    "the same, from whoever gets a tool of this name. If another one is meant, revoke that too; `--graph GRAPH` and a "
    "bare WORD look a name up."
)


def add_to(app: typer.Typer) -> None:
    """Add the command.

    Args:
        app: The application.
    """
    app.command("revoke", help=_HELP)(_revoke)


def _revoke(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SESSION [WORD]", help="The session, unless --all; what is revoked.", show_default=False
        ),
    ] = None,
    everywhere: Annotated[
        bool, typer.Option("--all", help="From all sessions, those that come later included.")
    ] = False,
    tool: Annotated[str | None, typer.Option("--tool", metavar="NAME", help="A tool.")] = None,
    agent: Annotated[
        str | None, typer.Option("--agent", metavar="NAME", help="A model role, or a nested agent.")
    ] = None,
    state: Annotated[str | None, typer.Option("--state", metavar="PATH", help="A state with all inside it.")] = None,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why, for the records.")] = "",
    by: options.By = None,
    graph: options.GraphOfSession = None,
    db: options.Db = options.DEFAULT_DB,
    as_json: options.AsJson = False,
) -> None:
    session, word = _meant(words or [], everywhere=everywhere)
    named: tuple[tuple[Revoked, str | None], ...] = (("tool", tool), ("agent", agent), ("state", state))
    said: list[tuple[Revoked, str]] = [(kind, name) for kind, name in named if name is not None]
    if len(said) + (word is not None) != 1:
        raise InputRefused(
            "One thing is revoked at a time", where="stateward revoke", fix="Name it as a word, or with one option."
        )
    with open_existing(db) as database:
        machine = _machine(database, session=session, graph=graph)
        kind, name = _found(machine, word) if word is not None else said[0]
        if kind == "state" and machine is not None:
            name = machine.chart.nodes[named_state(machine.chart, name)].path
        made = database.revocations.add(name, kind=kind, by=options.person(by), reason=reason, session=session)
        _tell(made, as_json=as_json)
        # Last of all: what has to be taken back at once waits for no reading.
        if kind == "tool" and not is_known_tool(name, database=database, machine=machine, session=session):
            say(_UNKNOWN.format(name=name))


def _meant(words: list[str], *, everywhere: bool) -> tuple[str | None, str | None]:
    """The session, None for all, and the bare word."""
    if everywhere:
        words = ["", *words]
    if not 1 <= len(words) <= 2:
        raise InputRefused(
            "It is not said from what to revoke", where="stateward revoke", fix="Name one session, or give `--all`."
        )
    return None if everywhere else words[0], words[1] if len(words) == 2 else None


def _machine(database: Database, *, session: str | None, graph: str | None) -> Machine | None:
    """The graph in which names are looked up; None if none is at hand."""
    if graph is None and session is not None:
        graph = database.sessions.get(session).graph
        if not is_known(graph):
            return None
    return None if graph is None else load(graph).graph.machine


def _found(machine: Machine | None, word: str) -> tuple[Revoked, str]:
    fix = "Say which is meant: `--tool NAME`, `--agent NAME` or `--state PATH`."
    if machine is None:
        raise DefinitionError(f"There is no graph to look `{word}` up in", fix=f"Name it with `--graph`. {fix}")
    tools = machine.tools
    kinds: list[Revoked] = [
        *(["tool"] if word in tools else []),
        *(["agent"] if word in machine.roles else []),
        *(["state"] if states_named(machine.chart, word) else []),
    ]
    if len(kinds) != 1:
        known = ", ".join((*sorted(tools), *sorted(machine.roles), *sorted(filter(None, machine.chart.by_path))))
        what = f"`{word}` is {' and '.join(f'a {kind}' for kind in kinds)}" if kinds else f"Nothing is called `{word}`"
        raise InputRefused(what, where=machine.name, fix=f"{fix} Known here: {known}.")
    return kinds[0], word


def _tell(made: Revocation, *, as_json: bool) -> None:
    if as_json:
        print_json(revocation_json(made))
        return
    print_facts({"revoked": f"{made.kind} {made.name}", "from": made.session or "all sessions", **_why(made)})


def _why(made: Revocation) -> dict[str, object]:
    return {"by": made.by, "reason": made.reason}


def revocation_json(made: Revocation) -> dict[str, object]:
    """Return a revocation as the command line's JSON tells it.

    Args:
        made: The revocation.
    """
    where = {"session": made.session or None, "kind": made.kind, "name": made.name}
    return {**where, **_why(made), "at": made.at}


def told(made: Revocation) -> str:
    """Write a revocation on one line.

    Args:
        made: The revocation.
    """
    why = f": {made.reason}" if made.reason else ""
    return f"{made.kind} {made.name}{'' if made.session else ' (everywhere)'}, by {made.by}{why}"
