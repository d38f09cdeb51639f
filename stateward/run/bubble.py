"""What LangGraph raises to steer a graph by, where an activity lets it out: it means nothing here, and steers nothing.

Let through, it would reach the graph around: a chart that is a node there would be waited for, or left for another
node, although its own run has failed.
"""

from __future__ import annotations

from langgraph.errors import GraphBubbleUp, ParentCommand

from stateward.errors import DefinitionError

_ASKS = "`interrupt()` inside an activity; ask through a restricted tool or wait in a state"
_LEAVES = (
    "`Command(graph=Command.PARENT)` inside an activity; let a transition of the chart lead on, or hand over in a "
    "`teams.swarm`"
)


def steering(error: BaseException) -> str | None:
    """Say what was meant to steer a graph, and what to do in its place.

    Args:
        error: What an activity raised.

    Returns:
        None for any other error.
    """
    if not isinstance(error, GraphBubbleUp):
        return None
    return _LEAVES if isinstance(error, ParentCommand) else _ASKS


def unsteered(error: Exception, *, where: str) -> Exception:
    """Return what the call of a graph raises for an activity's error.

    Args:
        error: The error.
        where: The state.
    """
    message = steering(error)
    if message is None:
        return error
    what, _, fix = message.partition("; ")
    made = DefinitionError(what, where=where, fix=f"{fix[:1].upper()}{fix[1:]}.")
    made.__cause__ = error
    return made
