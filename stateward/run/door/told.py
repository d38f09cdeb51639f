"""What is told of an exception: text that any database and any model can take, whatever the exception makes of it."""

from __future__ import annotations


def told(error: BaseException) -> str:
    """Return what an exception says of itself.

    Args:
        error: Any exception.

    Returns:
        Its text. Lone surrogates, which no UTF-8 has, are written as escapes; where its own `__str__` fails, that is
        said instead.
    """
    try:
        text = str(error)
    except Exception as broken:  # noqa: BLE001  # it is what is told
        text = f"(its text cannot be read: {type(broken).__name__})"
    return text.encode(errors="backslashreplace").decode()


def named(error: BaseException) -> str:
    """Return the name of an exception with what it says.

    Args:
        error: Any exception.
    """
    return f"{type(error).__name__}: {told(error)}"
