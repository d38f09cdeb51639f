"""Where the paths of a call lead: the work directory of its session, and what brings a path to what it names."""

from __future__ import annotations

import posixpath
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import unquote

from stateward.govern.person import UNSEEN

_ODD = UNSEEN | {"Cs"}
"""Classes of letters that nobody sees, and of lone surrogates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The work directory of a session, as one call sees it."""

    folder: str = "/desk"
    """Absolute; relative paths are meant from here. Empty if `resolve` knows where they are meant from."""
    resolve: Callable[[str], str] = posixpath.normpath
    """Brings an absolute path to what it names. On a real file system links are followed; by default, where none is at
    hand, only the text is looked at."""
    _found: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str], compare=False, repr=False)
    """What was placed before: what was checked is what is used, whatever became of the file system since."""

    def placed(self, path: str, *, under: str) -> str:
        """Bring a path to what it names, if that is under a folder.

        Args:
            path: The path; relative to the work directory, if it is not absolute.
            under: The folder, likewise; empty for the work directory itself.

        Returns:
            The absolute path, without links.

        Raises:
            ValueError: It leaves the folder, or could be read in two ways; says why.
        """
        if (path, under) in self._found:
            return self._found[path, under]
        _refuse_odd(path)
        folder = self._real(under)
        # A reader may decode a path, or bring it to another form, before opening it: no reading may leave the folder.
        real = {form: self._real(form) for form in (path, unquote(path), unicodedata.normalize("NFKC", path))}
        if not all(_is_inside(place, folder) for place in real.values()):
            raise ValueError("it leaves that folder")
        return self._found.setdefault((path, under), real[path])

    def _real(self, path: str) -> str:
        try:
            return self.resolve(posixpath.join(self.folder, path))
        except (OSError, ValueError) as wrong:
            raise ValueError(f"nobody can say where it leads ({type(wrong).__name__})") from wrong


def _refuse_odd(path: str) -> None:
    if not path.strip():
        raise ValueError("it is empty")
    if any(unicodedata.category(letter) in _ODD for letter in path):
        raise ValueError("letters that nobody sees stand in it")
    if "\\" in path:
        raise ValueError("a backslash stands in it")
    if path.lstrip().startswith("~"):
        raise ValueError("it begins with `~`")


def _is_inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder if folder.endswith(posixpath.sep) else folder + posixpath.sep)
