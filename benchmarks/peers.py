"""The chart of `benchmarks.kernel` in the statechart and graph libraries it is compared with.

WORK remembers deeply; in it PLAN holds A and B, ACT holds C and D; PAUSED stands beside WORK. `step` walks A, B, C, D
in a circle, under a guard and with an action that counts; `pause` leaves WORK from anywhere; `resume` goes back through
its deep history. What a library does not have is done beside it in the plainest way, and said in `lacks`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from burr.core import ApplicationBuilder, State, action, when
from pydantic_graph import BaseNode, End, Graph, GraphBuilder, GraphRunContext
from sismic.interpreter import Interpreter
from sismic.io import import_from_yaml
from statemachine import HistoryState, StateChart
from statemachine import State as Node
from transitions.extensions import HierarchicalMachine
from xstate_statemachine import MachineLogic, SyncInterpreter, create_machine

Send = Callable[[str], object]
"""Lets an event happen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """One library: how to make the chart, and what of it the library lacks."""

    name: str
    make: Callable[[], tuple[Send, Callable[[], str]]]
    """Returns how to send an event, and how to see the innermost active state."""
    lacks: str = ""


def by_transitions() -> tuple[Send, Callable[[], str]]:
    """`transitions`: the deep history is a name kept by the model."""

    class Model:
        state: str
        count = 0
        kept = "WORK_PLAN_A"

        def may(self) -> bool:
            return self.count >= 0

        def add(self) -> None:
            self.count += 1

        def keep(self) -> None:
            self.kept = self.state

        def resume(self) -> None:
            self.to(self.kept)  # type: ignore[attr-defined]

    leaves = ["PLAN_A", "PLAN_B", "ACT_C", "ACT_D"]
    inner = [{"name": "PLAN", "children": ["A", "B"]}, {"name": "ACT", "children": ["C", "D"]}]
    model = Model()
    machine = HierarchicalMachine(
        model,
        states=[{"name": "WORK", "children": inner, "on_exit": "keep"}, "PAUSED"],
        initial="WORK_PLAN_A",
        auto_transitions=True,
    )
    for at, to in zip(leaves, [*leaves[1:], leaves[0]], strict=True):
        machine.add_transition("step", f"WORK_{at}", f"WORK_{to}", conditions="may", after="add")
    machine.add_transition("pause", "WORK", "PAUSED")
    return lambda event: getattr(model, event)(), lambda: model.state[-1] if model.state != "PAUSED" else "PAUSED"


def by_python_statemachine() -> tuple[Send, Callable[[], str]]:
    """`python-statemachine`: compound states and deep history are its own."""

    class Machine(StateChart):
        count = 0

        class WORK(Node.Compound):
            class PLAN(Node.Compound):
                A = Node(initial=True)
                B = Node()

            class ACT(Node.Compound):
                C = Node(initial=True)
                D = Node()

            H = HistoryState(type="deep")
            step = (
                PLAN.A.to(PLAN.B, cond="may", on="add")
                | PLAN.B.to(ACT.C, cond="may", on="add")
                | ACT.C.to(ACT.D, cond="may", on="add")
                | ACT.D.to(PLAN.A, cond="may", on="add")
            )

        PAUSED = Node()
        pause = WORK.to(PAUSED)
        resume = PAUSED.to(WORK.H)

        def may(self) -> bool:
            return self.count >= 0

        def add(self) -> None:
            self.count += 1

    machine: Any = Machine()
    return machine.send, lambda: next(s.id for s in machine.configuration if s.id in (*"ABCD", "PAUSED"))


SISMIC = """
statechart:
  name: kernel
  preamble: count = 0
  root state:
    name: root
    initial: WORK
    states:
      - name: WORK
        initial: PLAN
        transitions: [{event: pause, target: PAUSED}]
        states:
          - {name: H, type: deep history, memory: PLAN}
          - name: PLAN
            initial: A
            states:
              - {name: A, transitions: [{event: step, target: B, guard: count >= 0, action: count += 1}]}
              - {name: B, transitions: [{event: step, target: C, guard: count >= 0, action: count += 1}]}
          - name: ACT
            initial: C
            states:
              - {name: C, transitions: [{event: step, target: D, guard: count >= 0, action: count += 1}]}
              - {name: D, transitions: [{event: step, target: A, guard: count >= 0, action: count += 1}]}
      - {name: PAUSED, transitions: [{event: resume, target: H}]}
"""


def by_sismic() -> tuple[Send, Callable[[], str]]:
    """`sismic`: all of it is its own; guards and actions are text it evaluates."""
    machine = Interpreter(import_from_yaml(SISMIC))
    machine.execute()

    def send(event: str) -> None:
        machine.queue(event)
        machine.execute()

    return send, lambda: next(s for s in machine.configuration if s in (*"ABCD", "PAUSED"))


