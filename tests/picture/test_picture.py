"""Pictures in one call."""

from __future__ import annotations

import pytest

from stateward.errors import DefinitionError
from stateward.picture.picture import picture
from tests.chart.machines.shipping import shipping
from tests.chart.machines.working import working


def test_each_format_is_what_it_says() -> None:
    """Text, text, and bytes."""
    assert picture(working()).startswith("stateDiagram-v2\n")
    assert picture(working(), format="svg").startswith("<svg ")
    assert picture(working(), format="png").startswith(b"\x89PNG")


@pytest.mark.parametrize("format", ["mermaid", "svg", "png"])
def test_the_same_chart_gives_the_same_bytes(format: str) -> None:
    """Whatever is marked in it."""
    marks = {"highlight": ["HANDLING.MONEY.PAID", "HANDLING.GOODS.PICK"], "path": ["NEW", "NEW -> HANDLING"]}
    assert picture(shipping(), format=format, **marks) == picture(shipping(), format=format, **marks)
    assert picture(shipping(), format=format, **marks) != picture(shipping(), format=format)


def test_an_unknown_format_is_an_error() -> None:
    """With those there are."""
    with pytest.raises(DefinitionError, match=r"`gif` is no format of a drawing .*`mermaid`, `svg`, `png`"):
        picture(working(), format="gif")
