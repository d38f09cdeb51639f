"""`stateward archive` and `stateward restore`: a session travels in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stateward.cli import options
from stateward.cli.place import open_existing
from stateward.cli.rendering import print_facts, print_json
from stateward.opening import open_database
from stateward.run.store.archive import Manifest
from stateward.run.store.transfer import archive_session, restore_session

_ARCHIVE_HELP = """Write a session into a file, with all its checkpoints and its journal.

The session stays where it is. What is encrypted stays encrypted. (To write
a chart as SCXML or XState, see `stateward export`.)

Examples:

  stateward archive inbox-001 inbox-001.zip
  stateward archive inbox-001 inbox-001.zip --db sqlite:///old.db
"""
_RESTORE_HELP = """Bring a session in from a file, whole or not at all.

It keeps its id, and goes on as if nothing had happened: effects that were
completed are not run again. Run it in one place only: afterwards, leave the
session it was made of alone.

With --as it gets another id, and is a session of its own: what was completed
stays so, open questions get new ids, and both make the calls that come.

Examples:

  stateward restore inbox-001.zip
  stateward restore inbox-001.zip --db sqlite:///new.db
  stateward restore inbox-001.zip --as trial-001
"""
File = Annotated[Path, typer.Argument(metavar="FILE", help="The file.", show_default=False, dir_okay=False)]


def add_to(app: typer.Typer) -> None:
    """Add the commands.

    Args:
        app: The application.
    """
    app.command("archive", help=_ARCHIVE_HELP)(_archive)
    app.command("restore", help=_RESTORE_HELP)(_restore)


def _archive(
    session: options.SessionId,
    file: File,
    db: options.Db = options.DEFAULT_DB,
    as_json: options.AsJson = False,
) -> None:
    with open_existing(db) as database:
        manifest = archive_session(database, session, path=file)
    _tell(manifest, file=file, as_json=as_json)


def _restore(
    file: File,
    session: Annotated[
        str | None, typer.Option("--as", metavar="NEWID", help="Another id for it; its own by default.")
    ] = None,
    db: options.Db = options.DEFAULT_DB,
    as_json: options.AsJson = False,
) -> None:
    with open_database(db) as database:
        manifest = restore_session(database, file, session=session)
    _tell(manifest, file=file, as_json=as_json)


def _tell(manifest: Manifest, *, file: Path, as_json: bool) -> None:
    facts = {
        "session": manifest.session,
        "file": str(file),
        "bytes": file.stat().st_size,
        "checkpoints": manifest.checkpoints,
        "digest": manifest.digest,
    }
    if as_json:
        print_json(facts)
        return
    print_facts(facts)
