"""XState v5 machines as definitions."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stateward.chart.definition import Definition
from stateward.errors import DefinitionError, UnknownTarget
from stateward.exchange.registry import Registry
from stateward.exchange.xstate_reader import read_xstate
from stateward.simulation import Simulation
from tests.exchange.machines.charts import CHARTS, REGISTRY

MACHINES = Path(__file__).parent / "machines"
RUNS = json.loads((MACHINES / "runs.json").read_text())
"""Random machines and what XState 5.33.3 did with them: active states and the order of actions."""


def yes(state: Any) -> bool:
    """A guard."""
    return True


def no(state: Any) -> bool:
    """A guard."""
    return False


def above(state: Any, *, limit: int) -> bool:
    """A guard with a parameter."""
    return state["n"] > limit


def work(state: Any) -> None:
    """An activity."""


def soon(state: Any) -> float:
    """A delay."""
    return 0.2


def noting(name: str) -> Callable[[Any], Any]:
    """Return an action that writes down its name."""
    return lambda state: {"log": [*state["log"], name]}


KNOWN = Registry.of(
    guards=[yes, no, above],
    actions={f"t{n}": noting(f"t{n}") for n in range(40)},
    activities=[work],
    delays=[soon],
)


def read(machine: dict[str, Any], **given: Any) -> Definition:
    return read_xstate({"id": "m", **machine}, registry=KNOWN, **given)


def states(**configs: Any) -> Definition:
    return read({"initial": next(iter(configs)), "states": configs})


@pytest.mark.parametrize("name", CHARTS)
def test_a_golden_machine_is_the_chart_it_was_written_for(name: str) -> None:
    """Three charts: timers, nested states with deep history, regions that join."""
    chart = read_xstate((MACHINES / f"{name}.json").read_text(), registry=REGISTRY)
    assert chart.to_json() == CHARTS[name]().to_json()


@pytest.mark.parametrize("run", RUNS, ids=range(len(RUNS)))
def test_a_machine_does_here_what_it_did_in_xstate(run: Any) -> None:
    """After each event the same states are active, and the same actions ran in the same order."""
    simulation = Simulation(read_xstate(run["machine"], registry=KNOWN), state={"log": []})
    for step in run["steps"]:
        simulation.data.state["log"] = [] if step["event"] else simulation.data.state["log"]
        happen(simulation, step["event"] or {})
        assert (sorted(simulation.at), simulation.data.state["log"]) == (step["at"], step["actions"])
        assert simulation.last.final is step["done"]


def happen(simulation: Simulation, event: dict[str, Any]) -> None:
    if "wait" in event:
        simulation.wait(event["wait"] / 1000)
    elif event.get("type", "").startswith("xstate.done.actor.i"):
        simulation.complete(path=event["type"].removeprefix("xstate.done.actor.i"))
    elif event:
        simulation.send(event["type"])


def test_targets_are_ids_children_or_paths_beside() -> None:
    """A backslash keeps a dot in a key."""
    deep = {"initial": "x", "states": {"x": {}, "y.z": {"id": "mine"}}, "on": {"in": ".x", "dot": "b.y\\.z"}}
    chart = states(a={"on": {"id": "#mine", "path": "#m.b.y\\.z", "beside": "b"}}, b=deep)
    found = {t.events[0]: chart.nodes[t.targets[0]].path for t in chart.transitions}
    assert found == {"id": "b.y_x2E_z", "path": "b.y_x2E_z", "beside": "b", "in": "b.x", "dot": "b.y_x2E_z"}


def test_a_transition_into_its_source_leaves_it_only_with_reenter() -> None:
    """One to the source itself leads to where it begins, or nowhere if nothing is inside."""
    inside = {"initial": "x", "states": {"x": {}, "y": {}}}
    on = {
        "plain": ".y",
        "again": {"target": ".y", "reenter": True},
        "self": "a",
        "whole": {"target": "a", "reenter": True},
    }
    chart = states(a={**inside, "on": on}, b={"on": {"self": "b"}})
    said = {t.events[0]: (t.internal, [chart.nodes[i].path for i in t.targets]) for t in chart.transitions[:4]}
    assert said == {
        "plain": (True, ["a.y"]),
        "again": (False, ["a.y"]),
        "self": (True, ["a.x"]),
        "whole": (False, ["a"]),
    }
    assert chart.transitions[4].targets == ()


def test_on_done_without_a_default_does_nothing_if_no_guard_is_true() -> None:
    """With one it is a completion, which here has to lead somewhere."""
    final = {"initial": "x", "states": {"x": {"type": "final"}}}
    guarded = states(a={**final, "onDone": {"target": "b", "guard": "no"}}, b={})
    assert (guarded.transitions[0].kind, Simulation(guarded, state={}).at) == ("event", ("a.x",))
    open_end = states(a={**final, "onDone": [{"target": "b", "guard": "no"}, "c"]}, b={}, c={})
    assert (open_end.transitions[0].kind, Simulation(open_end, state={}).at) == ("completion", ("c",))


def test_a_machine_that_is_parallel_itself_stands_in_a_root() -> None:
    """It ends when all its regions do."""
    region = {"initial": "x", "states": {"x": {"on": {"go": "y"}}, "y": {"type": "final"}}}
    chart = read({"type": "parallel", "states": {"a": region, "b": region}, "on": {"stop": ".a.y"}})
    simulation = Simulation(chart, state={})
    assert simulation.at == ("m.a.x", "m.b.x")
    assert (simulation.send("go"), simulation.last.final) == (("done",), True)


def test_candidates_of_one_delay_share_a_timer_unless_each_leaves_the_state() -> None:
    """The first whose guard is true is taken, once."""
    stays = states(a={"after": {"100": [{"guard": "yes", "actions": "t1"}, {"target": "b"}]}}, b={})
    assert [(t.events, t.delay) for t in stays.transitions] == [(("after.a.0",), 0.1), (("after.a.0",), None)]
    assert Simulation(stays, state={"log": []}).wait(1) == ("a",)
    leaves = states(a={"after": {"100": [{"guard": "yes", "target": "b"}, {"target": "c"}]}}, b={}, c={})
    assert [t.events[0] for t in leaves.transitions] == ["after.a.0", "after.a.1"]


def test_the_end_of_a_machine_leaves_everything() -> None:
    """XState 5.33.3: exit actions of the final state, then of the machine; a final state inside is left as others."""
    inner = {"initial": "x", "states": {"x": {"type": "final", "exit": "t1"}}, "exit": "t2", "onDone": "b"}
    end = {"type": "final", "entry": "t3", "exit": "t4"}
    machine = {"initial": "a", "states": {"a": inner, "b": end}, "entry": "t0", "exit": "t5"}
    simulation = Simulation(read(machine), state={"log": []})
    assert (simulation.data.state["log"], simulation.last.final) == (["t0", "t1", "t2", "t3", "t4", "t5"], True)


@pytest.mark.parametrize("kind", ["parallel", "compound"])
@pytest.mark.parametrize("done", [{"actions": "t1"}, {"target": ".a", "guard": "yes"}])
def test_on_done_of_the_machine_is_refused(kind: str, done: dict[str, Any]) -> None:
    """XState never takes it, and with a guard it would be heard here for the end of any state."""
    inner = {"initial": "x", "states": {"x": {"type": "final"}}}
    with pytest.raises(DefinitionError, match=r"`onDone` of the machine itself is never taken in XState"):
        read({"type": kind, **({"initial": "a"} if kind == "compound" else {}), "states": {"a": inner}, "onDone": done})


@pytest.mark.parametrize("said", [{"always": {"target": ".x", "guard": "no"}}, {"onDone": {"actions": "t1"}}])
def test_what_a_machine_that_is_parallel_itself_would_do_after_its_end_is_refused(said: dict[str, Any]) -> None:
    """XState 5.33.3 ends it with its last region, and runs no `onDone` of that; one that cannot end may have it."""
    region = {"initial": "x", "states": {"x": {"on": {"go": "y"}}, "y": {"type": "final"}}}
    with pytest.raises(
        DefinitionError, match=r"`m\.b` has `onDone` or `always`.*Put the regions into a parallel state"
    ):
        read({"type": "parallel", "states": {"a": region, "b": {**region, **said}}})
    endless = {"initial": "x", "states": {"x": {}}}
    assert read({"type": "parallel", "states": {"a": endless, "b": {**region, **said}}}).node("m.b").kind == "compound"


def test_a_machine_whose_history_is_asked_is_not_entered_again() -> None:
    """XState 5.33.3 sets its history then, for it leaves the machine as well."""
    machine: dict[str, Any] = {"initial": "a", "states": {"a": {}, "b": {}, "h": {"type": "history"}}}
    again = {"go": {"target": ".b", "reenter": True}}
    assert read({**machine, "on": again}).transitions
    with pytest.raises(DefinitionError, match=r"`reenter` at the machine itself sets its history .*\(at on.go\)"):
        read({**machine, "on": {**again, "back": {"target": ".h"}}})


def test_guards_and_actions_have_parameters() -> None:
    """Raise and cancel are understood; a guard's name may be a condition."""
    actions = [
        {"type": "xstate.raise", "params": {"event": {"type": "now"}}},
        {"type": "xstate.raise", "params": {"event": {"type": "later", "n": 1}, "delay": 250, "id": "x"}},
    ]
    go = {"guard": {"type": "above", "params": {"limit": 2}}, "actions": actions}
    cancel = {"actions": {"type": "xstate.cancel", "params": {"sendId": "x"}}, "guard": "not In('b') and yes"}
    simulation = Simulation(states(a={"on": {"go": go, "stop": cancel, "now": "c"}}, b={}, c={}), state={"n": 3})
    assert simulation.send("go") == ("c",)
    assert [(due, id, event.data) for due, id, event in simulation.pending] == [(0.25, "x", {"n": 1})]


