"""`hitl`: a menu of six ways to let people take part in a run.

A feedback loop; a gate before a side effect; a value that is edited; questions to several people at once; a tool call
that is reviewed; and a static breakpoint. No step that acts asks: what people say is committed before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

import stateward as sw
from nodes.hitl.activities import People
from nodes.hitl.board import Board, board_tools
from nodes.hitl.state import (
    Desk,
    has_call,
    has_wish,
    is_approved,
    wants_approval,
    wants_edit,
    wants_feedback,
    wants_parallel,
    wants_review,
)
from stateward import ask
from stateward.config import ModelConfig, load_system
from stateward.govern.policy import Policy
from stateward.models import chat_models

ROOT = Path(__file__).parents[1]
CONFIG = ROOT / "configs" / "hitl.yaml"
POLICY = ROOT / "policies" / "hitl.yaml"
WRITER = "writer"


class HitlConfig(BaseModel):
    """configs/hitl.yaml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rounds: int = Field(default=5, ge=1)
    """How often a draft is changed at most."""
    expires_s: float | None = Field(default=86_400.0, gt=0)
    """How long an answer is waited for, in seconds; null for ever."""
    remind_s: tuple[float, ...] = (3_600.0,)
    """When people are reminded, in seconds."""
    approvers: tuple[str, ...] = ()
    """Who may approve; empty for anyone."""
    models: dict[str, ModelConfig] = Field(default_factory=dict[str, ModelConfig])
    """The role `writer`; none by default: rules write the drafts."""


def chart(people: People, *, policy: Policy, role: str | None = None) -> sw.Chart[Desk]:
    """Draw the chart.

    Args:
        people: Its activities.
        policy: What binds all of it.
        role: The model role that writes the drafts; None for rules.

    Returns:
        The chart.
    """
    return sw.Chart(
        "hitl",
        Desk,
        sw.Superstate(
            "DESK",
            sw.State(
                "MENU",
                do=people.choose,
                asks=True,
                to=[
                    sw.when(wants_feedback, "FEEDBACK"),
                    sw.when(wants_approval, "APPROVAL"),
                    sw.when(wants_edit, "EDIT"),
                    sw.when(wants_parallel, "PARALLEL"),
                    sw.when(wants_review, "REVIEW"),
                    "BREAKPOINTS",
                ],
            ),
            *_patterns(people, role=role),
            sw.Final("SHOWN"),
            history="deep",
            on=[sw.on(ask.EXPIRED, "LATER")],
            to="DONE",
            policy=policy,
        ),
        sw.State("LATER", on=[sw.on("again", sw.History("DESK")), sw.on("close", "DONE")]),
        sw.Final("DONE"),
    )


def _patterns(people: People, *, role: str | None) -> list[sw.Superstate[Desk]]:
    write = people.write if role is None else people.assisted_write
    feedback = sw.Superstate(
        "FEEDBACK",
        sw.State("DRAFT", do=write, model=role, to="LISTEN"),
        sw.State("LISTEN", do=people.listen, asks=True, to=[sw.when(has_wish, "DRAFT"), "FINE"]),
        sw.Final("FINE"),
        to="SHOWN",
    )
    approval = sw.Superstate(
        "APPROVAL",
        sw.State("DRAFT", do=write, model=role, to="GATE"),
        sw.State(
            "GATE",
            do=people.gate,
            asks=True,
            to=[sw.when(is_approved, "PUBLISH"), sw.when(has_wish, "DRAFT"), "DECIDED"],
        ),
        sw.State("PUBLISH", do=people.publish, tools=["publish"], to="DECIDED"),
        sw.Final("DECIDED"),
        to="SHOWN",
    )
    edit = sw.Superstate(
        "EDIT",
        sw.State("PROPOSE", do=people.propose, to="CORRECT"),
        sw.State("CORRECT", do=people.correct, asks=True, to="KEPT"),
        sw.Final("KEPT"),
        to="SHOWN",
    )
    both = sw.Parallel(
        "BOTH",
        sw.Superstate("PLACE", sw.State("ASK", do=people.place, asks=True, to="KNOWN"), sw.Final("KNOWN")),
        sw.Superstate("HOUR", sw.State("ASK", do=people.hour, asks=True, to="KNOWN"), sw.Final("KNOWN")),
        to="INVITE",
    )
    parallel = sw.Superstate(
        "PARALLEL", both, sw.State("INVITE", do=people.invite, to="INVITED"), sw.Final("INVITED"), to="SHOWN"
    )
    review = sw.Superstate(
        "REVIEW",
        sw.State("WANT", do=people.want, to="SHOW"),
        sw.State("SHOW", do=people.review, asks=True, to=[sw.when(has_call, "CALL"), "REVIEWED"]),
        sw.State("CALL", do=people.make, tools=["publish"], to="REVIEWED"),
        sw.Final("REVIEWED"),
        to="SHOWN",
    )
    breakpoints = sw.Superstate(
        "BREAKPOINTS",
        sw.State("CHECK", do=people.check, to="SHIP"),
        sw.State("SHIP", do=people.publish, tools=["publish"], to="SHIPPED"),
        sw.Final("SHIPPED"),
        to="SHOWN",
    )
    return [feedback, approval, edit, parallel, review, breakpoints]


def build(
    *,
    overrides: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    models: Any = None,
    board: Board | None = None,
) -> sw.ChartGraph:
    """Build the graph from its configuration.

    Args:
        overrides: Dotted texts such as `config.rounds=3`.
        env: The environment; default the process's own.
        models: Chat models by role, in place of the configured ones; for tests.
        board: Where it publishes; None for a board of its own.

    Returns:
        The compiled graph, without a saver.

    Raises:
        ConfigError: A file, a variable or an override has a wrong key or value.
    """
    config, policy = load_system(HitlConfig, CONFIG, POLICY, env=env, overrides=overrides)
    roles = models or chat_models(config.models, env=env, roles=(WRITER,))
    people = People(
        rounds=config.rounds, expires_s=config.expires_s, remind_s=config.remind_s, approvers=config.approvers
    )
    drawn = chart(people, policy=policy, role=WRITER if WRITER in roles else None)
    return drawn.compile(tools=board_tools(board or Board()), models=roles)


graph = build()
