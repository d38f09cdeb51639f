"""Whether an answer fits its ask, and what it says then: pure, so that it holds inside the transaction.

A client may send a value alone (`value`): to a question that is what it asks for, to an ask about a call, and to a
question with two answers, it is yes or no.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from stateward.errors import InputRefused
from stateward.govern.json_schema import misfit, refuse_unsound
from stateward.run.store.ask import Ask
from stateward.run.store.given import Decision, Given
from stateward.run.store.kept import unkept
from stateward.run.store.kind import CHOOSE, EDIT, REVIEW, TEXT, as_word

_YES = {True: "approve", False: "reject"}


def fitted(ask: Ask, given: Given) -> Given:
    """Bring an answer into the form that is kept.

    Args:
        ask: What was asked.
        given: What somebody says.

    Returns:
        The answer; of a question about a value, `value` is what it says.

    Raises:
        InputRefused: It is no answer to this ask; the ask is still open.
    """
    fits: Mapping[str, Callable[[Ask, Given], Given]] = {CHOOSE: _chosen, TEXT: _written, EDIT: _edited}
    fit = fits.get(ask.kind)
    return _judged(ask, given) if fit is None else fit(ask, given)


def _judged(ask: Ask, given: Given) -> Given:
    """What is asked is yes or no, and perhaps something else."""
    value = given.value
    if value is None:
        return given
    if isinstance(value, bool):
        _refuse_both(ask, given, meant=_YES[value])
        return replace(given, decision=cast("Decision", _YES[value]), value=None)
    if ask.kind == REVIEW and isinstance(value, Mapping):
        _refuse_both(ask, given, meant="edit")
        return replace(given, decision="edit", arguments=dict(cast("Mapping[str, Any]", value)), value=None)
    words = ", ".join(f"`{word}`" for word in ask.allowed)
    raise _refused(ask, f"is {value!r}", fix=f"Say True or False as the value, or decide {words} without one.")


def _refuse_both(ask: Ask, given: Given, *, meant: str) -> None:
    """Refuse an answer that decides one thing, and says another as its value; a value alone is a `respond`."""
    if given.decision not in ("respond", meant) or given.arguments is not None:
        raise _refused(ask, f"says `{given.decision}` and {given.value!r}", fix="Say one of them.")


def _chosen(ask: Ask, given: Given) -> Given:
    options: Sequence[str] = ask.arguments.get("options", ())
    bare = given.value is None and not given.note.strip()
    named = [option for option in options if bare and _is_same_word(option, given.decision)]
    if len(named) == 1:
        return replace(given, decision="respond", value=named[0])
    if given.decision == "approve":
        return _by_default(ask, given)
    said = given.note if given.value is None else given.value
    found = [option for option in options if _is_same_word(option, said)]
    if given.decision != "respond" or len(found) != 1:
        listed = ", ".join(f"`{option}`" for option in options)
        raise _refused(ask, f"is {said if given.decision == 'respond' else given.decision!r}", fix=f"Choose {listed}.")
    return replace(given, value=found[0])


def _written(ask: Ask, given: Given) -> Given:
    if given.decision == "approve":
        return _by_default(ask, given)
    schema: Mapping[str, Any] | None = ask.arguments.get("schema")
    if given.decision != "respond":
        raise _refused(ask, f"is `{given.decision}`", fix="Answer `respond`, and say it in `note` or `value`.")
    if given.value is None and not given.note and takes_nothing(schema):
        return given
    said: object = _read(given.note, schema) if given.value is None else given.value
    says_nothing = not given.note if given.value is None else schema is None and not isinstance(said, str)
    if says_nothing or (schema is None and not str(said).strip()):
        raise _refused(ask, "says nothing", fix="Say it in `note` or `value`, as text.")
    return replace(given, value=_sound(ask, said, schema))


def _edited(ask: Ask, given: Given) -> Given:
    before, schema = ask.arguments.get("value"), ask.arguments.get("schema")
    if given.decision == "approve":
        return _left(ask, given, value=before)
    if given.decision == "respond" and given.value is None and not given.note and takes_nothing(schema):
        return replace(given, decision="edit", tool="", arguments=None)
    if given.tool not in ("", ask.tool):
        raise _refused(ask, f"names the tool `{given.tool}`, and is about a value", fix="Leave the tool out.")
    if given.value is not None and given.arguments is not None:
        raise _refused(ask, "says its value twice", fix="Say it in `value` or in `arguments`.")
    if given.decision not in ("edit", "respond") or (given.value is None and given.arguments is None):
        said = "names no value" if given.decision == "edit" else f"is `{given.decision}`"
        raise _refused(ask, said, fix="Answer `edit` with the whole new value, or `approve` to leave it as it is.")
    value = given.value if given.arguments is None else _of_arguments(ask, given.arguments)
    return replace(given, decision="edit", value=_sound(ask, value, schema), tool="", arguments=None)


def _of_arguments(ask: Ask, arguments: Mapping[str, Any]) -> object:
    """Read the value of a client that knows only of calls; it may send as text what was none before."""
    before, schema = ask.arguments.get("value"), ask.arguments.get("schema")
    has_fields = isinstance(before, Mapping)
    if not has_fields and set(arguments) != {"value"}:
        raise _refused(ask, "names no value", fix='Give it as `{"value": …}`.')
    typed = {key: _typed(said, before=ask.shown.get(key)) for key, said in arguments.items()}
    plain, read = (dict(arguments), typed) if has_fields else (arguments["value"], typed["value"])
    return read if _is_better(read, than=plain, schema=schema) else plain


def _typed(said: object, *, before: object) -> object:
    return said if not isinstance(said, str) or isinstance(before, str | None) else _json_of(said)


def _is_better(value: object, *, than: object, schema: Mapping[str, Any] | None) -> bool:
    """Tell whether a value meets a schema that another one does not."""
    if schema is None or not is_sound(schema):
        return False
    return misfit(than, schema=schema) is not None and misfit(value, schema=schema) is None


def takes_nothing(schema: Mapping[str, Any] | None) -> bool:
    """Tell whether nothing, JSON's null, is an answer.

    Args:
        schema: What an answer must be; None where it is text.
    """
    return schema is not None and is_sound(schema) and misfit(None, schema=schema) is None


def _by_default(ask: Ask, given: Given) -> Given:
    if "default" not in ask.arguments:
        raise _refused(ask, "is `approve`, and it has no default", fix="Answer `respond`, and say it in `value`.")
    return _left(ask, given, value=ask.arguments["default"])


def _left(ask: Ask, given: Given, *, value: object) -> Given:
    """What is shown is to stay: nobody may mean something else by it."""
    if given.value is not None and given.value != value:
        raise _refused(ask, f"says `approve` and {given.value!r}", fix="Say one of them.")
    return replace(given, value=value)


def _sound(ask: Ask, value: object, schema: Mapping[str, Any] | None) -> object:
    problem = unkept(value)
    if problem is not None:
        raise _refused(ask, f"cannot be kept: {problem}", fix="Give JSON with numbers of 64 bits and whole characters.")
    problem = misfit(value, schema=schema) if schema is not None and is_sound(schema) else None
    if problem is not None:
        raise _refused(ask, f"does not fit its schema: {problem}", fix=f"The schema is {json.dumps(schema)}.")
    return value


def is_sound(schema: Mapping[str, Any]) -> bool:
    """Tell whether a schema says nothing that nobody would read: else only who put the question can judge an answer.

    Args:
        schema: A JSON Schema.
    """
    try:
        refuse_unsound(schema)
    except ValueError:
        return False
    return True


def _read(text: str, schema: Mapping[str, Any] | None) -> object:
    """Read what was typed: JSON, where the schema wants something else than text."""
    if schema is None or schema.get("type") == "string":
        return text
    read = _json_of(text)
    return text if _is_better(text, than=read, schema=schema) else read


def _json_of(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _is_same_word(option: str, said: object) -> bool:
    return isinstance(said, str) and as_word(option) == as_word(said)


def _refused(ask: Ask, what: str, *, fix: str) -> InputRefused:
    return InputRefused(
        f"The answer to `{ask.id}` {what}",
        where=f"session `{ask.session}`, state `{ask.path}`",
        fix=f"{fix} The ask is still open.",
    )
