"""Teams of workers that say what they are told to say, for tests of supervisors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import stateward as sw
from stateward import teams
from stateward.testing import ScriptedModel


class Team(teams.TeamState, total=False):
    """The state of a team."""


def worker(name: str, *answers: Any, **rest: Any) -> sw.State[Any]:
    """A member that answers each visit with the next of its answers; an exception is raised."""
    left = list(answers or (f"{name} is done",))

    async def work(state: Any) -> Any:
        said = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(said, Exception):
            raise said
        return teams.answered(name, said)

    return sw.State(name, do=work, **rest)


def in_order(*names: Any) -> Callable[[teams.Standing], Any]:
    """A function that chooses these, one after the other, and then finishes."""

    def choose(standing: teams.Standing) -> Any:
        done = len(standing.results)
        return names[done] if done < len(names) else teams.FINISH

    return choose


def led(block: Any, *, box: Sequence[Any] = (), models: Any = None, policy: Any = None) -> sw.ChartGraph:
    """Compile a chart of one block."""
    chart = sw.Chart("team", Team, teams.placed(block, to="DONE"), sw.Final("DONE"), policy=policy)
    return chart.compile(tools=box, models=models or {})


def voice(*replies: Any, name: str = "lead") -> dict[str, ScriptedModel]:
    """A model in a role that says these things in order."""
    return {name: ScriptedModel.of(*replies)}


def asked(text: str = "Sell boxes") -> dict[str, Any]:
    """The input: what the user says."""
    return {"messages": [("user", text)]}
