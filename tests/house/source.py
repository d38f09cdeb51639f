"""The checkout as the house tests read it: files, syntax trees and imports, nothing is executed."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = "stateward"
CONTENT = ("nodes", "graphs")
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """One Python file."""

    path: Path

    @property
    def place(self) -> str:
        """The path from the root, with forward slashes."""
        return self.path.relative_to(ROOT).as_posix()

    @property
    def name(self) -> str:
        """The dotted name."""
        parts = self.path.relative_to(ROOT).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @cached_property
    def text(self) -> str:
        """The source."""
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree."""
        return ast.parse(self.text, filename=self.place)

    @cached_property
    def imports(self) -> frozenset[str]:
        """Dotted names of what is imported anywhere in it; `from a import b` counts as `a.b` when that is a module."""
        return frozenset(name for node in ast.walk(self.tree) for name in imported(node))


def imported(node: ast.AST) -> Iterator[str]:
    """Yield the modules that an import statement names; nothing for other nodes."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are absolute"
        base = node.module or ""
        for alias in node.names:
            yield f"{base}.{alias.name}" if is_module(f"{base}.{alias.name}") else base


def is_module(name: str) -> bool:
    """Tell whether a dotted name is a file or folder of this checkout."""
    place = ROOT.joinpath(*name.split("."))
    return place.with_suffix(".py").is_file() or place.is_dir()


def modules(*folders: str) -> list[Module]:
    """Return the Python files of folders of the root, in a fixed order."""
    return [Module(path) for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def functions(module: Module) -> Iterator[Function]:
    """Yield every function and method of a file, inner ones included."""
    return (node for node in ast.walk(module.tree) if isinstance(node, Function))


def tracked() -> list[Path]:
    """Return the files that are, or would be, committed."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def report(wrong: Iterable[str] | Mapping[str, object]) -> str:
    """Put what a rule found one below the other, so that a failure shows all of it."""
    lines = [f"{key}: {value}" for key, value in wrong.items()] if isinstance(wrong, Mapping) else sorted(wrong)
    return "\n".join(("", *lines))
