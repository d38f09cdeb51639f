"""Event names between XState and a chart.

In XState `a` is that event alone and `a.*` all that begin with its token; here `a` is both. XState's own events begin
with `xstate.` and have ids where a chart's have paths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from stateward.chart.event import event_name_of, normal
from stateward.chart.tables import ACTIVITY_DONE, STATE_DONE
from stateward.errors import DefinitionError

OWN = "xstate."
DONE_STATE = "xstate.done.state."
DONE_ACTOR = "xstate.done.actor."
FAMILIES = ("done", "error", "fuse", "xstate")
"""First tokens of names that a chart's own events have, so that more of them exist than it names."""
FAILED = (
    "error.activity",
    "error.contract",
    "error.definition",
    "error.diverged",
    "error.interrupt",
    "error.update",
    "timeout",
)
"""What an activity that fails raises: what `onError` of an `invoke` reacts to."""

Find = Callable[[str, str], str]
"""From the kind, `state` or `actor`, and an id to a path; or from a path to an id."""


def inward(descriptor: str, *, find: Find, where: str) -> str:
    """Return the event descriptor of a chart that one of XState means.

    Args:
        descriptor: A key of `on`, or the type of an event.
        find: Finds the path for the id of a state or actor.
        where: The place in the document, for messages.

    Raises:
        DefinitionError: It is no event name here, or an event of XState's own that a chart has not.
    """
    if descriptor.startswith(OWN):
        return _completion(descriptor, find=find, where=where)
    try:
        return event_name_of(descriptor)
    except DefinitionError as error:
        raise DefinitionError(error.what, where=where, fix=error.fix) from error


def _completion(descriptor: str, *, find: Find, where: str) -> str:
    whole = {"xstate.done.*": "done.*", f"{DONE_STATE}*": "done.state.*", f"{DONE_ACTOR}*": "done.activity.*"}
    if descriptor in whole:
        return whole[descriptor]
    if descriptor.startswith(DONE_STATE):
        return STATE_DONE + find("state", descriptor.removeprefix(DONE_STATE))
    if descriptor.startswith(DONE_ACTOR):
        return ACTIVITY_DONE + find("actor", descriptor.removeprefix(DONE_ACTOR))
    raise DefinitionError(
        f"`{descriptor}` is an event of XState's own that a chart has not",
        where=where,
        fix=f"Carried over are `{DONE_STATE}<id>` and `{DONE_ACTOR}<id>`; for failures use `onError`.",
    )


def outward(descriptor: str, *, known: Iterable[str], find: Find, where: str) -> str:
    """Return the event descriptor of XState for one of a chart.

    Args:
        descriptor: The descriptor.
        known: All names of events in the chart; those that begin with its token ask for a `.*`.
        find: Finds the id for the path of a state or activity.
        where: The state whose transition names it, for messages.

    Raises:
        DefinitionError: It is a timer of another state, or begins with `xstate.`.
    """
    name = normal(descriptor)
    if f"{name}.".startswith((OWN, "after.")):
        raise DefinitionError(
            f"The event `{descriptor}` would mean something else in XState, or nothing",
            where=where,
            fix="Give it another name; react to a timer where it is set.",
        )
    if name.startswith(STATE_DONE):
        return DONE_STATE + find("state", name.removeprefix(STATE_DONE))
    if name.startswith(ACTIVITY_DONE):
        return DONE_ACTOR + find("actor", name.removeprefix(ACTIVITY_DONE))
    if name in ("done", "done.state", "done.activity"):
        return {"done": "xstate.done.*", "done.state": f"{DONE_STATE}*"}.get(name, f"{DONE_ACTOR}*")
    if descriptor == "*" or descriptor.endswith(".*"):
        return descriptor
    longer = any(other.startswith(f"{name}.") for other in known)
    return f"{name}.*" if longer or name.split(".")[0] in FAMILIES else name


def rank(key: str) -> tuple[bool, int]:
    """Return by what XState orders the descriptors that match one event: exact ones, then the longest.

    Args:
        key: The descriptor.
    """
    return (key.endswith("*"), -len(key) if key.endswith("*") else 0)


def overlap(one: str, other: str) -> bool:
    """Tell whether some event matches both descriptors of a chart.

    Args:
        one: A descriptor in normal form.
        other: Another.
    """
    short, long = sorted((one, other), key=len)
    return "*" in (one, other) or long == short or long.startswith(f"{short}.")
