"""What a resumed wait is told: an event happened, or a person answered.

Accepted forms of LangGraph's `Command(resume=…)`:

| form | meaning |
|---|---|
| `"pause"` | the event `pause` without data |
| `{"event": "resume", "data": {"note": "…"}}` | an event with data |
| `"approve"` / `"reject"` | the answer to the only open ask |
| `{"answers": {ASK: "approve"}}` or `{ASK: {"decision": …, "note": …, "by": …}}` | answers by ask |
| `{"answers": {ASK: {"decision": "edit", "tool": …, "arguments": {…}}}}` | another call in the place of the one shown |
| `{"decisions": [{"type": "approve"}, …]}` | LangChain's human-in-the-loop form, in the order of the asks |
| `{"type": "edit", "edited_action": {"name": …, "args": {…}}}` | an edit in that form |
| `{"answered": [ASK, …]}` | these asks were answered in the database |

Who answers stands beside the answer (`"by"`), beside the answers, or as `approver` in the config's `configurable`. An
answer may say which call it means (`"tool"`, `"arguments"`): if it is no edit, one that means another than was shown is
refused, and so is a key that nobody would read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from pydantic import ValidationError

from stateward.chart.event import Occurrence, matches
from stateward.errors import InputRefused, NotExpected
from stateward.run.edited import refuse_misfit
from stateward.run.plan import Machine
from stateward.run.store.database import Database
from stateward.run.text import checked_text
from stateward.run.verdict import Answer, from_langchain, read_answer, refuse_unread

INPUT = "input"
"""The event that an input on a waiting session is."""
INTERNAL = ("done", "error", "fuse", "timeout", "unknown_after_crash", "after")
"""What the kernel and the shell raise: completions, failures, tripped fuses, timers."""
_SAID, _NOW, _MAIL = "__said", "__now", "__mail"
_FORMS = {
    "event": ("event", "data", "update"),
    "answered": ("answered",),
    "answers": ("answers", "by"),
    "decisions": ("decisions", "by"),
}
"""What tells a form, and the keys that it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Happened:
    """An event, with the update of the state that came with it."""

    event: Occurrence
    update: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """Answers that are not yet in the database."""

    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """Asks that were answered in the database."""

    asks: tuple[str, ...]


Resumption = Happened | Answers | Answered


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """What is taken before whatever the caller brings, as admission found it; the node that is resumed takes it."""

    now: float
    """Timers that are due by then, in seconds since the epoch."""
    mail: int
    """Events of the mailbox up to this number."""


def enveloped(payload: object, before: Before | None) -> object:
    """Make what a wait is resumed with.

    Args:
        payload: What the caller brings, in any of the forms; None for nothing.
        before: What comes first; None for nothing.
    """
    return payload if before is None else {_SAID: payload, _NOW: before.now, _MAIL: before.mail}


def opened(payload: object) -> tuple[Any, Before | None]:
    """Read what `enveloped` made: the payload, and what comes before it.

    Args:
        payload: What a wait was resumed with.
    """
    form: Mapping[str, Any] = cast("Mapping[str, Any]", payload) if isinstance(payload, Mapping) else {}
    if set(form) == {_SAID, _NOW, _MAIL}:
        return form[_SAID], Before(now=form[_NOW], mail=form[_MAIL])
    return cast("Any", payload), None


def read(payload: object, *, machine: Machine, asks: Sequence[str], by: str = "") -> Resumption:
    """Bring a resume payload into its normal form.

    Args:
        payload: What `Command(resume=…)` carried.
        machine: The lowered chart, for the types of events.
        asks: The open asks of the waiting state, in order.
        by: Who answers, as the host knows it (`configurable.approver`); it stands above what the payload says.

    Returns:
        What it says.

    Raises:
        InputRefused: It is none of the forms, or an event's data does not fit its type.
        NotExpected: It answers, but nothing was asked, or not exactly one thing.
    """
    if isinstance(payload, str):
        return _word(payload, machine=machine, asks=asks, by=by)
    if not isinstance(payload, Mapping):
        raise _unreadable(payload)
    payload = cast("Mapping[str, Any]", payload)
    try:
        return _form(payload, machine=machine, asks=asks, by=by)
    except (TypeError, AttributeError) as misshapen:
        raise _unreadable(payload) from misshapen


def _form(form: Mapping[str, Any], *, machine: Machine, asks: Sequence[str], by: str) -> Resumption:
    kind = next((key for key in _FORMS if key in form), None)
    if kind is None:
        raise _unreadable(form)
    refuse_unread(form, _FORMS[kind], what=f"A session that is resumed with `{kind}`")
    if kind == "event":
        return Happened(
            event=occurrence(str(form["event"]), form.get("data"), machine=machine),
            update=form.get("update") or {},
        )
    if kind == "answered":
        return Answered(asks=tuple(str(ask) for ask in form["answered"]))
    stated = "" if form.get("by") is None else checked_text(form["by"], what="`by`")
    if kind == "decisions":
        given = _decisions(form["decisions"], asks=asks)
    else:
        given = tuple(cast("Mapping[str, Any]", form["answers"]).items())
    if not given:
        raise InputRefused(f"{form!r} answers nothing", fix=f"Open asks: {', '.join(asks) or 'none'}.")
    return Answers(answers=tuple(read_answer(ask, said, asks=asks, by=by, stated=stated) for ask, said in given))


