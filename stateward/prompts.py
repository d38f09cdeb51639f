"""Prompts for authors: Jinja files beside the domain, strict and sandboxed, their hash in the record of each call.

from stateward.prompts import Prompts

prompts = Prompts(Path(__file__).parent / "prompts")
prompts.render("judge", topic="…")
"""

from stateward.run.prompt import Prompt, Prompts
from stateward.run.rendered import Rendered

__all__ = ["Prompt", "Prompts", "Rendered"]
