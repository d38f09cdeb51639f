"""The words that the shapes of policy files are written in."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from stateward.errors import DefinitionError
from stateward.govern.pattern import compile_pattern

Level = Literal["allowed", "restricted", "forbidden"]
"""How far a tool may be used.

allowed: the call runs. restricted: it runs once a person has approved it. forbidden: it never runs.
"""

Sensitivity = Literal["public", "internal", "personal", "secret"]
"""How far data may go, from the most open to the most closed.

public: anywhere. internal: inside the house. personal: it tells about a person. secret: it gives access to something.
"""

SENSITIVITIES: tuple[Sensitivity, ...] = ("public", "internal", "personal", "secret")
LEVELS: tuple[Level, ...] = ("allowed", "restricted", "forbidden")


def pattern_text(text: str) -> str:
    """Let a text pass that RE2 can compile.

    Args:
        text: The pattern.

    Raises:
        ValueError: It is none; says what was expected.
    """
    try:
        compile_pattern(text)
    except DefinitionError as error:
        raise ValueError(f"an RE2 pattern ({error.what})") from error
    return text


def _filled_text(text: str) -> str:
    if not text.strip():
        raise ValueError("a text that is not blank")
    return text


def _plain_number(value: object) -> object:
    # Pydantic would also take a Decimal, which is no JSON number and cannot be hashed into a policy's hash.
    if value is not None and not isinstance(value, int | float):
        raise ValueError("a number")
    return value


Count = Annotated[int, Field(ge=0, le=1_000_000)]
Positive = Annotated[int, Field(ge=1, le=1_000_000)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_-]*$")]
Number = Annotated[float, BeforeValidator(_plain_number)]
Seconds = Annotated[Number, Field(gt=0, le=86_400)]
Person = Annotated[str, AfterValidator(_filled_text)]
PatternText = Annotated[str, AfterValidator(pattern_text)]


class Strict(BaseModel):
    """A part of a file: no unknown key, no coerced value."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


def require_order(least: float | None, most: float | None, *, what: str) -> None:
    """Refuse a range that holds nothing.

    Args:
        least: The lower end; None if it has none.
        most: The upper end; None if it has none.
        what: What is limited, for the message.

    Raises:
        ValueError: The lower end lies above the upper one.
    """
    if least is not None and most is not None and least > most:
        raise ValueError(f"the least {what} to be at most the greatest")
