"""What tests of team systems share: scripted roles, questions, and what a conversation came to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

import stateward as sw
from stateward.run.repair import dangling
from stateward.run.session import Outcome
from stateward.testing import Reply, ScriptedModel


def scripted(**replies: Sequence[Reply]) -> dict[str, sw.ModelRole]:
    """Priced models by role that say what they are told."""
    return {role: _role(role, ScriptedModel.of(*said)) for role, said in replies.items()}


def _role(name: str, model: ScriptedModel) -> sw.ModelRole:
    return sw.ModelRole(
        name=name,
        model=model,
        usd_per_million_input=1.0,
        usd_per_million_output=1.0,
        max_output_tokens=200,
        cleared="personal",
    )


def sent(models: dict[str, sw.ModelRole], role: str) -> Sequence[Sequence[BaseMessage]]:
    """What a role was sent, call by call."""
    model = models[role].model
    assert isinstance(model, ScriptedModel)
    return model.calls


def ask(text: str) -> dict[str, Any]:
    """An input: what the user says."""
    return {"messages": [("user", text)]}


def answer(outcome: Outcome) -> str:
    """The last thing that was said to the user."""
    return outcome.values["messages"][-1].text


def observations(outcome: Outcome, *, key: str = "messages") -> list[str]:
    """Tool and status of each observation in a conversation."""
    return [f"{one.name} {one.status}" for one in outcome.values[key] if isinstance(one, ToolMessage)]


def speakers(outcome: Outcome) -> list[str]:
    """Who said each of the answers to the user."""
    said = (one for one in outcome.values["messages"] if isinstance(one, AIMessage) and not one.tool_calls)
    return [str(one.name) for one in said]


def is_whole(outcome: Outcome, *, key: str = "messages") -> bool:
    """Whether strict providers take a conversation: each call has one answer, right behind it."""
    return dangling(outcome.values[key]) == ()
