"""Breakers: a provider that fails again and again is left alone for a while, then asked once whether it works again.

One object serves a process: it is the database's, so that all sessions and graphs over it learn from each other.
Closed → (so many failures in a row) → open → (after a while) → half-open: exactly one call probes → closed, or open
again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

from langchain_core.language_models import BaseChatModel

from stateward.run.door.output_limit import said_by
from stateward.run.door.role import ModelRole


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """A call that a breaker let pass; how it went must be told."""

    provider: str
    is_probe: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """A call that a breaker did not let pass."""

    provider: str
    failures: int
    """How many there were in a row."""
    closes_in_s: float
    """Seconds until the next call may probe; 0 while another one does."""


@dataclass(slots=True, kw_only=True)
class _State:
    failures: int = 0
    failed_at: float = 0.0
    is_probed: bool = False


class Breakers:
    """The breakers of a process.

    Args:
        now: Seconds that never run backwards.
    """

    def __init__(self, *, now: Callable[[], float]) -> None:
        self._now = now
        self._states: dict[str, _State] = {}
        self._lock = Lock()

    def ask(self, provider: str, *, after: int, for_s: float) -> Ticket | Open:
        """Ask whether a provider may be called.

        Args:
            provider: From `provider_of`.
            after: Failures in a row that open its breaker, at least 1.
            for_s: Seconds that it stays open after the last of them.

        Returns:
            A ticket, for exactly one of `succeeded`, `failed` and `dropped`; or why not.
        """
        with self._lock:
            state = self._states.setdefault(provider, _State())
            if state.failures < after:
                return Ticket(provider=provider)
            left = state.failed_at + for_s - self._now()
            if left > 0 or state.is_probed:
                return Open(provider=provider, failures=state.failures, closes_in_s=max(0.0, left))
            state.is_probed = True
            return Ticket(provider=provider, is_probe=True)

    def succeeded(self, ticket: Ticket) -> None:
        """Tell that the provider answered: its breaker closes.

        Args:
            ticket: From `ask`.
        """
        with self._lock:
            state = self._states[ticket.provider]
            state.failures = 0
            self._put_back(state, ticket)

    def failed(self, ticket: Ticket) -> None:
        """Tell that the provider failed.

        Args:
            ticket: From `ask`.
        """
        with self._lock:
            state = self._states[ticket.provider]
            state.failures += 1
            state.failed_at = self._now()
            self._put_back(state, ticket)

    def dropped(self, ticket: Ticket) -> None:
        """Tell that nobody learned how the call went; a probe may be made again.

        Args:
            ticket: From `ask`.
        """
        with self._lock:
            self._put_back(self._states[ticket.provider], ticket)

    @staticmethod
    def _put_back(state: _State, ticket: Ticket) -> None:
        if ticket.is_probe:
            state.is_probed = False


def provider_of(role: ModelRole) -> str:
    """Say who stands behind a role: its provider, address and model; roles that share them share a breaker.

    Args:
        role: A model role.

    Returns:
        A name; the role's own, where the model does not say what it is.
    """
    model = model_name(role.model)
    if not model:
        return f"role {role.name}"
    address = next((str(at) for name in _ADDRESSES if (at := getattr(role.model, name, None))), "")
    return " ".join(part for part in (type(role.model).__name__, address, model) if part)


def model_name(model: BaseChatModel) -> str:
    """Say which model answers; empty when its class does not say.

    Args:
        model: A bare chat model.
    """
    said = said_by(model, _NAMES)
    return next((str(said[name]) for name in _NAMES if isinstance(said.get(name), str) and said[name]), "")


_ADDRESSES = ("openai_api_base", "azure_endpoint", "anthropic_api_url", "base_url", "endpoint_url")
_NAMES = ("model_name", "model", "model_id", "deployment_name")
