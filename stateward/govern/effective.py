"""The effective policy of a state: the fold of its own and its ancestors' policies, outermost first.

Every limit keeps the scope it hangs on, because it counts what is spent anywhere inside that scope: a fuse of
12 turns on `WORKING` is shared by all states of `WORKING`, and a fuse of 3 on `WORKING.ACT` holds besides it.
What is not counted (levels, timeouts, windows) is folded to one value, the strictest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from pydantic import BaseModel

from stateward.errors import DefinitionError
from stateward.govern.contract import Contracts
from stateward.govern.fingerprint import digest
from stateward.govern.kinds.contract_spec import ContractSpec
from stateward.govern.kinds.data import Data
from stateward.govern.kinds.fuses import COUNTED, DEFAULT_MICROSTEPS, Fuses
from stateward.govern.kinds.models import UNRULED, ModelRule, RoleRule, tightened
from stateward.govern.kinds.pace import Pace
from stateward.govern.kinds.redaction import Redaction
from stateward.govern.kinds.section import tightest
from stateward.govern.kinds.shape import SENSITIVITIES, Sensitivity
from stateward.govern.kinds.timeouts import Timeouts
from stateward.govern.kinds.tools import Group
from stateward.govern.kinds.window import Window
from stateward.govern.layer import Layer, Limit, smallest
from stateward.govern.policy import DEFAULT_MODE, Policy
from stateward.govern.ruling import Ruling
from stateward.govern.tightening import refuse_loosening

NO_POLICY = "no policy"
Counted = tuple[str, str, Limit | None]
"""A scope, a unit, and its limit there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One part of an effective policy, with the place that set it."""

    part: str
    value: object
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowlist:
    """The patterns of one layer for tools that are found at run time."""

    match: tuple[str, ...]
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Separation:
    """Groups of tools of which only one may be used in a scope during one run."""

    groups: tuple[Group, ...]
    scope: str
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Effective:
    """What holds in one state."""

    path: str
    layers: tuple[Layer, ...]
    """The policies on the state and around it, outermost first, those that only observe included."""
    binding: tuple[Layer, ...]
    """Those of them that are in force."""
    mode: str
    """`strict` when any layer is strict, else the innermost layer's mode."""
    limits: tuple[Limit, ...]
    """The limits that count, of all layers and all known tools."""
    rulings: Mapping[str, Ruling]
    """The ruling on each known tool; `level` also answers for unknown ones."""
    timeouts: Timeouts
    window: Window | None
    pace: Pace | None
    data: Data | None
    redact: Redaction | None
    models: tuple[RoleRule, ...]
    discovered: tuple[Allowlist, ...]
    """The lists of which each must name a tool that was found at run time."""
    separations: tuple[Separation, ...]
    microsteps: int
    contracts: tuple[ContractSpec, ...]
    hash: str
    """SHA-256 over the scopes and the hashes of the layers: equal for states under the same policies."""
    trial: Effective | None = None
    """What would hold if the policies that only observe were in force; None if none of them observes."""
    made: Contracts = field(default_factory=Contracts, compare=False, repr=False)
    """The models of the contracts, which states under the same policies share."""
    counted: dict[str | None, tuple[Counted, ...]] = field(default_factory=dict, compare=False, repr=False)
    """Where calls count, by tool, and by None for models: `charge` works it out when it is first asked for."""

    @property
    def call_timeout_s(self) -> float | None:
        """Seconds that one call may take; None if nothing limits them."""
        return self.timeouts.call_timeout_s

    @property
    def scopes(self) -> tuple[str, ...]:
        """The scopes in which a call of this state counts, the chart's own first."""
        return tuple(dict.fromkeys(("", *(layer.scope for layer in self.layers))))

    @property
    def sensitivity(self) -> Sensitivity | None:
        """How sensitive what this state works on is; None if no policy says it."""
        return None if self.data is None else self.data.sensitivity

    def bars(self, cleared: Sensitivity) -> bool:
        """Whether a tool or model may not see what this state works on.

        Args:
            cleared: The most sensitive data that it may see.
        """
        most = self.sensitivity
        return most is not None and SENSITIVITIES.index(cleared) < SENSITIVITIES.index(most)

    def origin_of(self, part: str) -> str:
        """Say where a part of a section was written.

        Args:
            part: The dotted key, such as `data.sensitivity`.

        Returns:
            The place whose value holds; empty if none sets it.
        """
        return next((row.origin for row in _folded_rows(self.binding) if row.part == part), "")

    def model_rule(self, role: str) -> ModelRule:
        """Say what holds for a model role when its provider fails.

        Args:
            role: The role.
        """
        return next((each.rule for each in self.models if each.role == role), UNRULED)

    def level(self, tool: str) -> Ruling:
        """Say how far a tool may be used here.

        Args:
            tool: The tool's name, known when the chart was built or not.

        Returns:
            The strictest ruling of all layers; `allowed` when no layer has a tool section.
        """
        known = self.rulings.get(tool)
        return known if known is not None else _ruling(self.binding, tool=tool)

    def limits_on(self, tool: str) -> tuple[Limit, ...]:
        """List the counts that hold for one tool.

        Args:
            tool: The tool's name.
        """
        if tool in self.rulings:
            return tuple(limit for limit in self.limits if limit.unit == f"calls:{tool}")
        return _tool_limits(self.binding, tool=tool)

    def contract(self, name: str) -> ContractSpec:
        """Find a contract by its name.

        Args:
            name: The contract's name.

        Raises:
            DefinitionError: No policy that binds this state has a contract of this name.
        """
        for spec in self.contracts:
            if spec.name == name:
                return spec
        known = ", ".join(f"`{spec.name}`" for spec in self.contracts) or "none"
        raise DefinitionError(f"no policy has a contract `{name}`", where=self.path, fix=f"Known contracts: {known}.")

    def model_of(self, contract: str) -> type[BaseModel]:
        """Return the model that an output must fit under a contract.

        Args:
            contract: The contract's name.

        Returns:
            A pydantic model whose title names this policy's mode and hash.

        Raises:
            DefinitionError: No policy that binds this state has a contract of this name.
        """
        return self.made.get(self.contract(contract), mode=self.mode, policy_hash=self.hash)

    def explain(self) -> tuple[Row, ...]:
        """List every part of this policy with the place it came from."""
        return tuple(_rows(self))


