"""A call that is over while its sync code still runs in a thread: the session stays its own until that has ended.

Nobody is left then who could drive the graph. So a letter that comes meanwhile waits for the next call.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from stateward.errors import StatewardError
from stateward.run.arrivals import let_go
from stateward.run.brake import Halt
from stateward.run.invocation import Invocation


def outlasted(invocation: Invocation) -> bool:
    """Leave the lease of a call that is over to its sync code, which gives it back at its end.

    Args:
        invocation: The call.

    Returns:
        Whether there is any; else nothing has happened.
    """
    lease = invocation.lease
    if lease is None:
        return False
    live = invocation.database.registry.find(lease.session)
    if live is not None and live.fence == lease.fence:
        live.halt = _too_late
    if not invocation.stragglers.outlast(partial(_end, invocation)):
        return False
    invocation.gone()
    return True


def _too_late(halt: Halt) -> None:
    """Nothing of the call is left that could be stopped."""


def _end(invocation: Invocation) -> None:
    with suppress(StatewardError):  # lost or closed: the lease runs out by itself
        let_go(invocation)
