"""Tools: functions that act on the world, with what the door must know about them.

A tool declares its effect, because that decides what happens when a process died between its start and its end:
`pure` and `idempotent` tools run again with the same idempotency key, a `once` tool is looked up or asked about.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, cast, get_args, get_type_hints, overload

from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.tools import Tool as LangChainTool
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic_core import to_jsonable_python

from stateward.errors import DefinitionError
from stateward.govern.fingerprint import is_unicode, written
from stateward.govern.kinds.shape import SENSITIVITIES, Sensitivity
from stateward.run.door.address import Address, address_of
from stateward.run.door.exact import exact, is_hiding
from stateward.run.door.told import problems, shortened, told

Effect = Literal["pure", "idempotent", "once"]
"""`pure`: reads only; `idempotent`: acts, but twice with one key is as good as once; `once`: must not run twice."""

ToolStatus = Literal["ok", "denied", "rejected", "failed", "invalid", "timeout", "unknown"]
"""Why an observation is what it is.

ok: it ran. denied: the policy said no. rejected: a person said no. failed: it raised. invalid: its arguments do not
fit. timeout: it took too long. unknown: it was started before a crash and nobody knows its end.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What a tool learns about the call it serves; injected as the parameter `ctx`."""

    idempotency_key: str
    """The same for every attempt at this one call; give it to the system you act on."""
    session: str
    run: str
    path: str
    tenant: str
    work: Path = Path()
    """The session's own folder, `run.session.scratch`: relative paths of arguments that are ruled by `under` are meant
    from here. It is there when such an argument was given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """The observation of one call, whatever became of it."""

    name: str
    status: ToolStatus
    value: Any  # JSON: whatever the tool returned
    call: int = 0
    call_id: str = ""

    @property
    def ok(self) -> bool:
        """Whether the tool ran to its end."""
        return self.status == "ok"

    @property
    def text(self) -> str:
        """The observation as a model reads it: the string itself, or JSON."""
        return self.value if isinstance(self.value, str) else json.dumps(self.value, ensure_ascii=False)


