"""The type of what an activity returns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

S = TypeVar("S")

Update = Mapping[str, Any] | S | None
"""`sw.Update[State]`: some keys of the state, an instance of it, or nothing."""
