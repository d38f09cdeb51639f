"""One SCXML document, read: its chart, its language, and what only the session layer needs of it.

States and transitions are read by the package's own reader; what a document computes is put in by `ScriptContent`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from stateward.chart.definition import Definition, Node, Transition
from stateward.chart.tables import define
from stateward.exchange.element import Element, parse
from stateward.exchange.scxml_reader import read_scxml
from tests.conformance.content import Execute, Setting, action, compiled
from tests.conformance.datamodel import bind_data, data_of
from tests.conformance.ecmascript import EcmaScript
from tests.conformance.event_view import outside
from tests.conformance.language import Language
from tests.conformance.markup import written
from tests.conformance.python_expression import Python
from tests.conformance.repair import STATES, repaired, top
from tests.conformance.script_content import ScriptContent
from tests.conformance.value import NotSupportedError


@dataclass(frozen=True, slots=True)
class Invoke:
    """An `<invoke>` of a state. Source: SCXML 6.4."""

    element: Element
    state: str
    finalize: tuple[Execute, ...] | None
    """None if it has no `<finalize>`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A document. Make it with `read` or `parsed`."""

    chart: Definition
    setting: Setting
    text: str
    """What it was read from."""
    name: str
    ids: tuple[str, ...]
    """By state: its id in the document."""
    invokes: tuple[tuple[Invoke, ...], ...]
    """By state, in document order."""

    @property
    def language(self) -> Language:
        """The language of its data model."""
        return self.setting.language

    def again(self) -> Document:
        """Return it read anew: nothing is shared with this one."""
        return parsed(self.text, folder=self.setting.folder)


def read(path: Path) -> Document:
    """Return the document in a file.

    Raises:
        DefinitionError: It is no SCXML.
        NotSupportedError: It uses something that is left out here.
    """
    return parsed(path.read_text(encoding="utf-8-sig"), folder=path.parent)


def parsed(text: str, *, folder: Path) -> Document:
    """Return the document of a text.

    Args:
        text: The document.
        folder: Where relative files are.

    Raises:
        DefinitionError: It is no SCXML.
        NotSupportedError: It uses something that is left out here.
    """
    root = repaired(parse(text))
    setting = Setting(language=language_of(root.get("datamodel", "ecmascript")), folder=folder)
    content = ScriptContent(setting)
    chart = _completed(read_scxml(written(root), content=content), root, setting=setting)
    states = list(_states(top(root)))
    setting.ids.update({node.path: _id(each, node) for node, each in zip(chart.nodes, states, strict=True)})
    return Document(
        chart=chart,
        setting=setting,
        text=text,
        name=root.get("name"),
        ids=tuple(setting.ids[node.path] for node in chart.nodes),
        invokes=tuple(_invokes(each, node, setting) for node, each in zip(chart.nodes, states, strict=True)),
    )


def language_of(datamodel: str) -> Language:
    """Return the language of a data model.

    Raises:
        NotSupportedError: There is no translator for it.
    """
    if datamodel in ("ecmascript", "null", "c89"):  # what the suites write in the other two means the same in it
        return EcmaScript()
    if datamodel == "python":
        return Python()
    raise NotSupportedError(f"data model {datamodel!r}")


def _states(element: Element) -> Iterator[Element]:
    """Yield a state and those inside, in document order."""
    yield element
    for each in element.children:
        if each.name in STATES:
            yield from _states(each)


def _id(element: Element, node: Node) -> str:
    return element.get("id") or node.name


def _completed(chart: Definition, root: Element, *, setting: Setting) -> Definition:
    """Return the chart with late binding, with events from other sessions, and with a root that takes every event.

    An event nobody reacts to is lost in SCXML. A compiled chart refuses it if it comes from outside, and ends if it
    tells of an error; so the root takes it, last of all, and does nothing.
    """
    last = len(chart.transitions)
    transitions = [replace(each, events=outside(each.events)) for each in chart.transitions]
    transitions.append(Transition(index=last, source=0, kind="event", events=("*",)))
    nodes = list(chart.nodes)
    if root.get("binding") == "late":
        nodes = [_late(node, each, setting) for node, each in zip(nodes, _states(top(root)), strict=True)]
    nodes[0] = replace(nodes[0], transitions=(*nodes[0].transitions, last))
    return define(chart.name, nodes=nodes, transitions=transitions, events=chart.events)


def _late(node: Node, element: Element, setting: Setting) -> Node:
    """Return the state with what binds its variables when it is entered first. Source: SCXML 5.3.3."""
    data = data_of(element)
    if not data or node.index == 0:
        return node
    bind = action([bind_data(data, setting=setting, once=node.path)], setting=setting, name="data")
    return replace(node, entry=(bind, *node.entry))


def _invokes(element: Element, node: Node, setting: Setting) -> tuple[Invoke, ...]:
    found = [each for each in element.children if each.name == "invoke"]
    return tuple(Invoke(each, _id(element, node), _finalize(each, setting)) for each in found)


def _finalize(invoke: Element, setting: Setting) -> tuple[Execute, ...] | None:
    found = next((each for each in invoke.children if each.name == "finalize"), None)
    return None if found is None else tuple(compiled(each, setting=setting) for each in found.children)
