"""Benchmarks of multi-step visual reasoning as tasks for lmms-eval."""

from pathlib import Path

__version__ = "0.2.0"

# In a checkout the folders `scorers` and `prompts` stand beside this one; once installed, they stand in it.
if not (Path(__file__).parent / "scorers").is_dir():
    __path__.append(str(Path(__file__).parents[1]))

from condchain_tasks import on_import

on_import.index_tasks_with_lmms_eval()
