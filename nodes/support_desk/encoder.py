"""The encoder: a small local embedding model, and labels by the prototypes nearest to a text.

The model is wordllama's, whose weights and tokenizer come inside its package: no network, no key. It is the
extra `desk`; it is imported when an encoder is opened, so that everything else works without it.
"""

from __future__ import annotations

import importlib
import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import mul
from pathlib import Path
from typing import Any, Protocol, Self

from stateward.errors import DefinitionError

Vector = tuple[float, ...]
"""One text as numbers, of length 1."""

SENTENCE_ENDS = str.maketrans({"!": ".", "?": ".", "\n": ".", ";": "."})
SHORTEST_SENTENCE = 12


class Encoder(Protocol):
    """Turns texts into vectors that lie near each other when the texts mean alike."""

    def encode(self, texts: Sequence[str]) -> tuple[Vector, ...]:
        """Return one vector of length 1 for each text.

        Args:
            texts: Any texts.
        """
        ...


@dataclass(frozen=True, slots=True)
class WordLlama:
    """The encoder of the package wordllama."""

    _model: Any  # wordllama has no types

    @classmethod
    def open(cls) -> Self:
        """Load the model from the files inside its package.

        Raises:
            DefinitionError: The package, or a file inside it, is missing.
        """
        try:
            package = _import_quietly("wordllama")
            folder = Path(str(package.__file__)).parent
            model = package.WordLlama.load(cache_dir=folder, disable_download=True)
        except (ImportError, FileNotFoundError) as error:
            raise DefinitionError(
                f"The support desk's encoder cannot be loaded: {error}",
                where="nodes.support_desk.encoder",
                fix='Install the extra: pip install "stateward[desk]".',
            ) from error
        return cls(model)

    def encode(self, texts: Sequence[str]) -> tuple[Vector, ...]:
        """Return one vector of length 1 for each text; a text without words gives zeros.

        Args:
            texts: Any texts.
        """
        # an empty text divides by its length, 0, inside the package
        rows = self._model.embed([text if text.strip() else "." for text in texts], norm=True)
        return tuple(tuple(float(x) for x in row) for row in rows)


def _import_quietly(name: str) -> Any:  # the package has no types
    # wordllama configures the root logger when it is imported; that is the application's business
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        return importlib.import_module(name)
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """How near a text is to each label, best first."""

    ranked: tuple[tuple[str, float], ...]

    @property
    def label(self) -> str:
        """The nearest label."""
        return self.ranked[0][0]

    @property
    def margin(self) -> float:
        """How much nearer the best label is than the second, from 0; 1 when there is only one label."""
        return self.ranked[0][1] - self.ranked[1][1] if len(self.ranked) > 1 else 1.0

    def lifted(self, bonus: Mapping[str, float]) -> Scores:
        """Add to the scores of some labels.

        Args:
            bonus: What to add, by label; labels left out get nothing.
        """
        return _ranked({label: score + bonus.get(label, 0.0) for label, score in self.ranked})

    def without(self, label: str) -> Scores:
        """Leave a label out.

        Args:
            label: The label; one that is not there changes nothing.
        """
        return Scores(ranked=tuple(pair for pair in self.ranked if pair[0] != label))


@dataclass(frozen=True, slots=True, kw_only=True)
class Prototypes:
    """Texts that stand for labels, encoded, each moved by the centre of its language.

    Without the move the language itself is what texts have most in common, and a Spanish complaint about a
    login lies nearer to a Spanish one about a parcel than to an English one about a login.
    """

    vectors: Mapping[str, tuple[Vector, ...]]
    centres: Mapping[str, Vector]
    """The mean of all prototypes of a language, by language; that of all languages under the empty text."""
    neighbours: int

    @classmethod
    def of(cls, texts: Mapping[str, Mapping[str, Sequence[str]]], *, encoder: Encoder, neighbours: int) -> Self:
        """Encode prototypes.

        Args:
            texts: For each label, its texts by language.
            encoder: The encoder that will be asked later.
            neighbours: How many of a label's prototypes vote, at least 1.

        Raises:
            DefinitionError: A label has no text.
        """
        empty = sorted(label for label, examples in texts.items() if not any(examples.values()))
        if empty or not texts:
            raise DefinitionError(f"No prototypes for {empty or 'any label'}", fix="Give each label one text or more.")
        encoded = {
            label: [(lang, vector) for lang, group in examples.items() for vector in encoder.encode(group)]
            for label, examples in texts.items()
        }
        centres = _centres([pair for pairs in encoded.values() for pair in pairs])
        return cls(
            vectors={
                label: tuple(_moved(vector, by=centres[lang]) for lang, vector in pairs)
                for label, pairs in encoded.items()
            },
            centres=centres,
            neighbours=neighbours,
        )

    def scores(self, text: str, *, lang: str, encoder: Encoder) -> Scores:
        """Score every label by its nearest prototypes: half for the whole text, half for its best sentence.

        Args:
            text: The text to label.
            lang: Its language; one without prototypes is moved by the centre of all.
            encoder: The encoder the prototypes were encoded with.
        """
        centre = self.centres.get(lang, self.centres[""])
        parts = [_moved(part, by=centre) for part in encoder.encode([text, *sentences(text)])]
        return _ranked({label: self._nearness(label, parts=parts) for label in self.vectors})

    def _nearness(self, label: str, *, parts: Sequence[Vector]) -> float:
        whole, *single = (self._mean_of_nearest(label, vector=part) for part in parts)
        return (whole + max(single, default=whole)) / 2

    def _mean_of_nearest(self, label: str, *, vector: Vector) -> float:
        near = sorted((sum(map(mul, vector, known)) for known in self.vectors[label]), reverse=True)
        voters = near[: self.neighbours]
        return sum(voters) / len(voters)


def _centres(pairs: Sequence[tuple[str, Vector]]) -> Mapping[str, Vector]:
    groups = {lang: [v for other, v in pairs if other == lang] for lang, _ in pairs}
    groups[""] = [vector for _, vector in pairs]
    return {lang: tuple(sum(x) / len(group) for x in zip(*group, strict=True)) for lang, group in groups.items()}


def _moved(vector: Vector, *, by: Vector) -> Vector:
    moved = tuple(x - y for x, y in zip(vector, by, strict=True))
    length = math.sqrt(sum(map(mul, moved, moved)))
    # a language with a single prototype has it as its centre
    return tuple(x / length for x in moved) if length > 1e-9 else vector


def sentences(text: str) -> tuple[str, ...]:
    """Cut a text into its sentences, leaving out scraps.

    Args:
        text: Any text.

    Returns:
        The sentences; none when the text is a single one.
    """
    cut = tuple(s.strip() for s in text.translate(SENTENCE_ENDS).split(". "))
    long = tuple(s for s in cut if len(s) >= SHORTEST_SENTENCE)
    return long if len(long) > 1 else ()


def _ranked(scores: Mapping[str, float]) -> Scores:
    # rounding keeps the order the same on every processor
    order = sorted(scores, key=lambda label: (-round(scores[label], 6), label))
    return Scores(ranked=tuple((label, scores[label]) for label in order))
