"""The policy file: where YAML becomes a frozen `Policy`, or an error that names the key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

from pydantic import ValidationError

from stateward.errors import ConfigError
from stateward.govern.kinds.arguments import argument_rule
from stateward.govern.kinds.contract_spec import ContractShape, ContractSpec, FieldShape, FieldSpec, Inference
from stateward.govern.kinds.data import Data
from stateward.govern.kinds.fuses import Fuses
from stateward.govern.kinds.models import ModelRule, RoleRule
from stateward.govern.kinds.pace import Pace
from stateward.govern.kinds.redaction import Redaction
from stateward.govern.kinds.section import Section
from stateward.govern.kinds.shape import Strict
from stateward.govern.kinds.tools import Group, Rule, RuleShape, ToolPolicy, ToolsShape
from stateward.govern.kinds.window import Window
from stateward.govern.policy import Policy
from stateward.govern.policy_shape import PolicyFile
from stateward.govern.problem import Key, Problem, dotted, first, problems

AnySection = TypeVar("AnySection", bound=Section)
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
        fuses=_section(Fuses, said.fuses) or Fuses(),
        tools=_tools(said.tools) if said.tools else None,
        call_timeout_s=said.call_timeout_s,
        activity_timeout_s=said.activity_timeout_s,
        pace=_section(Pace, said.pace),
        data=_section(Data, said.data),
        redact=_section(Redaction, said.redact),
        window=_section(Window, said.window),
        models=tuple(RoleRule(role=role, rule=_made(ModelRule, rule)) for role, rule in sorted(said.models.items())),
        contracts=tuple(_contract(spec, name=key) for key, spec in said.contracts.items()),
        observe=said.observe,
    )


def _section(kind: type[AnySection], said: Strict | None) -> AnySection | None:
    return None if said is None else _made(kind, said)


def _made(kind: type[AnySection], said: Strict) -> AnySection:
    given = cast("dict[str, object]", said.model_dump(exclude_none=True))
    return kind(**{key: _frozen_value(value) for key, value in given.items()})


def _frozen_value(value: object) -> Any:
    return tuple(cast("list[object]", value)) if isinstance(value, list) else value


def _tools(said: ToolsShape) -> ToolPolicy:
    return ToolPolicy(
        default=said.default,
        rules=tuple(map(_rule, said.rules)),
        discovered=None if said.discovered is None else tuple(said.discovered),
        separate=tuple(Group(name=name, match=tuple(match)) for name, match in (said.separate or {}).items()),
    )


def _rule(said: RuleShape) -> Rule:
    return Rule(
        match=said.match,
        level=said.level,
        max_calls=said.max_calls,
        approvers=None if said.approvers is None else tuple(said.approvers),
        expires_s=said.expires_s,
        approvals=said.approvals,
        four_eyes=said.four_eyes,
        cleared=said.cleared,
        arguments=tuple(argument_rule(name, shape) for name, shape in said.arguments.items()),
    )


def _contract(said: ContractShape, *, name: str) -> ContractSpec:
    return ContractSpec(
        name=name,
        fields=tuple(_field(spec, name=key) for key, spec in said.fields.items()),
        aliases=tuple(sorted(said.aliases.items())),
        retries=said.retries,
        tiers=None if said.tiers is None else tuple(said.tiers),
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
        contains=tuple(said.contains),
        forbid=said.forbid,
        min=said.min,
        max=said.max,
        values=tuple(said.values),
        aliases=tuple(sorted(said.aliases.items())),
        items=said.items or "str",
        min_items=said.min_items,
        max_items=said.max_items,
        default=tuple(said.default) if isinstance(said.default, list) else said.default,
        infer=tuple(Inference(pattern=rule.pattern, value=rule.value, field=rule.field) for rule in said.infer),
    )
