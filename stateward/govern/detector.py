"""What redaction looks for: a pattern for each kind of secret and of personal data, with its check where it has one."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from stateward.govern.kinds.redaction import Finding
from stateward.govern.pattern import Pattern, compile_pattern

Span = tuple[int, int]
"""Where something begins and ends in a text."""
_LONGEST_RUN = 42
_SHORTEST_CARD_GROUP = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Detector:
    """How one kind of finding is recognised."""

    name: str
    group: Finding
    source: str
    pattern: Pattern
    """What leads to the finding is its first group, and stays."""
    tail: int = 0
    """How many characters the pattern reads after the finding."""
    unbroken: Pattern | None = None
    """Finds one that was broken over lines, in a text without its line breaks; None if that is not looked for."""
    unbroken_source: str = ""
    """What that one is made of."""
    check: Callable[[str], bool] | None = None
    """Whether what the pattern found is one."""
    groups: Callable[[str], bool] | None = None
    """Whether a run of groups of digits is one; text beside it may look like more groups of it."""

    @property
    def mark(self) -> str:
        """What stands in place of the finding."""
        return f"[redacted {self.name}]"

    def spans(self, text: str) -> Iterator[Span]:
        """Yield where the findings of a text are.

        Args:
            text: Any text.
        """
        for match in self.pattern.finditer(text):
            if self.groups is not None:
                start = match.span()[0]
                yield from ((start + a, start + b) for a, b in _valid(match.group(0), is_valid=self.groups))
                continue
            span = (match.end(1), match.end() - self.tail)
            if self.check is None or self.check(text[slice(*span)]):
                yield span


def _valid(text: str, *, is_valid: Callable[[str], bool]) -> Iterator[Span]:
    """Yield every run of whole groups that is valid."""
    start = 0
    while start < len(text):
        ends = _group_ends(text, start=start)
        found = next((end for end in reversed(ends) if is_valid(text[start:end])), None)
        if found:
            yield start, found
        start = (found or ends[0]) + 1


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


def _is_user_and_password(text: str) -> bool:
    return ":" in (unwrapped(text) or "")


def unwrapped(text: str) -> str | None:
    """Return the text that base64 stands for; None if it stands for none.

    Args:
        text: Letters of base64, of either alphabet, with or without padding.
    """
    letters = "".join(text.split()).rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(letters + "=" * (-len(letters) % 4), validate=True).decode()
    except (binascii.Error, ValueError):
        return None


def _pattern(
    name: str,
    group: Finding,
    source: str,
    *,
    tail: int = 0,
    check: Callable[[str], bool] | None = None,
    groups: Callable[[str], bool] | None = None,
) -> Detector:
    pattern = compile_pattern(source)
    return Detector(name=name, group=group, source=source, pattern=pattern, tail=tail, check=check, groups=groups)


def _token(name: str, body: str) -> Detector:
    """Make the detector of a token that is known by how it begins."""
    source = rf"()\b(?:{body})"
    unbroken = compile_pattern(body)
    return Detector(
        name=name,
        group="secret",
        source=source,
        pattern=compile_pattern(source),
        unbroken=unbroken,
        unbroken_source=body,
    )


SECRET_KEY = compile_pattern(
    r"(?i)(.*[_-])?(password|passwd|passphrase|pwd|secret|(api|access|private|account|secret)[_-]?key|authorization)"
    r"|((access|auth|bearer|id|refresh|session)[_-]?)?token"
)
"""Names of keys whose values are secret, with `_` where a capital letter begins a word."""
_KEY = (
    r"""(?i)(\b(?:[\w-]*(?:password|passwd|passphrase|pwd|secret|(?:api|access|private|account|secret)[_-]?key)"""
    r"""|(?:(?:access|auth|bearer|id|refresh|session)[_-]?)?token)\\*["']?\s*[:=]\s*"""
)
DETECTORS: tuple[Detector, ...] = (
    _pattern(
        "private_key",
        "secret",
        r"()-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?"
        r"(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|\z)",
    ),
    _token("aws_key", r"(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    _token("api_key", r"(?:sk|rk|pk)[-_][A-Za-z0-9_-]{16,}"),
    _token("google_key", r"AIza[0-9A-Za-z_-]{35}|GOCSPX-[0-9A-Za-z_-]{20,}|ya29\.[0-9A-Za-z_-]{20,}"),
    _token("github_token", r"(?:gh[pousr]|github_pat)_[A-Za-z0-9_]{20,}"),
    _token("gitlab_token", r"gl(?:pat|dt|rt|ptt|cbt)-[A-Za-z0-9_-]{20,}"),
    _token("slack_token", r"xox[abeprs]-[A-Za-z0-9-]{10,}|hooks\.slack\.com/services/[A-Za-z0-9/]{20,}"),
    _token("hugging_face_token", r"hf_[A-Za-z0-9]{20,}"),
    _token("npm_token", r"npm_[A-Za-z0-9]{36}"),
    _token("pypi_token", r"pypi-[A-Za-z0-9_-]{50,}"),
    _token("sendgrid_key", r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    _token("telegram_token", r"[0-9]{8,10}:[A-Za-z0-9_-]{35}\b"),
    _token(
        "provider_key", r"(?:gsk_|xai-|lsv2_(?:pt|sk)_|dop_v1_|shpat_|sq0[a-z]{3}-|AGE-SECRET-KEY-1)[A-Za-z0-9_-]{20,}"
    ),
    _token("jwt", r"eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]*"),
    _pattern("bearer", "secret", r"(?i)(\bbearer\s+)[A-Za-z0-9._~+/=-]{8,}"),
    _pattern("basic", "secret", r"(?i)(\bbasic\s+)[A-Za-z0-9+/_-]{4,}={0,2}", check=_is_user_and_password),
    _pattern("url_password", "secret", r"(://[^/\s:@]*:)[^/\s@\[]+@", tail=1),
    _pattern("password", "secret", _KEY + r"""\\*")[^"\\\[][^"\\]{2,}"""),
    _pattern("password", "secret", _KEY + r"""\\*')[^'\\\[][^'\\]{2,}"""),
    _pattern("password", "secret", _KEY + r"""\\*["']?)[^\s,;"'\[\\]{4,}"""),
    _pattern("email", "personal", r"()\b[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+\b"),
    _pattern(
        "iban",
        "personal",
        r"(?i)\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,}(?: ?[A-Z0-9]{1,3})?\b",
        groups=_is_iban,
    ),
    _pattern("card", "personal", r"\b(?:[0-9][ -]?){12,}[0-9]\b", groups=_is_card),
    _pattern("ssn", "personal", r"()\b[0-9]{3}-[0-9]{2}-[0-9]{4}\b"),
)
"""What is looked for; of findings that begin at one place the first in this order names the mark."""
