"""What the billing specialist's rules call and say."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from nodes.billing.rules import specialist, topics_in

ALL = ("list_charges", "show_plan", "give_back")
LISTED = '{"charges": [], "duplicates": ["CH-103"]}'


def asked(reply: AIMessage) -> list[tuple[str, dict[str, object]]]:
    return [(call["name"], call["args"]) for call in reply.tool_calls]


def after(*texts: str, listed: str = LISTED) -> Sequence[BaseMessage]:
    """A conversation in which the charges have been listed, and what the customer wrote since."""
    said: list[BaseMessage] = [HumanMessage("I was charged twice.")]
    call = specialist(ALL)(said)
    said += [call, ToolMessage(listed, tool_call_id=str(call.tool_calls[0]["id"])), AIMessage("…")]
    return [*said, *map(HumanMessage, texts)]


def test_a_message_is_looked_into_by_its_topics() -> None:
    """One call for each, all at once."""
    reply = specialist(ALL)([HumanMessage("I pay for the pro plan, and was charged twice!")])
    assert asked(reply) == [("list_charges", {}), ("show_plan", {})]


def test_a_refund_is_of_the_charge_that_repeats_another() -> None:
    """It is known from an earlier message."""
    assert asked(specialist(ALL)(after("A refund, please."))) == [("give_back", {"charge": "CH-103"})]


@pytest.mark.parametrize("known", [[HumanMessage("A refund!")], after("A refund!", listed='{"duplicates": []}')])
def test_without_a_repeated_charge_it_is_asked_which(known: Sequence[BaseMessage]) -> None:
    """Nothing is given back on a word."""
    reply = specialist(ALL)(known)
    assert (asked(reply), reply.text.endswith("Which charge is it about?")) == ([], True)


def test_who_has_no_tool_for_it_says_so() -> None:
    """A specialist that may not ask a person gives nothing back."""
    reply = specialist(ALL[:2])(after("A refund!"))
    assert reply.text == "I know of: duplicate charge, refund. A refund needs somebody who may ask a person."


@pytest.mark.parametrize(
    ("texts", "topics"),
    [
        (["charged TWICE"], ("duplicate charge",)),
        (["refund", "the pro plan"], ("pro plan", "refund")),
        (["a professional product", "reprobate"], ()),
        ([], ()),
    ],
)
def test_topics_are_told_by_words(texts: Sequence[str], topics: Sequence[str]) -> None:
    """Whole words, in either case, over all texts."""
    assert topics_in(texts) == tuple(topics)
