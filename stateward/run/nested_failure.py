"""A chart that failed as a node of another graph has not ended well because that graph goes on.

What it raised stopped the graph around, which keeps the node for its next try. LangGraph then finds a run inside that
has nothing left to do, takes its state for the node's result, and goes on as if the chart had done its work.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stateward.errors import RunError


def refuse_failed(control: Mapping[str, Any], *, chart: str, namespace: str) -> None:
    """Refuse to go on with a run inside another graph that has failed.

    Args:
        control: The control channel of its latest checkpoint; empty where it has none.
        chart: The chart's name.
        namespace: LangGraph's `checkpoint_ns` of the run.

    Raises:
        RunError: The run has failed, which is final here as at the top.
    """
    if control.get("status") != "failed":
        return
    reason: Mapping[str, Any] = control.get("reason") or {}
    node = namespace.rpartition(":")[0]
    raise RunError(
        f"The run has failed with `{reason.get('event')}`: {reason.get('data')}",
        where=f"`{reason.get('state')}` of chart `{chart}` in node `{node}`",
        fix="Go back to before that, with the `parent_config` of the state inside, which "
        "`get_state(config, subgraphs=True)` has, or say what the node came to: "
        f"`update_state(config, VALUES, as_node={node.rpartition('|')[2]!r})`.",
    )
