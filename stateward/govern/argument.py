"""One argument of a call against one rule: the values it holds, and why one of them may not be passed on."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any, cast

from stateward.govern.host import read_rule, read_url
from stateward.govern.json_schema import misfit
from stateward.govern.kinds.arguments import ArgumentRule
from stateward.govern.pattern import compile_pattern
from stateward.govern.work import Work

LARGEST = 1_000_000
"""How much the arguments of a call under rules may hold: letters of texts, and one for each value."""
DEEPEST = 64
"""How deep they may be nested."""
_kind_of: Callable[[object], object] = type
_DECIMAL = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,40})?")


class Nowhere(ValueError):
    """The dotted name of a rule leads into a value that has no names."""


def is_too_large(arguments: Mapping[str, object], *, largest: int = LARGEST) -> bool:
    """Whether arguments are larger or deeper than rules are tried on; stops counting at the limit.

    Args:
        arguments: JSON.
        largest: How much they may hold.
    """
    left, level = largest, cast("list[Any]", [arguments])
    for _ in range(DEEPEST + 1):
        deeper: list[Any] = []
        left -= len(level)
        for value in level:
            kind = _kind_of(value)
            if kind is str:
                left -= len(value)
            elif kind is dict or isinstance(value, Mapping):
                named = cast("Mapping[str, Any]", value)
                left -= len(named) + sum(map(len, named))
                deeper += named.values()
            elif isinstance(value, str | list | tuple):
                left -= len(cast("list[Any]", value))
                deeper += () if isinstance(value, str) else value
            if left < 0:
                return True
        if not deeper:
            return False
        level = deeper
    return True


def values_at(arguments: object, name: str) -> Iterator[object]:
    """Yield what a dotted name leads to: more than one value when lists stand on the way, None where nothing is.

    Args:
        arguments: JSON.
        name: The name.

    Raises:
        Nowhere: Something on the way has no names.
    """
    if isinstance(arguments, list | tuple):
        for each in cast("list[object]", arguments):
            yield from values_at(each, name)
        return
    if arguments is None or not name:
        yield arguments
        return
    if not isinstance(arguments, Mapping):
        raise Nowhere("an object that holds it")
    head, _, rest = name.partition(".")
    found = cast("Mapping[str, object]", arguments).get(head)
    if rest:
        yield from values_at(found, rest)
    else:
        yield found


def refused(arguments: Mapping[str, object], *, rule: ArgumentRule, work: Work) -> str | None:
    """Say what a rule wants of an argument that does not have it.

    Args:
        arguments: JSON.
        rule: The rule. An argument that is None counts as not given.
        work: Where paths lead.

    Returns:
        What was expected, and what is wrong; None when the argument may be passed on.
    """
    try:
        found = list(values_at(arguments, rule.name))
    except Nowhere as nowhere:
        return str(nowhere)
    given = [value for value in found if value is not None]
    if rule.required and len(given) < max(1, len(found)):
        return "given"
    return next((reason for value in given for reason in _reasons(value, rule, work)), None)


def _reasons(value: object, rule: ArgumentRule, work: Work) -> Iterator[str]:
    if rule.schema is not None:
        wrong = _not_finite(value) or misfit(value, schema=json.loads(rule.schema))
        if wrong:
            yield f"what its schema says: {wrong}"
    items = _items(value)
    for check in _CHECKS:
        for item in items:
            reason = check(item, rule, work)
            if reason is not None:
                yield reason


def _items(value: object) -> list[object]:
    """A list stands for each of its items."""
    if not isinstance(value, list | tuple):
        return [value]
    return [item for each in cast("list[object]", value) for item in _items(each)]


def _not_finite(value: object) -> str | None:
    numbers = (each for each in _leaves(value) if isinstance(each, float))
    return None if all(map(math.isfinite, numbers)) else "a number in it is none"


def _leaves(value: object) -> Iterator[object]:
    if isinstance(value, Mapping):
        for each in cast("Mapping[str, object]", value).values():
            yield from _leaves(each)
    elif isinstance(value, list | tuple):
        for each in cast("list[object]", value):
            yield from _leaves(each)
    else:
        yield value


def _range(value: object, rule: ArgumentRule, _work: Work) -> str | None:
    if rule.min is None and rule.max is None:
        return None
    number = _number(value)
    # Asked this way round, a number that is none (NaN) is refused.
    if number is not None and _is_within(number, rule.min, rule.max):
        return None
    return f"a number, {_ends(rule.min, rule.max, form='g')}"


def _is_within(number: float | Decimal, least: float | None, most: float | None) -> bool:
    return (least is None or number >= least) and (most is None or number <= most)


def _ends(least: float | None, most: float | None, *, form: str) -> str:
    ends = (("at least", least), ("at most", most))
    return " and ".join(f"{word} {end:{form}}" for word, end in ends if end is not None)


def _number(value: object) -> float | Decimal | None:
    """Return a number; a plain decimal text counts, which is how an exact amount travels in JSON."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value
    return Decimal(value) if isinstance(value, str) and _DECIMAL.fullmatch(value) else None


def _values(value: object, rule: ArgumentRule, _work: Work) -> str | None:
    if rule.values is None or any(_is_same(value, known) for known in rule.values):
        return None
    return f"one of {', '.join(json.dumps(known, ensure_ascii=False) for known in rule.values)}"


def _is_same(one: object, other: object) -> bool:
    """Python takes True for 1; JSON does not."""
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _pattern(value: object, rule: ArgumentRule, _work: Work) -> str | None:
    if rule.pattern is None or (isinstance(value, str) and compile_pattern(rule.pattern).fullmatch(value)):
        return None
    return f"a text that matches `{rule.pattern}` as a whole"


def _length(value: object, rule: ArgumentRule, _work: Work) -> str | None:
    if rule.min_length is None and rule.max_length is None:
        return None
    if isinstance(value, str) and _is_within(len(value), rule.min_length, rule.max_length):
        return None
    return f"a text of {_ends(rule.min_length, rule.max_length, form='d')} letters"


def _host(value: object, rule: ArgumentRule, _work: Work) -> str | None:
    if rule.hosts is None:
        return None
    wanted = f"a URL of {' or '.join(f'`{host}`' for host in rule.hosts) or 'no host at all'}"
    if not isinstance(value, str):
        return wanted
    try:
        host = read_url(value)
    except ValueError as wrong:
        return f"{wanted}: {wrong}"
    return None if any(read_rule(entry).holds(host) for entry in rule.hosts) else wanted


def _under(value: object, rule: ArgumentRule, work: Work) -> str | None:
    if rule.under is None:
        return None
    wanted = f"a path under {f'`{rule.under}`' if rule.under else 'the work directory'}"
    if not isinstance(value, str):
        return wanted
    try:
        work.placed(value, under=rule.under)
    except ValueError as wrong:
        return f"{wanted}: {wrong}"
    return None


_CHECKS: tuple[Callable[[object, ArgumentRule, Work], str | None], ...] = (
    _range,
    _values,
    _pattern,
    _length,
    _host,
    _under,
)
