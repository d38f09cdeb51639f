"""A tool call on its way in: what is asked for, or what a person has made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from stateward.govern.decision import CallRequest
from stateward.govern.effective import Effective
from stateward.run.door.activation import Activation
from stateward.run.door.tool import Tool
from stateward.run.store.entry import Entry
from stateward.run.store.given import Given


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A tool call that is not made yet."""

    tool: Tool
    arguments: Mapping[str, Any]
    """As the tool takes them."""
    request: CallRequest
    entry: Entry
    """Of the journal, not begun."""
    edit: Given | None = None
    """The answer that made it of another call."""
    was: str = ""
    """The tool of that other call."""

    def is_placed(self, effective: Effective) -> bool:
        """Whether paths in its arguments are ruled.

        Args:
            effective: The policy of the state.
        """
        return any(each.rule.under is not None for each in effective.level(self.tool.name).arguments)

    def given(self, effective: Effective, activation: Activation, /) -> Mapping[str, Any]:
        """Return what a tool is called with that works on files, or is told of the call; blocking.

        Args:
            effective: The policy of the state.
            activation: Whose call it is.
        """
        arguments = self.arguments
        if self.is_placed(effective):
            activation.make_work()
            arguments = self.placed(effective)
        return self.tool.given(arguments, context=activation.context(self.entry.key.call))

    def placed(self, effective: Effective) -> Mapping[str, Any]:
        """Return the arguments with the paths that are ruled brought to what they name.

        What was checked is what the tool gets: another reading of a path, from another folder or through a link that is
        changed, leads nowhere.

        Args:
            effective: The policy of the state.
        """
        found = self.arguments
        for each in effective.level(self.tool.name).arguments:
            if each.rule.under is not None:
                found = cast("Mapping[str, Any]", self._at(found, each.rule.name.split("."), each.rule.under))
        return found

    def _at(self, value: object, way: list[str], under: str) -> object:
        if isinstance(value, list | tuple):
            items = [self._at(each, way, under) for each in cast("list[object]", value)]
            return tuple(items) if isinstance(value, tuple) else items
        if way:
            return self._inside(value, way, under)
        if isinstance(value, str | Path):
            return type(value)(self.request.work.placed(str(value), under=under))
        return value

    def _inside(self, value: object, way: list[str], under: str) -> object:
        head, *rest = way
        if isinstance(value, Mapping):
            named = cast("Mapping[str, object]", value)
            return {**named, head: self._at(named[head], rest, under)} if head in named else named
        if hasattr(value, "model_copy") and hasattr(value, head):
            return cast(Any, value).model_copy(update={head: self._at(getattr(value, head), rest, under)})
        return value
