"""`fintech_swarm`: a researcher and a writer who hand one conversation over to each other, as often as it takes.

Whoever spoke last is active in the next turn. What one sees of the other's work is a matter of configuration: all of
it, what was said without calls and observations, or a note. Rules decide for a member that has no model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

import stateward as sw
from nodes.fintech_swarm.archive import save_report
from nodes.fintech_swarm.market import LISTINGS, headlines, quote
from nodes.fintech_swarm.rules import RESEARCHER, WRITER, research, writing
from stateward import teams
from stateward.config import ModelConfig, load_system
from stateward.govern.policy import Policy
from stateward.models import chat_models
from stateward.prompts import Prompts
from stateward.teams.handoff import Passed

ROOT = Path(__file__).parents[1]
CONFIG = ROOT / "configs" / "fintech_swarm.yaml"
POLICY = ROOT / "policies" / "fintech_swarm.yaml"
PROMPTS = ROOT / "nodes" / "fintech_swarm" / "prompts"
TOOLS = (quote, headlines, save_report)


class Fintech(teams.TeamState, total=False):
    """The state: one conversation, which both share, and who is active."""


class FintechConfig(BaseModel):
    """configs/fintech_swarm.yaml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    history: Passed
    """What a member sees of what was said before it took over."""
    max_handoffs: int = Field(ge=0, le=20)
    """Handoffs of one run; then whoever is active answers."""
    sentences: int = Field(ge=1, le=20)
    """The most that a report has."""
    models: dict[str, ModelConfig] = Field(default_factory=dict[str, ModelConfig])
    """The roles `researcher` and `writer`; none by default: rules decide."""


def chart(config: FintechConfig, *, policy: Policy, roles: Sequence[str] = ()) -> sw.Chart[Fintech]:
    """Draw the chart.

    Args:
        config: What is handed over, and how often.
        policy: What binds both members.
        roles: The model roles that are configured, `researcher` and `writer`; rules decide for the others.

    Returns:
        The chart.
    """
    prompts = Prompts(PROMPTS)
    members = (
        teams.Peer(
            RESEARCHER,
            "researcher" if "researcher" in roles else research,
            tools=(quote, headlines),
            prompt=prompts["researcher"].given(symbols=list(LISTINGS)),
            about="Finds prices and headlines.",
        ),
        teams.Peer(
            WRITER,
            "writer" if "writer" in roles else writing(config.sentences),
            tools=(save_report,),
            prompt=prompts["writer"].given(sentences=config.sentences),
            about="Words reports and keeps them.",
        ),
    )
    desk = teams.swarm("DESK", members, history=config.history, max_handoffs=config.max_handoffs, policy=policy)
    return sw.Chart("fintech_swarm", Fintech, teams.placed(desk, to="DONE"), sw.Final("DONE"))


def build(*, overrides: Sequence[str] = (), env: Mapping[str, str] | None = None, models: Any = None) -> sw.ChartGraph:
    """Build the graph from its configuration.

    Args:
        overrides: Dotted texts such as `config.history=filtered` or `policy.fuses.turns=5`.
        env: The environment; default the process's own.
        models: Chat models by role, in place of the configured ones; for tests.

    Returns:
        The compiled graph, without a saver.

    Raises:
        ConfigError: A file, a variable or an override has a wrong key or value.
    """
    config, policy = load_system(FintechConfig, CONFIG, POLICY, env=env, overrides=overrides)
    roles = models or chat_models(config.models, env=env, roles=("researcher", "writer"))
    return chart(config, policy=policy, roles=tuple(roles)).compile(tools=TOOLS, models=roles)


graph = build()
