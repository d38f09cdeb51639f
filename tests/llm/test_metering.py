"""Metering: what the ledger says was taken is what the server counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stateward.govern.policy import Fuses, Policy
from stateward.run.store.database import Database
from tests.charts.drive import Driven
from tests.llm.asking import DOLLARS, WORDS, ask, ask_sync, asking, listen, listen_sync, role, tokens, told
from tests.llm.shim import Shim

pytestmark = pytest.mark.slow
Drive = Callable[..., Driven]
ALL = pytest.mark.parametrize("do", [ask, ask_sync, listen, listen_sync])


@ALL
def test_ledger_has_what_the_server_counted(shim: Shim, drive: Drive, database: Database, do: Any) -> None:
    """In one piece or word by word, awaited or not."""
    done = drive(asking(do, role(shim))).start({})
    assert (done.status, len(shim.asked)) == ("completed", 1)
    assert done.values["text"]
    assert tokens(database) == told(shim)


def test_money_is_tokens_at_their_price(shim: Shim, drive: Drive, database: Database) -> None:
    """Input at one price, output at another."""
    driven = drive(asking(ask, role(shim), policy=Policy(name="p", fuses=Fuses(usd=1.0, tokens=10_000))))
    driven.start({})
    sent, got = told(shim)
    row = driven.session.row()
    assert row is not None
    spent = database.ledger.spent("s1", run=row.run)
    assert spent["WORK", "tokens"] == sent + got
    assert spent["WORK", "usd"] == pytest.approx((sent + 2 * got) * DOLLARS / 1e6, abs=1e-9)


@ALL
def test_limit_of_the_output_is_in_the_request(shim: Shim, drive: Drive, do: Any) -> None:
    """And the server keeps to it."""
    drive(asking(do, role(shim))).start({})
    (asked,) = shim.asked
    assert (asked.get("max_completion_tokens") or asked.get("max_tokens")) == WORDS
    assert told(shim)[1] <= WORDS


@ALL
def test_fuse_trips_before_the_request(shim: Shim, drive: Drive, do: Any) -> None:
    """A call that may take more tokens than are left is not made."""
    policy = Policy(name="p", fuses=Fuses(tokens=WORDS))
    stopped = drive(asking(do, role(shim), policy=policy)).start({})
    assert (stopped.path, shim.asked) == ("HELP", [])
