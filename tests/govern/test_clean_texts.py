"""What holds nothing is looked at once."""

from __future__ import annotations

from stateward.govern.clean_texts import CleanTexts


class Look:
    """Takes a word out, and tells what it was shown."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def __call__(self, text: str) -> str:
        self.shown.append(text)
        return text.replace("secret", "[redacted]")


def test_a_text_that_holds_nothing_is_looked_at_once() -> None:
    """The second time it comes as it is."""
    texts, look = CleanTexts(), Look()
    assert [texts.cleaned("a prompt", look) for _ in range(3)] == ["a prompt"] * 3
    assert look.shown == ["a prompt"]


def test_a_text_that_holds_something_is_looked_at_each_time() -> None:
    """It is not remembered, and neither is what came of it."""
    texts, look = CleanTexts(), Look()
    assert [texts.cleaned("a secret", look) for _ in range(2)] == ["a [redacted]"] * 2
    assert (len(look.shown), len(texts)) == (2, 0)


def test_so_many_are_remembered() -> None:
    """When there are more, all are looked at again."""
    texts, look = CleanTexts(most=2), Look()
    for text in ("a", "b", "c", "a"):
        texts.cleaned(text, look)
    assert (look.shown, len(texts)) == (["a", "b", "c", "a"], 2)


def test_half_a_pair_of_surrogates_is_a_text_too() -> None:
    """A model may write one."""
    texts = CleanTexts()
    assert [texts.cleaned("\ud800", Look()) for _ in range(2)] == ["\ud800"] * 2
