"""What the tasks' YAML files name: data that is looked for when the harness loads the task, not before.

`!function condchain_tasks.data.harness.condchain_gui` in a YAML file reads this module's attribute `condchain_gui`,
and only then is the data fetched, checked and prepared. The value is what `load_dataset("parquet", ...)` takes.
"""

from __future__ import annotations

import os
from typing import Any

from loguru import logger

from condchain_tasks.data import condchain
from condchain_tasks.data.sources import DOMAINS, Source, mini, official

_CHRONO = "_chrono"
_MINI = "_mini"


class RunNotPossible(SystemExit):
    """Ends the run with one sentence and exit code 1.

    lmms-eval catches every `Exception` of an evaluation, prints it, and exits with 0.
    """


def __getattr__(name: str) -> dict[str, Any]:
    if not name.startswith("condchain_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    source, data = _prepare(name)
    if data.remarks and os.environ.get("RANK", "0") == "0":
        logger.warning(
            "{}: the data can be scored, with these oddities: {}. `condchain data check condchain {}` lists each.",
            name,
            ", ".join(f"{count} {kind}" for kind, count in data.remarks.items()),
            source.root,
        )
    return {"data_files": {"test": str(data.rows)}}


def provenance(task: str) -> dict[str, Any]:
    """What identifies a task's data in a result.

    Args:
        task: A condchain task's name.

    Returns:
        `source` (folder, hub or mini), `root`, `revision`, `sha256` of the data, and `remarks` (kind -> count).
    """
    source, data = _prepare(task)
    return {
        "source": source.kind,
        "root": str(source.root),
        "revision": source.revision,
        "sha256": data.sha256,
        "remarks": data.remarks,
    }


def _prepare(task: str) -> tuple[Source, condchain.Prepared]:
    name = task.removesuffix(_MINI)
    domain = name.removeprefix("condchain_").removesuffix(_CHRONO)
    if domain not in DOMAINS:
        raise AttributeError(f"there is no task {task!r}")
    try:
        source = mini() if task.endswith(_MINI) else official(domain)
        order: condchain.FrameOrder = "chronological" if name.endswith(_CHRONO) else "lexicographic"
        return source, condchain.prepare(source, domain, order)
    except (OSError, ValueError) as error:  # a DataError is a ValueError
        raise RunNotPossible(f"{task}: {error}") from error
