"""The compiled graph: one run a session, ordinary in every other way."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command

import stateward as sw
from stateward.errors import SessionBusy
from stateward.run.tables import Tables
from stateward.testing import How, run_graph
from tests.charts.drive import Driven, policy
from tests.charts.one import One, compiled, one
from tests.charts.tools import Shop
from tests.charts.waiting import waiting

Drive = Callable[..., Driven]
Formed = Callable[[Any], Any]
SESSION: Any = {"configurable": {"thread_id": "t"}}


def nothing(state: Any) -> None:
    """Do nothing."""


def test_stream_and_invoke_agree(how: How, formed: Formed) -> None:
    """The last value of the stream is what `invoke` returns."""
    graph = formed(compiled(lambda s: {"text": "y"}))
    if how == "sync":
        parts = list(graph.stream({"text": "x"}, stream_mode="values"))
    else:

        async def collect() -> list[Any]:
            return [part async for part in graph.astream({"text": "x"}, stream_mode="values")]

        parts = asyncio.run(collect())
    assert parts[-1]["text"] == run_graph(graph, {"text": "x"}, how=how)["text"] == "y"


def test_output_is_the_users_state_alone(how: How, formed: Formed) -> None:
    """The control channel stays inside."""
    assert "stateward" not in run_graph(formed(compiled(nothing)), {"text": "x"}, how=how)


def test_input_schema_is_the_users(formed: Formed) -> None:
    """A client sees the keys the user declared."""
    assert set(formed(compiled(nothing)).get_input_jsonschema()["properties"]) == set(One.__annotations__)


def test_foreign_saver_keeps_sessions_and_waits(how: How, formed: Formed) -> None:
    """Under LangGraph's own saver a chart waits, resumes and remembers."""
    graph = formed(waiting().compile(checkpointer=InMemorySaver()))
    run_graph(graph, {"text": "x"}, how=how, config=SESSION)
    run_graph(graph, Command(resume={"event": "note", "data": {"text": "a"}}), how=how, config=SESSION)
    values = run_graph(graph, Command(resume="end"), how=how, config=SESSION)
    assert values["heard"] == ["hello", "a"]


def test_foreign_saver_has_session_rows_and_records(how: How) -> None:
    """Our tables tell of a run whose checkpoints are elsewhere."""
    graph = compiled(nothing).copy({"checkpointer": InMemorySaver()})
    run_graph(graph, {}, how=how, config=SESSION)
    tables = graph.tables.database(graph.checkpointer)
    assert tables.sessions.get("t").status == "completed"
    assert len(tables.sessions.terminals("t")) == 1


def test_record_under_a_foreign_saver_names_the_last_checkpoint(how: How, formed: Formed) -> None:
    """Also of a call that named the one it went on from."""
    graph = formed(waiting().compile(checkpointer=InMemorySaver()))
    run_graph(graph, {"text": "x"}, how=how, config=SESSION)
    run_graph(graph, Command(resume="end"), how=how, config=graph.get_state(SESSION).config)
    tables = graph.tables.database(graph.checkpointer)
    (ended,) = tables.sessions.terminals("t")
    assert tables.sessions.get("t").status == "completed"
    assert ended.checkpoint == graph.get_state(SESSION).config["configurable"]["checkpoint_id"]


def test_asks_work_under_a_foreign_saver(how: How) -> None:
    """Approvals need our tables, not our saver."""
    shop = Shop()

    async def act(state: Any, run: sw.Run[Any]) -> Any:
        return {"text": (await run.tool("refund", order="A")).status}

    graph = compiled(act, box=shop.box, policy=policy("approve_refunds")).copy({"checkpointer": InMemorySaver()})
    run_graph(graph, {}, how=how, config=SESSION)
    payload = {"answers": {graph.get_state(SESSION).interrupts[0].value["asks"][0]["id"]: "approve"}, "by": "ann"}
    assert run_graph(graph, Command(resume=payload), how=how, config=SESSION)["text"] == "ok"
    assert shop.effects == [("refund", "A")]


def test_tables_of_a_foreign_saver_are_where_the_variable_says(tmp_path: Path, how: How) -> None:
    """`STATEWARD_DB` names the file."""
    graph = compiled(nothing).copy(
        {"checkpointer": InMemorySaver(), "tables": Tables(url=f"sqlite:///{tmp_path}/w.db")}
    )
    run_graph(graph, {}, how=how, config=SESSION)
    graph.tables.database(None).close()
    with sw.open(f"sqlite:///{tmp_path}/w.db") as database:
        assert database.sessions.get("t").status == "completed"


def test_attached_graph_leaves_the_first_as_it_is(drive: Drive) -> None:
    """`attach` returns a copy."""
    graph = compiled(nothing)
    driven = drive(graph)
    assert graph.checkpointer is None
    assert driven.session.graph.checkpointer is not None


