"""The reply: letters in five languages, filled from results only."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import get_args

import pytest
from jinja2 import Environment, FileSystemLoader, nodes

from nodes.support_desk.outcome import Note, NoteCode, Outcome, outcome
from nodes.support_desk.reply import EFFECTS, LANGUAGES, TEMPLATES, render_reply
from nodes.support_desk.stock import Status
from stateward.errors import DefinitionError

ORDER = {
    "order_id": "A-10221",
    "customer": "beth.carver@example.com",
    "item": "Coffee machine",
    "status": "delivered",
    "eta": "2026-02-13",
    "amount_eur": 1129.0,
    "refunded_eur": 129.0,
    "return_id": "R-10221",
}


def _lookup(**changes: object) -> Outcome:
    value = {**ORDER, **changes}
    return outcome("lookup_order", arguments={"order_id": "A-10221"}, status="ok", value=value)


def _refund(status: str = "ok") -> Outcome:
    value = {"refund_id": "F-10221-1", "order_id": "A-10221", "amount_eur": 1129.0}
    return outcome("issue_refund", arguments={}, status=status, value=value if status == "ok" else None)


def _reply(*outcomes: Outcome, lang: str = "en", notes: tuple[Note, ...] = (), escalated: bool = False) -> str:
    return render_reply(
        outcomes,
        lang=lang,
        name="Beth Carver",
        customer="beth.carver@example.com",
        sentiment="calm",
        notes=notes,
        escalated=escalated,
    )


def _macros(lang: str) -> dict[str, tuple[str, ...]]:
    source = (TEMPLATES / f"{lang}.j2").read_text(encoding="utf-8")
    tree = Environment(loader=FileSystemLoader(TEMPLATES)).parse(source)
    return {m.name: tuple(a.name for a in m.args) for m in tree.find_all(nodes.Macro)}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_language_has_the_same_sentences(lang: str) -> None:
    """No language lacks a macro or a value that English has."""
    assert _macros(lang) == _macros("en")


def test_every_note_status_and_effect_has_its_sentence() -> None:
    """Whatever happens can be said."""
    wanted = {*get_args(NoteCode), *(f"order_{status}" for status in get_args(Status))}
    wanted |= {f"{tool}_{end}" for tool in EFFECTS for end in ("done", "refused")}
    assert wanted - set(_macros("en")) == set()


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("code", get_args(NoteCode))
def test_every_note_can_be_said_in_every_language(lang: str, code: NoteCode) -> None:
    """No value is missing."""
    order = "" if code == "ask_order" else "A-10221"
    assert _reply(_lookup(), lang=lang, notes=(Note(code=code, order=order),))


@pytest.mark.parametrize(("lang", "amount"), [("en", "€1,129.00"), ("de", "1.129,00 €"), ("it", "1.129,00 €")])
def test_amounts_are_written_as_the_language_does(lang: str, amount: str) -> None:
    """Points and commas follow the reader."""
    assert amount in _reply(_lookup(), _refund(), lang=lang)


def test_a_refund_is_promised_only_when_it_was_made() -> None:
    """A refused and a failed refund say so."""
    assert "We have refunded" in _reply(_refund())
    assert "was not approved" in _reply(_refund("rejected"))
    assert "nothing of it has been promised" in _reply(_refund("unknown"))


def test_orders_of_other_people_are_not_described() -> None:
    """A reply never carries what a stranger bought."""
    text = _reply(_lookup(customer="else@example.com"), notes=(Note(code="not_yours", order="A-10221"),))
    assert "Coffee machine" not in text
    assert "does not belong" in text


def test_an_unknown_language_is_answered_in_english() -> None:
    """Nobody is left without an answer."""
    assert _reply(_lookup(), lang="pt").startswith("Hello Beth Carver,")


def test_an_escalated_case_promises_nothing() -> None:
    """Only the hand-over is said."""
    text = _reply(_lookup(), _refund(), escalated=True)
    assert "senior colleague" in text
    assert "A-10221" not in text


def test_a_name_is_text_and_never_a_template() -> None:
    """What customers write is not evaluated."""
    text = render_reply(
        (), lang="en", name="{{ 7 * 7 }}", customer="a@example.com", sentiment="angry", needs_person=True
    )
    assert "{{ 7 * 7 }}" in text
    assert "sorry" in text


def test_a_missing_value_is_an_error() -> None:
    """A result without its order's item cannot be written about."""
    broken = {name: value for name, value in ORDER.items() if name != "item"}
    one = outcome("lookup_order", arguments={"order_id": "A-10221"}, status="ok", value=broken)
    with pytest.raises(DefinitionError, match="item"):
        _reply(one)


def test_a_variable_nobody_gives_is_an_error(tmp_path: Path) -> None:
    """Templates are strict."""
    folder = Path(shutil.copytree(TEMPLATES, tmp_path / "templates"))
    with (folder / "reply.j2").open("a", encoding="utf-8") as stream:
        stream.write("{{ weather }}")
    with pytest.raises(DefinitionError, match="weather"):
        render_reply((), lang="en", name="", customer="", sentiment="calm", templates=folder)
