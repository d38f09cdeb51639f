"""A tool call of a governed agent, as a generator of work: it is made, asked about, or refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from langchain_core.messages import AIMessage, BaseMessage, ToolCall

from stateward.errors import Diverged, GovernanceError
from stateward.run.door.calling import Paused
from stateward.run.door.signal import Suspend, Trip, as_error
from stateward.run.door.tool import Tool, ToolResult, refusal
from stateward.run.drive import Steps, Work
from stateward.run.governor.observation import Observation, observed
from stateward.run.governor.place import Place, timed
from stateward.run.governor.question import answered, used_up
from stateward.run.governor.record import written
from stateward.run.governor.standing import tool_number
from stateward.run.store.ask import Ask

TRIES = 100
"""Other calls that a fork has made in the place of one before nobody believes in forks any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A call that a model asks for."""

    place: Place
    tools: Mapping[str, Tool]
    """What the agent has."""
    call: ToolCall
    messages: Sequence[BaseMessage]
    """The agent's conversation; its last reply has the call."""

    @property
    def call_id(self) -> str:
        """The id of the model's tool call."""
        return str(self.call["id"] or "")

    def number(self, attempt: int) -> int:
        """Return the number of the call in its activation.

        Args:
            attempt: From 0.
        """
        reply = next((each for each in reversed(self.messages) if isinstance(each, AIMessage)), None)
        ids = [each["id"] for each in reply.tool_calls] if reply is not None else []
        place = ids.index(self.call["id"]) if self.call["id"] in ids else len(ids)
        return tool_number(place, attempt=attempt)


def tool_steps(wanted: Wanted) -> Steps[Observation]:
    """Take a tool call through the door.

    Args:
        wanted: The call.

    Returns:
        A generator of work that returns what the agent sees.

    Raises:
        FuseTripped: A fuse forbids the call.
        GraphInterrupt: A person is asked, in a plain agent.
    """
    place, attempt = wanted.place, 0
    place.refuse_ended(spare=True)
    while True:
        door = place.door(wanted.tools)
        make = partial(
            door.tool, wanted.call["name"], wanted.call["args"], call=wanted.number(attempt), call_id=wanted.call_id
        )
        try:
            result: ToolResult = yield from timed(Work(afn=make), place, door)
        except Diverged as diverged:
            if place.is_in_chart or attempt >= TRIES:
                place.tell(diverged)
                raise
            attempt += 1
        except (Suspend, Trip) as signal:
            if place.is_in_chart:
                return _left(wanted, signal)
            yield from _settled(signal, place)
        except Paused as paused:
            raise paused.cause from None
        else:
            return observed(result, call_id=wanted.call_id, name=wanted.call["name"])


def _left(wanted: Wanted, signal: Suspend | Trip) -> Observation:
    """Inside a chart, let what is around know, and the siblings of a call that is asked about end first."""
    wanted.place.tell(signal)
    if isinstance(signal, Trip):
        raise signal
    name = wanted.call["name"]  # what nobody will read: the agent ends before its model is called again
    result = refusal(name, "unknown", "a person is asked about it", call_id=wanted.call_id)
    return observed(result, call_id=wanted.call_id, name=name)


def _settled(signal: Suspend | Trip, place: Place) -> Steps[None]:
    """In a plain agent, ask a person, also about a call that a crash cut off; end it when a fuse has tripped."""
    if isinstance(signal, Suspend):
        yield from _asked(signal.asks, place)
    elif signal.ask is not None:
        yield from _asked((signal.ask,), place)
    else:
        raise as_error(signal, where=place.standing.path) from signal


def _asked(asks: Sequence[Ask], place: Place) -> Steps[None]:
    """Ask a person in LangGraph's way, and record what is answered."""
    store = place.database.asks
    stored: tuple[Ask, ...] = yield Work(fn=store.create, args=(asks,))
    for ask in stored:
        yield Work(fn=partial(written, place.database, place.standing, status="waiting"))
        before: int = yield Work(fn=partial(used_up, ask, asks=store))
        answer = answered(ask, by=place.approver, before=before)
        if not place.approver:
            raise GovernanceError(
                f"Ask `{ask.id}` can only be answered by a named person",
                where=f"session `{ask.session}`, agent `{ask.path}`",
                fix='Say who: config={"configurable": {"thread_id": …, "approver": …}}.',
            )
        yield Work(
            fn=partial(
                store.answer,
                ask.id,
                decision=answer.decision,
                by=place.approver,
                note=answer.note,
                tool=answer.tool,
                arguments=answer.arguments,
            )
        )
        yield Work(fn=partial(written, place.database, place.standing, status="running"))
