"""A policy made in code is held to what a policy file could say."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import partial

import pytest

from stateward.errors import DefinitionError
from stateward.govern.policy import ContractSpec, FieldSpec, Fuses, Policy, Rule, ToolPolicy, Window

NAN, ENDLESS = float("nan"), float("inf")
TEXT = FieldSpec(name="f", type="str")
rule = partial(Rule, match="pay", level="restricted")
field = partial(FieldSpec, name="f", type="str")
contract = partial(ContractSpec, name="C", fields=(TEXT,))
policy = partial(Policy, name="p")

WRONG: list[tuple[Callable[..., object], str, object]] = [
    *((rule, "level", value) for value in ("RESTRICTED", "alowed", "", None, 1, ["allowed"])),
    *((rule, "match", value) for value in ("(", "(?=a)", None, 3)),
    *((rule, "max_calls", value) for value in (-1, 1.5, NAN, True, "3")),
    *((rule, "approvers", value) for value in ("ann", ["ann"], (), (None,), ("",), (" ",), ("ann", "\t"))),
    *((rule, "expires_s", value) for value in (0, -1, NAN, ENDLESS, "60", True, 31_536_001)),
    *((ToolPolicy, "default", value) for value in ("Allowed", None, "deny")),
    *((ToolPolicy, "rules", value) for value in ([rule()], ({"match": "a", "level": "allowed"},), None)),
    *((Fuses, key, value) for key in ("turns", "calls") for value in (-1, 1.5, NAN, True, "3", 3.0, ENDLESS)),
    *((Fuses, "usd", value) for value in (-0.01, NAN, ENDLESS, True, "3", Decimal(1))),
    *((Fuses, "microsteps", value) for value in (0, -1, 1.5, NAN)),
    *((partial(Window, keep_last=1), "max_messages", value) for value in (2, None, 8.0, -8)),
    *((partial(Window, max_messages=8), "keep_last", value) for value in (0, None, 7.5)),
    *((field, "type", value) for value in ("text", None)),
    *((field, "name", value) for value in ("", "a b", None, 3, [])),
    *((field, "required", value) for value in ("no", None)),
    *((field, "min_length", value) for value in (-1, 1.5)),
    *((field, "pattern", value) for value in ("(", 3)),
    *((partial(field, type="list"), "items", value) for value in ("enum", None)),
    *((partial(field, type="int"), key, value) for key in ("min", "max") for value in (NAN, "1", Decimal(1))),
    *((partial(field, type="enum"), "values", value) for value in ("ab", ["a"], (1,))),
    *((partial(field, type="enum", values=("a",)), "aliases", value) for value in ({"b": "a"}, (("b",),), ("ba",))),
    *((contract, "retries", value) for value in (-1, 3.0, None, True)),
    *((contract, "fields", value) for value in ((), [TEXT], (TEXT, TEXT), ("f",))),
    *((contract, "aliases", value) for value in ({"a": "f"}, (("a", "f"), ("a", "f")))),
    *((contract, "name", value) for value in ("", None, "a b")),
    *((policy, "fuses", value) for value in (None, {"calls": 1})),
    *((policy, key, value) for key in ("tools", "window") for value in ({}, rule())),
    *((policy, "call_timeout_s", value) for value in (0, -1, NAN, ENDLESS, "3")),
    *((policy, "mode", value) for value in (None, "", 3)),
    *((policy, "contracts", value) for value in ([contract()], (contract(), contract()), {})),
    *((policy, key, value) for key in ("name", "source") for value in (None, 3)),
]


@pytest.mark.parametrize(("make", "key", "value"), WRONG)
def test_what_no_file_could_say_is_refused_in_code(make: Callable[..., object], key: str, value: object) -> None:
    """The message names the key, the value it stands in, and what to do."""
    with pytest.raises(DefinitionError, match=r"expected .*Correct the value") as refused:
        make(**{key: value})
    assert key in str(refused.value)
    assert refused.value.where.startswith(f"{getattr(make, 'func', make).__name__}(")


TOGETHER: list[Callable[[], object]] = [
    lambda: Rule(match="a", level="allowed", approvers=("ann",)),
    lambda: Rule(match="a", level="forbidden", expires_s=60),
    lambda: Window(max_messages=8, keep_last=7),
    lambda: FieldSpec(name="f", type="enum"),
    lambda: FieldSpec(name="f", type="int", min_length=1),
    lambda: FieldSpec(name="f", type="int", min=2, max=1),
    lambda: FieldSpec(name="f", type="enum", values=("a",), aliases=(("b", "c"),)),
    lambda: ContractSpec(name="C", fields=(TEXT,), aliases=(("a", "other"),)),
]


@pytest.mark.parametrize("make", TOGETHER)
def test_parts_that_do_not_fit_each_other_are_refused_in_code(make: Callable[[], object]) -> None:
    """What a file must say together, code must say together."""
    with pytest.raises(DefinitionError, match="expected"):
        make()


def test_a_misspelt_level_is_told_the_levels() -> None:
    """The whole message, once."""
    with pytest.raises(DefinitionError) as refused:
        Rule(match="pay", level="RESTRICTED")  # pyright: ignore[reportArgumentType]
    assert str(refused.value) == (
        "`level` is 'RESTRICTED', expected 'allowed', 'restricted' or 'forbidden' (at Rule(match='pay', "
        "level='RESTRICTED', max_calls=None, approvers=None, expires_s=None, approvals=None, "
        "four_eyes=None, cleared=None, arguments=())). Correct the value: Rule in code "
        "takes what a policy file takes."
    )


def test_a_right_policy_in_code_is_taken() -> None:
    """Whole numbers are money too, and a name may have any letters."""
    enum = FieldSpec(name="copy", type="enum", values=("a",), aliases=(("b", "a"),), required=False)
    whole = Policy(
        name="desk (closing)",
        fuses=Fuses(turns=0, usd=1, calls=20, microsteps=1),
        tools=ToolPolicy(default="restricted", rules=(rule(approvers=("ann",), max_calls=0),)),
        call_timeout_s=3,
        window=Window(max_messages=3, keep_last=1),
        contracts=(ContractSpec(name="C", fields=(TEXT, enum), aliases=(("g", "f"),), retries=0),),
    )
    assert len(whole.hash) == 64
