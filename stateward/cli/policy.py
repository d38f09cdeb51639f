"""`stateward policy`: what holds in a state, and where each part came from; and the commands on policies.

`stateward policy GRAPH` is short for `stateward policy show GRAPH`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from stateward.cli import options, policy_diff, policy_replay, policy_test
from stateward.cli.loading import load
from stateward.cli.place import open_existing
from stateward.cli.rendering import print_facts, print_json, print_table
from stateward.cli.revoke import revocation_json, told
from stateward.govern.effective import Effective
from stateward.govern.revocation import Revocation
from stateward.run.plan import Machine
from stateward.run.state_name import named_state

_GROUP_HELP = """Show what holds in a state, compare policies, and try them.

GRAPH [STATE] shows the effective policy; it is short for `show`.

Examples:

  stateward policy support_desk
  stateward policy support_desk ACT
  stateward policy diff policies/desk.yaml@strict policies/desk.yaml@lenient
  stateward policy test tests/desk_cases.yaml
  stateward policy replay policies/desk_v2.yaml
"""
_HELP = """Show the effective policy of states, and where it came from.

A state is bound by its own policy and those of all states around it; each
part names the state and file that set it. Without STATE: all states that
do something; those under the same policies are shown together. With --session
also what was revoked from it.

Examples:

  stateward policy show support_desk
  stateward policy show support_desk ACT --session inbox-001
  stateward policy show support_desk ACT --set policy.fuses.turns=6 --json
"""
_SHOW = "show"


class _ShowByDefault(TyperGroup):
    """A group in which a first word that is no command is a graph that is to be shown."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the command in front where it was left out.

        Args:
            ctx: Click's context.
            args: The words.

        Returns:
            What Click makes of them.
        """
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = [_SHOW, *args]
        return super().parse_args(ctx, args)


def add_to(app: typer.Typer) -> None:
    """Add the commands.

    Args:
        app: The application.
    """
    group = typer.Typer(cls=_ShowByDefault, help=_GROUP_HELP, no_args_is_help=True)
    group.command(_SHOW, help=_HELP)(_policy)
    for module in (policy_diff, policy_test, policy_replay):
        module.add_to(group)
    app.add_typer(group, name="policy")


def _policy(
    graph: options.Graph,
    state: Annotated[str | None, typer.Argument(metavar="STATE", help="A state's name or path.")] = None,
    overrides: options.Overrides = None,
    session: Annotated[
        str | None, typer.Option("--session", metavar="ID", help="Show what was revoked from this session.")
    ] = None,
    db: options.Db = options.DEFAULT_DB,
    as_json: options.AsJson = False,
) -> None:
    machine = load(graph, overrides=overrides or ()).graph.machine
    states = sorted(machine.plans) if state is None else [named_state(machine.chart, state)]
    revoked = _revoked(session, db=db)
    if as_json:
        said = {} if session is None else {"revoked": [revocation_json(one) for one in revoked]}
        print_json(_json(machine, states) | said)
        return
    pins = machine.pins
    print_facts(
        {
            "graph": machine.name,
            "mode": pins.mode,
            "chart": pins.chart,
            "policy": pins.policy,
            "schema": pins.schema,
            "revoked": [told(one) for one in revoked],
        }
    )
    for group in _groups(machine, states):
        _show(machine, group)


def _revoked(session: str | None, *, db: str) -> Sequence[Revocation]:
    if session is None:
        return ()
    with open_existing(db) as database:
        return database.revocations.of(database.sessions.get(session).id)


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
    print_table(_parts(effective), empty="No policy.")


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
        "parts": _parts(effective),
    }


def _parts(effective: Effective) -> list[dict[str, object]]:
    return [{"part": row.part, "value": row.value, "origin": row.origin} for row in effective.explain()]
