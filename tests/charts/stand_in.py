"""A state that asks its model once, under a rule for when the model's provider fails."""

from __future__ import annotations

from typing import Any

import stateward as sw
from stateward.govern.kinds.models import ModelRule, RoleRule
from stateward.govern.policy import Fuses, Policy
from stateward.run.graph import ChartGraph
from stateward.run.store.database import Database
from stateward.testing import ManualClock
from tests.charts.one import compiled

PRICES: dict[str, Any] = {"usd_per_million_input": 10.0, "usd_per_million_output": 10.0, "max_output_tokens": 100}


class Status(Exception):
    """What a provider's client raises for an answer that is none."""

    def __init__(self, status_code: int, *, code: str | None = None, headers: dict[str, str] | None = None) -> None:
        self.status_code = status_code
        self.code = code
        self.response = type("Response", (), {"headers": headers or {}})()
        super().__init__(f"status {status_code}")


def role(name: str, model: Any, **other: Any) -> sw.ModelRole:
    """A role with prices and a limit."""
    return sw.ModelRole(name=name, model=model, **PRICES | other)


def ruled(rule: ModelRule, *, backup: ModelRule | None = None, **parts: Any) -> Policy:
    """A policy with a rule for the role `m`, and maybe one for `backup`."""
    rules = [RoleRule(role="m", rule=rule)] + ([RoleRule(role="backup", rule=backup)] if backup else [])
    return Policy(name="ruled", models=tuple(rules), **parts)


def chart(do: Any, policy: Policy, **models: Any) -> ChartGraph:
    """The chart; `m` is the role that its state declares."""
    roles = {name: each if isinstance(each, sw.ModelRole) else role(name, each) for name, each in models.items()}
    return compiled(do, models=roles, model="m", policy=policy, handles=("error.activity",))


def waits(database: Database, clock: ManualClock) -> list[float]:
    """Let waits pass on the clock of the test, without jitter, and return how long they are."""
    waited: list[float] = []

    def pause(seconds: float, check: Any = None) -> None:
        waited.append(seconds)
        clock.advance(seconds)

    async def apause(seconds: float) -> None:
        pause(seconds)

    database.providers.pause, database.providers.apause = pause, apause
    database.providers.chance = lambda: 0.0
    return waited


def attempts(database: Database) -> list[tuple[str, str]]:
    """The roles that were asked for the only call, and how that went."""
    (entry,) = database.journal.entries("s1")
    return [(each["role"], each["outcome"]) for each in entry.result["attempts"]]


def fuses(**limits: Any) -> Fuses:
    """Fuses of a policy."""
    return Fuses(**limits)
