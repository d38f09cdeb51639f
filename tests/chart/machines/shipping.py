"""An order with everything that can be drawn: regions, both histories, a timer, a fork, an internal transition."""

from __future__ import annotations

from stateward.chart.compiler import build
from stateward.chart.definition import Definition
from stateward.chart.state import Final, Parallel, State, Superstate
from stateward.chart.transition import History, after, on, when


def is_express(state: dict[str, object]) -> bool:
    """Whether the order is in a hurry."""
    return bool(state.get("express"))


def count(state: dict[str, object]) -> dict[str, object]:
    """Count a try."""
    return {"tries": 1}


def shipping() -> Definition:
    """Build the chart: GOODS and MONEY go on side by side in HANDLING; HELD interrupts them and goes back."""
    goods = Superstate(
        "GOODS",
        State("PICK", on=[on("picked", "PACK"), on("damaged", "PICK", do=count)]),
        Superstate("PACK", State("WRAP", on=on("wrapped", "SEAL")), State("SEAL", on=on("sealed", "READY"))),
        Final("READY"),
        history="shallow",
        on=[on("restart", "PICK", internal=True)],
    )
    money = Superstate(
        "MONEY",
        State("CHARGE", on=[on("paid", "PAID"), on("refused", "DUNNING")]),
        State("DUNNING", on=[after(30, "CHARGE"), on("paid", "PAID"), on("note", do=count)]),
        Final("PAID"),
    )
    return build(
        "shipping",
        [
            State("NEW", on=[on("order", "HANDLING"), on("known", ["HANDLING.GOODS.PACK", "HANDLING.MONEY.DUNNING"])]),
            Parallel(
                "HANDLING",
                goods,
                money,
                history="deep",
                to=[when(is_express, "SENT"), "QUEUE"],
                on=[on("hold", "HELD"), on("cancel", "STOPPED")],
            ),
            State("HELD", on=[on("resume", History("HANDLING")), on("repack", History("HANDLING.GOODS"))]),
            State("QUEUE", on=[after(3600, "SENT")], exit=count),
            Final("SENT"),
            Final("STOPPED"),
        ],
        on=on("abort", "STOPPED"),
    )
