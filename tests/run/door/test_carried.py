"""What a governed model takes over from the model behind the door."""

from __future__ import annotations

from typing import Any

import stateward as sw
from stateward.run.door.carried import made_of
from stateward.run.door.model import GovernedModel
from stateward.testing import ScriptedModel
from tests.charts.stand_in import role


def governed(of: sw.ModelRole, *, is_heard: bool = False) -> GovernedModel:
    return made_of(GovernedModel, of, is_heard=is_heard)


def test_a_model_that_was_changed_is_taken_over_anew() -> None:
    """Tags that were set after the first call are seen by the next one."""
    spoken = role("m", ScriptedModel.of())
    before = governed(spoken).tags
    spoken.model.tags = ["late"]
    assert (before, governed(spoken).tags) == (None, ["late"])


def test_two_calls_share_no_governed_model() -> None:
    """Each gets a copy: a door that one is given is not there in the other, nor in what is kept."""
    spoken = role("m", ScriptedModel.of())
    one, other = governed(spoken), governed(spoken)
    one._binders = (lambda model: {},)  # pyright: ignore[reportPrivateUsage]  # nobody sets it from outside
    assert (other._binders, governed(spoken)._binders) == ((), ())  # pyright: ignore[reportPrivateUsage]


def test_a_model_that_is_heard_says_so() -> None:
    """And one of the same role that is not heard does not."""
    spoken = role("m", ScriptedModel.of())
    heard: dict[str, Any] | None = governed(spoken, is_heard=True).metadata
    assert "stateward_governed" in (heard or {})
    assert "stateward_governed" not in (governed(spoken).metadata or {})
