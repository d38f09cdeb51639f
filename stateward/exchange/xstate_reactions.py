"""The transitions of an XState state in the order in which they are tried, with what triggers each.

Of several descriptors that match one event XState tries the exact one first, then the longest; here they are tried as
they stand. Those of ours that stand otherwise say their place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from stateward.chart.definition import TransitionKind
from stateward.chart.tables import ACTIVITY_DONE, STATE_DONE
from stateward.errors import DefinitionError
from stateward.exchange.xstate_content import own_meta
from stateward.exchange.xstate_domain import leaves_source
from stateward.exchange.xstate_events import FAILED, rank
from stateward.exchange.xstate_target import aim
from stateward.exchange.xstate_tree import Json, Laid, Tree, as_mapping, mapping_of, several


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A transition as the document says it."""

    config: Json
    where: str
    kind: TransitionKind
    events: tuple[str, ...] = ()
    """As an author would spell them."""
    timer: tuple[str, int] | None = None
    """The delay and the number of its timer, for one of `after`."""
    timed: bool = False
    """Whether it sets that timer; of several that share one, the first does."""


class Reactions:
    """Finds the transitions of states.

    Args:
        tree: The states.
        inward: Translates a descriptor, given its place.
        spelling: How the author spelled a descriptor, where that is not what it translates to.
    """

    def __init__(self, tree: Tree, *, inward: Callable[[str, str], str], spelling: Json) -> None:
        self._tree = tree
        self._inward = inward
        self._spelling = spelling

    def of(self, laid: Laid) -> list[Said]:
        """Return a state's transitions.

        Args:
            laid: The state.

        Raises:
            DefinitionError: One of them cannot be carried over.
        """
        said = list(self._said(laid))
        places = [own_meta(each.config, where=each.where).get("at") for each in said]
        if not any(isinstance(place, int) for place in places):
            return said
        order = sorted(range(len(said)), key=lambda n: (place if isinstance(place := places[n], int) else n, n))
        return list(_merged([(said[n], places[n]) for n in order]))

    def _said(self, laid: Laid) -> Iterator[Said]:
        """Yield a state's transitions in the order in which they are tried."""
        config, where, path = laid.config, laid.where, laid.node.path
        if "onDone" in config and laid.node.index == self._tree.top:
            raise DefinitionError(
                "`onDone` of the machine itself is never taken in XState, for the machine has ended then",
                where="onDone",
                fix="Remove it, or move what it does to the entry of the machine's final states.",
            )
        yield from self._done(config.get("onDone"), where=f"{where}.onDone", event=STATE_DONE + path)
        invoke = mapping_of(
            {"invoke": next((e for _, e in several(config.get("invoke"))), None)}, "invoke", where=where
        )
        if invoke:
            done = ACTIVITY_DONE + path
            yield from self._done(invoke.get("onDone"), where=f"{where}.invoke.onDone", event=done)
        yield from self._on(laid, wide=False)
        if "onError" in invoke:
            self._refuse_regions(laid, where=f"{where}.invoke.onError")
            failed = _each(invoke["onError"], where=f"{where}.invoke.onError")
            yield from (Said(config=c, where=w, kind="event", events=FAILED) for c, w in failed)
        yield from self._after(laid)
        yield from self._on(laid, wide=True)
        for candidate, place in _each(config.get("always"), where=f"{where}.always"):
            completes = own_meta(candidate, where=place).get("completion")
            kind: TransitionKind = "completion" if completes else "always"
            yield Said(config=candidate, where=place, kind=kind, events=(STATE_DONE + path,) if completes else ())

    def _on(self, laid: Laid, *, wide: bool) -> Iterator[Said]:
        """Yield what stands in `on`, under exact names or under those that end with a star."""
        on = mapping_of(laid.config, "on", where=laid.where)
        for key in sorted((key for key in on if key.endswith("*") is wide), key=rank):
            where = f"{laid.where}.on.{key}"
            event = str(self._spelling.get(key) or self._inward(key, where))
            self._refuse_twin(laid, event=event, where=where)
            yield from (Said(config=c, where=w, kind="event", events=(event,)) for c, w in _each(on[key], where=where))

    def _refuse_twin(self, laid: Laid, *, event: str, where: str) -> None:
        """Refuse what stands twice: `onDone` of a state is one name of its event, that of an activity of another."""
        invokes = [as_mapping(each, where=where) for _, each in several(laid.config.get("invoke"))]
        by_state = event == STATE_DONE + laid.node.path and "onDone" in laid.config
        by_activity = event == ACTIVITY_DONE + laid.node.path and any("onDone" in invoke for invoke in invokes)
        if by_state or by_activity:
            raise DefinitionError(
                "It stands beside `onDone` for the same event, and XState keeps only that",
                where=where,
                fix="Write both as a list under `onDone`.",
            )

    def _done(self, value: object, *, where: str, event: str) -> Iterator[Said]:
        """Yield the transitions of `onDone`: completions, if one of them is always taken, or if it says so."""
        candidates = _each(value, where=where.lstrip("."))
        said = any(own_meta(config, where=place).get("completion") for config, place in candidates)
        open_end = bool(candidates) and "guard" not in candidates[-1][0]
        kind: TransitionKind = "completion" if said or open_end else "event"
        yield from (Said(config=config, where=place, kind=kind, events=(event,)) for config, place in candidates)

    def _after(self, laid: Laid) -> Iterator[Said]:
        after = mapping_of(laid.config, "after", where=laid.where)
        taken = self._takes_all(laid)
        for delay in after:
            timer, shared = 0, False
            for config, where in _each(after[delay], where=f"{laid.where}.after.{delay}"):
                yield Said(config=config, where=where, kind="event", timer=(delay, timer), timed=not shared)
                # One that leaves the state ends the timers behind it, which then may as well be timers of their own.
                aimed = aim(config, tree=self._tree, source=laid.node.index, where=where)
                shared = taken or not leaves_source(
                    self._tree.nodes, source=laid.node.index, targets=aimed.targets, reenter=aimed.reenter
                )
                timer += not shared

    def _takes_all(self, laid: Laid) -> bool:
        """Tell whether the state or one around it reacts to every event, so to a timer that nobody wants."""
        state = laid.node.index
        while state >= 0:
            if "*" in mapping_of(self._tree.laid[state].config, "on", where=laid.where):
                return True
            state = self._tree.laid[state].node.parent
        return False

    def _refuse_regions(self, laid: Laid, *, where: str) -> None:
        around = laid.node.parent
        while around >= 0:
            if self._tree.nodes[around].kind == "parallel":
                raise DefinitionError(
                    "`onError` in a parallel region is not carried over: a failure is told to all regions",
                    where=where,
                    fix="React to the failure with a named event, or outside of the parallel state.",
                )
            around = self._tree.nodes[around].parent


def _each(value: object, *, where: str) -> list[tuple[Json, str]]:
    """Return the candidates under one key, each as an object with its place."""
    found: list[tuple[Json, str]] = []
    for place, each in several(value):
        at = f"{where}[{place}]".lstrip(".")
        found.append(({"target": each}, at) if isinstance(each, str) else (as_mapping(each, where=at), at))
    return found


def _merged(said: list[tuple[Said, object]]) -> Iterator[Said]:
    """Yield transitions with those of the same place put together: one that reacts to several events."""
    last: Said | None = None
    place: object = None
    for each, at in said:
        if last is not None and at is not None and at == place:
            last = replace(last, events=(*last.events, *each.events))
            continue
        if last is not None:
            yield last
        last, place = each, at
    if last is not None:
        yield last
