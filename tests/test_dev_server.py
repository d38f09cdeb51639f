"""The dev server runs the charts as they are: it lists, draws, runs, waits, resumes and shows their history.

It works offline, on a copy of the checkout, because it writes its state into the working directory.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient

ROOT = Path(__file__).parents[1]
NEEDED = ("stateward", "graphs", "nodes", "policies", "configs", "samples")
START_S = 90.0
"""Seconds the server may take to start; it takes about 4 on two idle cores."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SyncLangGraphClient]:
    """A client of a server that was started for this module and is ended with it."""
    home = tmp_path_factory.mktemp("server")
    for folder in NEEDED:
        shutil.copytree(ROOT / folder, home / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "langgraph.json", home)
    port = free_port()
    with (home / "log").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload", "--port", str(port)],
            cwd=home,
            env=quiet(home),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        url = f"http://127.0.0.1:{port}"
        wait_until_up(server, url=url, log=home / "log")
        with get_sync_client(url=url) as opened:
            yield opened
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def quiet(home: Path) -> dict[str, str]:
    """The environment: nothing leaves the machine, tables lie beside the server's own files."""
    off = {"LANGSMITH_TRACING": "false", "LANGCHAIN_TRACING_V2": "false", "LANGGRAPH_CLI_NO_ANALYTICS": "1"}
    return {**os.environ, **off, "STATEWARD_DB": f"sqlite:///{home}/stateward.db", "PYTHONPATH": str(home)}


def wait_until_up(server: subprocess.Popen[bytes], *, url: str, log: Path) -> None:
    end, pause = monotonic() + START_S, Event()
    while monotonic() < end and server.poll() is None:
        try:
            with urlopen(f"{url}/ok", timeout=1):
                return
        except (URLError, TimeoutError):
            pause.wait(0.1)
    pytest.fail(f"The server did not start (exit status {server.poll()}):\n{log.read_text()[-4000:]}")


def asked(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


def assistant(client: SyncLangGraphClient, graph: str) -> str:
    return client.assistants.search(graph_id=graph)[0]["assistant_id"]


def control(client: SyncLangGraphClient, thread: str) -> dict[str, Any]:
    """The control channel: it is in the state, not in a run's output."""
    values: Any = client.threads.get_state(thread)["values"]
    return values["stateward"]


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
