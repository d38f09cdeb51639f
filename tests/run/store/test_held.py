"""The writes of a step wait for its checkpoint, and nothing else does."""

from __future__ import annotations

import asyncio
from threading import Event
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import empty_checkpoint
from typing_extensions import TypedDict

import stateward as sw
from stateward.errors import StaleFence
from stateward.run.checkpoint import CHANNEL, FENCE
from stateward.run.store.database import Database
from stateward.run.store.held import Held, Writes
from stateward.run.store.stored import NO_TASK
from tests.run.store.desk import Fresh

SAID = 5
"""Messages of the agent in one run."""
STEP = [("text", "x"), (CHANNEL, {"status": "running"})]
BROUGHT = [("__resume__", {"event": "go"})]


def config(checkpoint: str, *, fence: int | None = 1, namespace: str = "") -> RunnableConfig:
    """A config of session `s`."""
    named: dict[str, Any] = {"thread_id": "s", "checkpoint_ns": namespace, "checkpoint_id": checkpoint}
    return {"configurable": named if fence is None else {**named, FENCE: fence}}


def writes(where: RunnableConfig, of: list[tuple[str, Any]] = STEP) -> Writes:
    """A task's writes."""
    return Writes(config=where, writes=of, task="t", path="")


def leased(database: Database) -> RunnableConfig:
    """The first checkpoint of a session that is held."""
    lease = database.leases.acquire("s", graph="g", tenant="")
    first: RunnableConfig = {"configurable": {"thread_id": "s", "checkpoint_ns": "", FENCE: lease.fence}}
    saved = database.saver.put(first, empty_checkpoint(), {}, {})
    return {"configurable": {**saved.get("configurable", {}), FENCE: lease.fence}}


def stored(database: Database, where: RunnableConfig) -> list[str]:
    """The channels of the writes that a checkpoint has."""
    found = database.saver.get_tuple(where)
    assert found is not None
    return sorted(channel for _, channel, _ in found.pending_writes or [])


def test_a_step_waits_for_its_checkpoint() -> None:
    """And is handed over to the checkpoint that follows."""
    held, step = Held(), writes(config("1"))
    assert held.hold(step)
    assert held.before(config("1")) == (step,)


def test_what_was_stored_is_forgotten() -> None:
    """A second checkpoint after the same one stores nothing again."""
    held, step = Held(), writes(config("1"))
    held.hold(step)
    held.stored(held.before(config("1")))
    assert held.before(config("1")) == ()


def test_writes_of_a_step_that_was_given_up_go_with_no_other_checkpoint() -> None:
    """The activity is entered again, and writes anew."""
    held = Held()
    held.hold(writes(config("1")))
    assert held.before(config("2")) == ()


def test_a_step_that_is_faster_than_the_checkpoint_before_it_takes_nothing_from_it() -> None:
    """With LangGraph's durability `async` the next step may end while a checkpoint still waits for the database."""
    held, first, second = Held(), writes(config("1")), writes(config("2"))
    assert held.hold(first)
    assert held.hold(second)
    assert held.before(config("1")) == (first,)
    held.stored((first,))
    assert held.before(config("2")) == (second,)


def test_a_second_task_of_one_step_does_not_wait() -> None:
    """It takes no other's place."""
    held, first = Held(), writes(config("1"))
    held.hold(first)
    assert not held.hold(writes(config("1")))
    assert held.before(config("1")) == (first,)


def test_what_was_given_up_is_forgotten_before_it_is_too_much() -> None:
    """A later checkpoint of its session is there."""
    held = Held(most=1)
    held.hold(writes(config("1")))
    assert not held.hold(writes(config("2")))
    held.before(config("3"))
    assert held.hold(writes(config("4")))


def test_writes_that_come_after_their_checkpoint_do_not_wait() -> None:
    """LangGraph hands both over in threads of its own, in any order."""
    held = Held()
    held.before(config("1"))
    assert not held.hold(writes(config("1")))
    assert held.before(config("1")) == ()


@pytest.mark.parametrize(
    "apart",
    [
        writes(config("1", fence=None)),
        writes(config("1", namespace="inner:1")),
        writes(config("1"), [("text", "x")]),
        writes(config("1"), [*STEP, ("__interrupt__", "?")]),
        writes(config("1"), [("__error__", "x")]),
        Writes(config=config("1"), writes=STEP[:1], task=NO_TASK, path=""),
    ],
    ids=["no lease", "nested", "no chart", "a question", "an error", "an edit"],
)
def test_what_no_checkpoint_follows_at_once_does_not_wait(apart: Writes) -> None:
    """It would never be stored."""
    assert not Held().hold(apart)


