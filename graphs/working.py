"""`working`: a superstate that plans, acts and reflects, can be stopped by a word, and goes on where it was left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import stateward as sw
from nodes.working import Resume, Work, act, list_topics, look_up, needs_more, plan, reflect, said_stop

POLICIES = Path(__file__).parents[1] / "policies"


def chart(*, overrides: Sequence[str] = (), env: Mapping[str, str] | None = None) -> sw.Chart[Work]:
    """Draw the chart.

    Args:
        overrides: Texts such as `policy.fuses.calls=3`.
        env: The environment; None means the process's own.

    Returns:
        The chart.

    Raises:
        ConfigError: The policy file, a variable or an override has a wrong key or value.
    """
    policy = sw.load_policy("working", folder=POLICIES, env=env, overrides=overrides)
    return sw.Chart(
        "working",
        Work,
        sw.Superstate(
            "WORKING",
            sw.State("PLAN", do=plan, tools=["list_topics"], to="ACT"),
            sw.State("ACT", do=act, tools=["look_up"], to="REFLECT"),
            sw.State("REFLECT", do=reflect, to=[sw.when(needs_more, "PLAN"), "DONE"]),
            history="shallow",
            on=[sw.on("pause", "PAUSED")],
            always=[sw.when(said_stop, "PAUSED")],
            policy=policy,
        ),
        sw.State("PAUSED", on=[sw.on(Resume, sw.History("WORKING"))]),
        sw.Final("DONE"),
    )


def build(*, overrides: Sequence[str] = (), env: Mapping[str, str] | None = None) -> sw.ChartGraph:
    """Compile the chart with its tools.

    Args:
        overrides: Texts such as `policy.fuses.calls=3`.
        env: The environment; None means the process's own.

    Returns:
        An ordinary LangGraph graph, compiled without a saver: sessions and the dev server bring theirs.

    Raises:
        ConfigError: The policy file, a variable or an override has a wrong key or value.
    """
    return chart(overrides=overrides, env=env).compile(tools=[list_topics, look_up])


graph = build()
