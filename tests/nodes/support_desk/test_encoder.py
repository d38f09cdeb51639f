"""The encoder and its prototypes."""

from __future__ import annotations

import logging
import math
import sys

import pytest

from nodes.support_desk.encoder import Prototypes, Scores, WordLlama, sentences
from stateward.errors import DefinitionError

TEXTS = {
    "login": {"en": ["I cannot sign in, my password fails."], "de": ["Mein Passwort geht nicht."]},
    "parcel": {"en": ["My parcel has not arrived."], "de": ["Mein Paket ist nicht angekommen."]},
}


@pytest.fixture(scope="module")
def encoder() -> WordLlama:
    """The local encoder."""
    return WordLlama.open()


def test_vectors_have_length_one_and_repeat(encoder: WordLlama) -> None:
    """The same text gives the same vector, even an empty one gives numbers."""
    one, two, empty = encoder.encode(["a late parcel", "a late parcel", "  "])
    assert one == two
    assert math.isclose(sum(x * x for x in one), 1.0, rel_tol=1e-5)
    assert all(math.isfinite(x) for x in empty)


def test_the_nearest_prototype_names_the_label_across_languages(encoder: WordLlama) -> None:
    """Each language is moved by its own centre, so that topics are compared and not languages."""
    known = Prototypes.of(TEXTS, encoder=encoder, neighbours=1)
    assert known.scores("the password is refused", lang="en", encoder=encoder).label == "login"
    assert known.scores("Wo ist das Paket?", lang="de", encoder=encoder).label == "parcel"
    assert known.scores("parcel", lang="xx", encoder=encoder).label == "parcel"


def test_the_margin_is_the_lead_over_the_second() -> None:
    """A single label has no rival."""
    assert math.isclose(Scores(ranked=(("a", 0.5), ("b", 0.3))).margin, 0.2)
    assert Scores(ranked=(("a", 0.5),)).margin == 1.0


def test_a_bonus_can_change_the_winner_and_a_label_can_be_left_out() -> None:
    """Cues lift labels; ties go to the first in the alphabet."""
    scores = Scores(ranked=(("b", 0.5), ("a", 0.3)))
    assert scores.lifted({"a": 0.2}).label == "a"
    assert scores.without("b").label == "a"


def test_a_label_without_text_is_a_definition_error(encoder: WordLlama) -> None:
    """Such a label could never be found."""
    with pytest.raises(DefinitionError, match="parcel"):
        Prototypes.of({"login": {"en": ["x"]}, "parcel": {"en": []}}, encoder=encoder, neighbours=1)


def test_sentences_leave_scraps_out() -> None:
    """A text of one sentence is not cut."""
    assert sentences("Hello. My parcel is late! Where is my order?") == ("My parcel is late", "Where is my order.")
    assert sentences("My parcel is late.") == ()


def test_a_missing_package_is_a_definition_error_that_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra the error says what to install."""
    monkeypatch.setitem(sys.modules, "wordllama", None)
    with pytest.raises(DefinitionError, match=r"stateward\[desk\]"):
        WordLlama.open()


def test_opening_leaves_the_root_logger_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package's logging set-up is undone."""
    for name in [name for name in sys.modules if name == "wordllama"]:
        monkeypatch.delitem(sys.modules, name)
    before = (list(logging.getLogger().handlers), logging.getLogger().level)
    WordLlama.open()
    assert (logging.getLogger().handlers, logging.getLogger().level) == before
