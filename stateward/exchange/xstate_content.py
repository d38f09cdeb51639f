"""What guards, actions, activities and outputs of an XState machine mean: names in a registry.

A name stands alone or as `{"type": name, "params": {…}}`; the parameters become keyword arguments. Of XState's own
actions `xstate.raise` and `xstate.cancel` are understood, with plain JSON as parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from decimal import Decimal, InvalidOperation

from stateward.chart.definition import Action, Activity, Block
from stateward.chart.guard import Bound
from stateward.errors import DefinitionError
from stateward.exchange.condition import read_condition
from stateward.exchange.content import CancelSend, Constant, Raise, Send, action, bound
from stateward.exchange.registry import Registry, is_json
from stateward.exchange.xstate_tree import Json, as_mapping, mapping_of, several, text_of

RAISE = "xstate.raise"
CANCEL = "xstate.cancel"
META = "stateward"
"""The key in `meta` under which stands what XState has no words for."""

Inward = Callable[[str, str], str]
"""From an event's type and the place that names it to the event of the chart."""


def own_meta(config: Json, *, where: str) -> Json:
    """Return what a state, a transition or the machine says for us alone.

    Args:
        config: The state, transition or machine.
        where: Its place, for messages.

    Raises:
        DefinitionError: It is no object.
    """
    return mapping_of(mapping_of(config, "meta", where=where), META, where=f"{where}.meta")


def only(config: Json, *keys: str, where: str, ignoring: Collection[str] = ()) -> None:
    """Check that an object has no other keys.

    Args:
        config: The object.
        keys: The keys it may have; `meta` is allowed for what is ours alone.
        where: Its place, for messages.
        ignoring: Keys that the caller wants to be skipped.

    Raises:
        DefinitionError: It has another.
    """
    for key in config:
        others = [each for each in mapping_of(config, "meta", where=where) if each != META] if key == "meta" else [key]
        if key in ignoring or not others or key in keys:
            continue
        v4 = {"cond": "guard", "internal": "reenter", "delimiter": "", "activities": "invoke", "data": "output"}
        advice = f"XState v5 says `{v4[key]}`." if v4.get(key) else "Remove it, or name it in `ignoring`."
        raise DefinitionError(
            f"`{key}` is not carried over",
            where=where or "the machine",
            fix=f"{advice} Carried over: {', '.join(keys)}.",
        )


def read_guard(config: Json, *, registry: Registry, locate: Callable[[str], str], where: str) -> Bound | None:
    """Return the guard of a transition.

    Args:
        config: The transition.
        registry: What names mean.
        locate: Checks a path that `In()` names.
        where: The transition's place, for messages.

    Raises:
        DefinitionError: It is no name, or an unknown one.
    """
    said = config.get("guard")
    if said is None:
        return None
    where = f"{where}.guard"
    if isinstance(said, str):
        return read_condition(said, registry=registry, locate=locate, where=where)
    name, params = _named(said, where=where)
    return registry.function("guards", name, params=params, where=where)


def read_actions(value: object, *, registry: Registry, inward: Inward, where: str) -> Block:
    """Return the actions that a text, an object or a list of these means.

    Args:
        value: What stands under `entry`, `exit` or `actions`.
        registry: What names mean.
        inward: Translates the types of events.
        where: Its place, for messages.

    Raises:
        DefinitionError: One is no name, an unknown one, or a built-in action that cannot be carried over.
    """
    return tuple(
        _action(each, registry=registry, inward=inward, where=f"{where}[{place}]") for place, each in several(value)
    )


def _action(said: object, *, registry: Registry, inward: Inward, where: str) -> Action:
    name, params = _named({"type": said} if isinstance(said, str) else said, where=where)
    if name == RAISE:
        return action(_raised(params, inward=inward, where=where))
    if name == CANCEL and set(params) == {"sendId"}:
        return action(CancelSend(id=_free(text_of(params, "sendId", where=where), where=where)))
    if name.startswith("xstate."):
        raise DefinitionError(
            f"The built-in action `{name}` is not carried over",
            where=where,
            fix=f"Make it a named action; carried over are `{RAISE}` and `{CANCEL}` with plain parameters.",
        )
    fn = registry.function("actions", name, params=params, where=where)
    return Action(fn=fn, name=fn.name)


