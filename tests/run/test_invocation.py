"""One call of a graph."""

from __future__ import annotations

from stateward.run.drive import Bridge
from stateward.run.invocation import Invocation, new_id, session_of
from stateward.run.store.database import Database, open_database


def test_database_is_opened_once_and_when_needed() -> None:
    """A chart that calls nothing opens nothing."""
    opened: list[Database] = []

    def make() -> Database:
        opened.append(open_database("memory:"))
        return opened[-1]

    invocation = Invocation(session="s", open_database=make, bridge=Bridge())
    assert opened == []
    assert invocation.database is invocation.database
    invocation.close_database()
    assert len(opened) == 1


def test_session_is_langgraphs_thread() -> None:
    """As text, whatever it was; None without one."""
    assert session_of({"configurable": {"thread_id": 7}}) == "7"
    assert session_of({}) is None


def test_ids_are_new_and_say_what_for() -> None:
    """Two are never the same."""
    assert new_id("run").startswith("run_")
    assert new_id("run") != new_id("run")


def test_fence_is_the_leases() -> None:
    """None without a lease."""
    with open_database("memory:") as database:
        lease = database.leases.acquire("s")
        free = Invocation(session="s", open_database=lambda: database, bridge=Bridge())
        held = Invocation(session="s", open_database=lambda: database, bridge=Bridge(), lease=lease)
        assert (free.fence, held.fence) == (None, lease.fence)


def test_call_that_is_left_keeps_no_lease() -> None:
    """Neither one it holds nor one that is being taken."""
    with open_database("memory:") as database:
        invocation = Invocation(session="s", open_database=lambda: database, bridge=Bridge())
        for _ in range(2):
            invocation.acquire("g", None)
            invocation.leave()
            assert (invocation.lease, database.leases.held("s")) == (None, None)
