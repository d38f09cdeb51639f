"""Failures of a model call: which are the infrastructure's, so that the same request may succeed later or elsewhere.

Providers raise what they like, and none of them is imported here. So a failure is told by the status of its HTTP
answer, else by what it is named or was caused by.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any, cast

_AGAIN = frozenset((408, 429))
"""Statuses below 500 that say nothing against the request itself."""
_TRANSPORT = frozenset(
    (
        "TransportError",
        "NetworkError",
        "APIConnectionError",
        "APITimeoutError",
        "RemoteProtocolError",
        "ConnectError",
        "ReadError",
        "ConnectTimeout",
        "ReadTimeout",
        "PoolTimeout",
        "EndpointConnectionError",
        "ServiceUnavailable",
        "DeadlineExceeded",
        "IncompleteRead",
        "ServerDisconnectedError",
        "ClientConnectionError",
    )
)
"""Names of exceptions of the clients that LangChain's models use."""
_OF_THE_SERVER = frozenset(
    ("server_error", "overloaded_error", "api_error", "internal_server_error", "rate_limit_error")
)
"""What an error event in the middle of a stream, which has no status of its own, is called."""
_USED_UP = "insufficient_quota"
"""How OpenAI says that the account has no money left: with the status of a limit in time, which it is not."""


def is_infrastructure(error: BaseException) -> bool:
    """Whether a failure says nothing against the request: a time-out, a lost connection, a busy or broken server.

    Args:
        error: What the model raised.
    """
    for each in _chain(error):
        status = _status(each)
        if status is not None:
            return status >= 500 or status in _AGAIN
        if isinstance(each, TimeoutError | ConnectionError):
            return True
        if any(kind.__name__ in _TRANSPORT for kind in type(each).__mro__):
            return True
        if _word(each, "type") in _OF_THE_SERVER:
            return True
    return False


def may_pass(error: BaseException) -> bool:
    """Whether it makes sense to ask the same provider again.

    Args:
        error: A failure of the infrastructure.
    """
    return all(_word(each, "code") != _USED_UP for each in _chain(error))


def was_refused(error: BaseException) -> bool:
    """Whether the provider answered that it does not take the request up, so that it took no tokens.

    Args:
        error: What the model raised.
    """
    status = next((found for each in _chain(error) if (found := _status(each)) is not None), None)
    return status is not None and 400 <= status < 500 and status != 408


def retry_after_s(error: BaseException, *, now: float) -> float | None:
    """Return how long the provider wants to be left alone.

    Args:
        error: What the model raised.
        now: Seconds since the epoch.

    Returns:
        Seconds, at least 0; None when it does not say.
    """
    for each in _chain(error):
        headers = getattr(getattr(each, "response", None), "headers", None)
        if headers is None or not hasattr(headers, "get"):
            continue
        for name, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
            said = headers.get(name)
            wait = None if said is None else _seconds(str(said), unit_s=unit_s, now=now)
            if wait is not None:
                return max(0.0, wait)
    return None


def _seconds(said: str, *, unit_s: float, now: float) -> float | None:
    try:
        wait = float(said) * unit_s
    except ValueError:
        return _until(said, now=now)
    return wait if wait == wait and wait < float("inf") else None


def _until(date: str, *, now: float) -> float | None:
    try:
        when = parsedate_to_datetime(date)
    except (TypeError, ValueError):
        return None
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() - now


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and what it was caused by."""
    seen = set[int]()
    each: BaseException | None = error
    while each is not None and id(each) not in seen:
        seen.add(id(each))
        yield each
        each = each.__cause__ or (None if each.__suppress_context__ else each.__context__)


def _status(error: BaseException) -> int | None:
    """Return the HTTP status that an exception carries."""
    places = (error, getattr(error, "response", None))
    said: list[Any] = [
        getattr(each, name, None) for each in places for name in ("status_code", "http_status", "status", "code")
    ]
    return next((each for each in said if type(each) is int and 400 <= each < 600), None)


def _word(error: BaseException, name: str) -> str | None:
    """Return what an exception, or the JSON body of its answer, calls itself."""
    said = getattr(error, name, None)
    body = getattr(error, "body", None)
    if not isinstance(said, str) and isinstance(body, Mapping):
        words = cast("Mapping[str, Any]", body)
        inner = words.get("error")
        said = (cast("Mapping[str, Any]", inner) if isinstance(inner, Mapping) else words).get(name)
    return said if isinstance(said, str) else None
