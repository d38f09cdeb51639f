"""A field's type is what pydantic checks a value against, and what a JSON schema shows."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from stateward.govern.kinds.contract_spec import FieldSpec
from stateward.govern.kinds.field_value import annotation, fits

FITTING = [
    (FieldSpec(name="a", type="str", max_length=2), "ab", "abc"),
    (FieldSpec(name="a", type="int", min=1), 1, 0),
    (FieldSpec(name="a", type="int"), 1, "1"),
    (FieldSpec(name="a", type="int"), 1, True),
    (FieldSpec(name="a", type="float", max=1.5), 1, 2.0),
    (FieldSpec(name="a", type="float"), 1.0, float("nan")),
    (FieldSpec(name="a", type="bool"), False, 0),
    (FieldSpec(name="a", type="enum", values=("x",)), "x", "y"),
    (FieldSpec(name="a", type="list", items="int", max_items=1), [1], [1, 2]),
    (FieldSpec(name="a", type="list", items="int"), [], ["1"]),
]


@pytest.mark.parametrize(("field", "good", "bad"), FITTING)
def test_a_value_fits_as_it_is_or_not_at_all(field: FieldSpec, good: object, bad: object) -> None:
    """Nothing is coerced where a policy itself gives a value."""
    assert (fits(good, field=field), fits(bad, field=field)) == (True, False)


TEXTS: list[tuple[dict[str, Any], str, str, str]] = [
    ({"pattern": "[A-Z]{2}-[0-9]+"}, "AB-1", "see AB-1", r"a text that matches `\[A-Z\]"),
    ({"contains": ("blue", "sky")}, "Blue SKY", "blue", "a text that contains `sky`"),
    ({"forbid": "```|~~~"}, "plain", "x ``` y", "a text in which nothing matches"),
    ({"pattern": "(?i)a+", "forbid": "aaa"}, "AA", "aaa", "nothing matches"),
]


@pytest.mark.parametrize(("said", "good", "bad", "told"), TEXTS)
def test_what_re2_checks_is_told_in_words(said: dict[str, Any], good: str, bad: str, told: str) -> None:
    """Feedback says what was expected; the pattern is for the whole text, what is forbidden for any part of it."""
    adapter = TypeAdapter[str](annotation(FieldSpec(name="a", type="str", **said)))
    assert adapter.validate_python(good) == good
    with pytest.raises(ValidationError, match=told):
        adapter.validate_python(bad)


def test_a_hostile_pattern_takes_no_time() -> None:
    """RE2 has no exponential case."""
    field = FieldSpec(name="a", type="str", forbid="(a+)+$")
    assert not fits("a" * 100_000, field=field)
