"""The rule that policies only tighten, checked when a chart is built.

What can be compared is compared: every part of every section by its operator, the default for other tools, every rule
that names a known tool, and every contract. A tool that is discovered later cannot be checked here; for it the fold in
`effective` takes the strictest ruling all the same, so nothing is ever loosened in fact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from stateward.errors import PolicyLoosened
from stateward.govern.kinds.operator import LEAST
from stateward.govern.layer import Layer
from stateward.govern.person import is_among
from stateward.govern.ruling import LESS_SENSITIVE, Ruling, rank

_BOUNDS = (("max_calls", LEAST), ("expires_s", LEAST), ("cleared", LESS_SENSITIVE))
"""What of a ruling is compared as one value. How many approve, and who may not, only adds up and cannot loosen."""


def refuse_loosening(layers: Sequence[Layer], *, tools: Sequence[str]) -> None:
    """Refuse a chain of policies in which one is weaker than a policy above it.

    Args:
        layers: The policies, outermost first.
        tools: The names of the known tools.

    Raises:
        PolicyLoosened: An inner policy has a weaker value of some part (a larger limit or timeout, a wider window, a
            shorter list of what is redacted), a weaker level or default, a wider set of approvers or a longer wait for
            them, or another contract of the same name than an outer one.

    Source:
        DESIGN.md, decision 7.
    """
    for number, child in enumerate(layers):
        for parent in layers[:number]:
            _compare_parts(parent, child=child)
            _compare_defaults(parent, child=child)
            _compare_rulings(parent, child=child, tools=tools)
            _compare_contracts(parent, child=child)


def _compare_parts(parent: Layer, *, child: Layer) -> None:
    outer = dict(parent.policy.parts())
    for name, inner in child.policy.parts():
        known = outer.get(name)
        if known is not None and inner.kind.operator.is_loosened(known.value, by=inner.value):
            raise _loosened(
                f"`{name}` is {said(inner.value)}, but its parent's is {said(known.value)}",
                child=child.origin(name),
                parent=parent.origin(name),
            )


def _compare_defaults(parent: Layer, *, child: Layer) -> None:
    outer, inner = parent.policy.tools, child.policy.tools
    # A default that is not written is `forbidden`: only one that is written can be weaker than another.
    if outer is not None and inner is not None and rank(inner.default) < rank(outer.default):
        raise _loosened(
            f"`tools.default` is {inner.default}, but its parent's is {outer.default}",
            child=child.origin("tools.default"),
            parent=parent.origin("tools.default"),
        )


def _compare_rulings(parent: Layer, *, child: Layer, tools: Sequence[str]) -> None:
    for tool in tools:
        outer, inner = parent.ruling(tool), child.ruling(tool)
        if outer is None or inner is None or not inner.explicit:
            continue
        _compare_levels(outer, inner=inner)
        _compare_bounds(outer, inner=inner)
        _compare_approvers(outer, inner=inner)


def _compare_levels(outer: Ruling, *, inner: Ruling) -> None:
    if rank(inner.level) < rank(outer.level):
        raise _loosened(
            f"tool `{inner.tool}` is {inner.level}, but its parent says {outer.level}",
            child=inner.origin,
            parent=outer.origin,
        )


def _compare_bounds(outer: Ruling, *, inner: Ruling) -> None:
    for key, operator in _BOUNDS:
        before, after = getattr(outer, key), getattr(inner, key)
        if operator.is_loosened(before, by=after):
            raise _loosened(
                f"`{key} of tool {inner.tool}` is {said(after)}, but its parent's is {said(before)}",
                child=inner.origin,
                parent=outer.origin,
            )


def said(value: object) -> str:
    """Write a part's value for people.

    Args:
        value: A number, a word, or several.
    """
    if isinstance(value, tuple):
        return ", ".join(map(str, cast("tuple[object, ...]", value))) or "nothing"
    return f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def _compare_approvers(outer: Ruling, *, inner: Ruling) -> None:
    if outer.approvers is None or inner.approvers is None:
        return
    wider = sorted(name for name in inner.approvers if not is_among(name, outer.approvers))
    if wider:
        raise _loosened(
            f"tool `{inner.tool}` may be approved by {', '.join(wider)}, whom its parent does not accept",
            child=inner.origin,
            parent=outer.origin,
        )


def _compare_contracts(parent: Layer, *, child: Layer) -> None:
    outer = {spec.name: spec for spec in parent.policy.contracts}
    for spec in child.policy.contracts:
        if spec.name in outer and outer[spec.name] != spec:
            key = f"contracts.{spec.name}"
            raise _loosened(
                f"contract `{spec.name}` differs from its parent's",
                child=child.origin(key),
                parent=parent.origin(key),
            )


def _loosened(what: str, *, child: str, parent: str) -> PolicyLoosened:
    return PolicyLoosened(
        f"{what} at {parent}",
        where=child,
        fix="A policy may only tighten what holds above it: tighten the child or loosen the parent.",
        child=child,
        parent=parent,
    )
