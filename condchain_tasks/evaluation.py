"""What is done around an evaluation of lmms-eval: data that cannot be had ends the run."""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from loguru import logger

from condchain_tasks.data.harness import preparing
from condchain_tasks.tasks import task_names

_MARK = "_condchain_tasks_download"


def end_runs_without_data() -> None:
    """Ends a run whose rows lmms-eval cannot load, with one sentence; calling this again changes nothing.

    lmms-eval itself prints a traceback and exits with 0. If it has no place to attach to, a warning says so.
    """
    try:
        from lmms_eval.api.task import ConfigurableTask

        download: Callable[..., None] = ConfigurableTask.download
    except (ImportError, AttributeError):
        logger.warning(
            "condchain-tasks {} cannot end a run of lmms-eval {} whose data cannot be loaded: it exits with 0.",
            version("condchain-tasks"),
            version("lmms_eval"),
        )
        return
    if getattr(ConfigurableTask, _MARK, False):
        return

    @functools.wraps(download)
    def download_or_end(self: Any, *args: Any, **kwargs: Any) -> None:
        if self.config.task not in task_names():
            download(self, *args, **kwargs)
            return
        with preparing(self.config.task):
            download(self, *args, **kwargs)

    ConfigurableTask.download = download_or_end
    setattr(ConfigurableTask, _MARK, True)
