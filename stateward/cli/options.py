"""The arguments and options that several commands share."""

from __future__ import annotations

import getpass
import os
import shlex
from collections.abc import Sequence
from typing import Annotated
from urllib.parse import urlsplit, urlunsplit

import typer
from psycopg.conninfo import conninfo_to_dict

from stateward.run.store.backend import SERVERS
from stateward.run.tables import DEFAULT_TABLES

DEFAULT_DB = DEFAULT_TABLES
DB_VARIABLE = "STATEWARD_DB"

Graph = Annotated[
    str, typer.Argument(metavar="GRAPH", help="A name in langgraph.json, or module:attribute.", show_default=False)
]
SessionId = Annotated[str, typer.Argument(metavar="SESSION", help="Its id.", show_default=False)]
Db = Annotated[
    str,
    typer.Option(
        "--db",
        metavar="URL",
        envvar=DB_VARIABLE,
        help="The database: sqlite:///relative.db, sqlite:////absolute.db, postgresql://user@host/database, or"
        " memory: which keeps nothing.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON; docs/cli.md tells its shape.")]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="A dotted override of the graph's configuration, such as policy.fuses.usd=0.2; may be repeated.",
    ),
]
GraphOfSession = Annotated[
    str | None,
    typer.Option(
        "--graph", metavar="GRAPH", help="The session's graph, when langgraph.json does not have it under its name."
    ),
]
Drift = Annotated[
    str,
    typer.Option(
        "--drift",
        metavar="refuse|keep",
        help="What becomes of a run that began under another policy: it is refused, or goes on under that one.",
    ),
]
InsteadOf = Annotated[
    str | None,
    typer.Option(
        "--for", metavar="NAME", help="The policy of the graph that it stands in for; by default its own name."
    ),
]
By = Annotated[str | None, typer.Option("--by", metavar="NAME", help="Who decides; your login name by default.")]


def person(by: str | None) -> str:
    """Say who decides.

    Args:
        by: The name given; None for the login name.

    Returns:
        A name; empty when there is none, which the database refuses.
    """
    if by is not None:
        return by
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""


def again(*words: str, db: str) -> str:
    """Write the command that goes on with this one.

    Args:
        words: The command and its arguments, without `stateward` and `--db`.
        db: From `--db`.

    Returns:
        One line for a shell. A database that the next command takes for itself is not named. A password is left out:
        libpq also takes it from `PGPASSWORD` or `~/.pgpass`, and a terminal's output is kept.
    """
    own = db in (DEFAULT_DB, os.environ.get(DB_VARIABLE))
    return shlex.join(["stateward", *words, *([] if own else ["--db", _shown(db)])])


def again_with(
    session: str, *, overrides: Sequence[str], db: str, graph: str | None = None, drift: str = "refuse"
) -> str:
    """Write the command that goes on with a session.

    Args:
        session: Its id.
        overrides: What its run was started with.
        db: From `--db`.
        graph: The graph's word, when it is not the name in the session's row.
        drift: From `--drift`.

    Returns:
        One line for a shell.
    """
    settings = [word for override in overrides for word in ("--set", override)]
    settings += ["--drift", drift] if drift != "refuse" else []
    return again("resume", session, *(["--graph", graph] if graph else []), *settings, db=db)


def _shown(db: str) -> str:
    password = conninfo_to_dict(db).get("password") if db.startswith(SERVERS) else None
    if not password:
        return db
    parts = urlsplit(db)
    who, at, host = parts.netloc.rpartition("@")
    query = "&".join(one for one in parts.query.split("&") if not one.startswith("password="))
    return urlunsplit(parts._replace(netloc=f"{who.partition(':')[0]}{at}{host}", query=query))
