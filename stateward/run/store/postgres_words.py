"""How PostgreSQL says what SQLite says: statements that make tables, and what an error means."""

from __future__ import annotations

import re

from psycopg import Error, InterfaceError, OperationalError, errors

from stateward.errors import CheckpointError, ConnectionLost

_TRIGGER = re.compile(
    r"CREATE TRIGGER (\w+) BEFORE (\w+) ON (\w+)\s+BEGIN SELECT RAISE\(ABORT, ('[^']*')\); END", re.DOTALL
)
_TABLE = re.compile(r"(\s*CREATE TABLE (?:IF NOT EXISTS )?\w+ \()")
_TYPES = (
    ("seq INTEGER PRIMARY KEY", "seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"),
    (" INTEGER", " BIGINT"),
    (" REAL", " DOUBLE PRECISION"),
    (" BLOB", " BYTEA"),
    (" WITHOUT ROWID", ""),
)
_AGAIN = (errors.SerializationFailure, errors.DeadlockDetected, errors.TransactionTimeout)
_ADVICE: tuple[tuple[type[Error], str], ...] = (
    (errors.DiskFull, "Free some disk space and resume: nothing of the failed step was kept."),
    (errors.LockNotAvailable, "Another process held the session for too long: end it, or try again."),
    (errors.ReadOnlySqlTransaction, "Connect to the server that may be written."),
    (errors.InsufficientPrivilege, "Give the user the right to create and write tables there."),
    (errors.InvalidPassword, "Check the user and the password in the URL."),
    (errors.InvalidCatalogName, "Create the database, or name another one in the URL."),
)


def worded(statement: str) -> str:
    """Return a statement that makes a table, an index or a trigger in PostgreSQL's words.

    A table gets a column `rowid` that tells the order in which its rows were written, as SQLite's have one.

    Args:
        statement: In SQLite's words.
    """
    trigger = _TRIGGER.fullmatch(statement.strip())
    if trigger is not None:
        name, when, table, message = trigger.groups()
        each = "STATEMENT" if when == "TRUNCATE" else "ROW"
        return (
            f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION {message}; END $$;"
            f" CREATE TRIGGER {name} BEFORE {when} ON {table} FOR EACH {each} EXECUTE FUNCTION {name}()"
        )
    ordered = "WITHOUT ROWID" not in statement and "seq INTEGER" not in statement
    for ours, theirs in _TYPES:
        statement = statement.replace(ours, theirs)
    return _TABLE.sub(r"\1rowid BIGINT GENERATED ALWAYS AS IDENTITY, ", statement) if ordered else statement


def advice(error: Error) -> tuple[str, bool]:
    """Say what to do about an error.

    Args:
        error: What the driver raised.

    Returns:
        The advice, and whether the same work may succeed on another connection.
    """
    for kind, fix in _ADVICE:
        if isinstance(error, kind):
            return fix, False
    if isinstance(error, errors.IdleInTransactionSessionTimeout):
        return "Try again: this process stood still inside a transaction, and the server ended it.", True
    if isinstance(error, _AGAIN):
        return "Try again: another transaction came in between.", True
    if isinstance(error, OperationalError | InterfaceError):
        return "Check that the server runs and can be reached.", True
    return "Check what was to be stored; the server refused the statement.", False


def named(error: Error, *, label: str) -> CheckpointError:
    """Turn an error of PostgreSQL into one that says where it happened and what to do.

    Args:
        error: What the driver raised.
        label: How the message names the database.

    Returns:
        The error to raise; `ConnectionLost` when the same work may succeed on another connection.
    """
    fix, lost = advice(error)
    text = " ".join(str(error).split()) or type(error).__name__
    kind = ConnectionLost if lost else CheckpointError
    return kind(f"The database failed: {text}", where=f"`{label}`", fix=fix)