def test_on_error_is_any_failure_of_the_activity() -> None:
    """In a parallel state it would be told to the other regions as well."""
    failing = {"invoke": {"src": "work", "onDone": "b", "onError": "c"}}
    chart = states(a=failing, b={}, c={})
    assert Simulation(chart, state={}).send("timeout") == ("c",)
    assert "error.activity" in chart.transitions[1].events
    region = {"initial": "a", "states": {"a": failing, "b": {}, "c": {}}}
    with pytest.raises(
        DefinitionError, match=r"`onError` in a parallel region .*\(at states.p.states.r.states.a.invoke"
    ):
        states(p={"type": "parallel", "states": {"r": region}})


def test_the_end_of_an_activity_and_that_of_its_state_are_two_events() -> None:
    """`invoke.onDone` stands beside the state's own end; each of them twice is refused, for XState keeps one."""
    own, of_invoke = "xstate.done.state.m.a", "xstate.done.actor.0.m.a"
    working: dict[str, Any] = {"invoke": {"src": "work", "onDone": "b"}}
    both = states(a={**working, "on": {own: "c"}}, b={}, c={})
    assert [each.events for each in both.transitions] == [("done.activity.a",), ("done.state.a",)]
    with pytest.raises(DefinitionError, match=r"XState keeps only that .*Write both as a list"):
        states(a={**working, "on": {of_invoke: "c"}}, b={}, c={})
    inside: dict[str, Any] = {"initial": "x", "states": {"x": {"type": "final"}}, "onDone": "b"}
    with pytest.raises(DefinitionError, match=r"XState keeps only that"):
        states(a={**inside, "on": {own: "c"}}, b={}, c={})


