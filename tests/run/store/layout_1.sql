-- The tables of layout 1, as the first release made them: what a database of that time is built from in tests.
CREATE TABLE stateward_schema (version INTEGER NOT NULL);
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
    lease_until REAL NOT NULL DEFAULT 0
);
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
);
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
);
CREATE TABLE stateward_ledger (
    session TEXT NOT NULL,
    run TEXT NOT NULL,
    scope TEXT NOT NULL,
    unit TEXT NOT NULL,
    spent INTEGER NOT NULL DEFAULT 0,
    reserved INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (session, run, scope, unit)
) WITHOUT ROWID;
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
);
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
    answered_at REAL
);
CREATE TABLE stateward_audit (
    seq INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    record TEXT NOT NULL,
    previous TEXT NOT NULL,
    hash TEXT NOT NULL
);
CREATE INDEX stateward_asks_open ON stateward_asks (status, session);
CREATE INDEX stateward_audit_session ON stateward_audit (session);
CREATE TRIGGER stateward_audit_no_update BEFORE UPDATE ON stateward_audit
    BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER stateward_audit_no_delete BEFORE DELETE ON stateward_audit
    BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
INSERT INTO stateward_schema (version) VALUES (1);
