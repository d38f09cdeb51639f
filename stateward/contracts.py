"""Contracts for authors: gates as decorators, structured output in three tiers, and what changed between versions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pydantic import BaseModel

from stateward.chart.declared import declare_output
from stateward.govern.canonical_output import Degraded
from stateward.govern.contract import Contracts
from stateward.govern.contract_diff import Change, changes
from stateward.govern.contract_schema import json_schema
from stateward.govern.kinds.contract_spec import TIERS, Tier
from stateward.run.plan import Gate
from stateward.run.structured.result import Attempt, Structured
from stateward.run.structured.structured import structured

__all__ = [
    "TIERS",
    "Attempt",
    "Change",
    "Contracts",
    "Degraded",
    "Structured",
    "Tier",
    "changes",
    "gated",
    "json_schema",
    "structured",
]

Do = TypeVar("Do")


def gated(contract: type[BaseModel] | str, *, key: str | None = None, retries: int | None = None) -> Callable[[Do], Do]:
    """Put a gate on an activity, wherever it is used: its state need not say `output=`.

    Args:
        contract: A Pydantic model, or the name of a contract in the policy of the state.
        key: The state key it covers; None to find the one key declared with the contract's type, else the whole update.
        retries: How often the activity is sent back with feedback, ≥ 0; None for the policy's number.

    Returns:
        A decorator that marks the activity and changes nothing else: called by itself, it is not checked.

    Raises:
        DefinitionError: When it is applied, the activity has a gate already, or cannot carry one.

    Source:
        SYSTEMS.md, C3.
    """

    def mark(do: Do) -> Do:
        return declare_output(do, Gate(contract, key=key, retries=retries))

    return mark
