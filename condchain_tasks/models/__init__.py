"""Models that lmms-eval can run."""
