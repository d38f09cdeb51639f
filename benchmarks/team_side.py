"""What both sides of `benchmarks.teams` share: what is said and done in a turn, and how a side is made and judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

TurnOf = Literal["handoff", "delegation", "react"]
"""What is done in a turn.

handoff: the active agent hands the conversation over, and the other one answers. delegation: a supervisor has a worker
do something, and tells the user what came of it. react: an agent calls one tool, and answers.
"""

PROMPT = "You are one of a team. Be brief."
"""What every agent is told of its job."""
ABOUT = "Counts."
"""What a supervisor is told of the worker."""
TASK = "Count the boxes."
"""What is delegated."""
COUNTED = "There are 3 boxes."
"""What the worker comes to."""
ANSWERS: Mapping[TurnOf, str] = {"handoff": "I am there.", "delegation": COUNTED, "react": "It is 3."}
"""What a turn must end with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the two that are measured."""

    name: str
    turn: TurnOf
    make: Callable[..., Any]
    """Makes the graph: ours of what `Chart.compile` takes for the saver or the database, theirs of a saver."""
    happened: Callable[[Mapping[str, Any]], bool]
    """Tells of the values at the end whether it was done what is to be done in a turn."""

    def is_right(self, values: Mapping[str, Any]) -> bool:
        """Tell whether a turn came out right.

        Args:
            values: At its end.
        """
        return values["messages"][-1].text == ANSWERS[self.turn] and self.happened(values)


def handed_over(values: Mapping[str, Any]) -> bool:
    """Tell whether another agent answers than was asked.

    Args:
        values: At the end of the turn.
    """
    asked, handed, answer = values["messages"][-3:]
    return handed.type == "tool" and bool(asked.tool_calls) and {asked.name, answer.name} == {"A", "B"}


def called_a_tool(values: Mapping[str, Any]) -> bool:
    """Tell whether the agent's tool was called once.

    Args:
        values: At the end of the turn.
    """
    person, asked, seen, _ = values["messages"][-4:]
    return (person.type, len(asked.tool_calls), seen.type, seen.text) == ("human", 1, "tool", "3")
