"""What belongs to a session, and the calls that it makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from langchain_core.runnables import RunnableConfig

from stateward.errors import InputRefused
from stateward.run.alarm import checked_deadline
from stateward.run.caller import Caller
from stateward.run.container import KEY, Container
from stateward.run.drive import Bridge, Steps, Work, doing, drive_async, drive_sync
from stateward.run.events.listener import LISTEN
from stateward.run.going import Provider, Terms
from stateward.run.graph import ChartGraph
from stateward.run.outcome import Outcome
from stateward.run.override import refuse_strange_roles, roles
from stateward.run.seat import seated
from stateward.run.store.database import Database
from stateward.run.store.session_row import SessionRow
from stateward.run.streaming import Said, streaming
from stateward.run.text import checked_session, checked_text

T = TypeVar("T")

OnDrift = Literal["refuse", "keep"]
"""What becomes of an unfinished run that began under another definition.

refuse: it does not go on, and the error names what differs.
keep: it goes on under the policies that it began under, when nothing but a policy is another one; else it is refused.
"""


@dataclass(frozen=True, slots=True)
class Conversation:
    """What belongs to a session; `Session` says what each field is."""

    id: str
    graph: ChartGraph
    database: Database
    context: Any = field(default=None, kw_only=True)
    tenant: str = field(default="", kw_only=True)
    user: str = field(default="", kw_only=True)
    deadline_s: float | None = field(default=None, kw_only=True)
    queue: int = field(default=0, kw_only=True)
    queue_wait_s: float = field(default=60.0, kw_only=True)
    staged: Mapping[str, Any] = field(default_factory=dict[str, Any], kw_only=True)
    models: Mapping[str, Any] = field(default_factory=dict[str, Any], kw_only=True)  # as for `compile`
    scratch: Path | None = field(default=None, kw_only=True)
    provider: Provider | None = field(default=None, kw_only=True)
    drift: OnDrift = field(default="refuse", kw_only=True)

    def __post_init__(self) -> None:
        """Check what was given, and bring the graph to the database before anything runs."""
        checked_session(self.id)
        checked_text(self.tenant, what=f"the tenant of session `{self.id}`")
        checked_text(self.user, what=f"the user of session `{self.id}`")
        if self.queue < 0:
            raise InputRefused(f"The queue of session `{self.id}` is {self.queue}", fix="Give a number from 0.")
        checked_deadline(self.deadline_s)
        refuse_strange_drift(self.drift)
        refuse_strange_roles(self.models, self.graph.machine)
        object.__setattr__(self, "graph", seated(self.graph, self.database))

    @property
    def config(self) -> RunnableConfig:
        """LangGraph's config of this session, with what belongs to it."""
        configurable: dict[str, Any] = {"thread_id": self.id}
        if self.tenant:
            configurable["tenant"] = self.tenant
        if self.user:
            configurable["user"] = self.user
        if self.deadline_s is not None:
            configurable["deadline"] = self.deadline_s
        if self.tenant or self.staged or self.models or self.scratch is not None:
            configurable[KEY] = self._container
        return {"configurable": configurable}

    @property
    def _container(self) -> Container:
        given, root = roles(self.models), self.scratch
        return Container(session=self.id, tenant=self.tenant, staged=self.staged, models=given, root=root)

    @property
    def _caller(self) -> Caller:
        return Caller(
            session=self.id,
            graph=self.graph,
            database=self.database,
            config=self.config,
            context=self.context,
            keeps=self.drift == "keep",
        )

    @property
    def _terms(self) -> Terms:
        return Terms(
            container=self._container,
            deadline_s=self.deadline_s,
            queue=self.queue,
            queue_wait_s=self.queue_wait_s,
            provider=self.provider,
        )

    def _streaming(self, said: Said, options: Mapping[str, Any], *, heard: bool = False) -> Steps[object]:
        caller = self._caller
        if heard:
            caller = replace(caller, config=caller.configured({LISTEN: True}))
        return streaming(caller, said, options=options, terms=self._terms)

    def _done(self, steps: Steps[T]) -> T:
        bridge = Bridge()
        try:
            return drive_sync(steps, bridge=bridge)
        finally:
            bridge.close()

    async def _adone(self, steps: Steps[T]) -> T:
        return await drive_async(steps, threads=self.database.threads)

    def row(self) -> SessionRow | None:
        """Return the session's row, or None when it was never started."""
        return self._caller.row()

    async def arow(self) -> SessionRow | None:
        """Return the session's row, or None when it was never started."""
        return await self._adone(doing(Work(fn=self.row)))

    def refuse_stranger(self) -> None:
        """Check that the session is nobody else's, before anything is told of it.

        Raises:
            UnknownSession: It belongs to another tenant.
        """
        self._caller.refuse_stranger()

    def outcome(self) -> Outcome:
        """Read where the session stands, from its latest checkpoint."""
        return self._caller.outcome()

    async def aoutcome(self) -> Outcome:
        """Read where the session stands, from its latest checkpoint."""
        return await self._caller.aoutcome()


def refuse_strange_drift(given: object) -> None:
    """Check what is to become of a run that began under another definition.

    Args:
        given: What the caller said.

    Raises:
        InputRefused: It is none of the words.
    """
    if given not in ("refuse", "keep"):
        raise InputRefused(
            f"`drift` is `refuse` or `keep`, not {given!r}",
            fix="To let a session adopt another definition, say once what was renamed: `stateward migrate SESSION`, or"
            " `stateward.migration.adopt`.",
        )
