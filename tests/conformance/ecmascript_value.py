"""What ECMAScript's operators, members and built-in functions mean, for the part of them the suites use.

Objects are dictionaries, arrays are lists. Two objects are equal if their contents are: data are plain JSON and have no
identity. That is the one place where this differs from the language on purpose.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

from tests.conformance.value import UNDEFINED, Function, Markup, NotSupportedError, ScriptError, encode


class Native:
    """A built-in function or constructor; `new` and `instanceof` know it by its name."""

    def __init__(self, name: str, call: Callable[..., Any]) -> None:
        self.name = name
        self.call = call


def truth(value: Any) -> bool:
    """Return ToBoolean: empty arrays and objects are true, unlike Python's."""
    if isinstance(value, list | dict):
        return True
    return bool(value) and not (isinstance(value, float) and math.isnan(value))


def number(value: Any) -> float:
    """Return ToNumber, as an int where it is whole."""
    if isinstance(value, bool) or value is None:
        return int(bool(value))
    if isinstance(value, int | float):
        return _whole(value)
    if isinstance(value, str):
        try:
            return _whole(float(value or 0))
        except ValueError:
            return math.nan
    return math.nan


def _whole(value: float) -> float:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def text(value: Any) -> str:
    """Return ToString."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or value is UNDEFINED:
        return "null" if value is None else "undefined"
    if isinstance(value, list):
        return ",".join("" if each in (None, UNDEFINED) else text(each) for each in value)
    if isinstance(value, int | float):
        return "NaN" if value != value else str(_whole(value))
    return value.text if isinstance(value, Function | Markup) else "[object Object]"


def type_of(value: Any) -> str:
    """Return what `typeof` says."""
    if value is UNDEFINED:
        return "undefined"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "function" if isinstance(value, Function | Native) else "object"


def add(left: Any, right: Any) -> Any:
    """Return `left + right`: numbers are added, anything else is joined as text."""
    if all(isinstance(side, int | float) or side in (None, UNDEFINED) for side in (left, right)):
        return number(left) + number(right)
    return text(left) + text(right)


def divide(left: Any, right: Any) -> float:
    """Return `left / right`."""
    below, above = number(right), number(left)
    if below == 0:
        return math.nan if above == 0 or above != above else math.copysign(math.inf, above)
    return _whole(above / below)


def remainder(left: Any, right: Any) -> float:
    """Return `left % right`, with the sign of the left."""
    below = number(right)
    return _whole(math.fmod(number(left), below)) if below else math.nan


def equal(left: Any, right: Any) -> bool:
    """Return `left == right`."""
    nothing = (None, UNDEFINED)
    if left in nothing or right in nothing:
        return left in nothing and right in nothing
    if type_of(left) == type_of(right):
        return identical(left, right)
    if isinstance(left, list | dict | Markup) or isinstance(right, list | dict | Markup):
        return text(left) == text(right)
    return number(left) == number(right)


def identical(left: Any, right: Any) -> bool:
    """Return `left === right`; objects are compared by what is in them."""
    return type_of(left) == type_of(right) and left == right


def less(left: Any, right: Any) -> bool:
    """Return `left < right`."""
    if isinstance(left, str) and isinstance(right, str):
        return left < right
    return number(left) < number(right)


def instance_of(value: Any, kind: Any) -> bool:
    """Return `value instanceof kind` for the built-in kinds."""
    known = {"Array": list, "Object": (list, dict, Markup), "Function": Function}
    if not isinstance(kind, Native) or kind.name not in known:
        raise NotSupportedError("`instanceof` of a function of the document")
    return isinstance(value, known[kind.name])


def has(name: Any, owner: Any) -> bool:
    """Return `name in owner`."""
    if isinstance(owner, dict):
        return text(name) in owner
    if isinstance(owner, list):
        return 0 <= number(name) < len(owner)
    raise ScriptError(f"TypeError: {text(owner)} is no object")


def member(owner: Any, name: Any) -> Any:
    """Return `owner[name]`.

    Raises:
        ScriptError: The owner is null or undefined.
        NotSupportedError: It is a member of strings, arrays or markup that is left out here.
    """
    if owner is None or owner is UNDEFINED:
        raise ScriptError(f"TypeError: {text(owner)} has no property {text(name)}")
    if isinstance(owner, dict):
        return owner.get(text(name), UNDEFINED)
    if isinstance(owner, str | list) and not isinstance(name, str):
        place = number(name)
        return owner[int(place)] if 0 <= place < len(owner) else UNDEFINED
    if isinstance(owner, str | list) and name == "length":
        return len(owner)
    if isinstance(owner, str | list | Markup):
        return _method(owner, text(name))
    return UNDEFINED


def _method(owner: Any, name: str) -> Any:
    table = _ARRAY if isinstance(owner, list) else _STRING if isinstance(owner, str) else _MARKUP
    if name not in table:
        raise NotSupportedError(f"`{name}` of {type_of(owner)} values")
    return Native(name, lambda *given: table[name](owner, *given))


def set_member(owner: Any, name: Any, value: Any) -> None:
    """Carry out `owner[name] = value`.

    Raises:
        ScriptError: The owner is no object or array.
    """
    if isinstance(owner, dict):
        owner[text(name)] = value
        return
    if isinstance(owner, list) and isinstance(name, int) and name >= 0:
        owner.extend([UNDEFINED] * (name + 1 - len(owner)))
        owner[name] = value
        return
    raise ScriptError(f"TypeError: {text(owner)} takes no property {text(name)}")


def _slice(owner: Any, start: Any = 0, end: Any = None) -> Any:
    return owner[int(number(start)) : None if end is None else int(number(end))]


def _index_of(owner: Any, wanted: Any) -> int:
    return next((place for place, each in enumerate(owner) if identical(each, wanted)), -1)


def _concat(owner: list[Any], *more: Any) -> list[Any]:
    return [*owner, *(each for one in more for each in (one if isinstance(one, list) else [one]))]


def _push(owner: list[Any], *more: Any) -> int:
    owner.extend(more)
    return len(owner)


def _join(owner: list[Any], between: Any = ",") -> str:
    return text(between).join(text(each) for each in owner)


_ARRAY: dict[str, Callable[..., Any]] = {
    "concat": _concat,
    "push": _push,
    "slice": _slice,
    "indexOf": _index_of,
    "join": _join,
}
_STRING: dict[str, Callable[..., Any]] = {
    "slice": _slice,
    "substring": _slice,
    "charAt": lambda owner, place=0: owner[int(place) : int(place) + 1],
    "indexOf": lambda owner, wanted: owner.find(text(wanted)),
    "startsWith": lambda owner, start: owner.startswith(text(start)),
    "endsWith": lambda owner, end: owner.endswith(text(end)),
    "toLowerCase": lambda owner: owner.lower(),
    "toUpperCase": lambda owner: owner.upper(),
    "trim": lambda owner: owner.strip(),
    "split": lambda owner, at: owner.split(text(at)) if at else list(owner),
    "concat": lambda owner, *more: owner + "".join(text(each) for each in more),
}
_MARKUP: dict[str, Callable[..., Any]] = {
    "getElementsByTagName": lambda owner, name: owner.named(text(name)),
    "getAttribute": lambda owner, name: owner.attribute(text(name)),
}


def _stringify(value: Any) -> Any:
    return UNDEFINED if value is UNDEFINED else json.dumps(_without_undefined(encode(value)), separators=(",", ":"))


def _without_undefined(kept: Any) -> Any:
    if isinstance(kept, dict):
        return {k: _without_undefined(v) for k, v in kept.items() if v != {"#": "undefined"}}
    return [_without_undefined(each) for each in kept] if isinstance(kept, list) else kept


def _floor(value: Any) -> float:
    return math.floor(number(value))


BUILT_IN: dict[str, Any] = {
    "undefined": UNDEFINED,
    "NaN": math.nan,
    "Infinity": math.inf,
    "Array": Native("Array", lambda *given: list(given)),
    "Object": Native("Object", lambda *given: {}),
    "Function": Native("Function", lambda *given: UNDEFINED),
    "String": Native("String", lambda value="": text(value)),
    "Number": Native("Number", lambda value=0: number(value)),
    "Boolean": Native("Boolean", lambda value=UNDEFINED: truth(value)),
    "isNaN": Native("isNaN", lambda value=UNDEFINED: number(value) != number(value)),
    "parseInt": Native("parseInt", _floor),
    "parseFloat": Native("parseFloat", number),
    "Math": {
        "pow": Native("pow", lambda base, power: _whole(number(base) ** number(power))),
        "floor": Native("floor", _floor),
        "abs": Native("abs", lambda value: abs(number(value))),
        "max": Native("max", lambda *given: max(map(number, given))),
        "min": Native("min", lambda *given: min(map(number, given))),
    },
    "JSON": {
        "stringify": Native("stringify", _stringify),
        "parse": Native("parse", lambda value: json.loads(text(value))),
    },
}
"""The global names of the language."""
