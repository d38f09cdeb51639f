"""Editing a session's values from outside: LangGraph's `update_state`, and Studio's edit button.

LangGraph writes such an update as if a node had returned it, and works out from that node's edges where to go on. A
chart has no such edges: the node's `Command` says where, so an edit would end every wait. Here an edit changes values,
validated like an activity's, and leaves the chart where it stands, with its asks and its pending node.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.types import Command, StateSnapshot, StateUpdate

from stateward.errors import NotExpected
from stateward.run.admission import checked, refuse_contradiction, stored
from stateward.run.plan import Machine

COPY = "__copy__"
"""LangGraph's own word for an update that only copies a checkpoint."""


def is_copy(supersteps: Sequence[Sequence[StateUpdate]]) -> bool:
    """Whether an update only copies a checkpoint, as the server does when it forks a thread.

    Args:
        supersteps: What `bulk_update_state` was given. LangGraph also takes updates along with a copy; these are edits.
    """
    updates = [update for step in supersteps for update in step]
    return bool(updates) and all(update.as_node == COPY and update.values is None for update in updates)


def checked_edit(
    machine: Machine,
    supersteps: Sequence[Sequence[StateUpdate]],
    *,
    before: StateSnapshot,
    serde: SerializerProtocol | None,
) -> Mapping[str, Any]:
    """Check an edit, and that there is something it can be made to.

    Args:
        machine: The lowered chart.
        supersteps: What `bulk_update_state` was given: one update. The node it names has no say.
        before: The checkpoint that is edited.
        serde: What checkpoints are written with.

    Returns:
        The values in the form that is committed; none for a copy.

    Raises:
        InputRefused: A value does not fit the state schema or cannot be kept, or a key is Stateward's own.
        NotExpected: It is not one update of values.
        Drift: The run was started by another definition.
        CheckpointError: The checkpoint contradicts itself.
    """
    if is_copy(supersteps):
        return {}
    updates = [update for step in supersteps for update in step]
    if len(updates) != 1 or not isinstance(updates[0].values, Mapping):
        raise NotExpected("An edit is one mapping of state keys", fix="Call `update_state(config, {KEY: VALUE})`.")
    refuse_contradiction(machine, stored(before, machine=machine))
    return checked(machine, cast("Mapping[str, Any]", updates[0].values), base=before.values, serde=serde)


def edited(machine: Machine, values: Mapping[str, Any], *, before: StateSnapshot) -> StateUpdate:
    """Make an update that leaves the chart where it stands.

    Args:
        machine: The lowered chart.
        values: Keys of the state and of the chart, as they are committed.
        before: The checkpoint they are written to.

    Returns:
        The update for LangGraph: the values, and the node that was to run next.
    """
    return placed(values, goto=before.next, node=before.next[0] if before.next else any_node(machine))


def placed(values: Mapping[str, Any], *, goto: str | Sequence[str], node: str) -> StateUpdate:
    """Make an update that puts a run somewhere: LangGraph takes a `Command` for values, and goes where it says.

    Args:
        values: Keys of the state and of the chart, as they are committed.
        goto: The node that is to run next.
        node: A node of the graph, for LangGraph; it has no say.
    """
    return StateUpdate(values=cast("dict[str, Any]", Command(update=dict(values), goto=goto)), as_node=node)


def begun(before: StateSnapshot) -> bool:
    """Whether a checkpoint belongs to a run whose values can be edited.

    Args:
        before: The checkpoint.
    """
    return bool(before.values) and before.next != ("__start__",)


def any_node(machine: Machine) -> str:
    """Return the name of some node of the graph.

    Args:
        machine: The lowered chart.
    """
    return machine.activity_node(min(machine.plans)) if machine.plans else machine.wait_node(_first(machine))


def _first(machine: Machine) -> int:
    return next(node.index for node in machine.chart.nodes if node.kind == "atomic" and machine.waits(node.index))
