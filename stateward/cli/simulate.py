"""`stateward simulate`: step a chart by hand, in the terminal or from a script."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, cast

import typer
from pydantic_core import to_jsonable_python
from rich.text import Text
from rich.tree import Tree

from stateward.chart.definition import Definition
from stateward.chart.finding import spoken
from stateward.chart.trace import Step
from stateward.cli import options
from stateward.cli.loading import load
from stateward.cli.order import Order, read
from stateward.cli.rendering import complain, plain, stdout
from stateward.errors import InputRefused, StatewardError
from stateward.run.plan import Machine
from stateward.run.resume import is_internal, occurrence
from stateward.simulation import Simulation

_HELP = """Step a chart by hand: no activity runs, no model is called.

Shows where the chart stands, what it reacts to, which activities run and
what guards said. Commands come from the terminal, or from a file or pipe:
one a line, `help` lists them. With --json each is answered by one line.

Examples:

  stateward simulate support_desk --state '{"messages": []}'
  echo 'complete; send pause; undo' | tr ';' '\\n' | stateward simulate working --json
"""

ORDERS = """send EVENT [JSON]      an event from outside, with its data
complete [PATH] [JSON] an activity has ended, and writes these keys
fail [PATH] [EVENT]    an activity has ended badly: error.activity, or timeout, fuse.turns, …
wait SECONDS           time passes: 30, 30s, 5m, 2h
set KEY=JSON           change the state; guards see it at the next step
state                  show the state
show                   show where the chart stands
undo                   take the last command back
help                   this list
quit                   leave (also end of input)"""


def add_to(app: typer.Typer) -> None:
    """Add the command.

    Args:
        app: The application.
    """
    app.command("simulate", help=_HELP)(_simulate)


def _simulate(
    graph: options.Graph,
    state: Annotated[str, typer.Option("--state", metavar="JSON", help="The state it begins with.")] = "{}",
    overrides: options.Overrides = None,
    as_json: options.AsJson = False,
) -> None:
    bench = Bench(load(graph, overrides=overrides or ()).graph.machine, state=_object(state))
    show = _print_line if as_json else _print_view
    show(bench, order="start")
    failed = False
    for line in _lines(prompt=not as_json and sys.stdin.isatty()):
        try:
            order = read(line)
            if order.name == "quit":
                break
            if order.name == "help":
                typer.echo(ORDERS)
            elif order.name == "state" and not as_json:
                typer.echo(json.dumps(to_jsonable_python(bench.state, fallback=str), ensure_ascii=False, indent=2))
            else:
                bench.do(order)
                show(bench, order=line)
        except StatewardError as error:
            failed = True
            _print_error(error, order=line) if as_json else complain(error)
    raise typer.Exit(1 if failed else 0)


def _lines(*, prompt: bool) -> Iterator[str]:
    """Yield what is typed or piped in, without empty lines and comments."""
    while True:
        if prompt:
            typer.echo("> ", nl=False)
        line = sys.stdin.readline()
        if not line:
            return
        if line.strip() and not line.lstrip().startswith("#"):
            yield line.strip()


def _object(text: str) -> dict[str, Any]:
    try:
        value: object = json.loads(text)
    except ValueError as broken:
        raise InputRefused(f"`--state` is no JSON: {broken}", fix='Write an object such as {"amount": 3}.') from broken
    if not isinstance(value, dict):
        raise InputRefused("`--state` is no JSON object", fix='Write an object such as {"amount": 3}.')
    return cast("dict[str, Any]", value)


class Bench:
    """A simulation with a way back: it is played again from its orders, which are pure.

    Args:
        machine: The lowered chart.
        state: The state it begins with.

    Raises:
        StatewardError: The chart cannot be entered with this state.
    """

    def __init__(self, machine: Machine, *, state: Mapping[str, Any]) -> None:
        self.machine = machine
        self._begun = dict(state)
        self._orders: list[Order] = []
        self.seen = 0
        """How many of the simulation's steps came before the last order."""
        self.simulation = self._played()

    @property
    def chart(self) -> Definition:
        """The chart."""
        return self.machine.chart

    @property
    def state(self) -> Mapping[str, Any]:
        """The data that guards and actions see."""
        return self.simulation.data.state

    def do(self, order: Order) -> None:
        """Do what an order says; what fails changes nothing.

        Args:
            order: The order.

        Raises:
            InputRefused: There is nothing to undo.
            StatewardError: It cannot be done now.
        """
        if order.name == "undo":
            if not self._orders:
                raise InputRefused("There is nothing to undo", fix="It stands where it began.")
            self._orders.pop()
            self.simulation = self._played()
        elif order.name != "show":
            self.seen = len(self.simulation.steps)
            try:
                _obey(self.simulation, order, machine=self.machine)
            except StatewardError:
                self.simulation = self._played()
                raise
            self._orders.append(order)

    def steps(self) -> tuple[Step, ...]:
        """Return the kernel's steps of the last order."""
        return tuple(self.simulation.steps[self.seen :])

    def _played(self) -> Simulation:
        simulation = Simulation(self.chart, state=dict(self._begun), present=self.machine.schema.present)
        self.seen = 0
        for order in self._orders:
            self.seen = len(simulation.steps)
            _obey(simulation, order, machine=self.machine)
        return simulation


