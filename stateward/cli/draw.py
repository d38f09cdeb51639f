"""`stateward draw`: the chart as a picture, with its fuses and approvals, and where a session stands in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from stateward.cli import options
from stateward.cli.loading import load
from stateward.cli.place import opened_session
from stateward.cli.rendering import say
from stateward.errors import DefinitionError
from stateward.govern.note import notes
from stateward.picture.picture import picture
from stateward.picture.trail import is_step
from stateward.run.timeline import TimelineRow, timeline

_HELP = """Draw a chart, with fuses and approvals.

Mermaid is text that many pages draw. SVG and PNG are drawn here and need
the draw extra. With --session the picture marks where the session stands
and the way its last run took.

Examples:

  stateward draw support_desk
  stateward draw support_desk --out chart.svg
  stateward draw support_desk --out stands.png --session inbox-001
"""

_SUFFIXES = {".svg": "svg", ".png": "png"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Standing:
    """Where a session is in its chart, and how it came there."""

    highlight: Sequence[str] = ()
    path: Sequence[str] = ()


def add_to(app: typer.Typer) -> None:
    """Add the command.

    Args:
        app: The application.
    """
    app.command("draw", help=_HELP)(_draw)


def _draw(
    graph: options.Graph,
    format: Annotated[
        str | None,
        typer.Option("--format", metavar="FORMAT", help="mermaid, svg or png; by default what FILE ends with."),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write it there.")] = None,
    session: Annotated[
        str | None, typer.Option("--session", metavar="SESSION", help="Mark where this session stands.")
    ] = None,
    overrides: options.Overrides = None,
    db: options.Db = options.DEFAULT_DB,
) -> None:
    machine = load(graph, overrides=overrides or ()).graph.machine
    standing = _standing(session, graph=graph, overrides=overrides or (), db=db) if session else _Standing()
    drawn = picture(
        machine.chart,
        format=format or (_SUFFIXES.get(out.suffix.lower(), "mermaid") if out else "mermaid"),
        notes=notes(machine.chart, machine.effectives),
        highlight=[path for path in standing.highlight if path in machine.chart.by_path],
        # A session may have been run by an earlier form of the chart.
        path=[step for step in standing.path if is_step(machine.chart, step)],
    )
    _write(drawn, out)


def _standing(session: str, *, graph: str, overrides: Sequence[str], db: str) -> _Standing:
    with opened_session(session, db=db, graph=graph, overrides=overrides) as found:
        rows = timeline(found.graph, database=found.database, session=session)
    committed = [row for row in rows if row.step is not None]
    last = [row for row in committed if row.run_no == committed[-1].run_no]
    return _Standing(highlight=committed[-1].path if committed else (), path=[step for r in last for step in _steps(r)])


def _steps(row: TimelineRow) -> Iterator[str]:
    """Yield the step's state and what it took, with a gap behind: the next may be of another region."""
    yield row.state
    yield from row.taken
    yield ""


def _write(drawn: str | bytes, out: Path | None) -> None:
    if out is None:
        if isinstance(drawn, bytes):
            raise DefinitionError("A PNG is no text to print", where="stateward draw", fix="Name a file with `--out`.")
        typer.echo(drawn, nl=False)
        return
    try:
        out.write_bytes(drawn if isinstance(drawn, bytes) else drawn.encode())
    except OSError as error:
        what = f"The picture cannot be written: {error.strerror}"
        raise DefinitionError(what, where=str(out), fix="Name another file with `--out`.") from error
    say(f"Wrote {out}.")
