"""Questions as values: what they say, and what none can say."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, Field, computed_field

from stateward import ask
from stateward.errors import CodecError, DefinitionError


class Trip(BaseModel):
    """What is planned."""

    city: str
    days: int = 1


def test_a_question_says_what_its_ask_keeps() -> None:
    """Plain JSON; what was not given is left out."""
    assert ask.approve("Go?").arguments == {"question": "Go?"}
    assert ask.choose("Which?", ["a", "b"], default="b").arguments == {
        "question": "Which?",
        "options": ["a", "b"],
        "default": "b",
    }
    review = ask.review_call("pay", {"eur": 3}, remind_s=[60, 5])
    assert (review.tool, review.arguments["arguments"], review.arguments["remind_s"]) == ("pay", {"eur": 3}, [5, 60])


def test_a_model_brings_its_own_schema() -> None:
    """A value that is edited may be one, and so may a default."""
    edit = ask.edit(Trip(city="Rome"), keep=True)
    assert edit.says["value"] == edit.says["default"] == {"city": "Rome", "days": 1}
    assert edit.says["schema"]["required"] == ["city"]
    assert ask.text("Where?", schema=Trip, default=Trip(city="Oslo")).says["default"] == {"city": "Oslo", "days": 1}


def test_a_question_keeps_what_it_was_made_of() -> None:
    """What changes afterwards changes nothing, and a tuple is a list as JSON has it."""
    about = {"items": [1]}
    question = ask.approve("Go?", about=about)
    about["items"].append(2)
    assert question.says["about"] == {"items": [1]}
    assert ask.text("Which?", schema={"type": "array"}, default=("a",)).says["default"] == ["a"]


class Opaque:
    """What Pydantic knows nothing of."""


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: ask.approve(" "), "question"),
        (lambda: ask.approve("Go?", approvals=0), "`approvals` is 0"),
        (lambda: ask.approve("Go?", approvals=True), "`approvals` is True"),
        (lambda: ask.approve("Go?", approvals=2, approvers=["ann", "Ann "]), "only 1 may"),
        (lambda: ask.approve("Go?", expires_s=0), "`expires_s` is 0"),
        (lambda: ask.approve("Go?", remind_s=[5, -1]), "`remind_s` is -1"),
        (lambda: ask.approve("Go?", approvers=[3]), "`approvers` is 3"),  # pyright: ignore[reportArgumentType]
        (lambda: ask.choose("Which?", ["a"]), "The options"),
        (lambda: ask.choose("Which?", ["a", "A "]), "The options"),
        (lambda: ask.choose("Which?", ["a", "b"], default="c"), "none of the options"),
        (lambda: ask.text("Which?", schema={"typo": 1}), "schema"),
        (lambda: ask.text("Which?", schema=Trip, default={"days": 2}), "default does not fit: city"),
        (lambda: ask.text("Which?", schema=Opaque), "no type that an answer could have"),
        (lambda: ask.review_call("pay", {}, default="edit"), "The default is `edit`"),
        (lambda: ask.approve("Go?", default="no"), "The default is 'no'"),  # pyright: ignore[reportArgumentType]
        (lambda: ask.approve("Go?", about=[1]), "`about` is"),  # pyright: ignore[reportArgumentType]
        (lambda: ask.approve("Go?", approver="bob"), "no `approver`"),  # pyright: ignore[reportCallIssue, reportUnknownLambdaType]
        (lambda: ask.text("Go?", approvals=2), "no `approvals`"),  # pyright: ignore[reportCallIssue, reportUnknownLambdaType]
        (lambda: ask.approve("Go?", four_eyes="no"), "`four_eyes` is 'no'"),  # pyright: ignore[reportArgumentType]
        (lambda: ask.approve("Go?", approvers=["ann", "\u200b"]), "names nobody"),
        (lambda: ask.approve("Go?", expires_s=1e18), "`expires_s` is 1e"),
        (lambda: ask.review_call(" ", {}), "names no tool"),
        (lambda: ask.text("City?", default=" "), "default does not fit"),
        (lambda: ask.text("City?", default=5), "default does not fit"),  # pyright: ignore[reportCallIssue, reportArgumentType]
        (lambda: ask.text("Days?", schema={"type": "integer"}, default="x"), "default does not fit"),
        (lambda: ask.edit({"days": 1}, schema=Trip, keep=True), "default does not fit: city"),
    ],
)
def test_what_no_question_can_say_is_refused(make: Any, why: str) -> None:
    """When it is made, so that nobody is asked."""
    with pytest.raises(DefinitionError, match=why):
        make()


@pytest.mark.parametrize("about", [{"when": {1, 2}}, {"n": 10**30}, {"n": float("nan")}, {1: 2}, {"text": "\ud800"}])
def test_what_cannot_be_kept_is_refused(about: Any) -> None:
    """A question lies in the database until it is answered."""
    with pytest.raises(CodecError):
        ask.approve("Go?", about=about)


@pytest.mark.parametrize("text", ["City\ud800?", "City\0?"])
def test_a_text_that_no_database_keeps_is_refused(text: str) -> None:
    """A model may have written it."""
    with pytest.raises(CodecError):
        ask.text(text)


class Named(BaseModel):
    """What JSON names otherwise than Python, with something that is computed."""

    begin: str = Field(alias="from")

    @computed_field
    @property
    def size(self) -> int:
        return len(self.begin)


def test_a_model_is_shown_in_the_words_of_its_schema() -> None:
    """So that it fits when it is left as it is."""
    edit = ask.edit(Named.model_validate({"from": "Rome"}), keep=True)
    assert edit.says["value"] == {"from": "Rome"}
    assert edit.read({"value": edit.says["value"]}).begin == "Rome"
