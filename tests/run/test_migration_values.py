"""The keys of a migrated session under another schema."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Annotated, Any

import pytest
from pydantic import BaseModel
from typing_extensions import TypedDict

import stateward as sw
from stateward.errors import Drift, InputRefused
from stateward.migration import Migration
from tests.charts.migrated import Drive, migrate, notes


class Old(TypedDict, total=False):
    """As it was."""

    question: str
    notes: Annotated[list[str], operator.add]
    talk: sw.Messages
    count: int


class New(TypedDict, total=False):
    """As it is."""

    query: str
    log: Annotated[list[str], operator.add]
    messages: sw.Messages
    count: int


class Strict(BaseModel):
    """A model with a key that no session has had."""

    query: str = ""
    count: int = 0
    owner: str


NAMES = {"question": "query", "notes": "log", "talk": "messages"}


def write(state: Any) -> Any:
    return {"notes": ["a"], "talk": [("user", "hello")], "count": 3}


def add(state: Any) -> Any:
    return {"log": ["b"], "messages": [("ai", "hi")]}


def chart(schema: type[Any], do: Any, *, first: Sequence[Any] = ()) -> Any:
    """One state that works and then waits for `more`."""
    state = sw.State("WORK", do=do, on=[sw.on("more", "WORK"), sw.on("end", "DONE")])
    return sw.Chart("keys", schema, state, sw.Final("DONE")).compile()


def nothing(state: Any) -> None:
    """Do nothing."""


def begun(drive: Drive) -> None:
    drive(chart(Old, write)).start({"question": "why"})


def test_renamed_keys_keep_their_values(drive: Drive) -> None:
    """Text, lists with a reducer, and messages."""
    begun(drive)
    driven = drive(chart(New, add))
    migrate(driven, Migration(keys=NAMES))
    values = driven.session.outcome().values
    assert (values["query"], values["log"], values["count"]) == ("why", ["a"], 3)
    assert [message.content for message in values["messages"]] == ["hello"]


def test_what_is_added_afterwards_is_added_to_them(drive: Drive) -> None:
    """The reducer goes on from the value that was renamed."""
    begun(drive)
    driven = drive(chart(New, add))
    migrate(driven, Migration(keys=NAMES))
    values = driven.resume("more").values
    assert (values["log"], [message.content for message in values["messages"]]) == (["a", "b"], ["hello", "hi"])


def test_a_key_that_is_gone_is_refused(drive: Drive) -> None:
    """Its value would be lost silently."""
    begun(drive)
    driven = drive(chart(New, add))
    before = len(driven.checkpoints)
    with pytest.raises(Drift, match=r'key `question`.*keys=\{"question": "NEW"\}'):
        migrate(driven, Migration(keys={"notes": "log", "talk": "messages"}))
    assert len(driven.checkpoints) == before


def test_a_key_may_be_left_behind(drive: Drive) -> None:
    """And later migrations do not ask for it again."""
    begun(drive)
    driven = drive(chart(New, add))
    report = migrate(driven, Migration(keys={**NAMES, "question": None}))
    again = drive(sw.Chart("keys", New, sw.State("WORK", on=[sw.on("end", "DONE")]), sw.Final("DONE")).compile())
    assert (("question", "") in notes(report, "key"), migrate(again).status_word) == (True, "migrated")
    assert "query" not in again.session.outcome().values


def test_a_value_that_does_not_fit_its_type_is_refused(drive: Drive) -> None:
    """Before anything is written; another may be given."""

    class Worded(New, total=False):
        count: list[str]  # pyright: ignore[reportIncompatibleVariableOverride]  # another type on purpose

    begun(drive)
    driven = drive(chart(Worded, add))
    with pytest.raises(Drift, match=r"`count` does not fit.*values="):
        migrate(driven, Migration(keys=NAMES))
    migrate(driven, Migration(keys=NAMES, values={"count": ["three"]}))
    assert driven.session.outcome().values["count"] == ["three"]


def test_a_key_that_is_new_and_needed_gets_a_value(drive: Drive) -> None:
    """A model that would not be made is refused."""
    begun(drive)
    driven = drive(chart(Strict, nothing))
    names = {"question": "query", "notes": None, "talk": None}
    with pytest.raises(Drift, match=r"owner.*Give what is missing"):
        migrate(driven, Migration(keys=names))
    migrate(driven, Migration(keys=names, values={"owner": "ann"}))
    assert driven.resume("end").status == "completed"


@pytest.mark.parametrize(
    ("migration", "said"),
    [
        (Migration(keys={**NAMES, "question": "nobody"}), "does not declare `nobody`"),
        (Migration(keys={**NAMES, "count": "query"} | {"question": None}), "still declares it"),
        (Migration(keys=NAMES, values={"nobody": 1}), "does not declare `nobody`"),
        (Migration(keys=NAMES, values={"count": "many"}), "does not fit"),
    ],
)
def test_a_declaration_that_fits_nothing_is_refused(drive: Drive, migration: Migration, said: str) -> None:
    """Keys that the schema does not have, and values that it would not take."""
    begun(drive)
    with pytest.raises(Drift, match=said):
        migrate(drive(chart(New, add)), migration)


def test_two_keys_cannot_become_one() -> None:
    """One of the values would be lost."""
    with pytest.raises(InputRefused, match="Several keys become `query`"):
        Migration(keys={"question": "query", "notes": "query"})
