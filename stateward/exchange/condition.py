"""The little language of conditions: names of guards, `In('id')`, `and`, `or`, `not`, parentheses.

    is_ready and not In('paused') or above(limit=3)

SCXML has it in `cond`; in XState it is the name of a guard, which is given an implementation there. A name alone is the
guard itself. Arguments are by keyword and plain JSON; they are fixed with a partial function.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Literal

from stateward.chart.guard import Bound
from stateward.errors import DefinitionError
from stateward.exchange.content import Combined, Inside, bound
from stateward.exchange.registry import Registry, is_json, is_writable

Locate = Callable[[str], str]
"""From an id to a path, or back."""

_LONGEST = 1000
_SYNTAX = "Write names of guards, `In('id')`, `and`, `or`, `not`; put everything else into a guard and name that."


def read_condition(text: str, *, registry: Registry, locate: Locate, where: str) -> Bound:
    """Return the guard that a condition means.

    Args:
        text: The condition; a name in the registry, whatever it looks like, is that guard.
        registry: What names mean.
        locate: Finds a state's path by its id.
        where: The place in the document, for messages.

    Raises:
        DefinitionError: It is not in the language, or names something unknown.
    """
    if text in registry.things["guards"]:
        return registry.function("guards", text, params={}, where=where)
    try:
        tree = ast.parse(text.strip(), mode="eval") if len(text) <= _LONGEST else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        tree = None
    if tree is None:
        raise _not_understood(text, registry=registry, where=where)
    return _Reading(text, registry=registry, locate=locate, where=where).guard(tree.body)


def write_condition(guard: Bound, *, registry: Registry, locate: Locate, where: str) -> str:
    """Return the condition that means a guard.

    Args:
        guard: The guard.
        registry: What guards are called.
        locate: Finds a state's id by its path.
        where: The state it is written at, for messages.

    Raises:
        DefinitionError: A guard has no name, or one that cannot stand in a condition with others.
    """
    said = guard.fn
    if isinstance(said, Inside):
        return f"In({locate(said.path)!r})"
    if isinstance(said, Combined):
        written = [write_condition(part, registry=registry, locate=locate, where=where) for part in said.parts]
        parts = [
            f"({text})" if _is_compound(part) else _alone(text, part, registry=registry, where=where)
            for part, text in zip(said.parts, written, strict=True)
        ]
        return f"not {parts[0]}" if said.by == "not" else f" {said.by} ".join(parts)
    named = registry.name_of("guards", said, where=where)
    if not named.params:
        return named.name
    params = ", ".join(f"{key}={value!r}" for key, value in named.params.items())
    return f"{_alone(named.name, guard, registry=registry, where=where)}({params})"


class _Reading:
    """One condition while it is read."""

    def __init__(self, text: str, *, registry: Registry, locate: Locate, where: str) -> None:
        self._text = text
        self._registry = registry
        self._locate = locate
        self._where = where

    def guard(self, node: ast.expr) -> Bound:
        if isinstance(node, ast.BoolOp):
            by: Literal["and", "or"] = "and" if isinstance(node.op, ast.And) else "or"
            return bound(Combined(by=by, parts=tuple(self.guard(value) for value in node.values)))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return bound(Combined(by="not", parts=(self.guard(node.operand),)))
        if isinstance(node, ast.Call):
            return self._call(node)
        return self._guard(self._name(node), {})

    def _guard(self, name: str, params: Mapping[str, object]) -> Bound:
        return self._registry.function("guards", name, params=params, where=self._where)

    def _call(self, node: ast.Call) -> Bound:
        name = self._name(node.func)
        if name == "In":
            if len(node.args) == 1 and not node.keywords:
                return bound(Inside(path=self._locate(str(self._value(node.args[0])))))
            raise self._wrong()
        if node.args:
            raise self._wrong()
        params = {keyword.arg or "": self._value(keyword.value) for keyword in node.keywords}
        if "" in params:
            raise self._wrong()
        return self._guard(name, params)

    def _name(self, node: ast.expr) -> str:
        if isinstance(node, ast.Name):
            return node.id
        if isinstance(node, ast.Attribute):
            return f"{self._name(node.value)}.{node.attr}"
        raise self._wrong()

    def _value(self, node: ast.expr) -> object:
        try:
            value: object = ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            raise self._wrong() from None
        if not is_json(value):
            raise self._wrong()
        return value

    def _wrong(self) -> DefinitionError:
        return _not_understood(self._text, registry=self._registry, where=self._where)


def _is_compound(guard: Bound) -> bool:
    return isinstance(guard.fn, Combined) and guard.fn.by != "not"


def _alone(text: str, guard: Bound, *, registry: Registry, where: str) -> str:
    """Return a name that is to stand beside others; it has to look like one."""
    if isinstance(guard.fn, Inside | Combined) or "(" in text or is_writable(text):
        return text
    raise DefinitionError(
        f"The guard's name `{text}` cannot stand in a condition with others or with arguments",
        where=where,
        fix="Use letters, digits and `_` in parts joined by dots.",
    )


def _not_understood(text: str, *, registry: Registry, where: str) -> DefinitionError:
    shown = text if len(text) <= 80 else text[:77] + "…"
    known = ", ".join(f"`{name}`" for name in sorted(registry.things["guards"])) or "none"
    return DefinitionError(
        f"The condition `{shown}` is not understood", where=where, fix=f"{_SYNTAX} Known guards: {known}."
    )
