"""`image_brief` (C1, C2, C3): prompt and picture pass gates of the policy; rules are pinned, no state runs twice."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import stateward as sw
from graphs.image_brief import POLICY, build
from nodes.image_brief.picture import Painter, inspected, paint
from stateward.errors import Drift
from stateward.run.session import Outcome
from stateward.testing import ScriptedModel
from tests.charts.drive import Driven

ROOT = Path(__file__).parents[2]
BRIEF = {"subject": "a red mug", "background": "a wooden table"}
GOOD = "subject: a red mug. background: a table. light: soft. style: flat."
Make = Callable[..., Driven]


@pytest.fixture
def make(drive: Callable[..., Driven], tmp_path: Path) -> Make:
    """Drive a session of the graph, its pictures in a folder of the test."""

    def driven(*overrides: str, session: str = "s1", **options: Any) -> Driven:
        graph = build(env={}, overrides=(f"config.out={tmp_path / 'out'}", *overrides), **options)
        return drive(graph, session=session)

    return driven


def writer(*replies: Any) -> dict[str, sw.ModelRole]:
    """A priced model that words the prompt."""
    model = ScriptedModel.of(*replies)
    prices = {"usd_per_million_input": 1.0, "usd_per_million_output": 1.0, "max_output_tokens": 200}
    return {"writer": sw.ModelRole(name="writer", model=model, **prices)}  # pyright: ignore[reportArgumentType]  # mixed numbers


def draws(*files: bytes) -> Painter:
    """A painter that gives these files, the last one again and again."""
    left = list(files)
    return lambda prompt, width, height, take: left.pop(0) if len(left) > 1 else left[0]


def why(outcome: Outcome) -> str:
    """The event that halted a run."""
    return str((outcome.reason or {})["event"])


def image_file(width: int, height: int, form: str = "PNG") -> bytes:
    kept = io.BytesIO()
    Image.new("RGB", (width, height)).save(kept, format=form)
    return kept.getvalue()


def calls(driven: Driven) -> list[tuple[str, str]]:
    """State and tool or role of each call in the journal."""
    return [(entry.key.path, entry.name) for entry in driven.session.database.journal.entries("s1")]


# -- C1: the pipeline -----------------------------------------------------------------------------------------


def test_a_brief_becomes_a_picture_on_record(make: Make) -> None:
    """A PNG of the asked size lies where the record says, with its hash."""
    done = make().start({"brief": {**BRIEF, "width": 640, "height": 512}})
    record = done.values["record"]
    found = inspected(record["file"])
    assert (done.status, found["mime"], found["width"], found["height"]) == ("completed", "image/png", 640, 512)
    assert (found["sha256"], found["bytes"], record["mode"]) == (record["sha256"], record["bytes"], "strict")


def test_the_same_prompt_is_the_same_picture() -> None:
    """Drawing takes no chance that a second try would not take; another take looks different."""
    assert paint(GOOD, 512, 512, 1) == paint(GOOD, 512, 512, 1) != paint(GOOD, 512, 512, 2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("subject: background: light: style:", "50 characters"),
        (GOOD.replace("background", "behind"), "background:"),
        (GOOD.replace("style", "look"), "style:"),
        (f"```markdown\n{GOOD}\n```", "```"),
    ],
    ids=["short", "keyword", "style", "fence"],
)
def test_a_prompt_that_breaks_the_policy_goes_back_with_the_reason(make: Make, text: str, said: str) -> None:
    """The writer is told what was wrong, and its second prompt is drawn."""
    models = writer(text, GOOD)
    done = make(models=models).start({"brief": BRIEF})
    assert (done.status, done.values["prompt"]["text"]) == ("completed", GOOD)
    asked: Any = models["writer"].model
    assert said in str(asked.calls[1][-1].content)


@pytest.mark.parametrize("size", [511, 1537])
def test_a_size_out_of_range_fails_loudly(make: Make, size: int) -> None:
    """The template words it the same four times; nothing is drawn, and no checkpoint has the prompt."""
    driven = make()
    halted = driven.start({"brief": {**BRIEF, "width": size}})
    assert (halted.status, halted.path, why(halted)) == ("halted", "MAKE.WRITE", "error.contract")
    assert (calls(driven), [one for one in driven.checkpoints if one.values.get("prompt")]) == ([], [])


def test_lenient_lets_pass_what_strict_refuses(make: Make) -> None:
    """The mode is a word; contracts are built from it, and their titles say so."""
    short = "style: flat. A red mug."
    assert make("policy.mode=lenient", models=writer(short)).start({"brief": BRIEF}).status == "completed"
    assert make(models=writer(*[short] * 4), session="s2").start({"brief": BRIEF}).status == "halted"


@pytest.mark.parametrize("mode", ["strict", "lenient"])
def test_contracts_are_titled_with_mode_and_hash(make: Make, mode: str) -> None:
    """One class for all states under the policy."""
    machine = make(f"policy.mode={mode}").session.graph.machine
    write, draw = (machine.effectives[machine.chart.by_path[f"MAKE.{name}"]] for name in ("WRITE", "DRAW"))
    assert write.model_of("Prompt") is draw.model_of("Prompt")
    assert write.model_of("Prompt").model_json_schema()["title"] == f"Prompt-{mode}-{write.hash[:12]}"


# -- the gate on the picture's bytes --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bad",
    [
        b"",
        b"<svg/>",
        image_file(640, 640)[:-200],
        image_file(640, 640, "GIF"),
        image_file(256, 640),
        image_file(640, 640) + b"\0" * 2_000_000,
    ],
    ids=["empty", "no picture", "cut off", "gif", "small", "heavy"],
)
def test_bytes_that_are_no_such_picture_are_drawn_again(make: Make, bad: bytes) -> None:
    """The file's name says PNG; only what it holds counts. The prompt is not written again."""
    driven = make(painter=draws(bad, image_file(640, 640)), models=writer(GOOD))
    done = driven.start({"brief": BRIEF})
    assert (done.status, done.values["image"]["mime"]) == ("completed", "image/png")
    assert calls(driven) == [("MAKE.WRITE", "writer"), ("MAKE.DRAW", "draw_image"), ("MAKE.DRAW", "draw_image")]


