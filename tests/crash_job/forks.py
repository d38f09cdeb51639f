"""Processes of the support desk: forked from a zygote, killed with SIGKILL, and started again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ROOT = Path(__file__).parents[2]
KILLED = -9


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """One process of one session."""

    place: str
    """The folder of the session's files."""
    message: str
    at: str | None = None
    """Where the process kills itself; None to live."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One process of the command line."""

    words: tuple[str, ...]
    out: str
    """Where its standard output goes; the error output goes beside it."""
    kill_after_s: float | None = None
    stall: tuple[float, float] | None = None
    """After how many seconds the process stands still, and for how many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Died:
    """How a process ended."""

    status: int
    began: float
    """When it was forked, in seconds since the epoch."""


class Zygote:
    """A process that forks a child for every `Life` and `Command`, one at a time."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.crash_job.zygote"]
        # One thread for each child: two zygotes share two cores, and a fork takes no other threads along.
        env = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
        self._process = subprocess.Popen(
            command, cwd=ROOT, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, wanted: Life | Command) -> Died:
        """Fork a child and wait for its end."""
        given, taken = self._pipes()
        given.write(json.dumps(asdict(wanted)) + "\n")
        given.flush()
        return Died(**json.loads(taken.readline()))

    def __enter__(self) -> Self:
        """Return the zygote itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the process."""
        for pipe in self._pipes():
            pipe.close()
        self._process.wait()

    def _pipes(self) -> tuple[Any, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        return self._process.stdin, self._process.stdout
