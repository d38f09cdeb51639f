"""Transitions that are never taken, and why: shadowed, never raised, or always overtaken."""

from __future__ import annotations

from collections.abc import Iterator

from stateward.chart.alphabet import ANY, EXPIRED, Alphabet, Fuses, cause_of, is_own
from stateward.chart.definition import Definition, Transition
from stateward.chart.event import matches
from stateward.chart.finding import Finding, listed
from stateward.chart.graph import Graph
from stateward.chart.tables import ACTIVITY_DONE, STATE_DONE


def shadowed(chart: Definition) -> Iterator[Finding]:
    """Yield the transitions behind one of the same state that leaves them nothing.

    Args:
        chart: The chart.
    """
    for transition, before in _shadowed(chart):
        why = "one without guard comes first" if before.guard is None else "the same guard comes first"
        yield Finding(
            rule="shadowed",
            severity="warning",
            path=chart.nodes[transition.source].path,
            message=f"{told(chart, transition)} is never taken: {why}.",
        )


def _shadowed(chart: Definition) -> Iterator[tuple[Transition, Transition]]:
    for node in chart.nodes:
        mine = [chart.transitions[index] for index in node.transitions]
        for place, transition in enumerate(mine):
            before = next((other for other in mine[:place] if _shadows(other, transition)), None)
            if before is not None:
                yield transition, before


def _shadows(before: Transition, transition: Transition) -> bool:
    if before.guard is not None and (transition.guard is None or transition.guard.fn is not before.guard.fn):
        return False
    if before.kind != transition.kind:
        return False
    if transition.kind == "event":
        return all(matches(before.events, name=event) for event in transition.events)
    return before.events == transition.events


def unfired(graph: Graph, *, fuses: Fuses | None = None) -> Iterator[Finding]:
    """Yield the transitions of reached states that are never taken, but for those shadowed in their own state.

    Args:
        graph: The chart's graph.
        fuses: What can trip where; None to take every fuse for set.
    """
    chart = graph.chart
    alphabet = Alphabet(chart, fuses=fuses)
    hidden = {transition.index for transition, _ in _shadowed(chart)}
    for transition in chart.transitions:
        source = chart.nodes[transition.source]
        if transition.index in graph.fired or transition.index in hidden or transition.source not in graph.ways_in:
            continue
        if transition.kind == "completion" and source.kind != "atomic" and source.index not in graph.completed:
            continue
        raised = _is_raised(graph, transition, alphabet=alphabet)
        yield Finding(
            rule="never-taken" if raised else "never-raised",
            severity="note" if _is_shared(graph, transition) else "warning",
            path=source.path,
            message=_overtaken(graph, transition) if raised else _unraised(graph, transition),
            witness=graph.hops(graph.to(graph.ways_in[transition.source])),
        )


def _is_shared(graph: Graph, transition: Transition) -> bool:
    """Tell whether the same reaction is taken elsewhere: a list of handlers that is given to several states.

    Or whether what is done about it is done in this state about another event: all that may go wrong leads there.
    """
    if transition.kind != "event" or not is_own(transition.events[0]):
        return False
    fired = (graph.chart.transitions[index] for index in graph.fired)
    same = [t for t in fired if t.targets == transition.targets]
    return any(t.events == transition.events for t in same) or any(_does_the_same(t, transition) for t in same)


def _does_the_same(one: Transition, other: Transition) -> bool:
    return one.source == other.source and bool(other.actions) and one.actions == other.actions


def _overtaken(graph: Graph, transition: Transition) -> str:
    asked = transition.guard is None or transition.index in graph.tested
    asked_for = "" if asked else f" and its guard `{transition.guard_name}` is never asked"
    return (
        f"{told(graph.chart, transition)} is never taken{asked_for}: "
        f"whenever {cause_of(transition)} comes, other transitions are taken first or its state has been left."
    )


def _unraised(graph: Graph, transition: Transition) -> str:
    asked_for = f", so its guard `{transition.guard_name}` is never asked" if transition.guard else ""
    events = " nor ".join(f"`{event}`" for event in transition.events)
    return f"Nothing can raise {events} while this state is active{asked_for}: {_remedy(transition.events[0])}"


def _remedy(event: str) -> str:
    if event.startswith((ACTIVITY_DONE, STATE_DONE)):
        return "no such state can be complete. Check the path."
    if event.startswith("error.contract"):
        return "no activity here has `output=`."
    if event.startswith("timeout"):
        return "no activity here has `timeout_s=`, and no policy `activity_timeout_s`."
    if event.startswith("fuse"):
        return "no activity here makes calls that such a fuse of its policies counts."
    if event == EXPIRED:
        return "no activity here asks people: `State(…, asks=True)`."
    if event.startswith("unknown_after_crash"):
        return "no activity here has tools that must not run twice."
    return "no activity, guard or action here can fail so."


def _is_raised(graph: Graph, transition: Transition, *, alphabet: Alphabet) -> bool:
    """Tell whether what a transition waits for ever happens while its source is active."""
    if transition.kind != "event" or transition.delay is not None:
        return True
    if any(event == "*" or not is_own(event) for event in transition.events):
        return True
    if any(matches(transition.events, name=name) for name in alphabet.raised):
        return True
    return any(matches(transition.events, name=name) for name in _own_events(graph, transition.source, alphabet))


def _own_events(graph: Graph, source: int, alphabet: Alphabet) -> Iterator[str]:
    """Yield what activities and completions raise while a state is active."""
    chart = graph.chart
    running: set[int] = set()
    for node in graph.nodes:
        if source in node.active:
            running.update(node.running)
    for state in sorted(running):
        yield ACTIVITY_DONE + chart.nodes[state].path
        yield from alphabet.ends(state)
    for state in sorted(graph.completed):
        yield STATE_DONE + chart.nodes[state].path
    for node in chart.nodes:
        waits = any(chart.transitions[index].kind == "completion" for index in node.transitions)
        if node.kind == "atomic" and waits and node.index in graph.ways_in and not node.activity:
            yield STATE_DONE + node.path


def told(chart: Definition, transition: Transition) -> str:
    """Name a transition at the beginning of a sentence.

    Args:
        chart: The chart.
        transition: The transition.
    """
    targets = listed([chart.nodes[target].path for target in transition.targets]) or "nowhere"
    events = [event for event in transition.events if event != ANY]
    cause = f" on {listed(events)}" if transition.kind == "event" and transition.delay is None else ""
    return f"The transition to {targets}{cause}"
