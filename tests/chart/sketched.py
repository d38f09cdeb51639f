"""From a random sketch to a chart of ours, by the words an author has."""

from __future__ import annotations

from typing import Any

from stateward.chart.compiler import build
from stateward.chart.definition import Definition
from stateward.chart.state import Final, Parallel, State, Superstate
from stateward.chart.transition import History, When, after, on, when
from tests.chart.random_charts import FUEL, Arrow, Box, Guard, Sketch, burn, fuelled


def fresh() -> dict[str, Any]:
    """Return the data a sketched chart begins with."""
    return {"log": [], "n": 0, "fuel": FUEL}


def work(state: Any) -> None:
    """Stand for an activity."""


def count(state: Any) -> int:
    """Return the counter: the data of every final state."""
    return state["n"]


def children(sketch: Sketch, *, do: Any = work) -> list[Any]:
    """Return the top states; `do(name)` makes an activity if it is not `work` itself."""
    return [_state(box, sketch, do) for box in sketch.root.inside]


def outer(sketch: Sketch) -> dict[str, Any]:
    """Return what is written at the chart itself."""
    root = sketch.root
    return {"initial": root.initial[0] if root.initial else None, **_arrows(root, sketch)}


def chart(sketch: Sketch) -> Definition:
    """Build the sketched chart."""
    return build("sketch", children(sketch), **outer(sketch))


def _state(box: Box, sketch: Sketch, do: Any) -> Any:
    if box.kind == "final":
        return Final(box.name, entry=box.entry, data=count)
    common: dict[str, Any] = {**_arrows(box, sketch), "entry": box.entry, "exit": box.exit}
    common["to"] = [_choice(arrow, sketch) for arrow in box.to] or None
    if box.kind == "atomic":
        activity = do if do is work else do(box.name)
        return State(box.name, do=activity if box.works else None, **common)
    inside = [_state(inner, sketch, do) for inner in box.inside]
    if box.kind == "parallel":
        return Parallel(box.name, *inside, history=box.history, **common)
    return Superstate(box.name, *inside, initial=_initial(box, sketch), history=box.history, **common)


def _initial(box: Box, sketch: Sketch) -> list[str] | None:
    depth = len(sketch.paths[box.name])
    return [".".join(sketch.paths[name][depth:]) for name in box.initial] or None


def _arrows(box: Box, sketch: Sketch) -> dict[str, Any]:
    return {
        "on": [_reaction(arrow, sketch) for arrow in box.arrows if arrow.event or arrow.after_s is not None],
        "always": [
            when(spending(arrow.guard), _targets(arrow, sketch), do=[burn, *arrow.do])
            for arrow in box.arrows
            if is_always(arrow)
        ],
    }


def is_always(arrow: Arrow) -> bool:
    """Tell whether an arrow is eventless; one that leads nowhere too."""
    return not arrow.event and arrow.after_s is None and bool(arrow.targets)


def spending(guard: Guard | None) -> Any:
    """Return the guard with a look at the fuel."""
    return lambda state: fuelled(state) and (guard is None or guard(state))


def _reaction(arrow: Arrow, sketch: Sketch) -> Any:
    targets = _targets(arrow, sketch) or None
    if arrow.after_s is not None:
        guard = spending(arrow.guard)
        return after(arrow.after_s, targets, when=guard, do=[burn, *arrow.do], internal=arrow.internal)
    return on(arrow.event, targets, when=arrow.guard, do=arrow.do, internal=arrow.internal)


def _choice(arrow: Arrow, sketch: Sketch) -> When | Any:
    target = _targets(arrow, sketch)[0]
    return target if arrow.guard is None else when(arrow.guard, target)


def _targets(arrow: Arrow, sketch: Sketch) -> list[Any]:
    return [_target(name, sketch) for name in arrow.targets]


def _target(name: str, sketch: Sketch) -> Any:
    path = ".".join(sketch.paths[name.rstrip("*")])
    return History(path) if name.endswith("*") else path
