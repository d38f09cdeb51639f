"""Whether a call may happen: policies, decisions, contracts and redaction, all pure."""
