"""Histories stay well paired: a tool call without an answer gets one that says what became of it.

A model that is shown an AI message with tool calls expects a tool message for each, right behind it. A run that was
cancelled, or that died, leaves calls without (HAZARDS 17); so do histories that somebody hands in. An answer that
stands further on is put behind its call; one that answers no call before it, or an answered one, is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from langchain_core.messages import AIMessage, BaseMessage, RemoveMessage, ToolMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES, add_messages

from stateward.run.distinct import distinct, ids_of

Fate = Literal["cancelled", "lost"]
"""`cancelled`: the run was ended before the call was; `lost`: nobody knows."""

_TOLD: Mapping[Fate, str] = {
    "cancelled": "The call was cancelled: its run was ended before it had a result.",
    "lost": "The result of the call is lost: nobody knows whether it was done.",
}
_UNREAD = "The call was not made: its arguments could not be read."


Mend = Literal["added", "moved", "dropped", "renamed"]
"""What was done about a call.

added: it had no answer, and got one.
moved: its answer stood further on, and was put right behind it.
dropped: an answer was left out: it answers no call before it, or one that has its answer.
renamed: it had the id of another call of its message, and got one of its own.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dangling:
    """A tool call that is not paired with one answer right behind it."""

    call: str
    """The model's id of the call."""
    tool: str
    message: int
    """Place of the AI message in the history, from 0; of the tool message, when that was dropped."""
    mend: Mend = "added"


def dangling(messages: Sequence[BaseMessage]) -> tuple[Dangling, ...]:
    """Find the tool calls of a history that are not paired with one answer right behind them.

    Args:
        messages: The history.

    Returns:
        The calls, in the order in which they stand.
    """
    return repaired(messages, fate="lost")[1]


def repaired(
    messages: Sequence[BaseMessage], *, fate: Fate, is_open: bool = False
) -> tuple[list[BaseMessage], tuple[Dangling, ...]]:
    """Pair every tool call of a history with one answer right behind it, and leave out other answers.

    Args:
        messages: The history; it is left as it is.
        fate: What the answers that are added say.
        is_open: Whether the calls at its very end are still to be made, and so left as they are.

    Returns:
        The history, and what was done to it.
    """
    pairs = _Pairs(fate)
    for place, message in enumerate(messages):
        pairs.take(place, message)
    return pairs.whole(is_open=is_open)


@dataclass(slots=True, kw_only=True)
class _Call:
    """A call, and the answer that was found for it."""

    said: str
    """The id by which it is answered in the history."""
    id: str
    """The id that it has from now on."""
    tool: str
    is_valid: bool
    answer: ToolMessage | None = None


@dataclass(slots=True, kw_only=True)
class _Turn:
    """A message that is no answer, with the answers to its calls."""

    place: int
    message: BaseMessage
    calls: list[_Call] = field(default_factory=list[_Call])
    answers: list[BaseMessage] = field(default_factory=list[BaseMessage])
    """Those right behind it first, as they stand."""