def effective(
    chain: Sequence[tuple[str, Policy]],
    *,
    path: str,
    tools: Iterable[str] = (),
    made: Contracts | None = None,
    refuse: bool = True,
) -> Effective:
    """Fold the policies that bind a state.

    Args:
        chain: Pairs of a state's path and the policy on it, outermost first; the chart's path is empty.
        path: The path of the state the result is for.
        tools: The names of the known tools, for which loosening is looked for and rulings are prepared.
        made: Where the models of contracts are kept; None for a place of this policy's own.
        refuse: Whether a weaker policy is an error; else the stricter one holds, as for an agent met at run time.

    Returns:
        The effective policy.

    Raises:
        PolicyLoosened: A policy of the chain is weaker than one above it.

    Source:
        DESIGN.md, decision 7.
    """
    layers = tuple(Layer(scope=scope, policy=policy) for scope, policy in chain)
    names = tuple(sorted(set(tools)))
    if refuse:
        refuse_loosening(layers, tools=names)
    binding = tuple(layer for layer in layers if not layer.policy.observe)
    held = replace(_folded(binding, layers=layers, path=path, tools=names), made=made or Contracts())
    if len(binding) == len(layers):
        return held
    return replace(held, trial=_folded(layers, layers=layers, path=path, tools=names))


def effectives(
    chains: Mapping[int, tuple[str, Sequence[tuple[str, Policy]]]],
    *,
    tools: Iterable[str] = (),
    made: Contracts | None = None,
) -> dict[int, Effective]:
    """Fold the policies of many states; states under the same policies share the work.

    Args:
        chains: By state: its path, and the policies that bind it as `effective` takes them.
        tools: The names of the known tools.
        made: Where the models of contracts are kept; None for a place of these states' own.

    Returns:
        The effective policy by state.

    Raises:
        PolicyLoosened: A policy of a chain is weaker than one above it.
    """
    kept, names = Contracts() if made is None else made, tuple(tools)
    folded: dict[tuple[tuple[str, int], ...], Effective] = {}
    found: dict[int, Effective] = {}
    for state, (path, chain) in chains.items():
        key = tuple((scope, id(policy)) for scope, policy in chain)
        if key not in folded:
            folded[key] = effective(chain, path=path, tools=names, made=kept)
        one = folded[key]
        found[state] = replace(one, path=path, trial=one.trial and replace(one.trial, path=path))
    return found


def _folded(binding: Sequence[Layer], *, layers: tuple[Layer, ...], path: str, tools: Sequence[str]) -> Effective:
    policies = [layer.policy for layer in binding]
    fuses = tightest([policy.fuses for policy in policies]) or Fuses()
    return Effective(
        path=path,
        layers=layers,
        mode=_mode(binding),
        limits=_limits(binding, tools=tools),
        rulings={tool: _ruling(binding, tool=tool) for tool in tools},
        timeouts=tightest([policy.timeouts for policy in policies]) or Timeouts(),
        window=tightest([policy.window for policy in policies]),
        pace=tightest([policy.pace for policy in policies]),
        data=tightest([policy.data for policy in policies]),
        redact=tightest([policy.redact for policy in policies]),
        models=reduce(lambda outer, inner: tightened(outer, inner=inner), [policy.models for policy in policies], ()),
        discovered=tuple(_discovered(binding)),
        separations=tuple(_separations(binding)),
        microsteps=fuses.microsteps or DEFAULT_MICROSTEPS,
        contracts=_contracts(layers),  # they are definitions: what names one needs it, whether its policy binds or not
        binding=tuple(binding),
        hash=digest([[layer.scope, layer.policy.hash] for layer in layers]),
    )


