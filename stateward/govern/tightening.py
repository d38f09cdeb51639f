"""The rule that policies only tighten, checked when a chart is built.

What can be compared is compared: every fuse, the call timeout, the window, the default for other tools, every rule
that names a known tool, and every contract. A tool that is discovered later cannot be checked here; for it the fold in
`effective` takes the strictest ruling all the same, so nothing is ever loosened in fact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stateward.errors import PolicyLoosened
from stateward.govern.layer import Layer
from stateward.govern.ruling import Ruling, rank


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bound:
    part: str
    value: float
    origin: str


def refuse_loosening(layers: Sequence[Layer], *, tools: Sequence[str]) -> None:
    """Refuse a chain of policies in which one is weaker than a policy above it.

    Args:
        layers: The policies, outermost first.
        tools: The names of the known tools.

    Raises:
        PolicyLoosened: An inner policy has a larger limit, timeout or window, a weaker level or default, a wider set of
            approvers or a longer wait for them, or another contract of the same name than an outer one.

    Source:
        DESIGN.md, decision 7.
    """
    for number, child in enumerate(layers):
        for parent in layers[:number]:
            _compare_bounds(parent, child=child, tools=tools)
            _compare_defaults(parent, child=child)
            _compare_rulings(parent, child=child, tools=tools)
            _compare_contracts(parent, child=child)


def _compare_bounds(parent: Layer, *, child: Layer, tools: Sequence[str]) -> None:
    outer = {bound.part: bound for bound in _bounds(parent, tools=tools)}
    for inner in _bounds(child, tools=tools):
        known = outer.get(inner.part)
        if known is not None and inner.value > known.value:
            raise _loosened(
                f"`{inner.part}` is {inner.value:g}, but its parent's is {known.value:g}",
                child=inner.origin,
                parent=known.origin,
            )


def _bounds(layer: Layer, *, tools: Sequence[str]) -> Iterator[_Bound]:
    for limit in layer.fuse_limits():
        yield _Bound(part=f"fuses.{limit.unit}", value=limit.value, origin=limit.origin)
    policy = layer.policy
    window = policy.window
    parts = (
        ("fuses.microsteps", policy.fuses.microsteps),
        ("call_timeout_s", policy.call_timeout_s),
        ("window.max_messages", window and window.max_messages),
        ("window.keep_last", window and window.keep_last),
    )
    for part, value in parts:
        if value is not None:
            yield _Bound(part=part, value=value, origin=layer.origin(part))
    for tool in tools:
        ruling = layer.ruling(tool)
        if ruling is None:
            continue
        for key, value in (("max_calls", ruling.max_calls), ("expires_s", ruling.expires_s)):
            if value is not None:
                yield _Bound(part=f"{key} of tool {tool}", value=value, origin=ruling.origin)


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
        _compare_approvers(outer, inner=inner)


def _compare_levels(outer: Ruling, *, inner: Ruling) -> None:
    if rank(inner.level) < rank(outer.level):
        raise _loosened(
            f"tool `{inner.tool}` is {inner.level}, but its parent says {outer.level}",
            child=inner.origin,
            parent=outer.origin,
        )


def _compare_approvers(outer: Ruling, *, inner: Ruling) -> None:
    if outer.approvers is None or inner.approvers is None:
        return
    wider = sorted(set(inner.approvers) - set(outer.approvers))
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
