"""How long a transaction may keep others from its session, although its process stands still."""

from __future__ import annotations

from stateward.run.store.database import open_database
from stateward.run.store.postgres import LIMIT_S
from stateward.run.store.postgres_pool import IDLE_S, LOCK_S
from tests.postgres import Server


def limit(postgres: Server, session: str) -> str:
    with open_database(postgres.url()) as database, database.transaction(session) as cur:
        return cur.execute("SHOW transaction_timeout").fetchone()[0]


def test_a_transaction_of_a_session_is_limited(postgres: Server) -> None:
    """The server counts no idle time after a pipeline: without a limit, a stopped process would keep its locks."""
    assert limit(postgres, "s1") == f"{LIMIT_S}s"


def test_a_transaction_of_the_whole_database_takes_its_time(postgres: Server) -> None:
    """An import is long, and no session waits for it alone."""
    assert limit(postgres, "") == "0"


def test_who_waits_for_a_session_outwaits_the_limit() -> None:
    """Else the takeover fails before the server has ended the transaction that stands."""
    assert IDLE_S < LIMIT_S < LOCK_S
