"""Plain functions from replies to scores: no harness, no torch, no input or output."""
