"""ReAct: a policy step, its tools, a policy step, …, over the conversation with the user."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stateward.chart.signature import Guard
from stateward.chart.state import Superstate
from stateward.teams.agent import DEFAULT_STEPS, AnyTool, agent
from stateward.teams.final_answer import Answer, Output
from stateward.teams.mind import Mind
from stateward.teams.wording import Wording


def react(
    name: str,
    *,
    model: Mind,
    tools: Sequence[AnyTool],
    prompt: Wording = "",
    max_steps: int = DEFAULT_STEPS,
    answer: Answer | None = None,
    stop: Guard[Any] | None = None,
    output: Output | None = None,
    policy: object = None,
    detached: bool = False,
) -> Superstate[Any]:
    """Make an agent that reasons and acts over the shared conversation, until it asks for no tool.

    Args:
        name: As for `agent`.
        model: As for `agent`.
        tools: As for `agent`.
        prompt: As for `agent`.
        max_steps: As for `agent`.
        answer: As for `agent`.
        stop: As for `agent`.
        output: As for `agent`.
        policy: As for `agent`.
        detached: As for `agent`.

    Returns:
        The agent, without `to`.

    Raises:
        DefinitionError: As for `agent`.

    Source:
        SYSTEMS.md, B1; ReAct (Yao et al. 2022).
    """
    return agent(
        name,
        model=model,
        tools=tools,
        prompt=prompt,
        max_steps=max_steps,
        answer=answer,
        stop=stop,
        output=output,
        policy=policy,
        detached=detached,
    )
