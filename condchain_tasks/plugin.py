"""The one thing that lmms-eval loads: it makes the tasks known, and the simulated model.

lmms-eval has an entry-point group for models and none for tasks. Models are loaded before tasks are indexed, so the
models' entry point is also the place to add the task folder to the index.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loguru import logger

from condchain_tasks.async_client import mend_async_clients
from condchain_tasks.data.harness import RunNotPossible, is_first_rank
from condchain_tasks.evaluation import attach_to_evaluations
from condchain_tasks.model_replies import read_model_replies
from condchain_tasks.response_cache import mend_response_cache
from condchain_tasks.rounds import add_driver
from condchain_tasks.task_stages import add_stages

if TYPE_CHECKING:
    from lmms_eval.models.registry_v2 import ModelManifest

TASKS = Path(__file__).parent / "tasks"

PATCHES = "CONDCHAIN_PATCHES"
"""The environment variable that, set to "off", leaves lmms-eval as it is, the index of tasks aside."""

_MARK = "_condchain_tasks_attached"
_SIMULATED = "condchain_tasks.models.sim.SimulatedModel"
_LOST = (
    f"{PATCHES}=off leaves lmms-eval as it is. What is lost: V-REX planning and following (their runs end with a "
    "sentence); failed requests told from replies, and kept out of --use_cache; a --use_cache that knows servers and "
    "outlives kills and full disks; the judge's check before a run, and its concurrency; in the results the server and "
    "the hash of what is sent; exit code 1 for rows that cannot be loaded; a second call of async_openai in one run."
)


def manifests() -> list[ModelManifest]:
    """Called by lmms-eval when it loads its models.

    Returns:
        The simulated model's manifest.
    """
    from lmms_eval.models.registry_v2 import ModelManifest

    index_tasks()
    if patches_are_on():
        attach_to_evaluations()
        read_model_replies()
        mend_response_cache()
        add_stages()
        add_driver()
        mend_async_clients()
    elif is_first_rank():
        logger.warning(_LOST)
    # `lmms-eval models` lists what stands here, and no plugin's models.
    getattr(sys.modules["lmms_eval.models"], "AVAILABLE_SIMPLE_MODELS", {}).setdefault("condchain_sim", _SIMULATED)
    return [ModelManifest("condchain_sim", simple_class_path=_SIMULATED)]


def patches_are_on() -> bool:
    """Whether lmms-eval is patched beyond what makes the tasks known.

    Raises:
        RunNotPossible: `CONDCHAIN_PATCHES` is neither "off" nor "on".
    """
    value = os.environ.get(PATCHES) or "on"
    if value not in ("off", "on"):
        raise RunNotPossible(f"{PATCHES} is {value!r}: expected off, or on, which is the default.")
    return value == "on"


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


def _say_what_to_do_instead() -> None:
    logger.warning(
        "condchain-tasks {} cannot add its tasks to lmms-eval {}: add `--include_path {}` to the command.",
        version("condchain-tasks"),
        version("lmms_eval"),
        TASKS,
    )
