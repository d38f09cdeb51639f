"""A small HTTP server over the collection: `python -m nodes.market_research.serve`.

| path | answer |
|---|---|
| `/search?q=…` | JSON in SearXNG's form: `{"results": [{"title", "url", "content", "score"}]}` |
| `/documents` | JSON: `{"documents": [{"title", "url", "text"}]}`, all texts, for a search by meaning |
| `/patents?q=…` | JSON: `{"patents": [{"number", "title", "holder", "year", "status", "abstract"}]}` |
| `/pages/…`, `/documents/…` | the page or document as it is |

A `url` is a path here, without host and port: it means the same after a restart. Only what was read at the start is
served: no path leads to another file.
"""

from __future__ import annotations

import argparse
import json
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from nodes.market_research.library import EXCERPT, Document, Library

SAMPLES = Path(__file__).parents[2] / "samples" / "market"
MOST_RESULTS = 8
KINDS = {".html": "text/html", ".md": "text/markdown"}

Reply = tuple[str, bytes]
"""Content type and body."""


class LocalServer:
    """The server, in a thread of its own.

    Args:
        library: What it serves.
        host: The address it listens at.
        port: The port; 0 for one that is free.
    """

    def __init__(self, library: Library, *, host: str = "127.0.0.1", port: int = 0) -> None:
        self._server = _Server((host, port), type("_Bound", (_Handler,), {"library": library}))
        self._host = host
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://{self._host}:{self._server.server_port}"

    def wait(self) -> None:
        """Wait until it is closed."""
        self._thread.join()

    def close(self) -> None:
        """End it."""
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True


class _Handler(BaseHTTPRequestHandler):
    library: Library

    def do_GET(self) -> None:  # the name that http.server looks for
        address = urlsplit(self.path)
        query = parse_qs(address.query).get("q", [""])[0]
        reply = answer(self.library, address.path, query=query)
        kind, body = ("text/plain", b"not found") if reply is None else reply
        self.send_response(404 if reply is None else 200)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the standard error stream is the application's."""


def answer(library: Library, path: str, *, query: str) -> Reply | None:
    """Answer a request.

    Args:
        library: What is served.
        path: The path of the request.
        query: What is searched for.

    Returns:
        The reply; None when there is no such path.
    """
    asked = _ASKED.get(path)
    if asked is not None:
        return "application/json", json.dumps(asked(library, query), ensure_ascii=False).encode()
    found = next((each for each in library.texts if path == f"/{each.path}"), None)
    return None if found is None else (KINDS[Path(found.path).suffix], found.source.encode())


def _search(library: Library, query: str) -> dict[str, Any]:
    found = library.search(query)[:MOST_RESULTS]
    return {"results": [{**_shown(each), "content": each.text[:EXCERPT], "score": score} for each, score in found]}


def _documents(library: Library, query: str) -> dict[str, Any]:
    return {"documents": [{**_shown(each), "text": each.text} for each in library.listed]}


def _patents(library: Library, query: str) -> dict[str, Any]:
    return {"patents": library.find_patents(query)[:MOST_RESULTS]}


def _shown(document: Document) -> dict[str, str]:
    return {"title": document.title, "url": f"/{document.path}"}


_ASKED: Mapping[str, Callable[[Library, str], dict[str, Any]]] = {
    "/search": _search,
    "/documents": _documents,
    "/patents": _patents,
}


def main() -> None:
    """Serve the samples until the process is interrupted."""
    said = argparse.ArgumentParser(prog="python -m nodes.market_research.serve", description=main.__doc__)
    said.add_argument("--folder", type=Path, default=SAMPLES, help="the collection (default: samples/market)")
    said.add_argument("--host", default="127.0.0.1")
    said.add_argument("--port", type=int, default=8321)
    given = said.parse_args()
    server = LocalServer(Library.read(given.folder), host=given.host, port=given.port)
    print(f"{server.url} serves {given.folder}", flush=True)
    try:
        server.wait()
    except KeyboardInterrupt:
        server.close()


if __name__ == "__main__":
    main()
