"""The writes of a step that wait for the step's checkpoint, so that one transaction stores both.

A step of a chart has one task, and its checkpoint follows at once: stored apart, the writes would only serve a process
that dies between the two, and that one enters the activity again, with its journal. Questions, errors and whatever
else no checkpoint follows are never held.

Source: LangGraph issues 8039 and 8115 (order of pending writes and their checkpoint).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.runnables import RunnableConfig

from stateward.run.checkpoint import CHANNEL, FENCE

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
        if step is None or fence is None or not _is_a_step(writes.writes):
            return False
        if step in self._waiting or (len(self._waiting) >= self.most and not self._forgotten()):
            return False
        self._waiting[step] = writes
        session, parent = step
        if self._followed.get(session, "") < parent:
            return True
        self.stored(writes)
        return False

    def before(self, config: RunnableConfig) -> Writes | None:
        """Return what is to be stored together with a checkpoint.

        Args:
            config: Names the session and the checkpoint before it.
        """
        step = _step(config)
        if step is None:
            return None
        if len(self._followed) >= REMEMBERED:
            self._followed.clear()
        session, parent = step
        self._followed[session] = parent
        return self._waiting.get(step)

    def stored(self, writes: Writes | None) -> None:
        """Forget writes that were stored.

        Args:
            writes: What `before` returned.
        """
        step = None if writes is None else _step(writes.config)
        if step is not None and self._waiting.get(step) is writes:
            self._waiting.pop(step, None)

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
    """Whether a chart's state has ended: it writes the control channel, and nothing that LangGraph keeps for itself."""
    channels = [channel for channel, _ in writes]
    return CHANNEL in channels and not any(channel.startswith("__") for channel in channels)
