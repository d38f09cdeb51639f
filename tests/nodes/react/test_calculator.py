"""The calculator reads arithmetic, and refuses what is none or takes for ever."""

from __future__ import annotations

import pytest

from nodes.react.calculator import MAX_LETTERS, calculated


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("18 ** 2", 324),
        ("18^2", 324),
        ("18 * 9 / 5 + 32", 64.4),
        ("-(2 + 3) * 4", -20),
        ("7 // 2 + 7 % 2", 4),
        ("0.1 + 0.2", 0.3),
        ("12 × 3 ÷ 4", 9),
        (" 2 ** -1 ", 0.5),
        ("0 ** 0", 1),
    ],
)
def test_arithmetic_is_worked_out(expression: str, result: float) -> None:
    """Whole results are whole, and others are not spoilt by binary fractions."""
    assert repr(calculated(expression)) == repr(result)


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "   ",
        "two",
        "__import__('os')",
        "(1).real",
        "[1][0]",
        "True + 1",
        "'a' * 3",
        "1j",
        "1 if 1 else 2",
        "1; 2",
        "1\n2",
        "lambda: 1",
        "1 << 99",
        "\x00",
        "1 +",
    ],
)
def test_what_is_no_arithmetic_is_refused(expression: str) -> None:
    """Names, attributes, texts, truth values and statements are nothing to a calculator."""
    with pytest.raises(ValueError, match=r"."):
        calculated(expression)


@pytest.mark.parametrize(
    "expression",
    [
        "9 ** 9 ** 9",
        "0.5 ** -1000000",
        "1 / 0",
        "1 % 0",
        "0 ** -1",
        "(-8) ** 0.5",
        "1e308 * 10",
        "1e400",
        "10 ** 31",
        "1 - 1e400",
    ],
)
def test_what_cannot_be_shown_is_refused_before_it_is_worked_out(expression: str) -> None:
    """No number is larger than can be read, and no power is begun that would be."""
    with pytest.raises(ValueError, match=r"digits|zero|real power"):
        calculated(expression)


def test_long_and_deep_expressions_are_refused() -> None:
    """By their length, before anything reads them; what fits is read."""
    with pytest.raises(ValueError, match="letters"):
        calculated("1+" * MAX_LETTERS + "1")
    assert calculated("(" * 60 + "1" + ")" * 60) == 1
    assert calculated("-" * 150 + "1") == 1
