"""The chain of the audit log shows every change but a cut at its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from stateward.govern.audit import GENESIS, AuditRow, link, verify
from stateward.govern.fingerprint import digest


def chain(*records: Mapping[str, object]) -> list[AuditRow]:
    """Make the rows of a log."""
    rows: list[AuditRow] = []
    for record in records:
        previous = rows[-1].hash if rows else GENESIS
        rows.append(AuditRow(record=record, hash=link(previous, record=record)))
    return rows


def test_a_link_covers_the_record_and_the_hash_before() -> None:
    """The formula is fixed, because hashes are stored."""
    assert link(GENESIS, record={"a": 1}) == digest({"previous": GENESIS, "record": {"a": 1}})


def test_an_untouched_log_holds() -> None:
    """Rows as they were written verify, also from the middle on."""
    rows = chain({"n": 1}, {"n": 2}, {"n": 3})
    assert verify(rows) is None
    assert verify(rows[1:], start=rows[0].hash) is None
    assert verify([]) is None


edits = st.sampled_from(("change", "remove", "swap", "repeat"))


@given(st.integers(2, 6), st.data(), edits)
def test_a_changed_log_breaks_where_it_was_changed(length: int, data: st.DataObject, edit: str) -> None:
    """A changed, removed, moved or repeated row is found at its place."""
    rows = chain(*({"n": number} for number in range(length)))
    at = data.draw(st.integers(0, length - 2))
    if edit == "change":
        rows[at] = replace(rows[at], record={"n": "other"})
    elif edit == "remove":
        del rows[at]
    elif edit == "swap":
        rows[at], rows[at + 1] = rows[at + 1], rows[at]
    else:
        rows.insert(at, rows[at])
    broken = verify(rows)
    assert broken is not None
    assert broken.index == (at + 1 if edit == "repeat" else at)
