"""`blog`: three ideas for a post are proposed, a judge picks one, facts are looked up, and the post is worded.

A small model may propose and a stronger one judge; without models rules do both. Whatever they say, there are exactly
three typed ideas, one of them is picked, and the post passes a gate before anybody sees it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

import stateward as sw
from nodes.blog.activities import IDEAS, PROMPTS, Blog, Writer, ask_topic, explain, has_idea, has_topic, present
from nodes.blog.idea import OPTIONS, Idea
from nodes.blog.library import Library, library_tools
from stateward import teams
from stateward.config import ModelConfig, load_system
from stateward.govern.policy import Policy
from stateward.models import chat_models

ROOT = Path(__file__).parents[1]
CONFIG = ROOT / "configs" / "blog.yaml"
POLICY = ROOT / "policies" / "blog.yaml"
PROPOSER, JUDGE, WRITER = "proposer", "judge", "writer"


class BlogConfig(BaseModel):
    """configs/blog.yaml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    articles: str = "samples/kb"
    """The folder of the articles, relative to the root of the repository."""
    models: dict[str, ModelConfig] = Field(default_factory=dict[str, ModelConfig])
    """The roles `proposer`, `judge` and `writer`; those that are missing work by rules."""


def ideas(writer: Writer, *, roles: Sequence[str]) -> sw.Superstate[Any]:
    """Make the block that proposes and picks.

    Args:
        writer: Proposes and judges by rules.
        roles: The model roles that are configured.

    Returns:
        The block, without what leads out of it.
    """
    small = teams.Worker(model=PROPOSER, prompt=PROMPTS["propose"])
    strong = teams.Worker(model=JUDGE, prompt=PROMPTS["judge"])
    return teams.tree_of_thoughts(
        IDEAS,
        option=Idea,
        options=OPTIONS,
        propose=small if PROPOSER in roles else writer.propose,
        otherwise=writer.propose if PROPOSER in roles else None,
        judge=strong if JUDGE in roles else writer.judge,
    )


def chart(writer: Writer, *, policy: Policy, roles: Sequence[str] = ()) -> sw.Chart[Blog]:
    """Draw the chart.

    Args:
        writer: Its activities.
        policy: What binds WRITING.
        roles: The model roles that are configured; the others work by rules.

    Returns:
        The chart.
    """
    gate = sw.Gate("Post", key="post")
    plain = sw.State("PLAIN", do=writer.draft, output=gate, to="DONE")
    assisted = sw.State(
        "DRAFT",
        do=writer.assisted_draft,
        model=WRITER,
        output=gate,
        to="DONE",
        on=[sw.on("error.contract", "PLAIN")],
    )
    by_rules = sw.State("DRAFT", do=writer.draft, output=gate, to="DONE")
    return sw.Chart(
        "blog",
        Blog,
        sw.State("BRIEF", do=writer.brief, to=[sw.when(has_topic, "WRITING"), "TOPIC"]),
        sw.State("TOPIC", entry=ask_topic, on=[sw.on("input", "BRIEF")]),
        sw.Superstate(
            "WRITING",
            teams.placed(ideas(writer, roles=roles), to=[sw.when(has_idea, "RESEARCH"), "STOPPED"]),
            sw.State("RESEARCH", do=writer.research, tools=["search_notes"], to="DRAFT"),
            *([assisted, plain] if WRITER in roles else [by_rules]),
            history="deep",
            on=[sw.on("fuse", "STOPPED"), sw.on("error", "STOPPED")],
            policy=policy,
        ),
        sw.State("STOPPED", entry=explain, on=[sw.on("resume", sw.History("WRITING")), sw.on("input", "BRIEF")]),
        sw.Final("DONE", entry=present),
    )


def build(*, overrides: Sequence[str] = (), env: Mapping[str, str] | None = None, models: Any = None) -> sw.ChartGraph:
    """Build the graph from its configuration.

    Args:
        overrides: Dotted texts such as `policy.fuses.usd=0.5`.
        env: The environment; default the process's own.
        models: Chat models by role, in place of the configured ones; for tests.

    Returns:
        The compiled graph, without a saver.

    Raises:
        ConfigError: A file, a variable or an override has a wrong key or value, or the folder has no article.
    """
    config, policy = load_system(BlogConfig, CONFIG, POLICY, env=env, overrides=overrides)
    roles = models or chat_models(config.models, env=env, roles=(PROPOSER, JUDGE, WRITER))
    library = Library(ROOT / config.articles)
    return chart(Writer(library), policy=policy, roles=tuple(roles)).compile(tools=library_tools(library), models=roles)


graph = build()
