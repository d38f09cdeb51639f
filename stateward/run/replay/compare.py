"""Comparing what a replay came to with its record: canonical bytes, and ids that are drawn at random.

A message gets an id when it is committed, unless it has one. In a replay it gets the one of the record: of the messages
that the step brought, the first that says the same. So all that refers to the id is the same too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from langchain_core.messages import BaseMessage
from langgraph.checkpoint.serde.base import SerializerProtocol

from stateward.run.checkpoint import Json
from stateward.run.replay.divergence import Difference

_LAST = {
    "event": "event",
    "taken": "transitions",
    "verdicts": "guards",
    "changed": "changed keys",
    "letters": "letters",
}
"""Key of `last` to what it is called; in the order in which differences are told."""
_DRAWN = ("lc_run-", "run-")
"""How ids begin that LangChain draws for what a model said."""


def differences(
    serde: SerializerProtocol, *, recorded: tuple[Json, Mapping[str, Any]], came: tuple[Json, Mapping[str, Any]]
) -> tuple[Difference, ...]:
    """Compare two checkpoints: control channel and values.

    Args:
        serde: The saver's serializer.
        recorded: Control channel and values of the record.
        came: The same of the replay.

    Returns:
        What differs, the most telling first.
    """
    found = [*_of_step(recorded[0], came[0]), *_of_values(serde, recorded[1], came[1])]
    told = {"last", "at", "status"}
    for key in sorted((recorded[0].keys() | came[0].keys()) - told):
        before, now = (side[0].get(key) or None for side in (recorded, came))  # the channel stores nothing empty
        if not _same(serde, before, now):
            found.append(Difference(what=f"control channel, `{key}`", recorded=before, came=now))
    return tuple(found)


def _of_step(recorded: Json, came: Json) -> Iterable[Difference]:
    before, now = dict(recorded.get("last") or {}), dict(came.get("last") or {})
    if "now" not in before:  # a record of an older release
        now.pop("now", None)
    names = {**_LAST, **{key: f"step, `{key}`" for key in sorted(before.keys() | now.keys()) if key not in _LAST}}
    for key, name in names.items():
        if before.get(key) != now.get(key):
            yield Difference(what=name, recorded=before.get(key), came=now.get(key))
    for key, name in (("at", "states"), ("status", "status")):
        if recorded.get(key) != came.get(key):
            yield Difference(what=name, recorded=recorded.get(key), came=came.get(key))


def _of_values(serde: SerializerProtocol, recorded: Mapping[str, Any], came: Mapping[str, Any]) -> Iterable[Difference]:
    for key in sorted(recorded.keys() | came.keys()):
        if (key in recorded) != (key in came) or not _same(serde, recorded.get(key), came.get(key)):
            yield Difference(what=f"value of `{key}`", recorded=recorded.get(key), came=came.get(key))


def _same(serde: SerializerProtocol, one: object, other: object) -> bool:
    if one is other or serde.dumps_typed(one) == serde.dumps_typed(other):
        return True
    return serde.dumps_typed(canonical(one)) == serde.dumps_typed(canonical(other))


def canonical(value: Any) -> Any:
    """Bring a value into a form whose bytes depend on nothing that is left open: order in sets, ids that are drawn.

    Args:
        value: Any value of a channel.
    """
    if isinstance(value, BaseMessage):
        drawn = str(value.id or "").startswith(_DRAWN)
        return value.model_copy(update={"id": None}) if drawn else value
    if isinstance(value, dict):
        inside = cast("dict[Any, Any]", value)
        return [[repr(key), canonical(inside[key])] for key in sorted(inside, key=repr)]
    if isinstance(value, list | tuple):
        return [canonical(each) for each in cast("Sequence[Any]", value)]
    if isinstance(value, set | frozenset):
        return sorted((canonical(each) for each in cast("set[Any]", value)), key=repr)
    return value


def adopted(
    update: Sequence[tuple[str, Any]], *, recorded: Mapping[str, Any], before: Mapping[str, Any]
) -> dict[str, str]:
    """Find the recorded ids of messages that a step of the replay brings.

    Args:
        update: The writes of the step.
        recorded: The values after it, in the record.
        before: The values before it.

    Returns:
        The id in the replay to the id in the record, for the messages that say the same.
    """
    ids: dict[str, str] = {}
    for key, value in update:
        new = _fresh(recorded.get(key), before.get(key))
        for message in _messages(value):
            if message.id is None or message.id in {each.id for each in new}:
                continue
            same = next((each for each in new if each.id not in ids.values() and _says_same(each, message)), None)
            if same is not None and same.id is not None:
                ids[message.id] = same.id
    return ids


def renamed(value: Any, ids: Mapping[str, str]) -> Any:
    """Give messages other ids.

    Args:
        value: A write: messages, one or several, or anything else.
        ids: The id they have to the id they get.
    """
    if isinstance(value, BaseMessage):
        id = ids.get(value.id or "")
        return value if id is None else value.model_copy(update={"id": id})
    if isinstance(value, list):
        return [renamed(each, ids) for each in cast("list[Any]", value)]
    return value


def _messages(value: object) -> list[BaseMessage]:
    several = cast("list[object]", value) if isinstance(value, list) else [value]
    return [each for each in several if isinstance(each, BaseMessage)]


def _fresh(after: object, before: object) -> list[BaseMessage]:
    known = {each.id for each in _messages(before)}
    return [each for each in _messages(after) if each.id not in known]


def _says_same(one: BaseMessage, other: BaseMessage) -> bool:
    return one.model_copy(update={"id": None}) == other.model_copy(update={"id": None})
