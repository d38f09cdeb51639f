"""What is asked of a model: the messages, the contract they must come to, and the tiers that are tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, convert_to_messages
from langchain_core.prompt_values import PromptValue
from pydantic import BaseModel

from stateward.errors import DefinitionError
from stateward.govern.contract_schema import json_schema
from stateward.govern.effective import Effective
from stateward.govern.kinds.contract_spec import TIERS, ContractSpec, Tier
from stateward.run.door.model import GovernedModel

DEFAULT_RETRIES = 2


class Asked(Protocol):
    """A model, or a model with options bound to it."""

    def invoke(self, input: LanguageModelInput) -> AIMessage:
        """Ask it."""
        ...

    async def ainvoke(self, input: LanguageModelInput) -> AIMessage:
        """Ask it, awaited."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One structured output that somebody wants."""

    model: GovernedModel
    messages: tuple[BaseMessage, ...]
    contract: type[BaseModel]
    schema: dict[str, Any]
    """The contract as providers take it."""
    spec: ContractSpec | None
    """The contract's description; None of a pydantic model that no policy describes."""
    tiers: tuple[Tier, ...]
    retries: int
    """How often a tier that gives feedback may try again."""
    where: str

    @property
    def title(self) -> str:
        """The title of the contract."""
        return str(self.schema["title"])


def request(
    messages: LanguageModelInput,
    *,
    model: GovernedModel,
    contract: type[BaseModel] | str,
    effective: Effective,
    tiers: Sequence[Tier] | None,
    retries: int | None,
) -> Request:
    """Put together what is asked.

    Args:
        messages: What the model is told.
        model: The model behind the door.
        contract: A pydantic model, or the name of a contract in the effective policy.
        effective: What holds in the state.
        tiers: The tiers to try, in this order; None for all that the policy lets pass.
        retries: How often a tier may try again with feedback, from 0; None for the contract's number.

    Returns:
        The request.

    Raises:
        DefinitionError: The contract is unknown, a tier does not exist, none is left, or `retries` is negative.
    """
    spec = effective.contract(contract) if isinstance(contract, str) else None
    allowed: tuple[Tier, ...] = TIERS if spec is None or spec.tiers is None else spec.tiers
    for_role = effective.model_rule(model.role).tiers
    wanted: tuple[Tier, ...] = allowed if tiers is None else tuple(tiers)
    _require(wanted, retries, where=effective.path)
    possible = frozenset(allowed) & frozenset(TIERS if for_role is None else for_role)
    left: tuple[Tier, ...] = tuple(tier for tier in wanted if tier in possible)
    if not left:
        raise DefinitionError(
            f"No tier is left for the model `{model.role}`: asked for are {_told(wanted)}, the contract has "
            f"{_told(allowed)}, the role {_told(TIERS if for_role is None else for_role)}",
            where=effective.path,
            fix="Name a tier that all of them have.",
        )
    kind = effective.model_of(contract) if isinstance(contract, str) else contract
    return Request(
        model=model,
        messages=messages_of(messages),
        contract=kind,
        schema=json_schema(kind),
        spec=spec,
        tiers=left,
        retries=next(number for number in (retries, spec and spec.retries, DEFAULT_RETRIES) if number is not None),
        where=effective.path,
    )


def messages_of(given: LanguageModelInput) -> tuple[BaseMessage, ...]:
    """Bring whatever LangChain takes as input into messages.

    Args:
        given: A text, messages in any of their forms, or a prompt's value.
    """
    if isinstance(given, str):
        return (HumanMessage(content=given),)
    if isinstance(given, PromptValue):
        return tuple(given.to_messages())
    return tuple(convert_to_messages(cast("Sequence[Any]", given)))


def _require(tiers: Sequence[str], retries: int | None, *, where: str) -> None:
    strange = [tier for tier in tiers if tier not in TIERS]
    if strange:
        raise DefinitionError(f"`{strange[0]}` is no tier", where=where, fix=f"Tiers: {_told(TIERS)}.")
    if retries is not None and retries < 0:
        raise DefinitionError(f"`retries` is {retries}", where=where, fix="Give a number from 0.")


def _told(tiers: Sequence[str]) -> str:
    return ", ".join(tiers) or "none"
