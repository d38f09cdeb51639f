"""The writes of a step that wait for the step's checkpoint, so that one transaction stores both.

A step of a chart has one task, and its checkpoint follows at once: stored apart, the writes would only serve a process
that dies between the two, and that one enters the activity again, with its journal. Questions, errors and whatever
else no checkpoint follows are never held.

What a caller brings to a session that waits (`Command(resume=…)`) waits as well, for the step that takes it: until then
nothing has happened, and its caller was told nothing. It is stored before anything else of that step is, and, where the
step never ends, before the lease is given back.

Source: LangGraph issues 8039 and 8115 (order of pending writes and their checkpoint).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.runnables import RunnableConfig

from stateward.run.checkpoint import CHANNEL, FENCE
from stateward.run.store.stored import NO_TASK

_RESUME = "__resume__"
"""LangGraph's channel of what a task is resumed with."""
REMEMBERED = 10_000
"""Sessions whose last checkpoint is remembered; then all are forgotten."""
MOST = 1_000
"""Steps that wait at the same time."""
_Step = tuple[str, str]
"""A session and the checkpoint before the step; the ids of checkpoints grow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Writes:
    """What a task wrote, as LangGraph hands it over."""

    config: RunnableConfig
    writes: Sequence[tuple[str, Any]]
    task: str
    path: str


@dataclass(slots=True)
class Held:
    """The writes that wait, by session and checkpoint.

    LangGraph hands over writes and checkpoint in threads of its own, in any order. There is no lock, which a fork could
    leave locked: who comes leaves word first and looks then, so one of the two sees the other; at worst both store the
    writes, and the second time changes nothing.
    """

    most: int = MOST
    """How many steps may wait; then others are stored at once."""
    _waiting: dict[_Step, Writes] = field(default_factory=dict[_Step, Writes])
    _brought: dict[str, Writes] = field(default_factory=dict[str, Writes])
    """What the caller of a session brought; a session has one call at a time."""
    _followed: dict[str, str] = field(default_factory=dict[str, str])
    """The checkpoint of a session that another one was stored after last: writes to it come too late to wait."""

    def hold(self, writes: Writes) -> bool:
        """Let writes wait for their checkpoint.

        Args:
            writes: A task's.

        Returns:
            Whether they wait; else they are to be stored at once.
        """
        step = _step(writes.config)
        fence = writes.config.get("configurable", {}).get(FENCE)
        if step is None or fence is None:
            return False
        if writes.task == NO_TASK and any(channel == _RESUME for channel, _ in writes.writes):
            return self._hold_brought(writes, step)
        if not _is_a_step(writes.writes):
            return False
        if step in self._waiting or (len(self._waiting) >= self.most and not self._forgotten()):
            return False
        self._waiting[step] = writes
        session, parent = step
        if self._followed.get(session, "") < parent:
            return True
        self.stored((writes,))
        return False

    def _hold_brought(self, writes: Writes, step: _Step) -> bool:
        session, parent = step
        if session in self._brought or len(self._brought) >= self.most:
            return False
        self._brought[session] = writes
        if self._followed.get(session, "") < parent:
            return True
        self.stored((writes,))
        return False

    def before(self, config: RunnableConfig) -> tuple[Writes, ...]:
        """Return what is to be stored together with a checkpoint, in its order.

        Args:
            config: Names the session and the checkpoint before it.
        """
        step = _step(config)
        if step is None:
            return ()
        if len(self._followed) >= REMEMBERED:
            self._followed.clear()
        session, parent = step
        self._followed[session] = parent
        own = self._waiting.get(step)
        return self.brought(config) if own is None else (*self.brought(config), own)

    def brought(self, config: RunnableConfig) -> tuple[Writes, ...]:
        """Return what a caller brought, to be stored before anything else that belongs to the same checkpoint.

        Args:
            config: Names the session and the checkpoint.
        """
        step = _step(config)
        found = None if step is None else self._brought.get(step[0])
        return () if found is None or _step(found.config) != step else (found,)

    def left(self, session: str) -> tuple[Writes, ...]:
        """Return what a caller brought for a step that has not ended, when the call is over.

        Args:
            session: The session's id.
        """
        found = self._brought.get(session)
        return () if found is None else (found,)

    def stored(self, writes: Sequence[Writes]) -> None:
        """Forget writes that were stored.

        Args:
            writes: What `before` or `brought` returned.
        """
        for each in writes:
            step = _step(each.config)
            if step is not None and self._waiting.get(step) is each:
                self._waiting.pop(step, None)
            elif step is not None and self._brought.get(step[0]) is each:
                self._brought.pop(step[0], None)

    def _forgotten(self) -> bool:
        """Forget the steps that were given up, if there are any: a later checkpoint of theirs is stored."""
        given_up = [step for step in tuple(self._waiting) if step[1] < self._followed.get(step[0], "")]
        for step in given_up:
            self._waiting.pop(step, None)
        return bool(given_up)


def _step(config: RunnableConfig) -> _Step | None:
    """Name a step by its session and the checkpoint before it; None in a nested graph, and for a first checkpoint."""
    here: dict[str, Any] = config.get("configurable", {})
    parent = here.get("checkpoint_id")
    return None if not parent or here.get("checkpoint_ns") else (str(here["thread_id"]), str(parent))


def _is_a_step(writes: Sequence[tuple[str, Any]]) -> bool:
    """Whether a chart's state has ended: it writes the control channel, and nothing that LangGraph keeps for itself but
    what it was resumed with."""
    channels = {channel for channel, _ in writes} - {_RESUME}
    return CHANNEL in channels and not any(channel.startswith("__") for channel in channels)
