"""Dates in running text: numeric forms, month names in five languages, and a few words like "yesterday"."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta

from stateward.govern.pattern import Match, compile_pattern

MONTHS: Mapping[str, int] = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar jänner janvier enero gennaio",
            "february feb februar février fevrier febrero febbraio",
            "march mar märz mars marzo",
            "april apr avril abril aprile",
            "may mai mayo maggio",
            "june jun juni juin junio giugno",
            "july jul juli juillet julio luglio",
            "august aug août aout agosto",
            "september sep sept septembre septiembre settembre",
            "october oct oktober okt octobre octubre ottobre",
            "november nov novembre noviembre",
            "december dec dezember dez décembre diciembre dicembre",
        ),
        start=1,
    )
    for name in names.split()
}
RELATIVE: Mapping[str, int] = {
    # not "hier", which is "here" in German, and not "morgen", which is also the morning
    **dict.fromkeys(("yesterday", "gestern", "ayer", "ieri"), -1),
    **dict.fromkeys(("today", "heute", "aujourd'hui", "hoy", "oggi"), 0),
    **dict.fromkeys(("tomorrow", "domani"), 1),
}
_NAMES = "|".join(sorted(MONTHS, key=len, reverse=True))
_WORDS = "|".join(RELATIVE)
DAY = compile_pattern(
    r"\b(\d{4})-(\d{2})-(\d{2})\b"
    r"|\b(\d{1,2})[./](\d{1,2})[./](\d{4})\b"
    rf"|\b(\d{{1,2}})(?:st|nd|rd|th|er|\.|º)? (?:of |de )?({_NAMES})\b(?:,? (?:de )?(\d{{4}})\b)?"
    rf"|\b({_WORDS})\b",
    case_sensitive=False,
)


def dates_in(text: str, *, received_at: str = "") -> tuple[str, ...]:
    """Find the days a text names.

    Args:
        text: Any text. Numbers are read day first, as customers in Europe write.
        received_at: When the text came, as ISO 8601. Without it, days that lack a year and words like
            "yesterday" are left out.

    Returns:
        The days as `YYYY-MM-DD`, in the order they stand, each once; impossible days are left out.
    """
    today = _day(received_at[:10])
    found: list[str] = []

    def collect(match: Match) -> str:
        day = _read(match, today=today)
        if day is not None:
            found.append(day.isoformat())
        return ""

    DAY.sub(collect, text)
    return tuple(dict.fromkeys(found))


def _read(match: Match, *, today: date | None) -> date | None:
    iso = [match.group(index) for index in (1, 2, 3)]
    numeric = [match.group(index) for index in (6, 5, 4)]
    if iso[0] or numeric[0]:
        return _date(*(int(part) for part in (iso if iso[0] else numeric)))
    if match.group(10):
        days = RELATIVE[match.group(10).lower()]
        return today and today + timedelta(days=days)
    return _named(int(match.group(7)), month=MONTHS[match.group(8).lower()], year=match.group(9), today=today)


def _named(day: int, *, month: int, year: str | None, today: date | None) -> date | None:
    if year:
        return _date(int(year), month, day)
    if today is None:
        return None
    # a complaint in January about "20 December" means the one just gone
    near = [_date(today.year + shift, month, day) for shift in (-1, 0, 1)]
    return min((one for one in near if one), key=lambda one: abs(one - today), default=None)


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
