"""`stateward export`: the chart in another tool's format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stateward.cli import options
from stateward.cli.loading import load
from stateward.cli.rendering import say
from stateward.errors import DefinitionError
from stateward.exchange.scxml_writer import write_scxml
from stateward.exchange.xstate_writer import write_xstate, xstate_text

_HELP = """Write a chart as SCXML or as an XState v5 machine.

Guards, actions and activities are written by name. What the format
cannot say is an error that names the state; policies are left out if
--without-policies says so.

Examples:

  stateward export support_desk --format scxml --without-policies
  stateward export support_desk --format xstate --without-policies --out desk.json
"""

FORMATS = ("scxml", "xstate")


def add_to(app: typer.Typer) -> None:
    """Add the command.

    Args:
        app: The application.
    """
    app.command("export", help=_HELP)(_export)


def _export(
    graph: options.Graph,
    format: Annotated[str, typer.Option("--format", metavar="FORMAT", help="scxml or xstate.")],
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write it there.")] = None,
    without_policies: Annotated[
        bool, typer.Option("--without-policies", help="Leave policies out, which the format cannot say.")
    ] = False,
    overrides: options.Overrides = None,
) -> None:
    if format not in FORMATS:
        raise DefinitionError(f"`{format}` is no format", where="--format", fix="Write scxml or xstate.")
    machine = load(graph, overrides=overrides or ()).graph.machine
    # The policy of the whole chart is not in its tables: it is the one that binds the root.
    layers = (layer for effective in machine.effectives.values() for layer in effective.layers)
    root = next((layer for layer in layers if not layer.scope), None)
    if format == "scxml":
        text = write_scxml(machine.chart, policy=root, without_policies=without_policies)
    else:
        text = xstate_text(write_xstate(machine.chart, policy=root, without_policies=without_policies))
    _write(text, out)


def _write(text: str, out: Path | None) -> None:
    if out is None:
        typer.echo(text, nl=False)
        return
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        what = f"The document cannot be written: {error.strerror}"
        raise DefinitionError(what, where=str(out), fix="Name another file with `--out`.") from error
    say(f"Wrote {out}.")
