"""A run goes on under the policy it began under, although another one is deployed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import stateward as sw
from stateward.errors import Drift
from stateward.migration import akeep, keep
from stateward.run.pinned_policy import policies_in, written
from tests.charts.drive import Driven
from tests.charts.migrated import Drive, desk, migrate, renamed
from tests.charts.tools import Shop


def kept(driven: Driven) -> Driven:
    """The session under its run's own policy, asked for the test's way."""
    session = keep(driven.session) if driven.how == "sync" else asyncio.run(akeep(driven.session))
    return Driven(session, driven.how)


def test_a_run_keeps_the_policy_it_began_under(drive: Drive) -> None:
    """The refund that a person may approve there is forbidden by now."""
    shop = Shop()
    (ask,) = drive(desk(shop)).start({"log": []}).asks
    driven = drive(desk(shop, rules="forbids_refunds"))
    with pytest.raises(Drift, match="policy"):
        driven.resume()
    outcome = kept(driven).answer(ask)
    assert (outcome.status, outcome.values["log"][0], shop.done("refund")) == ("completed", "ok", ["A1"])


def test_each_checkpoint_names_the_policy_that_was_kept(drive: Drive) -> None:
    """What is pinned stays pinned."""
    shop = Shop()
    old = drive(desk(shop))
    (ask,) = old.start({"log": []}).asks
    kept(drive(desk(shop, rules="forbids_refunds"))).answer(ask)
    hashes = {checkpoint.metadata["policy_hash"] for checkpoint in old.checkpoints}
    assert hashes == {old.session.graph.machine.pins.named()["policy_hash"]}


def test_the_next_run_is_under_the_policy_at_hand(drive: Drive) -> None:
    """Only an unfinished run has something to keep."""
    shop = Shop()
    (ask,) = drive(desk(shop)).start({"log": []}).asks
    driven = drive(desk(shop, rules="forbids_refunds"))
    kept(driven).answer(ask)
    again = kept(driven)
    assert (again.session is driven.session, again.start({"log": []}).values["log"][-2]) == (True, "denied")


def test_under_the_same_policy_there_is_nothing_to_keep(drive: Drive) -> None:
    """The session is returned as it is, also before its first run."""
    driven = drive(desk(Shop()))
    assert kept(driven).session is driven.session
    driven.start({"log": []})
    assert kept(driven).session is driven.session


def test_another_chart_cannot_be_kept(drive: Drive) -> None:
    """Its code is not stored; the message names the other way."""
    shop = Shop()
    drive(desk(shop)).start({"log": []})
    with pytest.raises(Drift, match="Only a policy can be kept"):
        kept(drive(renamed(shop)))


def test_policies_that_are_not_stored_cannot_be_kept(drive: Drive, database: Any) -> None:
    """As of a run that began under an older release."""
    shop = Shop()
    drive(desk(shop)).start({"log": []})
    with database.transaction() as cur:
        cur.execute("DELETE FROM stateward_definitions")
    with pytest.raises(Drift, match="not known here"):
        kept(drive(desk(shop, rules="forbids_refunds")))


def test_an_adopted_policy_can_be_kept_later(drive: Drive) -> None:
    """It is stored like that of a start."""
    shop = Shop()
    drive(desk(shop)).start({"log": []})
    migrate(drive(desk(shop, rules="ann_approves_refunds")))
    driven = kept(drive(desk(shop, rules="forbids_refunds")))
    (ask,) = driven.session.outcome().asks
    assert driven.answer(ask).values["log"][0] == "ok"


def test_policies_are_stored_once_however_many_runs_there_are(drive: Drive, database: Any) -> None:
    """Sessions under one policy share its text."""
    shop = Shop()
    for name in ("a", "b", "c"):
        drive(desk(shop), session=name).start({"log": []})
    with database.read() as cur:
        assert cur.execute("SELECT COUNT(*) FROM stateward_definitions").fetchone()[0] == 1


def test_what_is_written_reads_as_it_was() -> None:
    """By the path of its state, with the same hash."""
    machine = desk(Shop()).machine
    found = policies_in(written(machine))
    assert {path: policy.hash for path, policy in found.items()} == {
        layer.scope: layer.policy.hash for policy in machine.effectives.values() for layer in policy.layers
    }


def test_an_encrypted_database_seals_them(url: str) -> None:
    """Who may approve what is not for everybody's eyes."""
    with sw.open(url, keys={"k1": b"1" * 16}) as database:
        graph = desk(Shop())
        sw.Session("s1", graph.attach(database), database).start({"log": []})
        with database.read() as cur:
            (text,) = cur.execute("SELECT text FROM stateward_definitions").fetchone()
        known = database.definitions.find(graph.machine.pins.policy, kind="policy") or ""
        assert ("refund" in text, "refund" in known) == (False, True)