def _word(word: str, *, machine: Machine, asks: Sequence[str], by: str) -> Resumption:
    if word in ("approve", "reject") and asks:
        if len(asks) > 1:
            raise NotExpected(
                f"`{word}` answers one ask, but {len(asks)} are open: {', '.join(asks)}",
                fix='Name them: {"answers": {ASK: "approve", …}}.',
            )
        return Answers(answers=(read_answer(asks[0], word, asks=asks, by=by),))
    return Happened(event=occurrence(word, None, machine=machine))


def _decisions(given: Sequence[Mapping[str, Any]], *, asks: Sequence[str]) -> Sequence[tuple[str, object]]:
    if len(given) != len(asks):
        raise NotExpected(f"{len(given)} decisions for {len(asks)} open asks", fix="Send one for each, in order.")
    return tuple((ask, from_langchain(one)) for ask, one in zip(asks, given, strict=True))


def _unreadable(payload: object) -> InputRefused:
    return InputRefused(
        f"The session cannot be resumed with {payload!r}",
        fix='Send an event name, {"event": NAME, "data": {…}} or {"answers": {ASK: "approve"}}.',
    )


def occurrence(name: str, data: object, *, machine: Machine) -> Occurrence:
    """Make the happening of an event that came from outside, validated against its type.

    Args:
        name: The event's name.
        data: JSON, or None.
        machine: The lowered chart.

    Returns:
        The happening.

    Raises:
        InputRefused: The data does not fit the event's type.
        NotExpected: The event is one that only the chart itself raises.
    """
    if is_internal(name):
        raise NotExpected(
            f"`{name}` is an event that only the chart itself raises", fix="Send one of the events it awaits."
        )
    kind = machine.chart.events.get(name)
    if kind is None:
        return Occurrence(name=name, data=data)
    if isinstance(data, kind):
        return Occurrence(name=name, data=data)
    try:
        return Occurrence(name=name, data=kind.model_validate({} if data is None else data))
    except ValidationError as misfit:
        problem = misfit.errors(include_url=False)[0]
        place = ".".join(str(part) for part in problem["loc"]) or "data"
        raise InputRefused(
            f"The data of event `{name}` does not fit `{kind.__name__}`: {place}: {problem['msg']}",
            fix=f"Its fields: {', '.join(kind.model_fields) or 'none'}.",
        ) from misfit


def known_event(machine: Machine, name: str, data: object) -> Occurrence:
    """Make the happening of an event that some transition of the chart names, for a sender who cannot try it now.

    Args:
        machine: The lowered chart.
        name: The event's name.
        data: JSON, or None.

    Returns:
        The happening.

    Raises:
        InputRefused: The data does not fit the event's type.
        NotExpected: No transition of the chart reacts to such an event, or only the chart itself raises it.
    """
    happened = occurrence(name, data, machine=machine)
    if any(matches((event,), name=name) for event in machine.chart.events):
        return happened
    names = sorted(event for event in machine.chart.events if not is_internal(event))
    raise NotExpected(
        f"No transition of chart `{machine.name}` reacts to the event `{name}`",
        fix=f"Its events: {', '.join(names) or 'none'}.",
    )


def is_internal(name: str) -> bool:
    """Whether an event is the chart's own news, which nobody outside may claim to be.

    Args:
        name: The event's name, or what a transition says it reacts to.
    """
    return any(name == kind or name.startswith(f"{kind}.") for kind in INTERNAL)


def claim(database: Database, answers: Answers, *, machine: Machine) -> Answered:
    """Record answers in the database; each ask takes as many as it needs.

    Args:
        database: Where the asks are.
        answers: What people said.
        machine: The lowered chart.

    Returns:
        The ids of the answered asks.

    Raises:
        AskClosed: One was answered, withdrawn or expired before; earlier ones of this call stay answered.
        InputRefused: One means another call than it was asked about, or one that cannot be made; none was recorded.
        GovernanceError: Somebody may not answer; earlier ones of this call stay answered.
    """
    for one in answers.answers:
        refuse_misfit(machine, database.asks.get(one.ask), one.decision, tool=one.tool, arguments=one.arguments)
    for one in answers.answers:
        database.asks.answer(one.ask, decision=one.decision, by=one.by, note=one.note, **one.edit)
    return Answered(asks=tuple(answer.ask for answer in answers.answers))
