"""A state's node: the activity runs, then the kernel, and both are one checkpoint."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langgraph.types import Command, interrupt
from pydantic import BaseModel

import stateward as sw
from stateward.errors import DefinitionError, UpdateRefused
from stateward.testing import How, run_graph
from tests.charts.drive import Driven, policy
from tests.charts.one import One, compiled, one
from tests.charts.working import graph

Drive = Callable[..., Driven]


def test_each_state_is_one_superstep_and_one_checkpoint(drive: Drive) -> None:
    """PLAN, ACT, REFLECT twice: six checkpoints after the two that LangGraph writes for an input."""
    driven = drive(graph())
    driven.start({"trail": []})
    assert [c.metadata["step"] for c in driven.checkpoints] == [-1, 0, 1, 2, 3, 4, 5, 6]


def test_checkpoint_says_where_the_chart_stands(drive: Drive) -> None:
    """Each checkpoint holds the configuration after its step, and what the step did."""
    driven = drive(graph())
    driven.start({"trail": []})
    controls = [c.values["stateward"] for c in driven.checkpoints[2:]]
    assert [control["at"] for control in controls][:3] == [["WORKING.ACT"], ["WORKING.REFLECT"], ["WORKING.PLAN"]]
    assert ["needs_more", True] in controls[2]["last"]["verdicts"]
    assert controls[-1]["status"] == "completed"


def test_activation_counts_entries_of_a_state(drive: Drive) -> None:
    """The second visit of ACT is its second activation."""
    trail = drive(graph()).start({"trail": []}).values["trail"]
    assert [step for step in trail if step.startswith("act")] == ["act 1", "act 2"]


# -- what an activity may return ------------------------------------------------------------------------


@dataclass
class Data:
    number: int = 0
    log: list[str] = field(default_factory=list)


class Model(BaseModel):
    number: int = 0
    text: str = ""


@pytest.mark.parametrize("returned", [{"number": 3}, Data(number=3), Model(number=3), None])
def test_activity_may_return_mapping_instance_or_nothing(drive: Drive, returned: Any) -> None:
    """A mapping, a dataclass, the fields that were set of a model, or nothing."""
    values = drive(compiled(lambda state: returned)).start({"text": "kept"}).values
    assert values.get("number") == (3 if returned else None)
    assert values["text"] == "kept"


def test_activity_may_be_a_runnable(drive: Drive) -> None:
    """Any LangChain Runnable is an activity."""
    values = drive(compiled(RunnableLambda(lambda state: {"text": state["text"].upper()}))).start({"text": "a"}).values
    assert values["text"] == "A"


async def later(state: Any) -> Any:
    return {"text": "later"}


def test_runnable_may_be_async_only(drive: Drive) -> None:
    """Also under `invoke`."""
    assert drive(compiled(RunnableLambda(later))).start({}).values["text"] == "later"


def test_timeout_holds_for_a_runnable(drive: Drive) -> None:
    """Both ways."""
    graph = compiled(RunnableLambda(forever), timeout_s=0.001, handles=["timeout"])
    assert drive(graph).start({}).path == "HELP"


def test_current_run_is_seen_from_below(drive: Drive) -> None:
    """Code that is not handed `run` finds it; outside there is none."""

    def act(state: Any) -> Any:
        return {"text": sw.current_run().path}

    assert drive(compiled(act)).start({}).values["text"] == "WORK.ACT"
    with pytest.raises(Exception, match="No activity"):
        sw.current_run()


@pytest.mark.parametrize("returned", [Command(goto="DONE"), "text", 7])
def test_anything_else_is_an_update_error(drive: Drive, returned: Any) -> None:
    """The chart decides where to go: a command is refused and the chart is told."""
    outcome = drive(compiled(lambda state: returned, handles=["error.update"])).start({})
    assert (outcome.status, outcome.path) == ("waiting", "HELP")


@pytest.mark.parametrize("update", [{"nobody": 1}, {"number": "many"}, {"messages": [object()]}])
def test_update_that_does_not_fit_becomes_an_event(drive: Drive, update: Any) -> None:
    """An unknown key and an invalid value are `error.update`; nothing of it is committed and the thread lives."""
    outcome = drive(compiled(lambda state: {"text": "half", **update}, handles=["error.update"])).start({"text": "x"})
    assert (outcome.path, outcome.values["text"]) == ("HELP", "x")


def test_unhandled_update_error_fails_the_run_and_the_thread_lives(drive: Drive) -> None:
    """The exception reaches the caller, the run is recorded as failed, and the next input opens another."""
    updates = [{"number": "many"}, {"number": 1}]
    driven = drive(compiled(lambda state: updates.pop(0)))
    with pytest.raises(UpdateRefused, match="number"):
        driven.start({})
    assert driven.session.outcome().status == "failed"
    assert driven.start({}).values["number"] == 1


# -- what goes wrong ------------------------------------------------------------------------------------


def broken(state: Any) -> Any:
    raise ValueError("no such order")


async def abroken(state: Any) -> Any:
    raise ValueError("no such order")


@pytest.mark.parametrize("do", [broken, abroken])
def test_exception_is_an_event_the_chart_handles(drive: Drive, do: Any) -> None:
    """`error.activity` leads on; the caller sees no exception."""
    driven = drive(compiled(do, handles=["error.activity"]))
    assert driven.start({}).path == "HELP"
    assert driven.control["event"]["data"]["message"] == "no such order"


@pytest.mark.parametrize("do", [broken, abroken])
def test_unhandled_exception_is_raised_after_the_record(drive: Drive, do: Any) -> None:
    """The run is recorded as failed with its reason, then the exception itself reaches the caller."""
    driven = drive(compiled(do))
    with pytest.raises(ValueError, match="no such order"):
        driven.start({})
    (record,) = driven.session.database.sessions.terminals("s1")
    assert (record.status, record.reason["event"]) == ("failed", "error.activity")


async def forever(state: Any) -> Any:
    await asyncio.Event().wait()


def test_activity_that_takes_too_long_is_a_timeout_event(drive: Drive) -> None:
    """`timeout_s` ends an async activity; the chart is told."""
    assert drive(compiled(forever, timeout_s=0.001, handles=["timeout"])).start({}).path == "HELP"


def test_unhandled_timeout_halts(drive: Drive) -> None:
    """A timeout is a limit reached, not a failure."""
    outcome = drive(compiled(forever, timeout_s=0.001)).start({})
    assert (outcome.status, outcome.reason["event"]) == ("halted", "timeout")


async def own_timeout(state: Any) -> Any:
    raise TimeoutError("the shop is slow")


def test_timeout_an_activity_raises_itself_is_its_error(drive: Drive) -> None:
    """Only the state's own limit is the event `timeout`."""
    assert drive(compiled(own_timeout, timeout_s=60, handles=["error.activity"])).start({}).path == "HELP"


