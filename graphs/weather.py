"""`weather`: an agent that reads thermometers and works with them, in a conversation or question by question.

With the memory `thread` a session is a conversation: what an earlier turn has read still holds, and a branch of it goes
its own way. With `none` every question stands alone, and its answer is a record that the contract `Reading` describes.
Either way an answer always comes: after eight replies that call tools, the next one is the last word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from langchain_core.messages import AIMessage
from pydantic import BaseModel, ConfigDict, Field

import stateward as sw
from nodes.react.calculator import calculate
from nodes.weather.rules import Decide, recorded, spoken
from nodes.weather.thermometer import READINGS, UNITS, get_temperature, to_fahrenheit
from stateward import teams
from stateward.config import ModelConfig, load_system
from stateward.govern.policy import Policy
from stateward.models import chat_models
from stateward.prompts import Prompts

ROOT = Path(__file__).parents[1]
CONFIG = ROOT / "configs" / "weather.yaml"
POLICY = ROOT / "policies" / "weather.yaml"
PROMPTS = ROOT / "nodes" / "weather" / "prompts"
AGENT = "agent"
"""The role of the model."""
TOOLS = (get_temperature, calculate, to_fahrenheit)


class Weather(teams.TeamState, total=False):
    """The state: the conversation with the user, and what single questions need besides."""

    thinking: sw.Messages
    """The agent's own conversation about a single question; the next question begins it anew."""
    reading: dict[str, Any]
    """The answer to a single question, as the contract `Reading` wants it."""


class WeatherConfig(BaseModel):
    """configs/weather.yaml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    memory: Literal["thread", "none"]
    """thread: a conversation, answered in words. none: single questions, each answered by a record."""
    max_steps: int = Field(ge=1, le=20)
    """Replies that may call tools."""
    models: dict[str, ModelConfig] = Field(default_factory=dict[str, ModelConfig])
    """The role `agent`; none by default: rules decide."""


def chart(config: WeatherConfig, *, policy: Policy, role: str | None = None) -> sw.Chart[Weather]:
    """Draw the chart.

    Args:
        config: What the agent remembers, and for how long it works.
        policy: What binds it.
        role: The role of the model that decides; None for rules.

    Returns:
        The chart.
    """
    is_single = config.memory == "none"
    rules: Decide = recorded if is_single else spoken
    single: dict[str, Any] = {
        "conversation": "thinking",
        "answer": sw.Gate("Reading", key="reading"),
        "output": said,
    }
    agent = teams.agent(
        "AGENT",
        model=role or rules,
        tools=TOOLS,
        prompt=Prompts(PROMPTS)["agent"].given(cities=list(READINGS), record=is_single, units=UNITS),
        max_steps=config.max_steps,
        memory=config.memory,
        policy=policy,
        **(single if is_single else {}),
    )
    return sw.Chart("weather", Weather, teams.placed(agent, to="DONE"), sw.Final("DONE"))


def said(reading: Mapping[str, Any]) -> dict[str, Any]:
    """Return the update that tells the user a record.

    Args:
        reading: As the contract `Reading` wants it.
    """
    return {"messages": [AIMessage(str(reading["answer"]))]}


def build(*, overrides: Sequence[str] = (), env: Mapping[str, str] | None = None, models: Any = None) -> sw.ChartGraph:
    """Build the graph from its configuration.

    Args:
        overrides: Dotted texts such as `config.memory=none` or `policy.fuses.turns=5`.
        env: The environment; default the process's own.
        models: Chat models by role, in place of the configured ones; for tests.

    Returns:
        The compiled graph, without a saver.

    Raises:
        ConfigError: A file, a variable or an override has a wrong key or value.
    """
    config, policy = load_system(WeatherConfig, CONFIG, POLICY, env=env, overrides=overrides)
    roles = models or chat_models(config.models, env=env, roles=(AGENT,))
    return chart(config, policy=policy, role=AGENT if AGENT in roles else None).compile(tools=TOOLS, models=roles)


graph = build()
