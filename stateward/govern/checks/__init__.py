"""The checks a call must pass, a file each; `decision` has their order."""
