"""The SCXML event processor: sessions, what they send each other, what they invoke, and one clock that a test moves.

Everything inside a chart is the chart's: `<send>` to itself is a delayed event, the data are one state key. What lies
between sessions is here, and happens between two macrosteps.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from stateward.chart.event import Occurrence
from stateward.testing import ManualClock
from tests.conformance.block import SESSION, Json, opening
from tests.conformance.document import Document
from tests.conformance.engine import Engine
from tests.conformance.event_view import ended, from_outside, is_end, reported
from tests.conformance.invocation import Ready, prepared
from tests.conformance.session import Finalize, Invoked, Session
from tests.conformance.value import ScriptError

Make = Callable[[Document, str], Engine]
"""Makes the engine of a session, given its document and its id: one of the three ways to run."""
MOST = 10_000
"""How many deliveries one `settle` may take, so that a wrong document ends."""


@dataclass(frozen=True, slots=True)
class _Message:
    """A message between sessions that waits for its time."""

    due: float
    sender: Session
    to: str
    event: Json
    sendid: str | None


class Processor:
    """Runs one document and all it invokes.

    Args:
        document: The document.
        clock: The clock; it is moved here only.
        make: Makes the engine of each session.
        latency_s: How long messages of a session to itself are on their way at least.
    """

    def __init__(self, document: Document, *, clock: ManualClock, make: Make, latency_s: float) -> None:
        self._make = make
        self._clock = clock
        self._latency_s = latency_s
        self._sessions: list[Session] = []
        self._queue: deque[tuple[Session, Occurrence, str]] = deque()
        self._waiting: list[_Message] = []
        self.main = self._opened(document)

    @property
    def now(self) -> float:
        """The time in seconds."""
        return self._clock.now()

    def start(self) -> None:
        """Start the document."""
        self._start(self.main, given={})

    def tell(self, name: str) -> None:
        """Send the document an event from outside, after all that is on its way now."""
        self.settle(until=self.now)
        self._deliver(self.main, from_outside(name))

    def settle(self, *, until: float = math.inf) -> None:
        """Let time pass: deliver everything that becomes due, in order, until the document ends or the time is over.

        Args:
            until: The time in seconds.
        """
        for _ in range(MOST):
            if self._queue:
                self._deliver(*self._queue.popleft())
                continue
            moment = self._next()
            if moment is None or moment > until or (self.main.ended and math.isinf(until)):
                break
            self._clock.advance(max(0.0, moment - self.now))
            self._fire_first()
        if math.isfinite(until):
            self._clock.advance(max(0.0, until - self.now))

    # Time

    def _next(self) -> float | None:
        timers = [each.due for session in self._running() for each in session.engine.pending[:1]]
        return min([*timers, *(message.due for message in self._waiting)], default=None)

    def _fire_first(self) -> None:
        for session in self._running():
            if self._fire(session):
                return
        due = [message for message in self._waiting if message.due <= self.now]
        self._waiting = [message for message in self._waiting if message.due > self.now]
        for message in due:
            self._send(message)

    def _fire(self, session: Session) -> bool:
        """Let a session take the events it sent itself that are due; tell whether there were any."""
        due = [each.event for each in session.engine.pending if each.due <= self.now]
        if not due:
            return False
        self._forward(session, due[0])
        session.engine.fire()
        self._after(session)
        return True

    # Between macrosteps

    def _running(self) -> list[Session]:
        return [session for session in self._sessions if not session.ended]

    def _opened(self, document: Document, *, parent: Session | None = None, invoked_as: str = "") -> Session:
        name = f"{SESSION}{len(self._sessions) + 1}"
        session = Session(
            id=name,
            document=document,
            engine=self._make(document, name),
            parent=parent,
            invoked_as=invoked_as,
        )
        self._sessions.append(session)
        return session

    def _start(self, session: Session, *, given: Json) -> None:
        data = opening(
            session.id,
            name=session.document.name,
            latency_s=self._latency_s,
            given=given,
            invoked_as=session.invoked_as,
        )
        session.engine.start(data)
        self._after(session)

    def _deliver(self, session: Session, event: Occurrence, sender: str = "") -> None:
        """Give a session an event from outside, after what it sent itself and is due.

        Args:
            session: Who gets it.
            event: The event.
            sender: The id of the invocation whose session sent it, if one of the receiver's did.
        """
        while not session.ended and self._fire(session):
            pass
        if session.ended or (sender and sender not in session.invoked):
            return
        if sender and session.invoked[sender].state in session.configuration.active:
            session.finalize(session.invoked[sender], event)
        if is_end(event):
            del session.invoked[sender]
        self._forward(session, event)
        session.engine.tell(event)
        self._after(session)

    def _forward(self, session: Session, event: Occurrence) -> None:
        """Source: SCXML 6.4.1, autoforward."""
        for invoked in session.invoked.values():
            if invoked.forwards:
                self._queue.append((invoked.session, event, ""))

    def _after(self, session: Session) -> None:
        """Do what a session left to be done after a macrostep."""
        for message in session.mail():
            self._post(session, message)
        if session.ended:
            return
        if session.is_final:
            self._end(session)
        else:
            self._invoke(session)

    def _end(self, session: Session) -> None:
        last = session.exit()
        session.ended = True
        for message in last["outbox"][session.sent :]:
            self._post(session, message)
        self._waiting = [message for message in self._waiting if message.sender is not session]
        for invoked in session.invoked.values():
            self._stop(invoked.session)
        if session.parent is not None:
            output = session.output()
            told = {"data": output} if output is not None else {}
            path = session.parent.document.chart.nodes[session.parent.invoked[session.invoked_as].state].path
            done = ended(session.invoked_as, path=path, **told)
            self._queue.append((session.parent, done, session.invoked_as))

    def _stop(self, session: Session) -> None:
        session.ended = True
        self._waiting = [message for message in self._waiting if message.sender is not session]
        for invoked in session.invoked.values():
            self._stop(invoked.session)

    # Messages

    def _post(self, sender: Session, message: Json) -> None:
        if "cancel" in message:
            own = [m for m in self._waiting if m.sender is sender and m.sendid == message["cancel"]]
            self._waiting = [m for m in self._waiting if m not in own]
            return
        due = self.now + message["delay_s"]
        posted = _Message(due, sender, message["to"], message["event"], message["sendid"])
        if message["delay_s"] > 0:
            self._waiting.append(posted)
            self._waiting.sort(key=lambda each: each.due)
        else:
            self._send(posted)

    def _send(self, message: _Message) -> None:
        sender = message.sender
        receiver = self._reached(sender, message.to)
        if receiver is None:
            if not sender.ended:
                error = reported("error.communication", f"{message.to} is not there", sendid=message.sendid)
                sender.engine.tell(error)
                self._after(sender)
            return
        fields = dict(message.event["fields"])
        invocation = sender.invoked_as if receiver is sender.parent else ""
        if invocation:
            fields["invokeid"] = invocation
        self._queue.append((receiver, from_outside(message.event["name"], **fields), invocation))

    def _reached(self, sender: Session, target: str) -> Session | None:
        """Return the session a target means. Source: SCXML C.1."""
        if target == "#_parent":
            return sender.parent
        if target.startswith("#_scxml_"):
            wanted = target.removeprefix("#_scxml_")
            return next((session for session in self._running() if session.id == wanted), None)
        invoked = sender.invoked.get(target.removeprefix("#_"))
        return invoked.session if invoked and not invoked.session.ended else None

    # Invocations

    def _invoke(self, session: Session) -> None:
        """Stop what belongs to states that were left, and invoke for states that were entered and stayed."""
        configuration = session.configuration
        for name, invoked in list(session.invoked.items()):
            again = configuration.activation(invoked.state) != invoked.activation
            # What one that has ended sent before is still on its way.
            if not invoked.session.ended and (again or invoked.state not in configuration.active):
                self._stop(invoked.session)
                del session.invoked[name]
        for state in configuration.active:
            activation = configuration.activation(state)
            if session.document.invokes[state] and session.known.get(state) != activation:
                session.known[state] = activation
                self._invoke_all(session, state)

    def _invoke_all(self, session: Session, state: int) -> None:
        for invoke in session.document.invokes[state]:
            try:
                ready = prepared(session, invoke)
            except ScriptError as error:
                session.engine.tell(reported("error.execution", str(error)))
                self._after(session)
                continue
            self._enter(session, ready, state=state, finalize=invoke.finalize)

    def _enter(self, session: Session, ready: Ready, *, state: int, finalize: Finalize) -> None:
        inner = self._opened(ready.document, parent=session, invoked_as=ready.id)
        session.invoked[ready.id] = Invoked(
            session=inner,
            state=state,
            activation=session.configuration.activation(state),
            forwards=ready.forwards,
            finalize=finalize,
        )
        self._start(inner, given=ready.given)
