"""One call of a compiled graph: who owns the session, where the tables are, and which loop serves sync code.

It travels in the run's config under a private key and is never stored on the graph, so that one graph serves any
number of sessions at once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from threading import Lock, current_thread
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.runtime import RunControl

from stateward.chart.configuration import Configuration
from stateward.errors import SessionBusy
from stateward.run.alarm import Alarm
from stateward.run.brake import Brake
from stateward.run.container import Container
from stateward.run.door.script import Script
from stateward.run.door.straggler import Stragglers
from stateward.run.door.traffic import Traffic
from stateward.run.drive import Bridge
from stateward.run.events.listener import Listener
from stateward.run.hub.attention import Attention
from stateward.run.presence import Presence, outwait
from stateward.run.registry import Live
from stateward.run.store.database import Database
from stateward.run.store.lease import Lease
from stateward.run.store.turns import Place
from stateward.run.text import checked_text
from stateward.run.threads import Threads

DRAINED = "drained"
"""The reason LangGraph gives when a call ends after its step because somebody wanted it."""
KEY = "__stateward_invocation"
"""Two underscores: LangGraph keeps such keys out of checkpoint metadata."""


@dataclass(slots=True)
class ToParent:
    """What a nested call tells the graph it is a node of."""

    shared: Mapping[str, Sequence[Any]] | None = None
    """The updates of each reduced key; None while no node of the run was visited in this call."""
    taken: bool = False
    """Whether the call it was made for has found it; calls inside that one are not the parent's."""


