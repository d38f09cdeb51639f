"""Imports run one way: errors ← chart ← govern ← run ← teams ← façade ← cli, and nodes ← graphs are content on top."""

from __future__ import annotations

import ast
import sys

from tests.house.source import CONTENT, PACKAGE, Module, modules, report

FACADE = frozenset(
    {
        "analysis",
        "ask",
        "config",
        "contracts",
        "discovery",
        "effects",
        "embedding",
        "events",
        "governance",
        "governor",
        "job",
        "machine",
        "migration",
        "model_config",
        "models",
        "opening",
        "policy_table",
        "prices",
        "prompts",
        "properties",
        "replay",
        "simulation",
        "testing",
        "waking",
    }
)
ALLOWED = {
    "errors": frozenset({"errors"}),
    "chart": frozenset({"errors", "chart"}),
    "govern": frozenset({"errors", "chart", "govern"}),
    "run": frozenset({"errors", "chart", "govern", "run"}),
    "picture": frozenset({"errors", "chart", "picture"}),
    "exchange": frozenset({"errors", "chart", "exchange"}),
    "teams": frozenset({"errors", "chart", "govern", "run", "teams"}),
    "façade": frozenset({"errors", "chart", "govern", "run", "teams", "picture", "exchange", "façade"}),
    "cli": frozenset({"errors", "chart", "govern", "run", "teams", "picture", "exchange", "façade", "cli"}),
    "nodes": frozenset({"errors", "govern", "teams", "façade", "nodes"}),
    "graphs": frozenset({"errors", "govern", "teams", "façade", "nodes", "graphs"}),
}
"""What each layer may import of this repository. Content may write policies in code: it sees `govern`, never `run`."""

PURE = {
    "errors": frozenset[str](),
    "chart": frozenset({"pydantic", "typing_extensions"}),
    "govern": frozenset(
        {"jsonschema", "pydantic", "pydantic_core", "orjson", "re2", "rfc8785", "langchain_core", "typing_extensions"}
    ),
    "picture": frozenset[str](),
    "exchange": frozenset[str](),
}
"""What the pure layers may import of others, the standard library apart. LangGraph is in none of them."""

WORLD = frozenset({"asyncio", "datetime", "logging", "os", "random", "socket", "sqlite3", "threading", "time", "uuid"})
"""Standard modules that have a clock, ids, threads or I/O: the pure layers stay away from them."""

ALL = modules(PACKAGE, *CONTENT)


def test_imports_keep_to_the_layers() -> None:
    """A module imports its own layer and the ones below."""
    wrong = [
        f"{module.place} ({layer}) imports {name}; allowed: {', '.join(sorted(ALLOWED[layer]))}"
        for module in ALL
        for layer in [layer_of(module.name)]
        for name in sorted(own(module))
        if layer_of(name) not in ALLOWED[layer]
    ]
    assert not wrong, report(wrong)


def test_every_module_is_in_a_layer() -> None:
    """A new folder or a new file beside the façade is put into `ALLOWED` or `FACADE` on purpose."""
    assert [module.place for module in ALL if layer_of(module.name) not in ALLOWED] == []


def test_the_pure_layers_know_neither_langgraph_nor_the_world() -> None:
    """`chart` and `govern` take values and return values."""
    wrong = [
        f"{module.place} imports {name}; allowed: {', '.join(sorted(PURE[layer]))}"
        for module in ALL
        for layer in [layer_of(module.name)]
        if layer in PURE
        for name in sorted(others(module) & WORLD | (others(module) - PURE[layer] - sys.stdlib_module_names))
    ]
    assert not wrong, report(wrong)


def test_only_config_knows_omegaconf() -> None:
    """Whatever is merged and interpolated comes out of `stateward.config` as a frozen value."""
    assert [module.name for module in ALL if "omegaconf" in others(module)] == ["stateward.config"]


def test_nothing_below_the_facade_reads_the_environment() -> None:
    """`os.environ` and `os.getenv` are read above `run` and `teams`."""
    read = [
        f"{module.place}:{node.lineno}"
        for module in ALL
        if layer_of(module.name) in ("chart", "govern", "run", "teams")
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv")
    ]
    assert not read, report(read)


def test_no_module_imports_itself_through_others() -> None:
    """The module graph has no circle, inside and outside of functions, type checking included."""
    graph = {module.name: own(module) - {module.name} for module in ALL}
    assert circle(graph) == []


def test_imports_stand_at_the_top() -> None:
    """No import hides in a function."""
    hidden = {
        f"{module.place}:{node.lineno}"
        for module in ALL
        for function in ast.walk(module.tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert not hidden, report(hidden)


def layer_of(name: str) -> str:
    """Return the layer of a module: the folder, or the façade for the root and what stands in `FACADE`."""
    top, *rest = name.split(".")
    if top != PACKAGE:
        return top
    return "façade" if not rest or rest[0] in FACADE else rest[0]


def own(module: Module) -> frozenset[str]:
    """Return what a module imports of this repository."""
    return frozenset(name for name in module.imports if name.split(".")[0] in (PACKAGE, *CONTENT))


def others(module: Module) -> frozenset[str]:
    """Return the top names of what it imports from elsewhere."""
    return frozenset(name.split(".")[0] for name in module.imports) - {PACKAGE, *CONTENT}


def circle(graph: dict[str, frozenset[str]]) -> list[str]:
    """Return the modules that are left when those that import none of the rest are taken away again and again."""
    left = dict(graph)
    while done := [name for name, imports in left.items() if not imports & left.keys()]:
        for name in done:
            del left[name]
    return sorted(left)
