"""What an answer makes of an ask: as many people as it needs, each once, and not those who may not."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.errors import AskClosed, GovernanceError
from stateward.govern.fingerprint import fingerprint
from stateward.run.store.database import open_database
from stateward.run.store.given import Given
from stateward.run.store.taken import taken
from tests.run.store.desk import Fresh, ask


def test_an_ask_stays_open_until_enough_people_have_approved(fresh: Fresh) -> None:
    """It says how far it is."""
    database = fresh()
    (asked,) = database.asks.create([ask(approvals=2)])
    assert asked.progress == "0 of 2"
    first = database.asks.answer(asked.id, decision="approve", by="ann")
    assert (first.status, first.progress, first.decision) == ("open", "1 of 2", None)
    assert database.asks.open() == (first,)
    second = database.asks.answer(asked.id, decision="approve", by="bob")
    assert (second.status, second.decision, second.by) == ("answered", "approve", "bob")
    assert database.asks.get(asked.id) == second
    with pytest.raises(AskClosed):
        database.asks.answer(asked.id, decision="approve", by="cyd")


@pytest.mark.parametrize("name", ["ann", "Ann", "ANN", " ann ", "ａｎｎ", "an\u200bn", "aⁿn"])
def test_one_person_approves_once(fresh: Fresh, name: str) -> None:
    """A look-alike of the name is the same person, and the ask stays open."""
    database = fresh()
    (asked,) = database.asks.create([ask(approvals=2)])
    database.asks.answer(asked.id, decision="approve", by="ann")
    with pytest.raises(GovernanceError, match=r"approved ask .* already; it has 1 of 2"):
        database.asks.answer(asked.id, decision="approve", by=name)
    assert database.asks.get(asked.id).status == "open"


def test_one_rejection_ends_it(fresh: Fresh) -> None:
    """Also of somebody who has approved before."""
    database = fresh()
    (asked,) = database.asks.create([ask(approvals=3)])
    database.asks.answer(asked.id, decision="approve", by="ann")
    ended = database.asks.answer(asked.id, decision="reject", by="ann", note="no, sorry")
    assert (ended.status, ended.decision, ended.note) == ("answered", "reject", "no, sorry")


@pytest.mark.parametrize("decision", ["approve", "respond"])
def test_who_is_barred_may_not_approve(fresh: Fresh, decision: Any) -> None:
    """Nor stand in for the tool; whoever wants it stopped is heard."""
    database = fresh()
    (asked,) = database.asks.create([ask(barred=("Ann",))])
    with pytest.raises(GovernanceError, match="four eyes"):
        database.asks.answer(asked.id, decision=decision, by="ann", note="done")
    assert database.asks.answer(asked.id, decision="reject", by="ann").status == "answered"


def test_every_answer_is_in_the_audit_log(fresh: Fresh) -> None:
    """With who gave it, and how far the ask was then."""
    database = fresh()
    (asked,) = database.asks.create([ask(approvals=2)])
    for name in ("ann", "bob"):
        database.asks.answer(asked.id, decision="approve", by=name)
    told = [
        (row.record["event"], row.record.get("by"), row.record.get("approvals")) for row in database.audit.rows("s")
    ]
    assert told == [("asked", None, None), ("approved", "ann", "1 of 2"), ("answered", "bob", "2 of 2")]


def test_an_edit_is_audited_with_both_calls(fresh: Fresh) -> None:
    """What was shown, and what is wanted; secrets are taken out of both."""
    database = fresh()
    database.asks.create([ask()])
    database.asks.answer(ask().id, decision="edit", by="ann", arguments={"eur": 2, "token": "sk-" + "a" * 40})
    record = [row.record for row in database.audit.rows("s")][-1]
    assert record["shown"] == {"tool": "refund", "arguments": {"eur": 12.5}}
    assert record["edited"]["arguments"]["eur"] == 2
    assert "aaaa" not in str(record)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"decision": "edit"}, "names no arguments"),
        ({"decision": "edit", "arguments": {"x": object()}}, "cannot be kept"),
        ({"decision": "respond", "note": " "}, "says nothing"),
        ({"decision": "maybe"}, "no answer"),
        ({"decision": "approve", "by": "\u200b"}, "named person"),
    ],
)
def test_what_is_no_answer_leaves_the_ask_open(said: dict[str, Any], why: str) -> None:
    """The person is told what is missing."""
    answer: dict[str, Any] = {"by": "ann", **said}
    with open_database("memory:") as database:
        database.asks.create([ask()])
        with pytest.raises(GovernanceError, match=why):
            database.asks.answer(ask().id, **answer)
        assert database.asks.get(ask().id).answers == ()


def test_an_edit_that_changes_nothing_is_no_edit() -> None:
    """Whoever wants the call as it is approves it."""
    shown = ask(fingerprint=fingerprint("refund", arguments={"eur": 12.5}))
    with pytest.raises(GovernanceError, match="changes nothing"):
        taken(shown, Given(by="ann", decision="edit", arguments={"eur": 12.5}))


def test_a_call_that_was_made_can_only_be_decided_about(fresh: Fresh) -> None:
    """After a crash there is nothing left to edit."""
    database = fresh()
    (asked,) = database.asks.create([ask(kind="unknown")])
    with pytest.raises(GovernanceError, match="that was made"):
        database.asks.answer(asked.id, decision="edit", by="ann", arguments={})
