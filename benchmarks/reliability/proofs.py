"""The eight proofs, and how they are run one after the other."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from benchmarks.reliability import answers, cancels, growth, kills, load, racing, restarts, stalled
from benchmarks.reliability.figure import Figure, Tick, exactly, told
from benchmarks.reliability.place import KINDS, Kind, Place
from benchmarks.reliability.table import HOWS, Result


class Prove(Protocol):
    """What each proof's module offers."""

    def __call__(self, place: Place, *, how: str, small: bool, tick: Tick) -> list[Figure]:
        """Make the proof on one database, one way."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """One of the eight."""

    number: int
    title: str
    prove: Prove
    kinds: tuple[Kind, ...] = KINDS
    hows: tuple[str, ...] = HOWS

    def cells(self, kinds: Sequence[Kind]) -> list[tuple[Kind, str]]:
        """Return the databases and ways it is made on.

        Args:
            kinds: The databases there are.
        """
        return [(kind, how) for kind in kinds if kind in self.kinds for how in self.hows]


PROOFS = (
    Proof(number=1, title="SIGKILL at every boundary", prove=kills.prove),
    Proof(number=2, title="Eight workers in two processes, ten sessions", prove=racing.prove),
    Proof(number=3, title="Stopped past the lease, woken after the takeover", prove=stalled.prove),
    Proof(number=4, title="PostgreSQL restarted under runs", prove=restarts.prove, kinds=("postgresql",)),
    Proof(number=5, title="Cancelled at a random await", prove=cancels.prove, hows=("async",)),
    Proof(number=6, title="A thousand sessions on one graph", prove=load.prove),
    Proof(number=7, title="Growth on disk", prove=growth.prove),
    Proof(number=8, title="Wrong answers", prove=answers.prove),
)

Report = Callable[[str, float], None]
"""Told what is being proved, and how much of it is done, from 0 to 1."""


def run(
    places: Mapping[Kind, Place], *, numbers: Sequence[int], small: bool, report: Report, lost: Callable[[str], None]
) -> list[Result]:
    """Make proofs on each database, both ways.

    Args:
        places: One for each kind of database.
        numbers: Which proofs.
        small: Make the reduced ones; of their times and ratios nothing is claimed.
        report: Told how far it is.
        lost: Told the traceback of a proof that raised; it counts as one that does not hold.

    Returns:
        What they came to.
    """
    return [
        _prove(proof, places[kind], how=how, small=small, report=report, lost=lost)
        for proof in PROOFS
        if proof.number in numbers
        for kind, how in proof.cells(tuple(places))
    ]


def _prove(proof: Proof, place: Place, *, how: str, small: bool, report: Report, lost: Callable[[str], None]) -> Result:
    label = f"{proof.number}. {proof.title}, {place.kind} {how}"
    report(label, 0)
    begun = time.monotonic()
    try:
        figures = proof.prove(place, how=how, small=small, tick=lambda done: report(label, done))
    except Exception as error:  # noqa: BLE001  # it is told, and the other proofs are made
        lost(f"{label}\n{traceback.format_exc()}")
        figures = [exactly(f"proofs that raised ({type(error).__name__})", 1)]
    if small:
        figures = [told(one.name, one.value, timed=True) if one.timed else one for one in figures]
    report(label, 1)
    seconds = time.monotonic() - begun
    return Result(proof=proof.number, title=proof.title, kind=place.kind, how=how, figures=figures, seconds=seconds)
