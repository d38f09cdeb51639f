"""The door: approvals, effects, re-entry, batches, and what no activity can swallow."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from langgraph.types import Command

import stateward as sw
from stateward.errors import AskClosed, CheckpointError, Diverged, GovernanceError, NotExpected
from stateward.run.database import Database
from stateward.run.door import FAN_OUT, Activation, Outcome
from stateward.run.entry import Entry
from stateward.testing import How, run_graph
from tests.charts.drive import Driven, policy
from tests.charts.one import compiled
from tests.charts.tools import Shop, call

Drive = Callable[..., Driven]


def statuses(results: list[sw.ToolResult]) -> dict[str, Any]:
    return {"log": [result.status for result in results]}


async def look_then_refund(state: Any, run: sw.Run[Any]) -> Any:
    await run.tool("lookup", order="A1")
    paid = await run.tool("refund", order="A1", eur=3)
    return {"log": [paid.status, paid.value]}


def look_then_refund_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
    run.tool("lookup", order="A1")
    paid = run.tool("refund", order="A1", eur=3)
    return {"log": [paid.status, paid.value]}


async def two_refunds(state: Any, run: sw.Run[Any]) -> Any:
    return statuses(
        await run.tools([call("refund", order="A1"), call("lookup", order="L"), call("refund", order="A2")])
    )


def two_refunds_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
    return statuses(run.tools([call("refund", order="A1"), call("lookup", order="L"), call("refund", order="A2")]))


@pytest.fixture
def shop() -> Shop:
    return Shop()


def asking(shop: Shop, do: Any = look_then_refund, **rest: Any) -> Any:
    return compiled(do, box=shop.box, policy=policy("approve_refunds"), **rest)


# -- asks ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("do", [look_then_refund, look_then_refund_sync])
def test_restricted_call_waits_for_a_person_before_its_effect(drive: Drive, shop: Shop, do: Any) -> None:
    """A restricted call suspends the activity and the chart waits in the state's `ask`."""
    outcome = drive(asking(shop, do)).start({"text": "x"})
    assert (outcome.status, outcome.path) == ("waiting", "WORK.ACT.ask")
    assert shop.done("refund") == []


@pytest.mark.parametrize("do", [look_then_refund, look_then_refund_sync])
def test_approved_call_runs_exactly_once(drive: Drive, shop: Shop, do: Any) -> None:
    """After the approval the activity is entered again; its first call comes from the journal."""
    driven = drive(asking(shop, do))
    outcome = driven.answer(driven.start({"text": "x"}).asks[0])
    assert (outcome.status, outcome.values["log"]) == ("completed", ["ok", {"refunded": "A1"}])
    assert shop.effects == [("lookup", "A1"), ("refund", "A1")]


def test_rejected_call_becomes_an_observation(drive: Drive, shop: Shop) -> None:
    """A rejection goes back to the activity with the person's note, and nothing runs."""
    driven = drive(asking(shop))
    outcome = driven.answer(driven.start({"text": "x"}).asks[0], "reject", note="too much")
    assert outcome.values["log"][0] == "rejected"
    assert "too much" in outcome.values["log"][1]["error"]["reason"]
    assert shop.done("refund") == []


@pytest.mark.parametrize("do", [two_refunds, two_refunds_sync])
def test_asks_of_one_activity_are_put_together(drive: Drive, shop: Shop, do: Any) -> None:
    """A batch with two restricted calls asks twice at once, and its other call has run."""
    outcome = drive(asking(shop, do)).start({"text": "x"})
    assert len(outcome.asks) == 2
    assert shop.effects == [("lookup", "L")]


@pytest.mark.parametrize("do", [two_refunds, two_refunds_sync])
def test_asks_can_be_answered_one_after_the_other(drive: Drive, shop: Shop, do: Any) -> None:
    """The session waits until the last ask is answered; each answer reaches its own call."""
    driven = drive(asking(shop, do))
    first, second = driven.start({"text": "x"}).asks
    assert driven.answer(first, "reject").asks == (first, second)
    outcome = driven.answer(second, "approve")
    assert outcome.values["log"] == ["rejected", "ok", "ok"]
    assert shop.effects == [("lookup", "L"), ("refund", "A2")]


