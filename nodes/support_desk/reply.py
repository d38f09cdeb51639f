"""The reply: Jinja2 templates in five languages, filled from results only; a missing value is an error.

`templates/reply.j2` is the letter, `templates/<language>.j2` holds one macro for each sentence. Which sentences are
said is decided here, from outcomes and notes: nothing is promised that no tool has done.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from jinja2 import Environment, FileSystemLoader, StrictUndefined, TemplateError

from nodes.support_desk.outcome import Note, Outcome, belongs, orders_in
from nodes.support_desk.triage_rules import Sentiment
from stateward.errors import DefinitionError

TEMPLATES = Path(__file__).parent / "templates"
LANGUAGES = ("en", "de", "fr", "es", "it")
DAY_FORMATS: Mapping[str, str] = {"de": "{d}.{m}.{y}", "fr": "{d}/{m}/{y}", "es": "{d}/{m}/{y}", "it": "{d}/{m}/{y}"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence to say: a macro of the language's template and its values."""

    key: str
    values: Mapping[str, object]


def render_reply(
    outcomes: Sequence[Outcome],
    *,
    lang: str,
    name: str,
    customer: str,
    sentiment: Sentiment,
    notes: Sequence[Note] = (),
    needs_person: bool = False,
    escalated: bool = False,
    templates: Path = TEMPLATES,
) -> str:
    """Write the answer to the customer.

    Args:
        outcomes: What was done.
        lang: The customer's language; English when there is no template for it.
        name: The customer's name, or empty.
        customer: The customer's e-mail address; orders of other people are never described.
        sentiment: How the customer feels.
        notes: What was not done, and why.
        needs_person: Whether a person goes on.
        escalated: Whether the case has left the desk; then nothing else is said.
        templates: The folder of the templates.

    Returns:
        The letter, in plain text.

    Raises:
        DefinitionError: A template is missing or wrong, or a value it needs is missing.
    """
    language = lang if lang in LANGUAGES else "en"
    said = tuple(
        (Sentence(key="escalated", values={}),)
        if escalated
        else _sentences(outcomes, notes=notes, lang=language, customer=customer, needs_person=needs_person)
    )
    return _letter(said, lang=language, name=name, sentiment=sentiment, templates=templates)


def _letter(said: Sequence[Sentence], *, lang: str, name: str, sentiment: Sentiment, templates: Path) -> str:
    environment = Environment(
        loader=FileSystemLoader(templates), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["money"] = lambda amount: _money(cast(float, amount), lang=lang)
    environment.filters["day"] = lambda text: _day(str(text), lang=lang)
    try:
        text = environment.get_template("reply.j2").render(
            lang=lang, name=name, sorry=sentiment != "calm", sentences=said
        )
    except (TemplateError, TypeError) as error:
        raise DefinitionError(
            f"The reply cannot be written: {error}",
            where=str(templates),
            fix="Give the template the value it names, or take the name out.",
        ) from error
    return text.strip() + "\n"


def _sentences(
    outcomes: Sequence[Outcome], *, notes: Sequence[Note], lang: str, customer: str, needs_person: bool
) -> Iterator[Sentence]:
    for lookup in orders_in(outcomes).values():
        if lookup.done and belongs(lookup.value, customer=customer):
            yield Sentence(key=f"order_{lookup.value['status']}", values=_only(lookup, "order_id", "item", "eta"))
    for one in outcomes:
        yield from _effect(one)
    for note in notes:
        yield _noted(note, outcomes=outcomes)
    yield from _articles(outcomes, lang=lang)
    if needs_person or not outcomes:
        yield Sentence(key="colleague", values={})


def _effect(one: Outcome) -> Iterator[Sentence]:
    if one.tool not in EFFECTS:
        return
    if one.done:
        yield Sentence(key=f"{one.tool}_done", values=_only(one, *EFFECTS[one.tool]))
    elif one.status in ("denied", "rejected"):
        yield Sentence(key=f"{one.tool}_refused", values={})
    else:
        yield Sentence(key="effect_failed", values={})


EFFECTS: Mapping[str, tuple[str, ...]] = {
    "create_return": ("return_id", "item"),
    "issue_refund": ("refund_id", "order_id", "amount_eur"),
    "send_email": ("to",),
    "delete_account": ("email",),
}
"""What is said of an effect that was done."""

NOTE_VALUES: Mapping[str, tuple[str, ...]] = {
    "already_returned": ("return_id",),
    "already_refunded": ("refunded_eur",),
    "refund_after_return": ("return_id",),
}


def _only(one: Outcome, *names: str) -> Mapping[str, object]:
    # a name the result lacks stays out, so that the template reports it
    return {name: one.value[name] for name in names if name in one.value}


def _noted(note: Note, *, outcomes: Sequence[Outcome]) -> Sentence:
    lookup = orders_in(outcomes).get(note.order)
    more = _only(lookup, *NOTE_VALUES.get(note.code, ())) if lookup else dict[str, object]()
    about = {"order_id": note.order} if note.order else {}
    return Sentence(key=note.code, values={**about, **more})


def _articles(outcomes: Sequence[Outcome], *, lang: str) -> Iterator[Sentence]:
    for one in outcomes:
        answers = cast("Mapping[str, str]", one.value.get("answers", {}))
        if one.tool == "search_kb" and one.done and answers:
            yield Sentence(key="article", values={"text": answers.get(lang) or answers["en"]})


def _money(amount: float, *, lang: str) -> str:
    text = f"{amount:,.2f}"
    if lang == "en":
        return f"€{text}"
    return text.translate(str.maketrans({",": ".", ".": ","})) + " €"


def _day(text: str, *, lang: str) -> str:
    year, month, day = text.split("-")
    return DAY_FORMATS.get(lang, "{y}-{m}-{d}").format(y=year, m=month, d=day)