def refusal(name: str, status: ToolStatus, reason: str, *, call: int = 0, call_id: str = "") -> ToolResult:
    """Make the observation of a call that did not run.

    Args:
        name: The tool.
        status: Why it did not run.
        reason: One sentence for the model and the audit log.
        call: The call's number in its activation.
        call_id: The id of the model's tool call, when it came from one.

    Returns:
        A result whose value is a JSON error.
    """
    error = {"error": {"type": status, "tool": shortened(name), "reason": reason}}
    return ToolResult(name=name, status=status, value=error, call=call, call_id=call_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A registered tool."""

    name: str
    description: str
    fn: Callable[..., Any]
    arguments: type[BaseModel]
    effect: Effect
    is_async: bool
    takes_context: bool
    lookup: Callable[[str], Any] | None = None
    timeout_s: float | None = None
    schema: Mapping[str, Any] = field(default_factory=dict[str, Any])
    cleared: Sensitivity = "public"
    """The most sensitive data that it may be given."""
    address: Address | None = None
    """Where a process of its own finds the function; None for a tool that runs in this one."""
    is_discovered: bool = False
    """Whether it was found at run time, and not registered when the graph was compiled."""

    def parse(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Validate arguments against the tool's schema.

        Args:
            arguments: What the caller or a model gave.

        Returns:
            The arguments, coerced; defaults filled in.

        Raises:
            ValueError: They do not fit; the message names each argument and what is wrong.
        """
        given: dict[str, Any] = {}
        try:
            given = exact(dict(arguments))
            parsed = self.arguments.model_validate(given)
        except RecursionError as endless:
            raise ValueError("the arguments are nested too deeply, or contain themselves") from endless
        except ValidationError as invalid:
            raise ValueError(problems(invalid, shape=self.arguments, given=given)) from invalid
        return {name: getattr(parsed, name) for name in self.arguments.model_fields}

    def plain(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Bring arguments into the form the journal keeps.

        Args:
            arguments: Validated arguments.

        Returns:
            JSON.

        Raises:
            ValueError: They cannot be kept: bytes, text with lone surrogates, `NaN`, circles, secrets for instance.
        """
        try:
            hides = is_hiding(arguments)
            plain: dict[str, Any] = {} if hides else to_jsonable_python(dict(arguments))
            if written(plain) is None:
                json.dumps(plain, ensure_ascii=False, allow_nan=False).encode()
        except Exception as misfit:
            raise ValueError(f"the arguments cannot be kept: {told(misfit)}") from misfit
        if hides:
            raise ValueError("an argument hides what it holds, so that nobody could judge or approve it")
        return plain

    @property
    def goes_on(self) -> bool:
        """Whether its code goes on when its call was given up: it runs in a thread."""
        return not self.is_async and self.address is None

    @property
    def asks(self) -> bool:
        """Whether a person may have to say what became of a call: it may happen once, and nobody can look it up."""
        return self.effect == "once" and self.lookup is None

    @property
    def is_unknown_when_cut(self) -> bool:
        """Whether nobody knows what became of a call that was cut off: it may happen once, or acts on in a thread."""
        return self.effect == "once" or (self.goes_on and self.effect != "pure")

    def given(self, arguments: Mapping[str, Any], *, context: ToolContext) -> dict[str, Any]:
        """Return all that the function is called with, by name.

        Args:
            arguments: Validated arguments.
            context: Injected when the tool takes `ctx`.
        """
        return {**arguments, "ctx": context} if self.takes_context else dict(arguments)


@overload
def tool(fn: Callable[..., Any], /) -> Tool: ...


@overload
def tool(
    *,
    effect: Effect = "once",
    lookup: Callable[[str], Any] | None = None,
    timeout_s: float | None = None,
    name: str | None = None,
    process: bool = False,
    cleared: Sensitivity = "public",
) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(
    fn: Callable[..., Any] | None = None,
    /,
    *,
    effect: Effect = "once",
    lookup: Callable[[str], Any] | None = None,
    timeout_s: float | None = None,
    name: str | None = None,
    process: bool = False,
    cleared: Sensitivity = "public",
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a tool of a function; its docstring is the description, its parameters the argument schema.

    Args:
        fn: The function, where nothing else is said: `@sw.tool`.
        effect: What a second run would do; the default is the careful one.
        lookup: For `once`: given an idempotency key, what became of the call, as `stateward.effects` has it; or, in
            short, its result if it was completed, else None. Sync or async. One that raises, or takes longer than the
            tool may, does not know.
        timeout_s: Seconds until the call is given up, > 0; the policy's `call_timeout_s` can only shorten it.
        name: The tool's name; default the function's.
        process: Whether the function, a sync one of a module, runs in a process of its own: a thread cannot be
            stopped, a process is killed when the call is cancelled or its time is over.
        cleared: The most sensitive data that the tool may be given: a state whose policy says that its data is more
            sensitive cannot call it.

    Returns:
        The Tool; without a function a decorator that returns it.

    Raises:
        DefinitionError: There is no such effect or class of data, or the function has a parameter without annotation,
            or takes `*args` or `**kwargs`, or cannot run in a process of its own.

    Source: DESIGN decision 12.
    """
    if effect not in get_args(Effect):
        known = ", ".join(f"`{word}`" for word in get_args(Effect))
        raise DefinitionError(
            f"`{effect}` is no effect of a tool", where="sw.tool(effect=…)", fix=f"Say one of {known}."
        )
    known_clearance(cleared, where="sw.tool(cleared=…)")

    made = partial(
        _tool_of,
        effect=effect,
        lookup=lookup,
        timeout_s=timeout_s,
        name=name,
        process=process,
        cleared=cleared,
    )
    return made if fn is None else made(fn)


def _tool_of(
    fn: Callable[..., Any],
    *,
    effect: Effect,
    lookup: Callable[[str], Any] | None,
    timeout_s: float | None,
    name: str | None,
    process: bool,
    cleared: Sensitivity,
) -> Tool:
    label = known_name(name or getattr(fn, "__name__", "tool"), where="sw.tool(name=…)")
    arguments = _arguments(fn, name=label)
    return Tool(
        name=label,
        description=inspect.cleandoc(fn.__doc__ or label),
        fn=fn,
        arguments=arguments,
        effect=effect,
        is_async=inspect.iscoroutinefunction(fn),
        takes_context="ctx" in inspect.signature(fn).parameters,
        lookup=lookup,
        timeout_s=timeout_s,
        schema=arguments.model_json_schema(),
        cleared=cleared,
        address=_address(fn, name=label) if process else None,
    )


def _address(fn: Callable[..., Any], *, name: str) -> Address:
    if inspect.iscoroutinefunction(fn):
        raise DefinitionError(
            f"Tool `{name}` is async and is to run in a process of its own",
            fix="Leave `process=True` out: async work is stopped as it is; or make the function a sync one.",
        )
    return address_of(fn, what=f"Tool `{name}`")


def _arguments(fn: Callable[..., Any], *, name: str) -> type[BaseModel]:
    hints = get_type_hints(fn, include_extras=True)
    fields: dict[str, Any] = {}
    for parameter in inspect.signature(fn).parameters.values():
        if parameter.name == "ctx":
            continue
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise DefinitionError(
                f"Tool `{name}` takes `{parameter}`, so that its arguments cannot be checked",
                fix="Name every argument.",
            )
        if parameter.name not in hints:
            raise DefinitionError(
                f"Parameter `{parameter.name}` of tool `{name}` has no annotation", fix="Give it a type."
            )
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (hints[parameter.name], Field(default))
    return create_model(name, __config__=ConfigDict(extra="forbid"), **fields)


def adapt(source: BaseTool) -> Tool:
    """Make a governed tool of a LangChain tool; its effect is `once`, since LangChain's tools do not declare one.

    Args:
        source: Any LangChain tool; `cleared` in its `metadata` is the most sensitive data that it may be given.

    Returns:
        The Tool.

    Raises:
        DefinitionError: It says of itself that it is cleared for something that is no class of data.
    """
    cleared = (source.metadata or {}).get("cleared", "public")

    def call(**arguments: Any) -> Any:
        return source.invoke(arguments)

    async def acall(**arguments: Any) -> Any:
        return await source.ainvoke(arguments)

    is_async = _is_async(source)
    schema = cast("type[BaseModel]", source.get_input_schema())
    return Tool(
        name=known_name(source.name, where=f"the tool of LangChain {type(source).__name__}"),
        description=source.description,
        fn=acall if is_async else call,
        arguments=schema,
        effect="once",
        is_async=is_async,
        takes_context=False,
        schema=schema.model_json_schema(),
        cleared=known_clearance(cleared, where=f"`metadata` of the tool `{source.name}`"),
    )


def known_name(name: str, *, where: str) -> str:
    """Take a tool's name, if the journal can keep it.

    Args:
        name: What was given as one.
        where: Who gave it, for messages.

    Raises:
        DefinitionError: It is empty, has a NUL in it, or half a character.
    """
    if not name or "\0" in name or not is_unicode(name):
        raise DefinitionError(f"{name!r} is no name of a tool", where=where, fix="Use letters, digits, `_` and `-`.")
    return name


def known_clearance(cleared: object, *, where: str) -> Sensitivity:
    """Take a class of data for what it says.

    Args:
        cleared: What was given as one.
        where: Who gave it, for messages.

    Raises:
        DefinitionError: There is no such class.
    """
    for known in SENSITIVITIES:
        if cleared == known:
            return known
    listed = ", ".join(f"`{word}`" for word in SENSITIVITIES)
    raise DefinitionError(f"`{cleared}` is no class of data", where=where, fix=f"Say one of {listed}.")


def _is_async(source: BaseTool) -> bool:
    """Whether a LangChain tool has an async form of its own; else LangChain would choose the thread of the sync one."""
    if isinstance(source, StructuredTool | LangChainTool):
        return source.coroutine is not None
    return next(kind for kind in type(source).__mro__ if "_arun" in vars(kind)) is not BaseTool


ToolCall = Mapping[str, Any]
"""One call as a model writes it: `name`, `args`, and an `id`."""
