"""What LangGraph's snapshots of checkpoints say."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.types import StateSnapshot

from stateward.run.checkpoint import CHANNEL
from stateward.run.snapshot import addressed, control_in, written_at

CONFIG: RunnableConfig = {"configurable": {"thread_id": "s", "checkpoint_id": "1"}}


def snapshot(values: dict[str, Any], *, created_at: str | None = None) -> StateSnapshot:
    """A checkpoint with these values."""
    return StateSnapshot(values, (), CONFIG, None, created_at, None, (), ())


def test_a_checkpoint_without_a_run_has_an_empty_control_channel() -> None:
    """A session that never ran has no values at all."""
    assert control_in(snapshot({CHANNEL: {"status": "running"}})) == {"status": "running"}
    assert control_in(snapshot({"question": "why?"})) == control_in(snapshot({})) == {}


def test_what_was_never_written_was_written_at_no_time() -> None:
    """A checkpoint says when, with its zone."""
    assert written_at(snapshot({}, created_at="1970-01-01T01:00:01+01:00")) == 1.0
    assert written_at(snapshot({})) == 0.0


def test_a_checkpoint_is_addressed_in_the_config_of_its_session() -> None:
    """Whatever else the caller said stays."""
    config: RunnableConfig = {"configurable": {"thread_id": "s", "tenant": "t"}, "tags": ["a"]}
    told = {"checkpoint_ns": "", "thread_id": "s", "tenant": "t", "checkpoint_id": "1"}
    assert addressed(config, snapshot({})) == {"configurable": told, "tags": ["a"]}
