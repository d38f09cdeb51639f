"""Ids and event names between an SCXML document and a chart.

An SCXML document names a state by its id wherever it stands, and so do its events: `done.state.<id>`,
`done.invoke.<id>`. A chart has paths there: `done.state.<path>`, `done.activity.<path>`, `after.<path>.<n>`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stateward.chart.definition import Definition
from stateward.chart.delay import AFTER
from stateward.chart.event import event_name_of, normal
from stateward.chart.tables import ACTIVITY_DONE, STATE_DONE
from stateward.errors import DefinitionError, UnknownTarget

INVOKE_DONE = "done.invoke."
DO = ".do"
"""What stands behind a state's id in the id of its `<invoke>`: ids are unique in a document."""
FAILURES = ("error.guard", "error.action", "error.delay")
"""What the kernel raises where SCXML has `error.execution`."""


class ScxmlIds:
    """What the ids of a document mean.

    Args:
        paths: Per id of a state: its path.
        indexes: Per id of a state: its index.
        activities: Per id of an `<invoke>`: the path of its state.
        own: Whether the document was written by Stateward, whose `error` events it then means.
    """

    def __init__(
        self, *, paths: Mapping[str, str], indexes: Mapping[str, int], activities: Mapping[str, str], own: bool
    ) -> None:
        self.own = own
        self._paths = paths
        self._indexes = indexes
        self._activities = activities

    def path(self, id: str, *, where: str) -> str:
        """Return the path of the state with an id.

        Args:
            id: The id.
            where: The element that names it, for messages.

        Raises:
            UnknownTarget: No state has it.
        """
        if id not in self._paths:
            raise self._unknown(id, where=where)
        return self._paths[id]

    def states(self, ids: str, *, where: str) -> tuple[int, ...]:
        """Return the states that a list of ids names.

        Args:
            ids: Ids with white space between them.
            where: The element that names them, for messages.

        Raises:
            UnknownTarget: No state has one of them.
        """
        found = tuple(ids.split())
        for id in found:
            self.path(id, where=where)
        return tuple(self._indexes[id] for id in found)

    def descriptors(self, text: str, *, where: str) -> tuple[str, ...]:
        """Return the event descriptors of the chart that those of a transition mean.

        Args:
            text: The descriptors, with white space between them.
            where: The element that names them, for messages.

        Raises:
            DefinitionError: One is no event name, or speaks of the completion of an unknown state.

        Source: SCXML 3.12.1, 3.13.
        """
        several = [meant for each in text.split() for meant in self._descriptor(each, where=where)]
        if "error.execution" in map(normal, several) and not self.own:
            several.extend(FAILURES)
        return tuple(dict.fromkeys(several))

    def event(self, name: str, *, where: str) -> str:
        """Return the event of the chart that an event of the document means.

        Args:
            name: The event to raise or to send.
            where: The element that names it, for messages.

        Raises:
            DefinitionError: It is no event name, or speaks of the completion of an unknown state.
        """
        meant = self._descriptor(name, where=where)
        if len(meant) != 1 or "*" in name:
            raise DefinitionError(f"`{name}` is not the name of one event", where=where, fix="Name one event.")
        return meant[0]

    def _descriptor(self, text: str, *, where: str) -> tuple[str, ...]:
        try:
            name = "*" if text == ".*" else normal(event_name_of(text))
        except DefinitionError as error:
            raise DefinitionError(error.what, where=where, fix=error.fix) from error
        for prefix, start, known in (
            (STATE_DONE, STATE_DONE, self._paths),
            (INVOKE_DONE, ACTIVITY_DONE, self._activities),
        ):
            if name.startswith(prefix):
                return self._completions(name.removeprefix(prefix), start=start, known=known, where=where)
        if self.own and name.startswith(AFTER):
            id, _, number = name.removeprefix(AFTER).rpartition(".")
            path = self.path(id, where=where)
            return (f"{AFTER}{path}.{number}" if path else AFTER + number,)
        return (ACTIVITY_DONE[:-1],) if name == INVOKE_DONE[:-1] else (text.removeprefix(".") if name == "*" else text,)

    def _completions(self, id: str, *, start: str, known: Mapping[str, str], where: str) -> tuple[str, ...]:
        """Return the completion events whose id is this or begins with its tokens."""
        found = tuple(start + path for each, path in known.items() if each == id or each.startswith(f"{id}."))
        if not found:
            raise self._unknown(id, where=where)
        return found

    def _unknown(self, id: str, *, where: str) -> UnknownTarget:
        names = ", ".join(f"`{known}`" for known in self._paths) or "none"
        return UnknownTarget(
            f"`{id}` is the id of no state",
            where=where,
            fix=f"Known ids: {names}.",
            target=id,
            known=tuple(self._paths),
        )


def outward(descriptor: str, *, chart: Definition, ids: Sequence[str], where: str) -> str:
    """Return the name in a document for an event descriptor of a chart.

    Args:
        descriptor: The descriptor.
        chart: The chart.
        ids: Per state: its id in the document.
        where: The state whose transition names it, for messages.

    Raises:
        DefinitionError: It speaks of the completion of a state that does not exist, or would mean one by accident.
    """
    number = ""
    for start, prefix in ((STATE_DONE, STATE_DONE), (ACTIVITY_DONE, INVOKE_DONE), (AFTER, AFTER)):
        if not descriptor.startswith(start):
            continue
        path = normal(descriptor).removeprefix(start)
        if start == AFTER:
            path, _, number = path.rpartition(".")
        if path not in chart.by_path:
            raise DefinitionError(
                f"The event `{descriptor}` speaks of no state", where=where, fix="Correct its path.", event=descriptor
            )
        end = DO if start == ACTIVITY_DONE else f".{number}" if number else ""
        return prefix + ids[chart.by_path[path]] + end
    if f"{descriptor}.".startswith(INVOKE_DONE):
        raise DefinitionError(
            f"The event `{descriptor}` would mean the end of an activity in SCXML",
            where=where,
            fix="Give it a name that does not begin with `done.invoke`.",
        )
    return INVOKE_DONE[:-1] if descriptor == ACTIVITY_DONE[:-1] else descriptor
