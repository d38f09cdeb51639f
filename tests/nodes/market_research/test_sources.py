"""Sources: the local server by default, real providers by address, and nothing else."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from nodes.market_research.library import Library
from nodes.market_research.serve import LocalServer
from nodes.market_research.sources import SourceError, Sources, SourcesConfig

REPLIES: dict[str, tuple[int, str]] = {
    "/search": (200, json.dumps({"results": [{"title": "real", "url": "https://pages.example/"}, "rubbish"]})),
    "/wrong/search": (200, "<html>sorry</html>"),
    "/list/search": (200, json.dumps({"results": "none"})),
    "/down/search": (503, ""),
    "/away": (302, ""),
    "/page": (200, "<html><p>a page</p>"),
}


class Provider(BaseHTTPRequestHandler):
    """What stands for a real provider."""

    def do_GET(self) -> None:  # the name that http.server looks for
        status, body = REPLIES.get(self.path.partition("?")[0], (404, ""))
        self.send_response(status)
        self.send_header("Location", "/page")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def provider() -> Iterator[str]:
    """The address of the provider."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def at(library: Library, **config: Any) -> Sources:
    return Sources(SourcesConfig(**config), open_local=lambda: LocalServer(library))


def test_by_default_the_local_server_answers_all(sources: Sources) -> None:
    """It is started when it is first asked."""
    assert sources.search("Kreisbox")[0]["url"] == "/pages/kreisbox.html"
    assert sources.patents("envelope")[0]["holder"] == "Nordfold"
    assert len(sources.documents()) == 15
    assert "Kreisbox rents" in sources.page("/pages/kreisbox.html")


def test_the_local_server_is_not_started_where_nothing_asks_it(provider: str) -> None:
    """All that is asked has an address of its own."""

    def refuse() -> LocalServer:
        raise AssertionError("it was started")

    sources = Sources(SourcesConfig(search=provider), open_local=refuse)
    assert sources.search("x") == [{"title": "real", "url": "https://pages.example/"}]


@pytest.mark.parametrize(
    ("path", "message"), [("/wrong", "JSON that has `results`"), ("/list", "is no list"), ("/down", "status 503")]
)
def test_what_does_not_answer_as_it_should_is_an_error(
    library: Library, provider: str, path: str, message: str
) -> None:
    """It says which address, and what was wrong."""
    with pytest.raises(SourceError, match=message):
        at(library, search=f"{provider}{path}").search("x")


@pytest.mark.parametrize(
    "url",
    [
        "https://pages.example/",
        "http://127.0.0.1:1/pages/kreisbox.html",
        "//pages.example/x",
        "file:///etc/passwd",
        "http://localhost/",
    ],
)
def test_a_page_elsewhere_is_not_read(sources: Sources, url: str) -> None:
    """Whoever names it."""
    with pytest.raises(SourceError, match="may not be read"):
        sources.page(url)


@pytest.mark.parametrize("url", ["{0}/page", "{0}/page?x=1"])
def test_pages_of_a_configured_address_are_read(library: Library, provider: str, url: str) -> None:
    """Under its path, and nowhere beside it."""
    assert "a page" in at(library, pages=[f"{provider}/page"]).page(url.format(provider))


@pytest.mark.parametrize("url", ["{0}/other", "{0}/page/../other", "http://x@127.0.0.1/page"])
def test_pages_beside_a_configured_address_are_not(library: Library, provider: str, url: str) -> None:
    """However they are written."""
    with pytest.raises(SourceError, match="may not be read"):
        at(library, pages=[f"{provider}/page"]).page(url.format(provider))


def test_a_redirect_is_not_followed(library: Library, provider: str) -> None:
    """It could lead anywhere."""
    with pytest.raises(SourceError, match="status 302"):
        at(library, pages=[f"{provider}/"]).page(f"{provider}/away")
