"""How guards, actions, activities and outputs are written in an XState machine: by name."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Literal

from stateward.chart.definition import Action, Activity, Block
from stateward.chart.guard import Bound
from stateward.errors import DefinitionError
from stateward.exchange.condition import write_condition
from stateward.exchange.content import CancelSend, Combined, Constant, Inside, Raise, Send
from stateward.exchange.registry import Named, Registry
from stateward.exchange.xstate_content import CANCEL, RAISE
from stateward.exchange.xstate_events import Find, outward

Written = dict[str, object]
"""A piece of the machine while it is put together."""


class Words:
    """Writes what a machine names.

    Args:
        registry: What functions are called.
        find: Finds ids by paths, for events that speak of states.
        known: All names of events in the chart.
    """

    def __init__(self, registry: Registry, *, find: Find, known: Iterable[str]) -> None:
        self._registry = registry
        self._find = find
        self._known = known

    def guard(self, guard: Bound, *, where: str) -> object:
        """Return what stands under `guard`.

        Args:
            guard: The guard.
            where: The state, for messages.
        """
        if isinstance(guard.fn, Inside | Combined):
            return write_condition(guard, registry=self._registry, locate=lambda path: path, where=where)
        return _named(self._registry.name_of("guards", guard.fn, where=where))

    def actions(self, block: Block, *, where: str) -> object:
        """Return what stands under `entry`, `exit` or `actions`.

        Args:
            block: The actions; not empty.
            where: The state, for messages.
        """
        written = [self._action(action, where=where) for action in block]
        return written[0] if len(written) == 1 else written

    def _action(self, action: Action, *, where: str) -> object:
        said = action.fn.fn
        if isinstance(said, Raise):
            return {"type": RAISE, "params": {"event": {"type": self._event(said.event, where=where)}}}
        if isinstance(said, Send):
            return {"type": RAISE, "params": self._sent(said, where=where)}
        if isinstance(said, CancelSend):
            return {"type": CANCEL, "params": {"sendId": said.id}}
        named = self._registry.name_of("actions", said, where=where)
        if named.name.startswith("xstate."):
            raise DefinitionError(
                f"The action's name `{named.name}` is that of one of XState's own", where=where, fix="Rename it."
            )
        return _named(named)

    def _sent(self, said: Send, *, where: str) -> Written:
        if "type" in said.data:
            raise DefinitionError(
                f"The data of the event `{said.event}` have a key `type`, which is its name in XState",
                where=where,
                fix="Rename the key.",
            )
        event: Written = {"type": self._event(said.event, where=where), **said.data}
        milliseconds = Decimal(repr(said.after_s)) * 1000
        delay = int(milliseconds) if milliseconds == int(milliseconds) else float(milliseconds)
        sent: Written = {"event": event, "delay": delay}
        return sent | ({"id": said.id} if said.id else {})

    def _event(self, name: str, *, where: str) -> str:
        return outward(name, known=(), find=self._find, where=where).removesuffix(".*")

    def activity(self, activity: Activity, *, id: str, where: str) -> tuple[Written, Written]:
        """Return what stands under `invoke`, and what is ours alone: model, tools, contract, output, timeout.

        Args:
            activity: The activity.
            id: The id of the `invoke`.
            where: The state, for messages.

        Raises:
            DefinitionError: It is a partial function without a name of its own.
        """
        name = self._whole("activities", activity.do, called="activity", where=where)
        own: Written = {}
        if activity.model is not None:
            own["model"] = activity.model
        if activity.tools:
            own["tools"] = list(activity.tools)
        if isinstance(activity.output, str):
            own["contract"] = activity.output
        elif activity.output is not None:
            own["output"] = self._registry.name_of("outputs", activity.output, where=where).name
        if activity.timeout_s is not None:
            own["timeout_s"] = activity.timeout_s
        if activity.asks:
            own["asks"] = True
        return {"src": name, "id": id}, own

    def data(self, data: Bound, *, body: Written, own: Written, where: str) -> None:
        """Put the data of a final state where it belongs: plain JSON to `output`, a function to what is ours alone.

        Args:
            data: What makes the data.
            body: The state.
            own: What is ours alone.
            where: The state's path, for messages.
        """
        if isinstance(data.fn, Constant):
            body["output"] = data.fn.value
        else:
            named = self._registry.name_of("data", data.fn, where=where)
            own["data"] = {"type": named.name} | ({"params": dict(named.params)} if named.params else {})

    def delay(self, delay: Bound, *, where: str) -> str:
        """Return the name of a delay.

        Args:
            delay: The function that says it.
            where: The state, for messages.

        Raises:
            DefinitionError: It fixes arguments, which a key cannot say.
        """
        return self._whole("delays", delay.fn, called="delay", where=where)

    def _whole(self, kind: Literal["activities", "delays"], fn: object, *, called: str, where: str) -> str:
        """Return the name of a function that stands where arguments cannot."""
        named = self._registry.name_of(kind, fn, where=where)
        if named.params:
            raise DefinitionError(
                f"The {called} `{named.name}` is a partial function",
                where=where,
                fix=f"Name the whole: `Registry.of({kind}={{'name': …}})`.",
            )
        return named.name


def _named(named: Named) -> object:
    return {"type": named.name, "params": dict(named.params)} if named.params else named.name
