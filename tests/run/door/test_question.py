"""Questions the door puts to people."""

from __future__ import annotations

from dataclasses import replace

from stateward.govern.decision import CallRequest, NeedsApproval
from stateward.run.door.question import aftermath, approval, rejected, unfit
from stateward.run.store.given import Given
from tests.run.store.desk import entry

REQUEST = CallRequest(
    kind="tool", name="refund", arguments={"eur": 3}, path="WORKING.ACT", declared=frozenset({"refund"})
)
NEED = NeedsApproval(reason="restricted", rule="r", approvers=("ann",))


def test_approval_shows_arguments_and_approvers() -> None:
    """The person sees what would be called, and why they are asked."""
    ask = approval(REQUEST, entry(), NEED)
    assert (ask.tool, ask.arguments, ask.reason, ask.approvers) == ("refund", {"eur": 3}, "restricted", ("ann",))


def test_approval_is_waited_for_as_long_as_the_policy_says() -> None:
    """From the database's time on; in a replay, which has none, without end."""
    hasty = replace(NEED, expires_s=60)
    assert approval(REQUEST, entry(), hasty, now=1_000.0).expires_at == 1_060
    assert approval(REQUEST, entry(), hasty).expires_at is None
    assert approval(REQUEST, entry(), NEED, now=1_000.0).expires_at is None


def test_rejection_says_who_or_that_nobody_answered() -> None:
    """The model and the audit log read it."""
    ask = approval(REQUEST, entry(), NEED)
    said = replace(ask, status="answered", decision="reject", by="ann", note="too much")
    assert rejected(said, NEED) == "ann rejected the call: too much"
    late = replace(ask, status="expired")
    assert rejected(late, NEED) == "expired: nobody answered in time"
    assert rejected(late, replace(NEED, expires_s=60)) == "expired: nobody answered within 60 s"


def test_same_call_asks_the_same_question() -> None:
    """After a crash the ask is found again; other arguments are another question."""
    assert approval(REQUEST, entry(), NEED).id == approval(REQUEST, entry(), NEED).id
    assert approval(REQUEST, replace(entry(), fingerprint="f2"), NEED).id != approval(REQUEST, entry(), NEED).id


def test_aftermath_is_another_question_for_each_try() -> None:
    """An approval to run again holds for one try."""
    once, twice = aftermath(entry()), aftermath(replace(entry(), tries=2))
    assert (once.kind, once.status) == ("unknown", "open")
    assert len({once.id, twice.id, approval(REQUEST, entry(), NEED).id}) == 3


def test_approvals_that_were_enough_are_looked_at_again() -> None:
    """The policy may want more of them, or other people, by the time the call is decided again."""
    said = (Given(by="ann", decision="approve"),)
    approved = replace(approval(REQUEST, entry(), NEED, answers=said), status="answered", decision="approve")
    assert unfit(approved, NEED) is None
    assert unfit(approved, replace(NEED, approvals=2)) is not None
    assert unfit(approved, replace(NEED, approvers=("bob",))) is not None
    assert unfit(replace(approved, barred=("Ann",)), replace(NEED, four_eyes=True)) is not None
