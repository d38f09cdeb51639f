"""`react`: an agent that decides, calls tools, reads what they tell and decides again, until it needs none.

Rules decide, or a model in the role `agent`; the chart is the same. A call of a tool that is not there, or that the
policy refuses, is an observation like any other, and after eight replies the next one is the last word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

import stateward as sw
from nodes.react.calculator import calculate
from nodes.react.handbook import look_up_tool
from nodes.react.rules import decide
from stateward import teams
from stateward.config import ModelConfig, load_system
from stateward.govern.policy import Policy
from stateward.models import chat_models
from stateward.prompts import Prompts
from stateward.teams.mind import Mind

ROOT = Path(__file__).parents[1]
CONFIG = ROOT / "configs" / "react.yaml"
POLICY = ROOT / "policies" / "react.yaml"
PROMPTS = ROOT / "nodes" / "react" / "prompts"
AGENT = "agent"
"""The role of the model."""


class React(teams.TeamState, total=False):
    """The state: the conversation, and the agent's record."""


class ReactConfig(BaseModel):
    """configs/react.yaml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    articles: str
    """The folder of the articles, relative to the root of the repository."""
    max_steps: int = Field(ge=1, le=20)
    """Replies that may call tools."""
    models: dict[str, ModelConfig] = Field(default_factory=dict[str, ModelConfig])
    """The role `agent`; none by default: rules decide."""


def chart(
    tools: Sequence[Any],
    *,
    policy: Policy,
    max_steps: int,
    decides: Mind = decide,
) -> sw.Chart[React]:
    """Draw the chart.

    Args:
        tools: What the agent may call.
        policy: What binds it.
        max_steps: Replies that may call tools.
        decides: The role of the model, or the rules.

    Returns:
        The chart.
    """
    agent = teams.agent(
        "AGENT", model=decides, tools=tools, prompt=Prompts(PROMPTS)["agent"], max_steps=max_steps, policy=policy
    )
    return sw.Chart("react", React, teams.placed(agent, to="DONE"), sw.Final("DONE"))


def build(*, overrides: Sequence[str] = (), env: Mapping[str, str] | None = None, models: Any = None) -> sw.ChartGraph:
    """Build the graph from its configuration.

    Args:
        overrides: Dotted texts such as `config.max_steps=3` or `policy.fuses.calls=5`.
        env: The environment; default the process's own.
        models: Chat models by role, in place of the configured ones; for tests.

    Returns:
        The compiled graph, without a saver.

    Raises:
        ConfigError: A file, a variable or an override has a wrong key or value, or the folder has no article.
    """
    config, policy = load_system(ReactConfig, CONFIG, POLICY, env=env, overrides=overrides)
    roles = models or chat_models(config.models, env=env, roles=(AGENT,))
    tools = (calculate, look_up_tool(ROOT / config.articles))
    decides = AGENT if AGENT in roles else decide
    drawn = chart(tools, policy=policy, max_steps=config.max_steps, decides=decides)
    return drawn.compile(tools=tools, models=roles)


graph = build()
