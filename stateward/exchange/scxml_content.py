"""What the executable content of an SCXML document means: by names from a registry, or as a caller says.

The reader knows states and transitions. Whatever a document computes goes through a `ScxmlContent`, so that a document
in another data model can be read by who can interpret it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Protocol, cast

from stateward.chart.definition import Action, Activity, Block
from stateward.chart.event import event_name_of
from stateward.chart.guard import Bound
from stateward.errors import DefinitionError
from stateward.exchange.condition import read_condition
from stateward.exchange.content import CancelSend, Constant, Raise, Send, action, bound
from stateward.exchange.element import Element
from stateward.exchange.registry import Registry
from stateward.exchange.scxml_ids import ScxmlIds

SCXML = "http://www.w3.org/2005/07/scxml"
OWN = "urn:stateward:1"
"""The namespace of what SCXML has no words for."""
ACTIVITY_TYPE = "urn:stateward:activity"
"""The type of an `<invoke>` that is an activity."""
DATAMODEL = "stateward"
"""The data model of a document whose conditions and values are names of functions."""
SELF = ("", "#_internal")
PROCESSOR = ("", "scxml", "http://www.w3.org/TR/scxml/#SCXMLEventProcessor")


class ScxmlContent(Protocol):
    """Turns what a document computes into functions."""

    def document(self, root: Element, *, models: Sequence[Element], scripts: Sequence[Element], ids: ScxmlIds) -> Block:
        """Return what to do before the chart is entered, for data models anywhere and scripts at the top."""
        ...

    def condition(self, transition: Element, *, ids: ScxmlIds) -> Bound:
        """Return the guard that the `cond` of a transition means."""
        ...

    def block(self, containers: Sequence[Element], *, ids: ScxmlIds) -> Block:
        """Return the actions of `<onentry>` elements, of `<onexit>` elements, or of one `<transition>`."""
        ...

    def result(self, donedata: Element, *, ids: ScxmlIds) -> Bound | None:
        """Return what makes the data of a final state."""
        ...

    def activity(self, invokes: Sequence[Element], *, path: str, ids: ScxmlIds) -> Activity | None:
        """Return the activity that the `<invoke>` elements of a state mean."""
        ...

    def delay(self, send: Element, *, ids: ScxmlIds) -> float | Bound:
        """Return the seconds of an `after`, from the `<send>` that the writer made of it."""
        ...


class NamedContent:
    """Content whose names mean functions in a registry; everything else is refused.

    Args:
        registry: What the names mean.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def document(self, root: Element, *, models: Sequence[Element], scripts: Sequence[Element], ids: ScxmlIds) -> Block:
        """Refuse data models and scripts.

        Raises:
            DefinitionError: There are some, or the document asks for an expression language or late binding.
        """
        for element in (*models, *scripts):
            raise _not_carried(element, "State belongs to the chart's schema, and code to functions in the registry.")
        if root.get("datamodel") not in ("", "null", DATAMODEL):
            raise DefinitionError(
                f"The data model is `{root.get('datamodel')}`",
                where=root.where,
                fix=f"Make it `null` or `{DATAMODEL}`, with guards by name in `cond`.",
            )
        if root.get("binding", "early") != "early":
            raise DefinitionError("Late binding is not carried over", where=root.where, fix="Leave `binding` out.")
        return ()

    def condition(self, transition: Element, *, ids: ScxmlIds) -> Bound:
        """Read `cond` as names of guards, `In()` and their combinations.

        Raises:
            DefinitionError: It is something else, or a name is unknown.
        """
        where = transition.where
        return read_condition(
            transition.get("cond"),
            registry=self._registry,
            locate=lambda id: ids.path(id, where=where),
            where=where,
        )

    def block(self, containers: Sequence[Element], *, ids: ScxmlIds) -> Block:
        """Read `<raise>`, `<send>` to the session itself, `<cancel>`, `<log>` and named actions.

        Raises:
            DefinitionError: There is other content, or more than one block: an action that fails would skip the second.
        """
        full = [container for container in containers if container.children]
        if len(full) > 1:
            raise DefinitionError(
                f"There is a second <{full[1].name}>; that a failure ends one block only is not carried over",
                where=full[1].where,
                fix="Put all its actions into one.",
            )
        return tuple(self._action(element, ids=ids) for container in full for element in container.children)

    def _action(self, element: Element, *, ids: ScxmlIds) -> Action:
        if element.namespace == OWN and element.name == "action" and not element.children:
            only(element, "name", "params")
            return self._named(element, element.get("name"), params=_params(element))
        makers: Mapping[str, Callable[..., Action]] = {
            "raise": _raise,
            "send": _send,
            "cancel": _cancel,
            "log": self._log,
        }
        if not is_scxml(element) or element.name not in makers:
            raise _not_carried(element, 'Make it a function in the registry: `<action xmlns="…" name="…"/>`.')
        return makers[element.name](element, ids=ids)

    def _named(self, element: Element, name: str, *, params: Mapping[str, object]) -> Action:
        fn = self._registry.function("actions", name, params=params, where=element.where)
        return Action(fn=fn, name=fn.name)

    def _log(self, element: Element, *, ids: ScxmlIds) -> Action:
        only(element, "label", "expr")
        return self._named(element, "log", params={"label": element.get("label"), "expr": element.get("expr")})

    def result(self, donedata: Element, *, ids: ScxmlIds) -> Bound | None:
        """Read one `<content>`: JSON as text, or the name of a data function in `expr`.

        Raises:
            DefinitionError: It is something else.
        """
        only(donedata)
        if len(donedata.children) != 1 or donedata.children[0].name != "content" or donedata.children[0].children:
            raise _not_carried(donedata, "Give it one `<content>`: JSON, or `expr` with the name of a data function.")
        content = donedata.children[0]
        only(content, "expr")
        if "expr" in content.attributes:
            return self._registry.function("data", content.get("expr"), params=_params(content), where=content.where)
        return bound(Constant(value=json_of(content.text, element=content)))

    def activity(self, invokes: Sequence[Element], *, path: str, ids: ScxmlIds) -> Activity | None:
        """Read one `<invoke>` of our type as the activity that its `src` names.

        Raises:
            DefinitionError: There are several, or one of another type.
        """
        if len(invokes) > 1:
            raise _not_carried(invokes[1], "A state has one activity; put the second into a parallel region.")
        invoke = invokes[0]
        only(invoke, "type", "src", "id")
        if invoke.get("type") not in (ACTIVITY_TYPE, "stateward") or invoke.children:
            raise _not_carried(
                invoke, f'Name an activity of the registry: `<invoke type="{ACTIVITY_TYPE}" src="NAME"/>`.'
            )
        own = {name: value for (_, name), value in invoke.foreign.items()}
        return Activity(
            do=self._registry.get("activities", invoke.get("src"), where=invoke.where),
            model=own.get("model"),
            tools=tuple(own.get("tools", "").split()),
            output=self._output(own, where=invoke.where),
            timeout_s=seconds(own["timeout"], element=invoke) if "timeout" in own else None,
            asks=own.get("asks") == "true",
        )

    def _output(self, own: Mapping[str, str], *, where: str) -> object:
        if "output" in own:
            return self._registry.get("outputs", own["output"], where=where)
        return own.get("contract")

    def delay(self, send: Element, *, ids: ScxmlIds) -> float | Bound:
        """Read `delay` as a time, or `delayexpr` as the name of a delay.

        Raises:
            DefinitionError: It is no time, or the name is unknown.
        """
        if "delayexpr" in send.attributes:
            return self._registry.function("delays", send.get("delayexpr"), params=_params(send), where=send.where)
        return seconds(send.get("delay", "0s"), element=send)


