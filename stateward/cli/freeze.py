"""`stateward freeze`: write a recorded run into a file, which pytest plays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from stateward.cli import options
from stateward.cli.loading import Loaded, load
from stateward.cli.place import opened_session
from stateward.cli.rendering import plain, print_facts, print_json, stderr
from stateward.errors import DefinitionError, NotExpected
from stateward.testing.frozen import freeze

_HELP = """Freeze a recorded run as a test.

The file holds the inputs, events, answers and calls of the run, and what each
step came to; calls as the journal holds them, without secrets. pytest plays
every file in tests/runs (the ini option stateward_runs names other folders).

Examples:

  stateward freeze inbox-001 tests/runs/refund.json
  stateward freeze inbox-001 tests/runs/refund.json --run 2 --force
"""

File = Annotated[Path, typer.Argument(metavar="FILE", help="The file to write, NAME.json.", show_default=False)]
Run = Annotated[int | None, typer.Option("--run", metavar="N", help="The run's number, from 1; the latest by default.")]
Force = Annotated[bool, typer.Option("--force", help="Write over a file that is there.")]


def add_to(app: typer.Typer) -> None:
    """Add the command.

    Args:
        app: The application.
    """
    app.command("freeze", help=_HELP)(_freeze)


def _freeze(
    session: options.SessionId,
    file: File,
    run: Run = None,
    force: Force = False,
    graph: options.GraphOfSession = None,
    overrides: options.Overrides = None,
    db: options.Db = options.DEFAULT_DB,
    as_json: options.AsJson = False,
) -> None:
    if file.exists() and not force:
        raise NotExpected("There is such a file", where=str(file), fix="Name another one, or say --force.")
    given: Sequence[str] = overrides or ()
    with opened_session(session, db=db, graph=graph, overrides=given) as found:
        name = _import_name(load(graph or found.graph.machine.name, overrides=given))
        secret = freeze(found, file, graph=name, run=run, overrides=given)
    if secret:
        told = f"Warning: the state holds what looks like a secret: {', '.join(secret)}. Look before you commit it."
        stderr().print(plain(told), markup=False)
    facts = {"session": session, "file": str(file), "graph": name}
    if as_json:
        print_json({**facts, "secrets_in": list(secret)})
    else:
        print_facts(facts)


def _import_name(loaded: Loaded) -> str:
    """The name under which a test imports the graph; made by overrides, it is the module's `build` that counts."""
    module = loaded.module
    if loaded.overrides:
        return f"{module.__name__}:build"
    names = [name for name, value in vars(module).items() if value is loaded.graph]
    if not names:
        raise DefinitionError("The module has no name for the graph", where=module.__name__, fix="Give it one.")
    return f"{module.__name__}:{names[0]}"
