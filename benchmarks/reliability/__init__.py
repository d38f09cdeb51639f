"""Eight proofs of reliability: kills, racing workers, stalled holders, restarts, cancels, load, disk and answers."""
