"""What a call returns that nobody streams: the values at its end, from one of LangGraph's streams and not from two.

LangGraph's `invoke` of version 1 takes the values from one stream and the questions of a run from another, for which
it tells each step once more. Its version 2 finds both in the stream of values. So we ask for that, and hand on what
version 1 would have returned.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from langgraph.checkpoint.serde.types import INTERRUPT
from langgraph.types import GraphOutput

_OTHERWISE = frozenset(("stream_mode", "subgraphs", "version"))
"""LangGraph's arguments that say what is to be returned."""


def is_final(given: Mapping[str, Any]) -> bool:
    """Tell whether a caller of `invoke` wants the values at the end, which is what it returns unless told otherwise.

    Args:
        given: LangGraph's arguments of the call.
    """
    return _OTHERWISE.isdisjoint(given)


def final(output: GraphOutput[Any]) -> Any:
    """Return what `invoke` of version 1 returns.

    Args:
        output: What it returned of version 2.

    Returns:
        The values; with what the run asks, where it waits.
    """
    if not output.interrupts:
        return output.value
    asked: dict[str, Any] = {INTERRUPT: list(output.interrupts)}
    return {**cast("dict[str, Any]", output.value), **asked} if isinstance(output.value, dict) else asked
