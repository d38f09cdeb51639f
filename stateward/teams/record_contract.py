"""The contract of what a block writes into its record, as a gate over the key `team` takes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, RootModel, create_model
from typing_extensions import TypedDict

from stateward.chart.event import Occurrence
from stateward.run.plan import Gate
from stateward.teams.state import TEAM

LONGEST = 2_000
"""Characters of a reason that are kept."""


def _reason(said: object) -> str:
    return "" if said is None else str(said)[:LONGEST]


Reason = Annotated[str, BeforeValidator(_reason)]
"""Why somebody decided so: a decision stands without it, and with one that is too long or no text."""


def record_gate(name: str, fields: Mapping[str, Any], *, title: str, retries: int) -> Gate:
    """Make the gate over some fields of a block's record; other fields and other records pass as they are.

    Args:
        name: The block's name.
        fields: The fields that must be there, each with its type as Pydantic understands it.
        title: What is written, for the feedback.
        retries: How often the activity is sent back, ≥ 0.

    Returns:
        The gate.
    """
    record = _open(title, fields)
    return Gate(
        cast("type[BaseModel]", create_model(title, __base__=RootModel[_open(title, {name: record})])),
        key=TEAM,
        retries=retries,
    )


def misfit(event: Occurrence) -> str:
    """Say in short what did not fit a contract.

    Args:
        event: `error.contract`, of a gate or of structured output.

    Returns:
        One line.
    """
    data = cast("Mapping[str, object]", event.data or {})
    feedback = str(data.get("feedback") or "")
    errors = [line.removeprefix("- ") for line in feedback.splitlines() if line.startswith("- ")]
    return ("; ".join(errors) or str(data.get("message") or "it fitted no contract"))[:LONGEST]


def _open(title: str, fields: Mapping[str, Any]) -> Any:  # Any: a type made at run time
    made = cast(Any, TypedDict)(title, dict(fields))
    made.__pydantic_config__ = ConfigDict(extra="allow")
    return made
