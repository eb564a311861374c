"""What is done around an evaluation of lmms-eval.

Before any request, what identifies the evaluation goes into the tasks' metadata, which stands in the results, and what
a user may not expect is said. Rows that cannot be loaded end the run.
"""

from __future__ import annotations

import functools
import inspect
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from typing import Any

from loguru import logger

from condchain_tasks.data.harness import is_first_rank, preparing
from condchain_tasks.identity import Context, is_conversation, requests_sha256, sends_as_packaged, server_of

_MARK = "_condchain_tasks_around_evaluations"
_HOOKS = ("doc_to_text", "doc_to_messages", "doc_to_visual", "process_results")


def attach_to_evaluations() -> None:
    """Does all of this in every evaluation; calling this again changes nothing.

    If lmms-eval has no place to attach to, a warning says so.
    """
    try:
        from lmms_eval.api.task import ConfigurableTask
        from lmms_eval.tasks import TaskManager

        download: Callable[..., None] = ConfigurableTask.download
        load: Callable[..., Any] = TaskManager.load_task_or_group
    except (ImportError, AttributeError):
        _say_what_is_missing()
        return
    if getattr(ConfigurableTask, _MARK, False):
        return

    @functools.wraps(download)
    def download_or_end(self: Any, *args: Any, **kwargs: Any) -> None:
        if not is_ours(self):
            download(self, *args, **kwargs)
            return
        with preparing(self.config.task):
            download(self, *args, **kwargs)

    @functools.wraps(load)
    def load_for_evaluation(self: Any, *args: Any, **kwargs: Any) -> Any:
        # Models, and with them this package, are loaded in the middle of the evaluator's own import.
        if (evaluator := sys.modules.get("lmms_eval.evaluator")) is not None:
            _attach(evaluator)
        return load(self, *args, **kwargs)

    ConfigurableTask.download = download_or_end
    TaskManager.load_task_or_group = load_for_evaluation
    setattr(ConfigurableTask, _MARK, True)


def is_ours(task: Any) -> bool:
    """Whether this package has a part in a task, be it one of the user's that names some of our functions."""
    values = [type(task), *(getattr(task.config, name, None) for name in _HOOKS)]
    return any(str(getattr(value, "__module__", "")).startswith("condchain_tasks.") for value in values)


def _attach(evaluator: Any) -> None:
    evaluate = getattr(evaluator, "evaluate", None)
    if evaluate is None:
        _say_what_is_missing()
        return
    if getattr(evaluate, _MARK, False):
        return
    signature = inspect.signature(evaluate)

    @functools.wraps(evaluate)
    def evaluate_identified(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        _prepare(bound.arguments)
        return evaluate(*args, **kwargs)

    setattr(evaluate_identified, _MARK, True)
    evaluator.evaluate = evaluate_identified


def _say_what_is_missing() -> None:
    logger.warning(
        "condchain-tasks {} finds no place in lmms-eval {} for what identifies an evaluation: the results lack the "
        "model's server and the hash of what is sent.",
        version("condchain-tasks"),
        version("lmms_eval"),
    )


def _prepare(arguments: Mapping[str, Any]) -> None:
    lm = arguments["lm"]
    tasks = dict(_leaves(arguments["task_dict"]))
    ours = {name: task for name, task in tasks.items() if is_ours(task)}
    context = Context(
        arguments["system_instruction"] or None,
        bool(arguments["apply_chat_template"]),
        bool(arguments["fewshot_as_multiturn"]),
    )
    for task in ours.values():
        _identify(task, lm, context)
    if ours and is_first_rank():
        _say_who_gets_no_instruction(ours, lm, context)
        _say_what_is_left_out(tasks, ours, arguments["limit"], arguments["offset"] or 0)


def _leaves(tasks: Mapping[Any, Any]) -> Iterator[tuple[str, Any]]:
    for name, task in tasks.items():
        if isinstance(task, Mapping):
            yield from _leaves(task)
        elif not isinstance(task, tuple):
            yield str(name), task


def _identify(task: Any, lm: Any, context: Context) -> None:
    metadata = task.config.metadata
    if not isinstance(metadata, dict | None):
        return
    metadata = dict(metadata or {})
    metadata |= {
        "requests_sha256": requests_sha256(task, lm, context),
        "server": server_of(lm),
        "simulated": bool(getattr(lm, "is_simulated", False)),
    }
    if not sends_as_packaged(task, lm):
        # The templates are named by the YAML file; what the task sends is made otherwise.
        for name in ("prompt", "prompts"):
            if name in metadata:
                metadata[name] = _of_task(metadata[name])
    task.config.metadata = metadata


def _of_task(prompts: Any) -> Any:
    if isinstance(prompts, list):
        return [_of_task(prompt) for prompt in prompts]
    return prompts | {"origin": "task"} if isinstance(prompts, dict) else prompts


def _say_who_gets_no_instruction(tasks: Mapping[str, Any], lm: Any, context: Context) -> None:
    lost = [name for name, task in tasks.items() if not lm.is_simple or is_conversation(task)]
    if context.system_instruction and lost:
        logger.warning(
            "--system_instruction does not reach the model in {}: lmms-eval puts it before a text, and these requests "
            "are turns. Some backends take system_prompt= in --model_args instead.",
            ", ".join(lost),
        )


def _say_what_is_left_out(tasks: Mapping[str, Any], ours: Mapping[str, Any], limit: Any, offset: int) -> None:
    if limit is None or limit < 0:
        return
    sizes = {name: len(task.eval_docs) for name, task in tasks.items()}
    count = int(limit)
    if 0 < limit < 1:
        count = math.ceil(next(iter(sizes.values())) * limit)
        if {math.ceil(size * limit) for size in sizes.values()} != {count}:
            logger.warning(
                "--limit {:g} is taken of {} alone, the first that lmms-eval loads: {} samples of each task. Run the "
                "tasks one by one for the same share of each ({}).",
                limit,
                next(iter(sizes)),
                count,
                ", ".join(f"{name} {math.ceil(size * limit)} of {size}" for name, size in sizes.items()),
            )
    for name, task in ours.items():
        docs = task.eval_docs
        if count and "pair" in docs.column_names and "path" in docs.column_names:
            pairs = Counter(docs["pair"][offset : offset + count])
            if alone := sum(paths == 1 for paths in pairs.values()):
                logger.warning(
                    "{}: --limit and --offset count paths, and leave one path alone of {} of {} chains: path F1 is not "
                    "over whole chains. Use even numbers.",
                    name,
                    alone,
                    len(pairs),
                )
