"""`stateward contract`."""

from __future__ import annotations

from pathlib import Path

import pytest

CONTRACTS = """
contracts:
  Reply:
    retries: 1
    tiers: [schema, prompt]
    aliases: {body: text}
    fields:
      text: {type: str, max_length: 80, forbid: "<"}
      tone: {type: enum, values: [calm, warm], aliases: {friendly: warm}, default: calm}
"""


REPLY = (
    "--set",
    "policy.contracts.Reply={retries: 1, tiers: [schema, prompt], aliases: {body: text}, fields: {"
    "text: {type: str, max_length: 80}, "
    "tone: {type: enum, values: [calm, warm], aliases: {friendly: warm}, default: calm}}}",
)
"""The toy desk's policy with a contract in it."""


def test_the_schema_of_a_contract_is_told_with_its_states(shell):
    """States under the same policies have the same schema."""
    told = shell.json("contract", "show", "toy_desk", "Reply", *REPLY)
    assert set(told) == {"graph", "contract", "versions"}
    (version,) = told["versions"]
    assert set(version) == {"states", "mode", "policy", "retries", "tiers", "schema"}
    assert (version["states"], version["tiers"]) == (["WORKING.ACT", "WORKING.CLOSE"], ["schema", "prompt"])
    assert version["schema"]["title"] == f"Reply-strict-{version['policy'][:12]}"
    assert version["schema"]["additionalProperties"] is False


def test_a_contract_is_told_as_a_table(shell):
    """Limits, aliases and defaults are what a writer must know."""
    shown = shell.run("contract", "show", "toy_desk", "Reply", *REPLY).stdout
    for part in ("schema; prompt", "body → text", "max_length: 80", "friendly → warm", "default: calm"):
        assert part in shown


def test_an_unknown_contract_is_refused(shell):
    """The message lists those there are."""
    result = shell.run("contract", "show", "toy_desk", "Letter", *REPLY)
    assert result.exit_code == 2
    assert "`Reply`" in result.stderr


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """Two versions of a policy; the newer one has a mode that breaks nothing."""
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    old.write_text("version: 1" + CONTRACTS)
    widened = CONTRACTS.replace("80", "90").replace("warm]", "warm, cold]")
    same = "fields: {text: {max_length: 80}, tone: {values: [calm, warm]}}"
    modes = f"modes: {{strict: {{}}, same: {{contracts: {{Reply: {{{same}}}}}}}}}"
    new.write_text("version: 1" + widened + modes)
    return str(old), str(new)


def test_what_breaks_is_told_and_is_the_exit_code(shell, files):
    """Widening breaks who reads, not who writes."""
    told = shell.json("contract", "diff", *files, code=1)
    assert set(told) == {"before", "after", "changes"}
    assert [(one["field"], one["what"], one["writer"], one["reader"]) for one in told["changes"]] == [
        ("text", "widened: greatest length", "compatible", "breaking"),
        ("tone", "value `cold` added", "compatible", "breaking"),
    ]
    shown = shell.run("contract", "diff", *files)
    assert (shown.exit_code, "Reply.tone" in shown.stdout) == (1, True)


def test_a_mode_of_a_file_can_be_compared(shell, files):
    """Nothing that changed is exit code 0."""
    result = shell.run("contract", "diff", files[0], f"{files[1]}@same", "Reply")
    assert (result.exit_code, result.stdout.strip()) == (0, "No contract changed.")


def test_a_name_that_neither_has_is_refused(shell, files):
    """A typing mistake is no compatible change."""
    result = shell.run("contract", "diff", *files, "Replly")
    assert result.exit_code == 2
    assert "`Reply`" in result.stderr
