"""The most that one run can come to."""

from __future__ import annotations

import math
from typing import Any

from stateward.chart.state import Final, State, Superstate
from stateward.chart.transition import on
from stateward.govern.ground import ToolFacts
from stateward.govern.policy import Fuses, Policy, Rule, ToolPolicy
from stateward.govern.total import Total, capped, totals
from tests.govern.grounds import ground, work

PAY = {"pay": ToolFacts(effect="once", most={"amount": 200.0, "fee": None})}


def counted(name: str, most: int, **fuses: Any) -> Policy:
    """Return a policy that counts payments."""
    rules = (Rule(match="pay", level="allowed", max_calls=most), Rule(match=".*", level="allowed"))
    return Policy(name=name, fuses=Fuses(**fuses), tools=ToolPolicy(rules=rules))


def most(*states: Any, **known: Any) -> dict[str, float | None]:
    """Return each total by its unit."""
    return {total.unit: total.most for total in totals(ground(states, **known))}


def only(unit: str, *states: Any, **known: Any) -> Total:
    """Return one total."""
    (total,) = [total for total in totals(ground(states, **known)) if total.unit == unit]
    return total


def test_tokens_are_bounded_by_their_fuse() -> None:
    """As money is."""
    policy = Policy(name="p", fuses=Fuses(tokens=500))
    assert most(State("A", do=work, model="m", to="B", policy=policy), Final("B"))["tokens"] == 500


def test_what_nothing_limits_is_unbounded() -> None:
    """A state may call as often as it likes; what it does not declare it cannot call."""
    found = most(State("A", do=work, tools=["pay"], to="B"), Final("B"), tools=PAY)
    assert found == {
        "turns": 0,
        "tokens": 0,
        "usd": 0,
        "calls": None,
        "calls:pay": None,
        "sum:pay.amount": None,
        "sum:pay.fee": None,
    }


def test_a_sum_is_the_count_times_the_most_of_an_argument() -> None:
    """An argument without a limit of its own is unbounded."""
    found = most(State("A", do=work, tools=["pay"], to="B", policy=counted("p", 3)), Final("B"), tools=PAY)
    assert (found["calls:pay"], found["sum:pay.amount"], found["sum:pay.fee"]) == (3, 600, None)


def test_the_fuse_cuts_what_the_tools_add_up_to() -> None:
    """And the other way round."""
    state = State("A", do=work, tools=["pay"], to="B", policy=counted("p", 9, calls=4))
    assert most(state, Final("B"))["calls:pay"] == 4
    state = State("A", do=work, tools=["pay"], to="B", policy=counted("p", 2, calls=4))
    assert most(state, Final("B"))["calls"] == 2


def test_states_one_after_the_other_add_up_and_branches_do_not() -> None:
    """Each has a policy of its own; only what lies on one way counts together."""
    first = State("A", do=work, tools=["pay"], to="B", policy=counted("a", 3))
    second = State("B", do=work, tools=["pay"], to="DONE", policy=counted("b", 2))
    assert most(first, second, Final("DONE"))["calls:pay"] == 5
    split = State("S", on=[on("left", "A"), on("right", "B")])
    third = State("A", do=work, tools=["pay"], to="DONE", policy=counted("a", 3))
    total = only("calls:pay", split, third, second, Final("DONE"))
    assert (total.most, [str(hop) for hop in total.witness]) == (3, ["start -> S", "left -> A"])


def test_what_is_around_both_cuts_both() -> None:
    """And the places of all limits are named."""
    first = State("A", do=work, tools=["pay"], to="B", policy=counted("a", 3))
    second = State("B", do=work, tools=["pay"], to="DONE", policy=counted("b", 3))
    total = only("calls:pay", Superstate("S", first, second, policy=counted("s", 4)), Final("DONE"))
    assert total.most == 4
    assert [place.partition(" ")[0] for place in total.bounded_by] == ["S", "S.A", "S.B"]


def test_turns_and_money_are_counted_for_models() -> None:
    """What is left out is not limited."""
    policy = Policy(name="m", fuses=Fuses(turns=12, usd=0.5))
    found = most(State("A", do=work, model="m", to="B", policy=policy), Final("B"))
    assert (found["turns"], found["usd"], found["calls"]) == (12, 0.5, 0)
    assert most(State("A", do=work, model="m", to="B"), Final("B"))["usd"] is None


def test_a_state_that_is_never_reached_adds_nothing() -> None:
    """Nor does a forbidden tool."""
    lost = State("L", do=work, tools=["pay"], to="DONE")
    never = Policy(name="n", tools=ToolPolicy(default="forbidden"))
    barred = State("A", do=work, tools=["pay"], to="DONE", policy=never)
    assert most(barred, lost, Final("DONE"))["calls"] == 0


def test_above_the_bound_the_most_is_only_known_from_above() -> None:
    """No run exceeds it; whether one reaches it is not said."""
    state = State("A", do=work, tools=["pay"], to="B", policy=counted("p", 3))
    total = only("calls:pay", state, Final("B"), bound=1)
    assert (total.most, total.is_reached, total.witness) == (3, False, ())


def test_limits_cut_at_each_scope() -> None:
    """An inner limit first, then what is around it."""
    assert capped([(("", 5.0), ("S", 3.0)), (("", 5.0), ("T", 4.0))]) == 5
    assert capped([(("S", 3.0),), (("T", 4.0),)]) == 7
    assert capped([(), (("T", 4.0),)]) == math.inf
