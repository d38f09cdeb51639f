"""One dev server for the tests of this folder.

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
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient

ROOT = Path(__file__).parents[2]
NEEDED = ("stateward", "graphs", "nodes", "policies", "configs", "samples")
START_S = 90.0
"""Seconds the server may take to start; it takes about 4 on two idle cores."""


@pytest.fixture(scope="package")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SyncLangGraphClient]:
    """A client of a server that was started for the tests of this folder and is ended with them."""
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
