"""Where another process finds a function: its module and its name there, as `multiprocessing` has it.

A module that was run as a script is `__main__` here, and in another process only once that has run the same file under
another name.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.spawn import import_main_path
from typing import Any

from stateward.errors import DefinitionError


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a function of a module is."""

    module: str
    name: str
    """With dots, inside of a class."""
    main: str = ""
    """Of a function in `__main__`: the file to run, or the name of the module when it was run by name."""
    by_name: bool = False
    """Whether `main` is a name."""


def address_of(fn: Callable[..., Any], *, what: str) -> Address:
    """Return where another process finds a function.

    Args:
        fn: The function.
        what: Whose it is, for the message.

    Raises:
        DefinitionError: It stands in no module's file: it was made inside another function, or typed into a prompt.
    """
    module: str = getattr(fn, "__module__", None) or ""
    name: str = getattr(fn, "__qualname__", None) or ""
    if not module or not name or "<" in name:
        raise DefinitionError(
            f"{what} is to run in a process of its own, which could not find its function `{name or fn!r}`",
            fix="Define the function at the top of a module.",
        )
    if module != "__main__":
        return Address(module=module, name=name)
    main = sys.modules["__main__"]
    spec, file = getattr(main, "__spec__", None), getattr(main, "__file__", None)
    if spec is None and not os.path.isfile(str(file)):
        raise DefinitionError(
            f"{what} is to run in a process of its own, and its function `{name}` stands in no file",
            fix="Move the function into a module and import it.",
        )
    if spec is not None:
        return Address(module=module, name=name, main=spec.name, by_name=True)
    return Address(module=module, name=name, main=os.path.abspath(str(file)))


def prepare(address: Address) -> None:
    """Make this process know the `__main__` of the one an address comes from.

    Args:
        address: From another process.
    """
    if address.by_name:
        sys.modules["__main__"] = import_module(address.main)
    elif address.main:
        import_main_path(address.main)


def found(address: Address) -> Any:
    """Return what stands at an address; `prepare` comes first.

    Args:
        address: From another process.

    Raises:
        DefinitionError: The module cannot be imported here, or has no such name.
    """
    try:
        here: Any = import_module(address.module)
        for part in address.name.split("."):
            here = getattr(here, part)
    except (ImportError, AttributeError) as missing:
        raise DefinitionError(
            f"The process of the tool does not find `{address.name}` in the module `{address.module}`: {missing}",
            fix="Define the function at the top of a module that can be imported, under the name it is known by there.",
        ) from missing
    return here
