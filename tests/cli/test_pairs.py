"""Words of the command line that give something to a name."""

from __future__ import annotations

import pytest

from stateward.cli.pairs import json_values, pairs
from stateward.errors import InputRefused


def test_the_first_equals_sign_parts_a_word() -> None:
    """What stands behind it may have more of them, or be nothing."""
    assert pairs(["a=b=c", "d="], option="--state", form="OLD=NEW") == [("a", "b=c"), ("d", "")]


@pytest.mark.parametrize("word", ["word", "=new"])
def test_a_word_that_names_nothing_is_refused(word: str) -> None:
    """The message says which option takes which form."""
    with pytest.raises(InputRefused, match=rf"`{word}` is no OLD=NEW") as refused:
        pairs([word], option="--state", form="OLD=NEW")
    assert refused.value.where == "--state"


def test_a_value_that_is_no_json_is_refused_by_its_key() -> None:
    """A text needs its quotes."""
    assert json_values(['a="b"', "n=1"], option="--update") == {"a": "b", "n": 1}
    with pytest.raises(InputRefused, match="The value of `a` is not JSON"):
        json_values(["a=b"], option="--update")
