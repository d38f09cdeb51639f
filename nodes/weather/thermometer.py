"""The thermometer of `graphs.weather`: a table of readings, so that every run reads the same."""

from __future__ import annotations

from collections.abc import Mapping

import stateward as sw

READINGS: Mapping[str, float] = {
    "Berlin": 16,
    "Cairo": 31,
    "London": 15,
    "New York": 18,
    "Oslo": 9,
    "San Francisco": 14,
    "Tokyo": 22,
}
"""City to temperature, in degrees Celsius."""
UNITS = ("celsius", "fahrenheit", "none")
"""The units of a record's value."""
FREEZING_F = 32
"""Degrees Fahrenheit at 0 °C."""
ABSOLUTE_ZERO_C = -273.15
HOTTEST_C = 1e9
"""Above it, a number is no temperature but a mistake."""


def city_in(text: str) -> str:
    """Return the city that a text names last; nothing when it names none that has a thermometer.

    Args:
        text: Any text.
    """
    folded = text.casefold()
    last = max(READINGS, key=lambda city: folded.rfind(city.casefold()))
    return last if last.casefold() in folded else ""


@sw.tool(effect="pure")
def get_temperature(city: str) -> dict[str, str | float]:
    """Read the temperature of a city, in degrees Celsius."""
    found = _known(city)
    return {"city": found, "celsius": READINGS[found]}


@sw.tool(effect="pure")
def to_fahrenheit(celsius: float) -> float:
    """Convert degrees Celsius to degrees Fahrenheit."""
    return round(_temperature(celsius) * 9 / 5 + FREEZING_F, 2)


def _known(city: str) -> str:
    plain = " ".join(city.split()).casefold()
    found = next((name for name in READINGS if name.casefold() == plain), None)
    if found is None:
        raise ValueError(f"there is no thermometer in `{city}`; there is one in {', '.join(READINGS)}")
    return found


def _temperature(celsius: float) -> float:
    if not ABSOLUTE_ZERO_C <= celsius <= HOTTEST_C:
        raise ValueError(f"{celsius} °C is no temperature")
    return celsius
