"""Python as a language of data models: a whitelisted part of it, read with `ast` and interpreted, never executed.

Understood: constants, names, tuples, lists and dictionaries written out, comparisons, boolean and arithmetic
operators, `a if b else c`, subscripts and slices, attributes and methods of plain data (a dictionary's keys are
attributes too), calls of a few built-in functions, `lambda`; of statements assignments and expressions. Everything else
is told by `NotSupportedError`; what Python itself would refuse is an error of the script.
"""

from __future__ import annotations

import ast
import builtins
import operator
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from tests.conformance.language import Names
from tests.conformance.value import Function, Markup, NotSupportedError, ScriptError

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.BitXor: operator.xor,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.Not: operator.not_,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
}
_METHODS: dict[type, frozenset[str]] = {
    str: frozenset(["startswith", "endswith", "upper", "lower", "strip", "split", "join", "find", "replace"]),
    dict: frozenset(("get", "keys", "values", "items")),
    list: frozenset(("index", "count")),
}
_BUILT_IN: dict[str, Callable[..., Any]] = {
    **{fn.__name__: fn for fn in (len, str, int, float, bool, list, dict, abs, min, max, sum, sorted)},
    "hasattr": lambda owner, name: _has(owner, name),
}


class Python:
    """The data model `python`."""

    nothing: Any = None
    """What a variable holds that was only declared, and what an event without data carries."""

    def evaluate(self, text: str, names: Names) -> Any:
        """Return the value of an expression.

        Raises:
            ScriptError: Its text is wrong, or so is what it does.
            NotSupportedError: It uses what the translator leaves out.
        """
        return _guarded(_parsed(text, "eval").body, {**names.system, **names.variables})

    def assign(self, location: str, value: Any, names: Names) -> None:
        """Assign to a location whose variable exists.

        Raises:
            ScriptError: It is no location, or not one of the document's.
        """
        target = _parsed(location, "eval").body
        root = _root(target)
        if root is None or root not in names.variables:
            raise ScriptError(f"{location!r} is no location of the data model")
        _store(target, value, names)

    def execute(self, text: str, names: Names) -> None:
        """Run assignments and expressions.

        Raises:
            ScriptError: The text is wrong, or so is what it does.
            NotSupportedError: It has other statements.
        """
        for statement in _parsed(text, "exec").body:
            _execute(statement, names)

    def is_true(self, value: Any) -> bool:
        """Tell whether a condition of this value holds."""
        return bool(value)

    def is_name(self, name: str) -> bool:
        """Tell whether a variable may be called so."""
        try:
            return isinstance(_parsed(name, "eval").body, ast.Name)
        except ScriptError:
            return False

    def system(self, name: str, value: Any) -> Any:
        """Return a system variable as expressions see it."""
        return value


@lru_cache(maxsize=4096)
def _parsed(text: str, mode: str) -> Any:
    try:
        return ast.parse(text.strip() if mode == "eval" else _dedented(text), mode=mode)
    except (SyntaxError, ValueError) as wrong:
        raise ScriptError(f"SyntaxError: {text.strip()[:60]!r}") from wrong


