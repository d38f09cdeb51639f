"""A child process that does one thing."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable
from typing import NoReturn


def forked(work: Callable[[], int | None]) -> int:
    """Do a piece of work in a forked process, and wait for it.

    Args:
        work: What the child does.

    Returns:
        Its exit status: what the work returned, 1 when it raised, negative for a signal.
    """
    child = os.fork()
    if child == 0:
        only(work)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def only(work: Callable[[], int | None]) -> NoReturn:
    """Do a piece of work and end the process, without the clean-up that is its parent's.

    Args:
        work: It returns the exit status; None is 0.
    """
    try:
        status = work() or 0
    except BaseException:  # noqa: BLE001  # the child says what happened
        traceback.print_exc()
        status = 1
    os._exit(status)
