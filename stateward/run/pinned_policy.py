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


def stored(database: Database, beginning: str) -> Mapping[str, Mapping[str, Policy]]:
    """Find policies that runs were pinned to.

    Args:
        database: Where the runs' tables are.
        beginning: How the hash begins; empty for all.

    Returns:
        The hash of a run's policies to those policies, by the path of the state that each hangs on.
    """
    return {hash: policies_in(text) for hash, text in database.definitions.all(kind=KIND, beginning=beginning).items()}


def pins_under(database: Database, beginning: str) -> frozenset[str]:
    """Find what runs under a policy are pinned to.

    Args:
        database: Where the runs' tables are.
        beginning: How the hash of one policy begins, as a policy file has it.

    Returns:
        The hashes that stand for several policies, of which that is one.
    """
    every = stored(database, "").items()
    begins = beginning.lower()
    return frozenset(pin for pin, found in every if any(each.hash.startswith(begins) for each in found.values()))
