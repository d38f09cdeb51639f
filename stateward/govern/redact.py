"""Redaction: secrets and personal data are taken out before logs, audit, memory and a model's input.

Two classes are known. `secret`: private keys, cloud and API keys, tokens, passwords. `personal`: e-mail
addresses, payment cards, bank accounts, social security numbers. Cards and accounts count only when their
check digits hold, so that order numbers stay readable. Looked at is the text as it stands, the text as a reader takes
it (`disguise.py`), what was broken over lines, and what base64 stands for. What is found is taken out until nothing is
found any more, so that redacting twice is the same as redacting once.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar, cast

from stateward.govern.clean_texts import CleanTexts
from stateward.govern.detector import DETECTORS, SECRET_KEY, Detector, Span, unwrapped
from stateward.govern.disguise import SUSPICIOUS, View, is_broken, joined, readable, undisguised
from stateward.govern.kinds.redaction import FINDINGS
from stateward.govern.kinds.redaction import Finding as DataClass
from stateward.govern.pattern import Pattern, compile_pattern

__all__ = ("EVERY_CLASS", "HIDDEN", "DataClass", "redact")

EVERY_CLASS: frozenset[DataClass] = frozenset(FINDINGS)
HIDDEN = "[redacted value]"
"""What stands in place of a value whose key says that it is a secret."""
_BASE64 = compile_pattern(r"[A-Za-z0-9+/_-]{16,}(?:\r?\n[ \t]*[A-Za-z0-9+/_-]{4,})*={0,2}")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LEAST_NUMBER = 10**11
"""Smaller numbers are no finding: a card has 13 digits."""
_IN_SECRET_KEYS = ("pass", "pwd", "secret", "key", "token", "auth")
"""One of these is in every name that `SECRET_KEY` knows."""
_HEXADECIMAL = "0123456789abcdef-"
_MOST_PASSES = 16
_SHORTEST, _SHORTEST_WORD = 5, 19
"""Letters of the shortest finding, and of the shortest one that is a single word."""

_kind_of: Callable[[object], object] = type
_REMEMBERED = 40
"""Letters of the longest text of which is remembered what became of it: names and words come with every call."""

_Found = tuple[Span, str]
"""Where something is, and the mark that comes in its place."""
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Detection:
    """The detectors of some classes. One is made for each set of classes, so it is equal to itself only."""

    detectors: tuple[Detector, ...]
    any: Pattern
    """Finds something in every text that one of them finds something in."""
    unbroken: Pattern | None
    hint: Pattern
    """Finds something in every text that is worth a closer look: most text is told so by one search."""
    hides_keys: bool
    finds_digits: bool
    """Whether a finding may be of digits, and of letters like those of hexadecimal numbers, alone."""
    clean: CleanTexts = field(default_factory=CleanTexts)
    """Long texts that hold nothing."""


def _detection(classes: frozenset[DataClass]) -> _Detection:
    chosen = tuple(each for each in DETECTORS if each.group in classes)
    sources = [f"(?:{each.source})" for each in chosen]
    bodies = [f"(?:{each.unbroken_source})" for each in chosen if each.unbroken is not None]
    # A text that has none of these holds nothing, whatever was done to it.
    hints = [*sources, SUSPICIOUS, r"\n|\\n|\r", r"[A-Za-z0-9+/_-]{16}"]
    return _Detection(
        detectors=chosen,
        any=compile_pattern("|".join(sources) or r"\z\A.", has_groups=False),
        unbroken=compile_pattern("|".join(bodies), has_groups=False) if bodies else None,
        hint=compile_pattern("|".join(hints), has_groups=False),
        hides_keys="secret" in classes,
        finds_digits="personal" in classes,
    )


_DETECTIONS = {
    classes: _detection(classes) for classes in (EVERY_CLASS, *(frozenset((each,)) for each in sorted(EVERY_CLASS)))
}


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
    chosen = frozenset(classes)
    return _walk(value, _DETECTIONS[chosen], False) if chosen else value


def _walk(value: Any, detection: _Detection, hidden: bool, /) -> Any:  # anything, asked for with each part of a record
    kind = _kind_of(value)
    if kind is dict:
        return _walk_mapping(value, detection, hidden)
    if kind is list:
        return [_walk(item, detection, hidden) for item in value]
    if isinstance(value, str):
        return HIDDEN if hidden else _text(value, detection=detection)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, dict | Mapping):
        return _walk_mapping(cast("Mapping[Any, Any]", value), detection, hidden)
    if isinstance(value, list | tuple):
        items = [_walk(item, detection, hidden) for item in cast("list[Any]", value)]
        return tuple(items) if isinstance(value, tuple) else items
    return HIDDEN if hidden else _number(value, detection=detection)


def _walk_mapping(value: Mapping[Any, Any], detection: _Detection, hidden: bool, /) -> dict[Any, Any]:
    result: dict[Any, Any] = {}
    for key, item in value.items():
        if _kind_of(key) is str and len(key) <= _REMEMBERED:
            name, hides = _known_key(key, detection)
        else:
            name, hides = _cleaned_key(key, detection) if isinstance(key, str) else (key, False)
        while name in result:
            name = f"{name}'"
        kind = _kind_of(item)
        if hidden or hides:
            result[name] = _walk(item, detection, True)
        elif kind is str:  # most are texts or small numbers, in the records that each call writes
            result[name] = _text(item, detection=detection)
        elif kind is dict:
            result[name] = _walk_mapping(item, detection, False)
        elif kind is int:
            result[name] = item if -_LEAST_NUMBER < item < _LEAST_NUMBER else _number(item, detection=detection)
        else:
            result[name] = _walk(item, detection, False)
    return result


def _cleaned_key(key: str, detection: _Detection) -> tuple[str, bool]:
    """Return what is shown of a key, and whether it says that its value is a secret."""
    return _cleaned(key, detection), detection.hides_keys and _is_secret(key)


_known_key = lru_cache(maxsize=1024)(_cleaned_key)


def _is_secret(key: str) -> bool:
    if key.isascii() and key.isidentifier() and not any(word in key.lower() for word in _IN_SECRET_KEYS):
        return False  # most keys: nothing else is asked about them
    plain = readable(key)
    view = undisguised(plain)
    return SECRET_KEY.fullmatch(_HUMP.sub("_", view.text if view else plain)) is not None


def _number(value: object, *, detection: _Detection) -> object:
    if not isinstance(value, int) or -_LEAST_NUMBER < value < _LEAST_NUMBER:
        return value
    text = _text(str(value), detection=detection)
    return value if text == str(value) else text


def _text(text: str, *, detection: _Detection) -> str:
    if len(text) <= _REMEMBERED:
        return _known(text, detection)
    return detection.clean.cleaned(text, lambda long: _cleaned(long, detection))


def _cleaned(text: str, detection: _Detection) -> str:
    if text.isascii() and (len(text) < _SHORTEST or (len(text) < _SHORTEST_WORD and _is_word(text))):
        return text
    if not detection.finds_digits and (not text.strip(_HEXADECIMAL) or _is_short_id(text)):
        return text  # a digest or an id
    for _ in range(_MOST_PASSES):
        plain = readable(text)
        if detection.hint.search(plain) is None:
            return text
        found = _merged(_findings(plain, detection=detection))
        if not found:
            return text
        text = _marked(text, found)
    return HIDDEN  # made to have something found in it without end: nothing of it is shown


_known = lru_cache(maxsize=4096)(_cleaned)


def _is_word(text: str) -> bool:
    return text.replace("_", "").isalpha()


def _is_short_id(text: str) -> bool:
    """Whether a text is a name or a number, too short for a token, that stands for no base64 either."""
    return len(text) < _SHORTEST_WORD and text.isascii() and text.isidentifier() and unwrapped(text) is None


def _marked(text: str, found: list[_Found]) -> str:
    parts: list[str] = []
    done = 0
    for (start, end), mark in found:
        parts += (text[done:start], mark)
        done = end
    return "".join((*parts, text[done:]))


def _merged(findings: Iterator[tuple[Span, Detector | None]]) -> list[_Found]:
    """Make findings that share letters one; personal ones that share some with a secret wait for the next pass."""
    secrets: list[_Found] = []
    personal: list[_Found] = []
    for span, detector in findings:
        of = personal if detector is not None and detector.group == "personal" else secrets
        of.append((span, detector.mark if detector else "[redacted base64]"))
    united = _united(secrets)
    starts = [start for (start, _), _ in united]

    def is_free(start: int, end: int) -> bool:
        before = bisect_left(starts, end) - 1
        return before < 0 or united[before][0][1] <= start

    free = [found for found in _united(personal) if is_free(*found[0])]
    return sorted((*united, *free))


def _united(found: list[_Found]) -> list[_Found]:
    kept: list[_Found] = []
    for (start, end), mark in sorted(found, key=lambda each: each[0][0]):  # stable: the first detector names it
        if kept and start < kept[-1][0][1]:
            (first, last), name = kept[-1]
            kept[-1] = (first, max(last, end)), name
        else:
            kept.append(((start, end), mark))
    return kept


def _findings(text: str, *, detection: _Detection) -> Iterator[tuple[Span, Detector | None]]:
    views = [each for each in (View(text=text), undisguised(text)) if each is not None]
    for detector in detection.detectors:
        for view in views:
            if detector.pattern.search(view.text) is not None:
                yield from ((view.original(*span), detector) for span in detector.spans(view.text))
    for view in views:
        yield from _broken(view, detection=detection)
        yield from ((view.original(*span), None) for span in _wrapped(view.text, detection=detection))


def _broken(view: View, *, detection: _Detection) -> Iterator[tuple[Span, Detector]]:
    """Yield tokens that were broken over lines."""
    if detection.unbroken is None or not is_broken(view.text, hides=detection.unbroken):
        return
    whole = joined(view.text)
    for detector in detection.detectors:
        for match in detector.unbroken.finditer(whole.text) if detector.unbroken else ():
            start, end = whole.original(*match.span())
            begins = start == 0 or not (view.text[start - 1].isalnum() or view.text[start - 1] == "_")
            end = start + len(_token_in(view.text[start:end]))
            if begins and end > start:
                yield view.original(start, end), detector


def _token_in(text: str) -> str:
    """Leave off the last lines of what looks like a broken token if they look like words: they have no digit."""
    lines = text.splitlines(keepends=True)
    while len(lines) > 1 and not any(letter.isdigit() for letter in lines[-1]):
        lines.pop()
    return "".join(lines).rstrip()


def _wrapped(text: str, *, detection: _Detection) -> Iterator[Span]:
    """Yield where base64 stands that holds something."""
    for match in _BASE64.finditer(text):
        start, end = match.span()
        if _holds(match.group(0), detection=detection):
            yield start, end
            continue
        for line in match.group(0).splitlines(keepends=True):
            if _holds(line, detection=detection):
                yield start, start + len(line.rstrip())
            start += len(line)


def _holds(letters: str, *, detection: _Detection) -> bool:
    inside = unwrapped(letters)
    if inside is None:
        return False
    views = [each for each in (View(text=inside), undisguised(inside)) if each is not None]
    return any(
        next(detector.spans(view.text), None) is not None
        for view in views
        if detection.any.search(view.text) is not None
        for detector in detection.detectors
    )
