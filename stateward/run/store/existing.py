"""Whether a database is there already: asking about sessions makes neither a file nor tables."""

from __future__ import annotations

from pathlib import Path

import psycopg

from stateward.run.store.backend import FILE, SERVERS, without_secrets
from stateward.run.store.postgres import named

_TABLE = "stateward_sessions"


def is_there(url: str) -> bool:
    """Say whether there is a database of Stateward's at a URL.

    Args:
        url: See `stateward.open`.

    Returns:
        False where nothing was ever run: no such file, no tables on the server, or a database in memory. What is no
        URL counts as there: opening it says what is wrong.

    Raises:
        CheckpointError: The server cannot be reached or refuses the user.
    """
    if url == "memory:":
        return False
    if url.startswith(FILE):
        return Path(url.removeprefix(FILE)).is_file()
    return not url.startswith(SERVERS) or _has_tables(url)


def _has_tables(url: str) -> bool:
    label = without_secrets(url)
    try:
        with psycopg.connect(url, autocommit=True, connect_timeout=10, application_name="stateward") as raw:
            found = raw.execute("SELECT to_regclass(%s)", (_TABLE,)).fetchone()
    except psycopg.Error as error:
        raise named(error, label=label) from error
    return found is not None and found[0] is not None
