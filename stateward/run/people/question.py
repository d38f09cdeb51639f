"""Questions to people, as an activity puts them with `run.ask`: may this be done, which of these, what is it to say.

A question is a value. Putting it is a call of the activity like any other: it has a number and a fingerprint, the
activity is suspended and entered again, and the journal answers what was answered before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypedDict, TypeVar, Unpack, cast, overload

from pydantic import BaseModel

from stateward.chart.argument import several, texts
from stateward.chart.delay import is_delay
from stateward.errors import CodecError, DefinitionError
from stateward.govern.json_schema import misfit
from stateward.govern.person import people, person
from stateward.run.people.answer import Approval, Review, Said, approval_of, form_of, plain_of, review_of, value_of
from stateward.run.store.fitted import is_sound
from stateward.run.store.json_text import read_json, write_json
from stateward.run.store.kept import unkept
from stateward.run.store.kind import APPROVE, CHOOSE, EDIT, REVIEW, TEXT, QuestionKind

T = TypeVar("T")
M = TypeVar("M")

EXPIRED = "ask.expired"
"""The event of a question that nobody answered in time and that has no default."""
REMINDER = "ask.reminder"
"""The event by which a chart, or whoever reads its timeline, is reminded of an open question."""


_WHERE = "run.ask"
_LONGEST_S = 100 * 365 * 86_400.0
"""Seconds, a hundred years: what waits longer waits for ever, and no calendar tells until when."""
_NOTHING = object()
"""Stands for a default that was not given."""


class When(TypedDict, total=False):
    """Who may answer, and by when."""

    approvers: Sequence[str]
    """Who may answer; empty or left out means anyone."""
    expires_s: float | None
    """Seconds an answer is waited for, > 0; None or left out for ever."""
    remind_s: Sequence[float]
    """Seconds, > 0, after which the chart gets `ask.reminder` while nobody has answered."""


class Voting(When, total=False):
    """Who may answer, by when, and how many."""

    approvals: int
    """How many different people must approve, ≥ 1; left out, one."""
    four_eyes: bool
    """Whether who gave the run its inputs, or edited what is approved, may not approve."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Who may answer a question, and by when."""

    approvers: tuple[str, ...] = ()
    """Who may answer; empty means anyone."""
    approvals: int = 1
    """How many different people must approve."""
    four_eyes: bool = False
    """Whether who gave the run its inputs may not approve."""
    expires_s: float | None = None
    """Seconds an answer is waited for; None for ever."""
    remind_s: tuple[float, ...] = ()
    """Seconds after which the chart gets the event `ask.reminder`, while nobody has answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(Generic[T]):
    """One question to a person; `run.ask` puts it."""

    kind: QuestionKind
    text: str
    """What the person reads."""
    tool: str
    """What is named in the place of a tool; of a review the tool that would be called."""
    says: Mapping[str, Any]
    """JSON. What else it says, as `store.kind` lists it."""
    read: Callable[[Said], T] = field(compare=False)
    """Makes what the activity gets; a `ValueError` of it has the question put once more, with what was wrong."""
    terms: Terms = field(default_factory=Terms)

    @property
    def arguments(self) -> dict[str, Any]:
        """All it says, as the ask keeps it."""
        reminders = {"remind_s": list(self.terms.remind_s)} if self.terms.remind_s else {}
        return {"question": self.text, **self.says, **reminders}


def approve(
    question: str,
    *,
    about: Mapping[str, Any] | None = None,
    default: bool | None = None,
    **terms: Unpack[Voting],
) -> Question[Approval]:
    """Ask whether something may be done.

    Args:
        question: What the person reads.
        about: JSON. What it is about, as the person sees it.
        default: What counts when nobody answers in time; None for nothing: the chart gets `ask.expired`.
        terms: Who may answer, by when, and how many must approve.

    Returns:
        The question; its answer is an `Approval`, which is true when it was approved.

    Raises:
        DefinitionError: An argument is none that a question can have.
    """
    if not isinstance(cast("object", default), bool | None):
        raise DefinitionError(f"The default is {default!r}", where=APPROVE, fix="Write True or False.")
    shown = {} if about is None else {"about": _fields(about, name="about", where=APPROVE)}
    says = {**shown, **({} if default is None else {"default": default})}
    return _made(APPROVE, question, says, approval_of, _terms(terms, of=Voting))


@overload
def edit(
    value: object, *, schema: type[M], question: str = ..., keep: bool = ..., **terms: Unpack[When]
) -> Question[M]: ...
@overload
def edit(
    value: T, *, schema: Mapping[str, Any] | None = None, question: str = ..., keep: bool = ..., **terms: Unpack[When]
) -> Question[T]: ...
def edit(
    value: object,
    *,
    schema: type[Any] | Mapping[str, Any] | None = None,
    question: str = "Edit this, or leave it as it is.",
    keep: bool = False,
    **terms: Unpack[When],
) -> Question[Any]:
    """Let a person edit a value.

    Args:
        value: JSON, or a Pydantic model.
        schema: What the value must be: a type, a Pydantic model for instance, or a JSON Schema; None for the type of
            a model that is given, else for any JSON.
        question: What the person reads.
        keep: Whether the value stays as it is when nobody answers in time; else the chart gets `ask.expired`.
        terms: Who may answer, and by when.

    Returns:
        The question; its answer is the value as it is then.

    Raises:
        DefinitionError: An argument is none that a question can have.
    """
    form = form_of(schema if schema is not None or not isinstance(value, BaseModel) else type(value), where=EDIT)
    plain = plain_of(value, form=form)
    says = {"value": plain, **form.says, **({"default": plain} if keep else {})}
    return _made(EDIT, question, says, value_of(form), _terms(terms))


def choose(
    question: str, options: Sequence[str], *, default: str | None = None, **terms: Unpack[When]
) -> Question[str]:
    """Let a person choose one of several.

    Args:
        question: What the person reads.
        options: At least two texts that differ by more than case.
        default: One of them, which counts when nobody answers in time; None for none: the chart gets `ask.expired`.
        terms: Who may answer, and by when.

    Returns:
        The question; its answer is one of the options.

    Raises:
        DefinitionError: An argument is none that a question can have.
    """
    listed = texts(options, name="options", expected="texts", where=CHOOSE)
    words = {option.strip().casefold() for option in listed} - {""}
    if len(listed) < 2 or len(words) < len(listed):
        raise DefinitionError(f"The options are {listed!r}", where=CHOOSE, fix="Give at least two different texts.")
    if default is not None and default not in listed:
        raise DefinitionError(f"The default `{default}` is none of the options", where=CHOOSE, fix="Name one of them.")
    says = {"options": listed, **({} if default is None else {"default": default})}
    return _made(CHOOSE, question, says, _text_of, _terms(terms))


@overload
def text(question: str, *, schema: type[M], default: object = ..., **terms: Unpack[When]) -> Question[M]: ...
@overload
def text(
    question: str, *, schema: Mapping[str, Any], default: object = ..., **terms: Unpack[When]
) -> Question[Any]: ...
@overload
def text(question: str, *, schema: None = None, default: str = ..., **terms: Unpack[When]) -> Question[str]: ...
def text(
    question: str,
    *,
    schema: type[Any] | Mapping[str, Any] | None = None,
    default: object = _NOTHING,
    **terms: Unpack[When],
) -> Question[Any]:
    """Ask a person for words, or for a value of a schema.

    Args:
        question: What the person reads.
        schema: What the answer must be: a type, a Pydantic model for instance, or a JSON Schema; None for text.
        default: JSON or a Pydantic model, which counts when nobody answers in time; left out, the chart gets
            `ask.expired`.
        terms: Who may answer, and by when.

    Returns:
        The question; its answer is the text, or the value.

    Raises:
        DefinitionError: An argument is none that a question can have.
    """
    form = form_of(schema, where=TEXT)
    says = {**form.says, **({} if default is _NOTHING else {"default": plain_of(default, form=form)})}
    return _made(TEXT, question, says, value_of(form), _terms(terms))


def review_call(
    tool: str,
    arguments: Mapping[str, Any],
    *,
    question: str = "",
    default: str | None = None,
    **terms: Unpack[Voting],
) -> Question[Review]:
    """Ask what becomes of a tool call before it is made: as it is, with other arguments, or something said instead.

    Args:
        tool: The tool that would be called.
        arguments: JSON. With what.
        question: What the person reads; empty for one that names the tool.
        default: `approve` or `reject`, which counts when nobody answers in time; None for none: the chart gets
            `ask.expired`.
        terms: Who may answer, by when, and how many must approve, also what somebody edited.

    Returns:
        The question; its answer is a `Review`.

    Raises:
        DefinitionError: An argument is none that a question can have.
    """
    if default not in (None, "approve", "reject"):
        raise DefinitionError(f"The default is `{default}`", where=REVIEW, fix="Write `approve` or `reject`.")
    if not isinstance(cast("object", tool), str) or not tool.strip():
        raise DefinitionError(f"{tool!r} names no tool", where=REVIEW, fix="Name the tool that would be called.")
    says = {
        "arguments": _fields(arguments, name="arguments", where=REVIEW),
        **({} if default is None else {"default": default}),
    }
    return _made(REVIEW, question or f"May `{tool}` be called?", says, review_of, _terms(terms, of=Voting), tool=tool)


def _made(
    kind: QuestionKind, text: str, says: Mapping[str, Any], read: Callable[[Said], T], terms: Terms, *, tool: str = ""
) -> Question[T]:
    if not isinstance(cast("object", text), str) or not text.strip():
        raise DefinitionError(f"The question is {text!r}", where=kind, fix="Write what the person is to read.")
    problem = "it has a NUL" if "\0" in text + tool else unkept({"text": text, "tool": tool, **says})
    if problem is not None:
        raise CodecError(
            f"A question cannot be kept: {problem}",
            where=kind,
            fix="Give whole characters, and JSON: numbers of 64 bits, lists, and mappings whose keys are texts.",
        )
    kept: Mapping[str, Any] = read_json(write_json(says, where=kind))  # as it will be read: no tuple, and nobody's own
    if kind in (TEXT, EDIT) and "default" in kept:
        _refuse_default(kind, kept, read)
    return Question(kind=kind, text=text, tool=tool or kind, says=kept, read=read, terms=terms)


def _refuse_default(kind: QuestionKind, says: Mapping[str, Any], read: Callable[[Said], object]) -> None:
    default, schema = says["default"], says.get("schema")
    problem = misfit(default, schema=schema) if schema is not None and is_sound(schema) else None
    if kind == TEXT and schema is None and not (isinstance(default, str) and default.strip()):
        problem = f"{default!r} is no text that says anything"
    try:
        read({"value": default})
    except ValueError as wrong:
        problem = str(wrong)
    if problem is not None:
        raise DefinitionError(f"The default does not fit: {problem}", where=kind, fix="Give one that does.")


def _fields(given: object, *, name: str, where: str) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise DefinitionError(f"`{name}` is {given!r}", where=where, fix="Give a mapping of names to JSON.")
    return dict(cast("Mapping[str, Any]", given))


def _terms(said: Voting | When, *, of: type[When] = When) -> Terms:
    given: Mapping[str, Any] = said
    _refuse_terms(given, known=tuple(of.__annotations__))
    names = tuple(texts(given.get("approvers", ()), name="approvers", expected="names", where=_WHERE))
    reminders = several(
        given.get("remind_s", ()), name="remind_s", expected="seconds", where=_WHERE, alone=(int, float)
    )
    expires_s, approvals = given.get("expires_s"), given.get("approvals", 1)
    for name, seconds in (("expires_s", expires_s), *(("remind_s", each) for each in reminders)):
        if seconds is not None and not (is_delay(seconds) and 0 < cast("float", seconds) <= _LONGEST_S):
            raise DefinitionError(
                f"`{name}` is {seconds!r}", where=_WHERE, fix="Give seconds above 0, and no more than a hundred years."
            )
    if not isinstance(approvals, int) or isinstance(approvals, bool) or approvals < 1:
        raise DefinitionError(f"`approvals` is {approvals!r}", where=_WHERE, fix="Give a whole number from 1.")
    nobody = next((name for name in names if not person(name)), None)
    if nobody is not None:
        raise DefinitionError(f"The approver {nobody!r} names nobody", where=_WHERE, fix="Name people.")
    if names and len(people(names)) < approvals:
        raise DefinitionError(
            f"{approvals} people must approve, and only {len(people(names))} may", where=_WHERE, fix="Name more."
        )
    return Terms(
        approvers=names,
        approvals=approvals,
        four_eyes=bool(given.get("four_eyes", False)),
        expires_s=expires_s,
        remind_s=tuple(sorted(cast("list[float]", reminders))),
    )


def _refuse_terms(given: Mapping[str, Any], *, known: Sequence[str]) -> None:
    """Refuse what nobody would read: who may answer would be anyone after all."""
    unread = next((name for name in given if name not in known), None)
    if unread is not None:
        listed = ", ".join(f"`{name}`" for name in known)
        raise DefinitionError(f"Such a question takes no `{unread}`", where=_WHERE, fix=f"It takes {listed}.")
    if not isinstance(given.get("four_eyes", False), bool):
        raise DefinitionError(f"`four_eyes` is {given['four_eyes']!r}", where=_WHERE, fix="Write True or False.")


def _text_of(said: Said) -> str:
    return str(said["value"])
