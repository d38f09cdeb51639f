"""Gates as decorators: what fails goes back with feedback, upstream work stands, nothing invalid is committed (C3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel
from typing_extensions import TypedDict

import stateward as sw
from stateward.contracts import Contracts, gated, json_schema
from stateward.errors import DefinitionError
from stateward.testing import ScriptedModel
from tests.charts.drive import Driven, policy

Drive = Callable[..., Driven]
GOOD = {"summary": "It is late", "priority": "critical"}


class Case(TypedDict, total=False):
    """A case."""

    upstream: int
    ticket: dict[str, Any]
    summary: str
    priority: str


class Ticket(BaseModel):
    """A contract in code."""

    summary: str
    priority: str


class Crash(BaseException):
    """Stands for the end of the process."""


class Upstream:
    """The state before; it counts how often it ran."""

    def __init__(self) -> None:
        self.runs = 0

    async def work(self, state: Case) -> dict[str, Any]:
        """Work once."""
        self.runs += 1
        return {"upstream": self.runs}


def gate(do: Any, *, upstream: Upstream | None = None, voice: Any = None, **state: Any) -> sw.ChartGraph:
    """Compile a chart whose second state has no `output=`."""
    written: dict[str, Any] = {"do": do, "model": "writer", "to": "DONE", "on": [sw.on("error.contract", "HELP")]}
    chart = sw.Chart(
        "gate",
        Case,
        sw.State("BEFORE", do=(upstream or Upstream()).work, to="WRITE"),
        sw.State("WRITE", **{**written, **state}),
        sw.State("HELP", on=[sw.on("close", "DONE")]),
        sw.Final("DONE"),
        policy=policy("ticket"),
    )
    return chart.compile(models={"writer": voice or ScriptedModel.of()})


def said(*outputs: Any) -> tuple[list[str], Any]:
    """An activity that gives its outputs in order, and the feedback it saw."""
    seen: list[str] = []

    async def write(state: Case, run: sw.Run[Any]) -> Any:
        seen.append(run.feedback)
        return outputs[len(seen) - 1]

    return seen, write


def said_sync(*outputs: Any) -> tuple[list[str], Any]:
    """The same, not awaited."""
    seen: list[str] = []

    def write(state: Case, run: sw.SyncRun[Any]) -> Any:
        seen.append(run.feedback)
        return outputs[len(seen) - 1]

    return seen, write


@pytest.mark.parametrize("make", [said, said_sync])
def test_a_gated_activity_sees_the_feedback_and_tries_again(drive: Drive, make: Any) -> None:
    """The state says nothing of it: the decorator is enough."""
    seen, write = make({"ticket": {"summary": "x", "priority": "soon"}}, {"ticket": GOOD})
    outcome = drive(gate(gated("Ticket", key="ticket")(write))).start({})
    assert outcome.values["ticket"] == {**GOOD, "priority": "p0"}
    assert seen[0] == ""
    assert "at least 5 characters" in seen[1]
    assert "'soon'" in seen[1]


@pytest.mark.parametrize("contract", ["Ticket", Ticket])
def test_without_a_key_the_whole_output_is_gated(drive: Drive, contract: Any) -> None:
    """By a contract of the policy, or by a model."""
    _, write = said({"summary": 5}, {"summary": "It is late", "priority": "p0"})
    outcome = drive(gate(gated(contract)(write))).start({})
    assert (outcome.values["summary"], outcome.values["priority"]) == ("It is late", "p0")


@pytest.mark.parametrize(("retries", "calls"), [(None, 3), (0, 1), (1, 2)])
def test_after_its_retries_it_fails_loudly_and_commits_nothing(drive: Drive, retries: Any, calls: int) -> None:
    """At most N retries, then `error.contract`; upstream ran once, and no checkpoint has the invalid output."""
    seen, write = said(*[{"ticket": {"summary": "bad"}}] * 9)
    upstream = Upstream()
    driven = drive(gate(gated("Ticket", key="ticket", retries=retries)(write), upstream=upstream))
    outcome = driven.start({})
    assert (outcome.path, len(seen), upstream.runs) == ("HELP", calls, 1)
    assert all("ticket" not in checkpoint.values for checkpoint in driven.checkpoints)


def test_a_crash_between_two_attempts_repeats_no_call_and_no_upstream(drive: Drive) -> None:
    """Entered again, the first attempt is answered from the journal, and the second one is made."""
    left, seen, upstream = [1], list[str](), Upstream()

    @gated(Ticket, key="ticket")
    async def write(state: Case, run: sw.Run[Any]) -> Any:
        reply = await run.model().ainvoke(run.feedback or "write")
        seen.append(reply.text)
        if run.attempt == 2 and left:
            left.pop()
            raise Crash
        return {"ticket": {"summary": reply.text} if run.attempt == 1 else {"summary": reply.text, "priority": "p0"}}

    model = ScriptedModel.of("first", "second")
    driven = drive(gate(write, upstream=upstream, voice=model))
    with pytest.raises(Crash):
        driven.start({})
    assert driven.resume().values["ticket"]["summary"] == "second"
    assert (seen, len(model.calls), upstream.runs) == (["first", "second"] * 2, 2, 1)


def test_called_by_itself_a_gated_function_is_the_function() -> None:
    """A unit test of the activity needs no chart."""

    @gated("Ticket")
    def write(state: Case) -> dict[str, Any]:
        return {"summary": 5}

    assert write({}) == {"summary": 5}


def test_a_state_and_its_activity_with_a_gate_each_are_refused() -> None:
    """Which of them counts would be a guess."""
    _, write = said()
    with pytest.raises(DefinitionError, match="Keep one"):
        gate(gated("Ticket")(write), output="Ticket")


def test_states_under_the_same_policies_share_the_class_of_a_contract() -> None:
    """The factory's models are kept by policy, mode and name."""
    _, write = said()
    machine = gate(gated("Ticket", key="ticket")(write)).machine
    before, after = (machine.effectives[machine.chart.by_path[path]] for path in ("BEFORE", "WRITE"))
    model = before.model_of("Ticket")
    assert model is after.model_of("Ticket")
    assert json_schema(model)["title"] == f"Ticket-strict-{after.hash[:12]}"


def test_another_mode_or_hash_is_another_class() -> None:
    """What differs in the title is made anew, and only once."""
    kept, spec = Contracts(), policy("ticket").contracts[0]
    made = [kept.get(spec, mode=mode, policy_hash=hash * 64) for mode, hash in (("a", "0"), ("b", "0"), ("a", "1"))]
    assert len(set(made)) == 3
    assert kept.get(spec, mode="a", policy_hash="0" * 64) is made[0]
