"""Where XState and the W3C leave different states for the same arrow.

XState takes the innermost state around source and targets, a parallel one too; the W3C's algorithm the innermost one
that is not parallel. So an arrow from one region to another leaves the parallel state here and not there. That shows
only if leaving and entering it does something.

And XState asks the states around a parallel state only if none of its regions reacts to an event; by the W3C's
algorithm each region asks them for itself. That shows only if one of the two transitions leaves nothing, for else the
inner one wins; or if the inner one in its turn loses to one of a third region, which the outer one does not touch.
"""

from __future__ import annotations

from collections.abc import Sequence

from stateward.chart.definition import Node, Transition
from stateward.chart.entry import domain, effective_targets
from stateward.chart.tables import STATE_DONE
from stateward.errors import DefinitionError
from stateward.exchange.xstate_events import overlap


def is_inside(nodes: Sequence[Node], state: int, *, of: int) -> bool:
    """Tell whether a state is another or in it.

    Args:
        nodes: The chart's states.
        state: The inner state.
        of: The outer state.
    """
    return of <= state < nodes[of].end


def returns(nodes: Sequence[Node], *, source: int, targets: tuple[int, ...]) -> bool:
    """Tell whether an arrow leads to the history of a state around its source, so that it may lead to where it begins.

    XState then leaves nothing unless it says `reenter`.

    Args:
        nodes: The chart's states.
        source: Where it begins.
        targets: Where it leads.
    """
    around = (nodes[target].parent for target in targets if nodes[target].kind == "history")
    return any(parent != source and is_inside(nodes, source, of=parent) for parent in around)


def leaves_source(nodes: Sequence[Node], *, source: int, targets: tuple[int, ...], reenter: bool) -> bool:
    """Tell whether XState leaves the source of an arrow.

    Args:
        nodes: The chart's states.
        source: Where it begins.
        targets: Where it leads.
        reenter: Whether it says `reenter`.
    """
    return bool(targets) and xstate_domain(nodes, source=source, targets=targets, reenter=reenter) != source


def xstate_domain(nodes: Sequence[Node], *, source: int, targets: tuple[int, ...], reenter: bool) -> int:
    """Return the state whose inside XState leaves.

    Args:
        nodes: The chart's states.
        source: Where the arrow begins.
        targets: Where it leads; not empty.
        reenter: Whether it says `reenter`.
    """
    if not reenter and all(is_inside(nodes, target, of=source) for target in targets):
        return source
    around = nodes[source].parent
    while around > 0 and not all(around < state < nodes[around].end for state in targets):
        around = nodes[around].parent
    return max(around, 0)


def shows(nodes: Sequence[Node], transition: Transition, *, reenter: bool, timed: frozenset[int]) -> Node | None:
    """Return the parallel state by whose leaving one can tell the two apart; None if one cannot.

    Args:
        nodes: The chart's states.
        transition: The arrow, as the kernel has it.
        reenter: Whether it says `reenter` in XState.
        timed: The states with timers of their own.
    """
    if not transition.targets:
        return None
    targets = effective_targets(nodes, targets=transition.targets, memory={})
    theirs = xstate_domain(nodes, source=transition.source, targets=targets, reenter=reenter)
    ours = domain(nodes, transition=transition, memory={})
    if ours == theirs:
        return None
    node = nodes[theirs]
    busy = node.entry or node.exit or node.activity or node.index in timed
    remembers = any(nodes[child].kind == "history" for child in node.children)
    return node if busy or remembers or node.parent != ours else None


