"""An OpenAI-compatible endpoint before the local model, which can be told to fail.

It adds what the server behind it has not (tool calls, bounds on texts), keeps what it was asked and what it answered,
and plays scripted faults: a status, a lost connection, silence, a stream that stops in the middle.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, cast
from urllib.parse import urlsplit

from tests.llm.tool_form import bounded, offered, packed

END = "[DONE]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """How one request fails."""

    kind: Literal["status", "drop", "silence", "stall"]
    """status: answered with an error. drop: the connection is closed. silence: no answer. stall: after the first token
    no other comes."""
    status: int = 500
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


class Shim:
    """The endpoint.

    Args:
        behind: The address of the server that has the model.
    """

    def __init__(self, behind: str) -> None:
        self.behind = behind
        self.faults: deque[Fault] = deque()
        self.asked: list[dict[str, Any]] = []
        """The body of each request."""
        self.used: list[dict[str, int]] = []
        """What each request that was answered took."""
        self.released = threading.Event()
        """Set when nobody is to be kept waiting any more."""
        self._server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"shim": self}))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The base URL that an OpenAI client is given."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def fail(self, *faults: Fault) -> None:
        """Let the next requests fail, one after the other."""
        self.faults.extend(faults)

    def close(self) -> None:
        """End it."""
        self.released.set()
        self._server.shutdown()
        self._server.server_close()

    def answer(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Ask the model.

        Args:
            body: A request for a chat completion.
        """
        connection = HTTPConnection(urlsplit(self.behind).netloc)
        try:
            head = {"Content-Type": "application/json"}
            connection.request("POST", "/v1/chat/completions", json.dumps(_plain(body)), head)
            reply = cast("dict[str, Any]", json.loads(connection.getresponse().read()))
        finally:
            connection.close()
        if "choices" not in reply:
            raise ConnectionError(f"the model's server said {reply}")
        choice = reply["choices"][0]
        if body.get("tools") and choice["finish_reason"] == "stop":
            choice |= {"message": packed(choice["message"]["content"]), "finish_reason": "tool_calls"}
        self.used.append(reply["usage"])
        return reply


def _plain(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request as the server understands it, with the same answer every time."""
    most = body.get("max_completion_tokens") or body.get("max_tokens") or 64
    plain = {"messages": [_said(each) for each in body["messages"]], "max_tokens": most, "temperature": 0}
    form = body.get("response_format")
    if body.get("tools"):
        form = {"type": "json_schema", "json_schema": {"name": "call", "schema": offered(body["tools"])}}
    return plain | {"cache_prompt": False} | ({"response_format": bounded(form)} if form else {})


def _said(message: Mapping[str, Any]) -> dict[str, str]:
    """Return a message as one that a model without tools has seen in its training."""
    if message.get("tool_calls"):
        return {"role": "assistant", "content": json.dumps(message["tool_calls"][0]["function"])}
    if message["role"] == "tool":
        return {"role": "user", "content": f"The tool answered: {message['content']}"}
    return {"role": message["role"], "content": message["content"]}


def _chunks(reply: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Split an answer as a stream tells it: the text word by word, then the end, then what it took."""
    head = {"id": reply["id"], "object": "chat.completion.chunk", "created": reply["created"], "model": reply["model"]}
    choice = reply["choices"][0]
    message = choice["message"]
    parts = [{"tool_calls": message["tool_calls"]}] if message.get("tool_calls") else _words(message["content"])
    for part in parts:
        yield head | {"choices": [{"index": 0, "delta": {"role": "assistant", **part}, "finish_reason": None}]}
    yield head | {"choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]}
    yield head | {"choices": [], "usage": reply["usage"]}


def _words(text: str) -> list[dict[str, str]]:
    return [{"content": part} for part in text.replace(" ", "\x00 ").split("\x00")]


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: whoever asked has gone, as a client does whose time is over."""


class _Handler(BaseHTTPRequestHandler):
    shim: Shim

    def do_POST(self) -> None:
        body = cast("dict[str, Any]", json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.shim.asked.append(body)
        fault = self.shim.faults.popleft() if self.shim.faults else None
        if fault is not None and fault.kind != "stall":
            self._fail(fault)
            return
        try:
            reply = self.shim.answer(body)
        except OSError:
            self._drop()
            return
        if body.get("stream"):
            self._stream(reply, stalls=fault is not None)
        else:
            self._json(200, reply)

    def _fail(self, fault: Fault) -> None:
        if fault.kind == "status":
            self._json(fault.status, {"error": {"message": "scripted", "type": "scripted"}}, fault.headers)
            return
        if fault.kind == "silence":
            self.shim.released.wait()
        self._drop()

    def _drop(self) -> None:
        self.close_connection = True
        self.connection.close()

    def _json(self, status: int, content: object, headers: Mapping[str, str] | None = None) -> None:
        data = json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, reply: Mapping[str, Any], *, stalls: bool) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for number, chunk in enumerate(_chunks(reply)):
            if stalls and number == 1:
                self.shim.released.wait()
            self._event(json.dumps(chunk))
        self._event(END)
        self.close_connection = True

    def _event(self, data: str) -> None:
        self.wfile.write(f"data: {data}\n\n".encode())
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: what was asked is kept."""
