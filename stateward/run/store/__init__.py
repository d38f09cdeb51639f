"""What is kept: one database with checkpoints, journal, ledger, asks, leases and the audit log."""