def test_bare_word_answers_the_only_ask(drive: Drive, shop: Shop, how: How) -> None:
    """`approve` is enough when one ask is open and the config names the approver."""
    driven = drive(asking(shop))
    driven.start({"text": "x"})
    graph, config = driven.session.graph, driven.session.config
    named = {"configurable": {**config["configurable"], "approver": "ann"}}
    values = run_graph(graph, Command(resume="approve"), how=how, config=named)
    assert values["log"][0] == "ok"


def test_answer_without_a_name_is_refused(drive: Drive, shop: Shop) -> None:
    """Nobody may approve namelessly; the ask stays open."""
    driven = drive(asking(shop))
    ask = driven.start({"text": "x"}).asks[0]
    with pytest.raises(GovernanceError, match="named person"):
        driven.send(Command(resume="approve"))
    assert driven.session.database.asks.get(ask).status == "open"


@pytest.mark.parametrize("form", ["map", "decisions"])
def test_asks_can_be_answered_in_one_payload(drive: Drive, shop: Shop, form: str) -> None:
    """A map by ask, and LangChain's list of decisions, answer all asks through `Command(resume=…)`."""
    driven = drive(asking(shop, two_refunds))
    first, second = driven.start({"text": "x"}).asks
    payload = {
        "map": {"answers": {second: {"decision": "approve", "by": "ann"}, first: {"decision": "reject", "by": "ann"}}},
        "decisions": {"decisions": [{"type": "reject"}, {"type": "approve"}], "by": "ann"},
    }
    driven.send(Command(resume=payload[form]))
    assert driven.session.outcome().values["log"] == ["rejected", "ok", "ok"]


def test_second_answer_is_refused(drive: Drive, shop: Shop) -> None:
    """An ask takes one answer."""
    driven = drive(asking(shop))
    ask = driven.start({"text": "x"}).asks[0]
    driven.answer(ask)
    with pytest.raises(AskClosed):
        driven.answer(ask, "reject")


def test_answer_of_another_session_is_refused(drive: Drive, shop: Shop) -> None:
    """An ask can only be answered through the session it belongs to."""
    graph = asking(shop)
    mine, other = drive(graph, session="mine"), drive(graph, session="other")
    ask = mine.start({"text": "x"}).asks[0]
    other.start({"text": "x"})
    with pytest.raises(NotExpected, match="belongs to session"):
        other.answer(ask)
    with pytest.raises(NotExpected):
        other.send(Command(resume={"answers": {ask: "approve"}}))
    assert mine.session.database.asks.get(ask).status == "open"


def test_only_a_named_approver_may_answer(drive: Drive, shop: Shop) -> None:
    """A rule that names its approvers refuses everyone else, and the ask stays open."""
    driven = drive(compiled(look_then_refund, box=shop.box, policy=policy("ann_approves_refunds")))
    ask = driven.start({"text": "x"}).asks[0]
    with pytest.raises(GovernanceError, match="may not answer"):
        driven.session.claim(ask, "approve", by="bob")
    assert driven.answer(ask).status == "completed"


def test_event_that_leaves_the_state_withdraws_its_asks(drive: Drive, shop: Shop) -> None:
    """Nobody can approve a call whose state was left."""
    driven = drive(asking(shop, handles=["stop"]))
    ask = driven.start({"text": "x"}).asks[0]
    outcome = driven.resume("stop")
    assert (outcome.path, outcome.asks) == ("HELP", ())
    with pytest.raises(AskClosed, match="withdrawn"):
        driven.session.claim(ask, "approve", by="ann")


def test_a_new_entry_asks_anew(drive: Drive, shop: Shop) -> None:
    """An approval belongs to one activation: coming back into the state asks again."""
    driven = drive(asking(shop, handles=["stop"]))
    first = driven.start({"text": "x"}).asks[0]
    driven.resume("stop")
    (second,) = driven.resume("again").asks
    assert second != first
    assert driven.answer(second).status == "completed"


def test_unexpected_event_leaves_the_ask_open(drive: Drive, shop: Shop) -> None:
    """An event nobody takes is refused before anything is committed."""
    driven = drive(asking(shop))
    ask = driven.start({"text": "x"}).asks[0]
    before = len(driven.checkpoints)
    with pytest.raises(NotExpected):
        driven.resume("nonsense")
    assert len(driven.checkpoints) == before
    assert driven.session.database.asks.get(ask).status == "open"


