"""The stock of a new shop database: its tables, the orders of a CSV file and the knowledge articles."""

from __future__ import annotations

import csv
import json
import sqlite3
import time
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from datetime import date
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from nodes.support_desk.kb import read_articles
from stateward.errors import ConfigError

Status = Literal["processing", "shipped", "delayed", "delivered", "lost"]
"""processing: not packed. shipped: on its way. delayed: late. delivered: with the customer. lost: gone."""

TABLES = (
    "CREATE TABLE IF NOT EXISTS orders(order_id TEXT PRIMARY KEY, customer TEXT NOT NULL, item TEXT NOT NULL,"
    " amount_cents INTEGER NOT NULL, status TEXT NOT NULL, ordered_at TEXT NOT NULL, eta TEXT NOT NULL,"
    " paid_times INTEGER NOT NULL)",
    "CREATE TABLE IF NOT EXISTS kb(slug TEXT PRIMARY KEY, title TEXT NOT NULL, keywords TEXT NOT NULL,"
    " answers TEXT NOT NULL, text TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS effects(id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL,"
    " tool TEXT NOT NULL, arguments TEXT NOT NULL, result TEXT NOT NULL, at TEXT NOT NULL)",
    "CREATE INDEX IF NOT EXISTS effects_key ON effects(key)",
    "CREATE TABLE IF NOT EXISTS stocked(version INTEGER PRIMARY KEY)",
)
VERSION = 1
TRIES = 200
PAUSE_S = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One order."""

    order_id: str
    customer: str
    item: str
    amount_cents: int
    """The price, paid `paid_times` times."""
    status: Status
    ordered_at: str
    eta: str
    paid_times: int


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid")

    order_id: str = Field(pattern=r"^A-\d{5}$")
    customer: str = Field(pattern="@")
    item: str = Field(min_length=1)
    amount_eur: float = Field(gt=0, allow_inf_nan=False)
    status: Status
    ordered_at: date
    eta: date
    paid_times: int = Field(ge=0)


def read_orders(file: Path) -> tuple[Order, ...]:
    """Read the orders of a CSV file.

    Args:
        file: UTF-8, with the columns of `Order`, the price as `amount_eur`.

    Returns:
        The orders, in the order of the file.

    Raises:
        ConfigError: A row does not fit; the file, line and column are named.
    """
    with file.open(encoding="utf-8-sig", newline="") as stream:
        return tuple(_order(row, place=f"{file}:{line}") for line, row in enumerate(csv.DictReader(stream), 2))


def _order(row: Mapping[str | None, str], *, place: str) -> Order:
    try:
        line = _Line.model_validate(row)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise ConfigError(file=place, key=key, expected=first["msg"], given=first["input"]) from error
    return Order(
        order_id=line.order_id,
        customer=line.customer,
        item=line.item,
        amount_cents=round(line.amount_eur * 100),
        status=line.status,
        ordered_at=line.ordered_at.isoformat(),
        eta=line.eta.isoformat(),
        paid_times=line.paid_times,
    )


def prepare(db: sqlite3.Connection) -> None:
    """Turn on write-ahead logging.

    Args:
        db: A connection in autocommit mode.

    Raises:
        sqlite3.OperationalError: The database stayed locked for about four seconds, or is not writable.
    """
    # SQLite answers a race for the switch at once with "locked", whatever the busy timeout
    for left in range(TRIES, 0, -1):
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if left == 1 or "locked" not in str(error):
                raise
            time.sleep(PAUSE_S)


def fill(db: sqlite3.Connection, *, samples: Path) -> None:
    """Create the tables and load orders and articles, unless that was done before, by whichever process.

    Args:
        db: A connection in autocommit mode.
        samples: The folder with `orders.csv` and `kb/*.md`.

    Raises:
        ConfigError: A file of the samples is not as it must be; the database stays empty.
    """
    db.execute("BEGIN IMMEDIATE")
    try:
        for table in TABLES:
            db.execute(table)
        if db.execute("SELECT 1 FROM stocked").fetchone() is None:
            _load(db, samples=samples)
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _load(db: sqlite3.Connection, *, samples: Path) -> None:
    orders = [astuple(order) for order in read_orders(samples / "orders.csv")]
    db.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?, ?, ?)", orders)
    articles = [
        (a.slug, a.title, a.keywords, json.dumps(dict(a.answers), ensure_ascii=False), a.text)
        for a in read_articles(samples / "kb")
    ]
    db.executemany("INSERT INTO kb VALUES (?, ?, ?, ?, ?)", articles)
    db.execute("INSERT INTO stocked VALUES (?)", (VERSION,))
