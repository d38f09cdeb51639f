"""`image_brief`: a brief is worded as a prompt, a picture is drawn from it, and each passes a gate before it is kept.

The policy says what prompt and picture must be like. What a gate refuses goes back to the state that made it, with the
reasons, and to no state before; what is refused too often halts the run, and no checkpoint ever holds it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

import stateward as sw
from nodes.image_brief.activities import Pictures, Studio
from nodes.image_brief.picture import Painter, paint, picture_tools
from stateward.config import ModelConfig, load_system
from stateward.govern.policy import Policy
from stateward.models import chat_models

ROOT = Path(__file__).parents[1]
CONFIG = ROOT / "configs" / "image_brief.yaml"
POLICY = ROOT / "policies" / "image_brief.yaml"
WRITER = "writer"


class StudioConfig(BaseModel):
    """configs/image_brief.yaml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    out: str = ".stateward/images"
    """The folder of the pictures, relative to the working directory."""
    models: dict[str, ModelConfig] = Field(default_factory=dict[str, ModelConfig])
    """The role `writer`; none by default: a template words the prompt."""


def chart(studio: Studio, *, policy: Policy, role: str | None = None) -> sw.Chart[Pictures]:
    """Draw the chart.

    Args:
        studio: Its activities.
        policy: What binds MAKE.
        role: The model role that words the prompt; None for the template.

    Returns:
        The chart.
    """
    write = studio.write if role is None else studio.assisted_write
    return sw.Chart(
        "image_brief",
        Pictures,
        sw.State("BRIEF", do=studio.begin, to="MAKE"),
        sw.Superstate(
            "MAKE",
            sw.State("WRITE", do=write, model=role, output=sw.Gate("Prompt", key="prompt"), to="DRAW"),
            sw.State("DRAW", do=studio.draw, tools=["draw_image"], output=sw.Gate("Image", key="image"), to="RECORD"),
            sw.State("RECORD", do=studio.record, to="DONE"),
            policy=policy,
        ),
        sw.Final("DONE"),
    )


def build(
    *,
    overrides: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    models: Any = None,
    painter: Painter = paint,
    policy: Path = POLICY,
) -> sw.ChartGraph:
    """Build the graph from its configuration.

    Args:
        overrides: Dotted texts such as `policy.mode=lenient` or `config.out=/tmp/images`.
        env: The environment; default the process's own.
        models: Chat models by role, in place of the configured ones; for tests.
        painter: Draws in place of Pillow; for tests.
        policy: The policy's file.

    Returns:
        The compiled graph, without a saver.

    Raises:
        ConfigError: A file, a variable or an override has a wrong key or value.
    """
    config, rules = load_system(StudioConfig, CONFIG, policy, env=env, overrides=overrides)
    roles = models or chat_models(config.models, env=env, roles=(WRITER,))
    tools = picture_tools(Path(config.out).absolute(), painter=painter)
    drawn = chart(Studio(rules), policy=rules, role=WRITER if WRITER in roles else None)
    return drawn.compile(tools=tools, models=roles)


graph = build()