def _discovered(layers: Sequence[Layer]) -> Iterator[Allowlist]:
    for layer in layers:
        if layer.policy.tools is not None and layer.policy.tools.discovered is not None:
            yield Allowlist(match=layer.policy.tools.discovered, origin=layer.origin("tools.discovered"))


def _separations(layers: Sequence[Layer]) -> Iterator[Separation]:
    for layer in layers:
        if layer.policy.tools is not None and layer.policy.tools.separate:
            yield Separation(
                groups=layer.policy.tools.separate, scope=layer.scope, origin=layer.origin("tools.separate")
            )


def _mode(layers: Sequence[Layer]) -> str:
    modes = [layer.policy.mode for layer in layers]
    return DEFAULT_MODE if not modes or DEFAULT_MODE in modes else modes[-1]


def _ruling(layers: Sequence[Layer], *, tool: str) -> Ruling:
    found = [ruling for layer in layers if (ruling := layer.ruling(tool)) is not None]
    if not found:
        return Ruling(tool=tool, level="allowed", origin=NO_POLICY, explicit=False)
    return reduce(Ruling.tighten, found)


def _limits(layers: Sequence[Layer], *, tools: Sequence[str]) -> tuple[Limit, ...]:
    counted = [limit for tool in tools for limit in _tool_limits(layers, tool=tool)]
    fuses = [limit for layer in layers for limit in layer.fuse_limits()]
    return smallest(counted + fuses)


def _tool_limits(layers: Sequence[Layer], *, tool: str) -> tuple[Limit, ...]:
    return smallest(limit for layer in layers if (limit := layer.tool_limit(tool)) is not None)


def _contracts(layers: Sequence[Layer]) -> tuple[ContractSpec, ...]:
    return tuple({spec.name: spec for layer in layers for spec in layer.policy.contracts}.values())


def _rows(policy: Effective) -> Iterator[Row]:
    last = policy.binding[-1].origin("mode") if policy.binding else NO_POLICY
    strict = [layer.origin("mode") for layer in policy.binding if layer.policy.mode == policy.mode]
    yield Row(part="mode", value=policy.mode, origin=strict[0] if strict else last)
    for limit in policy.limits:
        yield Row(part=f"limit {limit.unit}", value=limit.value, origin=limit.origin)
    for ruling in policy.rulings.values():
        yield Row(part=f"tool {ruling.tool}", value=ruling.level, origin=ruling.origin)
        yield from _ruling_rows(ruling)
    yield from _default_rows(policy.binding)
    yield from _folded_rows(policy.binding)
    yield from _list_rows(policy)
    yield from _contract_rows(policy.layers)


def _ruling_rows(ruling: Ruling) -> Iterator[Row]:
    said = (
        ("approvers", ruling.approvers),
        ("expires_s", ruling.expires_s),
        ("approvals", ruling.approvals if ruling.approvals > 1 else None),
        ("four_eyes", ruling.four_eyes or None),
        ("cleared", ruling.cleared),
    )
    for part, value in said:
        if value is not None:
            yield Row(part=f"{part} {ruling.tool}", value=value, origin=ruling.origin)
    for each in ruling.arguments:
        yield Row(part=f"argument {ruling.tool}.{each.rule.name}", value=each.rule.content, origin=each.origin)


def _list_rows(policy: Effective) -> Iterator[Row]:
    for allowed in policy.discovered:
        yield Row(part="discovered tools", value=allowed.match, origin=allowed.origin)
    for each in policy.separations:
        groups = tuple(f"{group.name}: {' '.join(group.match)}" for group in each.groups)
        yield Row(part="separate tools", value=groups, origin=each.origin)


def _default_rows(layers: Sequence[Layer]) -> Iterator[Row]:
    """Say what holds for a tool no rule names."""
    for layer in layers:
        if layer.policy.tools is not None:
            yield Row(part="other tools", value=layer.policy.tools.default, origin=layer.origin("tools.default"))


def _folded_rows(layers: Sequence[Layer]) -> Iterator[Row]:
    """Yield each part of each section, with the layer whose value it is."""
    held: dict[str, tuple[Any, Layer]] = {}
    for layer in layers:
        for name, one in layer.policy.parts():
            value, origin = held.get(name, (None, layer))
            now = one.kind.operator.meet(value, one.value)
            held[name] = (now, origin if now == value else layer)
    counted = {f"fuses.{unit}" for unit in COUNTED}
    for name, (value, layer) in held.items():
        if name not in counted:  # these are shown as limits, each with its scope
            yield Row(part=name, value=value, origin=layer.origin(name))


def _contract_rows(layers: Sequence[Layer]) -> Iterator[Row]:
    seen: set[str] = set()
    for layer in layers:
        for spec in layer.policy.contracts:
            if spec.name not in seen:
                seen.add(spec.name)
                fields = tuple(field.name for field in spec.fields)
                yield Row(part=f"contract {spec.name}", value=fields, origin=layer.origin("contracts"))
