"""The three answers of a look-up, and what older look-ups say."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.effects import Completed, SafeToRetry, Unknown
from stateward.run.door.looked import looked


@pytest.mark.parametrize("answer", [Completed("sent"), Completed(None), SafeToRetry(), Unknown("no route")])
def test_an_answer_is_taken_at_its_word(answer: Any) -> None:
    """A call that returned None can be told from one that did not happen."""
    assert looked(answer) is answer


@pytest.mark.parametrize(("found", "answer"), [(None, SafeToRetry()), ("sent", Completed("sent")), (0, Completed(0))])
def test_anything_else_is_a_result_and_none_is_no_call(found: Any, answer: Any) -> None:
    """The short form."""
    assert looked(found) == answer
