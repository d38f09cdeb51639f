"""`python -m tests.conformance` runs both suites the three ways and prints what became of them.

It exits 1 if anything is not as `known.KNOWN` says, and 2 if a suite could not be fetched.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence

from tests.conformance.case import Case, npm_cases, sdist_cases
from tests.conformance.fetch import SuiteMissingError
from tests.conformance.known import differences
from tests.conformance.report import as_json, not_passed, table
from tests.conformance.runner import Outcome, play
from tests.conformance.way import ASYNC, WAYS, Way

SAMPLE = 5
"""Of how many tests one is also run through `ainvoke`."""


def outcomes(cases: Sequence[Case], *, ways: Sequence[Way]) -> Iterator[Outcome]:
    """Run the tests; of the way `async` only a sample, unless there is no other.

    Args:
        cases: The tests.
        ways: How to run them.
    """
    for way in ways:
        sampled = way is ASYNC and len(ways) > 1
        for case in cases[:: SAMPLE if sampled else 1]:
            yield play(case, way=way)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for, print it, and return the exit code."""
    asked = _parser().parse_args(arguments)
    try:
        cases = [*npm_cases(), *sdist_cases()]
    except SuiteMissingError as missing:
        print(f"conformance: {missing}", file=sys.stderr)
        return 2
    chosen = [case for case in cases if not asked.only or asked.only in case.name]
    ways = [way for way in WAYS if asked.way in (None, way.name)]
    found = list(outcomes(chosen, ways=ways))
    wrong = differences(found, whole=() if asked.only else ("npm", "sdist"))
    if asked.json:
        print(json.dumps(as_json(found, differences=wrong), indent=1))
    else:
        print("\n".join([table(found), "", not_passed(found), "", *wrong, _verdict(wrong)]))
    return 1 if wrong or not found else 0


def _verdict(wrong: Sequence[str]) -> str:
    return f"{len(wrong)} not as the list says." if wrong else "All as the list says."


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", metavar="NAME", help="only tests whose name contains this")
    parser.add_argument("--way", choices=[way.name for way in WAYS], help="only this way")
    parser.add_argument("--json", action="store_true", help="every outcome as JSON")
    return parser


if __name__ == "__main__":
    sys.exit(main())
