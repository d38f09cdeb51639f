"""What an activity gets as `run`: its door to tools and models, its events, its session.

An async activity gets a `Run` whose calls are awaited, a sync one a `SyncRun` with the same names whose calls return
their result. Both number the calls of the activation in the order in which they are made.
"""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast

from langchain_core.language_models import BaseChatModel
from langgraph.store.base import BaseStore
from typing_extensions import TypeVar as DefaultTypeVar

from stateward.chart.delay import Cancel, Delayed, Schedule
from stateward.chart.event import Event, Occurrence, occurrence_of
from stateward.errors import DefinitionError, RunError
from stateward.run.container import Container, Owned
from stateward.run.door.calling import Calling
from stateward.run.door.door import Door
from stateward.run.door.model import GovernedModel
from stateward.run.door.role import ModelRole
from stateward.run.door.signal import Signal
from stateward.run.door.time_left import TimeLeft
from stateward.run.door.tool import Tool, ToolCall, ToolResult
from stateward.run.drive import Bridge
from stateward.run.invocation import Invocation
from stateward.run.people.asking import put, put_all
from stateward.run.people.question import Question

C = DefaultTypeVar("C", default=Any)
T = TypeVar("T")


@dataclass(slots=True, kw_only=True)
class Core(Generic[C]):
    """What `Run` and `SyncRun` share."""

    path: str
    """The state this activity belongs to."""
    activation: int
    """The n-th entry into this state on this branch."""
    event: Occurrence | None
    """What brought the chart here, when it was an event."""
    context: C
    """LangGraph's `context=`."""
    time: TimeLeft
    """How long the activity may still take."""
    _invocation: Invocation
    _make_door: Callable[[], Door]
    _roles: Mapping[str, ModelRole]
    _declared_role: str | None
    _store: BaseStore | None
    _writer: Callable[[Any], None]
    _tools: Callable[[], Mapping[str, Tool]] = dict
    """All tools that the chart's states declare."""
    _asks: bool = False
    """Whether the state declares that its activity asks people."""
    feedback: str = ""
    """Why the gate sent the last attempt back; empty on the first."""
    attempt: int = 1
    """1 on the first attempt, more when the gate sent one back."""
    raised: list[Occurrence] = field(default_factory=list[Occurrence])
    timers: list[Schedule | Cancel] = field(default_factory=list[Schedule | Cancel])
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    _door: Door | None = None
    _calling: Calling | None = None
    _is_left: bool = False
    """Whether its state was left, or the activity's time is over, although it may still run."""

    @property
    def session(self) -> Owned:
        """The session: its id, and what belongs to it (`scratch`, `staged`, `tenant`)."""
        invocation = self._invocation
        held = invocation.container or Container(session=invocation.session, tenant=invocation.tenant)
        return Owned.of(held)

    @property
    def deadline(self) -> float | None:
        """Seconds until the call around must have ended, at least 0; None when nobody gave it a deadline."""
        return self._invocation.alarm.left_s

    @property
    def tenant(self) -> str:
        """Whose session this is; empty when nobody said."""
        return self._invocation.tenant

    @property
    def store(self) -> BaseStore:
        """LangGraph's long-term store.

        Raises:
            RunError: The graph was compiled without one.
        """
        if self._store is None:
            raise RunError("The graph has no store", where=self.path, fix="Pass `store=` to `compile`.")
        return self._store

    @property
    def door(self) -> Door:
        """The governed way out of this activation."""
        if self._door is None:
            self._door = self._make_door()
            if self._is_left:
                self._door.in_flight.close()
        return self._door

    @property
    def calling(self) -> Calling:
        """The activity as what agents run in."""
        if self._calling is None:
            self._calling = Calling(door=self.door, call=0, around=None)
        return self._calling

    @property
    def remaining(self) -> Mapping[str, float]:
        """What is left of each limited unit (`turns`, `calls`, `tokens`, `usd`, `runtime_s`), by the tightest scope."""
        return self.door.remaining()

    def raise_event(self, event: Event | Occurrence | str, *, after_s: float | None = None, id: str = "") -> None:
        """Raise an event: an internal one now, or one that comes later as if from outside.

        An internal one is processed when the activity has ended, before its completion. What is to come later is set
        when the step commits that the activity ends with, and survives a restart.

        Args:
            event: A typed event, or the bare name of one without data.
            after_s: Seconds from the commit, finite and at least 0; 0 is after the whole step. None for now.
            id: A name to cancel it by, of one that comes later; empty if that is not wanted.

        Raises:
            ValueError: `after_s` is negative or not finite, `id` is no text or looks like a timer of the chart's own,
                or is given to one that comes now.
            DefinitionError: It is no event, the class of one for instance, or a bare name is not a legal event name.
        """
        if not isinstance(cast("object", event), Event | Occurrence | str):
            raise DefinitionError(
                f"`raise_event` was given {event!r}, which is no event that could happen",
                where=self.path,
                fix="Give a typed event, an instance and not its class, or a bare name.",
            )
        if after_s is not None:
            self.timers.append(Delayed(event, after_s=after_s, id=id).schedule())
        elif id != "":
            raise ValueError(f"The event with the id `{id}` comes now; give it `after_s` if it is to come later")
        else:
            self.raised.append(occurrence_of(event))

    def cancel_event(self, id: str) -> None:
        """Forget the events of an id that are to come later; nothing happens if there are none.

        Args:
            id: The id given to `raise_event` or `Delayed`; not empty.

        Raises:
            ValueError: The id is empty, or looks like a timer of the chart's own.
        """
        self.timers.append(Delayed.cancel(id))

    def emit(self, data: object) -> None:
        """Send data to the `custom` stream of the graph; nothing is sent any more once the state was left.

        Args:
            data: Anything a reader of the stream understands.
        """
        if not self._is_left:
            self._writer(data)

    def model(self, role: str | None = None) -> BaseChatModel:
        """Return the governed chat model of a role.

        Args:
            role: A role the state declares; default the one it declares.

        Returns:
            A chat model every call of which goes through the door.

        Raises:
            DefinitionError: The state declares no model, another one, or nobody configured it.
        """
        wanted = role or self._declared_role
        if wanted is None or wanted != self._declared_role:
            raise DefinitionError(
                f"The activity asks for the model `{wanted or '(none)'}`, the state declares "
                f"`{self._declared_role or '(none)'}`",
                where=self.path,
                fix="Declare it: `State(…, model=ROLE)`.",
            )
        if wanted not in self._roles:
            raise DefinitionError(
                f"Nobody configured a model for the role `{wanted}`",
                where=self.path,
                fix=f"Configured: {', '.join(sorted(self._roles)) or 'none'}. Pass `compile(models={{…}})`.",
            )
        return GovernedModel.of(self._roles[wanted], door=self.door, number=self.number, roles=self._roles)

    def shown(self, names: Iterable[str]) -> list[Tool]:
        """Return tools that a model here may be shown, for another state to call: those that no policy forbids.

        Args:
            names: Tools that states of the chart declare.
        """
        known = self._tools()
        return [known[name] for name in names if self.door.effective.level(name).level != "forbidden"]

    @property
    def signal(self) -> Signal | None:
        """Why the activity must end here, or None."""
        return self._door.signal if self._door is not None else None

    def leave(self) -> None:
        """Let the activity pay for nothing more and be heard no more: its thread, or its task, may go on."""
        self._is_left = True
        if self._door is not None:
            self._door.in_flight.close()

    async def rest(self, *, cancel: bool = False) -> None:
        """Wait for calls the activity started and did not wait for.

        Args:
            cancel: Whether to end them at once.
        """
        if self._door is not None:
            await self._door.in_flight.rest(cancel=cancel)

    def number(self) -> int:
        """Take the next call number of the activation.

        Raises:
            RunError: A tool asks: it makes no calls of its own.
        """
        self.door.in_flight.check_outside()
        return next(self._numbers)

    def number_questions(self, questions: Sequence[Question[T]]) -> list[tuple[Question[T], int]]:
        """Number questions in their order.

        Args:
            questions: What people are asked.

        Raises:
            DefinitionError: The state does not declare that its activity asks people.
        """
        if not self._asks:
            raise DefinitionError(
                "The activity asks people, and its state does not say so",
                where=self.path,
                fix="Say `State(…, asks=True)`.",
            )
        return [(question, self.number()) for question in questions]

    def number_calls(self, calls: Sequence[ToolCall]) -> list[tuple[int, str, Mapping[str, Any], str]]:
        """Number a batch of calls in call order.

        Args:
            calls: Each with `name`, `args`, and optionally `id`.
        """
        return [(self.number(), call["name"], call["args"], str(call.get("id") or "")) for call in calls]


