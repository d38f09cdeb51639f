"""The policy file: where YAML becomes a frozen `Policy`, or an error that names the key."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pydantic import ValidationError

from stateward.errors import ConfigError
from stateward.govern.policy import ContractSpec, FieldSpec, Fuses, Policy, Rule, ToolPolicy, Window
from stateward.govern.policy_shape import (
    ContractShape,
    FieldShape,
    FusesShape,
    PolicyFile,
    RuleShape,
    ToolsShape,
    WindowShape,
)
from stateward.govern.problem import Key, Problem, dotted, first, problems

Locate = Callable[[Key], tuple[str, Key]]
"""Given a key of the merged data: the source it came from, and the key there."""


def policy_from(data: Mapping[str, object], *, name: str, source: str, locate: Locate | None = None) -> Policy:
    """Check the content of a policy file and freeze it.

    The mode must have been laid over the rest before; `stateward.config.load_policy` does that.

    Args:
        data: The content, plain data.
        name: The policy's name when the content gives none.
        source: Where the content was written, for messages.
        locate: Finds the source of one key when the content was merged from several.

    Returns:
        The policy.

    Raises:
        ConfigError: A key is unknown, or a value has the wrong type or is out of range.
    """
    try:
        checked = PolicyFile.model_validate(data)
    except ValidationError as error:
        raise _config_error(
            first(problems(error, schema=PolicyFile)), locate=locate or (lambda key: (source, key))
        ) from error
    return _frozen(checked, name=name, source=source)


def _config_error(problem: Problem, *, locate: Locate) -> ConfigError:
    file, key = locate(problem.key)
    return ConfigError(file=file, key=dotted(key), expected=problem.expected, given=problem.given)


def _frozen(said: PolicyFile, *, name: str, source: str) -> Policy:
    return Policy(
        name=said.name or name,
        source=source,
        mode=said.mode,
        fuses=_fuses(said.fuses),
        tools=_tools(said.tools) if said.tools else None,
        call_timeout_s=said.call_timeout_s,
        window=_window(said.window) if said.window else None,
        contracts=tuple(_contract(spec, name=key) for key, spec in said.contracts.items()),
    )


def _fuses(said: FusesShape) -> Fuses:
    return Fuses(turns=said.turns, usd=said.usd, calls=said.calls, microsteps=said.microsteps)


def _tools(said: ToolsShape) -> ToolPolicy:
    return ToolPolicy(default=said.default, rules=tuple(map(_rule, said.rules)))


def _rule(said: RuleShape) -> Rule:
    approvers = None if said.approvers is None else tuple(said.approvers)
    return Rule(
        match=said.match, level=said.level, max_calls=said.max_calls, approvers=approvers, expires_s=said.expires_s
    )


def _window(said: WindowShape) -> Window:
    return Window(max_messages=said.max_messages, keep_last=said.keep_last)


def _contract(said: ContractShape, *, name: str) -> ContractSpec:
    return ContractSpec(
        name=name,
        fields=tuple(_field(spec, name=key) for key, spec in said.fields.items()),
        aliases=tuple(sorted(said.aliases.items())),
        retries=said.retries,
    )


def _field(said: FieldShape, *, name: str) -> FieldSpec:
    return FieldSpec(
        name=name,
        type=said.type,
        required=said.required,
        description=said.description,
        min_length=said.min_length,
        max_length=said.max_length,
        pattern=said.pattern,
        min=said.min,
        max=said.max,
        values=tuple(said.values),
        aliases=tuple(sorted(said.aliases.items())),
        items=said.items or "str",
        min_items=said.min_items,
        max_items=said.max_items,
    )
