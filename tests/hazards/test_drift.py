"""Drift: a checkpoint knows what made it, and what no longer fits is an error with a way out (HAZARDS 20)."""

from __future__ import annotations

import pytest

from stateward.errors import Drift
from tests.charts.migrated import RENAMED, Drive, desk, migrate, renamed
from tests.charts.tools import Shop


def test_a_renamed_state_does_not_lose_its_question_silently(drive: Drive) -> None:
    """Whatever is done with the session is refused, its question stays open, and the message names the way out."""
    shop = Shop()
    (ask,) = drive(desk(shop)).start({"log": []}).asks
    driven = drive(renamed(shop))
    for way in (driven.resume, lambda: driven.start({"text": "x"}), lambda: driven.session.expect(ask)):
        with pytest.raises(Drift, match="stateward migrate"):
            way()
    assert [one.id for one in driven.session.database.asks.open()] == [ask]


def test_the_way_out_leads_to_the_effect_once(drive: Drive) -> None:
    """Declared, the question is answered under the new name."""
    shop = Shop()
    drive(desk(shop)).start({"log": []})
    driven = drive(renamed(shop))
    migrate(driven, RENAMED)
    (ask,) = driven.session.outcome().asks
    assert (driven.answer(ask).status, shop.effects) == ("completed", [("lookup", "A1"), ("refund", "A1")])