def test_session_row_names_graph_and_pins(drive: Drive) -> None:
    """The row is enough to find the graph again."""
    driven = drive(compiled(nothing))
    driven.start({})
    row, pins = driven.session.row(), driven.session.graph.machine.pins
    assert (row.graph, row.chart_hash, row.policy_hash) == ("one", pins.chart, pins.policy)


def test_lease_is_given_back_after_every_end(drive: Drive) -> None:
    """Completed, waiting or failed: the next call gets the session."""

    def broken(state: Any) -> None:
        raise ValueError("broken")

    driven = drive(compiled(broken))
    for _ in range(2):
        with pytest.raises(ValueError, match="broken"):
            driven.start({})
    assert driven.session.database.leases.held("s1") is None


def test_lease_is_given_back_when_a_stream_is_left_early(how: How, database: Any) -> None:
    """A reader that stops reading leaves nothing held."""
    graph = one(nothing, to="HELP").compile(database=database)
    if how == "sync":
        stream = graph.stream({}, SESSION)
        next(stream)
        stream.close()
    else:

        async def leave() -> None:
            stream = graph.astream({}, SESSION)
            await anext(stream)
            await stream.aclose()

        asyncio.run(leave())
    assert database.leases.held("t") is None


def test_second_call_on_a_running_session_is_busy(drive: Drive) -> None:
    """While one runs, the other is refused; the first loses nothing."""
    inside, go = threading.Event(), threading.Event()

    def act(state: Any) -> Any:
        inside.set()
        go.wait(60)
        return {"log": ["acted"]}

    driven = drive(compiled(act))
    thread = threading.Thread(target=driven.start, args=({"log": ["first"]},))
    thread.start()
    inside.wait(60)
    with pytest.raises(SessionBusy):
        driven.start({"log": ["second"]})
    go.set()
    thread.join()
    assert driven.session.outcome().values["log"] == ["first", "acted"]


def test_other_sessions_run_meanwhile(drive: Drive) -> None:
    """A lease is one session's."""
    graph = compiled(lambda s: {"log": [s["text"]]})
    names = [f"s{n}" for n in range(5)]
    threads = [threading.Thread(target=drive(graph, session=n).start, args=({"text": n},)) for n in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [drive(graph, session=n).session.outcome().values["log"] for n in names] == [[n] for n in names]


class Outer(One, total=False):
    """The state of someone else's graph."""

    other: str


def outer(inner: Any, saver: Any = None) -> Any:
    builder = StateGraph(Outer)
    builder.add_node("chart", inner)
    builder.add_edge(START, "chart")
    return builder.compile(checkpointer=saver)


@pytest.mark.parametrize("saver", [None, InMemorySaver()])
def test_chart_is_a_legal_subgraph(how: How, saver: Any) -> None:
    """Inside another graph a chart runs to its end, and reducers count once."""
    graph = outer(one(lambda s: {"text": "inner"}).compile(), saver)
    config = {"configurable": {"thread_id": f"sub-{how}"}}
    assert run_graph(graph, {"text": "x"}, how=how, config=config)["text"] == "inner"


def test_chart_called_from_a_node_shares_nothing_by_accident(how: How) -> None:
    """A chart invoked inside a plain node of another graph is a run of its own."""
    inner = compiled(lambda s: {"log": ["inner"]})

    def node(state: Any) -> Any:
        return {"text": inner.invoke({})["log"][0]}

    builder = StateGraph(Outer)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    assert run_graph(builder.compile(), {"text": "x"}, how=how)["text"] == "inner"


def test_batch_runs_each_input(formed: Formed) -> None:
    """`batch` is a Runnable's."""
    results = formed(compiled(lambda s: {"text": s["text"] * 2})).batch([{"text": "a"}, {"text": "b"}])
    assert [r["text"] for r in results] == ["aa", "bb"]


def test_our_saver_writes_before_the_next_step_begins(drive: Drive) -> None:
    """With our database each checkpoint is there before the next activity runs."""
    seen: list[int] = []

    def count(state: Any) -> None:
        seen.append(len(driven.checkpoints))

    chart = sw.Chart("two", One, sw.State("A", do=count, to="B"), sw.State("B", do=count, to="DONE"), sw.Final("DONE"))
    driven = drive(chart.compile())
    driven.start({})
    assert seen == [2, 3]


def test_cancelled_run_gives_its_lease_back_and_can_be_resumed(database: Any) -> None:
    """Cancelling `ainvoke` leaves a running session that anyone may go on with."""
    inside = asyncio.Event()
    left = [1]

    async def act(state: Any) -> Any:
        if left.pop() if left else 0:
            inside.set()
            await asyncio.Event().wait()
        return {"log": ["acted"]}

    graph = compiled(act).attach(database)

    async def main() -> None:
        task = asyncio.create_task(graph.ainvoke({"log": ["in"]}, SESSION))
        await inside.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert database.leases.held("t") is None
        assert (await graph.ainvoke(None, SESSION))["log"] == ["in", "acted"]

    asyncio.run(main())
