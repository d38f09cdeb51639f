"""Whether a chart's state has the keys that its blocks write: the first run would find out, behind a paid reply."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from stateward.chart.definition import Definition
from stateward.errors import DefinitionError
from stateward.teams.graph_agent import GraphAgent
from stateward.teams.loop import Loop
from stateward.teams.state import TEAM
from stateward.teams.supervisor import Desk


def refuse_undeclared_keys(chart: Definition, keys: Collection[str]) -> None:
    """Refuse a block that writes a key which the state does not have.

    Args:
        chart: The definition. What stands in it under other names is seen to when its keys are mapped.
        keys: Those of the state.

    Raises:
        DefinitionError: There is one.
    """
    for node in chart.nodes:
        for key in _written(node.activity.do) if node.activity else ():
            if key in keys:
                continue
            what = "its record" if key == TEAM else "its conversation"
            fix = "Let the state inherit `teams.TeamState`" if key == TEAM else f"Declare `{key}: sw.Messages`"
            raise DefinitionError(
                f"The block keeps {what} in `{key}`, which the state schema does not declare",
                where=node.path,
                fix=f"{fix}. Known keys: {', '.join(sorted(keys))}.",
                key=key,
            )


def _written(do: object) -> Iterator[str]:
    maker = getattr(do, "__self__", do)
    if isinstance(maker, Loop | Desk):
        yield TEAM
    if isinstance(maker, Loop) or (isinstance(maker, GraphAgent) and not maker.is_renamed):
        yield from () if maker.conversation is None else (maker.conversation,)