def test_nothing_is_reserved_while_a_person_thinks(drive: Drive, shop: Shop) -> None:
    """The open call is in no ledger; only the lookup is."""
    driven = drive(asking(shop))
    driven.start({"text": "x"})
    database, row = driven.session.database, driven.session.row()
    assert database.ledger.spent("s1", run=row.run)[("", "calls")] == 1


def test_interrupt_of_an_ask_names_arguments_and_events(drive: Drive, shop: Shop) -> None:
    """The wait carries the envelope of each ask and the events that would be taken instead."""
    driven = drive(asking(shop, handles=["stop"]))
    driven.start({"text": "x"})
    (interrupt,) = driven.session.graph.get_state(driven.session.config).interrupts
    (ask,) = interrupt.value["asks"]
    assert ask["action_request"] == {"action": "refund", "args": {"order": "A1", "eur": 3.0}}
    assert interrupt.value["events"] == [{"name": "stop"}]


# -- what no activity can swallow ----------------------------------------------------------------------------


async def swallow_ask(state: Any, run: sw.Run[Any]) -> Any:
    try:
        await run.tool("refund", order="A1")
    except BaseException:  # noqa: BLE001  # the worst an author can do
        return {"log": ["swallowed"]}
    return {"log": ["paid"]}


def swallow_ask_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
    try:
        run.tool("refund", order="A1")
    except BaseException:  # noqa: BLE001  # the worst an author can do
        return {"log": ["swallowed"]}
    return {"log": ["paid"]}


@pytest.mark.parametrize("do", [swallow_ask, swallow_ask_sync])
def test_swallowed_ask_still_asks(drive: Drive, shop: Shop, do: Any) -> None:
    """An activity that catches everything is suspended all the same."""
    driven = drive(asking(shop, do))
    outcome = driven.start({"text": "x"})
    assert (outcome.status, len(outcome.asks)) == ("waiting", 1)
    assert driven.answer(outcome.asks[0]).values["log"] == ["paid"]


async def four_lookups(state: Any, run: sw.Run[Any]) -> Any:
    for number in range(4):
        try:
            await run.tool("lookup", order=str(number))
        except BaseException:  # noqa: BLE001  # the worst an author can do
            return {"log": ["swallowed"]}
    return {"log": ["done"]}


def test_fuse_on_calls_trips_before_the_call(drive: Drive, shop: Shop) -> None:
    """The fourth call under a fuse of three never happens, and the chart takes the event."""
    outcome = drive(compiled(four_lookups, box=shop.box, policy=policy("three_calls"), handles=["fuse"])).start({})
    assert (outcome.status, outcome.path) == ("waiting", "HELP")
    assert len(shop.effects) == 3
    assert "log" not in outcome.values or outcome.values["log"] == []


def test_unhandled_fuse_halts_the_run(drive: Drive, shop: Shop) -> None:
    """Without a transition for it, a fuse ends the run as halted, with its reason."""
    driven = drive(compiled(four_lookups, box=shop.box, policy=policy("three_calls")))
    outcome = driven.start({})
    assert (outcome.status, outcome.reason["event"]) == ("halted", "fuse.calls")
    assert driven.session.database.sessions.terminals("s1")[0].status == "halted"


# -- refusals are observations --------------------------------------------------------------------------------


async def undeclared(state: Any, run: sw.Run[Any]) -> Any:
    result = await run.tool("refund", order="A1")
    return {"log": [result.status, result.value["error"]["reason"]]}


def test_undeclared_tool_is_denied_with_the_known_ones(drive: Drive, shop: Shop) -> None:
    """A state may only use what it declares; the model reads which tools that are."""
    outcome = drive(compiled(undeclared, box=shop.box, tools=["lookup"])).start({})
    assert outcome.values["log"][0] == "denied"
    assert "lookup" in outcome.values["log"][1]


def test_forbidden_tool_is_denied(drive: Drive, shop: Shop) -> None:
    """A forbidden tool is an observation, not an exception."""
    outcome = drive(compiled(undeclared, box=shop.box, policy=policy("forbids_refunds"))).start({})
    assert outcome.values["log"][0] == "denied"
    assert shop.effects == []


