"""Where another process finds a function."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

import stateward as sw
from stateward.errors import DefinitionError
from stateward.run.door.address import Address, address_of, found
from tests.charts import killable


class Inside:
    """Has a function."""

    @staticmethod
    def inside() -> None:
        """Do nothing."""


def inner() -> Any:
    def hidden() -> None: ...

    return hidden


@pytest.mark.parametrize("fn", [inner(), lambda: None, 3])
def test_what_stands_in_no_module_is_refused(fn: Any) -> None:
    """At the definition, not at the first call."""
    with pytest.raises(DefinitionError, match="at the top of a module"):
        address_of(fn, what="Tool `t`")


def test_function_of_a_prompt_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """No file could be run to have it."""
    prompt = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", prompt)
    monkeypatch.setattr(Inside.inside, "__module__", "__main__")
    with pytest.raises(DefinitionError, match="stands in no file"):
        address_of(Inside.inside, what="Tool `t`")


def test_function_is_found_by_its_address() -> None:
    """Also inside a class, and where a decorator made a tool of it."""
    assert found(address_of(Inside.inside, what="")) is Inside.inside
    assert killable.die.address is not None
    assert found(killable.die.address) is killable.die


def test_address_that_is_nobodys_is_an_error() -> None:
    """It names both, and says what to do."""
    with pytest.raises(DefinitionError, match=r"`nothing` in the module `tests\.charts\.killable`.*at the top"):
        found(Address(module="tests.charts.killable", name="nothing"))


def test_async_function_needs_no_process() -> None:
    """It can be stopped as it is."""

    async def act() -> None: ...

    with pytest.raises(DefinitionError, match="is async"):
        sw.tool(process=True)(act)
