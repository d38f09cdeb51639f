"""A support desk over databases of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import stateward as sw
from graphs.support_desk import build
from nodes.support_desk.shop import Shop
from nodes.support_desk.state import CaseData, letter_in
from stateward.run.session import Outcome
from stateward.run.store.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Counter:
    """One desk with its shop and database."""

    graph: Any
    database: Database
    shop: Shop

    def write(
        self, text: str, *, session: str = "s-1", customer: str = "tom.ashby@example.com", message: str = "m-1"
    ) -> Outcome:
        """Send a customer's message."""
        case: CaseData = {"id": message, "customer": customer, "name": "Tom", "lang": "en", "received_at": ""}
        return self.session(session).start({"messages": [letter_in(text, case=case)]})

    def session(self, session: str = "s-1") -> sw.Session:
        """Return a session of the desk."""
        return sw.Session(session, self.graph, self.database)


OpenDesk = Callable[..., Counter]


@pytest.fixture
def open_desk(tmp_path: Path) -> Iterator[OpenDesk]:
    """Open desks that share one shop and one database file."""
    opened: list[Database] = []
    shop = Shop(tmp_path / "shop.db")

    def open_one(*overrides: str, models: Any = None) -> Counter:
        graph = build(overrides=(f"config.shop={tmp_path / 'shop.db'}", *overrides), env={}, models=models)
        database = sw.open(f"sqlite:///{tmp_path / 'desk.db'}")
        opened.append(database)
        return Counter(graph=graph.attach(database), database=database, shop=shop)

    yield open_one
    for database in opened:
        database.close()
    shop.close()
