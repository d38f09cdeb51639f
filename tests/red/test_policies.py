"""Attempts to weaken a policy from inside: by a child, a mode, an overlay, a variable, or a name for a name."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import stateward as sw
from stateward.errors import ConfigError, DefinitionError, PolicyLoosened, StatewardError
from stateward.govern.policy import Fuses, Policy, Rule, ToolPolicy
from tests.charts.drive import Driven
from tests.charts.one import One, compiled
from tests.red.world import World, acting, ids, ruled

Drive = Callable[..., Driven]
PARENT = """
version: 1
name: parent
fuses: {calls: 2}
tools:
  rules:
    - {match: act, level: allowed, max_calls: 2}
    - {match: wipe, level: forbidden}
"""
CHILD = """
version: 1
name: child
fuses: {calls: 1}
tools: {rules: [{match: act, level: allowed, max_calls: 1}]}
modes:
  strict: {}
  lenient:
    fuses: {calls: 50}
    tools: {rules: [{match: "act|wipe", level: allowed}]}
"""


def nested(parent: Policy, child: Policy, world: World, do: Any) -> Any:
    """A chart with a policy around a state that has another one."""
    box = [world.tool(effect="pure"), world.tool("wipe")]
    state = sw.State("ACT", do=do, tools=["act", "wipe"], policy=child, to="DONE")
    chart = sw.Chart("nested", One, sw.Superstate("WORK", state, policy=parent), sw.Final("DONE"))
    return chart.compile(tools=box)


async def everything(state: Any, run: sw.Run[Any]) -> Any:
    calls = [{"name": name, "args": {"what": n}} for n in range(9) for name in ("wipe", "act")]
    return {"log": [each.status for each in await run.tools(calls)]}


def read(folder: Path, text: str, **how: Any) -> Policy:
    """Read a policy from a file."""
    (folder / "child.yaml").write_text(text)
    return sw.load_policy(folder / "child.yaml", env=how.pop("env", {}), **how)


OVERLAYS: dict[str, dict[str, Any]] = {
    "mode": {"overrides": ["policy.mode=lenient"]},
    "mode in the environment": {"env": {"STATEWARD_POLICY__MODE": "lenient"}},
    "fuse in the environment": {"env": {"STATEWARD_POLICY__FUSES__CALLS": "50"}},
    "fuse as an override": {"overrides": ["policy.fuses.calls=50"]},
    "fuse of infinity": {"overrides": ["policy.fuses.calls=.inf"]},
    "fuse of NaN": {"overrides": ["policy.fuses.calls=.nan"]},
    "fuse below nothing": {"overrides": ["policy.fuses.calls=-1"]},
    "fuse that is true": {"overrides": ["policy.fuses.calls=true"]},
    "fuse that is null": {"overrides": ["policy.fuses.calls=null"]},
    "level": {"overrides": ["policy.tools.default=allowed"]},
    "level in capitals": {"overrides": ["policy.tools.default=ALLOWED"]},
    "rules": {"overrides": ['policy.tools.rules=[{match: ".*", level: allowed}]']},
    "no tools": {"overrides": ["policy.tools=null"]},
    "observing": {"overrides": ["policy.observe=true"]},
    "interpolation": {"overrides": ["policy.fuses.calls=${oc.env:HOME}"]},
    "unknown key": {"overrides": ["policy.fuses.callz=50"]},
    "another version": {"overrides": ["policy.version=0"]},
    "all at once": {
        "env": {"STATEWARD_POLICY__MODE": "lenient", "STATEWARD_POLICY__FUSES__CALLS": "99"},
        "overrides": ["policy.observe=true", "policy.tools.default=allowed"],
    },
}


@pytest.mark.parametrize("how", ["async"])
@pytest.mark.parametrize("overlay", ids(OVERLAYS))
def test_no_overlay_of_a_child_weakens_its_parent(
    drive: Drive, world: World, tmp_path: Path, overlay: dict[str, Any]
) -> None:
    """The child is refused where it is written or compiled, or the parent holds all the same."""
    parent = read(tmp_path, PARENT)
    with suppress(ConfigError, DefinitionError, PolicyLoosened):
        child = read(tmp_path, CHILD, **overlay)
        drive(nested(parent, child, world, everything)).start({})
    assert len(world.done("act")) <= 2
    assert world.done("wipe") == []


LOOSE: dict[str, Policy] = {
    "larger fuse": Policy(name="child", fuses=Fuses(calls=50)),
    "default allowed": Policy(name="child", tools=ToolPolicy(default="allowed")),
    "tool allowed": ruled("wipe"),
    "tool allowed by a pattern": ruled("(?i)WIPE"),
    "tool allowed by another pattern": ruled("w.{3}"),
    "all allowed": ruled(".*"),
    "more calls": ruled(max_calls=50),
    "observing": replace(ruled(".*"), observe=True),
    "observing with limits": replace(ruled("wipe", "forbidden"), observe=True),
}


@pytest.mark.parametrize("how", ["async"])
@pytest.mark.parametrize("child", ids(LOOSE))
def test_no_child_weakens_its_parent(drive: Drive, world: World, tmp_path: Path, child: Policy) -> None:
    """Neither one that allows more nor one that only observes."""
    with suppress(PolicyLoosened):
        drive(nested(read(tmp_path, PARENT), child, world, everything)).start({})
    assert len(world.done("act")) <= 2
    assert world.done("wipe") == []


def test_a_child_that_observes_does_not_make_its_parent_observe(drive: Drive, world: World, tmp_path: Path) -> None:
    """Nor is it an error: it records, and the parent binds."""
    child = replace(Policy(name="child", fuses=Fuses(calls=1)), observe=True)
    drive(nested(read(tmp_path, PARENT), child, world, everything)).start({})
    assert (len(world.done("act")), world.done("wipe")) == (2, [])


FILES = {
    "key twice": "version: 1\nfuses: {calls: 1}\nfuses: {calls: 50}\n",
    "rule key twice": "version: 1\ntools: {default: forbidden, default: allowed}\n",
    "merge key": "version: 1\nx: &x {calls: 50}\nfuses: {<<: *x}\n",
    "python object": "version: 1\nfuses: !!python/object/apply:os.system ['true']\n",
    "level that is no level": "version: 1\ntools: {default: Allowed}\n",
    "level in a list": "version: 1\ntools: {default: [allowed]}\n",
    "level that is yes": "version: 1\ntools: {default: yes}\n",
    "unknown section": "version: 1\ntool: {default: allowed}\n",
    "two documents": "version: 1\ntools: {default: forbidden}\n---\nversion: 1\ntools: {default: allowed}\n",
    "nothing": "",
    "text": "allowed",
    "list": "- version: 1\n",
    "no version": "tools: {default: allowed}\n",
    "look-ahead": "version: 1\ntools: {rules: [{match: '(?!x).*', level: allowed}]}\n",
    "approvers of nobody": "version: 1\ntools: {rules: [{match: a, level: restricted, approvers: []}]}\n",
    "approver without a name": "version: 1\ntools: {rules: [{match: a, level: restricted, approvers: ['']}]}\n",
    "approvals of nobody": "version: 1\ntools: {rules: [{match: a, level: restricted, approvals: 0}]}\n",
    "two approvals of one": (
        "version: 1\ntools: {rules: [{match: a, level: restricted, approvals: 2, approvers: [ann, Ann]}]}\n"
    ),
    "approvers of what is allowed": "version: 1\ntools: {rules: [{match: a, level: allowed, approvers: [ann]}]}\n",
    "argument without a condition": "version: 1\ntools: {rules: [{match: a, level: allowed, arguments: {x: {}}}]}\n",
    "folder with parents": "version: 1\ntools: {rules: [{match: a, level: allowed, arguments: {x: {under: ../y}}}]}\n",
    "host with a path": "version: 1\ntools: {rules: [{match: a, level: allowed, arguments: {x: {hosts: [a/b]}}}]}\n",
    "timeout of nothing": "version: 1\ncall_timeout_s: 0\n",
    "timeout of infinity": "version: 1\ncall_timeout_s: .inf\n",
}


@pytest.mark.parametrize("text", ids(FILES))
def test_a_file_that_says_something_twice_or_nothing_is_no_policy(tmp_path: Path, text: str) -> None:
    """Unreadable means refused, never free."""
    with pytest.raises(StatewardError):
        read(tmp_path, text)


@pytest.mark.parametrize(
    "taken",
    ids({"tool": ("act", "tool"), "state": ("WORK.ACT", "state"), "state around": ("WORK", "state")}),
)
def test_what_was_revoked_comes_back_by_no_way(drive: Drive, world: World, taken: tuple[str, Any]) -> None:
    """Neither by going on, nor by a new run, nor under another policy."""
    driven = drive(compiled(acting(1), box=[world.tool(effect="pure")]))
    driven.session.database.revocations.add(taken[0], kind=taken[1], by="ann", reason="red")
    driven.start({})
    driven.start({})
    free = drive(compiled(acting(1), box=[world.tool(effect="pure")], policy=ruled(".*")))
    free.start({})
    assert world.effects == []


def test_what_was_revoked_is_not_reached_by_another_name(drive: Drive, world: World) -> None:
    """Only the tool's own name is one; look-alikes are none, and an edit of an approval is no way either."""
    rules = (Rule(match="ask", level="restricted"), Rule(match="act", level="allowed"))
    policy = Policy(name="red", tools=ToolPolicy(rules=rules))
    driven = drive(compiled(acting(1, name="ask"), box=[world.tool("ask"), world.tool()], policy=policy))
    (ask,) = driven.start({}).asks
    driven.session.database.revocations.add("act", kind="tool", by="ann", reason="red")
    driven.session.claim(ask, "edit", by="ann", tool="act", arguments={"what": 1})
    driven.resume()
    assert world.effects == []


def test_a_revocation_is_not_taken_back(drive: Drive, world: World) -> None:
    """The table refuses it."""
    driven = drive(compiled(acting(1), box=[world.tool()]))
    database = driven.session.database
    database.revocations.add("act", kind="tool", by="ann")
    for statement in ("DELETE FROM stateward_revocations", "UPDATE stateward_revocations SET name = 'x'"):
        with pytest.raises(Exception, match=r"."), database.transaction("") as cur:
            cur.execute(statement)
    driven.start({})
    assert world.effects == []
