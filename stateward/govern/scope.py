"""Scopes: which states lie in what hangs on a state."""

from __future__ import annotations


def is_within(scope: str, path: str) -> bool:
    """Whether a state lies in a scope; what a nested agent does lies where the agent does.

    Args:
        scope: The path of the state that something hangs on, such as a policy; empty for the whole chart.
        path: The state's path.
    """
    return not scope or path == scope or path.startswith((f"{scope}.", f"{scope}/"))
