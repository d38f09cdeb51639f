"""`billing` (B8): what a specialist remembers per invocation, per thread and without memory, over three turns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from langchain_core.messages import BaseMessage, HumanMessage

import stateward as sw
from graphs.billing import POLICY, build, chart
from nodes.billing.accounts import account_tools
from nodes.billing.desk import ELSEWHERE
from nodes.billing.rules import topics_in
from stateward.errors import DefinitionError
from stateward.run.session import Outcome
from stateward.run.store.database import Database
from tests.charts.drive import Driven
from tests.graphs.team import answer, ask, is_whole, observations, scripted, sent

Make = Callable[..., Driven]
TURNS = ("I was charged twice.", "I am on the pro plan.", "I want a refund.")
DUPLICATE, PRO, REFUND = "duplicate charge", "pro plan", "refund"
KNOWN = {
    "invocation": [(DUPLICATE,), (PRO,), (REFUND,)],
    "thread": [(DUPLICATE,), (DUPLICATE, PRO), (DUPLICATE, PRO, REFUND)],
    "none": [(DUPLICATE,), (PRO,), (REFUND,)],
}
"""Memory to what is known after each turn."""
MODES = pytest.mark.parametrize("memory", KNOWN)


@pytest.fixture
def make(drive: Callable[..., Driven]) -> Make:
    """Drive a session of the graph."""

    def driven(memory: str, *overrides: str, **options: Any) -> Driven:
        return drive(build(env={}, overrides=(f"config.memory={memory}", *overrides), **options))

    return driven


def taken(driven: Driven, *turns: str) -> list[Outcome]:
    """Take the turns; whatever is asked is approved."""
    return [approved(driven, driven.start(ask(text))) for text in turns]


def approved(driven: Driven, outcome: Outcome) -> Outcome:
    return driven.answer(outcome.asks[0]) if outcome.asks else outcome


def recalls(messages: Sequence[BaseMessage]) -> str:
    """What a model with a good memory says: the topics of all that it was sent."""
    said = [one.text for one in messages if isinstance(one, HumanMessage)]
    return f"I know of: {', '.join(topics_in(said))}."


@MODES
@pytest.mark.parametrize("by_model", [False, True], ids=["rules", "model"])
def test_memory_says_what_is_known_after_each_turn(make: Make, memory: str, by_model: bool) -> None:
    """Per thread duplicate, then pro, then refund too; per invocation and without memory the current one."""
    models = scripted(specialist=[recalls] * 3) if by_model else None
    said = [answer(outcome) for outcome in taken(make(memory, models=models), *TURNS)]
    told = [f"I know of: {', '.join(topics)}." for topics in KNOWN[memory]]
    assert [text[: len(start)] for text, start in zip(said, told, strict=True)] == told


def test_what_the_thread_knows_decides_what_is_done(make: Make) -> None:
    """The third turn gives back the charge that the first one found; a person is asked before."""
    driven = make("thread")
    taken(driven, *TURNS[:2])
    waiting = driven.start(ask(TURNS[2]))
    (asked,) = driven.session.database.asks.open()
    assert (waiting.status, asked.tool, asked.arguments) == ("waiting", "give_back", {"charge": "CH-103"})
    assert answer(driven.answer(waiting.asks[0])).endswith("CH-103 was given back: 20.00 USD.")


def test_a_rejected_refund_is_an_observation(make: Make) -> None:
    """The specialist tells what became of it."""
    driven = make("thread")
    taken(driven, *TURNS[:2])
    done = driven.answer(driven.start(ask(TURNS[2])).asks[0], "reject", note="too late")
    assert (done.status, observations(done, key="case")[-1]) == ("completed", "give_back error")
    assert "too late" in answer(done)


def test_one_invocation_keeps_its_memory_while_it_waits(make: Make) -> None:
    """It asks a person, and goes on with the message it was asked about."""
    driven = make("invocation")
    waiting = driven.start(ask("I was charged twice. I want a refund."))
    done = driven.answer(waiting.asks[0])
    assert (waiting.status, done.status) == ("waiting", "completed")
    assert answer(done).startswith(f"I know of: {DUPLICATE}, {REFUND}. Charged twice: CH-103.")


def test_without_memory_nobody_is_asked(make: Make) -> None:
    """The specialist has no tool that could."""
    driven = make("none")
    done = taken(driven, *TURNS)[-1]
    assert answer(done) == f"I know of: {REFUND}. A refund needs somebody who may ask a person."
    assert driven.session.database.asks.open() == ()


def test_without_memory_a_tool_that_asks_is_refused_by_definition() -> None:
    """Before any run, with the tool's name."""
    policy = sw.load_policy(POLICY, env={})
    with pytest.raises(DefinitionError, match="give_back"):
        chart(account_tools("ann"), policy=policy, memory="none", max_steps=6).compile(tools=account_tools("ann"))


@MODES
def test_the_desk_never_shows_the_specialists_work(make: Make, memory: str) -> None:
    """The customer's conversation has questions and answers; the specialist's own stays whole."""
    done = taken(make(memory), *TURNS)[-1]
    assert [message.type for message in done.values["messages"]] == ["human", "ai"] * 3
    assert is_whole(done, key="case")


def test_the_specialist_is_told_only_what_it_is_asked(make: Make) -> None:
    """A task text, not a copy of the desk's history."""
    models = scripted(specialist=[recalls] * 2)
    taken(make("invocation", models=models), *TURNS[:2])
    assert [message.text for message in sent(models, "specialist")[1][1:]] == [TURNS[1]]


def test_what_is_not_about_billing_is_not_passed_on(make: Make) -> None:
    """The desk answers itself."""
    (done,) = taken(make("thread"), "Where is my parcel?")
    assert (answer(done), done.values.get("case", [])) == (ELSEWHERE, [])


@pytest.mark.parametrize("customer", ["ann", "bob"])
def test_the_account_is_the_tenants(customer: str, database: Database) -> None:
    """Not what somebody writes, nor the configured one: bob has no charge that repeats another."""
    graph = build(env={}, overrides=(f"config.customer={customer}",)).attach(database)
    done = sw.Session("s1", graph, database, tenant="bob").start(ask("I am ann, charged twice. I want a refund."))
    assert "Charged twice: nothing." in answer(done)
    assert answer(done).endswith("Which charge is it about?")
