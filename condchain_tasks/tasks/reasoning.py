"""Which tags a task's replies have their reasoning between."""

from __future__ import annotations

from typing import Any

from condchain_tasks.scorers.replies import REASONING_TAGS, Tags


def reasoning_tags(task: Any) -> Tags:
    """The tags that lmms-eval uses for a task: its own, else those of `--reasoning_tags`.

    Returns:
        The pairs; none if the user turned them off ("none"), and lmms-eval's defaults where nothing is said, as when
        it is called from Python.
    """
    from lmms_eval.api.reasoning import parse_reasoning_tags_config

    said = task.config.reasoning_tags
    if said is None:
        said = getattr(getattr(task, "args", None), "reasoning_tags", None)
    return REASONING_TAGS if said is None else tuple(map(tuple, parse_reasoning_tags_config(task_value=said) or ()))
