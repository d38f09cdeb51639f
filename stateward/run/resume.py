"""What a resumed wait is told: an event happened, or a person answered.

Accepted forms of LangGraph's `Command(resume=…)`:

| form | meaning |
|---|---|
| `"pause"` | the event `pause` without data |
| `{"event": "resume", "data": {"note": "…"}}` | an event with data |
| `"approve"` / `"reject"` | the answer to the only open ask |
| `{"answers": {ASK: "approve"}}` or `{ASK: {"decision": …, "note": …, "by": …}}` | answers by ask |
| `{"answers": {ASK: {"decision": "edit", "tool": …, "arguments": {…}}}}` | another call in the place of the one shown |
| `{"values": {ASK: VALUE, …}}` | what is said to questions of activities: a text, True or False, any JSON |
| `{"decisions": [{"type": "approve"}, …]}` | LangChain's human-in-the-loop form, in the order of the asks |
| `{"type": "edit", "edited_action": {"name": …, "args": {…}}}` | an edit in that form |
| `[{"type": "accept", "args": None}, …]` | what LangChain's Agent Inbox sends, in the order of the asks |
| `{"type": "approve", "by": …}` | one answer, in any of these words, to the only open ask |
| `{"answered": [ASK, …]}` | these asks were answered in the database |

Answers that name no ask are to those that are still open. Who answers stands beside the answer (`"by"`), beside the
answers, or as `approver` in the config's `configurable`. An answer may say which call it means (`"tool"`,
`"arguments"`): if it is no edit, one that means another than was shown is refused, and so is a key that nobody would
read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from stateward.chart.event import Occurrence, fitting, matches
from stateward.errors import InputRefused, NotExpected
from stateward.run.edited import refuse_misfit
from stateward.run.people.question import EXPIRED, REMINDER
from stateward.run.plan import Machine
from stateward.run.store.database import Database
from stateward.run.store.given import Given
from stateward.run.text import checked_text
from stateward.run.verdict import Answer, read_answer, refuse_unread

INPUT = "input"
"""The event that an input on a waiting session is."""
INTERNAL = ("done", "error", "fuse", "timeout", "unknown_after_crash", "after", EXPIRED, REMINDER)
"""What the kernel and the shell raise: completions, failures, tripped fuses, timers, news of questions."""
_SAID, _NOW, _MAIL = "__said", "__now", "__mail"
_FORMS = {
    "event": ("event", "data", "update"),
    "answered": ("answered",),
    "answers": ("answers", "by"),
    "values": ("values", "by"),
    "decisions": ("decisions", "by"),
}
"""What tells a form, and the keys that it has."""
_ALONE = ("type", "decision", "value")
"""What tells one answer that stands alone."""


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


def unwrapped(resume: Any) -> Any:  # JSON, or LangGraph's map of interrupt id to JSON
    """Take the payload out of LangGraph's map of interrupt id to value: a session waits in one place.

    Args:
        resume: What `Command(resume=…)` carried.
    """
    if isinstance(resume, Mapping) and len(cast("Mapping[str, Any]", resume)) == 1:
        key, value = next(iter(cast("Mapping[str, Any]", resume).items()))
        if len(key) == 32 and all(letter in "0123456789abcdef" for letter in key):
            return value
    return cast("Any", resume)


def read(
    payload: object,
    *,
    machine: Machine,
    asks: Sequence[str],
    unanswered: Sequence[str] | None = None,
    by: str = "",
) -> Resumption:
    """Bring a resume payload into its normal form.

    Args:
        payload: What `Command(resume=…)` carried.
        machine: The lowered chart, for the types of events.
        asks: The asks of the waiting state, in order.
        unanswered: Those of them that are still open, to which answers are that name none; None for all.
        by: Who answers, as the host knows it (`configurable.approver`); it stands above what the payload says.

    Returns:
        What it says.

    Raises:
        InputRefused: It is none of the forms, or an event's data does not fit its type.
        NotExpected: It answers, but nothing was asked, or not exactly one thing.
    """
    still = asks if unanswered is None else unanswered
    if isinstance(payload, str):
        return _word(payload, machine=machine, asks=still, by=by)
    if isinstance(payload, list):
        payload = _from_inbox(cast("list[object]", payload))
    if not isinstance(payload, Mapping):
        raise _unreadable(payload)
    form = cast("Mapping[str, Any]", payload)
    try:
        return _form(form, machine=machine, asks=asks, still=still, by=by)
    except (TypeError, AttributeError) as misshapen:
        raise _unreadable(form) from misshapen


def _form(
    form: Mapping[str, Any], *, machine: Machine, asks: Sequence[str], still: Sequence[str], by: str
) -> Resumption:
    kind = next((key for key in _FORMS if key in form), None)
    if kind is None and any(key in form for key in _ALONE):
        return Answers(answers=(read_answer(_only(form, asks=still), form, asks=asks, by=by),))
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
        given = _in_order(form["decisions"], asks=still)
    elif kind == "values":
        values = cast("Mapping[str, Any]", form["values"])
        given = tuple((ask, {"value": value}) for ask, value in values.items())
    else:
        given = tuple(cast("Mapping[str, Any]", form["answers"]).items())
    if not given:
        raise InputRefused(f"{form!r} answers nothing", fix=f"Open asks: {', '.join(still) or 'none'}.")
    return Answers(answers=tuple(read_answer(ask, said, asks=asks, by=by, stated=stated) for ask, said in given))


def _word(word: str, *, machine: Machine, asks: Sequence[str], by: str) -> Resumption:
    if word in ("approve", "reject") and asks:
        return Answers(answers=(read_answer(_only(word, asks=asks), word, asks=asks, by=by),))
    return Happened(event=occurrence(word, None, machine=machine))


def _only(said: object, *, asks: Sequence[str]) -> str:
    if len(asks) == 1:
        return asks[0]
    shown = f"`{said}`" if isinstance(said, str) else repr(said)
    if not asks:
        raise NotExpected(f"{shown} is an answer, and nobody is asked anything", fix="Send an event that is awaited.")
    raise NotExpected(
        f"{shown} answers one ask, but {len(asks)} are open: {', '.join(asks)}",
        fix='Name them: {"answers": {ASK: "approve", …}}.',
    )


def _from_inbox(given: Sequence[object]) -> Mapping[str, Any]:
    if not given or not all(isinstance(one, Mapping) for one in given):
        raise _unreadable(given)
    return {"decisions": given}


def _in_order(given: Sequence[object], *, asks: Sequence[str]) -> Sequence[tuple[str, object]]:
    if isinstance(given, str | Mapping):
        raise _unreadable({"decisions": given})
    if len(given) != len(asks):
        raise NotExpected(
            f"{len(given)} answers for {len(asks)} open asks",
            fix=f"Send one for each, in this order: {', '.join(asks)}." if asks else "Send an event that is awaited.",
        )
    return tuple(zip(asks, given, strict=True))


def _unreadable(payload: object) -> InputRefused:
    return InputRefused(
        f"The session cannot be resumed with {payload!r}",
        fix='Send an event name or {"event": NAME, "data": {…}}, or an answer: {"type": "approve", "by": PERSON}, '
        '{"decisions": [{"type": "approve"}], "by": PERSON} or {"answers": {ASK: "approve"}, "by": PERSON}.',
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
    return fitting(Occurrence(name=name, data=data), kind=machine.chart.events.get(name))


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


def still_open(database: Database, asks: Sequence[str]) -> Sequence[str]:
    """Return the asks that an answer may be to which names none; blocking.

    Args:
        database: Where the asks are.
        asks: The asks of the waiting states, in order.

    Returns:
        Those that nobody has answered; all where there is none, so that an answer is told what became of its ask.
    """
    found = ((ask, database.asks.find(ask)) for ask in asks)
    return [ask for ask, kept in found if kept is None or kept.status == "open"] or asks


def claim(database: Database, answers: Answers, *, machine: Machine) -> Answered:
    """Record answers in the database; each ask takes as many as it needs.

    Args:
        database: Where the asks are.
        answers: What people said.
        machine: The lowered chart.

    Returns:
        The ids of the answered asks.

    Raises:
        AskClosed: One was answered, withdrawn or expired before; none was recorded, unless that came between.
        InputRefused: One means another call than it was asked about, or one that cannot be made; none was recorded.
        GovernanceError: Somebody may not answer; none was recorded.
    """
    for one in answers.answers:
        said = Given(by=one.by, decision=one.decision, note=one.note, **one.edit)
        refuse_misfit(machine, database.asks.get(one.ask), said, tool=one.tool, arguments=one.arguments)
    for one in answers.answers:
        database.asks.answer(one.ask, decision=one.decision, by=one.by, note=one.note, **one.edit)
    return Answered(asks=tuple(answer.ask for answer in answers.answers))
