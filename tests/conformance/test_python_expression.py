"""The Python translator interprets plain expressions, and nothing that could reach further."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.language import Names
from tests.conformance.python_expression import Python
from tests.conformance.value import Markup, NotSupportedError, ScriptError

LANGUAGE = Python()


def names(**variables: Any) -> Names:
    """Return names with some variables and an event."""
    return Names({"x": 3, **variables}, {"_event": {"name": "e", "data": {"a": 1}}, "In": lambda state: state == "s"})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7),
        ("1 < x <= 3", True),
        ("x and None or 'other'", "other"),
        ("not x", False),
        ("_event.data.a + _event.data['a'] + _event.data.get('a')", 3),
        ("_event.data.get('b') is None", True),
        ("hasattr(_event, 'name') and not hasattr(_event, 'origin')", True),
        ("In('s') and not In('t')", True),
        ("'file'.startswith('f')", True),
        ("[1, 2] + [x]", [1, 2, 3]),
        ("{'a': (1, 2)}", {"a": [1, 2]}),
        ("[1, 2, 3][1:]", [2, 3]),
        ("(lambda a: a + x)(1)", 4),
        ("'yes' if x == 3 else 'no'", "yes"),
        ("\n len('abc')", 3),
        ("4 == 0 | 4 != 2", True),
    ],
)
def test_an_expression_has_the_value_python_gives_it(text: str, value: object) -> None:
    """The part of the language that is known is the language's."""
    assert LANGUAGE.evaluate(text, names()) == value


@pytest.mark.parametrize(
    "text", ["return", "1 = 1", "nowhere", "x.a", "x['a']", "1 / 0", "'a' + 1", "x()", "x.__class__", "''.__class__"]
)
def test_a_wrong_expression_is_an_error_of_the_script(text: str) -> None:
    """What Python would refuse, and every attribute that is no plain data, becomes `error.execution`."""
    with pytest.raises(ScriptError):
        LANGUAGE.evaluate(text, names())


@pytest.mark.parametrize(
    "text", ["[a for a in x]", "f'{x}'", "(y := 1)", "x ** 9", "len(obj='a')", "{**x}", "eval('x')"]
)
def test_what_is_left_out_is_told_apart_from_what_is_wrong(text: str) -> None:
    """A test that needs more of the language does not pass or fail by accident."""
    with pytest.raises(NotSupportedError):
        LANGUAGE.evaluate(text, names())


def test_a_script_changes_variables_and_what_is_in_them() -> None:
    """Assignments to names, keys and attributes are understood, with and without an operator."""
    known = names(d={"a": [1]})
    LANGUAGE.execute("\n    x += 1\n    d['a'][0] = x\n    d.b = 'new'\n", known)
    assert known.variables == {"x": 4, "d": {"a": [4], "b": "new"}}


@pytest.mark.parametrize("text", ["import os", "def f(): pass", "for a in []: pass", "x = y = 1", "del x"])
def test_other_statements_are_left_out(text: str) -> None:
    """Nothing is executed that is not interpreted."""
    with pytest.raises(NotSupportedError):
        LANGUAGE.execute(text, names())


@pytest.mark.parametrize("location", ["nowhere", "_event", "_event.name", "x + 1", "x.a.b", ""])
def test_only_locations_of_existing_variables_can_be_assigned_to(location: str) -> None:
    """`<assign>` makes no variables and does not touch the system's."""
    with pytest.raises(ScriptError):
        LANGUAGE.assign(location, 1, names())


def test_markup_is_read_like_an_element() -> None:
    """`findall` and `get` are those of the standard library's elements."""
    known = names(books=Markup('<books><book title="one"/><book title="two"/></books>'))
    assert LANGUAGE.evaluate("books.findall('book')[1].get('title')", known) == "two"
