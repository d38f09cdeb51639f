"""What is written beside an arrow: `event [guard] / action`, the same in every drawing.

Source: UML 2.5.1, 14.2.4.9, the notation of transitions.
"""

from __future__ import annotations

from stateward.chart.definition import Transition
from stateward.chart.guard import Bound


def label(transition: Transition) -> str:
    """Return the whole text of an arrow; empty for a plain completion.

    Args:
        transition: The arrow.
    """
    return " ".join(part for part in (trigger(transition), condition(transition)) if part)


def trigger(transition: Transition) -> str:
    """Return what sets a transition off: events, `after 30s`, `always`; nothing for a completion.

    Args:
        transition: The arrow.
    """
    if transition.delay is not None:
        return f"after {_duration(transition.delay)}"
    if transition.kind == "event":
        return ", ".join(transition.events)
    return "always" if transition.kind == "always" else ""


def condition(transition: Transition) -> str:
    """Return guard and actions as `[guard] / action`.

    Args:
        transition: The arrow.
    """
    guard = f"[{short(transition.guard_name)}]" if transition.guard_name else ""
    names = ", ".join(short(action.name) for action in transition.actions)
    return " ".join(part for part in (guard, names and f"/ {names}") if part)


def short(name: str) -> str:
    """Return the last part of a function's qualified name.

    Args:
        name: The qualified name.
    """
    return name.rpartition(".")[2].replace("<lambda>", "lambda")


def _duration(delay: float | Bound) -> str:
    return f"{short(delay.name)}()" if isinstance(delay, Bound) else f"{delay:g}s"
