"""The tables that live beside LangGraph's checkpoints, and how a database is brought up to them.

The SQL is plain: TEXT, INTEGER, REAL, primary keys and `?` parameters; `Connection.dialect` puts it into the words of
another database, which has triggers of its own. Amounts are whole billionths of their unit, so that sums are exact.
"""

from __future__ import annotations

from stateward.errors import CodecError
from stateward.run.store.canary import KEYS_TABLE, is_settled, settle
from stateward.run.store.connection import Connection
from stateward.run.store.layout import Layout

VERSION = 6
"""The layout this release reads and writes; an older one is brought up to it when it is opened."""

_SESSIONS = """
CREATE TABLE stateward_sessions (
    id TEXT NOT NULL PRIMARY KEY,
    graph TEXT NOT NULL DEFAULT '',
    tenant TEXT NOT NULL DEFAULT '',
    status TEXT NOT NULL DEFAULT 'running',
    path TEXT NOT NULL DEFAULT '[]',
    run TEXT NOT NULL DEFAULT '',
    run_no INTEGER NOT NULL DEFAULT 0,
    branch TEXT NOT NULL DEFAULT '',
    mode TEXT NOT NULL DEFAULT '',
    chart_hash TEXT NOT NULL DEFAULT '',
    policy_hash TEXT NOT NULL DEFAULT '',
    schema_hash TEXT NOT NULL DEFAULT '',
    reason TEXT,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    holder TEXT,
    fence INTEGER NOT NULL DEFAULT 0,
    lease_until REAL NOT NULL DEFAULT 0,
    wakes_at REAL,
    mail INTEGER NOT NULL DEFAULT 0
)"""

_TERMINALS = """
CREATE TABLE stateward_terminals (
    session TEXT NOT NULL,
    run TEXT NOT NULL,
    status TEXT NOT NULL,
    path TEXT NOT NULL,
    branch TEXT NOT NULL,
    reason TEXT,
    checkpoint TEXT NOT NULL,
    ended_at REAL NOT NULL,
    PRIMARY KEY (session, run)
)"""

_JOURNAL = """
CREATE TABLE stateward_journal (
    session TEXT NOT NULL,
    run TEXT NOT NULL,
    branch TEXT NOT NULL,
    path TEXT NOT NULL,
    activation INTEGER NOT NULL,
    call INTEGER NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    arguments TEXT NOT NULL,
    effect TEXT NOT NULL,
    status TEXT NOT NULL,
    result TEXT,
    error TEXT,
    charges TEXT NOT NULL,
    overrun TEXT NOT NULL DEFAULT '{}',
    tokens_in INTEGER NOT NULL DEFAULT 0,
    tokens_out INTEGER NOT NULL DEFAULT 0,
    usd REAL NOT NULL DEFAULT 0,
    tries INTEGER NOT NULL DEFAULT 1,
    started_at REAL NOT NULL,
    ended_at REAL,
    PRIMARY KEY (session, run, branch, path, activation, call)
)"""

_LEDGER = """
CREATE TABLE stateward_ledger (
    session TEXT NOT NULL,
    run TEXT NOT NULL,
    scope TEXT NOT NULL,
    unit TEXT NOT NULL,
    spent INTEGER NOT NULL DEFAULT 0,
    reserved INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (session, run, scope, unit)
) WITHOUT ROWID"""

_LIMITS = """
CREATE TABLE stateward_limits (
    session TEXT NOT NULL,
    run TEXT NOT NULL,
    scope TEXT NOT NULL,
    unit TEXT NOT NULL,
    value INTEGER NOT NULL,
    by TEXT NOT NULL,
    reason TEXT NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (session, run, scope, unit)
)"""

_ASKS = """
CREATE TABLE stateward_asks (
    id TEXT NOT NULL PRIMARY KEY,
    session TEXT NOT NULL,
    run TEXT NOT NULL,
    branch TEXT NOT NULL,
    path TEXT NOT NULL,
    activation INTEGER NOT NULL,
    call INTEGER NOT NULL,
    kind TEXT NOT NULL,
    tool TEXT NOT NULL,
    arguments TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    reason TEXT NOT NULL,
    approvers TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at REAL NOT NULL,
    expires_at REAL,
    decision TEXT,
    note TEXT NOT NULL DEFAULT '',
    answered_by TEXT NOT NULL DEFAULT '',
    answered_at REAL,
    approvals INTEGER NOT NULL DEFAULT 1,
    barred TEXT NOT NULL DEFAULT '[]',
    answers TEXT NOT NULL DEFAULT ''
)"""

_MAILBOX = """
CREATE TABLE stateward_mailbox (
    session TEXT NOT NULL,
    no INTEGER NOT NULL,
    event TEXT NOT NULL,
    data TEXT,
    posted_at REAL NOT NULL,
    by TEXT NOT NULL DEFAULT '',
    status TEXT NOT NULL DEFAULT 'posted',
    at TEXT NOT NULL DEFAULT '',
    note TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (session, no)
)"""

_AUDIT = """
CREATE TABLE stateward_audit (
    seq INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    record TEXT NOT NULL,
    previous TEXT NOT NULL,
    hash TEXT NOT NULL
)"""

_LATER = (
    _MAILBOX,
    "CREATE INDEX stateward_sessions_waking ON stateward_sessions (wakes_at) WHERE wakes_at IS NOT NULL",
    "CREATE INDEX stateward_mailbox_posted ON stateward_mailbox (session) WHERE status = 'posted'",
)
"""What layout 2 has and layout 1 has not, beside two columns of the sessions."""

