"""Prompts: strict templates of a folder, whose mistakes are found early and named, and whose hash tells each change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from stateward.errors import DefinitionError
from stateward.prompts import Prompts, Rendered

JUDGE = 'Judge {{ topic }}.\n{% include "parts/tone" %}\n'
Make = Callable[..., Prompts]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Writes prompts into a folder and reads them."""

    def made(**sources: str) -> Prompts:
        for name, text in sources.items():
            path = tmp_path / f"{name.replace('__', '/')}.jinja"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return Prompts(tmp_path)

    return made


def test_prompt_is_rendered_with_what_it_includes(make: Make) -> None:
    """A file is a prompt, a folder a part of its name."""
    prompts = make(judge=JUDGE, parts__tone="Be {{ tone }}.")
    said = prompts.render("judge", topic="tea", tone="kind")
    assert (said, tuple(prompts)) == ("Judge tea.\nBe kind.", ("judge", "parts/tone"))


def test_prompt_object_says_what_it_needs(make: Make) -> None:
    """Some variables can be given early."""
    judge = make(judge=JUDGE, parts__tone="Be {{ tone }}.")["judge"].given(tone="kind")
    assert judge.variables == {"topic"}
    assert judge.render(topic="tea") == "Judge tea.\nBe kind."


def test_text_knows_its_name_and_hash(make: Make) -> None:
    """A rendered prompt is text that says which template it comes from."""
    prompts = make(judge="Judge.")
    said = prompts.render("judge")
    assert isinstance(said, Rendered)
    assert said.record == {"name": "judge", "hash": prompts["judge"].hash}


def test_missing_variable_is_named_with_file_and_line(make: Make, tmp_path: Path) -> None:
    """The error stands where the template asks for the value, with what was given instead."""
    prompts = make(judge=JUDGE, parts__tone="\nBe {{ tone }}.")
    with pytest.raises(DefinitionError, match=r"needs the variable `tone`.*You gave `tune`") as raised:
        prompts.render("judge", topic="tea", tune="kind")
    assert raised.value.where == f"{tmp_path / 'parts/tone.jinja'}:2"


def test_unknown_prompt_names_the_near_ones(make: Make) -> None:
    """A name that is written wrongly is no riddle."""
    with pytest.raises(DefinitionError, match=r"no prompt `juge`.*Did you mean `judge`\?"):
        make(judge="Judge.", plan="Plan.").render("juge")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x\n{% if %}", "written wrongly"),
        ("x\n{{ y | nothing }}", "No filter named 'nothing'"),
        ("x\n{{ y | random }}", "No filter named 'random'"),
        ('{% include "judges" %}', "no prompt `judges`, which `judge` includes"),
    ],
)
def test_wrong_template_is_found_when_the_set_is_made(make: Make, text: str, told: str) -> None:
    """Nothing has to run to find out; what would render anew each time counts as wrong."""
    with pytest.raises(DefinitionError, match=told) as raised:
        make(judge=text)
    assert "judge.jinja" in raised.value.where


@pytest.mark.parametrize("text", ["{{ x.__class__ }}", "{{ x.append(1) }}", "{{ x / 0 }}", "{{ x.near.far }}"])
def test_failing_template_is_an_error_with_its_place(make: Make, text: str) -> None:
    """The sandbox lets nothing out and nothing be changed; whatever fails is told with file and line."""
    with pytest.raises(DefinitionError, match="cannot be rendered") as raised:
        make(judge=f"\n{text}").render("judge", x=[])
    assert raised.value.where.endswith("judge.jinja:2")


def test_value_is_no_template(make: Make) -> None:
    """What a variable says is data."""
    assert make(judge="Judge {{ topic }}.").render("judge", topic="{{ 1 + 1 }}") == "Judge {{ 1 + 1 }}."


def test_hash_changes_with_what_is_included(make: Make) -> None:
    """A prompt is another one when a part of it is; its siblings stay what they were."""
    before = make(judge=JUDGE, parts__tone="Be kind.", plan="Plan.").hashes
    after = make(parts__tone="Be stern.").hashes
    assert {name for name in before if before[name] != after[name]} == {"judge", "parts/tone"}


def test_hash_covers_all_where_the_include_is_chosen_at_work(make: Make) -> None:
    """Nobody knows beforehand what is included, so that every change counts."""
    before = make(judge="{% include which %}", plan="Plan.").hashes["judge"]
    assert make(plan="Plan more.").hashes["judge"] != before


@pytest.mark.parametrize(("place", "told"), [("none", "no folder"), (".", "has no prompt")])
def test_folder_without_prompts_is_refused(tmp_path: Path, place: str, told: str) -> None:
    """It is said at once, and not at the first call."""
    with pytest.raises(DefinitionError, match=told):
        Prompts(tmp_path / place)


def test_prompts_can_be_texts() -> None:
    """A set without a folder, with a filter of its own."""
    prompts = Prompts.of({"loud": "{{ word | shout }}"}, filters={"shout": str.upper})
    assert prompts.render("loud", word="tea") == "TEA"
