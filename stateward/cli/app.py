"""The application: its commands, and how an error becomes a message and an exit code.

| exit code | meaning |
|---|---|
| 0 | done; sessions may be waiting |
| 1 | done, and something in it failed: a bad row, a failed or halted session, an error found by `check` |
| 2 | refused or misused: nothing was changed beyond what the message says |
| 130 | stopped by Ctrl-C or SIGTERM; nothing is lost |
"""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from stateward.cli import (
    answer,
    archive,
    audit,
    branches,
    cancel,
    check,
    contract,
    diff,
    draw,
    export,
    fork,
    freeze,
    history,
    inbox,
    migrate,
    new,
    policy,
    prune,
    replay,
    resume,
    revoke,
    run,
    send,
    sessions,
    show,
    simulate,
    wake,
)
from stateward.cli.rendering import complain
from stateward.cli.stop import EXIT_STOPPED
from stateward.errors import StatewardError

EXIT_REFUSED = 2

_HELP = """Agents as charts: states inside states, policies that bind all inside.

GRAPH is a name in langgraph.json, or module:attribute. Sessions, asks
and effects live in the database that --db or STATEWARD_DB names.
Options stand behind the command: stateward sessions --db sqlite:///desk.db
Every listing has --json; docs/cli.md tells the shapes.
"""

_EPILOG = "Start with: stateward run support_desk samples/inbox.jsonl --out tickets.csv"


class _Guarded(TyperGroup):
    """The group of commands: what Stateward raises is told as what, where and fix, without a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command.

        Args:
            ctx: Click's context.

        Returns:
            What the command returns.

        Raises:
            Exit: The command failed, and why is on stderr.
        """
        try:
            return super().invoke(ctx)
        except StatewardError as error:
            if ctx.params.get("debug"):
                raise
            complain(error)
            raise typer.Exit(EXIT_REFUSED) from None
        except KeyboardInterrupt:
            raise typer.Exit(EXIT_STOPPED) from None


def build_app() -> typer.Typer:
    """Assemble the application.

    Returns:
        A Typer application with all commands.
    """
    app = typer.Typer(
        cls=_Guarded,
        help=_HELP,
        epilog=_EPILOG,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    for module in (
        new,
        run,
        inbox,
        answer,
        sessions,
        history,
        show,
        diff,
        fork,
        branches,
        resume,
        send,
        cancel,
        wake,
        migrate,
        revoke,
        audit,
        policy,
        contract,
        draw,
        export,
        check,
        simulate,
        replay,
        freeze,
        archive,
        prune,
    ):
        module.add_to(app)
    return app


def _root(
    debug: Annotated[bool, typer.Option("--debug", envvar="STATEWARD_DEBUG", help="Show tracebacks.")] = False,
) -> None:
    """Take the options that stand before a command."""


def main() -> None:
    """Run the command line of this process."""
    build_app()(prog_name="stateward")
