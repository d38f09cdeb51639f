"""What came of structured output: the value, how it was come by, and what was tried before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_core import to_jsonable_python

from stateward.errors import ContractFailed
from stateward.govern.canonical_output import Degraded
from stateward.govern.gate import Failed
from stateward.govern.kinds.contract_spec import Tier


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One model call, and what was wrong with what came of it."""

    tier: Tier
    problem: str
    """What was wrong, without what was given; empty if the output fits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Structured:
    """An output that fits its contract."""

    value: Mapping[str, Any]
    """Plain JSON data, normalised and coerced."""
    contract: str
    """The title of the contract: its name, the mode and the hash of the policy."""
    tier: Tier
    """The tier that brought it."""
    degraded: tuple[Degraded, ...]
    """What was inferred, filled in or dropped; only the tier `prompt` does that."""
    attempts: tuple[Attempt, ...]
    """Every model call that was made for it, in order, the one that brought it last."""

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON, for a state's key."""
        degraded = [{"field": one.field, "how": one.how, "given": one.given} for one in self.degraded]
        return {
            "value": dict(self.value),
            "contract": self.contract,
            "tier": self.tier,
            "degraded": to_jsonable_python(degraded, fallback=str),
            "attempts": [{"tier": one.tier, "problem": one.problem} for one in self.attempts],
        }


def problem_of(failed: Failed) -> str:
    """Say what is wrong with an output, without saying what it was.

    Args:
        failed: What the gate said.
    """
    told = (f"{error.dotted or 'the whole'}: expected {error.expected}" for error in failed.errors)
    return "; ".join(told)


def given_up(attempts: Sequence[Attempt], *, contract: str, where: str) -> ContractFailed:
    """Make the error of an output that no tier brought.

    Args:
        attempts: Every model call that was made for it; at least one.
        contract: The title of the contract.
        where: The state's path.
    """
    tiers = ", ".join(dict.fromkeys(one.tier for one in attempts))
    return ContractFailed(
        f"No output fits `{contract}` after {len(attempts)} attempts ({tiers}); the last one: {attempts[-1].problem}",
        where=where,
        fix="Give the contract rules of inference and defaults, or let the chart take `error.contract`.",
        attempts=tuple(attempts),
        contract=contract,
    )
