"""The saver: LangGraph's behaviour, a fence in every write, and one transaction for all that a checkpoint means."""

from __future__ import annotations

import asyncio
import operator
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.channels import DeltaChannel
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from pydantic import BaseModel
from typing_extensions import TypedDict

from stateward.errors import CodecError, SessionBusy, StaleFence
from stateward.run.checkpoint import FENCE
from stateward.run.store.database import Database, open_database
from stateward.run.store.fence import Fenced
from tests.run.store.desk import StillClock, control, url


class Note(BaseModel):
    text: str


def _append(values: list[AnyMessage], more: Sequence[list[AnyMessage]]) -> list[AnyMessage]:
    return [*values, *(message for batch in more for message in batch)]


class State(TypedDict, total=False):
    total: Annotated[int, operator.add]
    messages: Annotated[list[AnyMessage], DeltaChannel(_append)]
    plain: Annotated[list[AnyMessage], add_messages]
    stateward: dict[str, Any]
    note: Any


def _one(state: State) -> State:
    total = state.get("total", 0)
    return {"total": 1, "messages": [AIMessage(f"one {total}", id=f"a{total}")], "stateward": control()}


def _two(state: State) -> State:
    return {"total": 1, "stateward": control("completed")}


def _graph(saver: Fenced, *nodes: Callable[[State], State]) -> Any:  # CompiledStateGraph has four type parameters
    builder: Any = StateGraph(State)  # the signatures of LangGraph are partly unknown
    builder.add_sequence(list(nodes) or [_one, _two])
    builder.add_edge(START, (nodes or (_one,))[0].__name__)
    builder.add_edge((nodes or (_two,))[-1].__name__, END)
    return builder.compile(checkpointer=saver)


def _config(session: str = "s", *, fence: int | None = None) -> RunnableConfig:
    return {"configurable": {"thread_id": session} | ({} if fence is None else {FENCE: fence})}


