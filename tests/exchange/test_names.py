"""Names and ids."""

from __future__ import annotations

import doctest

import stateward as sw
from stateward.chart.compiler import build
from stateward.exchange import names
from stateward.exchange.names import ids_of, is_name, name_from, unused


def test_a_legal_id_is_the_name() -> None:
    """Others are written in legal characters."""
    ids = ("a-1", "a.b", "-x", "é", "__end__")
    assert [name_from(each) for each in ids] == ["a-1", "a_x2E_b", "_x2D_x", "_xE9_", "_x5F__end__"]
    assert all(is_name(name_from(each)) for each in (*ids, "1.2 3", "."))
    assert doctest.testmod(names).failed == 0


def test_an_id_is_the_name_where_that_is_unique_and_never_has_a_dot() -> None:
    """Else it is the path, joined with a hyphen, and with a number where even that is taken."""
    inner = sw.Superstate("A", sw.State("X", on=sw.on("go", sw.History("A"))), history="deep")
    chart = build("c", [inner, sw.Superstate("B", sw.State("X"), sw.State("A-X"))])
    assert ids_of(chart.nodes) == ("", "A", "A-history", "A-X_2", "B", "B-X", "A-X")


def test_a_name_that_is_taken_gets_the_first_free_number() -> None:
    """A free one stays as it is."""
    assert (unused("a", taken=["b"]), unused("a", taken=["a", "a_2"])) == ("a", "a_3")
