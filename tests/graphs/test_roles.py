"""Every system knows its model roles."""

from __future__ import annotations

import importlib

import pytest

from docs.draw import ROOT
from stateward.errors import ConfigError

SYSTEMS = [file.stem for file in sorted((ROOT / "configs").glob("*.yaml"))]
WRONG = ("config.models.nobody.provider=openai", "config.models.nobody.model=qwen3")


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_role_that_the_system_does_not_have_is_an_error(system: str) -> None:
    """A misspelt role would leave its work to the rules, and nobody would know."""
    switch = ("config.with_models=true",) if system == "market_research" else ()
    with pytest.raises(ConfigError, match="expected one of the roles"):
        importlib.import_module(f"graphs.{system}").build(overrides=(*WRONG, *switch))
