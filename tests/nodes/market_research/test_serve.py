"""The small server over the collection."""

from __future__ import annotations

import json
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from nodes.market_research.library import Library
from nodes.market_research.serve import LocalServer, answer


def test_a_search_is_answered_in_searxngs_form(library: Library) -> None:
    """Title, address and the beginning of each text; an address means the same after a restart."""
    kind, body = answer(library, "/search", query="Kreisbox prices") or ("", b"")
    first = json.loads(body)["results"][0]
    assert (kind, first["url"], first["title"]) == (
        "application/json",
        "/pages/kreisbox.html",
        "Kreisbox: prices and plans",
    )


@pytest.mark.parametrize(
    "path", ["/pages/../README.md", "/etc/passwd", "/pages/", "/", "/pages/kreisbox.html/..", "//"]
)
def test_no_path_leads_to_another_file(library: Library, path: str) -> None:
    """Only what was read at the start is served."""
    assert answer(library, path, query="") is None


def test_it_serves_over_http(server: LocalServer) -> None:
    """Pages as they are, and 404 for what is not there."""
    with urlopen(f"{server.url}/pages/kreisbox.html", timeout=5) as reply:  # an address of this test
        assert (reply.headers["Content-Type"], b"<title>Kreisbox" in reply.read()) == ("text/html; charset=utf-8", True)
    with pytest.raises(HTTPError, match="404") as missing:
        urlopen(f"{server.url}/pages/none.html", timeout=5)
    missing.value.close()
