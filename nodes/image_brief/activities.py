"""What `graphs.image_brief` does: pin the rules, word the prompt, draw the picture, write down what came of it."""

from __future__ import annotations

import asyncio
from typing import Any, TypedDict

import stateward as sw
from nodes.image_brief.picture import inspected
from stateward.govern.policy import Policy

SIZE = 1024
"""Width and height, in pixels, of a picture whose brief says none."""
FENCE = "```"


class Brief(TypedDict, total=False):
    """What somebody wants a picture of."""

    subject: str
    background: str
    light: str
    style: str
    width: int
    height: int
    notes: str


class Pictures(TypedDict, total=False):
    """The state. Values are plain JSON, so that any process can read them."""

    brief: Brief
    rules: dict[str, Any]
    """Mode, hash and retries that hold for this run, whatever becomes of the file."""
    prompt: dict[str, Any]
    """As the contract `Prompt` wants it."""
    image: dict[str, Any]
    """As the contract `Image` wants it."""
    record: dict[str, Any]


class Studio:
    """The activities under one policy.

    Args:
        policy: What binds them.
    """

    def __init__(self, policy: Policy) -> None:
        self._rules = {
            "mode": policy.mode,
            "policy": policy.hash,
            "retries": {spec.name: spec.retries for spec in policy.contracts},
        }

    def begin(self, state: Pictures) -> dict[str, Any]:
        """Write down the rules that hold, for whoever looks at a checkpoint; forget the picture before.

        Raises:
            ValueError: The brief has no subject.
        """
        if not state.get("brief", Brief()).get("subject", "").strip():
            raise ValueError('a brief needs a subject: give `{"brief": {"subject": "a lighthouse"}}`')
        return {"rules": self._rules, "prompt": {}, "image": {}, "record": {}}

    def write(self, state: Pictures, run: sw.SyncRun) -> dict[str, Any]:
        """Word the prompt by a template; sent back, leave the markdown out that a brief may have brought."""
        text = wording(state.get("brief", Brief()))
        return prompt_of(state, text if run.attempt == 1 else text.replace(FENCE, ""))

    async def assisted_write(self, state: Pictures, run: sw.Run) -> dict[str, Any]:
        """Let the model word the prompt; sent back, it is told what was wrong."""
        said: list[tuple[str, str]] = [
            ("system", "Word a prompt for an image model in one paragraph. Keep the words that end with a colon."),
            ("user", wording(state.get("brief", Brief()))),
        ]
        if run.feedback:
            said.append(("user", f"Your last prompt was refused. {run.feedback}"))
        return prompt_of(state, (await run.model().ainvoke(said)).text)

    async def draw(self, state: Pictures, run: sw.Run) -> dict[str, Any]:
        """Draw the picture, and look into the file.

        Raises:
            RuntimeError: The tool did not draw, and says why.
        """
        prompt = state.get("prompt", {})
        size = {"width": prompt["width"], "height": prompt["height"]}
        drawn = await run.tool("draw_image", prompt=prompt["text"], take=run.attempt, **size)
        if not drawn.ok:
            raise RuntimeError(f"`draw_image` {drawn.status}: {drawn.text}")
        return {"image": await asyncio.to_thread(inspected, drawn.value["file"])}

    def record(self, state: Pictures) -> dict[str, Any]:
        """Write down what the picture is and under which rules it was made."""
        image, rules = state.get("image", {}), state.get("rules", {})
        kept = {key: image[key] for key in ("file", "sha256", "bytes")}
        return {"record": {**kept, "mode": rules["mode"], "policy": rules["policy"]}}


def wording(brief: Brief) -> str:
    """Put a brief into the words of a prompt.

    Args:
        brief: The brief.
    """
    parts = {
        "subject": brief.get("subject", ""),
        "background": brief.get("background") or "plain",
        "light": brief.get("light") or "soft, from the left",
        "style": brief.get("style") or "flat",
    }
    return " ".join((*(f"{name}: {text}." for name, text in parts.items()), brief.get("notes", ""))).strip()


def prompt_of(state: Pictures, text: str) -> dict[str, Any]:
    """Return the update that holds a prompt; size and style are the brief's.

    Args:
        state: The state.
        text: The wording.
    """
    brief = state.get("brief", Brief())
    size = {"width": brief.get("width", SIZE), "height": brief.get("height", SIZE)}
    return {"prompt": {"text": text, "style": brief.get("style") or "flat", **size}}
