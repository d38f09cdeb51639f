"""Policies before they are in force: compared, tried on a table of cases, and put under what was recorded.

    from stateward.governance import compare, read_policies, replay_policy, under_policy

docs/policies.md shows them, and what `stateward policy diff`, `test` and `replay` make of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from stateward.analysis import analyse
from stateward.config import load_policy
from stateward.errors import ConfigError, DefinitionError, NotExpected
from stateward.govern.effective import Effective
from stateward.govern.layer import ROOT_LABEL
from stateward.govern.policy import Policy
from stateward.govern.policy_diff import Change, differences
from stateward.govern.policy_replay import Flip as Flip
from stateward.govern.policy_replay import Recorded, Replayed, replayed, undecided
from stateward.govern.policy_test import Tried, tried
from stateward.govern.reach import Reach, reach
from stateward.govern.request import CallKind, CallRequest
from stateward.govern.total import Total
from stateward.policy_table import Row, Table
from stateward.run.graph import ChartGraph
from stateward.run.migration_keep import under
from stateward.run.pinned_policy import stored
from stateward.run.plan import Machine
from stateward.run.recorded_calls import recorded_calls
from stateward.run.state_name import named_state
from stateward.run.store.database import Database

_HASH = re.compile(r"[0-9a-fA-F]{6,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policies:
    """The policies that a word names: one of a file, or all that a run was pinned to."""

    word: str
    by_path: Mapping[str, Policy]
    """By the path of the state that each hangs on; a file's one hangs nowhere yet, under the empty path."""
    is_file: bool

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the policies."""
        return tuple(dict.fromkeys(policy.name for policy in self.by_path.values()))


def read_policies(word: str, *, database: Database | None = None, env: Mapping[str, str] | None = None) -> Policies:
    """Read what a word names.

    Args:
        word: A policy file, a policy's name, either with `@MODE`, or the beginning of a hash that a run was pinned to.
        database: Where hashes are looked up; None for none.
        env: The environment that is laid over a file; None for none.

    Raises:
        ConfigError: The file cannot be read, or has not the mode.
        NotExpected: The database has no such hash, or several begin so.
    """
    name, at, mode = word.rpartition("@")
    name, mode = (name, mode) if at else (word, "")
    if database is None or not _HASH.fullmatch(word) or Path(word).is_file():
        return _of_file(word, name=name, mode=mode, env=env)
    found = stored(database, word)
    if len(found) == 1:
        return Policies(word=word, by_path=next(iter(found.values())), is_file=False)
    where, fix = f"`{database.url}`", "`stateward sessions --json` tells the hashes; give more of one."
    if found:
        raise NotExpected(f"{len(found)} hashes begin with `{word}`", where=where, fix=fix)
    try:
        return _of_file(word, name=name, mode=mode, env=env)  # a name may look like a hash
    except ConfigError as missing:
        raise NotExpected(f"No run was pinned to policies `{word}`", where=where, fix=fix) from missing


def _of_file(word: str, *, name: str, mode: str, env: Mapping[str, str] | None) -> Policies:
    policy = load_policy(name, env=env or {}, overrides=[f"policy.mode={mode}"] if mode else ())
    return Policies(word=word, by_path={"": policy}, is_file=True)


def compare(before: Policies, after: Policies, *, tools: Iterable[str] = ()) -> tuple[Change, ...]:
    """Say what is tighter and what is looser.

    Args:
        before: The older policies.
        after: The newer ones.
        tools: Names of tools to try both on, beside those that their patterns are made of.

    Returns:
        Every part that is not the same; of the policies of two runs with the path of its state.

    Raises:
        NotExpected: A file is compared with a run that was under no policy of its name.
    """
    names = tuple(tools)
    return tuple(
        replace(change, part=f"{place}: {change.part}" if place else change.part)
        for place, old, new in _pairs(before, after)
        for change in differences(old, new, tools=names)
    )


def _pairs(before: Policies, after: Policies) -> Iterator[tuple[str, Policy, Policy]]:
    if before.is_file or after.is_file:
        name = next(iter((before if before.is_file else after).names))
        yield "", _called(before, name), _called(after, name)
        return
    for path in dict.fromkeys((*before.by_path, *after.by_path)):
        nothing = Policy(name="none")
        pair = before.by_path.get(path, nothing), after.by_path.get(path, nothing)
        yield (path or ROOT_LABEL, *pair)


def _called(policies: Policies, name: str) -> Policy:
    """The policy of a name; a file has only one."""
    found = [policy for policy in policies.by_path.values() if policies.is_file or policy.name == name]
    if not found:
        raise NotExpected(
            f"The runs of `{policies.word}` were under no policy `{name}`",
            fix=f"Compare with one of: {', '.join(policies.names)}.",
        )
    return found[0]


def under_policy(graph: ChartGraph, policy: Policy, *, instead_of: str | None = None) -> ChartGraph:
    """Put another policy into a graph, in the place of one it has.

    Args:
        graph: The graph.
        policy: The other policy.
        instead_of: The name of the policy it stands in for; None for the one of its own name, or the only one.

    Returns:
        The graph under that policy, the same otherwise.

    Raises:
        DefinitionError: The graph has no policy of that name.
        PolicyLoosened: It would loosen what holds around it.
    """
    placed = placed_policies(graph.machine)
    name = _replaced(graph.machine, policy, instead_of=instead_of)
    if name not in (names := {each.name for each in placed.values()}):
        raise DefinitionError(
            f"`{graph.machine.name}` has no policy `{name}`",
            fix=f"Say in whose place it stands (`--for NAME`): {', '.join(sorted(names)) or 'it has none'}.",
        )
    return under(graph, {path: policy if each.name == name else each for path, each in placed.items()})


def _replaced(machine: Machine, policy: Policy, *, instead_of: str | None) -> str:
    names = sorted({each.name for each in placed_policies(machine).values()})
    return instead_of or (policy.name if policy.name in names or len(names) != 1 else names[0])


def may_replace(machine: Machine, policy: Policy, *, instead_of: str | None = None) -> bool:
    """Whether a chart has a policy that another one can stand in for.

    Args:
        machine: The lowered chart.
        policy: The other policy.
        instead_of: See `under_policy`.
    """
    name = _replaced(machine, policy, instead_of=instead_of)
    return any(each.name == name for each in placed_policies(machine).values())


def placed_policies(machine: Machine) -> Mapping[str, Policy]:
    """Return the policies of a chart, by the path of the state that each hangs on.

    Args:
        machine: The lowered chart.
    """
    return {layer.scope: layer.policy for policy in machine.effectives.values() for layer in policy.layers}


def compare_reach(
    graph: ChartGraph, before: Policies, after: Policies, *, instead_of: str | None = None
) -> tuple[Reach, ...]:
    """Say what one run of a graph can reach in total under two policies.

    Args:
        graph: The graph.
        before: The older policies.
        after: The newer ones.
        instead_of: The name of the graph's policy that a file stands in for.

    Returns:
        Calls, model calls, money and sums of arguments, each with a shortest way to the most.

    Raises:
        DefinitionError: The graph has no policy of a file's name.
        PolicyLoosened: A policy would loosen what holds around it.
    """
    one, other = (_under(graph, each, instead_of=instead_of).machine for each in (before, after))
    return reach(_totals(one), _totals(other))


def _under(graph: ChartGraph, policies: Policies, *, instead_of: str | None) -> ChartGraph:
    if policies.is_file:
        return under_policy(graph, policies.by_path[""], instead_of=instead_of)
    return under(graph, policies.by_path)


def _totals(machine: Machine) -> Sequence[Total]:
    return analyse(
        machine.chart,
        schema=machine.schema.schema,
        effectives=machine.effectives,
        tools=machine.tools,
    ).totals


def try_table(graph: ChartGraph, table: Table) -> tuple[Tried, ...]:
    """Decide about the calls of a table.

    Args:
        graph: The graph, under the policies that are to be tried.
        table: The cases.

    Returns:
        What became of each, in the order of the table.

    Raises:
        ConfigError: A case names a state, tool, model or scope that the graph has not; it names the line.
    """
    machine = graph.machine
    return tuple(_try(machine, row, file=table.file) for row in table.rows)


def _try(machine: Machine, row: Row, *, file: str) -> Tried:
    def wrong(key: str, *, given: object, known: Iterable[str]) -> ConfigError:
        expected = f"one of {', '.join(sorted(known)) or 'none'}"
        return ConfigError(file=f"{file}, line {row.line}", key=key, expected=expected, given=given)

    paths = [machine.chart.nodes[index].path for index in machine.plans]
    try:
        state = named_state(machine.chart, row.state)
    except DefinitionError as unknown:
        raise wrong("state", given=row.state, known=paths) from unknown
    if state not in machine.plans:
        raise wrong("state", given=row.state, known=paths)
    kind: CallKind = "tool" if row.tool is not None else "model"
    known = machine.tools if kind == "tool" else machine.roles
    name = row.tool or row.model or ""
    if name not in known:
        raise wrong(kind, given=name, known=known)
    scopes = {unit.partition("@")[2] for unit in row.spent}
    if strange := scopes - {"", *placed_policies(machine)}:
        raise wrong("spent", given=sorted(strange)[0], known=placed_policies(machine))
    arguments, misfit = _arguments(machine, row)
    request = request_of(machine, state, kind=kind, name=name, arguments=arguments, usd=row.usd, tokens=row.tokens)
    return tried(machine.effectives[state], case=row.case(request, misfit=misfit))


def _arguments(machine: Machine, row: Row) -> tuple[Mapping[str, object], str]:
    """The arguments as the tool takes them, and why it would not; those that are not given are not looked at."""
    if row.tool is None or row.arguments is None:
        return row.arguments or {}, ""
    tool = machine.tools[row.tool]
    try:
        return tool.plain(tool.parse(row.arguments)), ""
    except ValueError as misfit:
        return row.arguments, str(misfit)


def request_of(
    machine: Machine,
    state: int,
    *,
    kind: CallKind,
    name: str,
    arguments: Mapping[str, object],
    usd: float | None = 0.0,
    tokens: int | None = 0,
) -> CallRequest:
    """Put a call as the door would ask about it.

    Args:
        machine: The lowered chart.
        state: The state that wants it.
        kind: What it goes to.
        name: The tool, or the model's role.
        arguments: Its arguments.
        usd: The most it can cost; None when no bound is known.
        tokens: The most it can send and get back; None when no bound is known.
    """
    plan = machine.plans[state]
    target = plan.tools.get(name) if kind == "tool" else machine.roles.get(name)
    return CallRequest(
        kind=kind,
        name=name,
        arguments=arguments,
        path=plan.node.path,
        declared=frozenset(plan.tools) if kind == "tool" else frozenset([plan.role] if plan.role else []),
        estimate_usd=usd,
        estimate_tokens=tokens,
        cleared="public" if target is None else target.cleared,
    )


def replay_policy(
    database: Database,
    policy: Policy,
    *,
    graph: Callable[[str], ChartGraph],
    sessions: Iterable[str] | None = None,
    instead_of: str | None = None,
) -> Replayed:
    """Put the recorded calls of sessions under another policy, and say which decisions would have been other ones.

    Args:
        database: Where the sessions are; nothing is written.
        policy: The other policy.
        graph: Gives the graph of a session by its name.
        sessions: The ids of the sessions; None for all whose graph has a policy that it can stand in for.
        instead_of: The name of the policy it stands in for; None for the one of its own name, or the only one.

    Returns:
        How many calls were decided, and the decisions that flip.

    Raises:
        UnknownSession: There is no such session.
        DefinitionError: A graph has no policy of that name.
        PolicyLoosened: It would loosen what holds around it.
    """
    if sessions is None:
        every = database.sessions.list()
        # Where no graph has such a policy, the first one tells so.
        rows = [row for row in every if may_replace(graph(row.graph).machine, policy, instead_of=instead_of)] or every
    else:
        rows = [database.sessions.get(each) for each in sessions]
    machines: dict[str, Machine] = {}
    parts: list[Replayed] = []
    calls: list[Recorded] = []
    for row in rows:
        if row.graph not in machines:
            machines[row.graph] = under_policy(graph(row.graph), policy, instead_of=instead_of).machine
        machine = machines[row.graph]
        found = recorded_calls(database, row.id, roles=machine.roles)
        calls += found
        parts.append(_replay(found, machine))
    return Replayed(
        calls=sum(part.calls for part in parts),
        flips=tuple(flip for part in parts for flip in part.flips),
        strange=tuple(dict.fromkeys(path for part in parts for path in part.strange)),
        undecided=tuple(undecided(policy, calls=calls)),
    )


def _replay(calls: Iterable[Recorded], machine: Machine) -> Replayed:
    def place(path: str) -> int | None:
        """A nested agent is bound by the state around it."""
        found = machine.chart.by_path.get(path.partition("/")[0])
        return found if found in machine.plans else None

    def effective(path: str) -> Effective | None:
        found = place(path)
        return None if found is None else machine.effectives[found]

    def request(call: Recorded) -> CallRequest:
        state = place(call.path)
        assert state is not None  # `effective` was asked before
        asked = request_of(
            machine,
            state,
            kind=call.kind,
            name=call.name,
            arguments=call.arguments,
            usd=call.usd,
            tokens=call.tokens,
        )
        # A model call comes to the door under the role that was asked for, whatever the state declares.
        declared = frozenset([call.name]) if call.kind == "model" else asked.declared
        return replace(asked, path=call.path, declared=declared)

    return replayed(calls, effective=effective, request=request)
