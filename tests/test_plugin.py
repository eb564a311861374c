"""The tasks are found, whatever else is installed or included."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from condchain_tasks import plugin, response_cache
from condchain_tasks.tasks import task_names

pytest.importorskip("lmms_eval")

import harness  # noqa: F401
import lmms_eval.models
from lmms_eval.caching.response_cache import ResponseCache
from lmms_eval.tasks import TaskManager

CELLS = [f"_x{x}_{y}" for x in range(1, 5) for y in ("base", "y1", "y2", "y3", "y4")]
CONTROLS = ["_textonly", "_textonly_y1", "_oracle_textonly_y1", "_oracle_y1", "_oracle_y2", "_oracle_y4"]
CONTROLS += ["_cot_a", "_cot_b"]
OTHER_TEMPLATES = {"ccrv": ["_all"], "vrex": ["_rounds", "_steps"]}
VREX = ["", "_planning", "_planning_hard", "_planning_blind", "_planning_tf", "_following", "_following_blind"]
VREX += ["_following_tf", "_direct", "_direct_blind"]
EXPECTED = {
    name + mini
    for name in [f"condchain{domain}" for domain in ("", "_natural", "_chart", "_gui", "_gui_chrono")]
    + [f"ccrv{part}" for part in ("", *CELLS, *CONTROLS)]
    + [f"vrex{part}" for part in VREX]
    for mini in ("", "_mini")
}
TAGS = {
    f"ccrv_{part}{mini}" for part in ("x1", "x2", "x3", "x4", "base", "y1", "y2", "y3", "y4") for mini in ("", "_mini")
}


@pytest.fixture
def restored() -> Iterator[None]:
    """Undoes what a test does to the harness."""
    kept = {cls: dict(vars(cls)) for cls in (TaskManager, ResponseCache)}
    names = ("initialize_tasks", "_get_task_and_group", "_is_valid_response", plugin._MARK, response_cache._MARK)
    yield
    for cls, before in kept.items():
        for name in set(vars(cls)) - set(before):
            delattr(cls, name)
        for name in names:
            if name in before:
                setattr(cls, name, before[name])


def test_every_task_is_indexed_beside_the_harness_own() -> None:
    index = TaskManager(verbosity="ERROR").task_index
    assert set(task_names()) == EXPECTED
    assert index.keys() >= EXPECTED
    assert "mmmu_val" in index
    assert index["condchain"]["type"] == "group"
    assert {name for name in TAGS if index[name]["type"] == "tag"} == TAGS
    assert sorted(index["ccrv_x2_mini"]["task"]) == [f"ccrv_x2_{y}_mini" for y in ("base", "y1", "y2", "y3", "y4")]
    assert sorted(index["ccrv_y3"]["task"]) == [f"ccrv_x{x}_y3" for x in range(1, 5)]


def test_the_simulated_model_is_known() -> None:
    assert "condchain_sim" in lmms_eval.models.list_available_models()


def test_a_users_folder_is_included_and_wins(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("task: condchain_gui\ndataset_path: mine\n")
    (tmp_path / "other.yaml").write_text("task: other\ndataset_path: mine\n")
    index = TaskManager(verbosity="ERROR", include_path=str(tmp_path)).task_index
    assert index["condchain_gui"]["yaml_path"] == str(tmp_path / "mine.yaml")
    assert "other" in index
    assert index["condchain_chart"]["yaml_path"].startswith(str(plugin.TASKS))


def test_who_leaves_out_the_defaults_leaves_ours_out_too(tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text("task: other\ndataset_path: mine\n")
    for call in (
        lambda: TaskManager(verbosity="ERROR", include_path=str(tmp_path), include_defaults=False),
        lambda: TaskManager("ERROR", str(tmp_path), False),
    ):
        assert set(call().task_index) == {"other"}


def test_loaded_twice_it_acts_once() -> None:
    before = (TaskManager.initialize_tasks, ResponseCache.execute, ResponseCache._is_valid_response)
    assert [manifest.model_id for manifest in plugin.manifests()] == ["condchain_sim"]
    assert (TaskManager.initialize_tasks, ResponseCache.execute, ResponseCache._is_valid_response) == before


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize("ours_first", [True, False])
def test_another_plugin_that_wraps_the_same_method(ours_first: bool) -> None:
    inner = TaskManager.initialize_tasks
    if not ours_first:
        inner = inner.__wrapped__
        delattr(TaskManager, plugin._MARK)

    def theirs(self: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        return {**inner(self, *args, **kwargs), "theirs": {"type": "task", "yaml_path": "theirs.yaml"}}

    TaskManager.initialize_tasks = theirs if ours_first else functools.wraps(inner)(theirs)
    plugin.index_tasks()
    assert TaskManager(verbosity="ERROR").task_index.keys() >= EXPECTED | {"theirs"}


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize("missing", ["initialize_tasks", "_get_task_and_group"])
def test_a_harness_without_the_hook_gives_one_sentence(warnings: list[str], missing: str) -> None:
    delattr(TaskManager, plugin._MARK)
    delattr(TaskManager, missing)
    plugin.index_tasks()
    (sentence,) = warnings
    assert re.match(r"condchain-tasks \S+ cannot add its tasks to lmms-eval 0\.7\.\d+: add `--include_path ", sentence)
    assert str(plugin.TASKS) in sentence


@pytest.mark.usefixtures("restored")
def test_a_harness_with_another_index_gives_one_sentence(warnings: list[str]) -> None:
    delattr(TaskManager, plugin._MARK)
    TaskManager.initialize_tasks = lambda self, include_path=None, include_defaults=True: ["a", "list"]
    plugin.index_tasks()
    assert TaskManager.initialize_tasks(TaskManager.__new__(TaskManager)) == ["a", "list"]
    assert "--include_path" in warnings[0]


@pytest.mark.usefixtures("restored")
def test_a_cache_without_the_hook_gives_one_sentence(warnings: list[str]) -> None:
    delattr(ResponseCache, response_cache._MARK)
    delattr(ResponseCache, "_is_valid_response")
    response_cache.mend_response_cache()
    (sentence,) = warnings
    assert "cannot keep failed requests out of the cache" in sentence


@pytest.mark.parametrize(
    ("response", "kept"),
    [
        ("\\boxed{A1}", True),
        ("", False),
        ("[LMMS_EVAL_REQUEST_FAILED after 5 retries] Connection error.", False),
        ("[LMMS_EVAL_BUDGET_EXCEEDED]", False),
        (["first", "[LMMS_EVAL_REQUEST_FAILED after 5 retries]"], False),
        (["first", "second"], True),
    ],
)
def test_failures_are_not_cached(response: Any, kept: bool) -> None:
    from lmms_eval.api.instance import GenerationResult

    assert ResponseCache._is_valid_response(response, "generate_until") is kept
    if isinstance(response, str):
        assert ResponseCache._is_valid_response(GenerationResult(response), "generate_until") is kept


@pytest.mark.parametrize(
    ("benchmark", "cluster_key"),
    [("condchain", "pair"), ("ccrv", "image"), ("vrex", "id")],
)
def test_the_yaml_files_follow_the_protocol(benchmark: str, cluster_key: str) -> None:
    folder = plugin.TASKS / benchmark
    settings = yaml.load((folder / f"_{benchmark}").read_text(), _Loader)
    assert settings["output_type"] == "generate_until"
    assert settings["generation_kwargs"]["until"] == []
    assert settings["cluster_key"] == cluster_key
    for path in folder.glob("*.yaml"):
        task = yaml.load(path.read_text(), _Loader)
        if "group" in task:
            continue
        assert task["task"] == path.stem
        assert task["include"] in {f"_{benchmark}", *OTHER_TEMPLATES.get(benchmark, ())}
        assert task["dataset_kwargs"] == f"condchain_tasks.data.harness.{path.stem}"
        assert task["metadata"] == f"condchain_tasks.tasks.{benchmark}.hooks.metadata_{path.stem}"
        assert "class" not in task


class _Loader(yaml.SafeLoader):
    """Reads `!function NAME` as the name."""


_Loader.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))
