"""The shop: a SQLite database of orders and knowledge, and the record of every effect on it.

Each effect is recorded with the idempotency key it came with. The key is *not* the primary key: an effect
that happened twice leaves two rows, so that anyone can count. `create_return` and `issue_refund` are
idempotent: a key that is known gets the first result back and nothing happens. `send_email` and
`delete_account` act every time they are called, as such systems do; before calling again, ask `effect`.
"""

from __future__ import annotations

import json
import math
import sqlite3
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Literal, Self, cast

from nodes.support_desk.kb import Article, best_article
from nodes.support_desk.stock import Order, fill, prepare

SAMPLES = Path(__file__).parents[2] / "samples"

Result = dict[str, object]
"""JSON. A domain error is a result too: it has the keys `error` (a code) and `reason` (a sentence)."""

EffectTool = Literal["create_return", "issue_refund", "send_email", "delete_account"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One effect that happened."""

    id: int
    key: str
    tool: str
    arguments: Mapping[str, object]
    result: Mapping[str, object]
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicate:
    """One idempotency key under which an effect happened more than once."""

    key: str
    tool: str
    count: int


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Shop:
    """The shop database, opened and filled at first use; safe for threads and for several processes.

    Args:
        path: The database file, or `:memory:`.
        samples: The folder with `orders.csv` and `kb/*.md` the database is filled from when it is new.
        clock: Gives the time an effect is recorded with.
    """

    def __init__(self, path: str | Path, *, samples: Path = SAMPLES, clock: Callable[[], str] = _now) -> None:
        self._path = str(path)
        self._samples = samples
        self._clock = clock
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None

    def __enter__(self) -> Self:
        """Return the shop itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the database."""
        self.close()

    def close(self) -> None:
        """Close the connection; the next use opens it again (a `:memory:` shop starts anew)."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def lookup_order(self, order_id: str) -> Result:
        """Return one order with what was refunded or returned, or the error `unknown_order`."""
        with self._reading() as db:
            order = _order(db, order_id)
            return _unknown_order(order_id) if order is None else _described(order, db=db)

    def orders_of(self, email: str) -> list[Result]:
        """Return every order of a customer, oldest number first."""
        with self._reading() as db:
            found = db.execute(
                "SELECT order_id FROM orders WHERE lower(customer) = lower(?) ORDER BY order_id", (email,)
            )
            ids = [str(order_id) for (order_id,) in found.fetchall()]
            return [_described(order, db=db) for order in (_order(db, one) for one in ids) if order]

    def search_kb(self, query: str) -> Result:
        """Return the best article for a query, or the error `no_article`."""
        with self._reading() as db:
            articles = _articles(db)
        article = best_article(query, articles=articles)
        if article is None:
            return _error("no_article", reason=f"No article fits `{query}`.")
        return {"article": article.slug, "title": article.title, "answers": dict(article.answers)}

    def create_return(self, order_id: str, *, reason: str, key: str) -> Result:
        """Create the return of a delivered order, once for each order; idempotent by key."""

        def act(db: sqlite3.Connection) -> Result:
            order = _order(db, order_id)
            if order is None:
                return _unknown_order(order_id)
            if order.status != "delivered":
                return _error("not_delivered", reason=f"`{order_id}` is {order.status}, not delivered.")
            if _return_of(order_id, db=db) is not None:
                return _error("already_returned", reason=f"`{order_id}` has a return already.")
            return {"return_id": f"R-{order_id[2:]}", "order_id": order_id, "item": order.item}

        arguments = {"order_id": order_id, "reason": reason}
        return self._effect("create_return", arguments=arguments, key=key, act=act, idempotent=True)

    def issue_refund(self, order_id: str, *, amount_eur: float, key: str) -> Result:
        """Pay money of an order back, never more than is left of what was paid; idempotent by key.

        Args:
            order_id: The order.
            amount_eur: Euros, more than 0; counted in whole cents.
            key: The idempotency key.
        """

        def act(db: sqlite3.Connection) -> Result:
            order = _order(db, order_id)
            if order is None:
                return _unknown_order(order_id)
            return _refund(order, amount_eur=amount_eur, earlier=_refunds_cents(order_id, db=db))

        arguments: dict[str, object] = {"order_id": order_id, "amount_eur": amount_eur}
        return self._effect("issue_refund", arguments=arguments, key=key, act=act, idempotent=True)

    def send_email(self, to: str, *, subject: str, body: str, key: str) -> Result:
        """Send an e-mail; acts every time it is called."""
        if "@" not in to or any(c in to + subject for c in "\r\n"):
            return _error("bad_address", reason="An address needs `@`, and neither part may hold a line break.")
        arguments = {"to": to, "subject": subject, "body": body}
        sent: Result = {"sent": True, "to": to, "subject": subject}
        return self._effect("send_email", arguments=arguments, key=key, act=lambda db: sent, idempotent=False)

    def delete_account(self, email: str, *, key: str) -> Result:
        """Delete a customer's account; acts every time it is called."""

        def act(db: sqlite3.Connection) -> Result:
            known = db.execute("SELECT 1 FROM orders WHERE lower(customer) = lower(?)", (email,)).fetchone()
            if known is None:
                return _error("unknown_customer", reason=f"No customer has the address `{email}`.")
            return {"deleted": True, "email": email}

        arguments = {"email": email}
        return self._effect("delete_account", arguments=arguments, key=key, act=act, idempotent=False)

    def effect(self, key: str) -> Result | None:
        """Return the result of the first effect under a key, or None when there was none."""
        with self._reading() as db:
            return _first_result(db, key)

    def effects(self) -> tuple[Effect, ...]:
        """Return every effect that happened, in order."""
        with self._reading() as db:
            found = db.execute("SELECT id, key, tool, arguments, result, at FROM effects ORDER BY id").fetchall()
        return tuple(
            Effect(id=i, key=key, tool=tool, arguments=json.loads(given), result=json.loads(result), at=at)
            for i, key, tool, given, result, at in found
        )

    def duplicates(self) -> list[Duplicate]:
        """Return each key under which an effect happened more than once; empty is how it should be."""
        query = "SELECT key, tool, count(*) FROM effects GROUP BY key HAVING count(*) > 1 ORDER BY min(id)"
        return self._repeats(query)

    def repeats(self) -> list[Duplicate]:
        """Return effects with the same tool and arguments under different keys, the first key of each."""
        query = (
            "SELECT min(key), tool, count(*) FROM effects GROUP BY tool, arguments"
            " HAVING count(DISTINCT key) > 1 ORDER BY min(id)"
        )
        return self._repeats(query)

    def _repeats(self, query: str) -> list[Duplicate]:
        with self._reading() as db:
            found = db.execute(query).fetchall()
        return [Duplicate(key=key, tool=tool, count=count) for key, tool, count in found]

    def _effect(
        self,
        tool: EffectTool,
        *,
        arguments: Mapping[str, object],
        key: str,
        act: Callable[[sqlite3.Connection], Result],
        idempotent: bool,
    ) -> Result:
        with self._writing() as db:
            before = _first_result(db, key) if idempotent else None
            if before is not None:
                return before
            result = act(db)
            if "error" not in result:
                row = (key, tool, _json(arguments), json.dumps(result, ensure_ascii=False), self._clock())
                db.execute("INSERT INTO effects(key, tool, arguments, result, at) VALUES (?, ?, ?, ?, ?)", row)
            return result

    @contextmanager
    def _reading(self) -> Generator[sqlite3.Connection]:
        with self._lock:
            if self._connection is None:
                self._connection = self._open()
            yield self._connection

    @contextmanager
    def _writing(self) -> Generator[sqlite3.Connection]:
        with self._reading() as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
            except BaseException:
                db.execute("ROLLBACK")
                raise
            db.execute("COMMIT")

    def _open(self) -> sqlite3.Connection:
        if self._path != ":memory:":
            Path(self._path).parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(self._path, timeout=30.0, isolation_level=None, check_same_thread=False)
        try:
            prepare(db)
            fill(db, samples=self._samples)
        except BaseException:
            db.close()
            raise
        return db


def _order(db: sqlite3.Connection, order_id: str) -> Order | None:
    row = db.execute(
        "SELECT order_id, customer, item, amount_cents, status, ordered_at, eta, paid_times"
        " FROM orders WHERE order_id = ?",
        (order_id,),
    ).fetchone()
    if row is None:
        return None
    order_id, customer, item, amount_cents, status, ordered_at, eta, paid_times = row
    return Order(
        order_id=order_id,
        customer=customer,
        item=item,
        amount_cents=amount_cents,
        status=status,
        ordered_at=ordered_at,
        eta=eta,
        paid_times=paid_times,
    )


def _described(order: Order, *, db: sqlite3.Connection) -> Result:
    facts = asdict(order)
    return {
        **{name: value for name, value in facts.items() if name != "amount_cents"},
        "amount_eur": order.amount_cents / 100,
        "refunded_eur": sum(_refunds_cents(order.order_id, db=db)) / 100,
        "return_id": _return_of(order.order_id, db=db),
    }


def _refund(order: Order, *, amount_eur: float, earlier: tuple[int, ...]) -> Result:
    cents = round(amount_eur * 100) if math.isfinite(amount_eur) else 0
    left = order.amount_cents * order.paid_times - sum(earlier)
    if cents < 1:
        return _error("bad_amount", reason=f"{amount_eur} is not an amount of at least one cent.")
    if cents > left:
        reason = f"`{order.order_id}` has {left / 100:.2f} euros left to refund, not {amount_eur:.2f}."
        return _error("over_paid", reason=reason)
    number = f"F-{order.order_id[2:]}-{len(earlier) + 1}"
    return {"refund_id": number, "order_id": order.order_id, "amount_eur": cents / 100}


def _refunds_cents(order_id: str, *, db: sqlite3.Connection) -> tuple[int, ...]:
    found = db.execute("SELECT result FROM effects WHERE tool = 'issue_refund' ORDER BY id").fetchall()
    results = [json.loads(text) for (text,) in found]
    return tuple(round(result["amount_eur"] * 100) for result in results if result["order_id"] == order_id)


def _return_of(order_id: str, *, db: sqlite3.Connection) -> str | None:
    found = db.execute("SELECT result FROM effects WHERE tool = 'create_return' ORDER BY id").fetchall()
    results = [json.loads(text) for (text,) in found]
    return next((result["return_id"] for result in results if result["order_id"] == order_id), None)


def _articles(db: sqlite3.Connection) -> tuple[Article, ...]:
    found = db.execute("SELECT slug, title, keywords, answers, text FROM kb ORDER BY slug").fetchall()
    return tuple(
        Article(slug=slug, title=title, keywords=keywords, answers=json.loads(answers), text=text)
        for slug, title, keywords, answers, text in found
    )


def _first_result(db: sqlite3.Connection, key: str) -> Result | None:
    row = db.execute("SELECT result FROM effects WHERE key = ? ORDER BY id LIMIT 1", (key,)).fetchone()
    return None if row is None else cast(Result, json.loads(row[0]))


def _json(value: Mapping[str, object]) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False)


def _unknown_order(order_id: str) -> Result:
    return _error("unknown_order", reason=f"No order has the number `{order_id}`.")


def _error(code: str, *, reason: str) -> Result:
    return {"error": code, "reason": reason}
