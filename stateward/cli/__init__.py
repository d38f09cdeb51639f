"""The command line: `stateward run`, `inbox`, `answer`, `sessions`, `history`, `resume`, `policy`, `draw`, `check`."""

from __future__ import annotations

from stateward.cli.app import main

__all__ = ["main"]
