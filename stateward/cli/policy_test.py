"""`stateward policy test`: a table of calls, and what a policy is to decide about them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from stateward.cli import options
from stateward.cli.loading import load
from stateward.cli.rendering import print_json, print_table, say
from stateward.errors import DefinitionError
from stateward.govern.policy_test import Tried
from stateward.governance import read_policies, try_table, under_policy
from stateward.policy_table import Table, read_table

EXIT_MISMATCH = 1
_HELP = """Decide about a table of calls, and compare with what is expected.

FILE is YAML: `graph`, if it is to be tried a `policy`, and `cases`. A case
has `state`, `tool` or `model`, `expect` (allow, ask or deny), and may have
`arguments`, `approved`, `spent` (`{calls: 20}`, or `{calls@WORKING: 20}` for
one scope), `usd`, `tokens` and `rule`, a part of the rule or reason that is
to be named. The exit code is 1 when one comes otherwise.

Examples:

  stateward policy test policies/desk_cases.yaml
  stateward policy test policies/desk_cases.yaml --policy desk@lenient --json
  stateward policy test cases.yaml --graph support_desk --set policy.fuses.calls=3
"""


def add_to(group: typer.Typer) -> None:
    """Add the command.

    Args:
        group: The commands on policies.
    """
    group.command("test", help=_HELP)(_test)


def _test(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The table.", show_default=False)],
    graph: Annotated[
        str | None, typer.Option("--graph", metavar="GRAPH", help="The graph, instead of the table's.")
    ] = None,
    policy: Annotated[
        str | None, typer.Option("--policy", metavar="FILE", help="The policy to try, instead of the table's.")
    ] = None,
    instead_of: options.InsteadOf = None,
    overrides: options.Overrides = None,
    as_json: options.AsJson = False,
) -> None:
    table = read_table(file)
    name = graph or table.graph
    if name is None:
        raise DefinitionError(
            "The table names no graph", where=str(file), fix="Write `graph:` in it, or give `--graph`."
        )
    loaded = load(name, overrides=overrides or ()).graph
    if (tried := policy or table.policy) is not None:
        loaded = under_policy(loaded, read_policies(tried).by_path[""], instead_of=instead_of)
    found = try_table(loaded, table)
    _show(table, found, as_json=as_json)
    raise typer.Exit(0 if all(each.holds for each in found) else EXIT_MISMATCH)


def _show(table: Table, found: tuple[Tried, ...], *, as_json: bool) -> None:
    failed = sum(not each.holds for each in found)
    if as_json:
        print_json({"file": table.file, "failed": failed, "cases": [_case_json(each) for each in found]})
        return
    print_table([_line(each) for each in found], empty="No cases.")
    say(f"{failed} of {len(found)} came otherwise." if failed else f"All {len(found)} came as expected.")


def _case_json(each: Tried) -> dict[str, object]:
    about: Mapping[str, object] = {"reason": each.ruled.reason, "rule": each.ruled.rule}
    request = each.case.request
    return {
        "line": each.case.line,
        "state": request.path,
        "kind": request.kind,
        "name": request.name,
        "arguments": dict(request.arguments),
        "expected": each.case.expected,
        "came": each.ruled.outcome,
        "holds": each.holds,
        **about,
    }


def _line(each: Tried) -> dict[str, object]:
    told = _case_json(each)
    shown = {key: told[key] for key in ("line", "state", "name", "arguments", "expected", "came")}
    return {"": "ok" if each.holds else "WRONG", **shown, "because of": each.ruled.reason, "rule": each.ruled.rule}
