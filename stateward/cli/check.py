"""`stateward check`: what cannot work in a chart, before any run."""

from __future__ import annotations

import typer

from stateward.chart.check import check
from stateward.cli import options
from stateward.cli.loading import load
from stateward.cli.rendering import print_json, print_table

_HELP = """Check a chart before any run.

States nothing leads to, dead ends, ends that are never reached; each with
a shortest way that leads there. The exit code is 1 when one is an error.

Examples:

  stateward check support_desk
  stateward check support_desk --json
"""


def add_to(app: typer.Typer) -> None:
    """Add the command.

    Args:
        app: The application.
    """
    app.command("check", help=_HELP)(_check)


def _check(graph: options.Graph, overrides: options.Overrides = None, as_json: options.AsJson = False) -> None:
    chart = load(graph, overrides=overrides or ()).graph.machine.chart
    findings = check(chart)
    rows = [
        {
            "severity": finding.severity,
            "rule": finding.rule,
            "path": finding.path,
            "message": finding.message,
            "witness": list(finding.witness),
        }
        for finding in findings
    ]
    if as_json:
        print_json({"graph": chart.name, "states": len(chart.nodes) - 1, "findings": rows})
    else:
        shown = [{**row, "witness": " -> ".join(row["witness"])} for row in rows]
        print_table(shown, empty=f"{chart.name}: {len(chart.nodes) - 1} states, nothing to complain about.")
    raise typer.Exit(1 if any(finding.severity == "error" for finding in findings) else 0)
