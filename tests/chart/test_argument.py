"""One alone is taken as one, and what is of another kind is told with what was expected."""

from __future__ import annotations

import pytest

from stateward.chart.argument import of_kind, several, texts
from stateward.errors import DefinitionError


def test_what_fits_is_returned() -> None:
    """As it is, or as a list of one or several."""
    assert of_kind("x", (str, bytes), name="n", expected="text", where="here") == "x"
    assert texts("ab", name="n", expected="texts", where="here") == ["ab"]
    assert several({"a": 1, "b": 2}, name="n", expected="things", where="here") == ["a", "b"]


@pytest.mark.parametrize("given", [3, None, b"x", ["a", 3]])
def test_what_does_not_fit_is_told(given: object) -> None:
    """With name, value, place and what was expected."""
    with pytest.raises(DefinitionError, match=r"`n` is .*, expected texts \(at here\)"):
        texts(given, name="n", expected="texts", where="here")
