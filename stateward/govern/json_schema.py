"""JSON Schemas that come from policy files: a closed part of 2020-12, so that nothing in one is read by nobody.

`pattern` is run by RE2. `patternProperties` is refused, since its patterns could not be; `propertyNames` with a
`pattern` says the same. References stay inside the schema: nothing is ever fetched. `format` is checked, not noted.

Source: JSON Schema, draft 2020-12, core and validation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from jsonschema import Draft202012Validator, FormatChecker, validators
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.protocols import Validator

from stateward.govern.kinds.shape import pattern_text
from stateward.govern.pattern import compile_pattern

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_FORMATS = ("date", "email", "ipv4", "ipv6", "uuid")
"""Those whose check needs no further library and runs no pattern of the value's."""
_INSIDE = ("items", "contains", "additionalProperties", "propertyNames", "unevaluatedItems", "unevaluatedProperties")
_ONE = (*_INSIDE, "not", "if", "then", "else")
_SEVERAL = ("allOf", "anyOf", "oneOf", "prefixItems")
_NAMED = ("$defs", "properties", "dependentSchemas")
_PLAIN = (
    "$schema",
    "$ref",
    "$anchor",
    "$comment",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "type",
    "enum",
    "const",
    "multipleOf",
    "maximum",
    "exclusiveMaximum",
    "minimum",
    "exclusiveMinimum",
    "maxLength",
    "minLength",
    "pattern",
    "format",
    "maxItems",
    "minItems",
    "uniqueItems",
    "maxContains",
    "minContains",
    "maxProperties",
    "minProperties",
    "required",
    "dependentRequired",
)
_KNOWN = frozenset((*_ONE, *_SEVERAL, *_NAMED, *_PLAIN))
_Schema = Mapping[str, Any]


def refuse_unsound(schema: _Schema) -> None:
    """Refuse a schema that would not do what it says.

    Args:
        schema: The schema.

    Raises:
        ValueError: It is no JSON Schema, has a keyword that nobody would read, a pattern RE2 cannot run, a format that
            nobody checks, or a reference that leads nowhere or in a circle; says what was expected.
    """
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as wrong:
        raise ValueError(f"a JSON Schema ({wrong.message})") from wrong
    for part in _parts(schema):
        _refuse_keywords(part)
        for key, value in part.items():
            _refuse_value(key, value, schema)
    _refuse_circles(schema)


def misfit(value: object, *, schema: _Schema) -> str | None:
    """Say why a value does not meet a schema.

    Args:
        value: JSON.
        schema: One that `refuse_unsound` lets pass.

    Returns:
        Where it does not, and which keyword says so; None when it does. The value itself is not told.
    """
    try:
        found = next(iter(_GOVERNED(schema, format_checker=_CHECKER).iter_errors(cast(Any, value))), None)
    except (RecursionError, ArithmeticError, ValueError) as wrong:
        return f"nobody can say whether it does ({type(wrong).__name__})"
    if found is None:
        return None
    place = "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in found.absolute_path)
    return f"`{found.validator}` is not met{f' at `{place.removeprefix(chr(46))}`' if place else ''}"


def _pattern(validator: Any, pattern: str, instance: object, _schema: object) -> Iterator[ValidationError]:
    del validator
    if isinstance(instance, str) and not compile_pattern(pattern).search(instance):
        yield ValidationError("it does not match the pattern")


# A pattern of a policy searches the text, as JSON Schema has it; only the conditions of our own match the whole.
# To extend a validator takes longer than to ask it, so it is done once, and not for every value of a call.
_GOVERNED: type[Validator] = cast(Any, validators.extend(Draft202012Validator, validators={"pattern": _pattern}))
_CHECKER = FormatChecker(formats=_FORMATS)


def _parts(schema: object) -> Iterator[_Schema]:
    """Yield a schema and all schemas inside it."""
    if not isinstance(schema, Mapping):
        return
    whole = cast("_Schema", schema)
    yield whole
    inner: list[object] = [whole[key] for key in _ONE if key in whole]
    inner += [each for key in _SEVERAL for each in whole.get(key, ())]
    inner += [each for key in _NAMED for each in whole.get(key, {}).values()]
    for each in inner:
        yield from _parts(each)


def _refuse_keywords(part: _Schema) -> None:
    unknown = sorted(set(part) - _KNOWN)
    if unknown:
        raise ValueError(f"a JSON Schema without `{unknown[0]}`, which nobody would read")


def _refuse_value(key: str, value: Any, schema: _Schema) -> None:
    if key == "$schema" and str(value).removesuffix("#") != _DIALECT:
        raise ValueError("a JSON Schema of the draft 2020-12")
    if key == "format" and value not in _FORMATS:
        raise ValueError(f"a `format` out of {', '.join(_FORMATS)}")
    if key == "$ref":
        _target(value, schema)
    if key == "pattern":
        pattern_text(value)


def _target(ref: str, schema: _Schema) -> _Schema | bool:
    """Find what a reference names: the schema itself, one of `$defs`, or one with an anchor."""
    if ref == "#":
        return schema
    place, _, name = ref.rpartition("/")
    if place == "#/$defs" and name in schema.get("$defs", {}):
        return schema["$defs"][name]
    anchored = [part for part in _parts(schema) if "$anchor" in part and ref == f"#{part['$anchor']}"]
    if anchored:
        return anchored[0]
    raise ValueError("a `$ref` to `#`, to an anchor or to one of its own `#/$defs/NAME`")


def _refuse_circles(schema: _Schema) -> None:
    """A schema that leads to itself without going into the value would be asked for ever."""
    for part in _parts(schema):
        seen, wanted = list[int](), [part]
        while wanted:
            one = wanted.pop()
            if id(one) in seen:
                continue
            seen.append(id(one))
            for each in _beside(one, schema):
                if each is part:
                    raise ValueError("a JSON Schema whose `$ref` does not lead back to itself")
                wanted.append(each)


def _beside(part: _Schema, schema: _Schema) -> Iterator[_Schema]:
    """Yield the schemas that the same value must meet, or not."""
    found: list[object] = [_target(part["$ref"], schema)] if "$ref" in part else []
    found += [part[key] for key in ("not", "if", "then", "else") if key in part]
    found += [each for key in ("allOf", "anyOf", "oneOf") for each in part.get(key, ())]
    found += part.get("dependentSchemas", {}).values()
    yield from (cast("_Schema", each) for each in found if isinstance(each, Mapping))
