"""Time travel: the steps of a session to look at, to compare, and to go on from.

Nothing that happened is changed. A fork begins a branch at a step: the session is on it from then on, until it is told
to go on with another one. `fork.py` says what a branch knows and what it does anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.types import StateSnapshot, StateUpdate

from stateward.errors import NotExpected
from stateward.run.branch import Branch, branch_named, branches_in
from stateward.run.branch_answer import answering, expected
from stateward.run.call import turn_to
from stateward.run.called import checkpoint_id, committed
from stateward.run.caller import Caller
from stateward.run.checkpoint import AFTER
from stateward.run.difference import Difference, difference
from stateward.run.drive import Bridge, Steps, Work, drive_async, drive_sync
from stateward.run.edit import COPY
from stateward.run.graph import ChartGraph
from stateward.run.moment import Moment, moment
from stateward.run.sending import command
from stateward.run.session import Outcome, Session
from stateward.run.snapshot import control_in
from stateward.run.store.database import Database
from stateward.run.store.owner import TENANT
from stateward.run.store.session_row import SessionRow
from stateward.run.timeline import Past, TimelineRow, past
from stateward.run.verdict import Verdict

Step = int | str
"""LangGraph's number of a step of the branch, or the id of any checkpoint of the session."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """The steps of a session.

    Args:
        graph: The chart, attached to the database.
        database: Where its journal and asks are.
        session: The session's id.
        branch: The branch whose steps are meant; None for the one the session is on.
        tenant: Who looks; to another tenant than the session's everything is told as of a session that does not exist.
            Empty for the host itself.
    """

    graph: ChartGraph
    database: Database
    session: str
    branch: str | None = None
    tenant: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        """Let every look and every call name the tenant."""
        if self.tenant:
            object.__setattr__(self, "graph", self.graph.with_config(configurable={TENANT: self.tenant}))

    @property
    def rows(self) -> tuple[TimelineRow, ...]:
        """What happened on the branch, the oldest step first."""
        return self._past().rows(branch=self.branch)

    def __iter__(self) -> Iterator[TimelineRow]:
        """Iterate over what happened on the branch, the oldest step first."""
        return iter(self.rows)

    def at(self, step: Step) -> Moment:
        """Look at a step.

        Args:
            step: Its number on this branch, or the id of a checkpoint.

        Returns:
            Where the session stood after it.

        Raises:
            NotExpected: The branch has no such step.
        """
        return self._moment(self._checkpoint(step))

    def diff(self, before: Step, after: Step) -> Difference:
        """Compare two steps, of one branch or of two.

        Args:
            before: One step.
            after: The other.

        Returns:
            What differs, and what was called on the way.

        Raises:
            NotExpected: The branch has no such step.
        """
        everything = self._past()
        old, new = (self._moment(self._checkpoint(step, known=everything)) for step in (before, after))
        to_old, to_new = (_committed(everything.rows(head=step.checkpoint)) for step in (old, new))
        return difference(old, new, on_the_way=to_new, to_before=to_old)

    def branches(self) -> tuple[Branch, ...]:
        """List the branches of the session, in the order in which they were begun."""
        return drive_sync(self._branches(), bridge=Bridge())

    def fork(self, step: Step, *, update: Mapping[str, Any] | None = None, name: str | None = None) -> Branch:
        """Begin a branch at a step; the session is on it from now on, and waits there to be resumed.

        Args:
            step: The step's number on this branch, or the id of a checkpoint.
            update: State keys to change there, as `update_state` takes them.
            name: The branch's name; None for the next free one.

        Returns:
            The new branch.

        Raises:
            NotExpected: There is no such step, or the name is in use.
            InputRefused: A value does not fit the state schema, or the name is no name; nothing was written.
            SessionBusy: A run holds the session.
            Drift: The run was started by another definition.
        """
        return drive_sync(self._forking(step, update, name), bridge=Bridge())

    async def afork(self, step: Step, *, update: Mapping[str, Any] | None = None, name: str | None = None) -> Branch:
        """Begin a branch at a step; see `fork`.

        Args:
            step: The step's number on this branch, or the id of a checkpoint.
            update: State keys to change there, as `update_state` takes them.
            name: The branch's name; None for the next free one.

        Returns:
            The new branch.

        Raises:
            NotExpected: There is no such step, or the name is in use.
            InputRefused: A value does not fit the state schema, or the name is no name; nothing was written.
            SessionBusy: A run holds the session.
            Drift: The run was started by another definition.
        """
        return await drive_async(self._forking(step, update, name), threads=self.database.threads)

    def switch(self, branch: str) -> Branch:
        """Let the session go on with another branch, from its next call on.

        Args:
            branch: Its name.

        Returns:
            The branch.

        Raises:
            NotExpected: The session has no such branch.
            SessionBusy: A run holds the session.
            Drift: The branch's run was started by another definition.
        """
        return drive_sync(self._switching(branch), bridge=Bridge())

    async def aswitch(self, branch: str) -> Branch:
        """Let the session go on with another branch; see `switch`.

        Args:
            branch: Its name.

        Returns:
            The branch.

        Raises:
            NotExpected: The session has no such branch.
            SessionBusy: A run holds the session.
            Drift: The branch's run was started by another definition.
        """
        return await drive_async(self._switching(branch), threads=self.database.threads)

    def resume(
        self,
        event: str | None = None,
        *,
        data: Mapping[str, Any] | None = None,
        branch: str | None = None,
        context: Any = None,  # LangGraph's `context=`, of the user's own type
    ) -> Outcome:
        """Go on with a branch, or send an event to it; the session is on it from now on.

        Args:
            event: The event's name; None to go on where it stands.
            data: The event's fields.
            branch: Its name; None for this timeline's.
            context: LangGraph's `context=`.

        Returns:
            Where the session stands.

        Raises:
            NotExpected: The session has no such branch, or the chart has no transition for the event there.
            InputRefused: The data does not fit the event's type.
            SessionBusy: A run holds the session.
            Drift: The branch's run was started by another definition.
        """
        config = drive_sync(self._at_head(branch or self.branch), bridge=Bridge())
        self.graph.invoke(command(event, data), config, context=context)
        return self._session.outcome()

    async def aresume(
        self,
        event: str | None = None,
        *,
        data: Mapping[str, Any] | None = None,
        branch: str | None = None,
        context: Any = None,  # as above
    ) -> Outcome:
        """Go on with a branch, or send an event to it; see `resume`.

        Args:
            event: The event's name; None to go on where it stands.
            data: The event's fields.
            branch: Its name; None for this timeline's.
            context: LangGraph's `context=`.

        Returns:
            Where the session stands.

        Raises:
            NotExpected: The session has no such branch, or the chart has no transition for the event there.
            InputRefused: The data does not fit the event's type.
            SessionBusy: A run holds the session.
            Drift: The branch's run was started by another definition.
        """
        config = await drive_async(self._at_head(branch or self.branch), threads=self.database.threads)
        await self.graph.ainvoke(command(event, data), config, context=context)
        return await self.database.threads.database.run(self._session.outcome)

    def answer(
        self,
        ask: str,
        decision: Verdict,
        *,
        by: str,
        note: str = "",
        tool: str = "",
        arguments: Mapping[str, Any] | None = None,
        context: Any = None,  # as above
    ) -> Outcome:
        """Answer an ask on the branch it stands on, and go on there; the session is on that branch from now on.

        Args:
            ask: Its id.
            decision: `approve`, `reject`, `edit` or `respond`.
            by: Who answers.
            note: Why, for the model and the audit log.
            tool: As for a session's `answer`, and so are the arguments.
            arguments: See there.
            context: LangGraph's `context=`.

        Returns:
            Where the session stands.

        Raises:
            UnknownAsk: No ask has this id.
            AskClosed: It was answered, withdrawn or expired before.
            NotExpected: The ask is another session's, or its branch does not wait for it; nothing was recorded.
            SessionBusy: A run holds the session; when the answer is recorded, resuming the branch goes on with it.
            Drift: The branch's run was started by another definition; nothing was recorded.
        """
        return drive_sync(
            self._answering(context, ask, decision, by=by, note=note, tool=tool, arguments=arguments), bridge=Bridge()
        )

    async def aanswer(
        self,
        ask: str,
        decision: Verdict,
        *,
        by: str,
        note: str = "",
        tool: str = "",
        arguments: Mapping[str, Any] | None = None,
        context: Any = None,  # as above
    ) -> Outcome:
        """Answer an ask on the branch it stands on, and go on there; see `answer`.

        Args:
            ask: Its id.
            decision: `approve`, `reject`, `edit` or `respond`.
            by: Who answers.
            note: Why, for the model and the audit log.
            tool: As for a session's `answer`, and so are the arguments.
            arguments: See there.
            context: LangGraph's `context=`.

        Returns:
            Where the session stands.

        Raises:
            UnknownAsk: No ask has this id.
            AskClosed: It was answered, withdrawn or expired before.
            NotExpected: The ask is another session's, or its branch does not wait for it; nothing was recorded.
            SessionBusy: A run holds the session.
            Drift: The branch's run was started by another definition; nothing was recorded.
        """
        steps = self._answering(context, ask, decision, by=by, note=note, tool=tool, arguments=arguments)
        return await drive_async(steps, threads=self.database.threads)

    def expect(self, ask: str) -> None:
        """Check that `answer` would lead somewhere, before it is recorded: an ask takes only one.

        Args:
            ask: Its id.

        Raises:
            UnknownAsk: No ask has this id.
            NotExpected: The branch it stands on does not wait for it.
            Drift: The branch's run was started by another definition.
        """
        drive_sync(expected(self._caller(None), ask, head_of=self._at_head), bridge=Bridge())

    def _answering(self, context: Any, ask: str, decision: Verdict, **said: Any) -> Steps[Outcome]:
        return answering(self._caller(context), ask, decision, **said, head_of=self._at_head)

    def _caller(self, context: Any) -> Caller:
        return Caller(
            session=self.session, graph=self.graph, database=self.database, config=self._config(), context=context
        )

    @property
    def _session(self) -> Session:
        return Session(self.session, self.graph, self.database, tenant=self.tenant)

    def _config(self, checkpoint: str = "") -> RunnableConfig:
        named = {"checkpoint_id": checkpoint} if checkpoint else {}
        return {"configurable": {"thread_id": self.session, **named}}

    def _at_head(self, branch: str | None) -> Steps[RunnableConfig]:
        """Name the end of a branch as it is now; the call is stale if anybody holds the session before it."""
        if branch is None:
            return self._config()
        row: SessionRow | None = yield Work(fn=self._session.row)
        found = branch_named(branch, known=(yield from self._branches()), session=self.session)
        if found.current or row is None:
            return self._config()
        config = self._config(found.head)
        return {**config, "configurable": {**config.get("configurable", {}), AFTER: row.fence}}

    def _past(self) -> Past:
        self._caller(None).refuse_stranger()
        return past(self.graph, database=self.database, session=self.session)

    def _moment(self, checkpoint: str) -> Moment:
        snapshot = self.graph.get_state(self._config(checkpoint))
        return moment(snapshot, session=self.session, database=self.database)

    def _checkpoint(self, step: Step, *, known: Past | None = None) -> str:
        """Find the id of a step, and say which there are when there is none of that name."""
        if isinstance(step, str):
            self._caller(None).refuse_stranger()
            if self.graph.get_state(self._config(step)).created_at is None:
                raise NotExpected(f"Session `{self.session}` has no checkpoint `{step}`", fix=_known_steps(self.rows))
            return step
        rows = (known or self._past()).rows(branch=self.branch)
        found = next((row.checkpoint for row in rows if row.step == step), None)
        if found is None:
            raise NotExpected(f"Session `{self.session}` has no step {step} on this branch", fix=_known_steps(rows))
        return found

    def _branches(self) -> Steps[tuple[Branch, ...]]:
        yield Work(fn=self._caller(None).refuse_stranger)
        latest: StateSnapshot = yield from committed(self.graph, self._config())
        return branches_in(control_in(latest), head=checkpoint_id(latest.config))

    def _forking(self, step: Step, update: Mapping[str, Any] | None, name: str | None) -> Steps[Branch]:
        there: str = yield Work(fn=self._checkpoint, args=(step,))
        change = StateUpdate(values=None, as_node=COPY) if update is None else StateUpdate(values=dict(update))
        yield from turn_to(self.graph, self._config(there), supersteps=[[change]], name=name, anew=True)
        return next(branch for branch in (yield from self._branches()) if branch.current)

    def _switching(self, name: str) -> Steps[Branch]:
        there: RunnableConfig = yield from self._at_head(name)
        if checkpoint_id(there):
            yield from turn_to(self.graph, there, supersteps=[[StateUpdate(values=None, as_node=COPY)]])
        return branch_named(name, known=(yield from self._branches()), session=self.session)


def _known_steps(rows: Sequence[TimelineRow]) -> str:
    steps = [row.step for row in rows if row.step is not None]
    return f"Its steps go from {steps[0]} to {steps[-1]}." if steps else "Send an input to open a run."


def _committed(rows: Sequence[TimelineRow]) -> tuple[TimelineRow, ...]:
    return tuple(row for row in rows if row.checkpoint)
