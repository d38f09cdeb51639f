"""`stateward draw`: the chart as a Mermaid diagram, with its fuses and approvals."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from stateward.chart.draw import mermaid
from stateward.cli import options
from stateward.cli.loading import load
from stateward.cli.rendering import say
from stateward.errors import DefinitionError
from stateward.run.plan import Machine

_HELP = """Draw a chart as a Mermaid diagram, with fuses and approvals.

Examples:

  stateward draw support_desk
  stateward draw support_desk --out chart.mmd
"""


def add_to(app: typer.Typer) -> None:
    """Add the command.

    Args:
        app: The application.
    """
    app.command("draw", help=_HELP)(_draw)


def _draw(
    graph: options.Graph,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write it there.")] = None,
    overrides: options.Overrides = None,
) -> None:
    machine = load(graph, overrides=overrides or ()).graph.machine
    text = mermaid(machine.chart, notes=notes(machine))
    if out is None:
        typer.echo(text, nl=False)
        return
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise DefinitionError(f"The diagram cannot be written: {error.strerror}", where=str(out)) from error
    say(f"Wrote {out}.")


def notes(machine: Machine) -> Mapping[str, str]:
    """Say beside each state what limits it: fuses where they hang, approvals where a tool needs them.

    Args:
        machine: The lowered chart.

    Returns:
        A text for each path that has something to say.
    """
    lines: dict[str, list[str]] = {}
    for effective in machine.effectives.values():
        for limit in effective.limits:
            if not limit.unit.startswith("calls:"):
                line = f"fuse {limit.unit} {limit.value:g}"
                lines.setdefault(limit.scope, []).append(line)
    for plan in machine.plans.values():
        for tool in plan.tools:
            if plan.effective.level(tool).level == "restricted":
                lines.setdefault(plan.node.path, []).append(f"asks before {tool}")
    return {path: "\n".join(dict.fromkeys(told)) for path, told in lines.items() if path}
