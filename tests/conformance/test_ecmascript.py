"""The ECMAScript translator means what the language means, and says what it leaves out."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.conformance.ecmascript import EcmaScript
from tests.conformance.language import Names
from tests.conformance.value import UNDEFINED, NotSupportedError, ScriptError

LANGUAGE = EcmaScript()
EVENT = {"name": "e", "data": {"a": 1}, "sendid": UNDEFINED}


def names(**variables: Any) -> Names:
    """Return names with some variables and an event."""
    return Names({"x": 3, **variables}, {"_event": EVENT})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("7 / 2", 3.5),
        ("8 / 2", 4),
        ("-7 % 4", -3),
        ("1 + '2'", "12"),
        ("'a' + undefined", "aundefined"),
        ("x === 3 ? 'yes' : 'no'", "yes"),
        ("x = y = 4", 4),
        ("1 == '1'", True),
        ("1 === '1'", False),
        ("null == undefined", True),
        ("null === undefined", False),
        ("null == 0", False),
        ("'' || 'other'", "other"),
        ("0 && nowhere", 0),
        ("[] ? 1 : 2", 1),
        ("!''", True),
        ("2 | 1", 3),
        ("2 < 10 && '2' > '10'", True),
        ("typeof nowhere", "undefined"),
        ("typeof null", "object"),
        ("typeof function () {}", "function"),
        ("typeof _event.sendid === 'undefined' && 'sendid' in _event", True),
        ("_event.data['a'] + _event.data.a", 2),
        ("{p: 'v', 'q': [1, 2]}", {"p": "v", "q": [1, 2]}),
        ("[].concat([1], 2)", [1, 2]),
        ("[1] instanceof Array", True),
        ("[1, 2].length", 2),
        ("'abc'.slice(1) + 'abc'.charAt(0)", "bca"),
        ("Math.pow(x, 3)", 27),
        ("JSON.stringify({a: undefined, b: [1]})", '{"b":[1]}'),
        ("(function (a, b) { if (a) return b; return 0; })(1, 'b')", "b"),
        ("String(1 / 0 > 5) + isNaN('a')", "truetrue"),
        (r"'it\'s'", "it's"),
        ("x++ + x", 7),
        ("++x + x", 8),
    ],
)
def test_an_expression_has_the_value_the_language_gives_it(text: str, value: object) -> None:
    """Precedence, conversion and the members that are known follow ECMAScript."""
    assert LANGUAGE.evaluate(text, names()) == value


def test_dividing_zero_by_zero_is_no_number() -> None:
    """Arithmetic does not raise."""
    assert math.isnan(LANGUAGE.evaluate("0 / 0", names()))


@pytest.mark.parametrize("text", ["return", "1 = 1", "x +", "nowhere", "x.a.b", "null.a", "x()", "'open", "#", ""])
def test_a_wrong_expression_is_an_error_of_the_script(text: str) -> None:
    """What the language would refuse becomes `error.execution`."""
    with pytest.raises(ScriptError):
        LANGUAGE.evaluate(text, names())


@pytest.mark.parametrize("text", ["new Date()", "'a'.match('b')", "/a/.test('a')", "() => 1", "delete x"])
def test_what_is_left_out_is_told_apart_from_what_is_wrong(text: str) -> None:
    """A test that needs more of the language does not pass or fail by accident."""
    with pytest.raises(NotSupportedError):
        LANGUAGE.evaluate(text, names())


def test_a_script_makes_variables_and_functions_of_the_document() -> None:
    """A `var` inside of a function stays there; one without value does not empty a variable."""
    known = names()
    LANGUAGE.execute("var a = 1, x; function f(k) { var a = 9; return a + k } a = f(2); x *= 2 // twice", known)
    assert (known.variables["a"], known.variables["x"]) == (11, 6)


def test_a_function_can_fill_a_new_object() -> None:
    """`this` is the new object, whose members can be assigned to."""
    known = names(made=UNDEFINED)
    LANGUAGE.execute("made = new Maker(7); function Maker(n) { this.bar = n; }", known)
    LANGUAGE.assign("made.bar", 8, known)
    assert known.variables["made"] == {"bar": 8}


@pytest.mark.parametrize("location", ["nowhere", "_event", "_event.name", "x + 1", "nowhere.a.b", "'x'", ""])
def test_only_locations_of_existing_variables_can_be_assigned_to(location: str) -> None:
    """`<assign>` makes no variables and does not touch the system's."""
    with pytest.raises(ScriptError):
        LANGUAGE.assign(location, 1, names())


def test_a_script_cannot_write_what_is_the_systems() -> None:
    """The event stays what it is."""
    with pytest.raises(ScriptError, match="read-only"):
        LANGUAGE.execute("_event = 1", names())


def test_a_loop_is_left_out() -> None:
    """Statements that are not understood are told as such."""
    with pytest.raises(NotSupportedError, match="for"):
        LANGUAGE.execute("for (;;) {}", names())