async def wrong_arguments(state: Any, run: sw.Run[Any]) -> Any:
    result = await run.tool("refund", order="A1", eur="much", extra=1)
    return {"log": [result.status, result.value["error"]["reason"]]}


def test_invalid_arguments_never_reach_the_tool(drive: Drive, shop: Shop) -> None:
    """Arguments are validated at the door; the observation names each problem."""
    outcome = drive(compiled(wrong_arguments, box=shop.box)).start({})
    assert outcome.values["log"][0] == "invalid"
    assert "eur" in outcome.values["log"][1]
    assert "extra" in outcome.values["log"][1]


async def lookup_twice(state: Any, run: sw.Run[Any]) -> Any:
    return statuses([await run.tool("lookup", order="A"), await run.tool("lookup", order="B")])


def test_per_tool_limit_denies_the_next_call(drive: Drive, shop: Shop) -> None:
    """`max_calls` of one tool is an observation, so that the model can go on without it."""
    outcome = drive(compiled(lookup_twice, box=shop.box, policy=policy("one_lookup"))).start({})
    assert outcome.values["log"] == ["ok", "denied"]


async def failing_tool(state: Any, run: sw.Run[Any]) -> Any:
    result = await run.tool("broken", order="A")
    return {"log": [result.status, result.value["error"]["reason"]]}


def test_failing_tool_is_an_observation(drive: Drive, shop: Shop) -> None:
    """What a tool raises goes back to the activity."""
    outcome = drive(compiled(failing_tool, box=shop.box)).start({})
    assert outcome.values["log"] == ["failed", "ConnectionError: no route"]


@sw.tool(effect="idempotent", timeout_s=0.001)
async def slow() -> None:
    """Never end."""
    await asyncio.Event().wait()


async def call_slow(state: Any, run: sw.Run[Any]) -> Any:
    return statuses([await run.tool("slow")])


def test_tool_that_takes_too_long_is_a_timeout(drive: Drive) -> None:
    """The observation says that the tool timed out."""
    assert drive(compiled(call_slow, box=[slow])).start({}).values["log"] == ["timeout"]


@sw.tool(effect="pure")
def opaque() -> object:
    """Return what is no JSON."""
    return float("nan")


async def call_opaque(state: Any, run: sw.Run[Any]) -> Any:
    return statuses([await run.tool("opaque")])


def test_result_that_is_no_json_is_a_failed_call(drive: Drive) -> None:
    """A tool whose result cannot be kept is told as failed; the session lives."""
    outcome = drive(compiled(call_opaque, box=[opaque])).start({})
    assert (outcome.status, outcome.values["log"]) == ("completed", ["failed"])


# -- batches ---------------------------------------------------------------------------------------------------


class Gates:
    """Async tools that end in an order the test decides."""

    def __init__(self) -> None:
        self.order: list[str] = []
        self.running = 0
        self.most = 0

    @property
    def step(self) -> Any:
        @sw.tool(effect="idempotent")
        async def step(label: str, turns: int = 0, after: str = "") -> str:
            """End after some turns of the loop, or after another."""
            self.running += 1
            self.most = max(self.most, self.running)
            for _ in range(turns):
                await asyncio.sleep(0)
            while after and after not in self.order:
                await asyncio.sleep(0)
            self.running -= 1
            self.order.append(label)
            return label

        return step


async def unequal(state: Any, run: sw.Run[Any]) -> Any:
    calls = [call("step", label="slow", after="fast"), call("step", label="fast")]
    return {"log": [result.value for result in await run.tools(calls)]}


def test_results_of_a_batch_are_in_call_order(drive: Drive) -> None:
    """Whatever ends first, results come back as they were called."""
    gates = Gates()
    outcome = drive(compiled(unequal, box=[gates.step])).start({})
    assert gates.order == ["fast", "slow"]
    assert outcome.values["log"] == ["slow", "fast"]


async def many(state: Any, run: sw.Run[Any]) -> Any:
    results = await run.tools([call("step", label=str(n), turns=20) for n in range(20)])
    return {"number": len(results)}


def test_fan_out_is_capped(drive: Drive) -> None:
    """A batch of twenty runs at most eight calls at a time, and all of them."""
    gates = Gates()
    outcome = drive(compiled(many, box=[gates.step])).start({})
    assert outcome.values["number"] == 20
    assert gates.most <= FAN_OUT


