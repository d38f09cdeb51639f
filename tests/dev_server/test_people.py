"""How people answer over the SDK: in LangChain's forms and ours, by name; a refusal says what to send."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from langgraph_sdk.client import SyncLangGraphClient

from tests.dev_server.drive import BY, begun, control, shown

GATE: Mapping[str, Any] = {"topic": "We move on Friday.", "pattern": "approval"}
GATES = 11
"""How many tests and cases answer at the gate."""
NAMED = {"type": "approve", "by": "ann"}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def gates(client: SyncLangGraphClient) -> Iterator[Iterator[Future[str]]]:
    """Threads that wait for an approval, begun together: the server looks once a second for what is to be done."""
    with ThreadPoolExecutor(GATES) as pool:
        yield iter([pool.submit(begun, client, "hitl", GATE) for _ in range(GATES)])


@pytest.fixture
def gate(gates: Iterator[Future[str]]) -> str:
    """One of them, for this test alone."""
    return next(gates).result()


def resume(client: SyncLangGraphClient, thread: str, said: object, *, graph: str = "hitl", **rest: Any) -> Any:
    return client.runs.wait(thread, graph, command={"resume": said}, **rest)


def log(client: SyncLangGraphClient, thread: str) -> list[str]:
    values: Any = client.threads.get_state(thread)["values"]
    return values["log"]


@pytest.mark.parametrize("said", ["approve", {"type": "approve"}, {"decisions": [{"type": "approve"}]}])
def test_who_answers_stands_in_the_config_of_the_run(client: SyncLangGraphClient, said: object, gate: str) -> None:
    """`configurable.approver`: then a client of LangChain's form sends what it always does."""
    resume(client, gate, said, config=BY)
    assert log(client, gate)[0] == "approve by ann"


@pytest.mark.parametrize("said", [NAMED, {"decisions": [NAMED]}, [{"type": "accept", "args": None, "by": "ann"}]])
def test_who_answers_stands_beside_the_answer(client: SyncLangGraphClient, said: object, gate: str) -> None:
    """Alone, in a list of decisions, and as Agent Inbox words it."""
    resume(client, gate, said)
    assert log(client, gate)[0] == "approve by ann"


def test_an_assistant_may_say_who_answers(client: SyncLangGraphClient, gate: str) -> None:
    """For a client that can send no config, such as a chat window of one person."""
    own = client.assistants.create("hitl", config=BY)["assistant_id"]
    resume(client, gate, "approve", graph=own)
    assert log(client, gate)[0] == "approve by ann"


def test_an_answer_may_name_the_interrupt(client: SyncLangGraphClient, gate: str) -> None:
    """By LangGraph's map of interrupt id to answer."""
    interrupt: Any = client.threads.get_state(gate)["interrupts"][0]
    resume(client, gate, {interrupt["id"]: {"decisions": [NAMED]}})
    assert log(client, gate)[0] == "approve by ann"


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("approve", r"named person.*\"type\": \"approve\", \"by\": PERSON.*`approver` in the `configurable`"),
        ({"type": "maybe", "by": "ann"}, "Answer `approve`, `reject`, `edit`, `respond`"),
        ({"approved": True}, r"or an answer: \{\"type\": \"approve\", \"by\": PERSON\}"),
    ],
)
def test_a_refusal_says_what_to_send_and_the_ask_stays(
    client: SyncLangGraphClient, said: object, why: str, gate: str
) -> None:
    """Nobody is no person, and what is no answer answers nothing; the next answer is taken."""
    with pytest.raises(Exception, match=why):
        resume(client, gate, said)
    assert (shown(client, gate) or {})["action_requests"][0]["name"] == "ask.approve"
    resume(client, gate, NAMED)
    assert control(client, gate)["status"] == "completed"


def test_what_is_chosen_and_edited_is_said_in_langchains_words(client: SyncLangGraphClient) -> None:
    """A choice is a response; an edit has the whole new value."""
    thread = begun(client, "hitl", {"topic": "We move on Friday."})
    resume(client, thread, {"decisions": [{"type": "respond", "message": "edit"}]}, config=BY)
    action = {"name": "ask.edit", "args": {"title": "Friday", "audience": "staff", "text": "We move."}}
    resume(client, thread, {"decisions": [{"type": "edit", "edited_action": action}]}, config=BY)
    assert log(client, thread) == ["edited: title, text"]


def test_a_message_to_a_waiting_run_is_what_it_waits_for(client: SyncLangGraphClient) -> None:
    """`blog` without a topic asks for one; the next input on the thread is the event `input`."""
    thread = begun(client, "blog", {})
    assert [event["name"] for event in (shown(client, thread) or {})["events"]] == ["input"]
    client.runs.wait(thread, "blog", input={"messages": [{"role": "user", "content": "Late parcels"}]})
    assert control(client, thread)["status"] == "completed"
