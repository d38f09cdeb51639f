"""Start worker processes of `tests.run.store.workers`, and let them go at the same moment."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

Worker = subprocess.Popen[str]
_ROOT = Path(__file__).parents[3]


@contextmanager
def workers(count: int, *, name: str, url: str, argument: str = "s") -> Generator[list[Worker]]:
    """Start workers that wait for `go`; what is left of them is ended with the block."""
    command = [sys.executable, "-m", "tests.run.store.workers", name, url, argument]
    with ExitStack() as stack:
        started = [
            subprocess.Popen(command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for _ in range(count)
        ]
        for worker in started:
            stack.enter_context(worker)
            stack.callback(worker.kill)
        for worker in started:
            assert line(worker) == "ready"
        yield started


def go(worker: Worker) -> None:
    assert worker.stdin is not None
    worker.stdin.write("\n")
    worker.stdin.flush()


def line(worker: Worker) -> str:
    assert worker.stdout is not None
    return worker.stdout.readline().strip()
