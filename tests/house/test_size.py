"""Files and functions stay small enough to be read at one sitting."""

from __future__ import annotations

import ast

from tests.house.source import functions, modules, report

FILE_LINES = 400
FUNCTION_LINES = 60
ALL = modules("stateward", "nodes", "graphs", "tests", "benchmarks", "notebooks", "docs")


def test_a_file_has_less_than_400_lines() -> None:
    """There is no waiver: a file that grows too long has two subjects."""
    counted = {module.place: module.text.count("\n") for module in ALL}
    wrong = {place: lines for place, lines in counted.items() if lines >= FILE_LINES}
    assert not wrong, report(wrong)


def test_a_function_has_at_most_60_lines() -> None:
    """Counted from `def` to its end; decorators are not."""
    counted = {
        f"{module.place}: {function.name}": (function.end_lineno or 0) - function.lineno + 1
        for module in ALL
        for function in functions(module)
    }
    wrong = {place: lines for place, lines in counted.items() if lines > FUNCTION_LINES}
    assert not wrong, report(wrong)


def test_nothing_is_global_and_no_exception_is_caught_unnamed() -> None:
    """No `global` statement, no bare `except`."""
    wrong = [
        f"{module.place}:{node.lineno}"
        for module in ALL
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Global) or (isinstance(node, ast.ExceptHandler) and node.type is None)
    ]
    assert not wrong, report(wrong)