def _raised(params: Json, *, inward: Inward, where: str) -> Raise | Send:
    only(params, "event", "delay", "id", where=where)
    event = mapping_of(params, "event", where=where)
    name = inward(text_of(event, "type", where=where), where)
    data = {key: value for key, value in event.items() if key != "type"}
    if "delay" not in params:
        if data or "id" in params:
            raise DefinitionError(
                "An event raised at once has neither data nor id", where=where, fix="Give it a `delay`, which may be 0."
            )
        return Raise(event=name)
    id = _free(text_of(params, "id", where=where), where=where)
    return Send(event=name, after_s=seconds(params["delay"], where=where), id=id, data=data)


def _free(id: str, *, where: str) -> str:
    if id.startswith("after."):
        raise DefinitionError(
            f"The id `{id}` looks like a timer of the chart's own", where=where, fix="Choose another."
        )
    return id


def seconds(milliseconds: object, *, where: str) -> float:
    """Return the seconds of a number of milliseconds.

    Args:
        milliseconds: A number, or a text that is one.
        where: Its place, for messages.

    Raises:
        DefinitionError: It is no number from 0.
    """
    try:
        value = Decimal(str(milliseconds)) / 1000
    except InvalidOperation:
        value = Decimal(-1)
    if isinstance(milliseconds, bool) or not value.is_finite() or value < 0:
        raise DefinitionError(
            f"{milliseconds!r} is no number of milliseconds", where=where, fix="Write a number from 0, or name a delay."
        )
    return float(value)


def read_activity(invoke: Json, *, own: Json, registry: Registry, where: str) -> Activity:
    """Return the activity that an `invoke` means.

    Args:
        invoke: The `invoke`.
        own: What its state says for us alone: model, tools, contract, output, timeout.
        registry: What names mean.
        where: The place of the `invoke`, for messages.

    Raises:
        DefinitionError: Its source is no known name.
    """
    said = mapping_of(own, "activity", where=where)
    only(said, "model", "tools", "contract", "output", "timeout_s", "asks", where=f"{where} (meta)")
    output = text_of(said, "output", where=where)
    limit = said.get("timeout_s")
    if limit is not None and not (isinstance(limit, int | float) and limit > 0):
        raise DefinitionError(f"`timeout_s` is {limit!r}", where=where, fix="Write seconds above 0.")
    return Activity(
        do=registry.get("activities", text_of(invoke, "src", where=where), where=where),
        model=text_of(said, "model", where=where) or None,
        tools=tuple(str(tool) for _, tool in several(said.get("tools"))),
        output=registry.get("outputs", output, where=where)
        if output
        else text_of(said, "contract", where=where) or None,
        timeout_s=limit,
        asks=said.get("asks") is True,
    )


def read_data(config: Json, *, own: Json, registry: Registry, where: str) -> Bound | None:
    """Return what makes the data of a final state: plain JSON, or a function by name.

    Args:
        config: The state.
        own: What it says for us alone.
        registry: What names mean.
        where: Its place, for messages.

    Raises:
        DefinitionError: It says both, or an unknown name.
    """
    if "data" in own and "output" in config:
        raise DefinitionError("There are both `output` and a data function", where=where, fix="Keep one.")
    if "data" in own:
        name, params = _named(own["data"], where=where)
        return registry.function("data", name, params=params, where=where)
    return bound(Constant(value=config["output"])) if "output" in config else None


def _named(said: object, *, where: str) -> tuple[str, Mapping[str, object]]:
    config = as_mapping(said, where=where)
    only(config, "type", "params", where=where)
    name = text_of(config, "type", where=where)
    params = mapping_of(config, "params", where=where)
    if not name or not is_json(dict(params)):
        raise DefinitionError(
            "It has no `type`, or parameters that are no plain JSON", where=where, fix="Write `type` and `params`."
        )
    return name, dict(params)