def _obey(simulation: Simulation, order: Order, *, machine: Machine) -> None:
    if order.name == "send":
        simulation.send(_event(order, machine=machine))
    elif order.name == "complete":
        simulation.complete(order.fields, path=order.path or None)
    elif order.name == "fail":
        simulation.fail(order.event or "error.activity", path=order.path or None)
    elif order.name == "wait":
        simulation.wait(order.seconds)
    else:
        simulation.data.state.update(order.fields or {})


def _event(order: Order, *, machine: Machine) -> Any:
    if is_internal(order.event):
        return order.event  # by hand one may say what the chart itself would raise
    return occurrence(order.event, order.fields, machine=machine)


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What one line of JSON says, and a screen shows."""

    at: tuple[str, ...]
    enabled: tuple[str, ...]
    activities: tuple[str, ...]
    pending: tuple[dict[str, object], ...]
    now_s: float
    transitions: tuple[str, ...]
    guards: tuple[dict[str, object], ...]
    unhandled: tuple[str, ...]
    is_final: bool

    @classmethod
    def of(cls, bench: Bench) -> View:
        """Look at a bench.

        Args:
            bench: The bench.
        """
        simulation, steps, chart = bench.simulation, bench.steps(), bench.chart
        taken = [index for step in steps for micro in step.microsteps for index in micro.transitions]
        verdicts = [verdict for step in steps for verdict in step.verdicts]
        return cls(
            at=simulation.at,
            enabled=() if simulation.last.final else simulation.enabled,
            activities=simulation.activities,
            pending=tuple({"due_s": due, "id": id, "event": event.name} for due, id, event in simulation.pending),
            now_s=simulation.now,
            transitions=tuple(chart.tables.arrows[index] for index in taken),
            guards=tuple({"guard": chart.transitions[v.transition].guard_name, "passed": v.passed} for v in verdicts),
            unhandled=tuple(event.name for step in steps for event in step.unhandled),
            is_final=simulation.last.final,
        )


def _print_line(bench: Bench, *, order: str) -> None:
    view = View.of(bench)
    told = {name: getattr(view, name) for name in View.__slots__} | {"state": bench.state}
    _echo({"order": order} | told | {"error": None})


def _print_error(error: StatewardError, *, order: str) -> None:
    _echo({"order": order, "error": {"what": error.what, "where": error.where, "fix": error.fix}})


def _echo(value: Mapping[str, object]) -> None:
    typer.echo(json.dumps(to_jsonable_python(value, fallback=str), ensure_ascii=False))


def _print_view(bench: Bench, *, order: str) -> None:
    view, console = View.of(bench), stdout()
    for arrow in view.transitions:
        console.print(Text.assemble(("taken    ", "bold"), plain(arrow)))
    for guard in view.guards:
        said = ("true", "green") if guard["passed"] else ("false", "red")
        console.print(Text.assemble(("guard    ", "bold"), plain(str(guard["guard"])), " is ", said))
    for event in view.unhandled:
        console.print(Text.assemble(("ignored  ", "bold yellow"), plain(spoken(event))))
    console.print(_tree(bench))
    facts = (
        ("reacts to", view.enabled),
        ("running", view.activities),
        ("due", tuple(f"{spoken(str(each['event']))} at {each['due_s']:g} s" for each in view.pending)),
        ("time", (f"{view.now_s:g} s",) if view.now_s or view.pending else ()),
    )
    for name, several in facts:
        if several:
            console.print(Text.assemble((f"{name:<9}", "bold"), " ", plain(", ".join(several))))
    if view.is_final:
        console.print(Text("The chart has ended.", style="green"))


def _tree(bench: Bench) -> Tree:
    """Draw the active states inside each other."""
    chart, active = bench.chart, bench.simulation.configuration.active
    branches = {0: Tree(Text(plain(chart.name), style="bold"))}
    for state in active[1:]:
        node = chart.nodes[state]
        style = "bold green" if chart.is_atomic(state) else ""
        branches[state] = branches[node.parent].add(Text(plain(node.name), style=style))
    return branches[0]
