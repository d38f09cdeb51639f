"""Executable content of SCXML documents as actions. Source: SCXML 4 and 6.2-6.3."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stateward.chart.definition import Action
from stateward.chart.guard import bind_pure
from stateward.exchange.element import Element
from tests.conformance.block import KEY, Block
from tests.conformance.event_view import failed, raised
from tests.conformance.language import Language
from tests.conformance.payload import text_of
from tests.conformance.send import cancel, send
from tests.conformance.value import Markup, NotSupportedError, ScriptError, literal

Execute = Callable[[Block], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What content needs of the document around it."""

    language: Language
    folder: Path
    """Where relative files are."""
    ids: dict[str, str] = field(default_factory=dict[str, str])
    """Per path of a state: its id in the document; filled when the document is read."""

    def named(self, paths: Iterable[str]) -> frozenset[str]:
        """Return the ids of the states at these paths."""
        return frozenset(self.ids[path] for path in paths)


def actions(elements: Iterable[Element], *, setting: Setting) -> tuple[Action, ...]:
    """Return one action for a block of content, none for an empty one; an error ends the block.

    Raises:
        NotSupportedError: There is something in it that is left out here.
    """
    steps = [compiled(element, setting=setting) for element in elements]
    return (action(steps, setting=setting),) if steps else ()


def action(steps: list[Execute], *, setting: Setting, name: str = "content") -> Action:
    """Return an action that takes these steps and returns the session's data, and then what it tells the chart."""

    def content(state: dict[str, Any], event: object, active: frozenset[str]) -> list[object]:
        block = opened(state, event, active, setting=setting)
        run(steps, block)
        return [{KEY: block.closed()}, *block.news]

    return Action(fn=bind_pure(content, where=name), name=name)


def opened(state: Mapping[str, Any], event: object, active: Iterable[str], *, setting: Setting) -> Block:
    """Open a block on what an author's function gets.

    Args:
        state: The chart's state.
        event: The event that is processed, None before the first.
        active: The paths of the active states.
        setting: The document's language and folder.
    """
    return Block.of(setting.language, state[KEY], event=event, active=setting.named(active), ids=setting.ids)


def run(steps: Iterable[Execute], block: Block) -> None:
    """Take steps until one fails, which raises `error.execution`. Source: SCXML 4.10."""
    try:
        for step in steps:
            step(block)
    except ScriptError as error:
        block.news.append(failed("error.execution", str(error), sendid=error.sendid))


def compiled(element: Element, *, setting: Setting) -> Execute:
    """Return what an element of content does.

    Raises:
        NotSupportedError: It is left out here.
    """
    makers: dict[str, Callable[[Element, Setting], Execute]] = {
        "raise": _raise,
        "log": _log,
        "assign": _assign,
        "script": _script,
        "if": _if,
        "foreach": _foreach,
        "send": lambda element, setting: lambda block: send(element, block),
        "cancel": lambda element, setting: lambda block: cancel(element, block),
    }
    if element.name not in makers:
        raise NotSupportedError(f"<{element.name}>")
    return makers[element.name](element, setting)


def _raise(element: Element, setting: Setting) -> Execute:
    name = element.attributes["event"]
    return lambda block: block.news.append(raised(name))


def _log(element: Element, setting: Setting) -> Execute:
    text = element.attributes.get("expr")

    def log(block: Block) -> None:
        if text:
            block.evaluate(text)

    return log


def _assign(element: Element, setting: Setting) -> Execute:
    location, text = element.attributes["location"], element.attributes.get("expr")
    written = text_of(element)

    def assign(block: Block) -> None:
        block.assign(location, block.evaluate(text) if text is not None else written)

    return assign


def _script(element: Element, setting: Setting) -> Execute:
    source = element.attributes.get("src")
    text = (setting.folder / source.removeprefix("file:")).read_text() if source else element.text
    return lambda block: block.language.execute(text, block.names)


def _if(element: Element, setting: Setting) -> Execute:
    branches: list[tuple[str | None, list[Execute]]] = [(element.attributes["cond"], [])]
    for child in element.children:
        if child.name in ("else", "elseif"):
            branches.append((child.attributes.get("cond"), []))
        else:
            branches[-1][1].append(compiled(child, setting=setting))

    def choose(block: Block) -> None:
        steps = next((steps for cond, steps in branches if cond is None or block.holds(cond)), [])
        for step in steps:
            step(block)

    return choose


def _foreach(element: Element, setting: Setting) -> Execute:
    array, item, index = element.attributes["array"], element.attributes["item"], element.attributes.get("index")
    steps = [compiled(child, setting=setting) for child in element.children]

    def each(block: Block) -> None:
        values = block.evaluate(array)
        if not isinstance(values, list):
            raise ScriptError(f"TypeError: {array!r} is no array")
        for name in filter(None, (item, index)):
            block.declare(name, block.names.variables.get(name, block.language.nothing))
        for place, value in enumerate(list(values)):
            block.declare(item, value)
            if index:
                block.declare(index, place)
            for step in steps:
                step(block)

    return each


def file_value(source: str, *, setting: Setting) -> Any:
    """Return what a file holds, as content written in the document would be read.

    Raises:
        ScriptError: It cannot be read.
    """
    try:
        text = (setting.folder / source.removeprefix("file:")).read_text()
    except OSError as error:
        raise ScriptError(f"{source!r} cannot be read") from error
    return Markup(text.strip()) if text.lstrip().startswith("<") else literal(text)