def test_a_picture_that_stays_wrong_fails_loudly(make: Make) -> None:
    """Three retries, then the run halts; the prompt is kept, the picture is in no checkpoint."""
    driven = make(painter=draws(b"nothing"))
    halted = driven.start({"brief": BRIEF})
    assert (halted.status, why(halted), len(calls(driven))) == ("halted", "error.contract", 4)
    assert [one for one in driven.checkpoints if one.values.get("image")] == []
    assert halted.values["prompt"]["style"] == "flat"


# -- C2: pins -------------------------------------------------------------------------------------------------


def edited(file: Path) -> Any:
    """A reply in whose time somebody edits the policy."""

    def reply(_: Any) -> str:
        file.write_text(
            file.read_text().replace("retries: 3", "retries: 0").replace("min_length: 50", "min_length: 90")
        )
        return "too short"

    return reply


def test_every_checkpoint_shows_what_is_pinned(make: Make) -> None:
    """Mode, hashes and run in the control channel, the retry limits beside them."""
    driven = make()
    driven.start({"brief": BRIEF})
    *_, last = driven.checkpoints
    run, pins = last.values["stateward"]["run"], driven.session.graph.machine.pins
    assert (run["mode"], run["hashes"]) == (
        "strict",
        {"chart": pins.chart, "policy": pins.policy, "schema": pins.schema},
    )
    assert run["id"].startswith("run_")
    assert last.values["rules"]["retries"] == {"Prompt": 3, "Image": 3}


def test_a_policy_edited_in_a_run_changes_the_next_one_only(make: Make, tmp_path: Path) -> None:
    """The run under way keeps its limits and hash; the next has others, and may not take over an old run."""
    file = tmp_path / "image_brief.yaml"
    file.write_text(POLICY.read_text())
    first = make(policy=file, models=writer(edited(file), GOOD))
    done = first.start({"brief": BRIEF})
    assert (done.status, done.values["rules"]["retries"]["Prompt"]) == ("completed", 3)
    other = make(policy=file, models=writer(GOOD), session="s2")
    halted = other.start({"brief": BRIEF})
    assert (halted.status, halted.values["rules"]["retries"]["Prompt"]) == ("halted", 0)
    assert halted.values["rules"]["policy"] != done.values["rules"]["policy"]


def test_an_old_run_is_not_taken_on_under_an_edited_policy(make: Make) -> None:
    """It was pinned when it began."""
    asks = "policy.tools.rules.0.level=restricted"
    (ask,) = make(asks).start({"brief": BRIEF}).asks
    with pytest.raises(Drift):
        make(asks, "policy.fuses.calls=3").answer(ask)
    assert make(asks).resume().status == "completed"


# -- C3: nothing upstream runs again --------------------------------------------------------------------------

WORK = """
import os, signal, sys
from pathlib import Path
import stateward as sw
from graphs.image_brief import build
from nodes.image_brief.picture import paint
from stateward.testing import ScriptedModel

url, out, log = sys.argv[1:]

def said(messages):
    Path(log).open("a").write("write\\n")
    return "subject: a red mug. background: a table. light: soft. style: flat."

def painted(*given):
    first = "draw" not in Path(log).read_text()
    Path(log).open("a").write("draw\\n")
    if first:
        os.kill(os.getpid(), signal.SIGKILL)
    return paint(*given)

model = ScriptedModel.of(said)
role = sw.ModelRole(name="writer", model=model, usd_per_million_input=1.0, usd_per_million_output=1.0,
                    max_output_tokens=99)
with sw.open(url) as database:
    graph = build(env={}, overrides=[f"config.out={out}"], models={"writer": role}, painter=painted)
    session = sw.Session("s1", graph.attach(database), database)
    done = session.start({"brief": {"subject": "a red mug"}}) if session.row() is None else session.resume()
    print(done.status, done.values["image"]["mime"])
"""


@pytest.mark.slow
def test_killed_while_it_draws_it_draws_again_and_writes_once(tmp_path: Path) -> None:
    """SIGKILL in the tool; the next process has the prompt from the checkpoint, and one file is left."""
    given = [f"sqlite:///{tmp_path}/i.db", str(tmp_path / "out"), str(tmp_path / "log")]
    runs = [
        subprocess.run([sys.executable, "-c", WORK, *given], cwd=ROOT, capture_output=True, text=True, check=False)
        for _ in range(2)
    ]
    assert [one.returncode for one in runs] == [-9, 0], runs[1].stderr
    assert runs[1].stdout == "completed image/png\n"
    assert (tmp_path / "log").read_text().split() == ["write", "draw", "draw"]
    assert len(list((tmp_path / "out").iterdir())) == 1


def test_the_drawing_shows_the_gates_under_one_policy() -> None:
    """The chart is clean, and its states lie in MAKE."""
    graph = build(env={})
    assert {"MAKE:WRITE", "MAKE:DRAW", "MAKE:RECORD"} <= set(graph.get_graph().nodes)
