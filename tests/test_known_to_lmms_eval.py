"""Where lmms-eval knows the tasks, and what is left of it under CONDCHAIN_PATCHES=off: whole processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("lmms_eval")

_LIGHT = """
import sys
import condchain_tasks
heavy = {"torch", "lmms_eval", "pyarrow", "PIL", "numpy", "datasets", "transformers", "pydantic"} & set(sys.modules)
assert not heavy, heavy
"""
_TASK_MANAGER = """
from condchain_tasks.tasks import task_names
{imports}
manager = TaskManager("ERROR")
missing = set(task_names()) - set(manager.all_tasks)
assert not missing, missing
assert "mmmu_val" in manager.all_tasks
assert "ccrv_x1" in manager.all_tags and "condchain_mini" in manager.all_groups
"""
_PATCHED = """
import lmms_eval.models
from lmms_eval.api.model import lmms
from lmms_eval.api.task import ConfigurableTask
from lmms_eval.caching.response_cache import ResponseCache
from lmms_eval.tasks import TaskManager
owners = (lmms, ConfigurableTask, ResponseCache, TaskManager)
print(sorted(f"{o.__name__}.{n}" for o in owners for n in vars(o) if "condchain" in n or n == "generate_in_rounds"))
"""


def python(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], env=os.environ | variables, capture_output=True, text=True, check=False
    )


def lmms_eval(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "lmms_eval", *arguments], env=os.environ | variables, capture_output=True, text=True
    )


def test_importing_the_package_imports_nothing_large() -> None:
    assert python(_LIGHT).stderr == ""


@pytest.mark.parametrize(
    "imports",
    [
        "from lmms_eval.tasks import TaskManager",
        "import lmms_eval.evaluator\nfrom lmms_eval.tasks import TaskManager",
    ],
)
def test_a_task_manager_knows_the_tasks_once_the_package_is_imported(imports: str) -> None:
    done = python(_TASK_MANAGER.format(imports=imports))
    assert done.returncode == 0, done.stderr


def test_a_package_that_is_imported_after_lmms_eval_adds_its_tasks_too() -> None:
    code = "from lmms_eval.tasks import TaskManager\nimport condchain_tasks" + _TASK_MANAGER.format(imports="")
    done = python(code)
    assert done.returncode == 0, done.stderr


def test_the_simulated_model_is_in_the_list_of_models() -> None:
    done = python("import sys; sys.argv = ['lmms-eval', 'models']; from lmms_eval.cli.dispatch import main; main()")
    assert "condchain_sim" in done.stdout.split()


def test_without_patches_the_tasks_stay_and_what_is_lost_is_said_once() -> None:
    on, off = python(_PATCHED), python(_PATCHED, CONDCHAIN_PATCHES="off")
    assert "lmms.generate_in_rounds" in on.stdout
    warning, patched = off.stdout.strip().splitlines()
    assert "CONDCHAIN_PATCHES=off leaves lmms-eval as it is. What is lost: V-REX planning and following" in warning
    assert patched == "['TaskManager._condchain_tasks_attached']"
    assert "CONDCHAIN_PATCHES" not in on.stdout + on.stderr


def test_a_mistyped_value_is_not_taken_for_on() -> None:
    done = python("import lmms_eval.models", CONDCHAIN_PATCHES="of")
    assert done.returncode == 1
    assert (
        done.stderr.strip().splitlines()[-1] == "CONDCHAIN_PATCHES is 'of': expected off, or on, which is the default."
    )


def test_without_patches_single_questions_are_scored_and_conversations_end_the_run(tmp_path: Path) -> None:
    arguments = ["--model", "condchain_sim", "--limit", "4", "--output_path", str(tmp_path), "--log_samples"]
    settings = {"CONDCHAIN_PATCHES": "off", "CCRV_JUDGE": "none"}
    tasks = "condchain_natural_mini,ccrv_x1_y4_mini,vrex_direct_mini,vrex_planning_tf_mini"
    done = lmms_eval("--tasks", tasks, *arguments, **settings)
    assert done.returncode == 0, done.stderr
    (path,) = tmp_path.rglob("*_results.json")
    results = json.loads(path.read_text())["results"]
    assert results["condchain_natural_mini"]["path_f1,none"] == 100
    assert results["vrex_direct_mini"]["final_acc,none"] == 100
    done = lmms_eval("--tasks", "vrex_planning_mini", *arguments, **settings)
    assert done.returncode == 1
    assert (
        done.stderr.strip()
        .splitlines()[-1]
        .startswith("vrex_planning_mini: lmms-eval runs conversations in rounds only")
    )
