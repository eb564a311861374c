"""What a run says of itself: the model, and what must be the same for figures to be set side by side."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from condchain_tasks.data.errors import DataError
from condchain_tasks.redaction import is_secret, redacted, redacted_text
from condchain_tasks.report.columns import COLUMNS
from condchain_tasks.report.runs import read_results
from condchain_tasks.tasks import task_names

# How a run is carried out, not what is asked: none of these makes it another evaluation.
_OPERATION = frozenset(
    {
        "azure_openai",
        "base_url",
        "batch_size",
        "continual_mode",
        "data_parallel_size",
        "device",
        "device_map",
        "disable_log_stats",
        "gpu_memory_utilization",
        "max_batch_size",
        "max_concurrent",
        "max_retries",
        "num_concurrent",
        "num_gpus",
        "num_processes",
        "pipeline_parallel_size",
        "response_persistent_folder",
        "retry_delay",
        "tensor_parallel_size",
        "threads",
        "timeout",
        "trust_remote_code",
    }
)
_SEEDS = ("random_seed", "numpy_seed", "torch_seed", "fewshot_seed")
_DEFAULT_SEEDS = [0, 1234, 1234, 1234]  # lmms-eval's
_NO_VERSION = "unknown"
_SIMULATED = "condchain_sim"
_MAX_NAME = 300
_MAX_FIGURE = 1e9
_MAX_DEPTH = 20


@dataclass(frozen=True)
class Settings:
    """What must be the same for figures to be set side by side. All are "" if the run's results are not there.

    Attributes:
        prompts: Names and hashes of the prompts, such as "condchain@3ab650a72dd2bef0", joined by spaces.
        data: SHA-256 of the data; "" if the results do not say.
        judge: The judge's name, "none" if judging was off, "" where there is none.
        generation: The generation settings, as sorted JSON.
        version: Of this package.
        harness: Version of lmms-eval; "" if it does not know its own.
        arguments: Of the model, as far as they bear on its answers, and "--model" (the backend), "--seed" and
            "--system_instruction" (its hash), as sorted JSON.
        judge_prompts: Names and hashes of the judge's prompts.
        judge_settings: Its server and temperature, as far as the results say, as sorted JSON; "" without a judge.
        requests: SHA-256 of what is sent: system prompt, chat template, turns and texts; `NOT_SAID` in old results.
        server: The address of the model's server; "" for a model on the machine itself, `NOT_SAID` in old results.
    """

    prompts: str
    data: str
    judge: str
    generation: str
    version: str
    harness: str
    arguments: str = ""
    judge_prompts: str = ""
    judge_settings: str = ""
    requests: str = ""
    server: str = ""

    @property
    def is_known(self) -> bool:
        """Whether the run's results were there."""
        return bool(self.generation)


NOT_SAID = "unknown"
"""What older versions of this package did not write."""

UNKNOWN = Settings(prompts="", data="", judge="", generation="", version="", harness="")


def benchmark_of(task: str) -> str:
    """The benchmark that a task is of, by its name; "" for the tasks of others, derived ones among them."""
    name = task.partition("_")[0]
    return name if name in COLUMNS and task in _tasks() else ""


@lru_cache
def _tasks() -> frozenset[str]:
    return frozenset(task_names())


def dataset_of(task: str) -> str:
    """What a task's data is called, so that other data of that name is other data: a domain, or the benchmark."""
    benchmark = benchmark_of(task)
    return task.removesuffix(TWIN).removesuffix("_chrono") if benchmark == "condchain" else benchmark


TWIN = "_mini"
"""At the end of the names of tasks on embedded data."""

Scope = tuple[str, bool]
"""A benchmark, and whether the data is synthetic: figures of the two are never mixed."""


