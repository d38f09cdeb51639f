"""What a document in ECMAScript or Python computes, for the package's SCXML reader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from stateward.chart.definition import Action, Activity, Block
from stateward.chart.guard import Bound, bind_pure
from stateward.exchange.element import Element
from stateward.exchange.scxml_ids import ScxmlIds
from tests.conformance.block import KEY, names_of
from tests.conformance.content import Setting, action, actions, opened
from tests.conformance.datamodel import bind_data, data_of
from tests.conformance.payload import payload
from tests.conformance.repair import STATES
from tests.conformance.value import UNDEFINED, encode


class ScriptContent:
    """Content whose expressions are interpreted; the session layer does what lies between sessions.

    Args:
        setting: The document's language and folder.
    """

    def __init__(self, setting: Setting) -> None:
        self._setting = setting

    def document(self, root: Element, *, models: Sequence[Element], scripts: Sequence[Element], ids: ScxmlIds) -> Block:
        """Return what binds the variables, and the scripts that run on loading."""
        data = data_of(root) if root.get("binding") == "late" else _all_data(root)
        given = [each.attributes["id"] for each in data_of(root)]
        bind = action([bind_data(data, setting=self._setting, given=given)], setting=self._setting, name="datamodel")
        return (bind, *actions(scripts, setting=self._setting))

    def condition(self, transition: Element, *, ids: ScxmlIds) -> Bound:
        """Return the guard of a transition; an empty `cond` is none."""
        text, setting = transition.get("cond"), self._setting

        def condition(state: dict[str, Any], event: object, active: frozenset[str]) -> bool:
            names = names_of(setting.language, state[KEY], event=event, active=setting.named(active), ids=setting.ids)
            return not text or setting.language.is_true(setting.language.evaluate(text, names))

        return replace(bind_pure(condition, where=text), name=text)

    def block(self, containers: Sequence[Element], *, ids: ScxmlIds) -> Block:
        """Return an action for each container: what fails in one skips the rest of that one only."""
        found: list[Action] = []
        for container in containers:
            found.extend(actions(container.children, setting=self._setting))
        return tuple(found)

    def result(self, donedata: Element, *, ids: ScxmlIds) -> Bound | None:
        """Return what makes the data of a final state."""
        setting = self._setting

        def result(state: dict[str, Any], event: object, active: frozenset[str]) -> object:
            found = payload(donedata, opened(state, event, active, setting=setting))
            return None if found is UNDEFINED else encode(found)

        return bind_pure(result, where="donedata")

    def activity(self, invokes: Sequence[Element], *, path: str, ids: ScxmlIds) -> Activity | None:
        """Return none: the session layer invokes, between two macrosteps."""
        return None

    def delay(self, send: Element, *, ids: ScxmlIds) -> float | Bound:
        """Refuse it: only a document that Stateward wrote has one.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError(send.where)


def _all_data(element: Element) -> list[Element]:
    inside = [each for child in element.children if child.name in STATES for each in _all_data(child)]
    return [*data_of(element), *inside]
