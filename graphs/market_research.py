"""`market_research`: a research team and a writing team under one desk; the report lies in the work directory.

DESK leads RESEARCH (SEARCH, SCRAPER, SEMANTIC, PATENTS) and WRITING (NOTES, WRITER). Each of the three chooses the next
worker or FINISH from a closed set, by rules or by a model, and passes on a task in words. One policy on DESK binds all
of it. KEEP sees to it that there is a report, also when a fuse has stopped the desk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

import stateward as sw
from nodes.market_research.keep import keeping
from nodes.market_research.library import Library
from nodes.market_research.meaning import Meaning
from nodes.market_research.order import lead, lead_research, lead_writing
from nodes.market_research.rules import Rules, note, patents, scrape, search, semantic, write
from nodes.market_research.serve import LocalServer
from nodes.market_research.sources import Sources, SourcesConfig
from nodes.market_research.state import Market
from nodes.market_research.tools import research_tools
from nodes.support_desk.encoder import WordLlama
from stateward import teams
from stateward.config import ModelConfig, load_system
from stateward.govern.policy import Fuses, Policy
from stateward.models import chat_models
from stateward.prompts import Prompts

ROOT = Path(__file__).parents[1]
CONFIG = ROOT / "configs" / "market_research.yaml"
POLICY = ROOT / "policies" / "market_research.yaml"
PROMPTS = ROOT / "nodes" / "market_research" / "prompts"
WRITING_TOOL = "write_document"
CONTROLLER, SUPERVISOR = "controller", "supervisor"
"""The roles that lead: the desk, and both teams."""
SEARCHING, WORDING = ("search", "scraper", "semantic", "patents"), ("notes", "writer")
"""The roles that work, in the two teams."""
WORKERS: Mapping[str, tuple[Rules, str, str]] = {
    "search": (search, "search_web", "Searches the web; returns titles and addresses."),
    "scraper": (scrape, "scrape_page", "Reads the pages whose addresses its task names."),
    "semantic": (semantic, "semantic_search", "Searches the document collection by meaning."),
    "patents": (patents, "find_patents", "Searches patents."),
    "notes": (note, WRITING_TOOL, "Takes notes of the findings in its task, for the writer."),
    "writer": (write, WRITING_TOOL, "Writes the report from the notes in its task."),
}
"""Role to the rules that stand in for its model, the tool that it has, and what it is for."""


class MarketConfig(BaseModel):
    """configs/market_research.yaml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    out: str
    """The work directory, relative to where the process runs."""
    library: str
    """What the local server serves, relative to the root of the repository."""
    sources: SourcesConfig = SourcesConfig()
    max_visits: int = Field(ge=1, le=9)
    """Of each worker by its team's supervisor."""
    max_steps: int = Field(ge=1, le=20)
    """Replies of a worker that may call tools."""
    with_models: bool = False
    """Whether the models decide, or rules."""
    models: dict[str, ModelConfig] = Field(default_factory=dict[str, ModelConfig])
    """Role to model: the six workers, `supervisor` and `controller`."""


def chart(config: MarketConfig, *, policy: Policy, roles: Sequence[str] = ()) -> sw.Chart[Market]:
    """Draw the chart.

    Args:
        config: How often and how long is worked.
        policy: What binds the desk.
        roles: The model roles that are configured; rules decide for the others.

    Returns:
        The chart.
    """
    prompts = Prompts(PROMPTS)

    def worker(role: str) -> teams.Member:
        rules, tool, about = WORKERS[role]
        block = teams.agent(
            role.upper(),
            model=role if role in roles else rules,
            tools=[tool],
            prompt=prompts[role],
            max_steps=config.max_steps,
            conversation=role,
            memory="invocation",
        )
        return teams.Member(block, about=about, max_visits=config.max_visits)

    def led(name: str, role: str, members: Sequence[teams.Member], rules: Any, **rest: Any) -> Any:
        mind: dict[str, Any] = {"model": role} if role in roles else {"choose": rules}
        return teams.supervisor(name, members, prompt=prompts[_PROMPT[name]], **mind, **rest)

    research = led("RESEARCH", SUPERVISOR, [worker(role) for role in SEARCHING], lead_research)
    writing = led("WRITING", SUPERVISOR, [worker(role) for role in WORDING], lead_writing)
    members = [
        teams.Member(research, about="Finds facts with their sources."),
        teams.Member(writing, about="Writes the report from the findings in its task."),
    ]
    desk = led("DESK", CONTROLLER, members, lead, max_visits=config.max_visits, policy=policy)
    stopped = [sw.on("fuse", "KEEP"), sw.on("error.activity", "KEEP")]
    return sw.Chart(
        "market_research",
        Market,
        teams.placed(desk, to="KEEP", on=stopped),
        sw.State("KEEP", do=keeping(Path(config.out)), tools=[WRITING_TOOL], to="DONE", policy=keeping_policy(policy)),
        sw.Final("DONE"),
    )


_PROMPT = {"RESEARCH": "research", "WRITING": "writing", "DESK": "controller"}


def keeping_policy(policy: Policy) -> Policy:
    """Derive what binds KEEP: the same tools, and one call of its own, for the desk's may be used up.

    Args:
        policy: The policy of the desk.
    """
    rules = () if policy.tools is None else tuple(rule for rule in policy.tools.rules if rule.match == WRITING_TOOL)
    tools = None if policy.tools is None else replace(policy.tools, rules=rules)
    return replace(policy, name=f"{policy.name} (keeping)", fuses=Fuses(turns=0, calls=1), tools=tools)


def build(*, overrides: Sequence[str] = (), env: Mapping[str, str] | None = None, models: Any = None) -> sw.ChartGraph:
    """Build the graph from its configuration.

    Args:
        overrides: Dotted texts such as `config.with_models=true`, `config.out=/tmp/market` or `policy.fuses.usd=0.2`.
        env: The environment; default the process's own.
        models: Chat models by role, in place of the configured ones; for tests.

    Returns:
        The compiled graph, without a saver.

    Raises:
        ConfigError: A file, a variable or an override has a wrong key or value.
    """
    config, policy = load_system(MarketConfig, CONFIG, POLICY, env=env, overrides=overrides)
    asked_for = config.models if config.with_models and models is None else {}
    known = (*SEARCHING, *WORDING, SUPERVISOR, CONTROLLER)
    roles = chat_models(asked_for, env=env, roles=known) if models is None else models
    sources = Sources(config.sources, open_local=lambda: LocalServer(Library.read(ROOT / config.library)))
    tools = research_tools(sources, meaning=Meaning(WordLlama.open), out=Path(config.out).absolute())
    return chart(config, policy=policy, roles=tuple(roles)).compile(tools=tools, models=roles)


graph = build()