class Results:
    """A file of results.

    Attributes:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        """Reads it.

        Raises:
            DataError: There is no such file, or it is none of lmms-eval's.
        """
        self.path = path
        try:
            self._value = _RESULTS.validate_python(read_results(path))
        except ValidationError as error:
            raise DataError(f"{path} holds no results of lmms-eval: {_first(error)}.") from error

    @cached_property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that have samples if the run logged them; after `condchain judge` or `score`, theirs."""
        later = self._value.judged or self._value.scored
        return tuple(later.tasks if later else self._value.configs)

    @cached_property
    def model(self) -> str:
        """The name of the checkpoint or API; that of the backend if it has no other."""
        return (self._value.model_name or self._value.config.model)[:_MAX_NAME]

    def is_limited(self, task: str) -> bool:
        """Whether `--limit` or `--offset` left samples of a task out."""
        limit, size = self._value.config.limit or 0, self.expected(task)
        return bool(self._value.config.offset) or 0 < limit < 1 or 1 <= limit < (math.inf if size is None else size)

    def expected(self, task: str) -> int | None:
        """How many samples the task has; None if the results do not say."""
        size = self._value.n_samples.get(task)
        return size.original if size else None

    def figure(self, task: str, metric: str) -> float | None:
        """A figure that lmms-eval computed; None if there is none."""
        figures = self._value.results.get(task)
        value = figures.get(f"{metric},none") if isinstance(figures, dict) else None
        return float(value) if isinstance(value, int | float) and abs(value) < _MAX_FIGURE else None

    def generation(self, task: str) -> dict[str, Any]:
        """The task's generation settings."""
        return self._task(task).generation_kwargs

    def settings(self, task: str) -> Settings:
        """The settings that a task was run with.

        Raises:
            DataError: They are not what this package's tasks write.
        """
        metadata = self._task(task).metadata
        judge = metadata.judge
        return Settings(
            prompts=_joined(metadata.all_prompts),
            data=metadata.data.sha256 if metadata.data else "",
            judge=judge.model if judge else "",
            generation=_json(self.generation(task)),
            version=metadata.condchain_tasks,
            harness=metadata.lmms_eval
            if _NO_VERSION in self._value.lmms_eval_version
            else self._value.lmms_eval_version,
            arguments=_json(self._arguments()),
            judge_prompts=_joined(metadata.judge_prompts),
            judge_settings=judge.settings if judge else "",
            requests=metadata.requests_sha256 or NOT_SAID,
            server=NOT_SAID if metadata.server is None else metadata.server[:_MAX_NAME],
        )

    def data(self, task: str) -> Data | None:
        """Where the task's data is from, and what it is; None if the results do not say.

        Raises:
            DataError: They are not what this package's tasks write.
        """
        return self._task(task).metadata.data

    def simulated(self, task: str) -> tuple[str, ...]:
        """What stood in for a model or a judge in the run of a task, a sentence each; none if both were real.

        Raises:
            DataError: They are not what this package's tasks write.
        """
        metadata, backend = self._task(task).metadata, self._value.config.model[:_MAX_NAME]
        found = []
        if metadata.simulated or backend == _SIMULATED:
            found.append(f"The model {backend} is simulated: its figures are no results.")
        if metadata.judge and metadata.judge.simulated:
            found.append(f"The judge {metadata.judge.model[:_MAX_NAME]} is simulated: its verdicts are no results.")
        return tuple(found)

    def scope(self, task: str) -> Scope:
        """The benchmark of a task, and whether its data is synthetic: the embedded twin's, or drawn by a user.

        Raises:
            DataError: They are not what this package's tasks write.
        """
        data = self.data(task)
        return benchmark_of(task), task.endswith(TWIN) or bool(data and data.synthetic)

    def prompts_beside(self, task: str) -> dict[str, str]:
        """Hashes of all prompts of the run's tasks that belong to a task's benchmark and data, and of the judge's."""
        metadata = [self._task(one).metadata for one in self._beside(task)]
        listed = [
            prompt for one in metadata for prompt in (*one.all_prompts, *(one.judge.prompts if one.judge else ()))
        ]
        return {prompt.name: prompt.sha256 for prompt in listed}

    def requests_beside(self, task: str) -> dict[str, str]:
        """Hashes of what is sent, by task, of the run's tasks that belong to a task's benchmark and data."""
        found = {one: self._task(one).metadata.requests_sha256 for one in self._beside(task)}
        return {one: digest for one, digest in found.items() if digest}

    def data_beside(self, task: str) -> dict[str, str]:
        """Hashes of the data of those tasks, by the data's name; see `dataset_of`."""
        found = {dataset_of(one): self.data(one) for one in self._beside(task)}
        return {name: data.sha256 for name, data in found.items() if data}

    def _beside(self, task: str) -> Iterator[str]:
        """The run's tasks on data of the same kind: a twin stands beside twins, whatever else is synthetic."""
        scope, is_twin = self.scope(task), task.endswith(TWIN)
        return (
            one
            for one in self._value.configs
            if benchmark_of(one) and self.scope(one) == scope and one.endswith(TWIN) == is_twin
        )

    def _task(self, task: str) -> _Task:
        if task not in self._value.configs:
            raise DataError(f"{self.path}, field configs: expected {task}, which has samples.")
        try:
            return _TASK.validate_python(self._value.configs[task])
        except ValidationError as error:
            raise DataError(f"{self.path}, field configs.{task}: {_first(error)}.") from error

    def _arguments(self) -> dict[str, Any]:
        config = self._value.config
        given = config.model_args or {}
        if isinstance(given, str):
            pairs = (part.partition("=") for part in given.split(",") if part)
            given = {name.strip(): value for name, _, value in pairs}
        kept = {
            name: value
            for name, value in given.items()
            if name not in _OPERATION and not is_secret(name) and value != self._value.model_name
        }
        seeds = [config.model_dump()[name] for name in _SEEDS]
        return kept | {
            "--model": config.model,
            "--seed": seeds[0] if len(set(seeds)) == 1 else "default" if seeds == _DEFAULT_SEEDS else str(seeds),
            "--system_instruction": self._value.system_instruction_sha or "",
        }


