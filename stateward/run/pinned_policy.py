"""The policies of a chart as text: written down when a run is pinned to them, and read when it is to keep them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from pydantic import TypeAdapter

from stateward.govern.policy import Policy
from stateward.run.plan import Machine
from stateward.run.store.database import Database

KIND = "policy"
"""What `stateward_definitions` calls it."""
_Policies = dict[str, Policy]


def remember(machine: Machine, database: Database, *, session: str) -> None:
    """Store the policies that a run is pinned to, unless they are stored.

    Args:
        machine: The lowered chart.
        database: Where the run's tables are.
        session: The session's id.
    """
    database.definitions.keep(machine.pins.policy, kind=KIND, text=partial(written, machine), session=session)


def written(machine: Machine) -> str:
    """Write the policies of a chart down, by the path of the state that each hangs on.

    Args:
        machine: The lowered chart.
    """
    layers = (layer for policy in machine.effectives.values() for layer in policy.layers)
    found = {layer.scope: layer.policy for layer in layers}
    return TypeAdapter(_Policies).dump_json(found).decode()


def policies_in(text: str) -> Mapping[str, Policy]:
    """Read what `written` wrote.

    Args:
        text: The text.

    Returns:
        State path to policy; the chart's own under the empty path.
    """
    return TypeAdapter(_Policies).validate_json(text)
