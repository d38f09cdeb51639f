"""ECMAScript as a language of data models: expressions, locations and scripts, without `eval`."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from tests.conformance import ecmascript_value as value_of
from tests.conformance.ecmascript_parse import Code, Parser
from tests.conformance.ecmascript_scope import Scope
from tests.conformance.language import Names
from tests.conformance.value import UNDEFINED, Function, ScriptError

Statement = Callable[[Scope], None]


class _Return(Exception):
    """Leaves a function with a value."""

    def __init__(self, value: Any) -> None:
        self.value = value


class EcmaScript:
    """The data model `ecmascript`. Source: SCXML B.2."""

    nothing: Any = UNDEFINED
    """What a variable holds that was only declared, and what an event without data carries."""

    def evaluate(self, text: str, names: Names) -> Any:
        """Return the value of an expression.

        Raises:
            ScriptError: Its text is wrong, or so is what it does.
            NotSupportedError: It uses what the translator leaves out.
        """
        return _expression(text)(_scope(names))

    def assign(self, location: str, value: Any, names: Names) -> None:
        """Assign to a location whose variable exists.

        Raises:
            ScriptError: It is no location, or not one of the document's.
        """
        part = Parser(location).whole()
        if part.assign is None or part.name not in names.variables:
            raise ScriptError(f"{location!r} is no location of the data model")
        part.assign(_scope(names), value)

    def execute(self, text: str, names: Names) -> None:
        """Run a script; its variables and functions become the document's.

        Raises:
            ScriptError: Its text is wrong, or so is what it does.
            NotSupportedError: It uses what the translator leaves out.
        """
        _run(_script(text), _scope(names))

    def is_true(self, value: Any) -> bool:
        """Tell whether a condition of this value holds."""
        return value_of.truth(value)

    def is_name(self, name: str) -> bool:
        """Tell whether a variable may be called so."""
        try:
            parser = Parser(name)
            parser.word()
        except ScriptError:
            return False
        return parser.next.kind == "end"

    def system(self, name: str, value: Any) -> Any:
        """Return a system variable as scripts see it: `In` as a function, all else as it is."""
        return value_of.Native(name, value) if callable(value) else value


@lru_cache(maxsize=4096)
def _expression(text: str) -> Code:
    return Parser(text).whole().value


@lru_cache(maxsize=1024)
def _script(text: str) -> tuple[Statement, ...]:
    return _statements(Parser(text), end="")


@lru_cache(maxsize=1024)
def _function(text: str) -> tuple[tuple[str, ...], tuple[Statement, ...]]:
    """Return the parameters and the body of a function."""
    parser = Parser(text)
    parser.expect("function")
    if parser.next.text != "(":
        parser.word()
    parser.expect("(")
    parameters: list[str] = []
    while not parser.skip(")"):
        parameters.append(parser.word())
        parser.skip(",")
    parser.expect("{")
    return tuple(parameters), _statements(parser, end="}")


def _scope(names: Names) -> Scope:
    return Scope(names.variables, names.system, run=_call)


def _call(function: Function, given: list[Any], scope: Scope) -> Any:
    parameters, body = _function(function.text)
    for place, parameter in enumerate(parameters):
        scope.declare(parameter, given[place] if place < len(given) else UNDEFINED)
    try:
        _run(body, scope)
    except _Return as returned:
        return returned.value
    return UNDEFINED


def _run(statements: tuple[Statement, ...], scope: Scope) -> None:
    for statement in statements:
        statement(scope)


def _statements(parser: Parser, *, end: str) -> tuple[Statement, ...]:
    """Parse statements up to `end`; function declarations come first, as they do in the language."""
    functions: list[Statement] = []
    others: list[Statement] = []
    while not (parser.skip(end) if end else parser.next.kind == "end"):
        is_function = parser.next.text == "function"
        (functions if is_function else others).append(_statement(parser))
    return (*functions, *others)


def _statement(parser: Parser) -> Statement:
    makers = {"var": _var, "if": _if, "return": _return, "function": _declaration, "{": _block, ";": _empty}
    return makers.get(parser.next.text, _plain)(parser)


def _empty(parser: Parser) -> Statement:
    parser.expect(";")
    return lambda scope: None


def _plain(parser: Parser) -> Statement:
    code = parser.expression().value
    _end(parser)

    def run(scope: Scope) -> None:
        code(scope)

    return run


def _end(parser: Parser) -> None:
    """Step over the end of a statement; before `}`, at the end and before a new word it may be left out."""
    if not parser.skip(";") and parser.next.text != "}" and parser.next.kind not in ("end", "word"):
        raise parser.wrong()


def _var(parser: Parser) -> Statement:
    parser.expect("var")
    pairs: list[tuple[str, Code | None]] = []
    while True:
        name = parser.word()
        pairs.append((name, parser.expression(1).value if parser.skip("=") else None))
        if not parser.skip(","):
            break
    _end(parser)

    def run(scope: Scope) -> None:
        for name, code in pairs:
            if code is not None or not scope.knows(name):
                scope.declare(name, code(scope) if code else UNDEFINED)

    return run


def _block(parser: Parser) -> Statement:
    parser.expect("{")
    body = _statements(parser, end="}")
    return lambda scope: _run(body, scope)


def _if(parser: Parser) -> Statement:
    parser.expect("if")
    parser.expect("(")
    cond = parser.expression().value
    parser.expect(")")
    then = _statement(parser)
    other = _statement(parser) if parser.skip("else") else lambda scope: None
    return lambda scope: (then if value_of.truth(cond(scope)) else other)(scope)


def _return(parser: Parser) -> Statement:
    parser.expect("return")
    bare = parser.next.text in (";", "}") or parser.next.kind == "end"
    code = (lambda scope: UNDEFINED) if bare else parser.expression().value
    _end(parser)

    def run(scope: Scope) -> None:
        raise _Return(code(scope))

    return run


def _declaration(parser: Parser) -> Statement:
    function = parser.function()
    name = function.text.removeprefix("function").split("(")[0].strip()
    return lambda scope: scope.declare(name, function)