def test_a_checkpoint_brings_the_writes_that_led_to_it(fresh: Fresh) -> None:
    """Both are there, or neither."""
    database = fresh()
    parent = leased(database)
    database.saver.put_writes(parent, STEP, "t")
    before = stored(database, parent)
    database.saver.put(parent, empty_checkpoint(), {}, {})
    assert (before, stored(database, parent)) == ([], [CHANNEL, "text"])


def test_what_a_caller_brought_is_stored_with_the_step_that_takes_it(fresh: Fresh) -> None:
    """A step that was resumed writes what it was resumed with; all of it is one transaction with the checkpoint."""
    database = fresh()
    parent = leased(database)
    database.saver.put_writes(parent, BROUGHT, NO_TASK)
    database.saver.put_writes(parent, [*BROUGHT, *STEP], "t")
    before = stored(database, parent)
    database.saver.put(parent, empty_checkpoint(), {}, {})
    assert (before, stored(database, parent)) == ([], ["__resume__", "__resume__", CHANNEL, "text"])


def test_what_a_caller_brought_is_stored_before_an_error(fresh: Fresh) -> None:
    """The step that was to take it has failed: whoever goes on finds both."""
    database = fresh()
    parent = leased(database)
    database.saver.put_writes(parent, BROUGHT, NO_TASK)
    database.saver.put_writes(parent, [("__error__", "x")], "t")
    assert stored(database, parent) == ["__error__", "__resume__"]


def test_what_a_caller_brought_for_a_step_that_never_ended_is_stored_with_the_end_of_its_lease(fresh: Fresh) -> None:
    """A cancelled call, for instance: whoever goes on with the session goes on with that."""
    database = fresh()
    parent = leased(database)
    lease = database.leases.held("s")
    assert lease is not None
    database.saver.put_writes(parent, BROUGHT, NO_TASK)
    before = stored(database, parent)
    database.leases.release(lease)
    assert (before, stored(database, parent)) == ([], ["__resume__"])


def test_what_a_caller_brought_to_a_session_that_was_taken_over_is_not_stored(fresh: Fresh) -> None:
    """The new holder has gone on by then."""
    database = fresh()
    parent = leased(database)
    lease = database.leases.held("s")
    assert lease is not None
    database.saver.put_writes(parent, BROUGHT, NO_TASK)
    with database.transaction("s") as cur:
        cur.execute("UPDATE stateward_sessions SET fence = fence + 1")
    database.leases.release(lease)
    assert stored(database, parent) == []


class Talk(TypedDict, total=False):
    """A conversation."""

    messages: sw.Messages


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_no_message_is_lost_where_the_run_is_faster_than_its_checkpoints(
    fresh: Fresh, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """With LangGraph's durability `async` nothing waits for the database: here nothing is stored before the end."""
    database, over = fresh(), Event()
    put = database.saver.put

    def late(*args: Any) -> RunnableConfig:
        over.wait()
        return put(*args)

    def say(state: Talk) -> sw.Update[Talk]:
        said = len(state.get("messages", []))
        if said == SAID:
            over.set()
        return {"messages": [AIMessage(f"{said}")]}

    def more(state: Talk) -> bool:
        return len(state.get("messages", [])) <= SAID

    monkeypatch.setattr(database.saver, "put", late)
    talk = sw.State("SAY", do=say, to=[sw.when(more, "SAY"), "DONE"])
    graph = sw.Chart("talk", Talk, talk, sw.Final("DONE")).compile(database=database)
    config: RunnableConfig = {"configurable": {"thread_id": "s"}}
    call = getattr(graph, way)({"messages": [HumanMessage("hi")]}, config, durability="async")
    if way == "ainvoke":
        asyncio.run(call)
    assert [each.text for each in graph.get_state(config).values["messages"]] == ["hi", *map(str, range(1, SAID + 1))]


def test_late_writes_are_stored_at_once(fresh: Fresh) -> None:
    """Although their checkpoint was faster."""
    database = fresh()
    parent = leased(database)
    database.saver.put(parent, empty_checkpoint(), {}, {})
    database.saver.put_writes(parent, STEP, "t")
    assert stored(database, parent) == [CHANNEL, "text"]


def test_a_holder_that_lost_its_session_stores_neither(fresh: Fresh) -> None:
    """The fence is looked at in the transaction of both."""
    database = fresh()
    parent = leased(database)
    database.saver.put_writes(parent, STEP, "t")
    stale: RunnableConfig = {"configurable": {**parent.get("configurable", {}), FENCE: 99}}
    with pytest.raises(StaleFence):
        database.saver.put(stale, empty_checkpoint(), {}, {})
    assert stored(database, parent) == []
