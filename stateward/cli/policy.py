"""`stateward policy`: what holds in a state, and where each part came from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from stateward.chart.definition import Definition
from stateward.cli import options
from stateward.cli.loading import load
from stateward.cli.rendering import print_facts, print_json, print_table
from stateward.errors import UnknownTarget
from stateward.govern.effective import Effective
from stateward.run.plan import Machine

_HELP = """Show the effective policy of states, and where it came from.

A state is bound by its own policy and those of all states around it; each
part names the state and file that set it. Without STATE: all states that
do something; those under the same policies are shown together.

Examples:

  stateward policy support_desk
  stateward policy support_desk ACT
  stateward policy support_desk ACT --set policy.fuses.turns=6 --json
"""


def add_to(app: typer.Typer) -> None:
    """Add the command.

    Args:
        app: The application.
    """
    app.command("policy", help=_HELP)(_policy)


def _policy(
    graph: options.Graph,
    state: Annotated[str | None, typer.Argument(metavar="STATE", help="A state's name or path.")] = None,
    overrides: options.Overrides = None,
    as_json: options.AsJson = False,
) -> None:
    machine = load(graph, overrides=overrides or ()).graph.machine
    states = sorted(machine.plans) if state is None else [_find(machine.chart, state)]
    if as_json:
        print_json(_json(machine, states))
        return
    pins = machine.pins
    print_facts(
        {"graph": machine.name, "mode": pins.mode, "chart": pins.chart, "policy": pins.policy, "schema": pins.schema}
    )
    for group in _groups(machine, states):
        _show(machine, group)


def _find(chart: Definition, name: str) -> int:
    """Find a state by its path, or by the end of one when only one ends so."""
    if name in chart.by_path:
        return chart.by_path[name]
    ends = [index for path, index in chart.by_path.items() if path.endswith(f".{name}")]
    if len(ends) == 1:
        return ends[0]
    paths = ", ".join(chart.nodes[index].path for index in ends) or ", ".join(filter(None, sorted(chart.by_path)))
    raise UnknownTarget(
        f"{'Several states are' if ends else 'No state is'} called `{name}`", where=chart.name, fix=f"States: {paths}."
    )


def _groups(machine: Machine, states: Sequence[int]) -> list[list[int]]:
    groups: dict[str, list[int]] = {}
    for state in states:
        groups.setdefault(machine.effectives[state].hash, []).append(state)
    return list(groups.values())


def _show(machine: Machine, states: Sequence[int]) -> None:
    effective = machine.effectives[states[0]]
    declared = {machine.chart.nodes[state].path: _tools(machine, state) for state in states}
    names = "; ".join(f"{path} (tools: {', '.join(tools)})" if tools else path for path, tools in declared.items())
    print_facts({"\nstates": names, "hash": effective.hash, "from": _layers(effective)})
    rows = [{"part": row.part, "value": row.value, "origin": row.origin} for row in effective.explain()]
    print_table(rows, empty="No policy.")


def _layers(effective: Effective) -> list[str]:
    return [f"{layer.scope or 'the chart'}: {layer.policy.name}" for layer in effective.layers]


def _tools(machine: Machine, state: int) -> list[str]:
    plan = machine.plans.get(state)
    return list(plan.tools) if plan else []


def _json(machine: Machine, states: Sequence[int]) -> dict[str, object]:
    return {
        "graph": machine.name,
        "mode": machine.pins.mode,
        "hashes": machine.pins.to_json(),
        "states": [_state_json(machine, state) for state in states],
    }


def _state_json(machine: Machine, state: int) -> dict[str, object]:
    effective = machine.effectives[state]
    return {
        "path": machine.chart.nodes[state].path,
        "hash": effective.hash,
        "tools": _tools(machine, state),
        "policies": [
            {
                "scope": layer.scope,
                "name": layer.policy.name,
                "source": layer.policy.source,
                "hash": layer.policy.hash,
            }
            for layer in effective.layers
        ],
        "parts": [{"part": row.part, "value": row.value, "origin": row.origin} for row in effective.explain()],
    }
