"""Executable content of SCXML documents as actions: raise, send, assign, if, foreach, script, log."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from stateward.chart.definition import Action
from stateward.chart.event import Occurrence
from stateward.chart.guard import Bound
from tests.conformance.script import Names, NotSupportedError, evaluate, event_value, execute, literal

Raised = Iterator[Occurrence]
Execute = Callable[[dict[str, Any], Any], Raised]


def tag(element: Element) -> str:
    """Return an element's name without its namespace."""
    return element.tag.rpartition("}")[2]


def names_of(state: dict[str, Any], event: Any) -> Names:
    """Return what expressions may name: the variables, the event, and In()."""
    return {**state, "_event": event_value(event), "In": lambda path: path in state["#active"]}


def block(elements: list[Element], *, folder: Path) -> tuple[Action, ...]:
    """Return one action for a block of content; an error ends the block and raises `error.execution`."""
    steps = [_compiled(element, folder=folder) for element in elements]

    def run(state: dict[str, Any], event: Any) -> list[Occurrence]:
        raised: list[Occurrence] = []
        try:
            for step in steps:
                raised.extend(step(state, event))
        except NotSupportedError:
            raise
        except Exception as error:  # noqa: BLE001 - it becomes the event `error.execution`
            raised.append(Occurrence(name="error.execution", data={"reason": str(error)}))
        return raised

    return (action(run, name="content"),) if steps else ()


def action(fn: Callable[..., object], *, name: str) -> Action:
    """Return a function of (state, event) as an action."""
    return Action(fn=Bound(fn=fn, name=name, positional=(0, 1), keyword=(), is_async=False), name=name)


def _compiled(element: Element, *, folder: Path) -> Execute:
    makers: dict[str, Callable[..., Execute]] = {
        "log": _nothing,
        "raise": _raise,
        "send": _send,
        "assign": _assign,
        "if": _if,
        "foreach": _foreach,
        "script": _script,
        "cancel": _cancel,
    }
    if tag(element) not in makers:
        raise NotSupportedError(f"<{tag(element)}>")
    return makers[tag(element)](element, folder=folder)


def _nothing(element: Element, *, folder: Path) -> Execute:
    return lambda state, event: iter(())


def _raise(element: Element, *, folder: Path) -> Execute:
    return lambda state, event: iter([Occurrence(name=element.attrib["event"])])


def _assign(element: Element, *, folder: Path) -> Execute:
    if "expr" not in element.attrib:
        raise NotSupportedError("<assign> with content")

    def run(state: dict[str, Any], event: Any) -> Raised:
        location = element.attrib["location"]
        if location not in state:
            raise NameError(location)
        state[location] = evaluate(element.attrib["expr"], names=names_of(state, event))
        yield from ()

    return run


def _script(element: Element, *, folder: Path) -> Execute:
    source = element.get("src")
    text = (folder / source).read_text() if source else element.text or ""

    def run(state: dict[str, Any], event: Any) -> Raised:
        execute(text, state=state, names=lambda: names_of(state, event))
        yield from ()

    return run


def _if(element: Element, *, folder: Path) -> Execute:
    branches: list[tuple[str, list[Execute]]] = [(element.attrib["cond"], [])]
    for child in element:
        if tag(child) in ("else", "elseif"):
            branches.append((child.get("cond", "true"), []))
        else:
            branches[-1][1].append(_compiled(child, folder=folder))

    def run(state: dict[str, Any], event: Any) -> Raised:
        for cond, steps in branches:
            if evaluate(cond, names=names_of(state, event)):
                for step in steps:
                    yield from step(state, event)
                return

    return run


def _foreach(element: Element, *, folder: Path) -> Execute:
    steps = [_compiled(child, folder=folder) for child in element]

    def run(state: dict[str, Any], event: Any) -> Raised:
        items = list(evaluate(element.attrib["array"], names=names_of(state, event)))
        for index, item in enumerate(items):
            state[element.attrib["item"]] = item
            if "index" in element.attrib:
                state[element.attrib["index"]] = index
            for step in steps:
                yield from step(state, event)

    return run


def _send(element: Element, *, folder: Path) -> Execute:
    known = {"event", "eventexpr", "target", "delay", "delayexpr", "namelist", "id", "type"}
    if set(element.attrib) - known or element.get("target") not in (None, "#_internal", "#_scxml_session"):
        raise NotSupportedError("<send> to another target")
    if "scxml" not in element.get("type", "scxml").lower():
        raise NotSupportedError("<send> of another type")

    def run(state: dict[str, Any], event: Any) -> Raised:
        names = names_of(state, event)
        name = element.get("event") or evaluate(element.attrib["eventexpr"], names=names)
        sent = Occurrence(name=name, data=_payload(element, names=names))
        if element.get("target") == "#_internal":
            yield sent
            return
        delay = element.get("delay") or evaluate(element.get("delayexpr", "'0s'"), names=names)
        due = state["#now"] + _milliseconds(delay)
        state["#sent"].append((due, len(state["#sent"]), element.get("id"), sent))

    return run


def _cancel(element: Element, *, folder: Path) -> Execute:
    if "sendid" not in element.attrib:
        raise NotSupportedError("<cancel> by expression")

    def run(state: dict[str, Any], event: Any) -> Raised:
        state["#sent"] = [each for each in state["#sent"] if each[2] != element.attrib["sendid"]]
        yield from ()

    return run


def _payload(element: Element, *, names: Names) -> object:
    data = {name: names[name] for name in element.get("namelist", "").split()}
    for child in element:
        if tag(child) == "content":
            expr = child.get("expr")
            return evaluate(expr, names=names) if expr else literal(child.text)
        data[child.attrib["name"]] = evaluate(child.get("expr") or child.attrib["location"], names=names)
    return data or None


def _milliseconds(delay: str) -> float:
    found = re.fullmatch(r"\s*([\d.]+)\s*(ms|s)\s*", delay)
    if not found:
        raise ValueError(f"delay {delay!r}")
    return float(found[1]) * (1000 if found[2] == "s" else 1)
