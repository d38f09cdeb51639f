"""The progress of a job on stderr: a live panel on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from stateward.cli.rendering import plain, stderr


class Display(Protocol):
    """Who is told how a job goes on."""

    def begin(self, session: str) -> None:
        """Take note that a session is being worked on.

        Args:
            session: Its id.
        """

    def move(self, session: str, *, state: str) -> None:
        """Take note that a session entered a state.

        Args:
            session: Its id.
            state: The state's path.
        """

    def end(self, session: str, *, status: str, state: str) -> None:
        """Take note that nothing more will be done for a session now.

        Args:
            session: Its id.
            status: Where it stands.
            state: The state's path.
        """


@contextmanager
def progress(total: int) -> Generator[Display]:
    """Show progress while the block runs.

    Args:
        total: The number of sessions.

    Returns:
        A context manager of the display.
    """
    console = stderr()
    if console.is_terminal:
        panel = _Panel(total)
        with Live(panel, console=console, refresh_per_second=8, transient=True):
            yield panel
    else:
        yield _Lines(total, console=console)


class _Lines:
    """One line for each session that comes to rest."""

    def __init__(self, total: int, *, console: Console) -> None:
        self._total = total
        self._done = 0
        self._console = console

    def begin(self, session: str) -> None:
        """Wait for its end."""

    def move(self, session: str, *, state: str) -> None:
        """Wait for its end."""

    def end(self, session: str, *, status: str, state: str) -> None:
        """Write a line."""
        self._done += 1
        text = f"[{self._done}/{self._total}] {session}: {status}" + (f" in {state}" if state else "")
        self._console.print(Text(plain(text)), soft_wrap=True)


class _Panel:
    """A bar, the counts, and where the sessions under way are."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._counts: Counter[str] = Counter()
        self._active: dict[str, tuple[str, float]] = {}

    def begin(self, session: str) -> None:
        """Add a line."""
        self._active[session] = ("", time.monotonic())

    def move(self, session: str, *, state: str) -> None:
        """Change the line."""
        self._active[session] = (state, self._active.get(session, ("", time.monotonic()))[1])

    def end(self, session: str, *, status: str, state: str) -> None:
        """Take the line away and count."""
        self._active.pop(session, None)
        self._counts[status] += 1

    def __rich__(self) -> Group:
        """Draw the panel as it is now."""
        done = self._counts.total()
        counts = "  ".join(f"{status} {count}" for status, count in sorted(self._counts.items()))
        head = Table.grid(padding=(0, 1))
        head.add_row(ProgressBar(total=max(self._total, 1), completed=done, width=30), f"{done}/{self._total}", counts)
        lines = Table.grid(padding=(0, 2))
        for session, (state, since) in tuple(self._active.items()):
            lines.add_row("", Text(plain(session)), Text(state, style="cyan"), f"{time.monotonic() - since:.0f} s")
        return Group(head, lines)
