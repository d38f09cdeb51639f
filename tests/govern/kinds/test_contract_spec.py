"""What a policy may say of a contract, and what it may not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from stateward.config import load_policy
from stateward.errors import ConfigError, DefinitionError
from stateward.govern.kinds.contract_spec import ContractSpec, FieldSpec, Inference
from stateward.govern.policy import Policy

SAID = """
version: 1
contracts:
  Ticket:
    tiers: [instructor, prompt]
    fields:
      summary: {type: str, contains: [order], forbid: "```"}
      priority:
        type: enum
        values: [p0, p3]
        infer: [{pattern: asap, value: p0}, {pattern: down, field: summary, value: p0}]
        default: p3
      urgent: {type: bool, default: false}
      tags: {type: list, items: str, default: []}
"""


@pytest.fixture
def policy(tmp_path: Path) -> Policy:
    """A policy with everything the last tier can be told."""
    return loaded(tmp_path, SAID)


def loaded(folder: Path, text: str) -> Policy:
    """Read a policy from text."""
    (folder / "p.yaml").write_text(text)
    return load_policy(folder / "p.yaml", env={})


def test_rules_defaults_and_tiers_are_read(policy: Policy) -> None:
    """What the file says is what the frozen value holds."""
    (ticket,) = policy.contracts
    summary, priority, urgent, tags = ticket.fields
    assert ticket.tiers == ("instructor", "prompt")
    assert (summary.contains, summary.forbid) == (("order",), "```")
    assert priority.infer == (
        Inference(pattern="asap", value="p0"),
        Inference(pattern="down", value="p0", field="summary"),
    )
    assert (priority.default, urgent.default, tags.default) == ("p3", False, ())


def test_a_policy_keeps_them_as_text(policy: Policy) -> None:
    """What a run is pinned to can be read again."""
    adapter = TypeAdapter(Policy)
    assert adapter.validate_json(adapter.dump_json(policy)) == policy


WRONG = [
    ("priority: {type: enum, values: [p0], default: p9}", "`default` to give a value that the field may hold"),
    ("priority: {type: int, max: 3, default: 4}", "`default` to give"),
    ('priority: {type: int, default: "4"}', "`default` to give"),
    ("priority: {type: list, items: int, default: [x]}", "`default` to give"),
    ("priority: {type: enum, values: [p0], infer: [{pattern: x, value: p9}]}", "`infer` to give"),
    ("priority: {type: str, infer: [{pattern: x, value: y, field: z}]}", "one of priority"),
    ('priority: {type: str, infer: [{pattern: "(?=x)", value: y}]}', "RE2"),
    ('priority: {type: str, contains: [" "]}', "not blank"),
    ("priority: {type: int, contains: [x]}", "only the keys"),
]


@pytest.mark.parametrize(("field", "told"), WRONG)
def test_what_could_not_hold_is_refused(tmp_path: Path, field: str, told: str) -> None:
    """A default that its own field would refuse is found when the file is read."""
    with pytest.raises(ConfigError, match=told):
        loaded(tmp_path, f"version: 1\ncontracts: {{C: {{fields: {{{field}}}}}}}")


@pytest.mark.parametrize("tiers", ["[]", "[json]", "[prompt, prompt]"])
def test_tiers_are_known_and_said_once(tmp_path: Path, tiers: str) -> None:
    """An empty list would forbid every way."""
    with pytest.raises(ConfigError):
        loaded(tmp_path, f"version: 1\ncontracts: {{C: {{tiers: {tiers}, fields: {{a: {{type: int}}}}}}}}")


def test_what_is_wrong_in_code_is_refused_as_in_a_file() -> None:
    """The message names the key."""
    with pytest.raises(DefinitionError, match="default"):
        FieldSpec(name="a", type="int", default="x")
    with pytest.raises(DefinitionError, match="one of a"):
        ContractSpec(
            name="C", fields=(FieldSpec(name="a", type="int", infer=(Inference(pattern="x", value=1, field="b"),)),)
        )


FIELD = FieldSpec(name="a", type="bool")
SAYS: list[dict[str, Any]] = [
    {"default": False},
    {"default": True},
    {"infer": (Inference(pattern="x", value=True),)},
    {"infer": (Inference(pattern="x", value=False),)},
]


def test_every_word_is_in_the_hash() -> None:
    """A default that is false is not the same as none."""
    fields = [FIELD, *(replace(FIELD, **said) for said in SAYS)]
    policies = [Policy(name="p", contracts=(ContractSpec(name="C", fields=(field,)),)) for field in fields]
    assert len({each.hash for each in policies}) == len(fields)


def test_a_contract_without_these_words_keeps_its_hash() -> None:
    """A run that was pinned before they were there goes on."""
    field = FieldSpec(name="a", type="enum", values=("x", "y"), aliases=(("z", "x"),))
    pinned = Policy(name="p", contracts=(ContractSpec(name="C", fields=(field,), aliases=(("b", "a"),)),))
    assert pinned.hash == "586d0973f4a17a23753895dc309257cad584717976a91e34a79b607d45235e46"
