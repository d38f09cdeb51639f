"""The collection that research works on: web pages, documents and patents in a folder, read once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from nodes.market_research.page import read_page
from nodes.market_research.ranking import ranked
from stateward.errors import ConfigError

EXCERPT = 300
"""Letters of a text that a search shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One text of the collection."""

    path: str
    """Where the server has it: `pages/kreisbox.html`."""
    title: str
    text: str
    source: str
    """As it lies in the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """The collection."""

    pages: tuple[Document, ...]
    documents: tuple[Document, ...]
    patents: tuple[Mapping[str, Any], ...]
    """As their files have them: `number`, `title`, `holder`, `year`, `status`, `abstract`."""

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read a folder with `pages/*.html`, `documents/*.md` and `patents/*.json`.

        Args:
            folder: The folder.

        Raises:
            ConfigError: There is nothing to read.
        """
        pages = tuple(_document(file) for file in sorted(folder.glob("pages/*.html")))
        documents = tuple(_document(file) for file in sorted(folder.glob("documents/*.md")))
        patents = tuple(json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("patents/*.json")))
        if not (pages or documents or patents):
            raise ConfigError(file=str(folder), key="library", expected="pages, documents or patents", given=None)
        return cls(pages=pages, documents=documents, patents=patents)

    @property
    def texts(self) -> tuple[Document, ...]:
        """Pages and documents."""
        return (*self.pages, *self.documents)

    @property
    def listed(self) -> tuple[Document, ...]:
        """Those that searches know: a list of links tells nothing."""
        return tuple(each for each in self.texts if not each.path.endswith("/index.html"))

    def search(self, query: str) -> list[tuple[Document, float]]:
        """Return the pages and documents that share words with a query, best first, each with its score.

        Args:
            query: What is looked for.
        """
        texts = self.listed
        return [(texts[place], score) for place, score in ranked(query, texts=[f"{t.title} {t.text}" for t in texts])]

    def find_patents(self, query: str) -> list[Mapping[str, Any]]:
        """Return the patents that share words with a query, best first.

        Args:
            query: What is looked for.
        """
        texts = [f"{patent['title']} {patent['holder']} {patent['abstract']}" for patent in self.patents]
        return [self.patents[place] for place, _ in ranked(query, texts=texts)]


def _document(file: Path) -> Document:
    source = file.read_text(encoding="utf-8")
    title, text = read_page(source)
    return Document(path=f"{file.parent.name}/{file.name}", title=title or file.stem, text=text, source=source)
