"""Benchmarks of multi-step visual reasoning as tasks for lmms-eval."""

__version__ = "0.1.0"
