"""A document as a compiled LangGraph graph: events are resumed interrupts, the clock's time is a plain call."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command, StateSnapshot
from typing_extensions import TypedDict

from stateward.chart.configuration import Configuration
from stateward.chart.definition import Definition
from stateward.chart.event import Occurrence
from stateward.run.checkpoint import CHANNEL, Control, decode
from stateward.run.graph import ChartGraph
from stateward.run.lower import finish, lower
from stateward.run.store.database import Database
from stateward.run.tables import Tables
from stateward.run.timers import Agenda
from stateward.testing import ManualClock
from tests.conformance.block import KEY, Json
from tests.conformance.document import Document
from tests.conformance.engine import KernelEngine, Pending

How = Literal["sync", "async"]


class SessionState(TypedDict):
    """The state of a compiled document: one key of plain JSON."""

    data: dict[str, Any]


class GraphEngine:
    """A compiled chart over a database.

    Args:
        document: The document.
        session: The session's id, which names the thread.
        database: Where the checkpoints are; it has the session layer's clock.
        how: Through `invoke` or `ainvoke`.
    """

    def __init__(self, document: Document, *, session: str, database: Database, how: How = "sync") -> None:
        self.chart = document.chart
        self._database = database
        self._how = how
        self._config: RunnableConfig = {"configurable": {"thread_id": session}}
        self._graph = compiled(document.chart, database)
        self._values: Mapping[str, Any] = {}

    def start(self, data: Json) -> None:
        """Enter the chart."""
        self._run({KEY: data})

    def tell(self, event: Occurrence) -> None:
        """Take one external event."""
        self._run(Command(resume={"event": event.name, "data": event.data}))

    def fire(self) -> None:
        """Take the events that are due, each as a macrostep of its own."""
        self._run(None)

    def write(self, data: Json) -> None:
        """Change the session's data between two macrosteps."""
        self._graph.update_state(self._config, {KEY: data})
        self._read()

    @property
    def pending(self) -> Sequence[Pending]:
        """The events that are pending, in the order they will be fired."""
        control = self.control
        agenda = Agenda(control.timers, self.chart)
        return [Pending(timer.due, timer.id, timer.event) for timer in agenda.pending]

    @property
    def data(self) -> Json:
        """The session's data."""
        return self._values[KEY]

    @property
    def configuration(self) -> Configuration:
        """Where the chart stands."""
        return self.control.configuration

    @property
    def control(self) -> Control:
        """The control channel, decoded from the JSON it is kept as.

        Raises:
            AssertionError: The run has ended otherwise than the chart says.
        """
        raw = json.loads(json.dumps(self._values[CHANNEL]))
        control = cast(Control, decode(raw, self.chart))
        assert control.status in ("waiting", "completed") or self._forgot(control), (control.status, control.reason)
        return control

    def _forgot(self, control: Control) -> bool:
        """Tell whether a run failed only for an error that was still queued when the chart reached its end.

        SCXML forgets it; a compiled run says so in its status, and stands in the same final state.
        """
        is_final = not self.chart.tables.finals.isdisjoint(control.configuration.active)
        return is_final and control.status == "failed" and str((control.reason or {}).get("event")).startswith("error.")

    def _run(self, given: Any) -> None:  # what LangGraph takes
        if self._how == "sync":
            self._graph.invoke(given, self._config)
        else:
            asyncio.run(self._graph.ainvoke(given, self._config))
        self._read()

    def _read(self) -> None:
        snapshot: StateSnapshot = self._graph.get_state(self._config)
        self._values = snapshot.values


class RestoredEngine(GraphEngine):
    """A compiled chart that is made anew before every call: only the checkpoint is left of what was before.

    The kernel takes the same call, from the configuration decoded from the checkpoint's JSON, and has to agree.

    Args:
        document: The document.
        session: The session's id, which names the thread.
        database: Where the checkpoints are.
        clock: The session layer's clock.
    """

    def __init__(self, document: Document, *, session: str, database: Database, clock: ManualClock) -> None:
        super().__init__(document, session=session, database=database)
        self._document = document
        self._clock = clock

    def tell(self, event: Occurrence) -> None:
        """Take one external event."""
        kernel = self._renewed()
        super().tell(event)
        kernel.tell(event)
        self._agrees(kernel)

    def fire(self) -> None:
        """Take the events that are due."""
        kernel = self._renewed()
        super().fire()
        self._agrees(kernel)

    def _renewed(self) -> KernelEngine:
        document = self._document.again()
        self.chart = document.chart
        self._graph = compiled(document.chart, self._database)
        self._read()
        return KernelEngine.at(
            document.again().chart,
            clock=self._clock,
            configuration=self.configuration,
            data=json.loads(json.dumps(self.data)),
            pending=self.pending,
        )

    def _agrees(self, kernel: KernelEngine) -> None:
        while kernel.pending and kernel.pending[0].due <= self._clock.now() and not kernel.is_final:
            kernel.fire()
        assert kernel.configuration == self.configuration, (kernel.configuration, self.configuration)
        assert kernel.data == self.data


def compiled(chart: Definition, database: Database) -> ChartGraph:
    """Compile a chart to a graph over a database."""
    machine, builder = lower(chart, schema=SessionState, root=None, tools={}, roles={})
    graph = finish(machine, builder, schema=SessionState, tables=Tables(url=None))
    return graph.attach(database)