def test_sync_activity_may_not_declare_a_timeout() -> None:
    """What cannot be stopped is refused at compile time."""
    with pytest.raises(DefinitionError, match="cannot be stopped"):
        compiled(broken, timeout_s=1)


def test_interrupt_inside_an_activity_is_an_error(drive: Drive) -> None:
    """A wait is a state: LangGraph's `interrupt` in an activity is refused with advice."""
    driven = drive(compiled(lambda state: interrupt("?"), handles=["error.interrupt"]))
    assert driven.start({}).path == "HELP"
    assert "wait in a state" in driven.control["event"]["data"]["message"]


# -- events ---------------------------------------------------------------------------------------------


async def raises_event(state: Any, run: sw.Run[Any]) -> Any:
    run.raise_event("help")
    return {"text": "kept"}


def test_raised_event_comes_before_completion(drive: Drive) -> None:
    """The chart takes the event first, with the update committed."""
    outcome = drive(compiled(raises_event, handles=["help"])).start({})
    assert (outcome.path, outcome.values["text"]) == ("HELP", "kept")


def test_raised_event_nobody_takes_is_forgotten(drive: Drive) -> None:
    """The activity's completion follows."""
    assert drive(compiled(raises_event)).start({}).status == "completed"


def test_activity_sees_the_event_that_brought_it(drive: Drive) -> None:
    """`event` is what led into the state, and None at the start."""
    left = [{"nobody": 1}]

    async def act(state: Any, event: Any, run: sw.Run[Any]) -> Any:
        return left.pop() if left else {"log": [run.event.name]}

    driven = drive(compiled(act, handles=["error.update"]))
    driven.start({})
    assert driven.resume("again").values["log"] == ["again"]


