"""Facts: what a message says literally, found by rules in five languages.

Patterns run on RE2, in time linear in the text. RE2's `\\b` and `\\w` know ASCII only, so that patterns which
may stand beside an accented letter do without them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Self, cast

from nodes.support_desk.date_text import dates_in
from nodes.support_desk.phrases import (
    CONFIRMATION,
    DATA_LOSS,
    DELETION,
    INJECTION,
    LANGUAGE_WORDS,
    TAKEOVER,
    THREATS,
)
from stateward.govern.pattern import Match, Pattern, compile_pattern

ORDER = compile_pattern(
    r"\bA-?(\d{5})\b|\bA[ ](\d{5})\b"
    r"|(?:order|bestellung|commande|pedido|ordine)"
    r"(?: (?:number|nummer|no\.?|nr\.?|n°|nº|núm\.?))?[: #]{1,3}(\d{5})\b",
    case_sensitive=False,
)
NUMBER = r"(\d{1,3}(?:[., ]\d{3})+(?:[.,]\d{1,2})?|\d{1,9}(?:[.,]\d{1,2})?)"
AMOUNT = compile_pattern(rf"(?:€|\beuros?|\beur) ?{NUMBER}|{NUMBER} ?(?:€|euros?\b|eur\b)", case_sensitive=False)
EMAIL = compile_pattern(r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+")
PERSONAL = (
    ("[iban]", compile_pattern(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b")),
    ("[card]", compile_pattern(r"\b\d{4}[ -]?\d{4}[ -]?\d{4}[ -]?\d{1,7}\b|\b\d{4}[ -]?\d{6}[ -]?\d{5}\b")),
    ("[phone]", compile_pattern(r"(?:\+|\b0)\d[\d ()/-]{6,16}\d\b")),
    ("[e-mail]", EMAIL),
)
GIST_LENGTH = 240


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a message says literally."""

    order_ids: tuple[str, ...] = ()
    """Order numbers as `A-12345`, in the order they are named, each once."""
    amounts_eur: tuple[float, ...] = ()
    dates: tuple[str, ...] = ()
    """Days as `YYYY-MM-DD`."""
    emails: tuple[str, ...] = ()
    threats: tuple[str, ...] = ()
    """The words that threaten with lawyers, authorities or the press."""
    takeover: bool = False
    """Somebody else is said to be inside the account."""
    data_loss: bool = False
    wants_deletion: bool = False
    wants_mail: bool = False
    """A written confirmation by e-mail is asked for."""
    injection: bool = False
    """The message speaks to the machine rather than to the shop."""
    gist: str = ""
    """The beginning of the message without personal data."""

    def to_json(self) -> dict[str, object]:
        """Return the facts as plain JSON data."""
        values: dict[str, object] = asdict(self)
        return {n: list(cast(tuple[object, ...], v)) if isinstance(v, tuple) else v for n, v in values.items()}

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Self:
        """Read facts from what `to_json` made.

        Args:
            data: The JSON object.
        """
        fixed = {n: tuple(cast(list[object], v)) if isinstance(v, list) else v for n, v in data.items()}
        return cls(**cast(dict[str, Any], fixed))  # Any: the fields have several types

    def recalling(self, earlier: Facts) -> Facts:
        """Take the order numbers of an earlier message when this one names none.

        Args:
            earlier: The facts of the message this one follows.
        """
        return self if self.order_ids else replace(self, order_ids=earlier.order_ids)


def facts_of(text: str, *, received_at: str = "") -> Facts:
    """Read the facts of one message.

    Args:
        text: The message.
        received_at: When it came, as ISO 8601; dates days without a year and words like "yesterday".

    Returns:
        The facts; a fact that is not there is empty.
    """
    return Facts(
        order_ids=tuple(dict.fromkeys(f"A-{number}" for number in _found(ORDER, text, groups=3))),
        amounts_eur=tuple(dict.fromkeys(_euros(number) for number in _found(AMOUNT, text, groups=2))),
        dates=dates_in(text, received_at=received_at),
        emails=tuple(dict.fromkeys(address.lower() for address in _found(EMAIL, text))),
        threats=tuple(dict.fromkeys(words.lower() for words in _found(THREATS, text))),
        takeover=TAKEOVER.search(text) is not None,
        data_loss=DATA_LOSS.search(text) is not None,
        wants_deletion=DELETION.search(text) is not None,
        wants_mail=CONFIRMATION.search(text) is not None,
        injection=INJECTION.search(text) is not None,
        gist=shortened(masked(text), length=GIST_LENGTH),
    )


def masked(text: str) -> str:
    """Replace account numbers, card numbers, telephone numbers and e-mail addresses by their kind.

    Args:
        text: Any text.
    """
    for kind, pattern in PERSONAL:
        text = pattern.sub(lambda _, kind=kind: kind, text)
    return text


def shortened(text: str, *, length: int) -> str:
    """Put a text on one line and cut it at a word.

    Args:
        text: Any text.
        length: The most characters to return, the mark `…` included; at least 2.
    """
    line = " ".join(text.split())
    if len(line) <= length:
        return line
    cut = line[: length - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut[length // 2 :] else cut) + "…"


def language_of(text: str) -> str:
    """Guess the language from its small words; English when nothing tells.

    Args:
        text: The message.

    Returns:
        `en`, `de`, `fr`, `es` or `it`.
    """
    words = "".join(c.lower() if c.isalpha() else " " for c in text).split()
    scores = {lang: sum(word in small.split() for word in words) for lang, small in LANGUAGE_WORDS.items()}
    return max(scores, key=lambda lang: (scores[lang], lang == "en"))


def _found(pattern: Pattern, text: str, *, groups: int = 0) -> tuple[str, ...]:
    found: list[str] = []

    def collect(match: Match) -> str:
        parts = (match.group(index) for index in range(1, groups + 1))
        found.append(next((part for part in parts if part), match.group()))
        return ""

    # the Pattern protocol has no finditer; a substitution visits every match too
    pattern.sub(collect, text)
    return tuple(found)


def _euros(number: str) -> float:
    body, mark, cents = max(number.rpartition("."), number.rpartition(","), key=lambda part: len(part[0]))
    if not mark or len(cents) > 2:
        body, cents = number, "0"
    digits = "".join(c for c in body if c.isdigit())
    return float(f"{digits or '0'}.{cents}")
