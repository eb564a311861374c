"""Figures of a run made anew from its sample log: by the task's own YAML and lmms-eval's own aggregation.

What comes of it stands in new files beside the run's own, which stay as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from condchain_tasks import tasks
from condchain_tasks.data.errors import DataError
from condchain_tasks.data.fields import faults_of
from condchain_tasks.data.files import write_aside
from condchain_tasks.report.runs import JUDGED, SCORED, SampleFile, expected_samples, read_results, read_samples

_TASKS = Path(tasks.__file__).parent
_FILTER = "none"  # the harness's name for no filter
_INCLUDE = re.compile(r"^include: (\w+)$", re.MULTILINE)
_GROUP = re.compile(r"^group: (\w+)$", re.MULTILINE)

Line = dict[str, Any]


@dataclass(frozen=True)
class TaskLog:
    """The samples of one task in one run, and the run's results.

    Attributes:
        file: The log.
        results: The run's, as lmms-eval wrote them.
        lines: Of the log, as many as the results say.
    """

    file: SampleFile
    results: dict[str, Any]
    lines: tuple[Line, ...]

    @property
    def metadata(self) -> Mapping[str, Any]:
        """What the results say of the task's versions, prompts, data and judge; empty if nothing."""
        return self.results["configs"].get(self.file.task, {}).get("metadata") or {}


@dataclass(frozen=True)
class Scored:
    """The samples of a task, scored anew.

    Attributes:
        log: Where they are from.
        scores: For each line of the log, what the task's `process_results` gives.
        metadata: What the task's metadata says from now on.
    """

    log: TaskLog
    scores: Sequence[Mapping[str, Any]]
    metadata: Mapping[str, Any]


@dataclass(frozen=True)
class Written:
    """What was written beside a run.

    Attributes:
        path: The new file of results, in lmms-eval's form.
        results: What is in it.
        tasks: The tasks that were scored anew, sorted.
    """

    path: Path
    results: dict[str, Any]
    tasks: tuple[str, ...]


def read_log(file: SampleFile) -> TaskLog:
    """Reads a whole log.

    Raises:
        DataError: The log or its results are missing, damaged or not whole.
    """
    results = read_results(file.results)
    try:
        _RESULTS.validate_python(results)
    except ValidationError as error:
        raise DataError(f"{next(faults_of(error, str(file.results)))} Was the file changed?") from error
    lines = tuple(read_samples(file))
    if (expected := expected_samples(results, file.task)) not in (None, len(lines)):
        raise DataError(
            f"{file.path} has {len(lines)} of {expected} samples: the log was cut short, and figures from it would not "
            "be those of the run. Run it again; with --use_cache that costs nothing."
        )
    return TaskLog(file, {"results": {}, "configs": {}, **results}, lines)


def by_run(logs: Iterable[TaskLog]) -> list[list[TaskLog]]:
    """Puts the tasks of one run together."""
    found: dict[tuple[Path, str], list[TaskLog]] = {}
    for log in logs:
        found.setdefault(log.file.run, []).append(log)
    return list(found.values())


def write_beside(scored: Sequence[Scored], mark: str) -> Written:
    """Writes samples and results that were scored anew.

    Args:
        scored: Tasks of one run, at least one.
        mark: What stands between the run's date and the present in the new files' names: `runs.JUDGED` or
            `runs.SCORED`.

    Raises:
        OSError: They cannot be written.
    """
    folder, date = scored[0].log.file.run
    new = f"{date}{mark}{datetime.now():%Y%m%d_%H%M%S_%f}"
    names = tuple(sorted(one.log.file.task for one in scored))
    merged = _merged(scored)
    for other in (JUDGED, SCORED):
        merged.pop(other.strip("-"), None)
    merged[mark.strip("-")] = {"run": date, "tasks": list(names)}
    for one in scored:
        lines = (
            json.dumps({**_without_scores(line), **score}, ensure_ascii=False) + "\n"
            for line, score in zip(one.log.lines, one.scores, strict=True)
        )
        write_aside(folder / f"{new}_samples_{one.log.file.task}.jsonl", lines, errors="replace")
    path = folder / f"{new}_results.json"
    write_aside(path, json.dumps(merged, indent=2, ensure_ascii=False), errors="replace")
    return Written(path, merged, names)


def task_config(task: str) -> dict[str, Any]:
    """What a task's YAML says of scoring and metrics; its data is not looked for."""
    return _template(*_yaml(task))


