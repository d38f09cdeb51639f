"""Triage: verdicts, rules and measured accuracy."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from nodes.support_desk.facts import facts_of
from nodes.support_desk.inbox import Row
from nodes.support_desk.triage import CONFIG, Triage, Triager, main, measure
from nodes.support_desk.triage_rules import TriageConfig, read_rules, triage_rules
from stateward.errors import ConfigError

FLOORS = {"category": 0.85, "priority": 0.85, "sentiment": 0.75, "intent": 0.85, "threat": 1.0}


def _judge(triager: Triager, text: str, *, lang: str = "en") -> Triage:
    return triager.triage(text, facts=facts_of(text), lang=lang)


def test_the_held_out_part_is_judged_well_enough(triager: Triager, inbox: tuple[Row, ...]) -> None:
    """Accuracy on messages no prototype was taken from stays above its floors."""
    held_out = [row for row in inbox if row.part == "test"]
    assert len(held_out) >= 40
    measured = {one.field: one.share for one in measure(held_out, triager=triager)}
    assert {field: share for field, share in measured.items() if share < FLOORS[field]} == {}


def test_no_prototype_shares_five_words_with_a_held_out_message(inbox: tuple[Row, ...]) -> None:
    """The prototypes were not copied from what they are measured on."""
    rules = read_rules(CONFIG)
    labels = (*rules.intent.prototypes.values(), *rules.sentiment.prototypes.values())
    known = {run for label in labels for texts in label.values() for text in texts for run in _runs(text)}
    shared = {run for row in inbox if row.part == "test" for run in _runs(row.text)} & known
    assert shared == set()


def _runs(text: str) -> set[str]:
    words = "".join(c.lower() if c.isalnum() else " " for c in text).split()
    return {" ".join(words[i : i + 5]) for i in range(len(words) - 4)}


def test_a_threat_makes_the_case_urgent_and_angry(triager: Triager) -> None:
    """Rules overrule the encoder where safety asks for it."""
    verdict = _judge(triager, "Thank you, but my lawyer will contact you about A-10201.")
    assert (verdict.threat, verdict.priority, verdict.sentiment) == (True, "p0", "angry")


def test_a_taken_account_is_a_login_case_of_the_highest_priority(triager: Triager) -> None:
    """The rule decides, so the confidence is 1."""
    verdict = _judge(triager, "I was hacked, please help.")
    assert (verdict.intent, verdict.category, verdict.priority) == ("login", "login", "p0")
    assert verdict.confidence == 1.0


def test_a_deletion_is_never_guessed(triager: Triager) -> None:
    """Without an explicit request the nearest prototype may not be a deletion."""
    assert _judge(triager, "customer profile personal data").intent != "delete_account"
    assert _judge(triager, "Please delete my account.").intent == "delete_account"


def test_anger_lifts_the_usual_priority(triager: Triager) -> None:
    """A late parcel is p2, and p1 for somebody who is furious."""
    assert _judge(triager, "My parcel A-10201 has not arrived yet.").priority == "p2"
    assert _judge(triager, "My parcel A-10201 has not arrived!! Outrageous, furious!").priority == "p1"


@pytest.mark.parametrize("text", ["", "?", "…", "ф" * 500, "\x00\x01", "a" * 20_000])
def test_any_text_gets_a_verdict(triager: Triager, text: str) -> None:
    """Strange texts are judged, with little confidence, and never raise."""
    assert 0.0 <= _judge(triager, text).confidence <= 1.0


def test_a_verdict_survives_json(triager: Triager) -> None:
    """`from_json` undoes `to_json`."""
    verdict = _judge(triager, "Where is my parcel?")
    assert Triage.from_json(verdict.to_json()) == verdict


def test_the_program_prints_a_table_for_each_part(samples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The accuracy of category, priority and sentiment is printed; a missing path is a usage error."""
    assert main([str(samples / "inbox.jsonl")]) == 0
    printed = capsys.readouterr().out
    assert "| field | test | tune |" in printed
    assert all(f"| {field} |" in printed for field in ("category", "priority", "sentiment"))
    assert main([]) == 2


@pytest.mark.parametrize(
    ("path", "value", "key"),
    [
        (("neighbours",), 0, "triage.neighbours"),
        (("colour",), "red", "triage.colour"),
        (("categories", "delay"), "parcel", r"triage.categories.delay"),
        (("prototypes", "intent"), {}, "triage.prototypes.intent"),
        (("cues", "intent"), {"bug": ["(?=x)"]}, "triage.cues.intent"),
    ],
)
def test_a_wrong_rule_is_named(tmp_path: Path, path: tuple[str, ...], value: object, key: str) -> None:
    """The error names the file and the key."""
    data = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    place = data["triage"]
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    file = tmp_path / "desk.yaml"
    file.write_text(yaml.safe_dump(data), encoding="utf-8")
    with pytest.raises(ConfigError, match=rf"`{key}.* in `.*desk\.yaml`"):
        read_rules(file)


def test_a_missing_intent_is_named() -> None:
    """Every intent needs a category."""
    data = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))["triage"]
    del data["categories"]["bug"]
    with pytest.raises(ConfigError, match="bug"):
        triage_rules(TriageConfig.model_validate(data), file="x.yaml")


def test_a_missing_file_is_a_config_error(tmp_path: Path) -> None:
    """The rules cannot be guessed."""
    with pytest.raises(ConfigError, match=r"none\.yaml"):
        read_rules(tmp_path / "none.yaml")