class Run(Core[C], Generic[C]):
    """The run as an async activity sees it."""

    def tool(self, name: str, /, **arguments: Any) -> Awaitable[ToolResult]:
        """Call a tool through the door.

        Args:
            name: A tool the state declares.
            arguments: Its arguments.

        Returns:
            An awaitable of the observation: the result, or why there is none.
        """
        return self.door.tool(name, arguments, call=self.number())

    def tools(self, calls: Sequence[ToolCall]) -> Awaitable[list[ToolResult]]:
        """Call several tools at the same time; results come back in call order.

        Args:
            calls: Each with `name`, `args`, and optionally `id`, as in an AI message's `tool_calls`.

        Returns:
            An awaitable of the observations. Calls that need a person are asked about together.
        """
        return self.door.tools_batch(self.number_calls(calls))

    def ask(self, question: Question[T]) -> Awaitable[T]:
        """Ask a person; the activity is entered again when the question is answered, and gets the answer here.

        Args:
            question: Made with `stateward.ask`.

        Returns:
            An awaitable of the answer.
        """
        ((_, number),) = self.number_questions([question])
        return put(self.door, question, call=number)

    def ask_all(self, questions: Sequence[Question[T]]) -> Awaitable[list[T]]:
        """Ask several questions at once; each may be answered by somebody else, in any order.

        Args:
            questions: Made with `stateward.ask`.

        Returns:
            An awaitable of the answers, in the order of the questions.
        """
        return put_all(self.door, self.number_questions(questions))


