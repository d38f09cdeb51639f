"""`stateward check`: what cannot work in a chart, and what is proven of it, before any run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Annotated

import typer
from rich.text import Text

from stateward.analysis import Report, analyse
from stateward.chart.explore import DEFAULT_BOUND
from stateward.chart.finding import Finding, Hop
from stateward.cli import options
from stateward.cli.loading import load
from stateward.cli.rendering import plain, print_json, print_table, stdout
from stateward.govern.total import Total
from stateward.run.plan import Machine

_HELP = """Check a chart before any run, under its policies.

What cannot be reached, left or ended; transitions that are never taken or
exclude each other; circles without a fuse; tools without an approval; and
whether the properties the chart declares hold. Each with a shortest way
that shows it. The exit code is 1 when one is an error. Notes, by which
nothing is wrong, are counted, and shown with --notes.

Examples:

  stateward check support_desk
  stateward check support_desk --totals --notes
  stateward check support_desk --strict --json
"""

_STYLES = {"error": "bold red", "warning": "yellow", "note": "cyan"}


def add_to(app: typer.Typer) -> None:
    """Add the command.

    Args:
        app: The application.
    """
    app.command("check", help=_HELP)(_check)


def _check(
    graph: options.Graph,
    strict: Annotated[bool, typer.Option("--strict", help="Take warnings for errors.")] = False,
    with_totals: Annotated[
        bool, typer.Option("--totals", help="Say what a run can come to: calls, turns, money, sums.")
    ] = False,
    with_notes: Annotated[
        bool, typer.Option("--notes", help="Show notes as well: what was assumed, or could not be decided.")
    ] = False,
    bound: Annotated[
        int, typer.Option("--bound", metavar="N", min=1, help="Configurations to explore before a coarser look.")
    ] = DEFAULT_BOUND,
    overrides: options.Overrides = None,
    as_json: options.AsJson = False,
) -> None:
    report = _report(load(graph, overrides=overrides or ()).graph.machine, bound=bound)
    if as_json:
        told = [total.to_json() for total in report.totals]
        print_json(report.to_json() | ({"totals": told} if with_totals else {}))
    else:
        hidden = frozenset[str]() if with_notes else frozenset(["note"])
        _show(report, totals=report.totals if with_totals else (), hidden=hidden)
    bad = {"error", "warning"} if strict else {"error"}
    raise typer.Exit(1 if any(finding.severity in bad for finding in report.findings) else 0)


def _report(machine: Machine, *, bound: int) -> Report:
    return analyse(
        machine.chart,
        schema=machine.schema.schema,
        effectives=machine.effectives,
        tools=machine.tools,
        models=machine.roles,
        properties=machine.properties,
        bound=bound,
    )


def _show(report: Report, *, totals: Sequence[Total], hidden: Collection[str]) -> None:
    console = stdout()
    for finding in report.findings:
        for line in () if finding.severity in hidden else _lines(finding):
            console.print(line)
    for proof in report.proofs:
        if proof.holds:
            console.print(Text.assemble(("proven  ", "green"), plain(proof.property)))
    if totals:
        print_table([_row(total) for total in totals], empty="")
    console.print(Text(_closing(report, hidden=hidden)))


def _lines(finding: Finding) -> Iterator[Text]:
    severity = (f"{finding.severity:<8}", _STYLES[finding.severity])
    yield Text.assemble(
        severity,
        (plain(finding.path) or "the chart", "bold"),
        "  ",
        finding.rule,
    )
    yield Text(f"        {plain(finding.message)}")
    if finding.witness:
        yield Text(f"        way: {plain(way(finding.witness))}", style="dim")


def way(witness: Sequence[Hop]) -> str:
    """Write a witness on one line.

    Args:
        witness: The steps.
    """
    return "; ".join(str(hop) for hop in witness)


def most(total: Total) -> str:
    """Write what a run can come to at most.

    Args:
        total: Its total.
    """
    return "unbounded" if total.most is None else f"{total.most:g}"


def _row(total: Total) -> dict[str, object]:
    return {
        "of": total.unit,
        "at most": most(total) if total.is_reached else f"{most(total)} (no way was found that reaches it)",
        "because of": list(total.bounded_by),
        "way": way(total.witness),
    }


def _closing(report: Report, *, hidden: Collection[str]) -> str:
    counts = {"error": 0, "warning": 0, "note": 0}
    for finding in report.findings:
        counts[finding.severity] += 1
    told = ", ".join(
        _counted(number, name) + (f" (shown with `--{name}s`)" if name in hidden else "")
        for name, number in counts.items()
        if number
    )
    held = sum(proof.holds is True for proof in report.proofs)
    how = "all" if report.exact else "not all (see `bound`)"
    looked = f"{_counted(report.states, 'state')}, {_counted(report.configurations, 'configuration')}, {how} explored"
    stated = f"; {held} of {_counted(len(report.proofs), 'property')} proven" if report.proofs else ""
    return f"{report.graph}: {told or 'nothing to complain about'}. {looked}{stated}."


def _counted(number: int, name: str) -> str:
    if number == 1:
        return f"1 {name}"
    return f"{number} {name[:-1]}ies" if name.endswith("y") else f"{number} {name}s"
