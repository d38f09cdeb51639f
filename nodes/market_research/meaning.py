"""Search by meaning: the passages of all documents as vectors, and those nearest to a query."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import mul

from nodes.support_desk.encoder import Encoder, Vector

SHORTEST = 40
"""Letters of a paragraph that stands for itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A paragraph of a document."""

    title: str
    url: str
    text: str


class Meaning:
    """Finds passages; each passage is encoded once.

    Args:
        open_encoder: Loads the encoder; called at the first search.
    """

    def __init__(self, open_encoder: Callable[[], Encoder]) -> None:
        self._open = open_encoder
        self._encoder: Encoder | None = None
        self._known: dict[Passage, Vector] = {}
        self._lock = threading.Lock()

    def nearest(self, query: str, *, passages: Sequence[Passage], count: int) -> list[tuple[Passage, float]]:
        """Return the passages nearest to a query, the best of each document, with their scores.

        Args:
            query: What is looked for.
            passages: Where to look.
            count: How many documents, at least 1.
        """
        with self._lock:
            encoder = self._encoder = self._encoder or self._open()
            new = [passage for passage in passages if passage not in self._known]
            self._known.update(
                zip(new, encoder.encode([f"{p.title}: {p.text}" for p in new]), strict=True) if new else ()
            )
            (wanted,) = encoder.encode([query])
            vectors = [self._known[passage] for passage in passages]
        scored = [(p, round(sum(map(mul, wanted, v)), 4)) for p, v in zip(passages, vectors, strict=True)]
        best: dict[str, tuple[Passage, float]] = {}
        for passage, score in sorted(scored, key=lambda pair: (-pair[1], pair[0].url)):
            best.setdefault(passage.url, (passage, score))
        return list(best.values())[:count]


def passages_of(title: str, *, url: str, text: str) -> list[Passage]:
    """Cut a document into its blocks; a scrap goes with what follows.

    Args:
        title: Its title.
        url: Where it is.
        text: Its text.
    """
    found, held = list[Passage](), ""
    for block in text.splitlines():
        held = " ".join(f"{held} {block}".split())
        if len(held) >= SHORTEST:
            found.append(Passage(title=title, url=url, text=held))
            held = ""
    return [*found, Passage(title=title, url=url, text=held)] if held else found
