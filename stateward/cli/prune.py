"""`stateward prune`: old checkpoints go; `stateward pin`: one of them stays."""

from __future__ import annotations

from typing import Annotated

import typer

from stateward.cli import options
from stateward.cli.place import open_existing
from stateward.cli.rendering import print_facts, print_json, print_table, say, watched
from stateward.run.store.retention import Pruned, Retention, pin, prune_session
from stateward.run.store.vacuum import vacuum

_HELP = """Delete old checkpoints.

Always kept are the last checkpoint of each branch, the one that ended the
last run, pinned ones, and what these need to be read. Journal, asks, ledger
and audit log stay. A session that somebody runs is left alone.

Examples:

  stateward prune --keep 20 --dry-run
  stateward prune --days 30 --vacuum
  stateward prune --keep 5 --session inbox-001
"""
_PIN_HELP = """Keep a checkpoint whatever is pruned.

Examples:

  stateward pin inbox-001 1f0a3c5e-7b1d-6f2a-8004-5c9d1e2f3a4b
  stateward pin inbox-001 1f0a3c5e-7b1d-6f2a-8004-5c9d1e2f3a4b --remove
"""


def add_to(app: typer.Typer) -> None:
    """Add the commands.

    Args:
        app: The application.
    """
    app.command("prune", help=_HELP)(_prune)
    app.command("pin", help=_PIN_HELP)(_pin)


def _prune(
    keep: Annotated[int | None, typer.Option("--keep", metavar="N", help="Keep the newest N of a session.")] = None,
    days: Annotated[float | None, typer.Option("--days", metavar="D", help="Keep those of the last D days.")] = None,
    session: Annotated[str | None, typer.Option("--session", metavar="ID", help="Only this session.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Change nothing; say what would go.")] = False,
    compact: Annotated[bool, typer.Option("--vacuum", help="Give the space back to the disk (SQLite).")] = False,
    db: options.Db = options.DEFAULT_DB,
    as_json: options.AsJson = False,
) -> None:
    retention = Retention(keep=keep, days=days)
    with open_existing(db) as database:
        names = [database.sessions.get(session).id] if session else [row.id for row in database.sessions.list()]
        done = [
            prune_session(database, name, retention=retention, dry_run=dry_run)
            for name in watched(names, "Pruning", total=len(names))
        ]
        returned = vacuum(database) if compact and not dry_run else 0
    if as_json:
        print_json(_json(done, dry_run=dry_run, returned=returned))
        return
    _tell(done, dry_run=dry_run)
    if compact and not dry_run:
        print_facts({"file": f"{returned} B smaller"})


def _pin(
    session: options.SessionId,
    checkpoint: Annotated[str, typer.Argument(metavar="CHECKPOINT", help="Its id.", show_default=False)],
    remove: Annotated[bool, typer.Option("--remove", help="Keep it no longer.")] = False,
    db: options.Db = options.DEFAULT_DB,
) -> None:
    with open_existing(db) as database:
        pin(database, database.sessions.get(session).id, checkpoint, pinned=not remove)
    say(f"Checkpoint {checkpoint} is {'no longer pinned' if remove else 'pinned'}.")


def _tell(done: list[Pruned], *, dry_run: bool) -> None:
    rows = [
        {"session": one.session, "removed": one.removed, "kept": one.kept, "bytes": one.freed, "note": one.busy}
        for one in done
        if one.removed or one.busy
    ]
    print_table(rows, empty="Nothing is old enough to go.")
    if rows:
        verb = "would go" if dry_run else "went"
        total = sum(one.removed for one in done)
        print_facts({verb: f"{total} checkpoints, {sum(one.freed for one in done)} B"})


def _json(done: list[Pruned], *, dry_run: bool, returned: int) -> dict[str, object]:
    return {
        "dry_run": dry_run,
        "removed": sum(one.removed for one in done),
        "bytes": sum(one.freed for one in done),
        "returned_to_disk": returned,
        "sessions": [
            {"id": one.session, "removed": one.removed, "kept": one.kept, "bytes": one.freed, "busy": one.busy or None}
            for one in done
        ],
    }
