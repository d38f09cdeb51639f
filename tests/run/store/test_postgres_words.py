"""What an error of PostgreSQL means: whether the same work may be done again on another connection."""

from __future__ import annotations

import pytest
from psycopg import Error, OperationalError, errors

from stateward.run.store.postgres_words import advice

LOST = (
    OperationalError,
    errors.AdminShutdown,
    errors.CrashShutdown,
    errors.CannotConnectNow,
    errors.SerializationFailure,
    errors.IdleInTransactionSessionTimeout,
)


@pytest.mark.parametrize("kind", LOST)
def test_work_whose_connection_was_ended_is_done_again(kind: type[Error]) -> None:
    """A server that went away, and one that ended a transaction because its process stood still."""
    assert advice(kind("gone"))[1]


@pytest.mark.parametrize("kind", [errors.DiskFull, errors.InvalidPassword, errors.NotNullViolation])
def test_work_the_server_refused_is_not_done_again(kind: type[Error]) -> None:
    """It would be refused again."""
    assert not advice(kind("no"))[1]
