"""The effective policy of a state: the fold of its own and its ancestors' policies, outermost first.

Every limit keeps the scope it hangs on, because it counts what is spent anywhere inside that scope: a fuse of
12 turns on `WORKING` is shared by all states of `WORKING`, and a fuse of 3 on `WORKING.ACT` holds besides it.
What is not counted (levels, timeouts, windows) is folded to one value, the strictest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from stateward.errors import DefinitionError
from stateward.govern.fingerprint import digest
from stateward.govern.layer import Layer, Limit
from stateward.govern.policy import DEFAULT_MICROSTEPS, DEFAULT_MODE, ContractSpec, Policy, Window
from stateward.govern.ruling import Ruling
from stateward.govern.tightening import refuse_loosening

NO_POLICY = "no policy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One part of an effective policy, with the place that set it."""

    part: str
    value: object
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Effective:
    """What holds in one state."""

    path: str
    layers: tuple[Layer, ...]
    """The policies that bind the state, outermost first."""
    mode: str
    """`strict` when any layer is strict, else the innermost layer's mode."""
    limits: tuple[Limit, ...]
    """The limits that count, of all layers and all known tools."""
    rulings: Mapping[str, Ruling]
    """The ruling on each known tool; `level` also answers for unknown ones."""
    call_timeout_s: float | None
    window: Window | None
    microsteps: int
    contracts: tuple[ContractSpec, ...]
    hash: str
    """SHA-256 over the scopes and the hashes of the layers: equal for states under the same policies."""

    def level(self, tool: str) -> Ruling:
        """Say how far a tool may be used here.

        Args:
            tool: The tool's name, known when the chart was built or not.

        Returns:
            The strictest ruling of all layers; `allowed` when no layer has a tool section.
        """
        known = self.rulings.get(tool)
        return known if known is not None else _ruling(self.layers, tool=tool)

    def limits_on(self, tool: str) -> tuple[Limit, ...]:
        """List the counts that hold for one tool.

        Args:
            tool: The tool's name.
        """
        if tool in self.rulings:
            return tuple(limit for limit in self.limits if limit.unit == f"calls:{tool}")
        return _tool_limits(self.layers, tool=tool)

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

    def explain(self) -> tuple[Row, ...]:
        """List every part of this policy with the place it came from."""
        return tuple(_rows(self))


def effective(chain: Sequence[tuple[str, Policy]], *, path: str, tools: Iterable[str] = ()) -> Effective:
    """Fold the policies that bind a state.

    Args:
        chain: Pairs of a state's path and the policy on it, outermost first; the chart's path is empty.
        path: The path of the state the result is for.
        tools: The names of the known tools, for which loosening is looked for and rulings are prepared.

    Returns:
        The effective policy.

    Raises:
        PolicyLoosened: A policy of the chain is weaker than one above it.

    Source:
        DESIGN.md, decision 7.
    """
    layers = tuple(Layer(scope=scope, policy=policy) for scope, policy in chain)
    names = tuple(sorted(set(tools)))
    refuse_loosening(layers, tools=names)
    return Effective(
        path=path,
        layers=layers,
        mode=_mode(layers),
        limits=_limits(layers, tools=names),
        rulings={tool: _ruling(layers, tool=tool) for tool in names},
        call_timeout_s=_least(layers, part=_timeout)[0],
        window=_window(layers),
        microsteps=int(_least(layers, part=_microsteps)[0] or DEFAULT_MICROSTEPS),
        contracts=_contracts(layers),
        hash=digest([[layer.scope, layer.policy.hash] for layer in layers]),
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
    return _tightest(counted + fuses)


def _tool_limits(layers: Sequence[Layer], *, tool: str) -> tuple[Limit, ...]:
    found = [limit for layer in layers if (limit := layer.tool_limit(tool)) is not None]
    return _tightest(found)


def _tightest(limits: Iterable[Limit]) -> tuple[Limit, ...]:
    """Keep one limit for each scope and unit, the smallest, in the order of first appearance."""
    kept: dict[tuple[str, str], Limit] = {}
    for limit in limits:
        key = (limit.scope, limit.unit)
        known = kept.get(key)
        kept[key] = limit if known is None or limit.value < known.value else known
    return tuple(kept.values())


def _least(layers: Sequence[Layer], *, part: Callable[[Policy], float | None]) -> tuple[float | None, Layer | None]:
    least: tuple[float | None, Layer | None] = (None, None)
    for layer in layers:
        value = part(layer.policy)
        if value is not None and (least[0] is None or value < least[0]):
            least = (value, layer)
    return least


def _timeout(policy: Policy) -> float | None:
    return policy.call_timeout_s


def _microsteps(policy: Policy) -> float | None:
    return policy.fuses.microsteps


def _window_max(policy: Policy) -> float | None:
    return policy.window and policy.window.max_messages


def _window_keep(policy: Policy) -> float | None:
    return policy.window and policy.window.keep_last


def _window(layers: Sequence[Layer]) -> Window | None:
    most, _ = _least(layers, part=_window_max)
    keep, _ = _least(layers, part=_window_keep)
    return None if most is None or keep is None else Window(max_messages=int(most), keep_last=int(keep))


def _contracts(layers: Sequence[Layer]) -> tuple[ContractSpec, ...]:
    return tuple({spec.name: spec for layer in layers for spec in layer.policy.contracts}.values())


def _rows(policy: Effective) -> Iterator[Row]:
    last = policy.layers[-1].origin("mode") if policy.layers else NO_POLICY
    strict = [layer.origin("mode") for layer in policy.layers if layer.policy.mode == policy.mode]
    yield Row(part="mode", value=policy.mode, origin=strict[0] if strict else last)
    for limit in policy.limits:
        yield Row(part=f"limit {limit.unit}", value=limit.value, origin=limit.origin)
    for ruling in policy.rulings.values():
        yield Row(part=f"tool {ruling.tool}", value=ruling.level, origin=ruling.origin)
        if ruling.approvers is not None:
            yield Row(part=f"approvers {ruling.tool}", value=ruling.approvers, origin=ruling.origin)
        if ruling.expires_s is not None:
            yield Row(part=f"expires_s {ruling.tool}", value=ruling.expires_s, origin=ruling.origin)
    yield from _default_rows(policy.layers)
    yield from _folded_rows(policy.layers)
    yield from _contract_rows(policy.layers)


def _default_rows(layers: Sequence[Layer]) -> Iterator[Row]:
    """Say what holds for a tool no rule names."""
    for layer in layers:
        if layer.policy.tools is not None:
            yield Row(part="other tools", value=layer.policy.tools.default, origin=layer.origin("tools.default"))


def _folded_rows(layers: Sequence[Layer]) -> Iterator[Row]:
    parts = (
        ("call_timeout_s", _timeout),
        ("fuses.microsteps", _microsteps),
        ("window.max_messages", _window_max),
        ("window.keep_last", _window_keep),
    )
    for part, read in parts:
        value, layer = _least(layers, part=read)
        if layer is not None:
            yield Row(part=part, value=value, origin=layer.origin(part))


def _contract_rows(layers: Sequence[Layer]) -> Iterator[Row]:
    seen: set[str] = set()
    for layer in layers:
        for spec in layer.policy.contracts:
            if spec.name not in seen:
                seen.add(spec.name)
                fields = tuple(field.name for field in spec.fields)
                yield Row(part=f"contract {spec.name}", value=fields, origin=layer.origin("contracts"))
