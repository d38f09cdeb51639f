"""Drive a session through one of the two ways, so that one test covers both."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

import stateward as sw
from stateward.govern.policy import Policy
from stateward.run.checkpoint import CHANNEL
from stateward.run.session import Outcome, Sent
from stateward.testing import How

POLICIES = Path(__file__).parent / "policies"


def policy(name: str) -> Policy:
    """Load one of the policies beside the charts."""
    return sw.load_policy(name, folder=POLICIES, env={})


@dataclass(frozen=True)
class Driven:
    """A session and the way it is driven."""

    session: sw.Session
    how: How

    def start(self, given: Mapping[str, Any]) -> Outcome:
        if self.how == "sync":
            return self.session.start(given)
        return asyncio.run(self.session.astart(given))

    def resume(self, event: str | None = None, *, data: Mapping[str, Any] | None = None) -> Outcome:
        if self.how == "sync":
            return self.session.resume(event, data=data)
        return asyncio.run(self.session.aresume(event, data=data))

    def tell(self, event: str, *, data: Mapping[str, Any] | None = None, **rest: Any) -> Sent:
        """Send an event as somebody does who does not know whether the session runs."""
        if self.how == "sync":
            return self.session.send(event, data=data, **rest)
        return asyncio.run(self.session.asend(event, data=data, **rest))

    def send(self, given: Any) -> Any:
        """Send anything LangGraph takes, a `Command` for instance."""
        graph, config = self.session.graph, self.session.config
        if self.how == "sync":
            return graph.invoke(given, config)
        return asyncio.run(graph.ainvoke(given, config))

    def answer(self, ask: str, decision: Any = "approve", *, note: str = "") -> Outcome:
        if self.how == "sync":
            self.session.claim(ask, decision, by="ann", note=note)
        else:
            asyncio.run(self.session.aclaim(ask, decision, by="ann", note=note))
        return self.resume()

    def cancel(self, **rest: Any) -> Outcome:
        """Cancel it, from this thread or a loop of its own."""
        given: dict[str, Any] = {"by": "ann", **rest}
        if self.how == "sync":
            return self.session.cancel(**given)
        return asyncio.run(self.session.acancel(**given))

    @contextmanager
    def running(self, given: Mapping[str, Any] | None = None) -> Generator[list[Outcome]]:
        """Run it in a thread, which has ended when the block has; the list gets where it stands then."""
        came: list[Outcome] = []
        # A daemon: when the block raises, nobody may be left to stop it.
        thread = Thread(target=lambda: came.append(self.start(given or {})), daemon=True)
        thread.start()
        yield came
        thread.join()

    @property
    def checkpoints(self) -> list[Any]:
        """The session's checkpoints, oldest first."""
        return list(self.session.graph.get_state_history(self.session.config))[::-1]

    @property
    def control(self) -> dict[str, Any]:
        """The control channel of the latest checkpoint."""
        return self.session.graph.get_state(self.session.config).values[CHANNEL]
