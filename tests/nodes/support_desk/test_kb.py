"""Knowledge articles: how they are read and found."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodes.support_desk.kb import best_article, read_articles
from stateward.errors import ConfigError


@pytest.mark.parametrize(
    ("query", "slug"),
    [
        ("Do you ship to Norway, and what does it cost?", "shipping"),
        ("charged twice double charge", "double-charges"),
        ("Rechnung mit Umsatzsteuer", "invoices"),
        ("RÜCKGABE", "returns"),
        ("zzz", "general"),
        ("", "general"),
    ],
)
def test_a_query_finds_the_article_that_shares_most_with_it(samples: Path, query: str, slug: str) -> None:
    """Words of several languages lead to an article; none leads to the general one."""
    article = best_article(query, articles=read_articles(samples / "kb"))
    assert article is not None
    assert article.slug == slug


def test_the_order_of_articles_and_words_plays_no_part(samples: Path) -> None:
    """The search is deterministic."""
    articles = read_articles(samples / "kb")
    one = best_article("refund money late parcel", articles=articles)
    two = best_article("parcel late money refund", articles=tuple(reversed(articles)))
    assert one == two


def test_nothing_is_found_where_nothing_is() -> None:
    """Without articles the answer is None."""
    assert best_article("refund", articles=()) is None


def test_every_article_answers_in_every_language(samples: Path) -> None:
    """The five languages of the desk are complete."""
    articles = read_articles(samples / "kb")
    assert len(articles) >= 10
    assert all(set(article.answers) == {"en", "de", "fr", "es", "it"} for article in articles)


@pytest.mark.parametrize("text", ["no head", "---\ntitle: x\n---\nbody", "---\n: [\n---\nbody"])
def test_a_wrong_head_is_an_error_that_names_the_file(tmp_path: Path, text: str) -> None:
    """An article that cannot be read stops the loading."""
    (tmp_path / "a.md").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"a\.md"):
        read_articles(tmp_path)


def test_a_folder_without_articles_is_an_error(tmp_path: Path) -> None:
    """An empty folder is refused."""
    with pytest.raises(ConfigError, match="at least one article"):
        read_articles(tmp_path)
