"""The audit log: append-only, chained, in one line whoever writes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stateward.errors import CheckpointError, CodecError, StatewardError
from stateward.govern.audit import GENESIS, link
from stateward.run.store.audit_log import AuditLog
from stateward.run.store.database import Database
from tests.run.store.desk import Fresh, StillClock

_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters())
_JSON = st.recursive(_SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=6)


@pytest.mark.parametrize("backend", ["memory"], indirect=True)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(extra=st.dictionaries(st.text(), _JSON, max_size=4))
def test_each_row_is_linked_as_govern_says(extra: dict[str, Any], fresh: Fresh) -> None:
    """Fast or slow, the text that is hashed is the canonical one."""
    with fresh() as database:
        record = {**extra, "at": "now", "session": "s"}
        assert database.audit.append(record) == link(GENESIS, record=record)
        assert database.audit.verify() == 1


def test_rows_are_chained_stamped_and_filed_by_session(fresh: Fresh) -> None:
    """A record without a time gets one."""
    database = fresh()
    for session in ("a", "b", "a"):
        database.audit.append({"session": session, "event": "x"})
    rows = database.audit.rows()
    assert [row.previous for row in rows] == [GENESIS, rows[0].hash, rows[1].hash]
    assert [row.seq for row in database.audit.rows("a")] == [1, 3]
    assert rows[0].record["at"] == "1970-01-01T00:16:40+00:00"
    assert database.audit.verify() == 3


def test_no_secret_gets_into_the_log(fresh: Fresh) -> None:
    """Whoever writes a record; the session that files it stays as it is."""
    database = fresh()
    database.audit.append({"session": "password=a1b2c3", "note": "password=a1b2c3", "by": "ann@example.org"})
    (row,) = database.audit.rows()
    assert {**row.record, "at": ""} == {
        "at": "",
        "session": "password=a1b2c3",
        "note": "password=[redacted password]",
        "by": "ann@example.org",
    }


@pytest.mark.parametrize("statement", ["UPDATE stateward_audit SET record = '{}'", "DELETE FROM stateward_audit"])
def test_the_log_can_only_be_appended_to(statement: str, fresh: Fresh) -> None:
    """The database itself refuses."""
    database = fresh()
    database.audit.append({"event": "x"})
    with pytest.raises(CheckpointError, match="append-only"), database.transaction() as cur:
        cur.execute(statement)
    assert database.audit.verify() == 1


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE stateward_audit SET record = replace(record, 'x1', 'y1') WHERE seq = 2",
        "DELETE FROM stateward_audit WHERE seq = 2",
    ],
)
def test_a_changed_or_removed_row_is_found(statement: str, fresh: Fresh) -> None:
    """Even when somebody took the triggers away."""
    database = fresh()
    for number in range(4):
        database.audit.append({"event": f"x{number}"})
    with database.transaction() as cur:
        on = " ON stateward_audit" if database.url != "memory:" else ""
        cur.execute(f"DROP TRIGGER stateward_audit_no_update{on}")
        cur.execute(f"DROP TRIGGER stateward_audit_no_delete{on}")
        cur.execute(statement)
    with pytest.raises(CheckpointError, match=r"Row [23]"):
        database.audit.verify()


def test_a_record_that_is_no_json_is_refused(fresh: Fresh) -> None:
    """Nothing is written."""
    database = fresh()
    with pytest.raises(CodecError):
        database.audit.append({"x": object()})
    assert database.audit.rows() == ()


# -- keys, and what is kept elsewhere ---------------------------------------------------------------------

OLD, NEW = b"o" * 16, b"n" * 32


def log(database: Database, **keys: bytes) -> AuditLog:
    """The same log, as a process with these keys sees it."""
    return AuditLog(database.audit._connection, keys=keys)  # pyright: ignore[reportPrivateUsage]


def rewritten(database: Database, statement: str) -> None:
    """Do what only somebody can who takes the triggers away."""
    with database.transaction() as cur:
        on = " ON stateward_audit" if database.url != "memory:" else ""
        for when in ("update", "delete", *(["truncate"] if on else [])):
            cur.execute(f"DROP TRIGGER stateward_audit_no_{when}{on}")
        cur.execute(statement)


def test_a_log_that_began_without_a_key_goes_on_with_one(fresh: Fresh) -> None:
    """Old rows verify as before; new ones name their key, and another key may follow."""
    database = fresh()
    for ring in ({}, {"old": OLD}, {"new": NEW, "old": OLD}):
        log(database, **ring).append({"event": "x"})
    assert [row.hash.rpartition(":")[0] for row in database.audit.rows()] == ["", "old", "new"]
    assert log(database, old=OLD, new=NEW).verify() == 3


@pytest.mark.parametrize("keys", [{}, {"old": NEW}, {"new": NEW}])
def test_who_has_not_the_key_adds_nothing_and_verifies_nothing(keys: dict[str, bytes], fresh: Fresh) -> None:
    """A row without it would break the chain for good; reading needs none."""
    database = fresh()
    log(database, old=OLD).append({"event": "x"})
    with pytest.raises(CheckpointError, match="key `old`"):
        log(database, **keys).append({"event": "y"})
    with pytest.raises(StatewardError):
        log(database, **keys).verify()
    assert [row.record["event"] for row in database.audit.rows()] == ["x"]


def test_a_chain_written_anew_without_the_key_is_found(fresh: Fresh) -> None:
    """Whether somebody forged all of it, or went on after the keyed rows."""
    database = fresh()
    database.audit.append({"event": "forged"})
    with pytest.raises(CheckpointError, match="No row"):
        log(database, old=OLD).verify()
    log(database, old=OLD).append({"event": "x"})
    forged = link(database.audit.head().hash, record={"a": 1})
    row = f"('s', '{{\"a\":1}}', '{database.audit.head().hash}', '{forged}')"
    rewritten(database, f"INSERT INTO stateward_audit (session, record, previous, hash) VALUES {row}")
    with pytest.raises(CheckpointError, match="Row 3"):
        log(database, old=OLD).verify()


@pytest.mark.parametrize(("statement", "seq"), [
    ("DELETE FROM stateward_audit WHERE seq > 2", 4),
    ("DELETE FROM stateward_audit", 1),
])  # fmt: skip
def test_a_cut_tail_is_found_by_a_head_that_was_kept(statement: str, seq: int, fresh: Fresh) -> None:
    """The chain that is left holds, so only the head tells."""
    database = fresh()
    heads = [database.audit.head()]
    for number in range(4):
        database.audit.append({"event": f"x{number}"})
        heads.append(database.audit.head())
    assert [database.audit.verify(head=head) for head in heads] == [4] * 5
    rewritten(database, statement)
    assert database.audit.verify() < 4
    with pytest.raises(CheckpointError, match=f"does not hold row {seq}"):
        database.audit.verify(head=heads[seq])


def test_rows_in_another_order_are_found(fresh: Fresh) -> None:
    """Two rows that change places are two rows that do not fit."""
    database = fresh()
    for number in range(4):
        database.audit.append({"event": f"x{number}"})
    other = "(SELECT {0} FROM stateward_audit b WHERE b.seq = 5 - a.seq)"
    swapped = ", ".join(f"{column} = {other.format(column)}" for column in ("record", "hash", "previous"))
    rewritten(database, f"UPDATE stateward_audit AS a SET {swapped} WHERE seq IN (2, 3)")
    with pytest.raises(CheckpointError, match="Row 2"):
        database.audit.verify()


@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
@pytest.mark.parametrize("table", ["stateward_audit", "stateward_revocations"])
def test_a_server_truncates_neither(table: str, fresh: Fresh) -> None:
    """The row triggers would not see it."""
    database = fresh()
    with pytest.raises(CheckpointError, match=r"append-only|never undone"), database.transaction() as cur:
        cur.execute(f"TRUNCATE {table}")


def test_rows_are_read_in_pieces_by_kind_and_time(fresh: Fresh, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log may be larger than the memory."""
    monkeypatch.setattr("stateward.run.store.audit_log._BATCH", 2)
    clock = StillClock()
    database = fresh(clock)
    for number in range(5):
        clock.time = 1_000.0 + number
        database.audit.append({"event": "even" if number % 2 == 0 else "odd"})
    found = database.audit.read(events=["even"], since=1_001.0, until=1_004.0)
    assert [row.seq for row in found] == [3]
    assert (len(database.audit.rows()), database.audit.count(), database.audit.verify()) == (5, 5, 5)