class _Pairs:
    """A history, taken message by message; an answer is to the last call of its id that was made before it."""

    def __init__(self, fate: Fate) -> None:
        self._fate: Fate = fate
        self._turns: list[_Turn] = []
        self._open: dict[str, tuple[_Turn, list[_Call]]] = {}
        """Id to the last message that made a call of it, and those of its calls that have no answer yet."""
        self._again: set[str] = set()
        """Ids that several messages use."""
        self._gaps: list[Dangling] = []

    def take(self, place: int, message: BaseMessage) -> None:
        """Take the next message."""
        if isinstance(message, ToolMessage):
            self._answer(place, message)
            return
        turn = _Turn(place=place, message=message)
        self._turns.append(turn)
        if isinstance(message, AIMessage):
            self._make(turn, message)

    def _make(self, turn: _Turn, message: AIMessage) -> None:
        turn.message = made = distinct(message)
        entries = (*message.tool_calls, *message.invalid_tool_calls)
        for no, (entry, id) in enumerate(zip(entries, ids_of(made), strict=True)):
            said = entry["id"]
            if said is None or id is None:
                continue
            call = _Call(said=said, id=id, tool=entry["name"] or "", is_valid=no < len(message.tool_calls))
            turn.calls.append(call)
            if id != said:
                self._gap(call, turn.place, "renamed")
        for said in dict.fromkeys(call.said for call in turn.calls):
            self._again.update({said} & self._open.keys())
            self._open[said] = (turn, [call for call in turn.calls if call.said == said])

    def _answer(self, place: int, message: ToolMessage) -> None:
        turn, calls = self._open.get(message.tool_call_id) or (None, None)
        if turn is None or not calls:
            gap = Dangling(call=message.tool_call_id, tool=message.name or "", message=place, mend="dropped")
            self._gaps.append(gap)
            return
        call = calls.pop(0)
        is_renamed = call.id != message.tool_call_id
        call.answer = message.model_copy(update={"tool_call_id": call.id}) if is_renamed else message
        turn.answers.append(call.answer)
        if turn is not self._turns[-1]:
            self._gap(call, turn.place, "moved")

    def whole(self, *, is_open: bool) -> tuple[list[BaseMessage], tuple[Dangling, ...]]:
        """Put the history together."""
        whole: list[BaseMessage] = []
        for turn in self._turns:
            whole += [turn.message, *turn.answers]
            if is_open and turn is self._turns[-1]:
                break
            for call in turn.calls:
                if call.answer is None:
                    self._gap(call, turn.place, "added")
                    whole.append(self._made_up(call, turn.message))
        return whole, tuple(sorted(self._gaps, key=lambda gap: gap.message))

    def _gap(self, call: _Call, place: int, mend: Mend) -> None:
        self._gaps.append(Dangling(call=call.id, tool=call.tool, message=place, mend=mend))

    def _made_up(self, call: _Call, message: BaseMessage) -> ToolMessage:
        # The id follows from the call, so that a step that is repeated after a crash adds nothing twice.
        of = f"{message.id}-{call.id}" if call.said in self._again and message.id else call.id
        return ToolMessage(
            content=_TOLD[self._fate] if call.is_valid else _UNREAD,
            tool_call_id=call.id,
            name=call.tool,
            status="error",
            id=f"{of}-{self._fate}",
        )


def mending(values: Mapping[str, Any], keys: frozenset[str], *, fate: Fate) -> dict[str, list[BaseMessage]]:
    """Return the writes that pair the histories of a state.

    Args:
        values: The state's values.
        keys: The keys that hold messages.
        fate: What the answers that are added say.

    Returns:
        For each key whose history has a gap the messages to write: only the answers where they come at the end, else
        the whole history anew.
    """
    writes: dict[str, list[BaseMessage]] = {}
    for key in sorted(keys):
        history = cast("Sequence[BaseMessage]", values.get(key) or [])
        whole, _ = repaired(history, fate=fate)
        if whole != list(history):
            is_end = whole[: len(history)] == list(history)
            writes[key] = whole[len(history) :] if is_end else [RemoveMessage(id=REMOVE_ALL_MESSAGES), *whole]
    return writes


def paired(
    history: Sequence[BaseMessage], given: Sequence[BaseMessage]
) -> tuple[list[BaseMessage], tuple[Dangling, ...]]:
    """Pair the history that an input makes with what a session has; calls at its end may be what the input is for.

    Args:
        history: What the session has.
        given: The messages of the input.

    Returns:
        The messages to write: those given, or the whole history anew; and what was done to it.
    """
    made = cast("list[BaseMessage]", add_messages(cast("Any", list(history)), cast("Any", list(given))))
    whole, gaps = repaired(made, fate="lost", is_open=True)
    if whole == made:
        return list(given), ()
    return [RemoveMessage(id=REMOVE_ALL_MESSAGES), *whole], gaps