# -- gates ----------------------------------------------------------------------------------------------


class Ticket(BaseModel):
    summary: str
    priority: int


def gated(*outputs: Any, **gate: Any) -> Any:
    left = list(outputs)
    seen: list[tuple[int, bool]] = []

    async def act(state: Any, run: sw.Run[Any]) -> Any:
        seen.append((run.attempt, bool(run.feedback)))
        return {"text": left.pop(0)}

    class Long(BaseModel):
        text: str

        def model_post_init(self, _context: Any) -> None:
            if len(self.text) < 3:
                raise ValueError("too short")

    return act, sw.Gate(Long, **gate), seen


def test_gate_sends_back_with_feedback(drive: Drive) -> None:
    """A failing output is not committed; the activity is called again and told why."""
    act, gate, seen = gated("a", "ab", "abc", retries=2)
    outcome = drive(compiled(act, output=gate)).start({})
    assert outcome.values["text"] == "abc"
    assert seen == [(1, False), (2, True), (3, True)]


def test_gate_that_gives_up_is_an_event(drive: Drive) -> None:
    """Retries are bounded; then the chart gets `error.contract`."""
    act, gate, seen = gated("a", "b", "c", retries=1)
    outcome = drive(compiled(act, output=gate, handles=["error.contract"])).start({"text": "before"})
    assert (outcome.path, outcome.values["text"], len(seen)) == ("HELP", "before", 2)


def test_unhandled_contract_error_halts(drive: Drive) -> None:
    """Giving up is a limit reached."""
    act, gate, _ = gated("a", retries=0)
    assert drive(compiled(act, output=gate)).start({}).status == "halted"


class Desk(One, total=False):
    """With a key the contract covers."""

    ticket: dict[str, Any]


def test_contract_of_the_policy_normalises_before_the_commit(drive: Drive) -> None:
    """An alias becomes the value it stands for."""
    chart = sw.Chart(
        "desk",
        Desk,
        sw.State(
            "ACT",
            do=lambda state: {"ticket": {"summary": "it burns", "priority": "critical"}},
            output=sw.Gate("Ticket", key="ticket"),
            to="DONE",
            policy=policy("ticket"),
        ),
        sw.Final("DONE"),
    )
    assert drive(chart.compile()).start({}).values["ticket"] == {"summary": "it burns", "priority": "p0"}


def test_gate_on_an_unknown_key_is_a_definition_error() -> None:
    """The key must be one of the schema's."""
    with pytest.raises(DefinitionError, match="nobody"):
        compiled(lambda state: None, output=sw.Gate(Ticket, key="nobody"))


# -- without a database ---------------------------------------------------------------------------------


def test_graph_without_a_checkpointer_runs(how: How) -> None:
    """A chart is an ordinary graph: no saver, no session, no tables."""
    assert run_graph(one(lambda state: {"text": "done"}).compile(), {"text": "x"}, how=how)["text"] == "done"


def test_unhandled_exception_is_raised_without_a_checkpointer(how: How) -> None:
    """The caller sees what the activity raised."""
    with pytest.raises(ValueError, match="no such order"):
        run_graph(compiled(broken), {}, how=how)


def test_custom_stream_carries_what_is_emitted(how: How) -> None:
    """`run.emit` reaches a reader of the `custom` stream."""

    async def act(state: Any, run: sw.Run[Any]) -> None:
        run.emit({"progress": 0.5})

    graph = compiled(act)
    if how == "sync":
        parts = list(graph.stream({}, stream_mode="custom"))
    else:

        async def collect() -> list[Any]:
            return [part async for part in graph.astream({}, stream_mode="custom")]

        parts = asyncio.run(collect())
    assert parts == [{"progress": 0.5}]


def test_context_reaches_the_activity(how: How) -> None:
    """LangGraph's `context=` is `run.context`."""

    async def act(state: Any, run: sw.Run[Any]) -> Any:
        return {"text": run.context["who"]}

    assert run_graph(compiled(act), {}, how=how, context={"who": "ann"})["text"] == "ann"
