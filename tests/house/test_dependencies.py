"""What the package imports is declared, what is declared is used, and all of it is pinned."""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.metadata import packages_distributions

from stateward.picture import engine, png
from tests.house.source import CONTENT, PACKAGE, ROOT, modules

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CARRIED = {"pydantic-core": "pydantic"}
"""Distributions that another one pins to an exact version, so that declaring that one is enough."""

BY_NAME = frozenset({"wordllama"})
"""What the content imports by its name at run time, because it can do without."""

PEERS = {
    "burr": "apache-burr",
    "deepagents": "deepagents",
    "langgraph_supervisor": "langgraph-supervisor",
    "langgraph_swarm": "langgraph-swarm",
    "pydantic_graph": "pydantic-graph",
    "sismic": "sismic",
    "statemachine": "python-statemachine",
    "transitions": "transitions",
    "xstate_statemachine": "xstate-statemachine",
}
"""What the kernel and teams are measured against, and who brings it: the bench extra, which nobody else needs."""

PEER_FILES = ("benchmarks.peers", "benchmarks.team_peers")
"""The files that import them, which are only imported where they are installed."""

HELD = frozenset({"tenacity"})
"""What the bench extra holds at a version for its peers, though nothing imports it."""

WORKSHOP = ("tests", "benchmarks", "notebooks", "docs")
"""Folders that only those who work on the project need."""

DEVELOPERS = frozenset({"basedpyright", "hatchling", "ipykernel", "langgraph-cli", "pytest-xdist", "ruff"})
"""What the dev extra has to run and not to import: Makefile, notebooks and the dev server's test."""


def test_every_import_of_the_package_is_declared() -> None:
    """A third-party module that `stateward` imports belongs to a dependency of the project."""
    assert sorted(imported(PACKAGE) - declared("dependencies") - declared("test")) == []


def test_the_test_extra_is_what_helps_with_tests_and_nothing_else_needs() -> None:
    """Hypothesis and pytest are imported under `stateward/testing` alone, by modules that only their users import."""
    needing = {
        module.name: extra
        for module in modules(PACKAGE)
        if (extra := {name.split(".")[0] for name in module.imports} & declared("test"))
    }
    assert needing.keys() <= {f"stateward.testing.{name}" for name in ("coverage_report", "machine", "walk")}
    assert set().union(*needing.values()) == declared("test")
    assert declared("test") <= declared("dev")


def test_every_dependency_is_imported_by_the_package() -> None:
    """What only the content needs belongs in the desk extra."""
    assert sorted(declared("dependencies") - imported(PACKAGE)) == []


def test_the_desk_extra_is_what_the_content_needs_besides() -> None:
    """`nodes` and `graphs` import the package's dependencies and the desk extra, all of it."""
    needed = imported(*CONTENT) - declared("dependencies") | BY_NAME
    assert (sorted(needed - declared("desk")), sorted(declared("desk") - needed)) == ([], [])


def test_every_import_of_the_tests_is_declared() -> None:
    """Tests, benchmarks, notebooks and drawings import the project's dependencies and the dev extra, all of it."""
    needed = imported(*WORKSHOP) - declared("dependencies") - declared("desk")
    offered = declared("dev") - DEVELOPERS - declared("draw")
    assert (sorted(needed - offered), sorted(offered - needed)) == ([], [])


def test_the_draw_extra_is_what_pictures_look_for() -> None:
    """Its parts are found by name when a picture is drawn, and the dev extra has them, too."""
    assert declared("draw") == {normal(name) for name in (engine.PROGRAM, png.RENDERER, png.FONT)}
    assert declared("draw") <= declared("dev")


def test_the_bench_extra_is_the_peers() -> None:
    """They are imported in files of their own, which are only imported where they are installed."""
    peers = [module for module in modules("benchmarks") if module.name in PEER_FILES]
    tops = {name.split(".")[0] for module in peers for name in module.imports}
    assert {PEERS[top] for top in tops & PEERS.keys()} == declared("bench") - HELD == set(PEERS.values())
    assert tops - PEERS.keys() - sys.stdlib_module_names <= {"benchmarks", "langchain"}


def test_every_dependency_is_pinned() -> None:
    """`constraints.txt` has a version for everything that is declared."""
    pinned = {normal(line.partition("==")[0]) for line in (ROOT / "constraints.txt").read_text().splitlines()}
    every = declared("dependencies") | declared("desk") | declared("dev") | declared("bench")
    assert sorted(every - pinned) == []


def declared(part: str) -> frozenset[str]:
    """Return the names of the dependencies, or of an extra's."""
    listed = PROJECT["dependencies"] if part == "dependencies" else PROJECT["optional-dependencies"][part]
    return frozenset(normal(re.split(r"[^A-Za-z0-9._-]", line)[0]) for line in listed)


def imported(*folders: str) -> frozenset[str]:
    """Return the distributions that hold what the files of folders import."""
    homes = packages_distributions()
    there = [module for module in modules(*folders) if module.name not in PEER_FILES]
    tops = {name for module in there for name in module.imports}
    own = {PACKAGE, *CONTENT, *WORKSHOP}
    found = {home(name, homes.get(name.split(".")[0], [])) for name in tops if name.split(".")[0] not in own}
    return frozenset(found - {""})


def home(module: str, homes: list[str]) -> str:
    """Return the one distribution that brings a module: namespaces like `langgraph` are shared by several."""
    if module.split(".")[0] in sys.stdlib_module_names:
        return ""
    names = sorted({normal(name) for name in homes}, key=len)
    parts = module.split(".")
    for depth in range(len(parts), 0, -1):
        named = normal("-".join(parts[:depth]))
        if named in names:
            return CARRIED.get(named, named)
    assert names, f"no installed distribution brings the module {module}"
    return CARRIED.get(names[0], names[0])


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