def figures(task: str, scores: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """A task's results from its samples' scores.

    Args:
        task: The task's name.
        scores: What its `process_results` gave, one a sample.

    Returns:
        As they stand in lmms-eval's results: "metric,filter" and the standard errors.
    """
    from lmms_eval.evaluator_utils import TaskOutput

    config = task_config(task)
    aggregations = {metric["metric"]: metric["aggregation"] for metric in config["metric_list"]}
    output = TaskOutput(
        task=SimpleNamespace(aggregation=lambda: aggregations, args=None),
        task_name=task,
        task_config={"cluster_key": config["cluster_key"]},
    )
    for score in scores:
        for metric in aggregations.keys() & score.keys():
            output.sample_metrics[metric, _FILTER].append(score[metric])
    output.calculate_aggregate_metric()
    output.calculate_clt_aggregate_metric()
    return dict(output.agg_metrics)


def group_figures(group: str, results: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """A group's results from those of its tasks, by lmms-eval's own rule; empty if it has none of its own."""
    from lmms_eval.api.group import ConfigurableGroup
    from lmms_eval.api.task import ConfigurableTask
    from lmms_eval.evaluator_utils import consolidate_group_results
    from lmms_eval.utils import load_yaml_config

    folder, _ = _yaml(group)
    config = load_yaml_config(str(folder / f"{group}.yaml"), mode="full")
    if not config.get("aggregate_metric_list"):
        return {}
    members = {}
    for task in config["task"]:
        members[task] = object.__new__(ConfigurableTask)  # lmms-eval asks it for nothing but its name
        members[task]._config = SimpleNamespace(task=task)
    found = {task: {"samples": 0, **results[task]} for task in members} | {group: {}}
    consolidate_group_results(found, {}, {ConfigurableGroup(config=config): members})
    return {name: value for name, value in found[group].items() if "," in name}


class _NSamples(TypedDict, total=False):
    original: int
    effective: int


class _Config(TypedDict, total=False):
    metadata: dict[str, Any] | None


_Results = TypedDict(
    "_Results",
    {
        "results": dict[str, dict[str, Any]],
        "configs": dict[str, _Config],
        "n-samples": dict[str, _NSamples],
        "higher_is_better": dict[str, Any],
        "groups": dict[str, dict[str, Any]],
        "config": dict[str, Any],
    },
    total=False,
)
_RESULTS = TypeAdapter(_Results)


def _merged(scored: Sequence[Scored]) -> dict[str, Any]:
    """The run's results with new ones in place of the old.

    The run's tasks may have been judged or scored in several files; what is not scored now stays as the newest says.
    """
    merged: dict[str, Any] = {}
    for one in sorted(scored, key=lambda one: one.log.file.order):
        merged |= one.log.results | {
            part: merged.get(part, {}) | one.log.results.get(part, {})
            for part in ("results", "configs", "higher_is_better", "groups")
        }
    for one in scored:
        task, config = one.log.file.task, task_config(one.log.file.task)
        better = {metric["metric"]: metric["higher_is_better"] for metric in config["metric_list"]}
        old = merged["results"].get(task, {})
        merged["results"][task] = {
            **{name: value for name, value in old.items() if "," not in name},
            **figures(task, one.scores),
        }
        merged["configs"][task] = {
            **merged["configs"].get(task, {}),
            "metric_list": [{"metric": name, "higher_is_better": value} for name, value in better.items()],
            "metadata": dict(one.metadata),
        }
        merged["higher_is_better"][task] = better
    _renew_groups(merged, {one.log.file.task for one in scored})
    return merged


def _renew_groups(merged: dict[str, Any], renewed: set[str]) -> None:
    """Figures of groups, from their tasks' new ones; a mean of old and new ones would be neither's."""
    for group, members in _groups().items():
        if group not in merged["results"] or not renewed & set(members):
            continue
        own = group_figures(group, merged["results"]) if set(members) <= renewed else {}
        for part in ("results", "groups"):
            if own or group in merged[part]:
                old = merged[part].get(group, {})
                merged[part][group] = {name: value for name, value in old.items() if "," not in name} | own


@lru_cache
def _groups() -> dict[str, tuple[str, ...]]:
    from lmms_eval.utils import load_yaml_config

    named = {match[1]: file for file in _TASKS.glob("*/*.yaml") if (match := _GROUP.search(file.read_text("utf-8")))}
    return {group: tuple(load_yaml_config(str(file), mode="simple")["task"]) for group, file in named.items()}


def _yaml(task: str) -> tuple[Path, str]:
    """The folder of a task's or a group's YAML, and the template that it includes, "" if it includes none."""
    (file,) = _TASKS.glob(f"*/{task}.yaml")
    include = _INCLUDE.search(file.read_text(encoding="utf-8"))
    return file.parent, include[1] if include else ""


@lru_cache
def _template(folder: Path, name: str) -> dict[str, Any]:
    from lmms_eval.utils import load_yaml_config

    config: dict[str, Any] = load_yaml_config(str(folder / name), mode="full")
    return config


def _without_scores(line: Line) -> Line:
    """A line's part that does not hang on how it is scored."""
    return {name: line[name] for name in _LOGGED if name in line}


_LOGGED = (  # by the harness, whatever the task
    "doc_id",
    "target",
    "resps",
    "filtered_resps",
    "token_counts",
    "doc_hash",
    "input_media",
    "input",
)
