"""What tests run in other processes: `python -m tests.run.store.workers NAME URL [ARGUMENT]`, one line of outcome."""

from __future__ import annotations

import sys

from stateward.errors import StatewardError
from stateward.run.store.database import Database, open_database
from tests.run.store.desk import entry


def _hold(database: Database, session: str) -> str:
    fence = database.leases.acquire(session).fence
    database.journal.begin(entry(session=session), fence=fence)
    print(fence, flush=True)
    sys.stdin.read()
    return "released"


def _acquire(database: Database, session: str) -> str:
    lease = database.leases.acquire(session)
    print(f"fence {lease.fence}", flush=True)
    sys.stdin.read()
    return ""


def _answer(database: Database, ask: str) -> str:
    return f"won {database.asks.answer(ask, decision='approve', by='ann').by}"


def _setup(database: Database, _: str) -> str:
    return f"rows {len(database.sessions.list())}"


def main() -> None:
    """Wait for a line on stdin so that all start together, then work."""
    name, url, argument = sys.argv[1:4]
    work = {"hold": _hold, "acquire": _acquire, "answer": _answer, "setup": _setup}[name]
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        with open_database(url) as database:
            print(work(database, argument), flush=True)
    except StatewardError as error:
        print(type(error).__name__, flush=True)


if __name__ == "__main__":
    main()