def test_what_says_nothing_of_states_is_skipped_only_if_the_caller_says_so() -> None:
    """Each by its key."""
    machine = {
        "initial": "a",
        "states": {"a": {"tags": ["x"], "meta": {"x": 1}, "description": "?"}},
        "context": {"n": 1},
    }
    assert read(machine, ignoring=["tags", "meta", "description", "context"]).node("a").kind == "atomic"
    for key in ("tags", "meta", "description", "context"):
        with pytest.raises(DefinitionError, match=f"`{key}` is not carried over"):
            read(machine, ignoring={"tags", "meta", "description", "context"} - {key})
    with pytest.raises(DefinitionError, match="`states` cannot be ignored"):
        read(machine, ignoring=["states"])


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"on": {"go": {"target": "b", "cond": "x"}}}, r"`cond` .*\(at states.a.on.go\[0\]\)\. XState v5 says `guard`"),
        ({"on": {"go": {"target": "b", "guard": "x"}}}, r"`x` is not among the registry's guards .*on.go\[0\].guard"),
        ({"on": {"go": {"target": "x"}}}, "`x` leads to no state"),
        ({"on": {"go": {"actions": {"type": "xstate.assign"}}}}, "`xstate.assign` is not carried over"),
        (
            {"on": {"go": {"actions": "x"}}},
            r"`x` is not among the registry's actions \(at states.a.on.go\[0\].actions\[0\]\)",
        ),
        ({"on": {"go": {"reenter": True}}}, "without a target"),
        ({"on": {"go": "b", "go.on": "b"}}, "`go.on` begins with the tokens of `go`"),
        ({"on": {"": "b"}}, "`` is not an event name"),
        ({"on": {"xstate.done.actor.x": "b"}}, "No `invoke` has the id `x`"),
        ({"on": {"xstate.done.state.x": "b"}}, "`#x` leads to no state"),
        ({"on": "go"}, "'go' is no object"),
        ({"after": {"-1": "b"}}, "no number of milliseconds"),
        ({"after": {"x": "b"}}, "`x` is not among the registry's delays"),
        ({"invoke": {"src": "x"}}, "`x` is not among the registry's activities"),
        ({"invoke": [{"src": "work"}, {"src": "work"}]}, "second `invoke`"),
        ({"invoke": {"src": "work", "input": 1}}, "`input` is not carried over"),
        ({"invoke": {"src": "work"}, "initial": "x", "states": {"x": {}}}, "`invoke` is not carried over"),
        ({"onDone": "b"}, "`onDone` is not carried over"),
        ({"type": "final", "on": {"go": "b"}}, "`on` is not carried over"),
        ({"type": "odd"}, "`type` is 'odd'"),
        ({"type": "compound"}, "A state of type compound has no states inside"),
        ({"states": {"x": {}}}, "`` is no state right inside"),
        ({"initial": "y", "states": {"x": {}}}, "`y` is no state right inside"),
        ({"initial": "x", "states": {"x": {}, "h": {"type": "history", "history": 3}}}, "`history` is 3"),
        ({"id": "b"}, ""),
        ({"entry": {"type": "xstate.raise", "params": {"event": {"type": "x", "n": 1}}}}, "neither data nor id"),
        ({"entry": {"type": "t1", "params": {"log": object()}}}, "no plain JSON"),
        ({"activities": ["x"]}, "XState v5 says `invoke`"),
    ],
)
def test_what_is_wrong_is_refused_by_its_place(config: dict[str, Any], told: str) -> None:
    """With what to do about it."""
    if not told:
        assert states(a=config, b={"on": {"go": "#b"}}).node("a").kind == "atomic"
        return
    with pytest.raises(DefinitionError, match=told) as caught:
        states(a=config, b={})
    assert caught.value.fix


def test_a_history_around_the_source_needs_reenter() -> None:
    """XState might else leave nothing."""
    inside = {"h": {"type": "history"}, "x": {"on": {"go": "h"}}}
    with pytest.raises(DefinitionError, match="Without `reenter`, a transition to the history around"):
        states(a={"initial": "x", "states": inside})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "no JSON"),
        ("[]", "is no object"),
        ('{"states": {"a": {}}, "states": {}}', "the key `states` stands twice"),
        ("{}", "The machine has no states"),
        ("[" * 100_000, "no JSON"),
    ],
)
def test_what_is_no_machine_is_refused(text: str, told: str) -> None:
    """A key that stands twice would hide the first."""
    with pytest.raises(DefinitionError, match=told):
        read_xstate(text)


def test_an_unknown_target_lists_the_known_ids() -> None:
    """It is an error of its own."""
    with pytest.raises(UnknownTarget, match=r"Known ids: `#m`, `#m.a`"):
        states(a={"on": {"go": "#x"}})
