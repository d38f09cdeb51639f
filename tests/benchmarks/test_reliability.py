"""The reliability table, reduced: every count comes out as claimed, on both databases, both ways."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks.reliability.__main__ import places
from benchmarks.reliability.place import KINDS, Kind, Place
from benchmarks.reliability.proofs import PROOFS, Proof

pytestmark = pytest.mark.slow
CELLS = [(proof, kind, how) for proof in PROOFS for kind, how in proof.cells(KINDS)]
"""Each proof, on the databases and in the ways it is made."""


@pytest.fixture(scope="module")
def there() -> Iterator[dict[Kind, Place]]:
    """Both databases, and the processes that proofs fork from."""
    with places(KINDS) as found:
        yield found


@pytest.mark.parametrize(
    ("proof", "kind", "how"), CELLS, ids=[f"proof{proof.number}-{kind}-{how}" for proof, kind, how in CELLS]
)
def test_what_a_proof_counts_holds(proof: Proof, kind: Kind, how: str, there: dict[Kind, Place]) -> None:
    """Times and ratios are left to `make reliability`: here is no machine of one's own."""
    figures = proof.prove(there[kind], how=how, small=True, tick=lambda done: None)
    assert [figure for figure in figures if not figure.timed and not figure.holds] == []
