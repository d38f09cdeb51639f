"""Which states a transition enters: the entry half of the SCXML algorithm, as a function of history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stateward.chart.definition import Block, Node, Plan, Transition

Memory = Mapping[int, tuple[int, ...]]
"""Per history state: the states it stands for, once its parent was left."""


def effective_targets(nodes: Sequence[Node], *, targets: tuple[int, ...], memory: Memory) -> tuple[int, ...]:
    """Return the targets with history states replaced by what they stand for.

    Source: SCXML appendix D, getEffectiveTargetStates.
    """
    found: list[int] = []
    for target in targets:
        node = nodes[target]
        if node.kind != "history":
            found.append(target)
        elif target in memory:
            found.extend(memory[target])
        else:
            found.extend(effective_targets(nodes, targets=node.default, memory=memory))
    return tuple(found)


def domain(nodes: Sequence[Node], *, transition: Transition, memory: Memory) -> int:
    """Return the state everything inside of which a transition leaves; -1 if it leaves nothing.

    A transition of the root keeps the root, for there is nothing around it.

    Source: SCXML appendix D, getTransitionDomain and findLCCA.
    """
    targets = effective_targets(nodes, targets=transition.targets, memory=memory)
    if not targets:
        return -1
    source = nodes[transition.source]
    if transition.internal and source.kind == "compound" and _all_inside(source, states=targets):
        return source.index
    while source.parent >= 0:
        source = nodes[source.parent]
        if source.kind == "compound" and _all_inside(source, states=targets):
            break
    return source.index


def plan(nodes: Sequence[Node], *, targets: tuple[int, ...], within: int, memory: Memory) -> Plan:
    """Return what entering the targets enters, in document order, with the blocks to run.

    Args:
        nodes: The chart's states.
        targets: Where the transition leads.
        within: The transition's domain, which is not entered itself; -1 to enter the root as well.
        memory: What history states stand for.

    Source: SCXML appendix D, computeEntrySet and enterStates.
    """
    entering = _Entering(nodes, memory, domain=within)
    for target in targets:
        entering.descend(target)
    for target in effective_targets(nodes, targets=targets, memory=memory):
        entering.ascend(target, within=within)
    return entering.plan()


class _Entering:
    """The entry set while it grows."""

    def __init__(self, nodes: Sequence[Node], memory: Memory, *, domain: int) -> None:
        self.nodes = nodes
        self.memory = memory
        self.domain = domain
        self.states: set[int] = set()
        self.by_default: set[int] = set()
        self.history_actions: dict[int, Block] = {}

    def descend(self, state: int) -> None:
        node = self.nodes[state]
        if node.kind == "history":
            self._restore(node)
            return
        self.states.add(state)
        if node.kind == "compound":
            self.by_default.add(state)
            self._enter_all(node.initial, within=state)
        elif node.kind == "parallel":
            self._fill_regions(node)

    def ascend(self, state: int, *, within: int) -> None:
        around = self.nodes[state].parent
        # A history state may restore what is around the domain, which has not been left.
        while around not in (within, self.domain, -1):
            node = self.nodes[around]
            self.states.add(around)
            if node.kind == "parallel":
                self._fill_regions(node)
            around = node.parent

    def plan(self) -> Plan:
        return tuple((state, tuple(filter(None, self._blocks(state)))) for state in sorted(self.states))

    def _restore(self, history: Node) -> None:
        remembered = self.memory.get(history.index)
        if remembered is None:
            self.history_actions[history.parent] = history.default_actions
            remembered = history.default
        self._enter_all(remembered, within=history.parent)

    def _enter_all(self, states: tuple[int, ...], *, within: int) -> None:
        for state in states:
            self.descend(state)
        for state in states:
            self.ascend(state, within=within)

    def _fill_regions(self, parallel: Node) -> None:
        for child in parallel.children:
            region = self.nodes[child]
            if region.kind != "history" and not any(child <= s < region.end for s in self.states):
                self.descend(child)

    def _blocks(self, state: int) -> tuple[Block, ...]:
        node = self.nodes[state]
        initial = node.initial_actions if state in self.by_default else ()
        return (node.entry, initial, self.history_actions.get(state, ()))


def _all_inside(node: Node, *, states: tuple[int, ...]) -> bool:
    return all(node.index < state < node.end for state in states)
