"""The arguments and options that several commands share."""

from __future__ import annotations

import getpass
from typing import Annotated

import typer

from stateward.run.tables import DEFAULT_TABLES

DEFAULT_DB = DEFAULT_TABLES

Graph = Annotated[
    str, typer.Argument(metavar="GRAPH", help="A name in langgraph.json, or module:attribute.", show_default=False)
]
Db = Annotated[
    str,
    typer.Option(
        "--db",
        metavar="URL",
        envvar="STATEWARD_DB",
        help="The database: sqlite:///relative.db, sqlite:////absolute.db, or memory: which keeps nothing.",
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
