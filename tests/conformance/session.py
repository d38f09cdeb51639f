"""A session: one document that runs, what it invoked, and what happens when it ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from stateward.chart.configuration import Configuration
from stateward.chart.event import Occurrence
from stateward.errors import StatewardError
from tests.conformance.block import KEY, Block, Json
from tests.conformance.content import Execute, run
from tests.conformance.document import Document
from tests.conformance.engine import Engine

Finalize = tuple[Execute, ...] | None
"""What is done with an event of an invoked session before the chart gets it; None for nothing."""


@dataclass(slots=True, kw_only=True)
class Invoked:
    """One invocation. Source: SCXML 6.4."""

    session: Session
    state: int
    activation: int
    """Which entry of the state it belongs to."""
    forwards: bool
    """Whether the invoked session gets a copy of every external event."""
    finalize: Finalize


@dataclass(slots=True, kw_only=True, eq=False)
class Session:
    """One document that runs."""

    id: str
    document: Document
    engine: Engine
    parent: Session | None = None
    invoked_as: str = ""
    """The id of its invocation."""
    invoked: dict[str, Invoked] = field(default_factory=dict[str, Invoked])
    """What it invoked, by id, until the session knows of the end."""
    known: dict[int, int] = field(default_factory=dict[int, int])
    """Per state with `<invoke>`: the entry whose invocations were made."""
    ended: bool = False
    sent: int = 0
    """How many messages of its outbox were sent."""

    @property
    def configuration(self) -> Configuration:
        """Where its chart stands."""
        return self.engine.configuration

    @property
    def active(self) -> frozenset[str]:
        """The ids of the active states."""
        return frozenset(self.document.ids[state] for state in self.configuration.active)

    def paths(self) -> frozenset[str]:
        """Return the paths of the active states."""
        nodes = self.document.chart.nodes
        return frozenset(nodes[state].path for state in self.configuration.active)

    @property
    def atoms(self) -> list[str]:
        """The ids of the active states without states inside, sorted."""
        return sorted(self.document.ids[state] for state in self.configuration.atomic(self.document.chart))

    @property
    def is_final(self) -> bool:
        """Whether the chart has reached its end."""
        return not self.document.chart.tables.finals.isdisjoint(self.configuration.active)

    def mail(self) -> list[Json]:
        """Return the messages to other sessions that were not sent yet, each once."""
        fresh = self.engine.data["outbox"][self.sent :]
        self.sent += len(fresh)
        return fresh

    def block(self, event: Occurrence | None = None) -> Block:
        """Open a block on the data between two macrosteps."""
        return Block.of(
            self.document.language, self.engine.data, event=event, active=self.active, ids=self.document.setting.ids
        )

    def finalize(self, invoked: Invoked, event: Occurrence) -> None:
        """Run what is to be done with an event of an invoked session before the chart gets it. Source: SCXML 6.5."""
        if invoked.finalize is not None:
            block = self.block(event)
            run(invoked.finalize, block)
            self.engine.write(block.closed())

    def exit(self) -> Json:
        """Run the exit actions of the states that are active at the end; return the data they leave.

        The kernel keeps the final state active, so that a checkpoint shows the end. Source: SCXML appendix D,
        exitInterpreter.
        """
        data, chart = self.engine.data, self.document.chart
        for state in reversed(self.configuration.active):
            for action in chart.nodes[state].exit:
                told: Any = action.fn({KEY: data}, None, active=self.paths)
                data = told[0][KEY]
        return data

    def output(self) -> object:
        """Return the data of the final state at the top, as JSON; None if there are none, or they fail."""
        chart = self.document.chart
        final = next(state for state in self.configuration.active if state in chart.tables.finals)
        data = chart.nodes[final].data
        try:
            return data({KEY: self.engine.data}, None, active=self.paths) if data else None
        except StatewardError:
            raise
        except Exception:  # noqa: BLE001 - the chart has got the error already, when it entered the state
            return None