def is_scxml(element: Element) -> bool:
    """Tell whether an element is SCXML's own; a document without namespaces is taken as such.

    Args:
        element: The element.
    """
    return element.namespace in (SCXML, "")


def only(element: Element, *names: str) -> None:
    """Check that an element has no other attributes.

    Args:
        element: The element.
        names: The attributes it may have.

    Raises:
        DefinitionError: It has another.
    """
    for name in element.attributes:
        if name not in names:
            allowed = ", ".join(f"`{each}`" for each in names) or "none"
            raise DefinitionError(
                f"The attribute `{name}` of <{element.name}> is not carried over",
                where=element.where,
                fix=f"Remove it; carried over: {allowed}.",
            )


def json_of(text: str, *, element: Element) -> object:
    """Return the value that a text means as JSON.

    Args:
        text: The text.
        element: Where it stands, for messages.

    Raises:
        DefinitionError: It is no JSON.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DefinitionError(
            f"`{text.strip()[:80]}` is no JSON: {error}", where=element.where, fix="Write the value as JSON."
        ) from error


def seconds(text: str, *, element: Element) -> float:
    """Return the seconds that a time means.

    Args:
        text: A time such as `1.5s` or `200ms`.
        element: Where it stands, for messages.

    Raises:
        DefinitionError: It is no time.

    Source: SCXML 6.2.4, CSS2 4.3.
    """
    found = re.fullmatch(r"\s*(\d*\.?\d+)\s*(ms|s)\s*", text)
    value = float(Decimal(found[1]) / (1000 if found[2] == "ms" else 1)) if found else math.inf
    if value == math.inf:
        raise DefinitionError(f"`{text}` is no time", where=element.where, fix="Write it as in `1.5s` or `200ms`.")
    return value


def _raise(element: Element, *, ids: ScxmlIds) -> Action:
    only(element, "event")
    return action(Raise(event=ids.event(element.get("event"), where=element.where)))


def _send(element: Element, *, ids: ScxmlIds) -> Action:
    only(element, "event", "delay", "id", "target", "type")
    if element.get("target") not in SELF or element.get("type") not in PROCESSOR or "event" not in element.attributes:
        raise _not_carried(element, "Only an event of this session to itself is; leave `target` and `type` out.")
    event = ids.event(element.get("event"), where=element.where)
    if element.get("target"):
        return action(Raise(event=_internal(element, event)))
    return action(
        Send(
            event=event,
            after_s=seconds(element.get("delay", "0s"), element=element),
            id=_sendid(element, element.get("id")),
            data={name: value for name, value in map(_param, element.children)},
        )
    )


def _internal(element: Element, event: str) -> str:
    if element.children or "delay" in element.attributes or "id" in element.attributes:
        raise _not_carried(element, "An internal event has no delay, id or data; leave `target` out.")
    return event_name_of(event)


def _param(element: Element) -> tuple[str, object]:
    if element.name != "param" or "expr" not in element.attributes:
        raise _not_carried(element, 'Write data as `<param name="…" expr="JSON"/>`.')
    only(element, "name", "expr")
    return element.get("name"), json_of(element.get("expr"), element=element)


def _cancel(element: Element, *, ids: ScxmlIds) -> Action:
    only(element, "sendid")
    if not element.get("sendid"):
        raise DefinitionError("<cancel> names nothing", where=element.where, fix="Give it `sendid`.")
    return action(CancelSend(id=_sendid(element, element.get("sendid"))))


def _sendid(element: Element, id: str) -> str:
    if id.startswith("after."):
        raise DefinitionError(
            f"The id `{id}` looks like a timer of the chart's own", where=element.where, fix="Choose another."
        )
    return id


def _params(element: Element) -> Mapping[str, object]:
    said = element.foreign.get((OWN, "params")) or element.get("params")
    value: object = json_of(said, element=element) if said else {}
    if not isinstance(value, dict):
        raise DefinitionError("`params` is no JSON object", where=element.where, fix='Write `{"name": value}`.')
    return cast("dict[str, object]", value)


def _not_carried(element: Element, fix: str) -> DefinitionError:
    return DefinitionError(f"<{element.name}> is not carried over", where=element.where, fix=fix)
