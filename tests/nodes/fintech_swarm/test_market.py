"""The market: what is listed, and what a text names of it."""

from __future__ import annotations

import pytest

from nodes.fintech_swarm.market import headlines, quote, symbols_in


@pytest.mark.parametrize(
    ("text", "symbols"),
    [
        ("Compare HARB and ALPN.", ("HARB", "ALPN")),
        ("harbour bank, please; then Alpine Rail (ALPN)", ("HARB", "ALPN")),
        ("alpn, ALPNX, XHARB", ()),
        ("", ()),
    ],
)
def test_companies_are_told_by_symbol_or_name(text: str, symbols: tuple[str, ...]) -> None:
    """In the order of the text, each once; a symbol is a word of capitals."""
    assert symbols_in(text) == symbols


def test_a_quote_has_price_and_change() -> None:
    """Whatever the letters of the symbol."""
    told = {"symbol": "BRGT", "name": "Bright Cells", "price_usd": 19.75, "change_percent": -8.4}
    assert quote.fn(symbol=" brgt ") == told
    assert headlines.fn(symbol="BRGT")[0] == "Bright Cells delays its factory"


@pytest.mark.parametrize("tool", [quote, headlines])
def test_what_is_not_listed_is_an_error(tool: object) -> None:
    """It names what is listed."""
    with pytest.raises(ValueError, match="ALPN, BRGT, HARB"):
        tool.fn(symbol="TSLA")  # pyright: ignore[reportAttributeAccessIssue]  # a governed tool
