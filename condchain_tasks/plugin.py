"""The one thing that lmms-eval loads: it makes the tasks known, and the simulated model.

lmms-eval has an entry-point group for models and none for tasks. Models are loaded before tasks are indexed, so the
models' entry point is also the place to add the task folder to the index.

It also mends the response cache of `--use_cache`: lmms-eval stores the text that its API models return for a failed
request like a reply, and a second run is then served the failure again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loguru import logger

from condchain_tasks.scorers.replies import is_failed

if TYPE_CHECKING:
    from lmms_eval.models.registry_v2 import ModelManifest

TASKS = Path(__file__).parent / "tasks"

_MARK = "_condchain_tasks_attached"


def manifests() -> list[ModelManifest]:
    """Called by lmms-eval when it loads its models.

    Returns:
        The simulated model's manifest.
    """
    from lmms_eval.models.registry_v2 import ModelManifest

    index_tasks()
    keep_failures_out_of_the_cache()
    return [
        ModelManifest("condchain_sim", simple_class_path="condchain_tasks.models.sim.SimulatedModel"),
    ]


def index_tasks() -> None:
    """Makes every `TaskManager` index the package's tasks too, unless it was asked to leave out the defaults.

    A name that a user's `--include_path` also defines stays the user's. Calling this again changes nothing. If
    lmms-eval has no place to attach to, a warning says what to do instead.
    """
    try:
        from lmms_eval.tasks import TaskManager

        index: Callable[..., dict[str, Any]] = TaskManager.initialize_tasks
        read_folder = TaskManager._get_task_and_group
    except (ImportError, AttributeError):
        _say_what_to_do_instead()
        return
    # The mark is on the class: it outlives a second import of this module and a wrapper by another plugin.
    if getattr(TaskManager, _MARK, False):
        return

    @functools.wraps(index)
    def with_our_tasks(self: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        found = index(self, *args, **kwargs)
        include_defaults = kwargs.get("include_defaults", args[1] if len(args) > 1 else True)
        if not include_defaults:
            return found
        try:
            return {**read_folder(self, str(TASKS)), **found}
        except (AttributeError, TypeError):
            _say_what_to_do_instead()
            return found

    TaskManager.initialize_tasks = with_our_tasks
    setattr(TaskManager, _MARK, True)


def keep_failures_out_of_the_cache() -> None:
    """Makes `--use_cache` send a failed request again, in a later run, instead of remembering the failure.

    Calling this again changes nothing. If lmms-eval has no place to attach to, a warning says so.
    """
    try:
        from lmms_eval.caching.response_cache import ResponseCache

        is_valid: Callable[[Any, str], bool] = ResponseCache._is_valid_response
    except (ImportError, AttributeError):
        logger.warning(
            "condchain-tasks {} cannot keep failed requests out of the cache of lmms-eval {}: after failures, delete "
            "the folder of --use_cache.",
            version("condchain-tasks"),
            version("lmms_eval"),
        )
        return
    if getattr(ResponseCache, _MARK, False):
        return

    @functools.wraps(is_valid)
    def is_valid_reply(response: Any, request_type: str) -> bool:
        text = getattr(response, "text", response)
        rounds = text if isinstance(text, list) else [text]
        return is_valid(response, request_type) and not any(isinstance(r, str) and is_failed(r) for r in rounds)

    ResponseCache._is_valid_response = staticmethod(is_valid_reply)
    setattr(ResponseCache, _MARK, True)


def _say_what_to_do_instead() -> None:
    logger.warning(
        "condchain-tasks {} cannot add its tasks to lmms-eval {}: add `--include_path {}` to the command.",
        version("condchain-tasks"),
        version("lmms_eval"),
        TASKS,
    )
