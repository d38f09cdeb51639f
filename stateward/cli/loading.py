"""From the word GRAPH to a graph: by its name in `langgraph.json`, or as `module:attribute`."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from langgraph.graph.state import CompiledStateGraph

from stateward.errors import DefinitionError
from stateward.job import Job
from stateward.run.graph import ChartGraph

MANIFEST = "langgraph.json"
AnyGraph = CompiledStateGraph[Any, Any, Any, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A graph and the module it came from."""

    graph: ChartGraph
    module: ModuleType
    overrides: tuple[str, ...]

    def job(self) -> Job[Any] | None:  # the item's type is the job's own affair
        """Make the module's job, or return None when it has none."""
        make = getattr(self.module, "job", None)
        return None if make is None else make(overrides=self.overrides)


def load(name: str, *, overrides: Sequence[str] = (), folder: Path | None = None) -> Loaded:
    """Load a graph.

    Args:
        name: A name in `langgraph.json`, or `module:attribute`.
        overrides: Dotted overrides; with any, the module's `build(overrides=…)` makes the graph.
        folder: Where the search for `langgraph.json` begins, upward; the current folder by default.

    Returns:
        The graph and its module.

    Raises:
        DefinitionError: Nothing has this name, the module cannot be imported, or the attribute is no chart's graph.
    """
    module, attribute = _module(name, folder=folder)
    return Loaded(graph=_graph(module, attribute, overrides=overrides), module=module, overrides=tuple(overrides))


def load_around(name: str, *, overrides: Sequence[str] = (), folder: Path | None = None) -> AnyGraph | None:
    """Load a LangGraph graph that is no chart itself: one that has charts as its nodes.

    Args:
        name: A name in `langgraph.json`, or `module:attribute`.
        overrides: Dotted overrides; with any, the module's `build(overrides=…)` makes the graph.
        folder: Where the search for `langgraph.json` begins, upward; the current folder by default.

    Returns:
        The graph; None if it is a chart, or no graph.

    Raises:
        DefinitionError: Nothing has this name, or the module cannot be imported.
    """
    module, attribute = _module(name, folder=folder)
    found = _attribute(module, attribute, overrides=overrides)
    if isinstance(found, ChartGraph) or not isinstance(found, CompiledStateGraph):
        return None
    return cast("AnyGraph", found)


def is_known(name: str, *, folder: Path | None = None) -> bool:
    """Say whether `langgraph.json` has a graph of this name.

    Args:
        name: The name.
        folder: Where the search for `langgraph.json` begins, upward; the current folder by default.
    """
    manifest = _manifest(folder or Path.cwd())
    return manifest is not None and name in _graphs(manifest)


def _module(name: str, *, folder: Path | None) -> tuple[ModuleType, str]:
    """Import the module of a graph; the name of the attribute that holds it stands beside it."""
    manifest = _manifest(folder or Path.cwd())
    address = name if ":" in name else _address(name, manifest)
    module_name, _, attribute = address.partition(":")
    root = manifest.parent if manifest else folder or Path.cwd()
    return _import(module_name, root=root, name=name), attribute


def _manifest(folder: Path) -> Path | None:
    places = (folder, *folder.resolve().parents)
    return next((place / MANIFEST for place in places if (place / MANIFEST).is_file()), None)


def _address(name: str, manifest: Path | None) -> str:
    graphs: Mapping[str, object] = _graphs(manifest) if manifest else {}
    if name not in graphs:
        known = ", ".join(f"`{known}`" for known in sorted(graphs)) or "none"
        raise DefinitionError(
            f"No graph is called `{name}`",
            where=str(manifest or f"no {MANIFEST} from here upward"),
            fix=f"Known graphs: {known}. Or name one as `module:attribute`.",
        )
    given = graphs[name]
    address = given if isinstance(given, str) else _mapping(given).get("path")
    if not isinstance(address, str) or ":" not in address or "/" in address or ".py" in address:
        raise DefinitionError(
            f"Graph `{name}` is {address!r}, expected `module:attribute`",
            where=str(manifest),
            fix="Write it as in `graphs.support_desk:graph`: the path form changes type names in checkpoints.",
        )
    return address


def _graphs(manifest: Path) -> Mapping[str, object]:
    try:
        content: object = json.loads(manifest.read_text(encoding="utf-8"))
    except (OSError, ValueError) as broken:
        raise DefinitionError(f"It cannot be read: {broken}", where=str(manifest), fix="Mend the file.") from broken
    return _mapping(_mapping(content).get("graphs"))


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def _import(module: str, *, root: Path, name: str) -> ModuleType:
    path = str(root.resolve())
    # In front, so that `graphs` and `nodes` are those of this folder and not of some installed package.
    if path not in sys.path:
        sys.path.insert(0, path)
    try:
        return importlib.import_module(module)
    except (ImportError, ValueError) as error:
        raise DefinitionError(
            f"Module `{module}` of graph `{name}` cannot be imported: {error}",
            where=path,
            fix="Run the command in the folder that holds the module, or install what it needs.",
        ) from error


def _attribute(module: ModuleType, attribute: str, *, overrides: Sequence[str]) -> object:
    if overrides:
        build = getattr(module, "build", None)
        if build is None:
            raise DefinitionError(
                "This graph takes no overrides: its module has no `build(overrides=…)`",
                where=module.__name__,
                fix="Leave the overrides out, or give the module a `build`.",
            )
        return cast("object", build(overrides=tuple(overrides)))
    return getattr(module, attribute, None)


def _graph(module: ModuleType, attribute: str, *, overrides: Sequence[str]) -> ChartGraph:
    found = _attribute(module, attribute, overrides=overrides)
    if not isinstance(found, ChartGraph):
        raise DefinitionError(
            f"`{attribute}` is {type(found).__name__}, not a compiled chart",
            where=module.__name__,
            fix="Name the attribute that holds what `Chart.compile` returned.",
        )
    return found
