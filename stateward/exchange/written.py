"""What both writers ask of a chart."""

from __future__ import annotations

from collections import defaultdict

from stateward.chart.definition import Definition, Node, Transition
from stateward.chart.event import normal
from stateward.errors import DefinitionError


class Descriptors:
    """Event descriptors as the author wrote them.

    Transitions keep the normal form, `a` for `a.*`; the chart's table of events keeps what was written. Each spelling
    is used at least once, so that the table comes back whole.

    Args:
        chart: The chart; its transitions are asked for in order.
    """

    def __init__(self, chart: Definition) -> None:
        self._spellings: dict[str, list[str]] = defaultdict(list)
        for name in chart.events:
            self._spellings[normal(name)].append(name)

    def written(self, transition: Transition) -> tuple[str, ...]:
        """Return the events of a transition, spelled as the author did.

        Args:
            transition: The transition.
        """
        return tuple(self._next(event) for event in transition.events)

    def _next(self, event: str) -> str:
        spellings = self._spellings[event]
        if not spellings:
            return event
        spellings.append(spellings.pop(0))
        return spellings[-1]


def timers_of(chart: Definition, node: Node) -> frozenset[str]:
    """Return the events of a state's own `after` transitions.

    Args:
        chart: The chart.
        node: The state.
    """
    return frozenset(timer.events[0] for timer in chart.tables.timers[node.index])


def refuse_policies(chart: Definition, *, policy: object, without: bool) -> None:
    """Check that no policy would be lost unsaid.

    Args:
        chart: The chart.
        policy: The policy of the whole chart.
        without: Whether the caller said that policies may be left out.

    Raises:
        DefinitionError: There is a policy, and the caller did not.
    """
    bound = [node.path for node in chart.nodes if node.policy is not None]
    if policy is not None:
        bound.insert(0, chart.name)
    if bound and not without:
        raise DefinitionError(
            "A policy cannot be written: the format has no words for what binds a state",
            where=bound[0],
            fix="Keep it beside the document, and say `without_policies=True` (command line: `--without-policies`).",
            states=tuple(bound),
        )
