"""What is told of an exception: text that any database and any model can take, whatever the exception makes of it."""

from __future__ import annotations

from pydantic import ValidationError

from stateward.govern.kinds.redaction import BY_DEFAULT
from stateward.govern.redact import redact

_MOST_LETTERS = 200
_MOST_PROBLEMS = 20


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


def shortened(text: str) -> str:
    """Return a text that may be as long as its author likes, at a length that a record and a model can bear.

    Args:
        text: What somebody else wrote, such as the name of a tool that there is not.
    """
    return text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]}… ({len(text)} letters)"


def problems(invalid: ValidationError) -> str:
    """Say what is wrong with arguments, or the first of it where somebody got a long list wrong.

    Args:
        invalid: What pydantic found.
    """
    found = invalid.errors(include_url=False, include_context=False, include_input=False)
    told = [f"{'.'.join(map(str, e['loc'])) or 'arguments'}: {e['msg']}" for e in found[:_MOST_PROBLEMS]]
    more = f"; and {len(found) - len(told)} more" if len(found) > len(told) else ""
    return "; ".join(map(shortened, told)) + more
