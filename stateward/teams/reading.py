"""Asking a model for something of a given form, where an answer that cannot be read is no error but an outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage
from pydantic import BaseModel

from stateward.errors import ContractFailed
from stateward.govern.kinds.contract_spec import Tier
from stateward.run.context import Run
from stateward.run.structured.structured import structured

TIERS: tuple[Tier, ...] = ("schema", "prompt")
"""How the model is brought to the form: both need nothing that is an extra."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What came of it."""

    value: Mapping[str, Any] | None
    """The answer as plain JSON; None when none fits."""
    problem: str = ""
    """Why none fits."""


async def read(run: Run[Any], messages: Sequence[BaseMessage], *, contract: type[BaseModel], retries: int) -> Read:
    """Ask the state's model for something that fits a contract, at most `2 + retries` times.

    Args:
        run: The activity's run.
        messages: What the model is told.
        contract: What the answer must fit.
        retries: How often it may try again with feedback, ≥ 0.

    Returns:
        The answer, or why there is none. What fails for the provider's reasons, or by a fuse, is raised as ever.
    """
    try:
        return Read(value=await brought(run, messages, contract=contract, retries=retries))
    except ContractFailed as failed:
        return Read(value=None, problem=f"the model gave no answer that could be read: {failed.what}")


async def brought(
    run: Run[Any], messages: Sequence[BaseMessage], *, contract: type[BaseModel], retries: int
) -> Mapping[str, Any]:
    """Do what `read` does, for a state that takes `error.contract`.

    Args:
        run: The activity's run.
        messages: What the model is told.
        contract: What the answer must fit.
        retries: How often it may try again with feedback, ≥ 0.

    Returns:
        The answer as plain JSON.

    Raises:
        ContractFailed: None fits.
    """
    return (await structured(run, list(messages), contract=contract, tiers=TIERS, retries=retries)).value
