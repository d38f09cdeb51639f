"""The reliability table, reduced: every count comes out as claimed, on both databases, both ways."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks.reliability.__main__ import places
from benchmarks.reliability.place import KINDS, Kind, Place
from benchmarks.reliability.proofs import PROOFS, Proof
from benchmarks.reliability.table import HOWS
from stateward.testing import How

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def there() -> Iterator[dict[Kind, Place]]:
    """Both databases, and the processes that proofs fork from."""
    with places(KINDS) as found:
        yield found


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("proof", PROOFS, ids=lambda proof: f"proof{proof.number}")
def test_what_a_proof_counts_holds(proof: Proof, kind: Kind, how: How, there: dict[Kind, Place]) -> None:
    """Times and ratios are left to `make reliability`: here is no machine of one's own."""
    if (kind, how) not in proof.cells(KINDS):
        pytest.skip("this proof is none of this database")
    figures = proof.prove(there[kind], how=how, small=True, tick=lambda done: None)
    assert [figure for figure in figures if not figure.timed and not figure.holds] == []
