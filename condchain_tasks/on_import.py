"""`import condchain_tasks` is enough for lmms-eval's `TaskManager` to know the tasks, and imports nothing for it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

_LMMS_EVAL_TASKS = "lmms_eval.tasks"


def index_tasks_with_lmms_eval() -> None:
    """Adds this package's tasks to lmms-eval's: now if those are imported, else as soon as they are."""
    if hasattr(sys.modules.get(_LMMS_EVAL_TASKS), "TaskManager"):
        _index()
    else:
        sys.meta_path.insert(0, _Finder())


def _index() -> None:
    from condchain_tasks.plugin import index_tasks

    index_tasks()


class _Finder(MetaPathFinder):
    """Finds `lmms_eval.tasks` as all others would, once, and acts when it has been executed."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != _LMMS_EVAL_TASKS:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_index(module: ModuleType) -> None:
                execute(module)
                _index()

            spec.loader.exec_module = execute_and_index  # type: ignore[method-assign]
        return spec
