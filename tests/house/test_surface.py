"""What users see: the public names, and a docstring on each that says what it raises."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType

import stateward
from tests.house.source import CONTENT, PACKAGE, Function, Module, modules, report

MOST_NAMES = 25
ALL = modules(PACKAGE, *CONTENT)


@dataclass(frozen=True)
class Public:
    """A public class, function or method."""

    name: str
    doc: str
    raised: frozenset[str]
    """What its own body raises, by the name of the class or of the function that makes it."""


def test_the_public_names_are_few_sorted_and_complete() -> None:
    """`__all__` is what `import stateward as sw` offers, no more and no less."""
    offered = [name for name, value in vars(stateward).items() if name[0] != "_" and not isinstance(value, ModuleType)]
    assert stateward.__all__ == sorted(offered)
    assert len(stateward.__all__) <= MOST_NAMES


def test_every_public_name_is_documented() -> None:
    """Modules, classes, functions and methods: one sentence at least."""
    bare = [f"{module.place}: {public.name}" for module in ALL for public in found(module) if not public.doc]
    assert [module.place for module in ALL if not ast.get_docstring(module.tree)] == []
    assert not bare, report(bare)


def test_what_a_public_function_raises_is_documented() -> None:
    """Whose own body raises has a `Raises:` section that names the exception."""
    silent = {
        f"{module.place}: {public.name}": missing
        for module in ALL
        for public in found(module)
        if (missing := unsaid(public))
    }
    assert not silent, report(silent)


def unsaid(public: Public) -> list[str]:
    """Return what is raised and not named; a lower-case name makes an exception, so the section is enough."""
    _, section, text = public.doc.partition("Raises:")
    return sorted(name for name in public.raised if not section or (name[0].isupper() and name not in text))


def found(module: Module) -> Iterator[Public]:
    for node in module.tree.body:
        if isinstance(node, Function) and is_public(node):
            yield Public(node.name, ast.get_docstring(node) or "", raised(node))
        elif isinstance(node, ast.ClassDef) and node.name[0] != "_":
            yield from of_class(node)


def of_class(node: ast.ClassDef) -> Iterator[Public]:
    methods = [item for item in node.body if isinstance(item, Function)]
    built = frozenset[str]().union(*(raised(item) for item in methods if item.name == "__init__"))
    yield Public(node.name, ast.get_docstring(node) or "", built)
    for item in methods:
        if is_public(item):
            yield Public(f"{node.name}.{item.name}", ast.get_docstring(item) or "", raised(item))


def is_public(node: Function) -> bool:
    setter = any(isinstance(mark, ast.Attribute) and mark.attr == "setter" for mark in node.decorator_list)
    overload = any(isinstance(mark, ast.Name) and mark.id == "overload" for mark in node.decorator_list)
    return node.name[0] != "_" and not setter and not overload


def raised(function: Function) -> frozenset[str]:
    """Return the names behind `raise`; functions inside are not its own body, and `raise` alone hands on."""
    return frozenset(
        name for node in own(function) if isinstance(node, ast.Raise) and node.exc and (name := made_by(node.exc))
    )


def own(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, Function | ast.Lambda):
            yield child
            yield from own(child)


def made_by(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        return made_by(node.func)
    return node.attr if isinstance(node, ast.Attribute) else ast.unparse(node)