class SyncRun(Core[C], Generic[C]):
    """The run as a sync activity sees it; the same names, the calls block."""

    def tool(self, name: str, /, **arguments: Any) -> ToolResult:
        """Call a tool through the door.

        Args:
            name: A tool the state declares.
            arguments: Its arguments.

        Returns:
            The observation: the result, or why there is none.
        """
        number, door = self.number(), self.door
        return self._bridge.call(lambda: door.tool(name, arguments, call=number))

    def tools(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Call several tools at the same time; results come back in call order.

        Args:
            calls: Each with `name`, `args`, and optionally `id`.

        Returns:
            The observations. Calls that need a person are asked about together.
        """
        numbered, door = self.number_calls(calls), self.door
        return self._bridge.call(lambda: door.tools_batch(numbered))

    def ask(self, question: Question[T]) -> T:
        """Ask a person; the activity is entered again when the question is answered, and gets the answer here.

        Args:
            question: Made with `stateward.ask`.

        Returns:
            The answer.
        """
        door, ((_, number),) = self.door, self.number_questions([question])
        return self._bridge.call(lambda: put(door, question, call=number))

    def ask_all(self, questions: Sequence[Question[T]]) -> list[T]:
        """Ask several questions at once; each may be answered by somebody else, in any order.

        Args:
            questions: Made with `stateward.ask`.

        Returns:
            The answers, in the order of the questions.
        """
        door, numbered = self.door, self.number_questions(questions)
        return self._bridge.call(lambda: put_all(door, numbered))

    @property
    def _bridge(self) -> Bridge:
        return self._invocation.bridge
