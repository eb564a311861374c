"""`metadata_TASK`: what goes into a task's results, so that figures can be told to be comparable."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from condchain_tasks import __version__
from condchain_tasks.data.harness import preparing, provenance

_PREFIX = "metadata_"


def task_metadata(module: str, name: str, about: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
    """The value of a hooks module's attribute `metadata_TASK`, which the task's YAML names.

    Args:
        module: The hooks module's name.
        name: The attribute's.
        about: From the task's name to what its benchmark adds: prompts, seen to work, and the like.

    Returns:
        Versions, what `about` gives, and where the data is from.

    Raises:
        AttributeError: It is another attribute.
        RunNotPossible: A prompt or a setting cannot be used; the run ends here, before any request.
    """
    if not name.startswith(_PREFIX):
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    task = name.removeprefix(_PREFIX)
    with preparing(task):
        own = about(task)
    versions = {"version": 1.1, "condchain_tasks": __version__, "lmms_eval": version("lmms_eval")}
    return {**versions, **own, "data": provenance(task)}
