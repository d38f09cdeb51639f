"""Watching a run: one line for each step of its stream, and a short view of where a session stands.

Pure functions over what LangGraph hands out: the parts of `stream(stream_mode="updates")`, in every form it has (alone,
with the mode, with a namespace, as a version 2 part), and the snapshot of `get_state`.

What is shown is redacted as the policies say for the log. Of a state that works on personal or secret data no text is
shown at all, and of a conversation that such a state takes part in neither: no pattern finds what a person tells.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage
from langgraph.types import Interrupt, PregelTask, StateSnapshot

from stateward.govern.effective import Effective
from stateward.govern.kinds.redaction import BY_DEFAULT, Finding
from stateward.govern.redact import redact
from stateward.govern.sink import is_classified, taken_out
from stateward.run.checkpoint import CHANNEL
from stateward.run.plan import HUB, REST

MESSAGE_LENGTH = 140
"""Characters of a message that a line shows, the ellipsis included."""
LATEST = 5
"""Messages that a snapshot shows."""
_INTERRUPT = "__interrupt__"
_WITHHELD = "(classified)"
"""What stands in place of a text that is not shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceLine:
    """One step of a run."""

    node: str
    """The node that ran, which is the state's path; of several regions the state whose step it was; or what waits."""
    keys: tuple[str, ...] = ()
    """The state keys it wrote, sorted; without our control channel."""
    message: str = ""
    """The last message it wrote, or what is waited for; one line of at most 140 characters."""
    tools: tuple[str, ...] = ()
    """The tools that were called or are asked about, in call order."""

    def __str__(self) -> str:
        parts = [self.node, f"[{', '.join(self.keys)}]" if self.keys else "", self.message]
        called = f"-> {', '.join(self.tools)}" if self.tools else ""
        return "  ".join(part for part in (*parts, called) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Where a session stands, in short."""

    status: str
    """One of the status words; empty for a graph that is no chart and for a session that never ran."""
    at: tuple[str, ...]
    """Paths of the active innermost states."""
    messages: int
    """How many messages the session has."""
    last: tuple[str, ...]
    """The last five of them, oldest first, each as one line of at most 140 characters."""
    next: tuple[str, ...]
    """The nodes that come next; empty does not mean finished, `status` does."""
    pending: tuple[str, ...]
    """The tasks that are not done, with what they wait for or how they failed."""

    def __str__(self) -> str:
        head = f"{self.status or 'new'} at {', '.join(self.at) or '-'}; {self.messages} messages"
        tail = [f"next: {', '.join(self.next) or '-'}", f"pending: {'; '.join(self.pending) or '-'}"]
        return "\n".join([head, *(f"  {line}" for line in (*self.last, *tail))])


def trace_line(part: object, *, policies: Iterable[Effective] = ()) -> TraceLine | None:
    """Tell one part of a stream as one line.

    Args:
        part: What `stream` or `astream` yielded. A chart's step is one node; of several the first is told.
        policies: What holds in the states, such as `graph.machine.effectives.values()`; secrets are taken out without.

    Returns:
        The line; None for a part that is neither an update nor an interrupt.
    """
    data = _updates(part)
    if not data:
        return None
    node, update = next(iter(data.items()))
    if node == _INTERRUPT:
        return _waits(cast("Sequence[Interrupt]", update))
    written = list(_written(update))
    messages = [message for _, value in written for message in _messages(value)]
    state = _state(written) if node in (HUB, REST) else str(node)
    own = [each for each in policies if each.path == state]
    return TraceLine(
        node=state,
        keys=tuple(sorted({key for key, _ in written if key != CHANNEL})),
        message=message_line(messages[-1], policies=own) if messages else "",
        tools=tuple(tool for message in messages for tool in _tools(message)),
    )


def snapshot(state: StateSnapshot, *, messages: str = "messages", policies: Iterable[Effective] = ()) -> Snapshot:
    """Tell where a session stands.

    Args:
        state: From LangGraph's `get_state`, of a chart or of any graph.
        messages: The state key of the conversation.
        policies: What holds in all states, as for `trace_line`.

    Returns:
        The view.
    """
    held = tuple(policies)
    values = cast("Mapping[str, Any]", state.values or {})
    control = cast("Mapping[str, Any]", values.get(CHANNEL) or {})
    said = list(_messages(values.get(messages)))
    return Snapshot(
        status=str(control.get("status", "")),
        at=tuple(control.get("at", ())),
        messages=len(said),
        last=tuple(message_line(message, policies=held) for message in said[-LATEST:]),
        next=tuple(state.next),
        pending=tuple(_pending(task) for task in state.tasks if task.result is None),
    )


def message_line(message: BaseMessage, *, policies: Iterable[Effective] = ()) -> str:
    """Write a message as one line of at most 140 characters: who speaks, and the text or the tools it calls.

    Args:
        message: Any message; line breaks in it become spaces, and what policies keep from the log is taken out.
        policies: What holds in the states that it may come from.
    """
    held = tuple(policies)
    tools = ", ".join(_tools(message))
    if any(is_classified(each) for each in held):
        return _short(f"{message.type}: {tools or _WITHHELD}")
    classes = BY_DEFAULT.union(*(taken_out(each, sink="log") for each in held))
    return _short(f"{message.type}: {message.text or tools}", classes=classes)


def _tools(message: BaseMessage) -> Iterator[str]:
    if isinstance(message, AIMessage):
        yield from (call["name"] for call in message.tool_calls)


def _updates(part: object) -> Mapping[str, Any]:
    """Take the update out of a part: it is the last thing in each of LangGraph's forms."""
    if isinstance(part, tuple):
        several = cast("tuple[object, ...]", part)
        modes = [each for each in several[:-1] if isinstance(each, str)]
        return _updates(several[-1]) if not modes or modes == ["updates"] else {}
    if not isinstance(part, Mapping):
        return {}
    form = cast("Mapping[str, Any]", part)
    if {"type", "ns", "data"} <= form.keys():
        return cast("Mapping[str, Any]", form["data"]) if form["type"] == "updates" else {}
    return form


def _written(update: object) -> Iterator[tuple[str, object]]:
    """Yield the keys and values of a node's update; a node that writes twice gives a list."""
    if isinstance(update, Mapping):
        yield from cast("Mapping[str, object]", update).items()
    elif isinstance(update, list):
        for one in cast("list[object]", update):
            yield from _written(one)


def _messages(value: object) -> Iterator[BaseMessage]:
    several = cast("list[object]", value) if isinstance(value, list) else [value]
    yield from (each for each in several if isinstance(each, BaseMessage))


def _state(written: Sequence[tuple[str, object]]) -> str:
    """The state that a step of several regions was about, from what it wrote to the control channel."""
    for key, value in written:
        if key == CHANNEL and isinstance(value, Mapping):
            last: Mapping[str, Any] = cast("Mapping[str, Any]", value).get("last") or {}
            return str(last.get("state") or last.get("event") or HUB)
    return HUB


def _waits(interrupts: Sequence[Interrupt]) -> TraceLine:
    value: Any = interrupts[0].value if interrupts else None
    if not isinstance(value, Mapping):
        return TraceLine(node=_INTERRUPT, message=_short(str(value)))
    told = cast("Mapping[str, Any]", value)
    tools = tuple(str(ask["action_request"]["action"]) for ask in told.get("asks", ()))
    states = ", ".join(cast("Sequence[str]", told.get("states", ()))) or str(told.get("state", _INTERRUPT))
    return TraceLine(node=states, message=_awaited(told), tools=tools)


def _awaited(told: Mapping[str, Any]) -> str:
    names = [str(event["name"]) for event in told.get("events", ())]
    asks = [f"an answer to {ask['id']}" for ask in told.get("asks", ())]
    refused = f"refused: {told['refused']} " if told.get("refused") else ""
    return _short(f"{refused}waits for {', '.join((*asks, *names)) or 'an event'}")


def _pending(task: PregelTask) -> str:
    if task.error is not None:
        return _short(f"{task.name}: {task.error}")
    waits = _waits(task.interrupts) if task.interrupts else None
    return f"{task.name}: {waits.message}" if waits else task.name


def _short(text: str, *, classes: Collection[Finding] = BY_DEFAULT) -> str:
    line = " ".join(redact(text, classes=classes).split())  # before it is cut: half a secret is not found
    return line if len(line) <= MESSAGE_LENGTH else line[: MESSAGE_LENGTH - 1] + "…"
