"""An activity in a task of its own: it sees its own region's place in LangGraph's config, and outlives the visit of the
node that began it."""

from __future__ import annotations

from contextvars import Context, copy_context
from functools import partial
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config

from stateward.run.activity import Visit, attempts
from stateward.run.drive import drive_async
from stateward.run.hub.crew import Key
from stateward.run.invocation import Invocation


async def first(
    invocation: Invocation, starting: list[Visit], config: RunnableConfig | None, *, due: float | None
) -> tuple[Key, object] | None:
    """Begin activities, and wait for the first thing that happens.

    Args:
        invocation: The call.
        starting: The visits that begin now; others run already.
        config: LangGraph's config of the hub that begins them; None where the node is the state's own.
        due: When the next timer is due, in seconds since the epoch; None when none is pending.

    Returns:
        Key and result of an activity that has finished; None when something may have come from outside.
    """
    attention = invocation.attention
    for visit in starting:
        work = partial(drive_async, attempts(visit), threads=invocation.threads)
        attention.crew.begin(visit.key, work, context=_context(config, visit.plan.node.path))
    mailbox = invocation.database.mailbox if invocation.shared else None
    return await attention.first(mailbox=mailbox, session=invocation.session, due=due, now=invocation.now)


def _context(config: RunnableConfig | None, path: str) -> Context:
    """The context variables of a task: LangChain and LangGraph find their config in one of them."""
    context = copy_context()
    if config is not None:
        context.run(var_child_runnable_config.set, of_region(config, path))
    return context


def of_region(config: RunnableConfig, path: str) -> RunnableConfig:
    """Name a region's state where LangGraph names the node: streams tell by it whose tokens and subgraphs they show.

    Args:
        config: LangGraph's config of the hub.
        path: The state whose activity runs.
    """
    configurable: dict[str, Any] = config.get("configurable", {})
    around, bar, own = str(configurable.get("checkpoint_ns", "")).rpartition("|")
    namespace = f"{around}{bar}{path}:{own.rpartition(':')[2]}"
    metadata = {**config.get("metadata", {}), "langgraph_node": path, "langgraph_checkpoint_ns": namespace}
    return {**config, "metadata": metadata, "configurable": {**configurable, "checkpoint_ns": namespace}}
