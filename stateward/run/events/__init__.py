"""What a session tells while it runs: one stream of typed events, whoever in it speaks."""