def by_xstate() -> tuple[Send, Callable[[], str]]:
    """`xstate-statemachine`: all of it is its own."""
    logging.getLogger("xstate_statemachine").setLevel(logging.ERROR)

    def leaf(target: str) -> dict[str, Any]:
        return {"on": {"step": {"target": target, "guard": "may", "actions": "add"}}}

    work = {
        "initial": "PLAN",
        "on": {"pause": "PAUSED"},
        "states": {
            "PLAN": {"initial": "A", "states": {"A": leaf("B"), "B": leaf("#kernel.WORK.ACT.C")}},
            "ACT": {"initial": "C", "states": {"C": leaf("D"), "D": leaf("#kernel.WORK.PLAN.A")}},
            "H": {"type": "history", "history": "deep", "target": "PLAN"},
        },
    }
    config = {
        "id": "kernel",
        "initial": "WORK",
        "context": {"count": 0},
        "states": {"WORK": work, "PAUSED": {"on": {"resume": "#kernel.WORK.H"}}},
    }

    def add(interpreter: Any, context: dict[str, Any], event: Any, definition: Any) -> None:
        context["count"] += 1

    logic = MachineLogic(guards={"may": lambda context, event: context["count"] >= 0}, actions={"add": add})
    machine: Any = SyncInterpreter(create_machine(config, logic=logic)).start()
    return machine.send, lambda: max(machine.current_state_ids, key=len).rpartition(".")[2]


def by_burr() -> tuple[Send, Callable[[], str]]:
    """`burr`: a flat graph of actions; one event is one `step`."""
    order = ["A", "B", "C", "D"]

    def visit(name: str) -> Any:
        @action(reads=["count"], writes=["count", "kept", "event"])
        def enter(state: State) -> State:
            return state.update(count=state["count"] + 1, kept=name, event="")

        return enter

    @action(reads=[], writes=["event"])
    def paused(state: State) -> State:
        return state.update(event="")

    nodes: dict[str, Any] = {name: visit(name) for name in order}
    arrows: list[Any] = [(at, "PAUSED", when(event="pause")) for at in order]
    arrows += [(at, to, when(event="step")) for at, to in zip(order, [*order[1:], "A"], strict=True)]
    arrows += [("PAUSED", to, when(event="resume", kept=to)) for to in order]
    app = (
        ApplicationBuilder()
        .with_actions(PAUSED=paused, **nodes)
        .with_transitions(*arrows)
        .with_state(count=0, kept="", event="")
        .with_entrypoint("A")
        .build()
    )
    app.step()
    at = ["A"]

    def send(event: str) -> None:
        app.update_state(app.state.update(event=event))
        done = app.step()
        at[0] = done[0].name if done else at[0]

    return send, lambda: at[0]


def by_pydantic_graph() -> tuple[Send, Callable[[], str]]:
    """`pydantic-graph`: a flat graph of nodes; one event is one node run to its end."""

    @dataclass
    class Kept:
        at: str = "A"
        kept: str = "A"
        count: int = 0

    @dataclass
    class Handle(BaseNode[Kept, None, str]):
        event: str

        async def run(self, ctx: GraphRunContext[Kept, None]) -> End[str]:
            state = ctx.state
            if self.event == "pause":
                state.kept, state.at = state.at, "PAUSED"
            elif self.event == "resume":
                state.at = state.kept
            elif state.count >= 0:
                state.at, state.count = "ABCDA"["ABCD".index(state.at) + 1], state.count + 1
            return End(state.at)

    builder: Any = GraphBuilder(state_type=Kept, input_type=Handle, output_type=str)
    builder.add(builder.node(Handle), builder.edge_from(builder.start_node).to(Handle))
    graph: Graph[Any, Any, Any, Any] = builder.build()
    state = Kept()
    loop = asyncio.new_event_loop()

    def send(event: str) -> None:
        loop.run_until_complete(graph.run(state=state, inputs=Handle(event)))

    return send, lambda: state.at


PEERS = (
    Peer(name="transitions", make=by_transitions, lacks="history: the model keeps a name"),
    Peer(name="python-statemachine", make=by_python_statemachine),
    Peer(name="xstate-statemachine", make=by_xstate),
    Peer(name="sismic", make=by_sismic),
    Peer(name="burr", make=by_burr, lacks="levels, history: a flat graph, the state keeps a name"),
    Peer(name="pydantic-graph", make=by_pydantic_graph, lacks="levels, history: one node decides by hand"),
)
