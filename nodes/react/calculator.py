"""A calculator that reads arithmetic and nothing else: no name, no attribute, no number that takes long to work out."""

from __future__ import annotations

import ast
import math

import stateward as sw

MAX_LETTERS = 200
"""The longest expression that is read."""
MAX_DIGITS = 30
"""Digits before the point of the largest number that is worked out."""
Number = int | float


def calculated(expression: str) -> Number:
    """Work out an arithmetic expression.

    Args:
        expression: Numbers, `+ - * / // % **` and parentheses; `^`, `×` and `÷` are understood as well.

    Returns:
        The result; a whole number where it is one.

    Raises:
        ValueError: It is no arithmetic, it is too long or too deep, or its result is no number that can be shown.
    """
    text = expression.strip().replace("^", "**").replace("×", "*").replace("÷", "/")
    if not text or len(text) > MAX_LETTERS:
        raise ValueError(f"an expression has 1 to {MAX_LETTERS} letters, and this has {len(text)}")
    try:
        result = _value(ast.parse(text, mode="eval").body)
    except SyntaxError as error:
        raise ValueError(f"`{text}` is no arithmetic expression") from error
    except ZeroDivisionError as error:
        raise ValueError(f"`{text}` divides by zero") from error
    except (RecursionError, MemoryError) as error:
        raise ValueError(f"`{text}` is too deep") from error
    return int(result) if result == int(result) else round(result, 10)


@sw.tool(effect="pure")
def calculate(expression: str) -> Number:
    """Work out an arithmetic expression such as 18 ** 2 or (3 + 4) * 1.5."""
    return calculated(expression)


def _value(node: ast.expr) -> Number:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return _shown(node.value)  # pyright: ignore[reportArgumentType]  # the line above says what it is
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd | ast.USub):
        value = _value(node.operand)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp):
        return _shown(_applied(node, _value(node.left), _value(node.right)))
    raise _no_arithmetic(node)


def _applied(node: ast.BinOp, left: Number, right: Number) -> Number:
    match node.op:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.Div():
            return left / right
        case ast.FloorDiv():
            return left // right
        case ast.Mod():
            return left % right
        case ast.Pow():
            _check_power(left, right)
            return left**right
        case _:
            raise _no_arithmetic(node)


def _no_arithmetic(node: ast.expr) -> ValueError:
    return ValueError(f"`{ast.unparse(node)}` is neither a number nor arithmetic on numbers")


def _check_power(base: Number, exponent: Number) -> None:
    """Refuse a power by its size before it is worked out, which alone can take for ever."""
    if base < 0 and exponent != int(exponent):
        raise ValueError(f"{base} has no real power {exponent}")
    if base and exponent * math.log10(abs(base)) > MAX_DIGITS:
        raise ValueError(f"{base} ** {exponent} has more than {MAX_DIGITS} digits")


def _shown(value: Number) -> Number:
    if not math.isfinite(value) or abs(value) >= 10**MAX_DIGITS:
        raise ValueError(f"a number of more than {MAX_DIGITS} digits comes up")
    return value
