"""A plan: models × tasks × settings, read from YAML, and the cells that it stands for.

Relative paths in a plan go out from its own folder: those of the variables that name data, prompts and caches, and
any other that starts with `./`, `../` or `~/`, in `env`, in `args` and as `python`.

Whatever is in a plan ends up in scripts and on command lines, so every text in it is checked for what it may hold. A
cell's name is made of the names in the plan and a hash of everything that bears on its replies: the same plan gives
the same names, and what merely says how to run it (batch size, machines, the budget) can change without a cell being
run again.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from condchain_tasks.data.errors import DataError
from condchain_tasks.data.fields import complete, faults_of, shown
from condchain_tasks.redaction import holds_secret, is_secret
from condchain_tasks.tasks import task_names

MAX_CELLS = 10_000
"""Cells of one plan; a SLURM array seldom takes as many."""

_MAX_PLAN_BYTES = 1_000_000
_MAX_TEXT = 2_000
_MAX_FAULTS = 10
_MAX_NUMBER = 100
"""Characters; Python refuses to print a whole number of more than some thousand digits."""

OWN_TASKS = re.compile(r"(condchain|ccrv|vrex)(_\w+)?")
_CCRV_TAGS = re.compile(r"ccrv_(x[1-4]|base|y[1-4])(_mini)?")
_SECRET = re.compile(
    r"(?:KEY|SECRET|PASSWORD|PASSWD|CREDENTIALS|(?:^|API_|AUTH_|ACCESS_|HF_|HUB_)TOKEN)$", re.IGNORECASE
)
_SETS_ITSELF = frozenset({"LMMS_CACHE_RUN_ID", "MASTER_ADDR", "MASTER_PORT", "SLURM_NODEID"})
# A shell that is told to export one of these fails, or goes on with a value of its own.
_SHELL_SETS = re.compile(
    r"BASH\w*|DIRSTACK|EPOCHREALTIME|EPOCHSECONDS|EUID|FUNCNAME|GROUPS|HISTCMD|LINENO|OPTIND|PIPESTATUS|PPID|RANDOM"
    r"|SECONDS|SHELLOPTS|SHLVL|SRANDOM|UID|_"
)
_STRUCTURAL = frozenset(",\"'{}[]\\")
_TAG = "tag:yaml.org,2002:"
# How a number or a truth may be written: as every reader takes it. YAML 1.1 also takes 0777, 0x1F, 1_000, 1:30, yes and
# off for one, and then hands on another text than the one that stands in the file.
_WRITTEN = {
    f"{_TAG}int": re.compile(r"-?[1-9][0-9]*|0"),
    f"{_TAG}float": re.compile(
        r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|nan)", re.IGNORECASE
    ),
    f"{_TAG}bool": re.compile(r"true|false", re.IGNORECASE),
    f"{_TAG}timestamp": re.compile(r"(?!)"),
}


def _matching(pattern: str, what: str) -> AfterValidator:
    expression = re.compile(pattern, re.ASCII)

    def check(text: str) -> str:
        if not expression.fullmatch(text):
            raise complete(f"Expected {what}, found {shown(text)}")
        return text

    return AfterValidator(check)


def _scalar(what: str, *types: type) -> BeforeValidator:
    def check(value: object) -> object:
        if type(value) not in types:
            hint = "; put it in quotes" if isinstance(value, bool | int | float) else ""
            raise complete(f"Expected {what}, found {shown(value)}{hint}")
        return value

    return BeforeValidator(check)


def _plain(text: str) -> str:
    """Text that means the same to YAML, to a shell in quotes, and to lmms-eval, which expands `$` in its `env`."""
    if not text.isprintable() or len(text) > _MAX_TEXT:
        raise complete(f"Expected at most {_MAX_TEXT:,} characters that can be printed, found {shown(text)}")
    # What is written of a plan is shown to others.
    if holds_secret(text):
        raise complete(
            f"Expected no keys and passwords in a plan, found {shown(text)}; export it, or the whole address (such as "
            "OPENAI_API_BASE), in the shell from which the sweep is started"
        )
    return text


def _literal(text: str) -> str:
    if "$" in text:
        raise complete(f"Expected the value as it is to be, since nothing is expanded, found {shown(text)}")
    return _plain(text)


def read_back(text: str) -> bool | float | str:
    """What lmms-eval takes an argument's text for.

    This is `lmms_eval.utils.handle_arg_string`, which would take seconds to import.

    Raises:
        ValueError: The text is of digits that are no whole number, such as "²", and lmms-eval fails.
    """
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if text.isnumeric():
        return int(text)
    try:
        return float(text)
    except ValueError:
        return text


def _scalar_argument(value: object) -> object:
    """A value that lmms-eval reads back from `name=value,name=value` as it was."""
    if isinstance(value, str):
        if not value.strip():
            raise complete(f"Expected text, a number, true or false, found {shown(value)}")
        if _STRUCTURAL & set(value) or value != value.strip():
            raise complete(f"Expected text without any of {' '.join(sorted(_STRUCTURAL))}, found {shown(value)}")
        _plain(value)
    elif not isinstance(value, bool | int) and not (isinstance(value, float) and math.isfinite(value)):
        raise complete(f"Expected text, a number, true or false, found {shown(value)}")
    try:
        back = read_back(str(value))
    except ValueError as error:
        raise complete(
            f"Expected a value that lmms-eval can read, found {shown(value)}, which it takes for a number and fails"
        ) from error
    if back != value:
        raise complete(
            f"Expected a value that lmms-eval reads as it is, found {shown(value)}, which it reads as {shown(back)}"
        )
    return value


def _argument(value: object) -> object:
    """The same, or what lmms-eval hands on to the model as JSON."""
    if not isinstance(value, dict | list):
        return _scalar_argument(value)
    try:
        text = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise complete(f"Expected a value that JSON can hold, found {shown(value)}") from error
    if set("\\'") & set(text):
        raise complete(f"Expected no quotes, backslashes or special characters in it, found {shown(value)}")
    _plain(text)
    return value


def _batch_size(value: object) -> object:
    if value == "auto" or (type(value) is int and value >= 1):
        return value
    raise complete(f"Expected a number from 1, or auto, found {shown(value)}")


def _limit(value: object) -> object:
    if value is None or (type(value) is int and value >= 1) or (type(value) is float and 0 < value < 1):
        return value
    raise complete(f"Expected a number of samples from 1, or a fraction between 0 and 1, found {shown(value)}")


def _list(value: object) -> object:
    if isinstance(value, list):
        return tuple(value)
    if isinstance(value, tuple):
        return value
    raise complete(f"Expected a list, found {shown(value)}")


def _variable(value: object) -> object:
    if type(value) not in (str, int):
        raise complete(f"Expected text or a whole number, found {shown(value)}; put it in quotes")
    return str(value)


def _no_secret(name: str) -> str:
    if _SECRET.search(name):
        raise complete(
            f"Expected no keys in a plan, found {name}; export it in the shell from which the sweep is started"
        )
    return name


def _settable(name: str) -> str:
    if name in _SETS_ITSELF:
        raise complete(f"Expected a variable that the sweep does not set itself, found {name}")
    if _SHELL_SETS.fullmatch(name):
        raise complete(f"Expected a variable that the shell does not set itself, found {name}")
    return name


def _known_task(task: str) -> str:
    if OWN_TASKS.fullmatch(task) and task not in task_names() and not _CCRV_TAGS.fullmatch(task):
        raise complete(f"Expected a task of this package (`condchain tasks` lists them) or of lmms-eval, found {task}")
    return task


def _unique(what: str, name: Callable[[Any], Hashable]) -> AfterValidator:
    def check(values: tuple[Any, ...]) -> tuple[Any, ...]:
        twice = [key for key, count in Counter(map(name, values)).items() if count > 1]
        if twice:
            raise complete(f"Expected {what} that differ, found {shown(twice[0])} twice")
        return values

    return AfterValidator(check)


_TEXT = _scalar("text", str)
_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}"

Name = Annotated[
    str, _TEXT, _matching(_NAME, "up to 60 letters, digits, dots, hyphens and underscores, the first no sign")
]
TaskName = Annotated[str, _TEXT, _matching(r"[A-Za-z0-9][\w.-]{0,79}", "a task's name"), AfterValidator(_known_task)]
Backend = Annotated[str, _TEXT, _matching(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}", "the name of a model in lmms-eval")]
ArgumentName = Annotated[str, _matching(r"[A-Za-z_]\w{0,79}", "an argument's name"), AfterValidator(_no_secret)]
Arguments = dict[ArgumentName, Annotated[Any, AfterValidator(_argument)]]
ScalarArguments = dict[ArgumentName, Annotated[Any, AfterValidator(_scalar_argument)]]
VariableName = Annotated[
    str,
    _matching(r"[A-Za-z_]\w{0,79}", "an environment variable's name"),
    AfterValidator(_no_secret),
    AfterValidator(_settable),
]
VariableValue = Annotated[str, BeforeValidator(_variable), AfterValidator(_literal)]
Environment = dict[VariableName, VariableValue]
_List = BeforeValidator(_list)


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Launch(_Part):
    """On what a model runs. Several processes are copies of the model that share the samples.

    Attributes:
        machines: Nodes.
        processes: On each machine.
        gpus: On each machine, for SLURM; as many as processes if left out, and none for an API.
    """

    machines: int = Field(default=1, ge=1, le=1_024)
    processes: int = Field(default=1, ge=1, le=64)
    gpus: int | None = Field(default=None, ge=0, le=64)

    @property
    def gpus_per_machine(self) -> int:
        """See `gpus`."""
        return self.processes if self.gpus is None else self.gpus

    @property
    def shape(self) -> str:
        """What tells one array script from another: machines, and on each of them processes and GPUs."""
        return f"{self.machines}x{self.processes}_gpus{self.gpus_per_machine}"


class Model(_Part):
    """A model.

    Attributes:
        name: In the cells' names.
        model: lmms-eval's `--model`.
        args: Its `--model_args`.
        batch_size: Its `--batch_size`: a number, or "auto".
        launch: On what it runs.
        env: Environment variables of its cells.
    """

    name: Name
    model: Backend
    args: Arguments = Field(default_factory=dict)
    batch_size: Annotated[Any, AfterValidator(_batch_size)] = 1
    launch: Launch = Launch()
    env: Environment = Field(default_factory=dict)


class Setting(_Part):
    """What a model runs with.

    Attributes:
        name: In the cells' names.
        gen_kwargs: lmms-eval's `--gen_kwargs`.
        limit: Samples of each task: a number, or a fraction below 1. None for all.
        seed: Of Python, NumPy and torch; None for lmms-eval's defaults.
        system_instruction: A system turn before every request.
        max_tokens: Tokens that one start of a cell may spend. Another start goes on where it was, with as much again.
        env: Environment variables of its cells; they go before the model's, and those before the plan's.
    """

    name: Name = "default"
    gen_kwargs: ScalarArguments = Field(default_factory=dict)
    limit: Annotated[Any, AfterValidator(_limit)] = None
    seed: Annotated[int, Field(ge=0, lt=2**32)] | None = None
    system_instruction: Annotated[str, _TEXT, Field(min_length=1, max_length=100_000)] | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    env: Environment = Field(default_factory=dict)


_SLURM_WORD = _matching(r"[A-Za-z0-9][\w.,:@+-]{0,99}", "letters, digits and . , : @ + - _ without a space")


class Slurm(_Part):
    """What an array script asks SLURM for, beside machines, processes and GPUs; what is left out is SLURM's default.

    Attributes:
        time: Such as "12:00:00" or "1-00:00:00"; in quotes.
        partition: Its name.
        account: Its name.
        qos: Its name.
        constraint: Features of nodes.
        mem: Of a node, such as "200G"; in quotes.
        cpus_per_task: CPUs of a node.
        max_parallel: Cells that run at once.
    """

    time: Annotated[str, _TEXT, _matching(r"\d+(-\d+)?(:\d+){0,2}", 'a time such as "12:00:00"')] | None = None
    partition: Annotated[str, _TEXT, _SLURM_WORD] | None = None
    account: Annotated[str, _TEXT, _SLURM_WORD] | None = None
    qos: Annotated[str, _TEXT, _SLURM_WORD] | None = None
    constraint: Annotated[str, _TEXT, _SLURM_WORD] | None = None
    mem: Annotated[str, _TEXT, _matching(r"\d+[KMGT]?", 'a size such as "200G"')] | None = None
    cpus_per_task: Annotated[int, Field(ge=1, le=1_024)] | None = None
    max_parallel: Annotated[int, Field(ge=1, le=MAX_CELLS)] | None = None


class Plan(_Part):
    """A plan.

    Attributes:
        name: Of the sweep; SLURM shows it.
        models: At least one.
        tasks: Names of lmms-eval's tasks, groups and tags; each is a cell of its own.
        settings: At least one.
        env: Environment variables of all cells.
        python: What runs lmms-eval: the `python` of the environment that it is installed in, such as
            "/shared/venv/bin/python" or, from the plan's folder, "./venv/bin/python".
        slurm: For the array scripts.
    """

    name: Name
    models: Annotated[tuple[Model, ...], _List, Field(min_length=1), _unique("names", lambda m: m.name)]
    tasks: Annotated[tuple[TaskName, ...], _List, Field(min_length=1), _unique("tasks", lambda t: t)]
    settings: Annotated[tuple[Setting, ...], _List, Field(min_length=1), _unique("names", lambda s: s.name)] = (
        Setting(),
    )
    env: Environment = Field(default_factory=dict)
    python: Annotated[str, _TEXT, Field(min_length=1), AfterValidator(_literal)] = "python3"
    slurm: Slurm = Slurm()

    @model_validator(mode="after")
    def _not_too_large(self) -> Plan:
        count = len(self.models) * len(self.tasks) * len(self.settings)
        if count > MAX_CELLS:
            raise complete(f"Expected at most {MAX_CELLS:,} cells, found {count:,}")
        # They are folders, and some file systems do not tell case.
        names = Counter(cell.name.lower() for cell in self.cells)
        if len(names) < count:
            raise complete(
                "Expected names that make cells' names differ by more than upper and lower case, "
                f"found {names.most_common(1)[0][0]} twice"
            )
        return self

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """All cells: for each model each task with each setting."""
        return tuple(
            Cell(model, task, setting, {**self.env, **model.env, **setting.env})
            for model in self.models
            for task in self.tasks
            for setting in self.settings
        )


@dataclass(frozen=True)
class Cell:
    """One run of lmms-eval.

    Attributes:
        model: The model.
        task: The task.
        setting: What the model runs with.
        env: Environment variables.
    """

    model: Model
    task: str
    setting: Setting
    env: Mapping[str, str]

    @property
    def name(self) -> str:
        """Its folder: letters, digits, dots, hyphens and underscores, at most 220."""
        identity = {
            "model": self.model.model,
            "args": self.model.args,
            "task": self.task,
            "env": dict(self.env),
            **self.setting.model_dump(include={"gen_kwargs", "limit", "seed", "system_instruction"}),
        }
        digest = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:10]
        return f"{self.model.name}__{self.task}__{self.setting.name}-{digest}"


def read_plan(path: Path) -> Plan:
    """Reads a plan.

    Args:
        path: A YAML file, see `Plan` for its keys.

    Raises:
        DataError: The file cannot be read, or is no plan: each wrong key, what was expected and what was found.
    """
    try:
        if path.stat().st_size > _MAX_PLAN_BYTES:
            raise DataError(f"{path} has more than {_MAX_PLAN_BYTES:,} bytes; that is no plan.")
        text = path.read_text(encoding="utf-8")
        nodes = yaml.compose(text, Loader=yaml.SafeLoader)
        _check_nodes(nodes, set())
        value = yaml.load(text, Loader=_Loader)
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read: {error}.") from error
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise DataError(f"{path}{line}: expected YAML, found a fault: {error.problem}.") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: expected YAML, found a fault: {' '.join(str(error).split())}.") from error
    if faults := [f"{path}, {fault}" for fault in _misread(nodes, ())]:
        raise DataError(" ".join(faults[:_MAX_FAULTS]))
    try:
        return Plan.model_validate(value if isinstance(value, dict) else {})
    except ValidationError as error:
        faults = list(faults_of(error, str(path)))
        more = f" And {len(faults) - _MAX_FAULTS} more." if len(faults) > _MAX_FAULTS else ""
        raise DataError(" ".join(faults[:_MAX_FAULTS]) + more) from error


class _Loader(yaml.SafeLoader):  # type: ignore[misc]  # PyYAML has no types
    """Says where a value stands that does not fit its tag; PyYAML lets through whatever its conversion raises."""

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            problem = f"{shown(node.value)} is no {node.tag.removeprefix(_TAG)}"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from error


def _check_nodes(node: Any, seen: set[int]) -> None:
    """Refuses what a plan has no use for.

    That is a key that stands twice, of which the last would win in silence, a key that is no text, what is repeated by
    reference, and numbers that are too long to be shown.
    """
    if id(node) in seen:
        raise yaml.constructor.ConstructorError(None, None, "a plan has no aliases", node.start_mark)
    seen.add(id(node))
    if isinstance(node, yaml.MappingNode):
        keys: set[object] = set()
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag != f"{_TAG}str":
                raise yaml.constructor.ConstructorError(None, None, "a key that is not text", key.start_mark)
            if key.value in keys:
                raise yaml.constructor.ConstructorError(None, None, f"{key.value} stands twice", key.start_mark)
            keys.add(key.value)
            _check_nodes(value, seen)
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            _check_nodes(value, seen)
    elif node is not None and node.tag in (f"{_TAG}int", f"{_TAG}float") and len(node.value) > _MAX_NUMBER:
        problem = f"a number of more than {_MAX_NUMBER} characters"
        raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


def _misread(node: Any, place: tuple[str, ...]) -> Iterator[str]:
    """What says something else in the file than what YAML takes it for."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if not is_secret(key.value):  # refused for its name, without being shown
                yield from _misread(value, (*place, key.value))
    elif isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            yield from _misread(value, (*place, str(number)))
    elif node is not None and (written := _WRITTEN.get(node.tag)) and not written.fullmatch(node.value):
        found, taken = shown(node.value), shown(str(_Loader("").construct_object(node)))
        yield (
            f"line {node.start_mark.line + 1}, field {'.'.join(place)}: Expected text, or a number, true or false as "
            f"everything reads it, found {found}, which YAML takes for {taken}; put it in quotes."
        )


def joined(arguments: Mapping[str, Any]) -> str:
    """Arguments as lmms-eval takes them: `name=value,name=value`."""
    return ",".join(f"{name}={_shown(value)}" for name, value in arguments.items())


def shapes(plan: Plan) -> Iterator[tuple[Launch, list[Cell]]]:
    """Cells that run on the same machines, processes and GPUs, in the order in which each first occurs."""
    groups: dict[str, list[Cell]] = {}
    for cell in plan.cells:
        groups.setdefault(cell.model.launch.shape, []).append(cell)
    for cells in groups.values():
        yield cells[0].model.launch, cells


def _shown(value: object) -> str:
    if isinstance(value, dict | list):
        return json.dumps(value)
    return str(value)
