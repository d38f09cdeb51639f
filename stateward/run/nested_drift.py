"""A chart that is a node of another graph goes on only under the definition that its run began under.

At the top admission looks at the pins. Inside another graph nobody admits, and LangGraph would let a run whose state
was renamed end as if it had nothing left to do (HAZARDS 20): the wait would be gone, and the graph around would go on.
"""

from __future__ import annotations

from langchain_core.runnables import RunnableConfig
from langgraph.types import StateSnapshot

from stateward.errors import Drift
from stateward.run.admission import refuse_drift, stored
from stateward.run.called import Called
from stateward.run.checkpoint import TERMINAL
from stateward.run.configurable import with_invocation
from stateward.run.drive import Steps, Work
from stateward.run.invocation import Invocation
from stateward.run.nested import saver_in
from stateward.run.nested_failure import refuse_failed
from stateward.run.refusal import used_up
from stateward.run.snapshot import control_in, pins_of

_RESUMING = "__pregel_resuming"
"""LangGraph's name for whether the graph around goes on with a step it had begun."""
_FIX = (
    "Go on with the code and policy that started it, or let the charts inside adopt this definition: "
    "`stateward.migration.adopt_nodes(graph, config, Migration(…), by=…)`, or "
    "`stateward migrate SESSION --graph GRAPH`."
)


def same_definition(graph: Called, config: RunnableConfig, invocation: Invocation) -> Steps[None]:
    """Refuse to go on with a run inside another graph that another definition started.

    Args:
        graph: The chart.
        config: The call's config.
        invocation: The call.

    Returns:
        A generator of work.

    Raises:
        Drift: A pinned hash, or the mode, is another now. What the graph around was resumed with is given to nobody.
        RunError: It has failed.
    """
    if not config.get("configurable", {}).get(_RESUMING) or saver_in(config) is None:
        return
    snapshot: StateSnapshot = yield Work(fn=graph.get_state, afn=graph.aget_state, args=(config,))
    raw = control_in(snapshot)
    refuse_failed(raw, chart=graph.name, namespace=str(config.get("configurable", {}).get("checkpoint_ns", "")))
    if not raw or raw["status"] in TERMINAL or pins_of(raw) == graph.machine.pins:
        return
    yield from used_up(with_invocation(config, invocation))
    try:
        control = stored(snapshot, machine=graph.machine).control
        if control is not None:
            refuse_drift(graph.machine, control)
    except Drift as drift:
        node = str(config.get("configurable", {}).get("checkpoint_ns", "")).rpartition(":")[0]
        raise Drift(drift.what, where=f"chart `{graph.name}` in node `{node}`", fix=_FIX) from drift
