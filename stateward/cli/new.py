"""`stateward new`: a project that runs and passes its tests from the first minute."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from stateward.cli import options
from stateward.cli.project import TEMPLATES, make_project
from stateward.cli.rendering import print_json, say

_HELP = """Make a project: a chart with its nodes, policy, configuration, prompts,
samples, tests and notebook, and what runs and checks them.

NAME becomes a folder, a graph in its langgraph.json, and the modules
graphs/NAME.py and nodes/NAME. It runs without a key or a server: rules do
the work until configs/NAME.yaml names a model.

Templates:

  react  one agent that reasons, calls tools, and answers
  team   a supervisor that hands tasks to two members
  desk   an intake, work, a gate, an approval and a reply

Examples:

  stateward new helper
  stateward new claims --template desk
  stateward new claims --template team --in ~/projects
  cd claims && make test && make run

An existing folder is only taken when it is empty. Nothing is left behind
when the project cannot be made.
"""


def add_to(app: typer.Typer) -> None:
    """Add the command.

    Args:
        app: The application.
    """
    app.command("new", help=_HELP)(_new)


def _new(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Small letters, digits and _, a letter first.", show_default=False)
    ],
    template: Annotated[str, typer.Option("--template", metavar="TEMPLATE", help=f"{', '.join(TEMPLATES)}.")] = next(
        iter(TEMPLATES)
    ),
    parent: Annotated[
        Path, typer.Option("--in", metavar="FOLDER", help="Where the new folder is made; here by default.")
    ] = Path("."),
    as_json: options.AsJson = False,
) -> None:
    made = make_project(name, template=template, parent=parent.absolute())
    folder = parent / made.name
    if as_json:
        facts = {"name": made.name, "template": made.template, "folder": str(made.folder), "files": list(made.files)}
        print_json(facts)
        return
    for file in made.files:
        typer.echo(folder / file)
    next_ = f"cd {shlex.quote(str(folder))} && make test && make run"
    say(f"Made {made.name} from the template {made.template}. Go on with:\n  {next_}")
