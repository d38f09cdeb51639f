"""A tool in a process of its own, spoken to as MCP does over standard input and output: a line of JSON-RPC each way.

`python tool_server.py SECONDS` answers each `tools/call` after that time, several at once. One server serves all
sessions: they share the graph, and the graph's tools hold the one client.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any

CALLS_AT_ONCE = 32


class ToolServer:
    """A client of one server, and the server's process.

    Args:
        seconds: How long a call takes, from 0.
    """

    def __init__(self, *, seconds: float) -> None:
        command = [sys.executable, "-S", "-E", __file__, str(seconds)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._numbers = itertools.count(1)
        self._waiting: dict[int, Future[Any]] = {}
        self._guard = threading.Lock()
        self._reader = threading.Thread(target=self._read, name="tool-server", daemon=True)
        self._reader.start()

    def call(self, **arguments: Any) -> Any:
        """Call the tool and wait.

        Args:
            arguments: JSON.

        Returns:
            The result.
        """
        return self._ask(arguments).result()

    async def acall(self, **arguments: Any) -> Any:
        """Call the tool and wait; see `call`."""
        return await asyncio.wrap_future(self._ask(arguments))

    def __enter__(self) -> ToolServer:
        """Return the client itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the server."""
        assert self._process.stdin is not None  # it was opened with pipes
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._reader.join()
        self._process.stdout.close()
        self._process.wait()

    def _ask(self, arguments: dict[str, Any]) -> Future[Any]:
        answer: Future[Any] = Future()
        assert self._process.stdin is not None
        with self._guard:
            number = next(self._numbers)
            self._waiting[number] = answer
            request = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"arguments": arguments}}
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        return answer

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            answer = json.loads(line)
            with self._guard:
                waiting = self._waiting.pop(answer["id"])
            waiting.set_result(answer["result"])


def main() -> None:
    """Serve until standard input ends."""
    seconds, guard = float(sys.argv[1]), threading.Lock()

    def answer(request: dict[str, Any]) -> None:
        time.sleep(seconds)
        line = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": request["params"]["arguments"]})
        with guard:
            sys.stdout.write(line + "\n")
            sys.stdout.flush()

    with ThreadPoolExecutor(CALLS_AT_ONCE) as pool:
        for line in sys.stdin:
            pool.submit(answer, json.loads(line))


if __name__ == "__main__":
    main()
