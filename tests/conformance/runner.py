"""Runs one test on the bare kernel: the outer loop of SCXML, with a clock that only the test moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal
from xml.etree.ElementTree import Element

from stateward.chart.definition import Action, Definition
from stateward.chart.event import Occurrence
from stateward.chart.step import PlainData, Step, advance, start
from tests.conformance.content import names_of
from tests.conformance.script import NotSupportedError, evaluate
from tests.conformance.scxml import load
from tests.conformance.suite import Case

Verdict = Literal["passed", "failed", "unsupported"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one test."""

    case: Case
    verdict: Verdict
    reason: str = ""


def run(case: Case) -> Outcome:
    """Run a test to its end or its first difference."""
    try:
        difference = _Session(case).play()
    except NotSupportedError as missing:
        return Outcome(case=case, verdict="unsupported", reason=str(missing))
    except Exception as error:  # noqa: BLE001 - it is the outcome
        return Outcome(case=case, verdict="failed", reason=f"{type(error).__name__}: {error}")
    return Outcome(case=case, verdict="failed" if difference else "passed", reason=difference)


class _ScriptData(PlainData):
    """Plain data whose dictionary the content changes in place."""

    def perform(self, action: Action, *, event: Occurrence | None) -> list[Occurrence]:
        try:
            return list(action.fn(self.state, event) or ())  # pyright: ignore
        except NotSupportedError as missing:
            raise _Abort(str(missing)) from missing


class _Abort(BaseException):
    """Carries NotSupportedError past the kernel, which would make an event of it."""


class _Session:
    def __init__(self, case: Case) -> None:
        self.case = case
        self.chart: Definition
        self.chart, elements = load(case.document)
        self.data = _ScriptData({"#active": set(), "#sent": [], "#now": 0.0})
        self.early = [event for element in elements for event in self._declare(element)]

    def play(self) -> str:
        try:
            return self._play()
        except _Abort as missing:
            raise NotSupportedError(str(missing)) from missing

    def _play(self) -> str:
        step = start(self.chart, self.data)
        step = self._with(step, self.early)
        difference = self._compare(step, self.case.script["initialConfiguration"], after="start")
        for event in self.case.script.get("events", ()):
            if difference:
                break
            step = self._settled(step, until=self._now + event.get("after", 0))
            sent = Occurrence(name=event["event"]["name"], data=event["event"].get("data"))
            step = self._with(step, [sent])
            difference = self._compare(step, event["nextConfiguration"], after=sent.name)
        return difference

    @property
    def _now(self) -> float:
        return self.data.state["#now"]  # pyright: ignore

    def _with(self, step: Step, events: list[Occurrence]) -> Step:
        return advance(self.chart, step.configuration, events, self.data) if events else step

    def _settled(self, step: Step, *, until: float) -> Step:
        """Deliver what was sent, in order of time, as far as the clock may go."""
        state: dict[str, Any] = self.data.state
        while due := [sent for sent in state["#sent"] if sent[0] <= until]:
            first = min(due, key=lambda sent: (sent[0], sent[1]))
            state["#sent"].remove(first)
            state["#now"] = first[0]
            step = self._with(step, [first[3]])
        state["#now"] = until
        return step

    def _declare(self, element: Element) -> list[Occurrence]:
        state = self.data.state
        name, expr = element.attrib["id"], element.get("expr")
        state[name] = None
        if "src" in element.attrib or (element.text or "").strip():
            raise NotSupportedError("<data> with content")
        try:
            state[name] = evaluate(expr, names=names_of(state, None)) if expr else None
        except Exception as error:  # noqa: BLE001 - it becomes the event `error.execution`
            return [Occurrence(name="error.execution", data={"reason": str(error)})]
        return []

    def _compare(self, step: Step, expected: list[str], *, after: str) -> str:
        found = sorted(self.chart.nodes[s].name for s in step.configuration.atomic(self.chart))
        return "" if found == sorted(expected) else f"after {after}: {found}, expected {sorted(expected)}"
