"""What the tasks' YAML files name: data that is looked for when the harness loads the task, not before.

`!function condchain_tasks.data.harness.condchain_gui` in a YAML file reads this module's attribute `condchain_gui`,
and only then is the data fetched, checked and prepared. The value is what `load_dataset("parquet", ...)` takes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from loguru import logger
from tenacity import RetryError

from condchain_tasks.data.benchmarks import BENCHMARKS, benchmark_of
from condchain_tasks.data.prepared import Prepared
from condchain_tasks.data.sources import Source
from condchain_tasks.tasks import task_names

_MAX_REASON = 500


class RunNotPossible(SystemExit):
    """Ends the run with one sentence and exit code 1.

    lmms-eval catches every `Exception` of an evaluation, prints it, and exits with 0.
    """


@contextmanager
def preparing(task: str) -> Iterator[None]:
    """Ends the run if anything goes wrong while what a task needs is prepared.

    Args:
        task: Its name, for the sentence.

    Raises:
        RunNotPossible: Something did: unusable data, a full disk, a folder that is a loop of links.
    """
    try:
        yield
    except (OSError, ValueError) as error:  # a DataError and a PromptError are ValueErrors
        raise RunNotPossible(f"{task}: {error}") from error
    except Exception as error:
        # tenacity's RetryError, which lmms-eval's loading of data sets ends with, says nothing of its cause.
        cause = error.last_attempt.exception() if isinstance(error, RetryError) else error
        said = " ".join(f"{type(cause).__name__}: {cause}".split())
        raise RunNotPossible(f"{task}: its data cannot be prepared ({said[:_MAX_REASON]}).") from error


def __getattr__(name: str) -> dict[str, Any]:
    if name.partition("_")[0] not in BENCHMARKS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    source, data = _load(name)
    if data.remarks and source.kind != "mini" and is_first_rank():  # an embedded benchmark is as it is meant
        logger.warning(
            "{}: the data can be scored, with these oddities: {}. `condchain data check {} {}` lists each.",
            name,
            ", ".join(f"{count} {kind}" for kind, count in data.remarks.items()),
            name.partition("_")[0],
            source.root,
        )
    if source.kind != "mini" and is_first_rank():
        if data.synthetic:
            logger.warning(
                "{}: the data in {} was drawn by condchain synth: its figures are not the benchmark's.",
                name,
                source.root,
            )
        for refusal in data.largest.refusals():
            logger.warning("{}: {}.", name, refusal)
    return {"data_files": {"test": str(data.rows)}}


def provenance(task: str) -> dict[str, Any]:
    """What identifies a task's data in a result.

    Args:
        task: A task of this package.

    Returns:
        `source` (folder, hub or mini), `root`, `revision`, `sha256` of the content, `remarks` (kind -> count),
        `synthetic` (drawn by this package) and `official` (known to be the released files).
    """
    source, data = _load(task)
    return {
        "source": source.kind,
        "root": str(source.root),
        "revision": source.revision,
        "sha256": data.sha256,
        "remarks": data.remarks,
        "synthetic": data.synthetic,
        "official": data.official,
    }


def is_first_rank() -> bool:
    """Whether this process is the one that speaks for all ranks."""
    return os.environ.get("RANK", "0") == "0"


def _load(task: str) -> tuple[Source, Prepared]:
    if task not in task_names():
        raise AttributeError(f"there is no task {task!r}")
    with preparing(task):
        return benchmark_of(task)[1].load(task)