def refuse_skipped(nodes: Sequence[Node], transitions: Sequence[Transition]) -> None:
    """Check that no actions of an `initial` are run here that XState skips.

    It does so when a state is entered because history names it, and when a region begins by itself because another
    region of the same parallel state is a target.

    Args:
        nodes: The chart's states.
        transitions: Its transitions.

    Raises:
        DefinitionError: There are some.
    """
    targets = {target for transition in transitions for target in transition.targets}
    targets |= {target for node in nodes for target in (*node.initial, *node.default)}
    for node in nodes:
        around = nodes[max(node.parent, 0)]
        beside = [t for t in targets if around.index < t < around.end and not node.index <= t < node.end]
        recalled = any(nodes[child].kind == "history" and not nodes[child].deep for child in around.children)
        recalled = recalled or any(node.index in history.default for history in nodes)
        if node.initial_actions and (recalled or (around.kind == "parallel" and beside)):
            raise DefinitionError(
                "XState skips the actions of its `initial` when history or a target in another region lead to it",
                where=node.path,
                fix="Move them to the entry of the state, or of the one it begins in.",
            )


def refuse_hidden(nodes: Sequence[Node], transitions: Sequence[Transition]) -> None:
    """Check that no transition is taken here because a second region asks for it, and is not in XState.

    Args:
        nodes: The chart's states.
        transitions: Its transitions.

    Raises:
        DefinitionError: There is one.
    """
    reacting = [t for t in transitions if t.kind != "always"]
    for parallel in nodes:
        if parallel.kind != "parallel" or sum(nodes[child].kind != "history" for child in parallel.children) < 2:
            continue
        inner = [t for t in reacting if parallel.index < t.source < parallel.end]
        outer = [t for t in reacting if is_inside(nodes, parallel.index, of=t.source)]
        for around, within in ((a, w) for a in outer for w in inner):
            hides = not (around.targets and within.targets) or _may_lose(nodes, reacting, within, outer=around)
            if hides and share(around, other=within):
                raise DefinitionError(
                    f"`{nodes[within.source].path}` and `{nodes[around.source].path or 'the chart'}` react to "
                    f"`{within.events[0]}`: XState asks the outer only if no region of `{parallel.path}` reacts",
                    where=nodes[within.source].path,
                    fix="Give both a target, or react to the event in every region.",
                )


def refuse_late(nodes: Sequence[Node], transitions: Sequence[Transition], *, parallel: Node) -> None:
    """Check that nothing is asked here once all regions of a machine that is parallel itself have ended.

    XState ends the machine in the same moment, before any `onDone` or `always`.

    Args:
        nodes: The chart's states.
        transitions: Its transitions, without the one that ends it.
        parallel: The machine.

    Raises:
        DefinitionError: A state that is active then has one.
    """
    for region in (parallel, *(nodes[child] for child in parallel.children)):
        own = [t for t in transitions if t.source == region.index]
        if any(t.kind != "event" or t.events[0].startswith(STATE_DONE) for t in own):
            raise DefinitionError(
                f"`{region.path}` has `onDone` or `always`, and XState ends a machine that is parallel itself before "
                "it asks either",
                where=region.path,
                fix="Put the regions into a parallel state inside the machine.",
            )
        if region.kind == "parallel" and region is not parallel:
            refuse_late(nodes, transitions, parallel=region)


def share(one: Transition, *, other: Transition) -> bool:
    """Tell whether some event sets off both.

    Args:
        one: A transition.
        other: Another one.
    """
    return any(overlap(this, that) for this in one.events for that in other.events)


def _may_lose(nodes: Sequence[Node], reacting: Sequence[Transition], inner: Transition, *, outer: Transition) -> bool:
    """Tell whether a transition before it may win against the inner one and leave the outer one alone."""
    leaves, leaves_less = (domain(nodes, transition=each, memory={}) for each in (inner, outer))
    if is_inside(nodes, leaves, of=leaves_less):
        return False
    return any(
        rival.targets
        and rival.source < inner.source
        and _are_apart(nodes, rival.source, outer.source)
        and share(rival, other=inner)
        for rival in reacting
    )


def _are_apart(nodes: Sequence[Node], one: int, other: int) -> bool:
    """Tell whether two states lie in different regions of a parallel state."""
    if is_inside(nodes, one, of=other) or is_inside(nodes, other, of=one):
        return False
    around = one
    while not is_inside(nodes, other, of=around):
        around = nodes[around].parent
    return nodes[around].kind == "parallel"
