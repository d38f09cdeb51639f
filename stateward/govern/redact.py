"""Redaction: secrets and personal data are taken out before logs, memory and a model's input.

Two classes are known. `secret`: private keys, cloud and API keys, tokens, passwords. `personal`: e-mail
addresses, payment cards, bank accounts, social security numbers. Cards and accounts count only when their
check digits hold, so that order numbers stay readable.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar, cast

from stateward.govern.pattern import Match, Pattern, compile_pattern

DataClass = Literal["secret", "personal"]
"""What a finding is.

secret: gives access to something. personal: tells about a person.
"""

EVERY_CLASS: frozenset[DataClass] = frozenset({"secret", "personal"})
HIDDEN = "[redacted value]"
"""What stands in place of a value whose key says that it is a secret."""

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Detector:
    name: str
    group: DataClass
    source: str
    pattern: Pattern
    tail: str = ""
    """What the pattern reads after the finding and must stay."""
    valid: Callable[[str], bool] | None = None

    @property
    def mark(self) -> str:
        return f"[redacted {self.name}]"

    def redact(self, text: str) -> str:
        return self.pattern.sub(self._replace, text)

    def _replace(self, match: Match) -> str:
        """Put the mark in place of the finding; what leads to it (group 1) is kept."""
        if self.valid is None:
            return f"{match.group(1)}{self.mark}{self.tail}"
        return _mark_valid(match.group(0), mark=self.mark, valid=self.valid)


def redact(value: Value, *, classes: Collection[DataClass] = EVERY_CLASS) -> Value:
    """Take secrets and personal data out of text or JSON-like data.

    Args:
        value: A text, or lists and mappings of texts, numbers, booleans and None.
        classes: What to take out.

    Returns:
        Data of the same shape; each finding is replaced by a mark such as `[redacted aws_key]`. The value of
        a key such as `password` is replaced whole, and so is a number that is a payment card.

    Source:
        DESIGN.md, decision 10; SYSTEMS.md, A7 and G3.
    """
    detectors = tuple(detector for detector in _DETECTORS if detector.group in classes)
    return cast(Value, _walk(value, detectors=detectors, hidden=False, secret="secret" in classes))


def _walk(value: object, *, detectors: tuple[_Detector, ...], hidden: bool, secret: bool) -> object:
    if isinstance(value, Mapping):
        return _walk_mapping(cast("Mapping[object, object]", value), detectors=detectors, hidden=hidden, secret=secret)
    if isinstance(value, list | tuple):
        items = [_walk(item, detectors=detectors, hidden=hidden, secret=secret) for item in cast("list[object]", value)]
        return tuple(items) if isinstance(value, tuple) else items
    if value is None or isinstance(value, bool):
        return value
    return HIDDEN if hidden else _scalar(value, detectors=detectors)


def _walk_mapping(
    value: Mapping[object, object], *, detectors: tuple[_Detector, ...], hidden: bool, secret: bool
) -> dict[object, object]:
    result: dict[object, object] = {}
    for key, item in value.items():
        name = _text(key, detectors=detectors) if isinstance(key, str) else key
        while name in result:
            name = f"{name}'"
        inside = hidden or (secret and isinstance(key, str) and _SECRET_KEY.fullmatch(key) is not None)
        result[name] = _walk(item, detectors=detectors, hidden=inside, secret=secret)
    return result


def _scalar(value: object, *, detectors: tuple[_Detector, ...]) -> object:
    if isinstance(value, str):
        return _text(value, detectors=detectors)
    if isinstance(value, int):
        text = _text(str(value), detectors=detectors)
        return value if text == str(value) else text
    return value


def _text(text: str, *, detectors: tuple[_Detector, ...]) -> str:
    # Most text holds nothing, and one search is cheaper than a dozen.
    if _ANY.search(text) is None:
        return text
    for detector in detectors:
        text = detector.redact(text)
    return text


def _mark_valid(text: str, *, mark: str, valid: Callable[[str], bool]) -> str:
    """Mark every run of whole groups that is valid; text beside a number may look like more groups of it."""
    parts: list[str] = []
    start = 0
    while start < len(text):
        ends = _group_ends(text, start=start)
        found = next((end for end in reversed(ends) if valid(text[start:end])), None)
        after = found or ends[0]
        parts.append(mark if found else text[start:after])
        parts.append(text[after : after + 1])
        start = after + 1
    return "".join(parts)


def _group_ends(text: str, *, start: int) -> list[int]:
    """List where the groups after a place end: the first always, further ones within the longest run."""
    ends: list[int] = []
    for place in range(start, len(text) + 1):
        if place == len(text) or text[place] in " -":
            ends.append(place)
        if ends and place - start >= _LONGEST_RUN:
            break
    return ends


def _is_card(text: str) -> bool:
    """Apply the Luhn check (ISO/IEC 7812-1)."""
    if not text.startswith(("2", "3", "4", "5", "6")):
        return False
    groups = text.replace("-", " ").split(" ")
    digits = [int(letter) for group in groups for letter in group]
    if not 13 <= len(digits) <= 19 or min(map(len, groups)) < _SHORTEST_CARD_GROUP:
        return False
    doubled = [digit * 2 - 9 * (digit > 4) for digit in digits[-2::-2]]
    return (sum(doubled) + sum(digits[-1::-2])) % 10 == 0


def _is_iban(text: str) -> bool:
    """Apply the check of ISO 13616: the rearranged number leaves 1 when divided by 97."""
    compact = text.replace(" ", "").upper()
    if not 15 <= len(compact) <= 34 or not compact[:2].isalpha() or not compact[2:4].isdecimal():
        return False
    return int("".join(str(int(letter, 36)) for letter in compact[4:] + compact[:4])) % 97 == 1


def _detector(
    name: str,
    *,
    group: DataClass,
    pattern: str,
    tail: str = "",
    valid: Callable[[str], bool] | None = None,
) -> _Detector:
    return _Detector(name=name, group=group, source=pattern, pattern=compile_pattern(pattern), tail=tail, valid=valid)


_LONGEST_RUN = 42
_SHORTEST_CARD_GROUP = 3
_SECRET_KEY = compile_pattern(
    r"(?i)(.*[_-])?(password|passwd|pwd|secret|api[_-]?key|access[_-]?key|private[_-]?key|authorization)"
    r"|((access|auth|bearer|id|refresh|session)[_-]?)?token"
)
_ASSIGNED = r"""(?i)(\b(?:password|passwd|pwd|secret|token|api[_-]?key)["']?\s*[:=]\s*["']?)[^\s,;"'\[]{4,}"""
_DETECTORS: tuple[_Detector, ...] = (
    _detector(
        "private_key",
        group="secret",
        pattern=r"()-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)",
    ),
    _detector("aws_key", group="secret", pattern=r"()\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    _detector("api_key", group="secret", pattern=r"()\b(?:sk|rk|pk)[-_][A-Za-z0-9_-]{16,}"),
    _detector("google_key", group="secret", pattern=r"()\bAIza[0-9A-Za-z_-]{35}"),
    _detector("github_token", group="secret", pattern=r"()\b(?:gh[pousr]|github_pat)_[A-Za-z0-9_]{20,}"),
    _detector("slack_token", group="secret", pattern=r"()\bxox[abeprs]-[A-Za-z0-9-]{10,}"),
    _detector("jwt", group="secret", pattern=r"()\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]*"),
    _detector("bearer", group="secret", pattern=r"(?i)(\bbearer\s+)[A-Za-z0-9._~+/=-]{8,}"),
    _detector("url_password", group="secret", pattern=r"(://[^/\s:@]+:)[^/\s@\[]+@", tail="@"),
    _detector("password", group="secret", pattern=_ASSIGNED),
    _detector("email", group="personal", pattern=r"()\b[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+\b"),
    _detector(
        "iban",
        group="personal",
        pattern=r"(?i)\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,}(?: ?[A-Z0-9]{1,3})?\b",
        valid=_is_iban,
    ),
    _detector("card", group="personal", pattern=r"\b(?:[0-9][ -]?){12,}[0-9]\b", valid=_is_card),
    _detector("ssn", group="personal", pattern=r"()\b[0-9]{3}-[0-9]{2}-[0-9]{4}\b"),
)
_ANY = compile_pattern("|".join(f"(?:{detector.source})" for detector in _DETECTORS))
