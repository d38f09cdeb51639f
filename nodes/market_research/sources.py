"""Where research gets its facts: search, pages, documents and patents over HTTP, by default from the local server.

Only addresses under the configured ones are asked, and redirects are not followed: what a page or a model says cannot
lead anywhere else.
"""

from __future__ import annotations

import json
import threading
import weakref
from collections.abc import Callable, Mapping
from http.client import HTTPMessage, HTTPResponse
from typing import IO, Any, cast
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urljoin, urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

from pydantic import BaseModel, ConfigDict, Field

from nodes.market_research.serve import LocalServer

MOST_BYTES = 2_000_000
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
SHOWN = 200
"""Letters of an address that an error shows."""


class SourcesConfig(BaseModel):
    """Base URLs of real providers; what is None comes from the local server."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    search: str | None = None
    """A SearXNG instance, or what answers `/search?q=…&format=json` in its form."""
    patents: str | None = None
    """What answers `/patents?q=…` as the local server does."""
    documents: str | None = None
    """What answers `/documents` as the local server does."""
    pages: tuple[str, ...] = ()
    """Beginnings of the addresses that may be read besides those of the local server: `https://pages.example/`."""
    timeout_s: float = Field(default=10.0, gt=0, le=300)


class SourceError(Exception):
    """A source did not answer, or may not be asked."""


class Sources:
    """The sources.

    Args:
        config: Where they are.
        open_local: Starts the local server; called when it is first needed.
    """

    def __init__(self, config: SourcesConfig, *, open_local: Callable[[], LocalServer]) -> None:
        self._config = config
        self._open_local = open_local
        self._lock = threading.Lock()
        self._base = ""

    def search(self, query: str) -> list[Mapping[str, Any]]:
        """Search the web.

        Args:
            query: What is looked for.

        Returns:
            What was found, best first: `title`, `url`, `content`.

        Raises:
            SourceError: The source did not answer in the form that is expected.
        """
        return self._listed(self._config.search, "/search", key="results", q=query, format="json")

    def patents(self, query: str) -> list[Mapping[str, Any]]:
        """Search patents.

        Args:
            query: What is looked for.

        Returns:
            Patents, best first.

        Raises:
            SourceError: The source did not answer in the form that is expected.
        """
        return self._listed(self._config.patents, "/patents", key="patents", q=query)

    def documents(self) -> list[Mapping[str, Any]]:
        """Return all texts for a search by meaning: `title`, `url`, `text`.

        Raises:
            SourceError: The source did not answer in the form that is expected.
        """
        return self._listed(self._config.documents, "/documents", key="documents")

    def page(self, url: str) -> str:
        """Read a page.

        Args:
            url: Its address, under one that is configured; a path alone is one of the local server.

        Returns:
            Its source.

        Raises:
            SourceError: The address is none of those that may be asked, or did not answer.
        """
        local, others = f"{self._local()}/", self._config.pages
        address = urljoin(local, url)
        if not any(_is_under(address, base) for base in (local, *others)):
            allowed = ", ".join(("paths of the local server", *others))
            raise SourceError(f"`{url[:SHOWN]}` may not be read; allowed: {allowed}")
        return _get(address, timeout_s=self._config.timeout_s)

    def _listed(self, base: str | None, path: str, *, key: str, **query: str) -> list[Mapping[str, Any]]:
        url = f"{(base or self._local()).rstrip('/')}{path}" + (f"?{urlencode(query)}" if query else "")
        said = _get(url, timeout_s=self._config.timeout_s)
        try:
            found = json.loads(said)[key]
        except (ValueError, LookupError, TypeError) as error:
            raise SourceError(f"`{url[:SHOWN]}` did not answer with JSON that has `{key}`") from error
        if not isinstance(found, list):
            raise SourceError(f"`{key}` of `{url[:SHOWN]}` is no list")
        return [one for one in cast("list[Any]", found) if isinstance(one, dict)]

    def _local(self) -> str:
        with self._lock:
            if not self._base:
                server = self._open_local()
                # Its thread would outlive who asked for it.
                weakref.finalize(self, server.close)
                self._base = server.url
            return self._base


def _is_under(url: str, base: str) -> bool:
    """Whether an address lies under another, as a client reads it: `..` and names before `@` lead elsewhere."""
    said, wanted = urlsplit(url), urlsplit(base)
    same_place = (said.scheme, said.netloc) == (wanted.scheme, wanted.netloc)
    return same_place and said.path.startswith(wanted.path) and ".." not in said.path.split("/")


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        return None


def _opener(url: str) -> OpenerDirector:
    # A proxy of the environment does not reach this machine's own addresses.
    own = [ProxyHandler({})] if urlsplit(url).hostname in LOOPBACK else []
    return build_opener(_NoRedirect, *own)


def _get(url: str, *, timeout_s: float) -> str:
    try:
        with cast("HTTPResponse", _opener(url).open(Request(url), timeout=timeout_s)) as reply:
            body = reply.read(MOST_BYTES + 1)
            charset = reply.headers.get_content_charset() or "utf-8"
    except HTTPError as error:
        error.close()
        raise SourceError(f"`{url[:SHOWN]}` answered with status {error.code}") from error
    except (URLError, OSError, ValueError) as error:
        raise SourceError(f"`{url[:SHOWN]}` did not answer: {error}") from error
    if len(body) > MOST_BYTES:
        raise SourceError(f"`{url[:SHOWN]}` has more than {MOST_BYTES} bytes")
    return body.decode(charset, errors="replace")
