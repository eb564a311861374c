"""What the tasks' YAML files name: data that is looked for when the harness loads the task, not before.

`!function condchain_tasks.data.harness.condchain_gui` in a YAML file reads this module's attribute `condchain_gui`,
and only then is the data fetched, checked and prepared. The value is what `datasets.load_dataset("json", ...)` takes.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any

from loguru import logger

from condchain_tasks.data import condchain
from condchain_tasks.data.errors import DataError
from condchain_tasks.data.sources import DOMAINS, Source, mini, official

_CHRONO = "_chrono"
_MINI = "_mini"


class DataNotUsable(SystemExit):
    """Ends the run with one sentence and exit code 1.

    lmms-eval catches every `Exception` of an evaluation, prints it, and exits with 0.
    """


def __getattr__(name: str) -> dict[str, Any]:
    if name.startswith("condchain_"):
        return {"data_files": {"test": str(_prepared(name)[1].rows)}}
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def provenance(task: str) -> dict[str, Any]:
    """What identifies a task's data in a result.

    Args:
        task: A condchain task's name.

    Returns:
        `source` (folder, hub or mini), `root`, `revision`, `sha256` of the data, and `remarks` (kind -> count).
    """
    source, data = _prepared(task)
    return {
        "source": source.kind,
        "root": str(source.root),
        "revision": source.revision,
        "sha256": data.sha256,
        "remarks": data.remarks,
    }


@lru_cache(maxsize=64)
def _prepared(task: str) -> tuple[Source, condchain.Prepared]:
    name = task.removesuffix(_MINI)
    domain = name.removeprefix("condchain_").removesuffix(_CHRONO)
    if domain not in DOMAINS:
        raise AttributeError(f"there is no task {task!r}")
    try:
        source = mini() if task.endswith(_MINI) else official(domain)
        data = condchain.prepare(
            source, domain, "chronological" if name.endswith(_CHRONO) else "lexicographic"
        )
    except DataError as error:
        raise DataNotUsable(f"{task}: {error}") from error
    if data.remarks and os.environ.get("RANK", "0") == "0":
        counts = ", ".join(f"{count} {kind}" for kind, count in data.remarks.items())
        logger.warning(
            "{}: the data can be scored, with these oddities: {}. `condchain data check condchain {}` lists each.",
            task,
            counts,
            source.root,
        )
    return source, data
