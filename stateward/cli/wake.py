"""`stateward wake`: the driver that goes on with sessions whose time has come."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated

import typer

from stateward.cli import options
from stateward.cli.driving import drive, is_recorded, run_until_stopped, told
from stateward.cli.loading import load
from stateward.cli.outcome import FAILING
from stateward.cli.place import checked_drift, open_existing
from stateward.cli.rendering import print_json, print_table
from stateward.cli.stop import EXIT_STOPPED, Stop, Stopped
from stateward.errors import SessionBusy
from stateward.migration import akeep
from stateward.run.call import is_held
from stateward.run.conversation import OnDrift
from stateward.run.graph import ChartGraph
from stateward.run.session import Session
from stateward.run.store.database import Database
from stateward.waking import Woken, sleepers

LOOK_S = 0.2
"""How often a watching driver looks whether it is to stop, in seconds."""
_HELP = """Go on with the sessions of a graph whose time has come.

A session waits for a moment when its chart says so with `after` or a
delayed event; `stateward sessions` shows until when. It needs no process
meanwhile: this command goes on with those that are due, with those whose
questions nobody answered in the time that a policy sets, and with those to
which somebody sent an event that nobody took. Sessions that another
process runs are left alone. A run that began under another policy is told
and left as it was, unless --drift keep lets it go on under that one.

Once, for cron; or with --watch until Ctrl-C, looking every second.

Examples:

  stateward wake support_desk
  stateward wake support_desk --watch --every 5
  stateward wake support_desk --drift keep
"""

Told = Callable[[Woken], None]


def add_to(app: typer.Typer) -> None:
    """Add the command.

    Args:
        app: The application.
    """
    app.command("wake", help=_HELP)(_wake)


def _wake(
    graph: options.Graph,
    watch: Annotated[bool, typer.Option("--watch", help="Go on until Ctrl-C.")] = False,
    every: Annotated[
        float, typer.Option("--every", metavar="SECONDS", min=0.05, help="How often to look, with --watch.")
    ] = 1.0,
    concurrency: Annotated[int, typer.Option("--concurrency", min=1, help="Sessions at the same time.")] = 8,
    overrides: options.Overrides = None,
    drift: options.Drift = "refuse",
    db: options.Db = options.DEFAULT_DB,
    as_json: options.AsJson = False,
) -> None:
    with open_existing(db) as database:
        loaded = load(graph, overrides=tuple(overrides or ())).graph.attach(database)
        woken: list[Woken] = []
        show: Told = _as_it_comes(as_json=as_json) if watch else woken.append
        driver = _Driver(graph=loaded, database=database, show=show, limit=concurrency, drift=checked_drift(drift))
        try:
            run_until_stopped(lambda stop: driver.watch(stop, every_s=every) if watch else driver.once(stop))
        except Stopped:
            raise typer.Exit(EXIT_STOPPED) from None
        finally:
            if not watch:
                _show(woken, as_json=as_json)
        raise typer.Exit(1 if driver.failed else 0)


@dataclass(slots=True, kw_only=True)
class _Driver:
    """Goes on with sleepers, several at the same time."""

    graph: ChartGraph
    database: Database
    show: Told
    limit: int
    drift: OnDrift
    failed: bool = False
    _running: dict[str, asyncio.Task[None]] = field(default_factory=dict[str, "asyncio.Task[None]"])
    _given_up: set[str] = field(default_factory=set[str])
    """Sessions that cannot be gone on with; each is told once."""

    async def once(self, stop: Stop) -> None:
        """Go on with all that are due now."""
        due = await self._due()
        places = asyncio.Semaphore(self.limit)

        async def one(session: Session) -> None:
            async with places:
                await self._go_on(session, stop)

        await stop.finish([asyncio.create_task(one(session)) for session in due])
        if stop.requested:
            raise Stopped

    async def watch(self, stop: Stop, *, every_s: float) -> None:
        """Go on with what becomes due, until somebody wants to stop."""
        while not stop.requested:
            for session in await self._due():
                if len(self._running) < self.limit:
                    self._begin(session, stop)
            left_s = every_s
            while left_s > 0 and not stop.requested:
                await asyncio.sleep(min(left_s, LOOK_S))
                left_s -= LOOK_S
        await stop.finish(list(self._running.values()))
        raise Stopped

    async def _due(self) -> list[Session]:
        found = await asyncio.to_thread(sleepers, self.graph, self.database, drift=self.drift)
        return [session for session in found if session.id not in self._running and session.id not in self._given_up]

    def _begin(self, session: Session, stop: Stop) -> None:
        task = asyncio.create_task(self._go_on(session, stop))
        self._running[session.id] = task
        task.add_done_callback(lambda _: self._running.pop(session.id, None))

    async def _go_on(self, session: Session, stop: Stop) -> None:
        try:
            await asyncio.to_thread(session.refuse_strange)
            own = await akeep(session) if self.drift == "keep" else session
            outcome = await drive(own, None, stop=stop)
        except Stopped:
            return
        except Exception as error:  # noqa: BLE001  # it is told, and does not keep the others asleep
            if not (isinstance(error, SessionBusy) and is_held(error, session.id)):
                await self._fails(session, error)
            return
        self.failed = self.failed or outcome.status in FAILING
        self.show(Woken(session=session.id, outcome=outcome))

    async def _fails(self, session: Session, error: Exception) -> None:
        recorded = is_recorded(error)
        if not recorded:
            self._given_up.add(session.id)
        self.failed = True
        outcome = await asyncio.to_thread(session.outcome) if recorded else None
        self.show(Woken(session=session.id, outcome=outcome, error=told(error)))


def _as_it_comes(*, as_json: bool) -> Told:
    def show(woken: Woken) -> None:
        facts = _facts(woken)
        typer.echo(json.dumps(facts, ensure_ascii=False) if as_json else _line(facts))

    return show


def _show(woken: Sequence[Woken], *, as_json: bool) -> None:
    rows = [_facts(one) for one in woken]
    if as_json:
        print_json(rows)
    else:
        print_table(rows, empty="No session is due.")


def _facts(woken: Woken) -> dict[str, object]:
    outcome = woken.outcome
    return {
        "session": woken.session,
        "status": outcome.status if outcome is not None else None,
        "state": outcome.path if outcome is not None else None,
        "wakes_at": outcome.wakes_at if outcome is not None else None,
        "error": woken.error or None,
    }


def _line(facts: dict[str, object]) -> str:
    at = f" in {facts['state']}" if facts["state"] else ""
    error = f": {facts['error']}" if facts["error"] else ""
    return f"{facts['session']}: {facts['status'] or 'left as it was'}{at}{error}"
