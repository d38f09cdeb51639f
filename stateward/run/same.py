"""Whether two values of a state are the same."""

from __future__ import annotations


def same(before: object, after: object) -> bool:
    """Compare two values; those whose comparison is no plain truth, arrays for instance, are not the same.

    Args:
        before: One value.
        after: The other.
    """
    try:
        return type(before) is type(after) and bool(before == after)
    except Exception:  # noqa: BLE001  # whatever a user's `__eq__` raises, the value counts as changed
        return False
