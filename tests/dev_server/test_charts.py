"""The dev server runs the charts as they are: it lists, draws, runs, waits, resumes and shows their history."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph_sdk.client import SyncLangGraphClient

from tests.dev_server.drive import asked, control

pytestmark = pytest.mark.slow


def assistant(client: SyncLangGraphClient, graph: str) -> str:
    return client.assistants.search(graph_id=graph)[0]["assistant_id"]


@pytest.mark.parametrize(
    ("graph", "inside"),
    [
        ("working", {"WORKING:PLAN", "WORKING:ACT", "WORKING:REFLECT"}),
        ("support_desk", {"WORKING:TRIAGE", "WORKING:PLAN", "WORKING:ACT", "WORKING:REFLECT"}),
    ],
)
def test_the_server_draws_the_states_inside_their_superstate(
    client: SyncLangGraphClient, graph: str, inside: set[str]
) -> None:
    """Each graph of `langgraph.json` is an assistant, and its drawing has the nested states."""
    drawn = client.assistants.get_graph(assistant(client, graph))
    names = {str(node["id"]) for node in drawn["nodes"]}
    assert inside <= names
    assert len(drawn["edges"]) > len(inside)


def test_a_run_waits_is_resumed_and_leaves_its_history(client: SyncLangGraphClient) -> None:
    """The word stop leads to PAUSED; the event `resume` leads back, and on to the end."""
    thread = client.threads.create()["thread_id"]
    client.runs.wait(thread, "working", input=asked("stop"))
    state = client.threads.get_state(thread)
    assert state["next"] == ["PAUSED"]
    assert state["interrupts"][0]["value"]["events"][0]["name"] == "resume"
    for _ in range(3):  # the question, the plan and the finding say it
        values: Any = client.runs.wait(thread, "working", command={"resume": {"event": "resume"}})
    assert values["messages"][-1]["content"] == "Looked up so far: stop."
    assert control(client, thread)["status"] == "completed"
    steps = [step["next"] for step in client.threads.get_history(thread, limit=50)]
    assert (steps[0], steps.count(["PAUSED"])) == ([], 3)
    assert all([part] in steps for part in ("WORKING.PLAN", "WORKING.ACT", "WORKING.REFLECT"))


def test_a_second_input_opens_another_run_of_the_same_thread(client: SyncLangGraphClient) -> None:
    """What was found in the first run is still there in the second."""
    thread = client.threads.create()["thread_id"]
    for text in ("What is a fuse?", "What is history?"):
        values: Any = client.runs.wait(thread, "working", input=asked(text))
    assert sorted(values["found"]) == ["fuse", "history"]
    assert control(client, thread)["run"]["no"] == 2
