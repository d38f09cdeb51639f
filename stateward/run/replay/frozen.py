"""A recorded run as one JSON file: what it was given, the journal of its calls, and what every step came to.

Each moment says only what is other than the moment before: changed keys, what was added to a list, keys that are gone.
Calls stand there as the journal holds them, so that secrets in their arguments and results are taken out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, cast

from langgraph.checkpoint.serde.base import SerializerProtocol

from stateward.errors import CodecError
from stateward.run.checkpoint import Json
from stateward.run.replay.recording import Moment, Recording
from stateward.run.replay.value import read, written
from stateward.run.store.ask import Ask
from stateward.run.store.charges import Charge
from stateward.run.store.entry import CallKey, Entry
from stateward.run.store.given import Given, from_json
from stateward.run.store.mailbox import Letter

KIND, VERSION = "frozen run", 1
_MORE, _GONE = "$more", "$gone"
_PLAIN = ("graph", "session", "tenant", "run", "run_no")


@dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    """A run in a file, and the graph that plays it."""

    graph: str
    """Its import name, `module:attribute`."""
    overrides: tuple[str, ...]
    """For the module's `build(overrides=…)`; with none the attribute is taken."""
    recording: Json
    """The run, for `thawed`: its values are read with the graph's serializer."""


def frozen(recording: Recording, *, graph: str, overrides: tuple[str, ...], serde: SerializerProtocol) -> str:
    """Write a run.

    Args:
        recording: The run.
        graph: The graph's import name, `module:attribute`.
        overrides: What its module's `build` was given.
        serde: The saver's serializer.

    Returns:
        The text of the file.

    Raises:
        CodecError: A value holds a type that could not be loaded again.
    """
    before = recording.before
    moments: list[Json] = []
    previous = before
    for moment in recording.moments:
        moments.append(_moment(moment, previous, serde))
        previous = moment
    body = {
        "stateward": KIND,
        "version": VERSION,
        "import": graph,
        "overrides": list(overrides),
        **{name: getattr(recording, name) for name in _PLAIN},
        "before": None if before is None else _moment(before, None, serde),
        "moments": moments,
        "calls": [asdict(call) for call in recording.calls],
        "asks": [asdict(ask) for ask in recording.asks],
        "letters": [asdict(letter) for letter in recording.letters],
        "notes": [dict(note) for note in recording.notes],
        **({"contexts": dict(recording.contexts)} if recording.contexts else {}),
    }
    return json.dumps(body, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def opened(text: str, *, where: str) -> Frozen:
    """Read the outside of a file: which graph plays it.

    Args:
        text: The file.
        where: Its name, for messages.

    Raises:
        CodecError: It is no frozen run, or one of another version.
    """
    try:
        body: Any = json.loads(text)
    except ValueError as broken:
        raise CodecError(f"The file is no JSON: {broken}", where=where, fix="Freeze the run again.") from broken
    if not isinstance(body, dict) or cast("Json", body).get("stateward") != KIND:
        raise CodecError("The file is no frozen run", where=where, fix="Write it with `stateward freeze SESSION FILE`.")
    form = cast("Json", body)
    if form.get("version") != VERSION:
        raise CodecError(
            f"The frozen run has version `{form.get('version')}`, this release reads `{VERSION}`",
            where=where,
            fix="Freeze it again with this release.",
        )
    return Frozen(graph=str(form["import"]), overrides=tuple(form["overrides"]), recording=form)


def thawed(frozen: Frozen, *, serde: SerializerProtocol, where: str) -> Recording:
    """Read the run in a file.

    Args:
        frozen: From `opened`.
        serde: The saver's serializer.
        where: The file's name, for messages.

    Raises:
        CodecError: The file is damaged.
    """
    try:
        return _thawed(frozen.recording, serde)
    except (KeyError, TypeError, ValueError) as broken:
        raise CodecError(f"The frozen run is damaged: {broken!r}", where=where, fix="Freeze it again.") from broken


def _thawed(form: Json, serde: SerializerProtocol) -> Recording:
    before = None if form["before"] is None else _moment_of(form["before"], None, serde)
    moments: list[Moment] = []
    previous = before
    for one in form["moments"]:
        previous = _moment_of(one, previous, serde)
        moments.append(previous)
    return Recording(
        **{name: form[name] for name in _PLAIN},
        before=before,
        moments=tuple(moments),
        calls=tuple(_entry(call) for call in form["calls"]),
        asks=tuple(_ask(ask) for ask in form["asks"]),
        letters=tuple(Letter(**letter) for letter in form["letters"]),
        notes=tuple(form["notes"]),
        contexts=form.get("contexts", {}),
    )


def _ask(form: Json) -> Ask:
    attributes: Json = {**form, "approvers": tuple(form["approvers"]), "barred": tuple(form.get("barred", ()))}
    attributes["answers"] = from_json(form["answers"]) if "answers" in form else _early(form)
    return Ask(**attributes)


def _early(form: Json) -> tuple[Given, ...]:
    """A file of an older release has the last answer only."""
    if form.get("decision") is None:
        return ()
    return (Given(by=form["by"], decision=form["decision"], note=form["note"], at=form["answered_at"] or 0.0),)


def _entry(form: Json) -> Entry:
    charges = tuple(Charge(**charge) for charge in form["charges"])
    attributes: Json = {**form, "key": CallKey(**form["key"]), "charges": charges}
    return Entry(**attributes)


_AS_IT_IS = ("step", "checkpoint", "source", "next", "resumed")


def _moment(moment: Moment, previous: Moment | None, serde: SerializerProtocol) -> Json:
    form: Json = {name: getattr(moment, name) for name in _AS_IT_IS}
    form["control"] = _changes(moment.control, previous.control if previous else {}, serde)
    form["values"] = _changes(moment.values, previous.values if previous else {}, serde)
    if moment.context:
        form["context"] = moment.context
    if moment.given is not None:
        form["given"] = written(moment.given, serde)
    if moment.resumed:
        form["payload"] = written(moment.payload, serde)
        form["update"] = [[key, written(value, serde)] for key, value in moment.update]
    return form


def _moment_of(form: Json, previous: Moment | None, serde: SerializerProtocol) -> Moment:
    attributes: Json = {name: form[name] for name in _AS_IT_IS if name != "next"}
    return Moment(
        **attributes,
        next=tuple(form["next"]),
        control=_changed(form["control"], previous.control if previous else {}, serde),
        values=_changed(form["values"], previous.values if previous else {}, serde),
        given=read(form.get("given"), serde),
        payload=read(form.get("payload"), serde),
        update=tuple((key, read(value, serde)) for key, value in form.get("update", ())),
        context=form.get("context", ""),
    )


def _changes(now: Mapping[str, Any], before: Mapping[str, Any], serde: SerializerProtocol) -> Json:
    form: Json = {}
    for key, value in now.items():
        old = before.get(key)
        if key in before and serde.dumps_typed(old) == serde.dumps_typed(value):
            continue
        form[key] = _added(value, old, serde)
    gone = [key for key in before if key not in now]
    return {**form, _GONE: gone} if gone else form


def _added(value: Any, old: Any, serde: SerializerProtocol) -> Any:
    """Of a list that has grown, only what is new."""
    if isinstance(value, list) and isinstance(old, list) and old:
        head = cast("list[Any]", value)[: len(cast("list[Any]", old))]
        if serde.dumps_typed(head) == serde.dumps_typed(old):
            return {_MORE: written(value[len(head) :], serde)}
    return written(value, serde)


def _changed(form: Json, before: Mapping[str, Any], serde: SerializerProtocol) -> Json:
    now = {key: value for key, value in before.items() if key not in form.get(_GONE, ())}
    for key, value in form.items():
        if key == _GONE:
            continue
        if isinstance(value, dict) and _MORE in value:
            now[key] = [*now[key], *read(cast("Json", value)[_MORE], serde)]
        else:
            now[key] = read(value, serde)
    return now