# --- the file, as far as it is read


_Text = Annotated[str, AfterValidator(redacted_text)]
"""A text that may be shown: whatever of results is printed goes through here."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", protected_namespaces=())


class _Prompt(_Part):
    name: _Text
    sha256: _Text


class _Judge(_Part):
    model: _Text
    temperature: float | None = None
    server: _Text | None = None
    simulated: bool = False
    prompts: list[_Prompt] = []

    @property
    def settings(self) -> str:
        said = self.model_dump(include={"temperature", "server"}, exclude_none=True)
        return _json(said) if said else ""


class Data(_Part):
    """Where a task's data is from, and what it is.

    Attributes:
        sha256: Of its content.
        synthetic: Whether it was drawn by this package, wherever it lies.
        official: Whether it is known to be the released data; None in old results.
    """

    sha256: _Text
    synthetic: bool = False
    official: bool | None = None


class _Metadata(_Part):
    condchain_tasks: _Text = ""
    lmms_eval: _Text = ""
    prompt: _Prompt | None = None
    prompts: list[_Prompt] = []
    judge: _Judge | None = None
    data: Data | None = None
    requests_sha256: _Text = ""
    server: _Text | None = None
    simulated: bool = False

    @property
    def all_prompts(self) -> list[_Prompt]:
        return [self.prompt] if self.prompt else self.prompts

    @property
    def judge_prompts(self) -> list[_Prompt]:
        return self.judge.prompts if self.judge else []


class _Task(_Part):
    generation_kwargs: dict[str, Any] = {}
    metadata: _Metadata = _Metadata()


class _Size(_Part):
    original: Annotated[int, Field(ge=0, le=1_000_000_000)]


class _Config(_Part):
    model: _Text = ""
    model_args: str | dict[str, Any] | None = None
    limit: float | None = None
    offset: int | None = None
    random_seed: int | None = None
    numpy_seed: int | None = None
    torch_seed: int | None = None
    fewshot_seed: int | None = None


class _Later(_Part):
    tasks: list[str]


class _Results(_Part):
    results: dict[str, Any]
    configs: dict[str, Any]
    config: _Config = _Config()
    n_samples: dict[str, _Size] = Field({}, alias="n-samples")
    lmms_eval_version: _Text = _NO_VERSION
    model_name: _Text | None = None
    system_instruction_sha: _Text | None = None
    judged: _Later | None = None
    scored: _Later | None = None


_RESULTS = TypeAdapter(_Results)
_TASK = TypeAdapter(_Task)


def _first(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    return f"field {'.'.join(str(part)[:80] for part in first['loc'])}: {first['msg']}"


def _joined(prompts: list[_Prompt]) -> str:
    return " ".join(f"{prompt.name}@{prompt.sha256}" for prompt in prompts)


def _json(values: Mapping[str, Any]) -> str:
    """Sorted JSON without secrets, in which 0 and 0.0 are the same.

    Raises:
        DataError: It is nested too deeply to be settings.
    """
    if _depth(values) > _MAX_DEPTH:
        raise DataError(f"settings are nested more than {_MAX_DEPTH} deep")
    plain = {name: int(v) if isinstance(v, float) and v.is_integer() else v for name, v in values.items()}
    return json.dumps(redacted(plain), sort_keys=True, ensure_ascii=False, default=str)


def _depth(value: Any) -> int:
    """How deep a value is nested, as far as it matters."""
    level, depth = [value], 0
    while level and depth <= _MAX_DEPTH:
        inner = [one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list)]
        level, depth = list(chain.from_iterable(inner)), depth + 1
    return depth
