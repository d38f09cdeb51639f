"""Knowledge articles: Markdown files whose head holds search words and one answer for each language."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from stateward.errors import ConfigError

FALLBACK = "general"


@dataclass(frozen=True, slots=True, kw_only=True)
class Article:
    """One knowledge article."""

    slug: str
    title: str
    keywords: str
    answers: Mapping[str, str]
    """The short answer in each language, by language code."""
    text: str
    """The article for the staff, in Markdown."""


class _Head(BaseModel):
    model_config = ConfigDict(extra="forbid")

    title: str
    keywords: str
    answers: dict[str, str]


def read_articles(folder: Path) -> tuple[Article, ...]:
    """Read every article of a folder, in the order of their file names.

    Args:
        folder: Where the `.md` files lie.

    Returns:
        The articles.

    Raises:
        ConfigError: The folder has no article, or an article's head is not as it must be.
    """
    files = sorted(folder.glob("*.md"))
    if not files:
        raise ConfigError(file=str(folder), key="*.md", expected="at least one article", given="none")
    return tuple(_article(file) for file in files)


def _article(file: Path) -> Article:
    before, _, rest = file.read_text(encoding="utf-8").partition("---\n")
    head, mark, text = rest.partition("\n---\n")
    if before or not mark:
        raise ConfigError(file=str(file), key="head", expected="YAML between two lines of `---`", given=before[:40])
    try:
        parsed = _Head.model_validate(yaml.safe_load(head))
    except (ValidationError, yaml.YAMLError) as error:
        raise ConfigError(
            file=str(file), key="head", expected="title, keywords and answers", given=str(error)
        ) from error
    return Article(
        slug=file.stem,
        title=parsed.title,
        keywords=parsed.keywords,
        answers=parsed.answers,
        text=text.strip(),
    )


def best_article(query: str, *, articles: Iterable[Article]) -> Article | None:
    """Find the article whose title and keywords share most with the query; rare words weigh more.

    The order of the articles and of the words plays no part: ties go to the first name in the alphabet.

    Args:
        query: A few words in any language the keywords are written in.
        articles: Where to look.

    Returns:
        The best article, the article `general` when no word is shared, or None when that is missing too.
    """
    known = {article.slug: _words(f"{article.title} {article.keywords}") for article in articles}
    asked = _words(query)
    scores = {slug: sum(_rarity(word, known=known) for word in asked & words) for slug, words in known.items()}
    best = min(scores, key=lambda slug: (-round(scores[slug], 9), slug), default=FALLBACK)
    winner = best if scores.get(best, 0.0) > 0.0 else FALLBACK
    return next((article for article in articles if article.slug == winner), None)


def _rarity(word: str, *, known: Mapping[str, frozenset[str]]) -> float:
    holders = sum(word in words for words in known.values())
    return math.log(1.0 + len(known) / holders)


def _words(text: str) -> frozenset[str]:
    plain = unicodedata.normalize("NFKD", text.casefold())
    letters = "".join(c if c.isalnum() else " " for c in plain if not unicodedata.combining(c))
    return frozenset(word for word in letters.split() if len(word) > 2)
