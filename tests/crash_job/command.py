"""The command line in processes of its own."""

from __future__ import annotations

import subprocess
import sys

from tests.crash_job.forks import ROOT

STATEWARD = (sys.executable, "-c", "from stateward.cli import main; main()")


def stateward(*given: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end.

    Args:
        given: Its words.
    """
    return subprocess.run([*STATEWARD, *given], cwd=ROOT, capture_output=True, text=True, check=False)


def kill_run(words: tuple[str, ...], *, after: int) -> int:
    """Start a job, and kill it as soon as it has told the end of so many sessions.

    Args:
        words: Its command line.
        after: How many, from 1.

    Returns:
        How the process ended.
    """
    command = [*STATEWARD, *words]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as run:
        assert run.stderr is not None
        ended = 0
        for line in run.stderr:
            ended += line.startswith("[")
            if ended == after:
                break
        run.kill()
    return run.returncode