@dataclass(slots=True)
class Invocation:
    """What the nodes of one graph call share."""

    session: str
    open_database: Callable[[], Database]
    bridge: Bridge
    threads: Threads = field(default_factory=Threads)
    """Where blocking code runs."""
    tenant: str = ""
    """Whose session it is: `tenant` in the config's `configurable`."""
    approver: str = ""
    """Who answers asks in this call: `approver` in the config's `configurable`."""
    user: str = ""
    """Who gives the input of this call: `user` in the config's `configurable`, else the approver."""
    lease: Lease | None = None
    serde: SerializerProtocol | None = None
    """What its checkpoints are written with; None where nothing is kept."""
    shared: bool = False
    """Whether others can reach the session while it runs: its graph has a saver."""
    failure: BaseException | None = None
    """What failed the run; it is raised to whoever called the graph."""
    failures: dict[str, Exception] = field(default_factory=dict[str, Exception])
    """State path to what failed a region while others went on."""
    attention: Attention = field(default_factory=Attention)
    """The activities that run in tasks of their own, and what they are waited for beside."""
    context: object = None
    standing: tuple[object, Configuration] | None = None
    """Where the last step led, and the `last` of the control channel by which its checkpoint is known again."""
    parent: ToParent | None = None
    """Where a run that is a node of another graph notes its updates."""
    presence: Presence | None = field(default=None, init=False)
    """What later calls from the same place see of this one; None where it holds no session."""
    script: Script | None = None
    """In a replay, what stands in the place of tools and models."""
    stragglers: Stragglers = field(default_factory=Stragglers)
    """Its sync code in threads; a call from inside another graph's node shares those of the call around."""
    shared_traffic: Traffic | None = None
    """The traffic of the call around, where it comes from inside another graph's node."""
    traffic: Traffic = field(init=False)
    """What its governed calls share."""
    brake: Brake = field(init=False)
    """What stops its nodes from outside."""
    alarm: Alarm = field(default_factory=lambda: Alarm(None))
    """The outer deadline of the call: `deadline` in the config's `configurable`."""
    container: Container | None = None
    """What belongs to its session, when the caller brought something."""
    listener: Listener | None = None
    """Who hears what it tells; None while nobody reads its events."""
    turn: Place | None = None
    """Where the call has waited for its turn."""
    control: RunControl = field(default_factory=RunControl)
    """LangGraph's control of the call, by which it ends after its step."""
    _database: Database | None = None
    _left: bool = False
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        """Let later calls from the same place see this one, and give it a brake of its own."""
        self.presence = Presence(self.session) if self.shared else None
        self.brake = Brake(self.bridge)
        self.traffic = self.shared_traffic or Traffic(check=self.bridge.check)

    def acquire(self, graph: str, after: int | None) -> None:
        """Take the lease of the session and keep it here, where it is found although the caller was cancelled.

        Args:
            graph: The graph's name.
            after: The fence the caller saw, or None when it did not look.

        Raises:
            SessionBusy: Another run holds the session, or held it since the caller looked.
            UnknownSession: The session belongs to another tenant.
        """
        leases = self.database.leases
        take = partial(leases.acquire, self.session, graph=graph, tenant=self.tenant, after=after)
        try:
            lease = take()
        except SessionBusy:
            if not outwait(self.session, own=self.presence):
                raise
            lease = take()
        with self._lock:
            left = self._left
            self.lease = None if left else lease
        if left:
            leases.withdraw(lease)
            return
        if self.turn is not None:
            self.database.turns.leave(self.turn)
        self._enter(graph, lease)

    def _enter(self, graph: str, lease: Lease) -> None:
        live = Live(
            session=self.session,
            graph=graph,
            fence=lease.fence,
            since=self.now(),
            thread=current_thread().name,
            halt=self.brake.pull,
            drain=self.drain,
            running=lambda: self.stragglers.names,
            is_gone=None if self.bridge.caller is None else self.bridge.caller.is_closed,
            abandon=self.abandon,
        )
        self.database.registry.enter(live)

    def drain(self) -> None:
        """Let the call end after its step; from any thread."""
        self.control.request_drain(DRAINED)

    def controlled_by(self, given: RunControl | None) -> RunControl:
        """Return LangGraph's control of the call: the caller's, when there is one.

        Args:
            given: What the caller passed to LangGraph.
        """
        if given is not None:
            own, self.control = self.control, given
            if own.drain_requested:
                self.drain()
        return self.control

    def leave(self) -> None:
        """End the call before it began: give back the lease, also one that is just being taken.

        A session that it would have opened is not there then.
        """
        with self._lock:
            self._left = True
            lease = self.lease
        if lease is not None:
            try:
                self.database.leases.withdraw(lease)
            finally:
                self.database.registry.leave(self.session, fence=lease.fence)
            self.lease = None  # not before: interrupted, this is done once more
        self.gone()

    def abandon(self) -> None:
        """End the call as `leave` does, when nothing of it can run any more but its sync code in threads."""
        if not self.stragglers.outlast(self.leave):
            self.leave()

    def gone(self) -> None:
        """Let calls from the same place go on that wait until this one is over."""
        if self.presence is not None:
            self.presence.end()

    @property
    def database(self) -> Database:
        """The tables, opened when first needed."""
        with self._lock:
            if self._database is None:
                self._database = self.open_database()
            return self._database

    @property
    def has_database(self) -> bool:
        """Whether the tables are open: nobody may have needed them."""
        with self._lock:
            return self._database is not None

    def close_database(self) -> None:
        """Close the tables, when they were opened; for those that live only as long as this call."""
        with self._lock:
            database, self._database = self._database, None
        if database is not None:
            database.close()

    def now(self) -> float:
        """Return the time of the session's database, in seconds since the epoch."""
        return self.database.clock.now()

    @property
    def fence(self) -> int | None:
        """The fencing token of the lease, or None when nothing is leased."""
        return self.lease.fence if self.lease else None


def invocation_of(config: RunnableConfig) -> Invocation:
    """Find the invocation a node runs in.

    Args:
        config: The node's config.

    Returns:
        The invocation that the graph's `stream` or `astream` put there.
    """
    return cast(Invocation, config.get("configurable", {})[KEY])


def session_of(config: RunnableConfig) -> str | None:
    """Return the session id (LangGraph's `thread_id`) a config names, or None; an empty one names none.

    Args:
        config: Any runnable config.

    Raises:
        InputRefused: The id cannot be kept.
    """
    thread: Any = config.get("configurable", {}).get("thread_id")
    return None if thread is None or thread == "" else checked_text(str(thread), what="`thread_id`")


def new_id(prefix: str) -> str:
    """Return a new id for a run or a nameless session.

    Args:
        prefix: What the id is for.
    """
    return f"{prefix}_{os.urandom(6).hex()}"
