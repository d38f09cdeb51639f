"""The support desk: a customer's message in; a governed answer, a ticket, an open question or a person out.

INTAKE leads into WORKING, whose policy binds everything inside: TRIAGE, PLAN, ACT and REFLECT. The ticket passes a gate
before the customer gets a reply. A fuse, a threat or a gate that gives up leads to ESCALATED, `pause` to PAUSED, and
`resume` leads back through WORKING's history.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

import stateward as sw
from nodes.support_desk.activities import SupportDesk, more_mail, more_to_do, threatens
from nodes.support_desk.assisted import AssistedDesk
from nodes.support_desk.encoder import WordLlama
from nodes.support_desk.job import SupportJob
from nodes.support_desk.shop import Shop
from nodes.support_desk.state import Desk
from nodes.support_desk.tools import desk_tools
from nodes.support_desk.triage import Triager
from nodes.support_desk.triage_rules import TriageConfig, triage_rules
from stateward.config import ModelConfig, load_system
from stateward.govern.policy import Fuses, Policy
from stateward.models import chat_models, tool_schema

ROOT = Path(__file__).parents[1]
CONFIG = ROOT / "configs" / "support_desk.yaml"
POLICY = ROOT / "policies" / "support_desk.yaml"
ROLES = {"triage": "triage", "planner": "plan", "writer": "reply"}
"""Model role to the work it takes over when it is configured."""
CLOSING_USD = 0.05
"""What wording the reply of one message may cost, in US dollars."""
TOOLS = ("lookup_order", "search_kb", "create_return", "issue_refund", "send_email", "delete_account")


class DeskConfig(BaseModel):
    """configs/support_desk.yaml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    shop: str = ".stateward/shop.db"
    """The shop's database file, relative to the working directory."""
    models: dict[str, ModelConfig] = Field(default_factory=dict[str, ModelConfig])
    """Roles `triage`, `planner` and `writer`; none by default: the desk works without a model."""
    prices: str | None = None
    """A file of prices for these models, relative to the working directory; none by default: the public list."""
    triage: TriageConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class _Worker:
    """Who does the work of a state: the rules, or a model beside them."""

    do: Callable[..., Any]
    role: str | None


def _worker(desk: SupportDesk, role: str, configured: Sequence[str]) -> _Worker:
    if isinstance(desk, AssistedDesk) and role in configured:
        return _Worker(do=getattr(desk, f"assisted_{ROLES[role]}"), role=role)
    return _Worker(do=getattr(desk, ROLES[role]), role=None)


def closing_policy(policy: Policy) -> Policy:
    """Derive what binds GATE and REPLY: the same contract, no tools, one call of the writer for five cents at most.

    Args:
        policy: The policy of WORKING.
    """
    usd = CLOSING_USD if policy.fuses.usd is None else min(policy.fuses.usd, CLOSING_USD)
    return replace(policy, name=f"{policy.name} (closing)", fuses=Fuses(turns=1, usd=usd), tools=None)


def chart(desk: SupportDesk, *, policy: Policy, roles: Sequence[str] = ()) -> sw.Chart[Desk]:
    """Draw the desk's chart.

    Args:
        desk: Its activities.
        policy: What binds WORKING; GATE and REPLY get what is derived from it.
        roles: The model roles that are configured; the others work by rules.

    Returns:
        The chart.
    """
    closing = closing_policy(policy)
    triage, plan, reply = (_worker(desk, role, roles) for role in ROLES)
    trouble = [sw.on("fuse", "ESCALATED"), sw.on("error", "ESCALATED"), sw.on("unknown_after_crash", "ESCALATED")]
    return sw.Chart(
        "support_desk",
        Desk,
        sw.State("INTAKE", do=desk.intake, to="WORKING", on=[sw.on("error", "ESCALATED")]),
        sw.Superstate(
            "WORKING",
            sw.State("TRIAGE", do=triage.do, model=triage.role, to="PLAN"),
            sw.State("PLAN", do=plan.do, model=plan.role, to=[sw.when(more_to_do, "ACT"), "GATE"]),
            sw.State("ACT", do=desk.act, tools=TOOLS, to="REFLECT"),
            sw.State("REFLECT", do=plan.do, model=plan.role, to=[sw.when(more_to_do, "ACT"), "GATE"]),
            history="shallow",
            always=[sw.when(threatens, "ESCALATED")],
            on=[*trouble, sw.on("pause", "PAUSED"), sw.on("input")],
            policy=policy,
        ),
        sw.State(
            "GATE", do=desk.ticket, output=sw.Gate("Ticket", key="ticket"), to="REPLY", on=trouble, policy=closing
        ),
        sw.State(
            "REPLY",
            do=reply.do,
            model=reply.role,
            to=[sw.when(more_mail, "INTAKE"), "DONE"],
            on=trouble,
            policy=closing,
        ),
        sw.State(
            "ESCALATED",
            do=desk.hand_over,
            on=[
                sw.on("resume", sw.History("WORKING")),
                sw.on("close", "INTAKE", when=more_mail),
                sw.on("close", "DONE"),
                sw.on("input"),
            ],
        ),
        sw.State("PAUSED", on=[sw.on("resume", sw.History("WORKING")), sw.on("input")]),
        sw.Final("DONE"),
    )


def build(*, overrides: Sequence[str] = (), env: Mapping[str, str] | None = None, models: Any = None) -> sw.ChartGraph:
    """Build the desk from its configuration.

    Args:
        overrides: Dotted texts such as `policy.fuses.usd=0.2` or `config.shop=/tmp/shop.db`.
        env: The environment; default the process's own.
        models: Chat models by role, in place of the configured ones; for tests.

    Returns:
        The compiled graph, without a saver.
    """
    config, policy = load_system(DeskConfig, CONFIG, POLICY, env=env, overrides=overrides)
    tools = desk_tools(Shop(config.shop if config.shop == ":memory:" else Path(config.shop).absolute()))
    roles = models or chat_models(config.models, env=env, prices=config.prices, roles=ROLES)
    rules = triage_rules(config.triage, file=str(CONFIG))
    desk = _desk(lambda: Triager.of(rules, encoder=WordLlama.open()), roles=roles, tools=tools)
    return chart(desk, policy=policy, roles=tuple(roles)).compile(tools=tools, models=roles)


def _desk(open_triager: Callable[[], Triager], *, roles: Mapping[str, Any], tools: Sequence[Any]) -> SupportDesk:
    if not roles:
        return SupportDesk(open_triager)
    return AssistedDesk(open_triager, tools=[tool_schema(tool) for tool in tools])


def job(*, overrides: Sequence[str] = ()) -> SupportJob:
    """Return the batch job over an inbox.

    Args:
        overrides: Unused: the job itself has no settings.
    """
    return SupportJob()


graph = build()