@pytest.fixture(params=["memory:", "file"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """A database in memory, and one in a file."""
    place = url(tmp_path) if request.param == "file" else "memory:"
    with open_database(place, clock=StillClock()) as opened:
        yield opened


def test_a_graph_runs_and_its_history_is_read_sync_and_async(database: Database) -> None:
    """Values, history, delta channels and update_state work both ways on one session."""
    graph = _graph(database.saver)
    given = {"messages": [HumanMessage("hi", id="h")]}
    graph.invoke(given, _config())

    async def again() -> tuple[Any, list[Any]]:
        await graph.ainvoke({"total": 10}, _config())
        await graph.aupdate_state(_config(), {"total": 5})
        return await graph.aget_state(_config()), [found async for found in graph.aget_state_history(_config())]

    state, history = asyncio.run(again())
    assert state.values["total"] == 19
    assert [message.content for message in state.values["messages"]] == ["hi", "one 0", "one 12"]
    assert [found.values.get("total") for found in history] == [
        found.values.get("total") for found in graph.get_state_history(_config())
    ]
    assert len(list(graph.get_state_history(_config(), limit=2))) == 2


def test_time_travel_forks_from_an_old_checkpoint(database: Database) -> None:
    """The fork goes on from there, the old line stays in the history."""
    graph = _graph(database.saver)
    graph.invoke({"total": 0}, _config())
    before_two = next(found for found in graph.get_state_history(_config()) if found.next == ("_two",))
    forked = graph.update_state(before_two.config, {"total": 100})
    assert graph.invoke(None, forked)["total"] == 102
    assert [message.content for message in graph.get_state(_config()).values["messages"]] == ["one 0"]


def test_session_row_and_terminal_record_follow_the_checkpoint(database: Database) -> None:
    """Both are there when the run returns."""
    _graph(database.saver).invoke({"total": 0}, _config())
    assert database.sessions.get("s").status == "completed"
    record = database.sessions.terminal("s", "r1")
    assert record is not None
    assert record.status == "completed"


def test_a_checkpoint_and_its_terminal_record_are_one_transaction(database: Database) -> None:
    """When the record cannot be written, the checkpoint is not there either."""
    graph = _graph(database.saver)
    with database.transaction() as cur:
        cur.execute("CREATE TRIGGER broken BEFORE INSERT ON stateward_terminals BEGIN SELECT RAISE(ABORT, 'no'); END")
    with pytest.raises(Exception, match="no"):
        graph.invoke({"total": 0}, _config(), durability="sync")
    assert database.sessions.get("s").status == "running"
    assert graph.get_state(_config()).metadata["step"] == 1
    with database.transaction() as cur:
        cur.execute("DROP TRIGGER broken")
    graph.invoke(None, _config())
    assert database.sessions.get("s").status == "completed"


def test_the_holder_writes_and_others_are_refused(database: Database) -> None:
    """Without a fence, or with an old one, nothing is written."""
    graph = _graph(database.saver)
    lease = database.leases.acquire("s")
    graph.invoke({"total": 0}, _config(fence=lease.fence))
    before = len(list(graph.get_state_history(_config())))
    for wrong, expected in ((None, SessionBusy), (lease.fence - 1, StaleFence)):
        with pytest.raises(expected):
            graph.invoke({"total": 0}, _config(fence=wrong))
        with pytest.raises(expected):
            graph.update_state(_config(fence=wrong), {"total": 1})
        with pytest.raises(expected):
            database.saver.put_writes(_named(graph, fence=wrong), [("total", 1)], "task")
    assert len(list(graph.get_state_history(_config()))) == before
    graph.update_state(_config(fence=lease.fence), {"total": 1})
    with pytest.raises(SessionBusy):
        database.saver.delete_thread("s")


def test_a_stalled_holder_that_wakes_up_cannot_write(tmp_path: Path) -> None:
    """The step it is in fails, and the state is that of the new holder."""
    clock = StillClock()
    with open_database(url(tmp_path), clock=clock) as database:
        old = database.leases.acquire("s")

        def stall(state: State) -> State:
            clock.time += 31
            new = database.leases.acquire("s")
            _graph(database.saver).invoke({"total": 10}, _config(fence=new.fence))
            return {"total": 1_000}

        with pytest.raises(StaleFence):
            _graph(database.saver, stall).invoke({"total": 0}, _config(fence=old.fence), durability="sync")
        assert _graph(database.saver).get_state(_config()).values["total"] == 12


def test_the_fence_is_no_metadata(database: Database) -> None:
    """A token says nothing about a checkpoint."""
    graph = _graph(database.saver)
    lease = database.leases.acquire("s")
    graph.invoke({"total": 0}, _config(fence=lease.fence))
    assert all(FENCE not in found.metadata for found in graph.get_state_history(_config()))


def test_an_unlisted_type_is_refused_before_it_is_committed(database: Database) -> None:
    """The session can still be read, and an allowlist makes it work with the same fence."""

    def write(state: State) -> State:
        return {"note": Note(text="x")}

    with pytest.raises(CodecError, match="Note"):
        _graph(database.saver, write).invoke({"total": 0}, _config(), durability="sync")
    assert _graph(database.saver).get_state(_config()).values["total"] == 0
    wider = database.saver.with_allowlist([(Note.__module__, "Note")])
    assert isinstance(wider, Fenced)
    database.leases.acquire("t")
    assert _graph(wider, write).invoke({"total": 0}, _config("u"))["note"] == Note(text="x")
    assert _graph(wider, write).get_state(_config("u")).values["note"] == Note(text="x")
    with pytest.raises(SessionBusy):
        _graph(wider, write).invoke({"total": 0}, _config("t"))


def test_a_deleted_thread_has_no_checkpoints_and_keeps_its_audit(database: Database) -> None:
    """What was spent and done is not forgotten with the messages."""
    graph = _graph(database.saver)
    graph.invoke({"total": 0}, _config())
    asyncio.run(database.saver.adelete_thread("s"))
    assert graph.get_state(_config()).values == {}
    assert database.sessions.terminal("s", "r1") is not None
    assert database.audit.verify() == 1


def test_two_inputs_at_once_lose_nothing_that_was_accepted(tmp_path: Path) -> None:
    """Of forty inputs from eight threads each is kept or refused as busy: no third way."""
    with open_database(url(tmp_path)) as database:
        graph, accepted, refused = _graph(database.saver), list[str](), list[str]()

        def send(thread: int) -> None:
            for number in range(5):
                try:
                    lease = database.leases.acquire("s")
                except SessionBusy:
                    refused.append(f"{thread}.{number}")
                    continue
                message = HumanMessage("x", id=f"{thread}.{number}")
                graph.invoke({"plain": [message]}, _config(fence=lease.fence))
                database.leases.release(lease)
                accepted.append(f"{thread}.{number}")

        threads = [threading.Thread(target=send, args=(thread,)) for thread in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        kept = [message.id for message in graph.get_state(_config()).values["plain"]]
    assert sorted(kept) == sorted(accepted)
    assert len(accepted) + len(refused) == 40


def _named(graph: Any, *, fence: int | None) -> RunnableConfig:
    named: RunnableConfig = graph.get_state(_config()).config
    return {"configurable": {**named.get("configurable", {}), **({} if fence is None else {FENCE: fence})}}
