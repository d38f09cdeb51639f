"""What the researcher of `graphs.fintech_swarm` reads: a table of quotes and headlines, the same in every run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import stateward as sw

SYMBOL = re.compile(r"\b[A-Z]{2,5}\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """One company."""

    name: str
    price_usd: float
    change_percent: float
    """Since a month ago."""
    headlines: tuple[str, ...]


LISTINGS: Mapping[str, Listing] = {
    "ALPN": Listing(
        name="Alpine Rail",
        price_usd=84.2,
        change_percent=3.1,
        headlines=("Alpine Rail opens its night line", "Passengers up 12 % on last year"),
    ),
    "BRGT": Listing(
        name="Bright Cells",
        price_usd=19.75,
        change_percent=-8.4,
        headlines=("Bright Cells delays its factory", "A recall costs 40 million"),
    ),
    "HARB": Listing(
        name="Harbour Bank",
        price_usd=47.6,
        change_percent=0.4,
        headlines=("Harbour Bank keeps its dividend",),
    ),
}
"""Symbol to company; all of them are invented."""


def symbols_in(text: str) -> tuple[str, ...]:
    """Return the symbols and companies of the table that a text names, in its order.

    Args:
        text: Any text.
    """
    folded = text.casefold()
    places = {symbol: _place(symbol, text=text, folded=folded) for symbol in LISTINGS}
    return tuple(sorted((symbol for symbol, place in places.items() if place >= 0), key=places.__getitem__))


def _place(symbol: str, *, text: str, folded: str) -> int:
    """Where a text names a company first, by symbol or by name; -1 for nowhere."""
    found = [match.start() for match in SYMBOL.finditer(text) if match.group() == symbol]
    named = folded.find(LISTINGS[symbol].name.casefold())
    places = [*found, named] if named >= 0 else found
    return min(places) if places else -1


@sw.tool(effect="pure")
def quote(symbol: str) -> dict[str, str | float]:
    """Return the price of a share and how it changed in a month."""
    found = _listing(symbol)
    return {
        "symbol": symbol.strip().upper(),
        "name": found.name,
        "price_usd": found.price_usd,
        "change_percent": found.change_percent,
    }


@sw.tool(effect="pure")
def headlines(symbol: str) -> list[str]:
    """Return what the papers wrote of a company."""
    return list(_listing(symbol).headlines)


def _listing(symbol: str) -> Listing:
    found = LISTINGS.get(symbol.strip().upper())
    if found is None:
        raise ValueError(f"`{symbol}` is not listed; listed are {', '.join(LISTINGS)}")
    return found
