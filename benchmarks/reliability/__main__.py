"""The reliability table: eight proofs, on SQLite and PostgreSQL, sync and async.

`python -m benchmarks.reliability` makes them all; `--only 1 8` some of them, `--small` reduced ones, `--db sqlite`
those of one database. The exit code is 1 when a claim does not hold.
"""

from __future__ import annotations

import argparse
import logging
import tempfile
import warnings
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks.reliability import table
from benchmarks.reliability.place import KINDS, Kind, Place
from benchmarks.reliability.proofs import PROOFS, Report, run
from tests.crash.zygote import Zygote
from tests.postgres import Server, serving

NUMBERS = tuple(proof.number for proof in PROOFS)


@contextmanager
def places(kinds: Sequence[Kind]) -> Generator[dict[Kind, Place]]:
    """Lend a place for each kind of database, with a server and processes to fork from.

    Args:
        kinds: Which.

    Yields:
        The places by kind.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="stateward-reliability-")))
        zygotes = (stack.enter_context(Zygote()), stack.enter_context(Zygote()))
        server = stack.enter_context(serving()) if "postgresql" in kinds else None
        yield {kind: Place(kind=kind, folder=folder / kind, zygotes=zygotes, server=server) for kind in kinds}


@contextmanager
def watched(console: Console, *, steps: int) -> Generator[Report]:
    """Draw a bar, with the proof that is made beside it.

    Args:
        console: Where to.
        steps: How many proofs are made, each database and way counted.

    Yields:
        What the proofs report to.
    """
    columns = (
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=console) as progress:
        bar, seen = progress.add_task("", total=steps), list[str]()

        def report(label: str, done: float) -> None:
            if label not in seen:
                seen.append(label)
            progress.update(bar, description=label, completed=len(seen) - 1 + done)

        yield report


def version(server: Server | None) -> str:
    """Return the server's version; empty without one.

    Args:
        server: The server.
    """
    if server is None:
        return ""
    with psycopg.connect(server.uri) as raw:
        found = raw.execute("SHOW server_version").fetchone()
    return str(found[0]).split()[0] if found else ""


def options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line.

    Args:
        arguments: Without the program's name; the process's own by default.
    """
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.reliability", description="Eight proofs of reliability, and the table of them."
    )
    parser.add_argument("--only", type=int, nargs="+", choices=NUMBERS, default=NUMBERS, help="only these proofs")
    parser.add_argument("--small", action="store_true", help="few cases of each")
    parser.add_argument("--db", choices=(*KINDS, "both"), default="both", help="only one database")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put the tables into this document, too")
    found = parser.parse_args(arguments)
    if found.write and (found.small or found.db != "both"):
        parser.error("--write goes with neither --small nor --db: the page has the whole proofs of both databases")
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the proofs, print the table, and write it where it is wanted.

    Args:
        arguments: The command line without the program's name; the process's own by default.

    Raises:
        SystemExit: A claim does not hold.
    """
    chosen, console, aside = options(arguments), Console(width=140), Console(stderr=True)
    kinds = KINDS if chosen.db == "both" else (chosen.db,)
    logging.getLogger("psycopg").setLevel(logging.ERROR)  # a pool tells of each connection that a restart broke
    steps = sum(len(proof.cells(kinds)) for proof in PROOFS if proof.number in chosen.only)
    with warnings.catch_warnings(), places(kinds) as there, watched(aside, steps=steps) as report:
        warnings.simplefilter("ignore")
        results = run(there, numbers=chosen.only, small=chosen.small, report=report, lost=aside.print)
        server = version(next((place.server for place in there.values() if place.server), None))
    if chosen.json:
        print(table.as_json(results))
    else:
        table.as_text(results, console=console)
    if chosen.write:
        table.write(results, page=chosen.write, server=server)
    if not all(result.holds for result in results):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