async def mixed(state: Any, run: sw.Run[Any]) -> Any:
    return statuses(await run.tools([call("broken", order="B"), call("lookup", order="L"), call("refund", order="R")]))


def test_failing_sibling_loses_nothing(drive: Drive, shop: Shop) -> None:
    """Each call of a batch ends on its own."""
    outcome = drive(compiled(mixed, box=shop.box)).start({})
    assert outcome.values["log"] == ["failed", "ok", "ok"]


async def gathered(state: Any, run: sw.Run[Any]) -> Any:
    await asyncio.gather(run.tool("refund", order="A1"), run.tool("step", label="s", turns=20_000))
    return {"log": ["both"]}


def test_calls_an_author_gathers_end_before_the_step_commits(drive: Drive, shop: Shop) -> None:
    """A call that runs beside one that asks is neither orphaned nor made twice."""
    gates = Gates()
    driven = drive(compiled(gathered, box=[shop.refund, gates.step], policy=policy("approve_refunds")))
    ask = driven.start({}).asks[0]
    assert driven.session.database.journal.unfinished("s1") == ()
    assert driven.answer(ask).values["log"] == ["both"]
    assert gates.order == ["s"]


# -- re-entry --------------------------------------------------------------------------------------------------


class Fickle:
    """An activity that makes another call when it is entered again."""

    def __init__(self) -> None:
        self.visits = 0

    async def __call__(self, state: Any, run: sw.Run[Any]) -> Any:
        self.visits += 1
        await run.tool("lookup", order=f"visit {self.visits}")
        await run.tool("refund", order="A1")


def test_another_call_under_the_same_number_diverges(drive: Drive, shop: Shop) -> None:
    """A re-entered activity must repeat its calls; otherwise nothing runs and the error names both."""
    driven = drive(asking(shop, Fickle()))
    ask = driven.start({}).asks[0]
    with pytest.raises(Diverged, match="lookup"):
        driven.answer(ask)
    assert shop.effects == [("lookup", "visit 1")]


async def fail_then_refund(state: Any, run: sw.Run[Any]) -> Any:
    failed = await run.tool("broken", order="B")
    return statuses([failed, await run.tool("refund", order="A1")])


def test_failed_call_is_not_tried_again_on_re_entry(drive: Drive, shop: Shop) -> None:
    """A failed call is answered from the journal too: the activity sees what it saw before."""
    driven = drive(asking(shop, fail_then_refund))
    outcome = driven.answer(driven.start({}).asks[0])
    assert outcome.values["log"] == ["failed", "ok"]
    assert shop.done("broken") == ["B"]


# -- calls that were started before a crash -------------------------------------------------------------------


async def mail_only(state: Any, run: sw.Run[Any]) -> Any:
    return statuses([await run.tool("mail", to="bo")])


class Crash(BaseException):
    """Stands for the end of the process: no code of ours catches it as an error."""


class Crashing:
    """A tool that dies with its process, before or after its effect, as often as it is told."""

    def __init__(self, effect: Any, *, times: int = 1, lookup: Any = None) -> None:
        self.left = times
        self.effects: list[str] = []

        @sw.tool(effect=effect, lookup=lookup, name="mail")
        async def mail(to: str, *, ctx: sw.ToolContext) -> str:
            """Send a mail."""
            self.effects.append(ctx.idempotency_key)
            self.left -= 1
            if self.left >= 0:
                raise Crash
            return "sent"

        self.tool = mail


def crashed(drive: Drive, mail: Crashing, **rest: Any) -> Driven:
    driven = drive(compiled(mail_only, box=[mail.tool], **rest))
    with pytest.raises(Crash):
        driven.start({})
    return driven


def test_idempotent_call_runs_again_under_its_key(drive: Drive) -> None:
    """What a crash cut off is made again with the same idempotency key."""
    mail = Crashing("idempotent")
    assert crashed(drive, mail).resume().values["log"] == ["ok"]
    assert len(mail.effects) == 2
    assert len(set(mail.effects)) == 1


def test_crash_takes_nothing_from_the_budget(drive: Drive) -> None:
    """A call that is taken up again has its reservation already, and fits under a limit of one."""
    mail = Crashing("idempotent")
    driven = crashed(drive, mail, policy=policy("one_mail"))
    assert driven.resume().values["log"] == ["ok"]


