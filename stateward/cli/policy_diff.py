"""`stateward policy diff`: what is tighter and what is looser."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated

import typer

from stateward.cli import options
from stateward.cli.check import most, way
from stateward.cli.loading import load
from stateward.cli.place import open_existing
from stateward.cli.rendering import print_facts, print_json, print_table
from stateward.errors import InputRefused
from stateward.govern.policy_diff import Change
from stateward.govern.reach import Reach
from stateward.governance import Policies, compare, compare_reach, read_policies
from stateward.run.store.existing import is_there

EXIT_LOOSER = 1
MOST_NAMES = 3
"""Names of tools that one row of the table shows; the JSON has all."""
_HELP = """Compare two policies: what is tighter, what is looser.

A and B are policy files, names of policies, either with @MODE, or the
beginning of a hash that runs in the database were pinned to. Each part is
compared by its own operator; tools by names that the patterns match, and
by those of --graph. Mixed means some of both, or that nobody can tell.

With --reach it is compared what one run of --graph can come to in total:
calls, money, sums of arguments, each with a shortest way to the most.

Examples:

  stateward policy diff old/desk.yaml policies/desk.yaml --no-looser
  stateward policy diff desk@strict desk@lenient --json
  stateward policy diff c1dc0f3a policies/desk.yaml --graph support_desk
  stateward policy diff --reach desk@strict desk@lenient --graph support_desk
"""


def add_to(group: typer.Typer) -> None:
    """Add the command.

    Args:
        group: The commands on policies.
    """
    group.command("diff", help=_HELP)(_diff)


def _diff(
    before: Annotated[str, typer.Argument(metavar="A", help="The older policy.", show_default=False)],
    after: Annotated[str, typer.Argument(metavar="B", help="The newer one.", show_default=False)],
    no_looser: Annotated[
        bool, typer.Option("--no-looser", help="Exit code 1 when something is looser or mixed.")
    ] = False,
    with_reach: Annotated[bool, typer.Option("--reach", help="Compare what a run can reach in total.")] = False,
    graph: Annotated[
        str | None, typer.Option("--graph", metavar="GRAPH", help="The graph whose tools are tried.")
    ] = None,
    instead_of: options.InsteadOf = None,
    overrides: options.Overrides = None,
    db: options.Db = options.DEFAULT_DB,
    as_json: options.AsJson = False,
) -> None:
    one, other = _read(before, after, db=db)
    loaded = None if graph is None else load(graph, overrides=overrides or ()).graph
    if with_reach:
        if loaded is None:
            raise InputRefused("Only runs of a graph reach something", fix="Name it with `--graph`.")
        found = compare_reach(loaded, one, other, instead_of=instead_of)
        _show_reach(found, as_json=as_json)
        looser = any(each.compared == "more" for each in found)
    else:
        tools = () if loaded is None else loaded.machine.tools
        changes = compare(one, other, tools=tools)
        _show(changes, as_json=as_json)
        looser = any(change.is_looser for change in changes)
    raise typer.Exit(EXIT_LOOSER if no_looser and looser else 0)


def _read(*words: str, db: str) -> Sequence[Policies]:
    if not is_there(db):
        return [read_policies(word) for word in words]
    with open_existing(db) as database:
        return [read_policies(word, database=database) for word in words]


def _show(changes: Sequence[Change], *, as_json: bool) -> None:
    counts = {verdict: sum(one.verdict == verdict for one in changes) for verdict in ("tighter", "looser", "mixed")}
    if as_json:
        print_json({"changes": [change.to_json() for change in changes], **counts})
        return
    print_table(_rows(changes), empty="Nothing is tighter, and nothing is looser.")
    print_facts({verdict: count or None for verdict, count in counts.items()})


def _rows(changes: Sequence[Change]) -> list[dict[str, object]]:
    """One row for all names that a rule says the same of: they are mostly made of one pattern."""
    rows: dict[str, dict[str, object]] = {}
    names: dict[str, list[str]] = {}
    for one in changes:
        told = {"is": one.what, "before": one.before, "after": one.after, "so it is": one.verdict}
        name, colon, part = one.part.removeprefix("tool ").partition(": ")
        is_tool = bool(colon) and one.part.startswith("tool ")
        key = json.dumps([part, told] if is_tool else [one.part], default=str)
        rows.setdefault(key, {"part": one.part, **told})
        if is_tool:
            names.setdefault(key, []).append(name)
            rows[key]["part"] = f"tool {_some(names[key])}: {part}"
    return list(rows.values())


def _some(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def _show_reach(found: Sequence[Reach], *, as_json: bool) -> None:
    if as_json:
        print_json({"reach": [each.to_json() for each in found]})
        return
    rows = [
        {
            "of": each.unit,
            "before": most(each.before),
            "after": most(each.after),
            "so it is": each.compared,
            "because of": list(each.after.bounded_by),
            "way": way(each.after.witness),
        }
        for each in found
    ]
    print_table(rows, empty="A run can make no call.")
