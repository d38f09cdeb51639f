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


@dataclass(frozen=True, slots=True, kw_only=True)
class Writes:
    """What a task wrote, as LangGraph hands it over."""

    config: RunnableConfig
    writes: Sequence[tuple[str, Any]]
    task: str
    path: str


@dataclass(slots=True)
class Held:
    """The writes that wait, by session.

    LangGraph hands over writes and checkpoint in threads of its own, in any order. There is no lock, which a fork could
    leave locked: who comes leaves word first and looks then, so one of the two sees the other; at worst both store the
    writes, and the second time changes nothing.
    """

    _waiting: dict[str, Writes] = field(default_factory=dict[str, Writes])
    _followed: dict[str, str] = field(default_factory=dict[str, str])
    """The checkpoint of a session that another one was stored after last: writes to it come too late to wait."""

    def hold(self, writes: Writes) -> bool:
        """Let writes wait for their checkpoint.

        Args:
            writes: A task's.

        Returns:
            Whether they wait; else they are to be stored at once.
        """
        here: dict[str, Any] = writes.config.get("configurable", {})
        if here.get(FENCE) is None or here.get("checkpoint_ns") or not _is_a_step(writes.writes):
            return False
        session = str(here["thread_id"])
        self._waiting[session] = writes
        if self._followed.get(session) != here.get("checkpoint_id"):
            return True
        self.stored(writes)
        return False

    def before(self, config: RunnableConfig) -> Writes | None:
        """Return what is to be stored together with a checkpoint.

        Args:
            config: Names the session and the checkpoint before it.
        """
        here: dict[str, Any] = config.get("configurable", {})
        session, parent = str(here["thread_id"]), here.get("checkpoint_id")
        if not parent or here.get("checkpoint_ns"):
            return None
        if len(self._followed) >= REMEMBERED:
            self._followed.clear()
        self._followed[session] = parent
        waiting = self._waiting.get(session)
        if waiting is None or waiting.config.get("configurable", {}).get("checkpoint_id") != parent:
            return None  # of a step that was given up
        return waiting

    def stored(self, writes: Writes | None) -> None:
        """Forget writes that were stored.

        Args:
            writes: What `before` returned.
        """
        if writes is None:
            return
        session = str(writes.config.get("configurable", {})["thread_id"])
        if self._waiting.get(session) is writes:
            self._waiting.pop(session, None)


def _is_a_step(writes: Sequence[tuple[str, Any]]) -> bool:
    """Whether a chart's state has ended: it writes the control channel, and nothing that LangGraph keeps for itself."""
    channels = [channel for channel, _ in writes]
    return CHANNEL in channels and not any(channel.startswith("__") for channel in channels)