def test_once_call_asks_after_a_crash(drive: Drive) -> None:
    """A `once` call nobody can look up is not run again on its own: a person is asked."""
    mail = Crashing("once")
    outcome = crashed(drive, mail).resume()
    assert (outcome.status, len(outcome.asks)) == ("waiting", 1)
    assert len(mail.effects) == 1


@pytest.mark.parametrize(("decision", "status", "effects"), [("approve", "ok", 2), ("reject", "unknown", 1)])
def test_person_decides_about_a_call_of_unknown_end(drive: Drive, decision: str, status: str, effects: int) -> None:
    """Approved, it runs again; rejected, the activity reads that its end is unknown."""
    mail = Crashing("once")
    driven = crashed(drive, mail)
    outcome = driven.answer(driven.resume().asks[0], decision)
    assert (outcome.status, outcome.values["log"]) == ("completed", [status])
    assert len(mail.effects) == effects


def test_an_approval_to_run_again_holds_for_one_try(drive: Drive) -> None:
    """A `once` call that crashes again after its approval is asked about again."""
    mail = Crashing("once", times=2)
    driven = crashed(drive, mail)
    first = driven.resume().asks[0]
    with pytest.raises(Crash):
        driven.answer(first)
    outcome = driven.resume()
    assert len(mail.effects) == 2
    assert outcome.status == "waiting"
    assert outcome.asks != (first,)


def test_chart_may_handle_a_call_of_unknown_end(drive: Drive) -> None:
    """A transition on `unknown_after_crash` goes before the person."""
    outcome = crashed(drive, Crashing("once"), handles=["unknown_after_crash"]).resume()
    assert (outcome.status, outcome.path, outcome.asks) == ("waiting", "HELP", ())


@pytest.mark.parametrize(("found", "effects"), [("sent before", 1), (None, 2)])
def test_look_up_decides_about_a_once_call(drive: Drive, found: Any, effects: int) -> None:
    """A completed call is taken over from the look-up; one that did not happen is made."""
    mail = Crashing("once", lookup=lambda key: found)
    driven = crashed(drive, mail)
    assert driven.resume().values["log"] == ["ok"]
    assert len(mail.effects) == effects


def unreachable(key: str) -> Any:
    raise ConnectionError("no route")


def test_look_up_that_fails_leaves_the_call_unknown(drive: Drive) -> None:
    """When even the look-up cannot say, a person is asked."""
    mail = Crashing("once", lookup=unreachable)
    outcome = crashed(drive, mail).resume()
    assert (outcome.status, len(outcome.asks)) == ("waiting", 1)


def test_journal_refuses_to_settle_twice(database: Database) -> None:
    """A closed entry is never opened again."""
    activation = Activation(session="s", run="r", branch="main", path="A", number=1)
    entry = Entry(key=activation.key(1), kind="tool", name="t", fingerprint="f", arguments={}, effect="pure")
    database.journal.begin(entry)
    database.journal.settle(entry.key, status="completed", result=1)
    with pytest.raises(CheckpointError):
        database.journal.settle(entry.key, status="completed", result=2)


def test_secrets_are_redacted_before_they_are_kept(drive: Drive) -> None:
    """A key in a result reaches neither journal nor state."""

    @sw.tool(effect="pure")
    def peek() -> str:
        """Show a key."""
        return "key sk-abcdefghijklmnopqrstuvwxyz0123456789ABCD"

    async def look(state: Any, run: sw.Run[Any]) -> Any:
        return {"log": [(await run.tool("peek")).text]}

    driven = drive(compiled(look, box=[peek]))
    assert "sk-abcdef" not in driven.start({}).values["log"][0]
    (entry,) = driven.session.database.journal.entries("s1")
    assert "sk-abcdef" not in entry.result


def test_audit_log_holds_after_a_run_with_asks(drive: Drive, shop: Shop) -> None:
    """The hash chain over all that happened verifies."""
    driven = drive(asking(shop, two_refunds))
    for ask in driven.start({}).asks:
        driven.answer(ask)
    assert driven.session.database.audit.verify() > 0


def test_outcome_is_a_value() -> None:
    """What a call came to is frozen."""
    with pytest.raises(AttributeError):
        Outcome(status="completed", result=1, spent={}).status = "failed"  # type: ignore[misc]
