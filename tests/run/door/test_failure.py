"""Which failures are the infrastructure's, whatever the client of the provider calls them."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.errors import RunError
from stateward.run.door.failure import is_infrastructure, may_pass, retry_after_s, was_refused
from tests.charts.stand_in import Status

NOW = 1_000_000.0


def named(name: str, *, base: type[Exception] = Exception) -> Exception:
    return type(name, (base,), {})("x")


def caused(cause: Exception) -> Exception:
    error = ValueError("x")
    error.__cause__ = cause
    return error


def answer(code: int) -> Exception:
    error = Exception("x")
    error.response = type("Response", (), {"status_code": code})()  # pyright: ignore[reportAttributeAccessIssue]
    return error


def body(**words: Any) -> Exception:
    error = Exception("x")
    error.body = words  # pyright: ignore[reportAttributeAccessIssue]
    return error


@pytest.mark.parametrize(
    "error",
    [
        TimeoutError(),
        ConnectionResetError(),
        *(Status(code) for code in (408, 429, 500, 502, 503, 504, 529)),
        answer(503),
        named("Odd", base=type(named("TransportError"))),
        named("APITimeoutError"),
        named("APIConnectionError"),
        caused(ConnectionRefusedError()),
        body(type="overloaded_error"),
        body(error={"type": "server_error"}),
    ],
    ids=repr,
)
def test_failure_of_the_infrastructure(error: Exception) -> None:
    """The same request may succeed later, or elsewhere."""
    assert is_infrastructure(error)


@pytest.mark.parametrize(
    "error",
    [
        *(Status(code) for code in (400, 401, 403, 404, 409, 413, 422)),
        answer(400),
        ValueError("no such option"),
        RunError("the script has ended"),
        body(type="invalid_request_error"),
        KeyError("choices"),
    ],
    ids=repr,
)
def test_failure_of_the_request(error: Exception) -> None:
    """It would fail again."""
    assert not is_infrastructure(error)


def test_answer_counts_before_what_it_was_caused_by() -> None:
    """A client may wrap a refused request."""
    error = Status(400)
    error.__cause__ = ConnectionError()
    assert not is_infrastructure(error)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Mon, 12 Jan 1970 13:46:50 GMT"}, 10.0),
        ({"retry-after": "Mon, 12 Jan 1970 13:00:00 GMT"}, 0.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
    ids=str,
)
def test_provider_says_when(headers: dict[str, str], seconds: float | None) -> None:
    """In seconds, in milliseconds or as a date; nonsense is nothing."""
    assert retry_after_s(Status(429, headers=headers), now=NOW) == seconds


def test_failure_without_an_answer_says_nothing_of_when() -> None:
    """There is nobody who could."""
    assert retry_after_s(ConnectionError(), now=NOW) is None


def test_account_without_money_does_not_get_any_by_waiting() -> None:
    """OpenAI says so with the status of a limit in time."""
    assert [may_pass(Status(429, code=code)) for code in ("insufficient_quota", "rate_limit_exceeded", None)] == [
        False,
        True,
        True,
    ]


@pytest.mark.parametrize(("code", "refused"), [(400, True), (429, True), (408, False), (500, False)])
def test_refused_request_took_nothing(code: int, refused: bool) -> None:
    """Of a server that broke nobody knows."""
    assert was_refused(Status(code)) is refused
