"""The little of ECMAScript that the suite needs: expressions, assignments, functions without parameters."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

Names = Mapping[str, Any]
_TOKEN = re.compile(
    r"""(?P<string>'[^']*'|"[^"]*")|(?P<op>===|!==|&&|\|\||!(?!=))|(?P<key>\b\w+\b)(?=\s*:)|(?P<word>\b[A-Za-z_]\w*\b)"""
)
_OPERATORS = {"===": "==", "!==": "!=", "&&": " and ", "||": " or ", "!": " not "}
_WORDS = {"true": "True", "false": "False", "null": "None", "undefined": "None"}
_FUNCTION = re.compile(r"function\s+(\w+)\s*\(\s*\)\s*\{([^{}]*)\}")
_ASSIGNMENT = re.compile(r"(?:var\s+)?(\w+)\s*([*+-]?)=\s*([^=].*)", re.DOTALL)
_CALL = re.compile(r"(\w+)\(\s*\)")


class NotSupportedError(Exception):
    """A test needs more of the script language than is understood here."""


def evaluate(text: str, *, names: Names) -> Any:
    """Return the value of an expression; a wrong expression raises whatever Python raises for it."""
    known = {"Math": SimpleNamespace(pow=pow), **names}
    known["_typeof"] = lambda path: _typeof(path, known=known)
    return eval(_python(text), {"__builtins__": {}}, known)


def execute(text: str, *, state: dict[str, Any], names: Callable[[], Names]) -> None:
    """Run assignments, calls and definitions of functions without parameters.

    Raises:
        NotSupportedError: There is something else in it.
    """
    functions = state.setdefault("#functions", {})
    text = re.sub(r"//[^\n]*", "", text)
    functions.update(_FUNCTION.findall(text))
    for statement in filter(None, (s.strip() for s in _FUNCTION.sub("", text).split(";"))):
        if found := _ASSIGNMENT.fullmatch(statement):
            text = f"{found[1]} {found[2]} ({found[3]})" if found[2] else found[3]
            state[found[1]] = evaluate(text, names=names())
        elif (found := _CALL.fullmatch(statement)) and found[1] in functions:
            execute(functions[found[1]], state=state, names=names)
        else:
            raise NotSupportedError(f"script: {statement[:40]}")


def event_value(occurrence: Any) -> Any:
    """Return an event as a script sees it: an object with `name` and `data`."""
    data = getattr(occurrence, "data", None)
    visible = Fields(data) if isinstance(data, dict) else data
    return SimpleNamespace(name=getattr(occurrence, "name", None), data=visible)


class Fields(dict[str, Any]):
    """A dictionary whose values are attributes as well."""

    def __getattr__(self, name: str) -> Any:
        return self.get(name)


def literal(text: str | None) -> object:
    """Return written content as JSON if it is that, else as text."""
    try:
        return json.loads(text or "")
    except json.JSONDecodeError:
        return (text or "").strip()


def _typeof(path: str, *, known: Names) -> str:
    first, *rest = path.split(".")
    value = known.get(first)
    for name in rest:
        value = getattr(value, name, None)
    kinds = {type(None): "undefined", str: "string", int: "number", float: "number", bool: "boolean"}
    return kinds.get(type(value), "object")


def _python(text: str) -> str:
    plain = re.sub(r"\btypeof\s+([\w.]+)", r'_typeof("\1")', " ".join(text.split()))
    return _TOKEN.sub(_translated, plain)


def _translated(found: re.Match[str]) -> str:
    if found["op"]:
        return _OPERATORS[found["op"]]
    if found["key"]:
        return repr(found["key"])
    return _WORDS.get(found["word"] or "", found[0])
