"""The audit log: append-only, chained, in one line whoever writes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stateward.errors import CheckpointError, CodecError
from stateward.govern.audit import GENESIS, link
from tests.run.store.desk import Fresh

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
