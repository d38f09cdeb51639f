"""A table of calls and what a policy is to decide about them, read from YAML with the line of each case.

graph: support_desk
policy: policies/desk.yaml       # stands in for the graph's policy of its name; the graph's own without it
cases:
  - {state: ACT, tool: lookup_order, arguments: {order: A-1}, expect: allow}
  - {state: ACT, tool: refund, expect: ask, rule: refund}
  - {state: ACT, tool: refund, approved: true, spent: {calls@WORKING: 20}, expect: deny, rule: fuses.calls}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, cast

import yaml
from pydantic import Field, ValidationError, model_validator

from stateward.errors import ConfigError
from stateward.govern.kinds.shape import Strict
from stateward.govern.policy_test import Case, Outcome
from stateward.govern.problem import dotted, first, problems
from stateward.govern.request import CallRequest


class _CaseShape(Strict):
    """One case."""

    state: str
    tool: str | None = None
    model: str | None = None
    arguments: dict[str, Any] | None = None
    approved: bool = False
    spent: dict[str, float] = Field(default_factory=dict[str, float])
    usd: float | None = 0.0
    tokens: int | None = 0
    expect: Outcome
    rule: str = ""

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.tool is None) == (self.model is None):
            raise ValueError("either `tool` or `model`")
        return self


class _TableShape(Strict):
    """A whole file."""

    graph: str | None = None
    policy: str | None = None
    cases: list[_CaseShape] = Field(min_length=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One case as it is written."""

    line: int
    state: str
    tool: str | None
    model: str | None
    arguments: Mapping[str, Any] | None
    """None when they are left out: then they are not looked at."""
    approved: bool
    spent: Mapping[str, float]
    usd: float | None
    tokens: int | None
    expected: Outcome
    rule: str

    def case(self, request: CallRequest, *, misfit: str) -> Case:
        """Make the case that is decided.

        Args:
            request: The call.
            misfit: Why its arguments do not fit the tool; empty if they do.
        """
        return Case(
            line=self.line,
            request=request,
            expected=self.expected,
            rule=self.rule,
            approved=self.approved,
            spent=self.spent,
            misfit=misfit,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A file of cases."""

    file: str
    graph: str | None
    policy: str | None
    rows: tuple[Row, ...]


def read_table(path: Path) -> Table:
    """Read a table.

    Args:
        path: A YAML file.

    Returns:
        Its cases, each with its line.

    Raises:
        ConfigError: It cannot be read, or a key or value is wrong; a case is named by its line.
    """
    node, data = _read(path)
    lines = _lines(node)
    try:
        said = _TableShape.model_validate(data)
    except ValidationError as error:
        found = first(problems(error, schema=_TableShape))
        number = found.key[1] if len(found.key) > 1 and found.key[0] == "cases" else None
        where = f"{path}, line {lines[number]}" if isinstance(number, int) and number < len(lines) else str(path)
        raise ConfigError(file=where, key=dotted(found.key), expected=found.expected, given=found.given) from error
    rows = tuple(_row(case, line=line) for case, line in zip(said.cases, lines, strict=True))
    return Table(file=str(path), graph=said.graph, policy=said.policy, rows=rows)


def _read(path: Path) -> tuple[yaml.Node | None, object]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(file=str(path), key="the whole", expected="a YAML file to read", given=str(error)) from error
    try:
        node = cast("yaml.Node | None", yaml.compose(text, Loader=yaml.SafeLoader))  # its stubs leave it open
        return node, cast("object", yaml.safe_load(text))
    except yaml.YAMLError as error:
        mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
        key = f"line {mark.line + 1}" if mark else "the whole"
        raise ConfigError(file=str(path), key=key, expected="valid YAML in UTF-8", given=str(error)) from error


def _lines(node: yaml.Node | None) -> list[int]:
    """The line on which each case begins, from 1."""
    if not isinstance(node, yaml.MappingNode):
        return []
    for key, value in node.value:
        if key.value == "cases" and isinstance(value, yaml.SequenceNode):
            return [int(case.start_mark.line) + 1 for case in value.value]
    return []


def _row(said: _CaseShape, *, line: int) -> Row:
    return Row(
        line=line,
        state=said.state,
        tool=said.tool,
        model=said.model,
        arguments=said.arguments,
        approved=said.approved,
        spent=said.spent,
        usd=said.usd,
        tokens=said.tokens,
        expected=said.expect,
        rule=said.rule,
    )
