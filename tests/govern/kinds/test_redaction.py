"""What is taken out before each place."""

from __future__ import annotations

from stateward.govern.kinds.redaction import BY_DEFAULT, Redaction


def test_secrets_are_taken_out_whatever_a_policy_says() -> None:
    """What it names comes besides; an empty list takes nothing back."""
    assert Redaction(log=("personal",)).classes("log") == {"secret", "personal"}
    assert Redaction(audit=()).classes("audit") == Redaction().classes("model") == BY_DEFAULT


def test_nested_policies_take_out_what_any_of_them_names() -> None:
    """A place that only one of them names is kept as that one says."""
    both = Redaction(log=("personal",)).tighten(Redaction(log=("secret",), memory=("personal",)))
    assert both == Redaction(log=("personal", "secret"), memory=("personal",))
