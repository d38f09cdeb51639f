"""The support desk: a customer's message in; a governed answer, a ticket, an open question or a person out.

INTAKE leads into WORKING, whose policy binds everything inside: TRIAGE, PLAN, ACT and REFLECT. The ticket passes a gate
before the customer gets a reply. A fuse, a threat or a gate that gives up leads to ESCALATED, `pause` to PAUSED, and
`resume` leads back through WORKING's history.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

import stateward as sw
from nodes.support_desk.activities import SupportDesk, more_to_do, threatens
from nodes.support_desk.assisted import AssistedDesk
from nodes.support_desk.encoder import WordLlama
from nodes.support_desk.job import SupportJob
from nodes.support_desk.shop import Shop
from nodes.support_desk.state import Desk
from nodes.support_desk.tools import desk_tools
from nodes.support_desk.triage import Triager
from nodes.support_desk.triage_rules import TriageConfig, triage_rules
from stateward.config import ModelConfig, by_section, load
from stateward.models import chat_models, tool_schema
from stateward.run.graph import ChartGraph

ROOT = Path(__file__).parents[1]
CONFIG = ROOT / "configs" / "support_desk.yaml"
POLICY = ROOT / "policies" / "support_desk.yaml"
TOOLS = ("lookup_order", "search_kb", "create_return", "issue_refund", "send_email", "delete_account")


class DeskConfig(BaseModel):
    """configs/support_desk.yaml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    shop: str = ".stateward/shop.db"
    """The shop's database file, relative to the working directory."""
    models: dict[str, ModelConfig] = Field(default_factory=dict[str, ModelConfig])
    """Roles `triage`, `planner` and `writer`; none by default: the desk works without a model."""
    triage: TriageConfig


def chart(desk: SupportDesk, *, policy: Any, roles: Sequence[str] = ()) -> sw.Chart[Desk]:
    """Draw the desk's chart.

    Args:
        desk: Its activities.
        policy: What binds WORKING, GATE and REPLY.
        roles: The model roles that are configured; the others work by rules.

    Returns:
        The chart.
    """
    helped = desk if isinstance(desk, AssistedDesk) else None
    triage = {"do": helped.assisted_triage, "model": "triage"} if helped and "triage" in roles else {"do": desk.triage}
    plan = {"do": helped.assisted_plan, "model": "planner"} if helped and "planner" in roles else {"do": desk.plan}
    reply = {"do": helped.assisted_reply, "model": "writer"} if helped and "writer" in roles else {"do": desk.reply}
    trouble = [sw.on("fuse", "ESCALATED"), sw.on("error", "ESCALATED"), sw.on("unknown_after_crash", "ESCALATED")]
    return sw.Chart(
        "support_desk",
        Desk,
        sw.State("INTAKE", do=desk.intake, to="WORKING", on=[sw.on("error", "ESCALATED")]),
        sw.Superstate(
            "WORKING",
            sw.State("TRIAGE", **triage, to="PLAN"),
            sw.State("PLAN", **plan, to=[sw.when(more_to_do, "ACT"), "GATE"]),
            sw.State("ACT", do=desk.act, tools=TOOLS, to="REFLECT"),
            sw.State("REFLECT", **plan, to=[sw.when(more_to_do, "ACT"), "GATE"]),
            history="shallow",
            always=[sw.when(threatens, "ESCALATED")],
            on=[*trouble, sw.on("pause", "PAUSED"), sw.on("input")],
            policy=policy,
        ),
        sw.State("GATE", do=desk.ticket, output=sw.Gate("Ticket", key="ticket"), to="REPLY", on=trouble, policy=policy),
        sw.State("REPLY", **reply, to="DONE", on=trouble, policy=policy),
        sw.State(
            "ESCALATED",
            do=desk.hand_over,
            on=[sw.on("resume", sw.History("WORKING")), sw.on("close", "DONE"), sw.on("input")],
        ),
        sw.State("PAUSED", on=[sw.on("resume", sw.History("WORKING")), sw.on("input")]),
        sw.Final("DONE"),
    )


def build(*, overrides: Sequence[str] = (), env: Mapping[str, str] | None = None, models: Any = None) -> ChartGraph:
    """Build the desk from its configuration.

    Args:
        overrides: Dotted texts such as `policy.fuses.usd=0.2` or `config.shop=/tmp/shop.db`.
        env: The environment; default the process's own.
        models: Chat models by role, in place of the configured ones; for tests.

    Returns:
        The compiled graph, without a saver.
    """
    variables = os.environ if env is None else env
    given = by_section(overrides)
    config = load(DeskConfig, CONFIG, env=variables, prefix="config", overrides=given["config"])
    policy = sw.load_policy(POLICY, env=variables, overrides=given["policy"])
    tools = desk_tools(Shop(_absolute(config.shop)))
    roles = models or chat_models(config.models, env=variables)
    rules = triage_rules(config.triage, file=str(CONFIG))
    desk = SupportDesk(lambda: Triager.of(rules, encoder=WordLlama.open()))
    if roles:
        desk = AssistedDesk(desk, tools=[tool_schema(tool) for tool in tools])
    return chart(desk, policy=policy, roles=tuple(roles)).compile(tools=tools, models=roles)


def _absolute(path: str) -> str:
    if path == ":memory:":
        return path
    place = Path(path).absolute()
    place.parent.mkdir(parents=True, exist_ok=True)
    return str(place)


def job(*, overrides: Sequence[str] = ()) -> SupportJob:
    """Return the batch job over an inbox.

    Args:
        overrides: Unused: the job itself has no settings.
    """
    return SupportJob()


graph = build()
