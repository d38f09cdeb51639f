"""Where an agent stands: what its calls are named by, kept in the agent's own state, so that it outlives a process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, NotRequired, cast

from langchain.agents.middleware.types import AgentState, PrivateStateAttr

from stateward.errors import Drift, RunError

KEY = "stateward"
"""The agent's state key; no input and no output has it."""
_FIRST_TOOL = 2
_TRY = 1000
"""Numbers between two tries of one call."""


class GovernedState(AgentState[Any]):
    """What a governed agent remembers beside its messages."""

    stateward: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One run of an agent, and how far it is.

    It is made when the agent is given an input and lasts until the next one: a person's answer begins no new run, and
    so no new allowance.
    """

    session: str
    run: str
    path: str
    """The path of the state around, if there is one, and the agent's name."""
    base: int
    """The number of its activation 0."""
    turn: int
    """How many replies of the model are in the state."""
    policy: str
    """The hash of the policy it was begun under."""

    @property
    def content(self) -> dict[str, Any]:
        """It as plain JSON, for the agent's state."""
        return asdict(self)


def standing_in(state: Mapping[str, Any], *, policy: str) -> Standing:
    """Read where an agent stands.

    Args:
        state: The agent's state.
        policy: The hash of the policy that it is under now.

    Returns:
        Where it stands.

    Raises:
        RunError: It was not begun: a call came before the governor's own node.
        Drift: It was begun under another policy.
    """
    content = cast("Mapping[str, Any] | None", state.get(KEY))
    if content is None:
        raise RunError(
            "The agent makes a call before its governor has begun the run",
            fix="Start it with an input; a value that is written as one of its later nodes leaves the beginning out.",
        )
    standing = Standing(**content)
    if standing.policy != policy:
        raise Drift(
            f"The run was begun under the policy `{standing.policy[:12]}` and is under `{policy[:12]}` now",
            where=f"session `{standing.session}`, agent `{standing.path}`",
            fix="Go on with it under the policy it was begun under, or begin a new run with an input.",
        )
    return standing


def model_number(attempt: int) -> int:
    """Return the number of a model call in its activation.

    Args:
        attempt: From 0.
    """
    return 1 + _TRY * attempt


def tool_number(place: int, *, attempt: int) -> int:
    """Return the number of a tool call in its activation.

    Args:
        place: Which of the reply's calls it is, from 0.
        attempt: From 0.
    """
    return _FIRST_TOOL + place + _TRY * attempt