def _dedented(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    margin = min((len(line) - len(line.lstrip()) for line in lines), default=0)
    return "\n".join(line[margin:] for line in lines)


def _guarded(node: ast.expr, names: dict[str, Any]) -> Any:
    try:
        return _value(node, names)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as wrong:
        raise ScriptError(f"{type(wrong).__name__}: {wrong}") from wrong


def _value(node: ast.expr, names: dict[str, Any]) -> Any:
    maker = _NODES.get(type(node))
    if maker is None:
        raise NotSupportedError(f"{type(node).__name__} in a Python expression")
    return maker(node, names)


def _name(node: ast.Name, names: dict[str, Any]) -> Any:
    if node.id in names:
        return names[node.id]
    if node.id in _BUILT_IN:
        return _BUILT_IN[node.id]
    if hasattr(builtins, node.id):
        raise NotSupportedError(f"`{node.id}`")
    raise ScriptError(f"NameError: {node.id}")


def _binary(node: ast.BinOp, names: dict[str, Any]) -> Any:
    if type(node.op) not in _BINARY:
        raise NotSupportedError(f"operator {type(node.op).__name__}")
    return _BINARY[type(node.op)](_value(node.left, names), _value(node.right, names))


def _boolean(node: ast.BoolOp, names: dict[str, Any]) -> Any:
    value: Any = None
    for part in node.values:
        value = _value(part, names)
        if bool(value) is isinstance(node.op, ast.Or):
            break
    return value


def _compare(node: ast.Compare, names: dict[str, Any]) -> bool:
    left = _value(node.left, names)
    for kind, part in zip(node.ops, node.comparators, strict=True):
        right = _value(part, names)
        if not _COMPARE[type(kind)](left, right):
            return False
        left = right
    return True


def _conditional(node: ast.IfExp, names: dict[str, Any]) -> Any:
    return _value(node.body if _value(node.test, names) else node.orelse, names)


def _subscript(node: ast.Subscript, names: dict[str, Any]) -> Any:
    return _value(node.value, names)[_value(node.slice, names)]


def _slice(node: ast.Slice, names: dict[str, Any]) -> slice:
    parts = [part and _value(part, names) for part in (node.lower, node.upper, node.step)]
    return slice(*parts)


def _dict(node: ast.Dict, names: dict[str, Any]) -> dict[Any, Any]:
    if any(key is None for key in node.keys):
        raise NotSupportedError("`**` in a dictionary")
    return {_value(k, names): _value(v, names) for k, v in zip(node.keys, node.values, strict=True) if k}


def _attribute(node: ast.Attribute, names: dict[str, Any]) -> Any:
    return _member(_value(node.value, names), node.attr)


def _member(owner: Any, name: str) -> Any:
    """Return an attribute of plain data; a method only if it changes nothing."""
    if isinstance(owner, dict) and name in owner:
        return owner[name]
    if isinstance(owner, Markup):
        return _of_markup(owner, name)
    if name in _METHODS.get(type(owner), ()):
        return getattr(owner, name)
    raise AttributeError(name)


def _of_markup(owner: Markup, name: str) -> Callable[[str], Any]:
    if name not in ("find", "findall", "get"):
        raise NotSupportedError(f"`{name}` of an element")
    if name == "get":
        return owner.attribute
    return owner.named if name == "findall" else lambda wanted: next(iter(owner.named(wanted)), None)


def _has(owner: Any, name: str) -> bool:
    try:
        _member(owner, name)
    except AttributeError:
        return False
    return True


def _call(node: ast.Call, names: dict[str, Any]) -> Any:
    if node.keywords:
        raise NotSupportedError("named arguments")
    function = _value(node.func, names)
    given = [_value(each, names) for each in node.args]
    if isinstance(function, Function):
        return _call_lambda(function, given, names)
    if not callable(function):
        raise TypeError(f"{function!r} is no function")
    return function(*given)


def _call_lambda(function: Function, given: list[Any], names: dict[str, Any]) -> Any:
    written: ast.Lambda = _parsed(function.text, "eval").body
    parameters = [each.arg for each in written.args.args]
    if len(parameters) != len(given):
        raise TypeError(f"{len(parameters)} arguments are expected")
    return _value(written.body, {**names, **dict(zip(parameters, given, strict=True))})


_NODES: dict[type[ast.expr], Callable[[Any, dict[str, Any]], Any]] = {
    ast.Constant: lambda node, names: node.value,
    ast.Name: _name,
    ast.List: lambda node, names: [_value(each, names) for each in node.elts],
    ast.Tuple: lambda node, names: [_value(each, names) for each in node.elts],
    ast.Dict: _dict,
    ast.UnaryOp: lambda node, names: _UNARY[type(node.op)](_value(node.operand, names)),
    ast.BinOp: _binary,
    ast.BoolOp: _boolean,
    ast.Compare: _compare,
    ast.IfExp: _conditional,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.Lambda: lambda node, names: Function(ast.unparse(node)),
}


def _execute(statement: ast.stmt, names: Names) -> None:
    known = {**names.system, **names.variables}
    if isinstance(statement, ast.Expr):
        _guarded(statement.value, known)
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        _store(statement.targets[0], _guarded(statement.value, known), names)
    elif isinstance(statement, ast.AugAssign):
        left = ast.copy_location(ast.BinOp(_loaded(statement.target), statement.op, statement.value), statement)
        _store(statement.target, _guarded(left, known), names)
    else:
        raise NotSupportedError(f"{type(statement).__name__} in a Python script")


def _loaded(target: ast.expr) -> ast.expr:
    return ast.parse(ast.unparse(target), mode="eval").body


def _root(target: ast.expr) -> str | None:
    while isinstance(target, ast.Attribute | ast.Subscript):
        target = target.value
    return target.id if isinstance(target, ast.Name) else None


def _store(target: ast.expr, value: Any, names: Names) -> None:
    root = _root(target)
    if root is None or root in names.system:
        raise ScriptError(f"{ast.unparse(target)!r} cannot be assigned to")
    known = {**names.system, **names.variables}
    if isinstance(target, ast.Name):
        names.variables[target.id] = value
    elif isinstance(target, ast.Attribute):
        _set(_guarded(target.value, known), target.attr, value)
    elif isinstance(target, ast.Subscript):
        _set(_guarded(target.value, known), _guarded(target.slice, known), value)


def _set(owner: Any, key: Any, value: Any) -> None:
    if not isinstance(owner, dict | list):
        raise ScriptError(f"TypeError: {owner!r} has no {key!r} to assign to")
    try:
        owner[key] = value
    except (LookupError, TypeError) as wrong:
        raise ScriptError(f"{type(wrong).__name__}: {wrong}") from wrong