_ORDERS = """
CREATE TABLE stateward_orders (
    session TEXT NOT NULL,
    fence INTEGER NOT NULL,
    kind TEXT NOT NULL,
    by TEXT NOT NULL,
    reason TEXT NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (session, fence, kind)
)"""

_TURNS = """
CREATE TABLE stateward_turns (
    session TEXT NOT NULL,
    no INTEGER NOT NULL,
    holder TEXT NOT NULL,
    until REAL NOT NULL,
    PRIMARY KEY (session, no)
)"""

_BLOBS = """
CREATE TABLE stateward_blobs (
    session TEXT NOT NULL,
    digest TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (session, digest)
)"""

_DEFINITIONS = """
CREATE TABLE stateward_definitions (
    hash TEXT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (hash, kind)
)"""

_LATEST = (_ORDERS, _TURNS, _BLOBS, _DEFINITIONS)
"""What layout 3 has and layout 2 has not."""

_GOVERNED = (
    """
CREATE TABLE stateward_revocations (
    session TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    by TEXT NOT NULL,
    reason TEXT NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (session, kind, name)
)""",
    """CREATE TRIGGER stateward_revocations_no_update BEFORE UPDATE ON stateward_revocations
    BEGIN SELECT RAISE(ABORT, 'a revocation is never undone'); END""",
    """CREATE TRIGGER stateward_revocations_no_delete BEFORE DELETE ON stateward_revocations
    BEGIN SELECT RAISE(ABORT, 'a revocation is never undone'); END""",
    """CREATE TRIGGER stateward_audit_no_truncate BEFORE TRUNCATE ON stateward_audit
    BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END""",
    """CREATE TRIGGER stateward_revocations_no_truncate BEFORE TRUNCATE ON stateward_revocations
    BEGIN SELECT RAISE(ABORT, 'a revocation is never undone'); END""",
)
"""What layout 5 has and layout 4 has not."""

_STATEMENTS = (
    _SESSIONS,
    _TERMINALS,
    _JOURNAL,
    _LEDGER,
    _LIMITS,
    _ASKS,
    _AUDIT,
    "CREATE INDEX stateward_asks_open ON stateward_asks (status, session)",
    "CREATE INDEX stateward_audit_session ON stateward_audit (session)",
    """CREATE TRIGGER stateward_audit_no_update BEFORE UPDATE ON stateward_audit
    BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END""",
    """CREATE TRIGGER stateward_audit_no_delete BEFORE DELETE ON stateward_audit
    BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END""",
    *_LATER,
    *_LATEST,
    KEYS_TABLE,
    *_GOVERNED,
)

_STEPS = {
    1: (
        "ALTER TABLE stateward_sessions ADD COLUMN wakes_at REAL",
        "ALTER TABLE stateward_sessions ADD COLUMN mail INTEGER NOT NULL DEFAULT 0",
        *_LATER,
    ),
    2: _LATEST,
    3: (KEYS_TABLE,),
    4: _GOVERNED,
    5: (
        "ALTER TABLE stateward_asks ADD COLUMN approvals INTEGER NOT NULL DEFAULT 1",
        "ALTER TABLE stateward_asks ADD COLUMN barred TEXT NOT NULL DEFAULT '[]'",
        "ALTER TABLE stateward_asks ADD COLUMN answers TEXT NOT NULL DEFAULT ''",
    ),
}
"""For each older layout what makes the next one of it."""


def prepare(connection: Connection, *, layout: Layout) -> None:
    """Create the tables unless they are there, or bring older ones up to this release, once its keys are checked.

    Any number of processes may do so at once: what is found is looked at again inside the transaction that changes it.

    Args:
        connection: An open connection, with the cipher of the keys that are given.
        layout: How its checkpoints are laid out.

    Raises:
        CodecError: The database was written by a newer release, or is encrypted otherwise than the keys say; nothing
            was changed.
        CheckpointError: The database cannot be written.
    """
    if _found(connection) == VERSION and is_settled(connection):
        return
    with connection.transaction() as cur:
        cur.execute("CREATE TABLE IF NOT EXISTS stateward_schema (version INTEGER NOT NULL)")
        row = cur.execute("SELECT version FROM stateward_schema").fetchone()
        for statement in _STATEMENTS if row is None else _missing(connection, row[0]):
            cur.execute(connection.dialect(statement))
        if row is None:
            cur.execute("INSERT INTO stateward_schema (version) VALUES (?)", (VERSION,))
        else:
            cur.execute("UPDATE stateward_schema SET version = ?", (VERSION,))
        settle(cur, connection, layout=layout)


def _missing(connection: Connection, version: int) -> list[str]:
    """What a database of an older layout lacks."""
    if version > VERSION:
        raise _newer(connection, version)
    return [statement for step in range(version, VERSION) for statement in _STEPS[step]]


def _found(connection: Connection) -> int | None:
    if "stateward_schema" not in connection.tables():
        return None
    with connection.read() as cur:
        row = cur.execute("SELECT version FROM stateward_schema").fetchone()
    if row is not None and row[0] > VERSION:
        raise _newer(connection, row[0])
    return None if row is None else int(row[0])


def _newer(connection: Connection, version: int) -> CodecError:
    return CodecError(
        f"The database has layout `{version}`, this release reads up to `{VERSION}`",
        where=connection.label,
        fix="Open it with the release that wrote it, or use a new database.",
    )
