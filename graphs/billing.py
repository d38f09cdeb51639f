"""`billing`: a desk that passes messages on to a specialist, which remembers as much as its configuration says.

thread: all that the session brought it. invocation: the message it was asked about, also while it waits for a person.
none: that message, and no person is ever asked; a tool that may ask one is refused when the chart is made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

import stateward as sw
from nodes.billing.accounts import account_tools
from nodes.billing.desk import SPECIALIST, Billing, is_about_billing, pass_on, reply
from nodes.billing.rules import GIVE_BACK, specialist
from stateward import teams
from stateward.config import ModelConfig, load_system
from stateward.govern.policy import Policy
from stateward.models import chat_models
from stateward.prompts import Prompts

ROOT = Path(__file__).parents[1]
CONFIG = ROOT / "configs" / "billing.yaml"
POLICY = ROOT / "policies" / "billing.yaml"
PROMPTS = ROOT / "nodes" / "billing" / "prompts"
ROLE = "specialist"
"""The role of the specialist's model."""


class BillingConfig(BaseModel):
    """configs/billing.yaml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    memory: teams.Memory
    """What the specialist remembers."""
    customer: str
    """Whose account it is in a session without a tenant."""
    max_steps: int = Field(ge=1, le=20)
    """Replies of the specialist that may call tools."""
    models: dict[str, ModelConfig] = Field(default_factory=dict[str, ModelConfig])
    """The role `specialist`; none by default: rules decide."""


def chart(
    tools: Sequence[Any], *, policy: Policy, memory: teams.Memory, max_steps: int, role: str | None = None
) -> sw.Chart[Billing]:
    """Draw the chart.

    Args:
        tools: What the specialist may call.
        policy: What binds it.
        memory: What it remembers.
        max_steps: Its replies that may call tools.
        role: The role of its model; None for rules.

    Returns:
        The chart.

    Raises:
        DefinitionError: It is to ask nobody, and has a tool that may ask a person.
    """
    names = [tool.name for tool in tools]
    agent = teams.agent(
        SPECIALIST,
        model=role or specialist(names),
        tools=tools,
        prompt=Prompts(PROMPTS)["specialist"].given(can_refund=GIVE_BACK in names),
        max_steps=max_steps,
        conversation="case",
        memory=memory,
        policy=policy,
    )
    return sw.Chart(
        "billing",
        Billing,
        sw.State("DESK", do=pass_on, to=[sw.when(is_about_billing, SPECIALIST), "REPLY"]),
        teams.placed(agent, to="REPLY"),
        sw.State("REPLY", do=reply, to="DONE"),
        sw.Final("DONE"),
    )


def build(*, overrides: Sequence[str] = (), env: Mapping[str, str] | None = None, models: Any = None) -> sw.ChartGraph:
    """Build the graph from its configuration.

    Args:
        overrides: Dotted texts such as `config.memory=invocation` or `policy.fuses.turns=5`.
        env: The environment; default the process's own.
        models: Chat models by role, in place of the configured ones; for tests.

    Returns:
        The compiled graph, without a saver.

    Raises:
        ConfigError: A file, a variable or an override has a wrong key or value.
    """
    config, policy = load_system(BillingConfig, CONFIG, POLICY, env=env, overrides=overrides)
    roles = models or chat_models(config.models, env=env, roles=(ROLE,))
    # Whoever may ask nobody gets no tool that asks: the block would refuse it.
    tools = [tool for tool in account_tools(config.customer) if config.memory != "none" or tool.name != GIVE_BACK]
    role = ROLE if ROLE in roles else None
    drawn = chart(tools, policy=policy, memory=config.memory, max_steps=config.max_steps, role=role)
    return drawn.compile(tools=tools, models=roles)


graph = build()
