"""Run a function in a child that is forked off."""

from __future__ import annotations

import os
import signal
import traceback
import warnings
from collections.abc import Callable

LIMIT_S = 60
"""How long a child may take before it is ended: one that hangs is a failure, not a hang of the suite."""


def in_child(work: Callable[[], str]) -> str:
    """Return what a function returns in a child of this process, or what it raised there.

    Args:
        work: The function.
    """
    ours, theirs = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of the parent's threads, which is what is tested
        child = os.fork()
    if not child:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(LIMIT_S)
        os.write(theirs, _said(work).encode())
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as told:
        said = told.read()
    os.waitpid(child, 0)
    return said or "it hung"


def _said(work: Callable[[], str]) -> str:
    try:
        return work()
    except BaseException:  # noqa: BLE001  # it is told to the parent, which compares
        return traceback.format_exc()
