"""`stateward policy replay`: recorded calls under another policy."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Annotated

import typer

from stateward.cli import options
from stateward.cli.loading import is_known, load
from stateward.cli.place import open_existing
from stateward.cli.rendering import print_json, print_table, say
from stateward.errors import DefinitionError
from stateward.govern.policy_replay import Flip, Replayed
from stateward.governance import may_replace, read_policies, replay_policy
from stateward.run.graph import ChartGraph
from stateward.run.store.database import Database
from stateward.run.store.session_row import SessionRow

_HELP = """Put recorded calls under another policy, and list the decisions that flip.

Each call of the journal, and each that was refused, is decided as it would
be under the policy FILE, with what had been spent, raised and revoked when
it was made. Nothing is written and nothing is called. Without GRAPH each
session's own is taken, by its name in langgraph.json; sessions of graphs
that are not known, or have no such policy, are left out, and told.

Examples:

  stateward policy replay policies/desk_v2.yaml
  stateward policy replay desk@strict support_desk --sessions inbox-001 --json
  stateward policy replay new.yaml --for desk --db sqlite:///desk.db
"""


def add_to(group: typer.Typer) -> None:
    """Add the command.

    Args:
        group: The commands on policies.
    """
    group.command("replay", help=_HELP)(_replay)


def _replay(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The policy: a file or a name, with @MODE.")],
    graph: Annotated[
        str | None, typer.Argument(metavar="GRAPH", help="The graph of the sessions.", show_default=False)
    ] = None,
    sessions: Annotated[
        list[str] | None, typer.Option("--sessions", metavar="ID", help="Only this session; may be repeated.")
    ] = None,
    instead_of: options.InsteadOf = None,
    overrides: options.Overrides = None,
    db: options.Db = options.DEFAULT_DB,
    as_json: options.AsJson = False,
) -> None:
    policy = read_policies(file).by_path[""]

    @cache  # with overrides each loading builds the graph anew
    def made(name: str) -> ChartGraph:
        return load(graph or name, overrides=overrides or ()).graph

    with open_existing(db) as database:
        if graph is not None:
            named = sessions or [row.id for row in _rows(database) if row.graph == made(graph).machine.name]
        else:
            fits = partial(may_replace, policy=policy, instead_of=instead_of)
            named = sessions or _fitting(_rows(database), fits=lambda name: fits(made(name).machine))
        found = replay_policy(database, policy, graph=made, sessions=named, instead_of=instead_of)
    _show(found, as_json=as_json)


def _rows(database: Database) -> list[SessionRow]:
    return [row for row in database.sessions.list() if row.run]


def _fitting(rows: list[SessionRow], *, fits: Callable[[str], bool]) -> list[str]:
    """The sessions whose graph is known here and has the policy; without any, the first graph says what it lacks."""
    names = {row.graph for row in rows}
    known = {name for name in names if is_known(name)}
    if names and not known:
        raise DefinitionError(f"No `langgraph.json` from here upward names {', '.join(names)}", fix="Name the graph.")
    fitting = {name for name in known if fits(name)} or known
    if left := sorted(names - fitting):
        say(f"Left out, because their graph is not known here or has no such policy: sessions of {', '.join(left)}.")
    return [row.id for row in rows if row.graph in fitting]


def _show(found: Replayed, *, as_json: bool) -> None:
    if as_json:
        flips = [_flip_json(flip) for flip in found.flips]
        silent = {"unknown_states": list(found.strange), "undecided": list(found.undecided)}
        print_json({"calls": found.calls, "flips": flips, **silent})
        return
    print_table([_line(flip) for flip in found.flips], empty="No decision flips.")
    if found.strange:
        say(f"Nothing is said of calls in states that are no more: {', '.join(found.strange)}.")
    for sentence in found.undecided:
        say(sentence)
    say(f"{len(found.flips)} of {found.calls} decisions flip.")


def _flip_json(flip: Flip) -> dict[str, object]:
    call = flip.call
    return {
        "session": call.session,
        "run": call.run,
        "state": call.path,
        "activation": call.activation,
        "call": call.call,
        "kind": call.kind,
        "name": call.name,
        "arguments": dict(call.arguments),
        "before": call.before,
        "after": flip.after.outcome,
        "reason": flip.after.reason or call.reason,
        "rule": flip.after.rule,
    }


def _line(flip: Flip) -> dict[str, object]:
    told = _flip_json(flip)
    return {key: told[key] for key in ("session", "state", "call", "name", "arguments", "before", "after", "reason")}
