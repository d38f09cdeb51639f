"""Structured output from an activity: `structured(run, messages, contract=…)`, awaited or not."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Any, cast, overload

from langchain_core.language_models import LanguageModelInput
from pydantic import BaseModel

from stateward.govern.kinds.contract_spec import Tier
from stateward.run.context import Run, SyncRun
from stateward.run.door.model import GovernedModel
from stateward.run.drive import Bridge, drive_async, drive_sync
from stateward.run.structured.record import Recorder
from stateward.run.structured.request import request
from stateward.run.structured.result import Structured
from stateward.run.structured.tiers import structured_steps


@overload
def structured(
    run: Run[Any],
    messages: LanguageModelInput,
    *,
    contract: type[BaseModel] | str,
    role: str | None = None,
    tiers: Sequence[Tier] | None = None,
    retries: int | None = None,
) -> Awaitable[Structured]: ...


@overload
def structured(
    run: SyncRun[Any],
    messages: LanguageModelInput,
    *,
    contract: type[BaseModel] | str,
    role: str | None = None,
    tiers: Sequence[Tier] | None = None,
    retries: int | None = None,
) -> Structured: ...


def structured(
    run: Run[Any] | SyncRun[Any],
    messages: LanguageModelInput,
    *,
    contract: type[BaseModel] | str,
    role: str | None = None,
    tiers: Sequence[Tier] | None = None,
    retries: int | None = None,
) -> Awaitable[Structured] | Structured:
    """Bring a model to an output that fits a contract.

    The tiers are tried in order: `schema` (one call), `instructor` and `prompt` (`1 + retries` calls each). Every call
    goes through the door. What was tried is in the result and in the audit log.

    Args:
        run: What the activity got as `run`.
        messages: What the model is told, in any form that LangChain takes.
        contract: The name of a contract in the policy, or a pydantic model.
        role: A role the state declares; default the one it declares.
        tiers: The tiers to try, in this order; default all that the contract and the policy of the role let pass.
        retries: How often a tier may try again with feedback, from 0; default the contract's number.

    Returns:
        The output with its tier; from an async activity an awaitable of it.

    Raises:
        ContractFailed: No tier brought an output that fits; uncaught, it is the event `error.contract`.
        DefinitionError: Role or contract is unknown, no tier is left, or the tier `instructor` is to be tried and
            Instructor is not installed.

    Source:
        SYSTEMS.md, C4 and C5.
    """
    model = cast(GovernedModel, run.model(role))
    asked = request(
        messages, model=model, contract=contract, effective=run.door.effective, tiers=tiers, retries=retries
    )
    recorder = Recorder(run.door, number=run.number(), role=model.role, contract=asked.title)
    steps = recorder.recorded(structured_steps(asked))
    if isinstance(run, SyncRun):
        return drive_sync(steps, bridge=Bridge())
    return drive_async(steps, threads=run.door.threads)
