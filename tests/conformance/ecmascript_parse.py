"""A Pratt parser for the ECMAScript the suites use: text to closures over a scope.

Understood: literals, arrays, objects, names, `this`, members, calls, `new`, function expressions, `typeof`, the unary,
arithmetic, comparing and logical operators, `?:`, assignments, `++` and `--`; of statements `var`, `if`, `return`,
function declarations, blocks and expressions. Not understood, and told by `NotSupportedError`: loops, `class`, `let`,
arrow functions, regular expressions, `try`. Everything else that does not parse is the script's own syntax error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.conformance import ecmascript_value as value_of
from tests.conformance.ecmascript_scope import Scope, called, constructed
from tests.conformance.ecmascript_token import Token, tokens, unquoted
from tests.conformance.value import UNDEFINED, Function, NotSupportedError, ScriptError

Code = Callable[[Scope], Any]
Operation = Callable[[Any, Any], Any]

_LEFT_OUT = frozenset(
    (
        *("for", "while", "do", "switch", "try", "throw", "class", "let"),
        *("const", "async", "await", "yield", "delete", "void", "with"),
    )
)
_RESERVED = _LEFT_OUT | frozenset(
    ("return", "var", "if", "else", "function", "break", "continue", "case", "default", "in", "instanceof")
)
_ASSIGN: dict[str, Operation | None] = {
    "=": None,
    "+=": value_of.add,
    "-=": lambda a, b: value_of.number(a) - value_of.number(b),
    "*=": lambda a, b: value_of.number(a) * value_of.number(b),
    "/=": value_of.divide,
    "%=": value_of.remainder,
}
_BINARY: dict[str, tuple[int, Operation]] = {
    "|": (6, lambda a, b: int(value_of.number(a)) | int(value_of.number(b))),
    "^": (7, lambda a, b: int(value_of.number(a)) ^ int(value_of.number(b))),
    "&": (8, lambda a, b: int(value_of.number(a)) & int(value_of.number(b))),
    "==": (9, value_of.equal),
    "!=": (9, lambda a, b: not value_of.equal(a, b)),
    "===": (9, value_of.identical),
    "!==": (9, lambda a, b: not value_of.identical(a, b)),
    "<": (10, value_of.less),
    ">": (10, lambda a, b: value_of.less(b, a)),
    "<=": (10, lambda a, b: value_of.less(a, b) or value_of.equal(a, b)),
    ">=": (10, lambda a, b: value_of.less(b, a) or value_of.equal(a, b)),
    "in": (10, value_of.has),
    "instanceof": (10, value_of.instance_of),
    "+": (12, value_of.add),
    "-": (12, lambda a, b: value_of.number(a) - value_of.number(b)),
    "*": (13, lambda a, b: value_of.number(a) * value_of.number(b)),
    "/": (13, value_of.divide),
    "%": (13, value_of.remainder),
}
_POWER = {**{sign: power for sign, (power, _) in _BINARY.items()}, "?": 3, "||": 4, "&&": 5}
_POWER |= {sign: 2 for sign in _ASSIGN} | {"++": 15, "--": 15, "(": 16, ".": 16, "[": 16}
_UNARY = 14
_UNARIES: dict[str, Callable[[Any], Any]] = {
    "!": lambda value: not value_of.truth(value),
    "-": lambda value: -value_of.number(value),
    "+": value_of.number,
    "~": lambda value: ~int(value_of.number(value)),
}
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None}


@dataclass(frozen=True, slots=True)
class Part:
    """A parsed expression."""

    value: Code
    assign: Callable[[Scope, Any], None] | None = None
    """None: it is nothing that can be assigned to."""
    owner: Code | None = None
    """What a call of it gets as `this`."""
    name: str = ""
    """Set if it is a bare name, or the bare name its members hang on."""


class Parser:
    """Parses one text.

    Args:
        text: The text.

    Raises:
        ScriptError: It cannot be split into tokens.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokens(text)
        self._at = 0

    @property
    def next(self) -> Token:
        """The token that comes next."""
        return self._tokens[self._at]

    def take(self) -> Token:
        """Return the next token and step over it."""
        self._at += 1
        return self._tokens[self._at - 1]

    def skip(self, text: str) -> bool:
        """Step over the next token if it is this one; tell whether it was."""
        found = self.next.text == text and self.next.kind != "string"
        self._at += found
        return found

    def expect(self, text: str) -> Token:
        """Step over this token.

        Raises:
            ScriptError: Another one comes next.
        """
        if not self.skip(text):
            raise self.wrong()
        return self._tokens[self._at - 1]

    def wrong(self) -> Exception:
        """Make the error for a token that cannot stand here."""
        token = self.next
        has_arrow = any(each.text == "=>" and each.kind == "sign" for each in self._tokens)
        if has_arrow or token.text in _LEFT_OUT or token.text == "/":
            return NotSupportedError(f"`{token.text}` in a script")
        return ScriptError(f"SyntaxError: unexpected {token.text or 'end'!r} in {self._text[:60]!r}")

    def word(self) -> str:
        """Step over a name and return it.

        Raises:
            ScriptError: None comes next.
        """
        if self.next.kind != "word" or self.next.text in _RESERVED:
            raise self.wrong()
        return self.take().text

    def expression(self, power: int = 0) -> Part:
        """Parse an expression whose operators bind more tightly than `power`."""
        left = self._operand()
        while self.next.kind in ("sign", "word") and _POWER.get(self.next.text, 0) > power:
            left = self._continued(left)
        return left

    def whole(self) -> Part:
        """Parse all of the text as one expression.

        Raises:
            ScriptError: Something is left.
        """
        part = self.expression()
        self.skip(";")
        if self.next.kind != "end":
            raise self.wrong()
        return part

    # What an expression begins with

    def _operand(self) -> Part:
        token = self.next
        if token.kind == "number":
            return _constant(value_of.number(self.take().text))
        if token.kind == "string":
            return _constant(unquoted(self.take().text))
        if token.kind == "word":
            return self._word()
        makers = {"(": self._bracketed, "[": self._array, "{": self._object}
        if token.text in makers:
            return makers[token.text]()
        return self._unary()

    def _unary(self) -> Part:
        sign = self.next.text
        if sign in ("++", "--"):
            self.take()
            return _stepped(self.expression(_UNARY), by=1 if sign == "++" else -1, old=False, wrong=self.wrong)
        if sign not in _UNARIES:
            raise self.wrong()
        self.take()
        operand, apply = self.expression(_UNARY).value, _UNARIES[sign]
        return Part(lambda scope: apply(operand(scope)))

    def _word(self) -> Part:
        word = self.next.text
        if word in _WORDS:
            self.take()
            return _constant(_WORDS[word])
        if word == "function":
            return _constant(self.function())
        makers = {"typeof": self._type_of, "new": self._new, "this": self._this}
        if word in makers:
            self.take()
            return makers[word]()
        return _name(self.word())

    def _this(self) -> Part:
        return Part(lambda scope: scope.this)

    def _type_of(self) -> Part:
        part = self.expression(_UNARY)

        def kind(scope: Scope) -> str:
            known = part.owner is not None or not part.name or scope.knows(part.name)
            return value_of.type_of(part.value(scope)) if known else "undefined"

        return Part(kind)

    def _new(self) -> Part:
        name = self.word()
        given = self._arguments() if self.skip("(") else []
        return Part(lambda scope: constructed(scope.get(name), [each(scope) for each in given], scope))

    def _bracketed(self) -> Part:
        self.take()
        part = self.expression()
        self.expect(")")
        return part

    def _array(self) -> Part:
        self.take()
        items = self._several("]")
        return Part(lambda scope: [item(scope) for item in items])

    def _object(self) -> Part:
        self.take()
        pairs: list[tuple[str, Code]] = []
        while not self.skip("}"):
            key = self.take()
            self.expect(":")
            pairs.append((unquoted(key.text) if key.kind == "string" else key.text, self.expression().value))
            if self.next.text != "}":
                self.expect(",")
        return Part(lambda scope: {key: code(scope) for key, code in pairs})

    def _several(self, end: str) -> list[Code]:
        found: list[Code] = []
        while not self.skip(end):
            found.append(self.expression().value)
            if self.next.text != end:
                self.expect(",")
        return found

    def _arguments(self) -> list[Code]:
        return self._several(")")

    def function(self) -> Function:
        """Step over a function, its name included, and return it."""
        start = self.next.start
        self.expect("function")
        if self.next.text != "(":
            self.word()
        self.expect("(")
        while not self.skip(")"):
            self.take()
        depth = 0
        while True:
            token = self.take()
            depth += {"{": 1, "}": -1}.get(token.text, 0) if token.kind == "sign" else 0
            if token.kind == "end":
                raise self.wrong()
            if not depth:
                return Function(self._text[start : token.end])

    # What an expression goes on with

    def _continued(self, left: Part) -> Part:
        sign = self.take().text
        if sign in _ASSIGN:
            return self._assignment(left, combine=_ASSIGN[sign])
        if sign in ("++", "--"):
            return _stepped(left, by=1 if sign == "++" else -1, old=True, wrong=self.wrong)
        makers = {"(": self._call, ".": self._dot, "[": self._index, "?": self._conditional}
        if sign in makers:
            return makers[sign](left)
        if sign in ("||", "&&"):
            return _logical(left.value, self.expression(_POWER[sign]).value, stop=sign == "||")
        power, operation = _BINARY[sign]
        right = self.expression(power).value
        return Part(lambda scope: operation(left.value(scope), right(scope)))

    def _assignment(self, left: Part, *, combine: Operation | None) -> Part:
        assign = left.assign
        if assign is None:
            raise self.wrong()
        right = self.expression(1).value

        def run(scope: Scope) -> Any:
            value = combine(left.value(scope), right(scope)) if combine else right(scope)
            assign(scope, value)
            return value

        return Part(run)

    def _conditional(self, left: Part) -> Part:
        first = self.expression(1).value
        self.expect(":")
        second = self.expression(2).value
        return Part(lambda scope: (first if value_of.truth(left.value(scope)) else second)(scope))

    def _call(self, left: Part) -> Part:
        given = self._arguments()

        def run(scope: Scope) -> Any:
            this = left.owner(scope) if left.owner else UNDEFINED
            return called(left.value(scope), [each(scope) for each in given], scope, this=this)

        return Part(run)

    def _dot(self, left: Part) -> Part:
        if self.next.kind != "word":
            raise self.wrong()
        name = self.take().text
        return _member(left, lambda scope: name)

    def _index(self, left: Part) -> Part:
        name = self.expression().value
        self.expect("]")
        return _member(left, name)


def _constant(value: Any) -> Part:
    return Part(lambda scope: value)


def _name(name: str) -> Part:
    return Part(lambda scope: scope.get(name), assign=lambda scope, value: scope.set(name, value), name=name)


def _member(owner: Part, name: Code) -> Part:
    return Part(
        lambda scope: value_of.member(owner.value(scope), name(scope)),
        assign=lambda scope, value: value_of.set_member(owner.value(scope), name(scope), value),
        owner=owner.value,
        name=owner.name,
    )


def _stepped(part: Part, *, by: int, old: bool, wrong: Callable[[], Exception]) -> Part:
    assign = part.assign
    if assign is None:
        raise wrong()

    def run(scope: Scope) -> Any:
        before = value_of.number(part.value(scope))
        assign(scope, before + by)
        return before if old else before + by

    return Part(run)


def _logical(left: Code, right: Code, *, stop: bool) -> Part:
    def run(scope: Scope) -> Any:
        value = left(scope)
        return value if value_of.truth(value) is stop else right(scope)

    return Part(run)
