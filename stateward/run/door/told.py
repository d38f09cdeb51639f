"""What is told of an exception: text that any database and any model can take, whatever the exception makes of it."""

from __future__ import annotations

from stateward.govern.kinds.redaction import BY_DEFAULT
from stateward.govern.redact import redact


def told(error: BaseException) -> str:
    """Return what an exception says of itself.

    Args:
        error: Any exception.

    Returns:
        Its text, without secrets: providers quote keys that they do not know. Lone surrogates, which no UTF-8 has, are
        written as escapes; where its own `__str__` fails, that is said instead.
    """
    try:
        text = str(error)
    except Exception as broken:  # noqa: BLE001  # it is what is told
        text = f"(its text cannot be read: {type(broken).__name__})"
    return redact(text.encode(errors="backslashreplace").decode(), classes=BY_DEFAULT)


def named(error: BaseException) -> str:
    """Return the name of an exception with what it says.

    Args:
        error: Any exception.
    """
    return f"{type(error).__name__}: {told(error)}"
