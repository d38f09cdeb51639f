"""A declared migration as a YAML file says it; what is left empty there is gone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from stateward.errors import ConfigError
from stateward.migration import Migration


class _Declared(BaseModel):
    """The file's keys are those of `Migration`; an unknown one is an error."""

    model_config = ConfigDict(extra="forbid", strict=True)

    states: dict[str, str | None] = Field(default_factory=dict)
    keys: dict[str, str | None] = Field(default_factory=dict)
    values: dict[str, Any] = Field(default_factory=dict)
    events: dict[str, str | None] = Field(default_factory=dict)
    withdraw: list[str] = Field(default_factory=list)


def read_declaration(file: Path | None) -> Migration:
    """Read a declared migration.

    Args:
        file: A YAML file; None for a migration that renames nothing.

    Returns:
        The migration.

    Raises:
        ConfigError: The file cannot be read, or a key of it is unknown or of another type.
        InputRefused: Several keys become one.
    """
    if file is None:
        return Migration()
    try:
        given: object = yaml.safe_load(file.read_text(encoding="utf-8"))
        declared = _Declared.model_validate({} if given is None else given)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(file=str(file), key="file", expected="a YAML file", given=str(error)) from error
    except ValidationError as misfit:
        first = misfit.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"])) or "file"
        raise ConfigError(file=str(file), key=key, expected=first["msg"], given=first["input"]) from misfit
    return Migration(
        states=declared.states,
        keys=declared.keys,
        values=declared.values,
        events=declared.events,
        withdraw=frozenset(declared.withdraw),
    )
