"""`stateward contract`: the schema of a contract, and what a change of one breaks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, cast

import typer

from stateward.cli import options
from stateward.cli.loading import load
from stateward.cli.rendering import print_facts, print_json, print_table
from stateward.errors import DefinitionError
from stateward.govern.contract_diff import Change, changes
from stateward.govern.contract_schema import json_schema
from stateward.govern.effective import Effective
from stateward.govern.kinds.contract_spec import TIERS, ContractSpec, FieldSpec
from stateward.govern.policy import Policy
from stateward.governance import read_policies
from stateward.run.plan import Machine

_HELP = "Show contracts, and what a change of one breaks."

_SHOW = """Show a contract as the states of a graph are bound by it.

With --json its JSON schema, as strict providers accept it; states under
different policies have schemas that differ in the title at least.

Examples:

  stateward contract show support_desk Ticket
  stateward contract show support_desk Ticket --json
"""

_DIFF = """Compare the contracts of two policies.

A and B are policy files, or names of policies; `FILE@MODE` takes another
mode. Each change is compatible or breaking for who writes outputs and for
who reads them. The exit code is 1 when one is breaking.

Examples:

  stateward contract diff old/desk.yaml policies/desk.yaml
  stateward contract diff policies/desk.yaml@strict policies/desk.yaml@lenient Ticket --json
"""


def add_to(app: typer.Typer) -> None:
    """Add the commands.

    Args:
        app: The application.
    """
    group = typer.Typer(help=_HELP, no_args_is_help=True)
    group.command("show", help=_SHOW)(_show)
    group.command("diff", help=_DIFF)(_diff)
    app.add_typer(group, name="contract")


def _show(
    graph: options.Graph,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The contract's name.", show_default=False)],
    overrides: options.Overrides = None,
    as_json: options.AsJson = False,
) -> None:
    machine = load(graph, overrides=overrides or ()).graph.machine
    versions = _versions(machine, name)
    if as_json:
        print_json({"graph": machine.name, "contract": name, "versions": [_version(name, *each) for each in versions]})
        return
    for spec in dict.fromkeys(policy.contract(name) for policy, _ in versions):
        same = [(policy, states) for policy, states in versions if policy.contract(name) == spec]
        titles = [f"{json_schema(policy.model_of(name))['title']} in {', '.join(states)}" for policy, states in same]
        print_facts(
            {
                "contract": titles,
                "retries": spec.retries,
                "tiers": list(spec.tiers or TIERS),
                "aliases": _aliases(spec.aliases),
            }
        )
        print_table([_row(field) for field in spec.fields], empty="No field.")


def _versions(machine: Machine, name: str) -> list[tuple[Effective, list[str]]]:
    """Put the states together that are bound by the same policies; the order is the chart's."""
    groups: dict[str, tuple[Effective, list[str]]] = {}
    known: set[str] = set()
    for index in sorted(machine.plans):
        policy = machine.effectives[index]
        names = {spec.name for spec in policy.contracts}
        known |= names
        if name in names:
            groups.setdefault(policy.hash, (policy, []))[1].append(machine.chart.nodes[index].path)
    if not groups:
        raise _unknown(name, known=sorted(known), where=machine.name)
    return list(groups.values())


def _version(name: str, policy: Effective, states: Sequence[str]) -> dict[str, object]:
    spec = policy.contract(name)
    return {
        "states": list(states),
        "mode": policy.mode,
        "policy": policy.hash,
        "retries": spec.retries,
        "tiers": list(spec.tiers or TIERS),
        "schema": json_schema(policy.model_of(name)),
    }


def _row(field: FieldSpec) -> dict[str, object]:
    told = {"type", "required", "description", "aliases"}
    limits = [f"{key}: {_said(value)}" for key, value in field.content.items() if key not in told]
    return {
        "field": field.name,
        "type": field.type,
        "required": field.required,
        "limits": limits,
        "aliases": _aliases(field.aliases),
    }


def _said(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(_said, cast("list[object]", value)))
    if isinstance(value, dict):
        return " ".join(f"{key} {inner}" for key, inner in cast("dict[str, object]", value).items())
    return str(value)


def _aliases(pairs: Sequence[tuple[str, str]]) -> list[str]:
    return [f"{alias} → {name}" for alias, name in pairs]


def _diff(
    before: Annotated[str, typer.Argument(metavar="A", help="The older policy.", show_default=False)],
    after: Annotated[str, typer.Argument(metavar="B", help="The newer policy.", show_default=False)],
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Only this contract.")] = None,
    as_json: options.AsJson = False,
) -> None:
    old, new = (read_policies(word).by_path[""] for word in (before, after))
    found = changes(_contracts(old, name), _contracts(new, name))
    if name is not None and not any(spec.name == name for policy in (old, new) for spec in policy.contracts):
        known = sorted({spec.name for policy in (old, new) for spec in policy.contracts})
        raise _unknown(name, known=known, where=f"{before}, {after}")
    if as_json:
        print_json({"before": before, "after": after, "changes": [change.to_json() for change in found]})
    else:
        print_table([_told(change) for change in found], empty="No contract changed.")
    raise typer.Exit(1 if any(change.is_breaking for change in found) else 0)


def _contracts(policy: Policy, name: str | None) -> list[ContractSpec]:
    return [spec for spec in policy.contracts if name in (None, spec.name)]


def _told(change: Change) -> dict[str, object]:
    place = f"{change.contract}.{change.field}" if change.field else change.contract
    return {
        "contract": place,
        "change": change.what,
        "before": change.before,
        "after": change.after,
        "writer": change.writer,
        "reader": change.reader,
    }


def _unknown(name: str, *, known: Sequence[str], where: str) -> DefinitionError:
    listed = ", ".join(f"`{each}`" for each in known) or "none"
    return DefinitionError(f"No contract is called `{name}`", where=where, fix=f"Known contracts: {listed}.")
