"""`governed_search`: find out what an archive offers, then use it, as far as one of two policies lets it.

`discovery_only` looks and touches nothing; `separated` connects in one run and reads in another. Tools that the archive
offers are found at run time; only those on the policy's list can be called.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

import stateward as sw
from nodes.governed_search.activities import Search, Searcher, has_answer, wants_calls
from nodes.governed_search.archive import Archive, archive_tools
from stateward.config import ModelConfig, load_system
from stateward.govern.policy import Policy
from stateward.models import chat_models

ROOT = Path(__file__).parents[1]
CONFIG = ROOT / "configs" / "governed_search.yaml"
POLICY = ROOT / "policies" / "governed_search.yaml"
PLANNER = "planner"


class SearchConfig(BaseModel):
    """configs/governed_search.yaml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    articles: str = "samples/kb"
    """The folder of the articles, relative to the root of the repository."""
    models: dict[str, ModelConfig] = Field(default_factory=dict[str, ModelConfig])
    """The role `planner`; none by default: rules choose the calls."""


def chart(searcher: Searcher, *, policy: Policy, role: str | None = None) -> sw.Chart[Search]:
    """Draw the chart.

    Args:
        searcher: Its activities.
        policy: What binds SEARCH.
        role: The model role that chooses the calls; None for rules.

    Returns:
        The chart.
    """
    choose = searcher.choose if role is None else searcher.assisted_choose
    # By rules there is one round of calls; a model is asked again with what came of them.
    after = [sw.when(has_answer, "KEEP"), "DONE"] if role is None else "CHOOSE"
    ready = [sw.when(wants_calls, "ACT"), sw.when(has_answer, "KEEP"), "DONE"]
    return sw.Chart(
        "governed_search",
        Search,
        sw.Superstate(
            "SEARCH",
            sw.State("FIND", do=searcher.find, tools=["list_tools", "find_articles"], to="CHOOSE"),
            sw.State("CHOOSE", do=choose, model=role, to=ready),
            sw.State("ACT", do=searcher.act, tools=["connect_archive"], to=after),
            sw.State("KEEP", do=searcher.keep, tools=["save_note"], to="DONE"),
            policy=policy,
        ),
        sw.Final("DONE"),
    )


def build(*, overrides: Sequence[str] = (), env: Mapping[str, str] | None = None, models: Any = None) -> sw.ChartGraph:
    """Build the graph from its configuration.

    Args:
        overrides: Dotted texts such as `policy.mode=discovery_only`.
        env: The environment; default the process's own.
        models: Chat models by role, in place of the configured ones; for tests.

    Returns:
        The compiled graph, without a saver.

    Raises:
        ConfigError: A file, a variable or an override has a wrong key or value, or the folder has no article.
    """
    config, policy = load_system(SearchConfig, CONFIG, POLICY, env=env, overrides=overrides)
    roles = models or chat_models(config.models, env=env, roles=(PLANNER,))
    archive = Archive(ROOT / config.articles)
    tools = archive_tools(archive)
    drawn = chart(Searcher(archive, tools=tools), policy=policy, role=PLANNER if PLANNER in roles else None)
    return drawn.compile(tools=tools, models=roles)


graph = build()
