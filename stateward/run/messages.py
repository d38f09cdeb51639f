"""Message channels that grow linearly on disk.

LangGraph's `add_messages` channel writes the whole history into every checkpoint (84.9 MB for 200 turns of 1 kB). A
`DeltaChannel` writes only what is new. Its stable message reducer is private in langgraph 1.2, so it is imported here
and nowhere else, and langgraph is pinned below 1.3 (DESIGN decision 14).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, cast, get_args, get_origin

from langchain_core.messages import AnyMessage
from langgraph.channels.base import BaseChannel
from langgraph.channels.binop import BinaryOperatorAggregate
from langgraph.channels.delta import DeltaChannel
from langgraph.graph.message import (
    _messages_delta_reducer as messages_reducer,  # pyright: ignore[reportPrivateUsage]  # see the module docstring
)
from langgraph.graph.message import add_messages

from stateward.run.growing import GrowingDelta

SNAPSHOT_EVERY = 100
"""Updates between two full copies of a short history; a long one has fewer (see `GrowingDelta`)."""


def _channel() -> GrowingDelta:
    reducer = cast("Callable[[Any, Sequence[Any]], Any]", messages_reducer)  # it takes lists, and is given lists
    return GrowingDelta(reducer, snapshot_frequency=SNAPSHOT_EVERY)


Messages = Annotated[list[AnyMessage], _channel()]
"""A state key that holds the conversation: `messages: sw.Messages`."""


def is_message_channel(channel: BaseChannel[Any, Any, Any]) -> bool:
    """Whether a channel holds messages.

    Args:
        channel: A channel of a state schema.

    Returns:
        True when its reducer is LangGraph's message reducer, in either form.
    """
    if isinstance(channel, DeltaChannel):
        return channel.reducer is messages_reducer
    return isinstance(channel, BinaryOperatorAggregate) and channel.operator is add_messages


def linear(declared: Any) -> Any:  # a type annotation
    """Swap `add_messages` for the linear channel in a type annotation.

    Args:
        declared: The annotation of a state key.

    Returns:
        The annotation, with LangGraph's message reducer replaced; any other annotation unchanged.
    """
    if get_origin(declared) is Annotated and add_messages in get_args(declared)[1:]:
        return Annotated[get_args(declared)[0], _channel()]
    return declared
