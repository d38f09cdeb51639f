"""Whether a database is there already: asking about sessions makes neither a file nor tables."""

from __future__ import annotations

from pathlib import Path

from stateward.run.store.backend import FILE, MEMORY, SERVERS, without_secrets
from stateward.run.store.postgres_setup import connected, has_table

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
    if url == MEMORY:
        return False
    if url.startswith(FILE):
        return Path(url.removeprefix(FILE)).is_file()
    if not url.startswith(SERVERS):
        return True
    with connected(url, label=without_secrets(url)) as raw:
        return has_table(raw, _TABLE)
