"""Whether what a plan names is there: models, tasks and policies that lmms-eval knows in this environment."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from pathlib import Path

from loguru import logger

from condchain_tasks.data.errors import DataError
from condchain_tasks.data.fields import shown
from condchain_tasks.models import sim_ccrv, sim_condchain, sim_vrex
from condchain_tasks.sweep.plan import OWN_TASKS, Model, Plan

_SIMULATED = "condchain_sim"
_POLICIES = {"condchain": sim_condchain.POLICIES, "ccrv": sim_ccrv.POLICIES, "vrex": sim_vrex.POLICIES}
_MAX_FAULTS = 10


def check_names(plan: Plan, path: Path) -> None:
    """Refuses names that would only fail once a cell runs.

    Args:
        plan: The plan.
        path: Its file, for messages.

    Raises:
        DataError: A model or task is not known to lmms-eval here, or a simulated model has a policy that does not go
            with its tasks: each one, and the name that was probably meant.
    """
    faults = [f"{path}, field {fault}" for fault in (*_models(plan), *_tasks(plan), *_policies(plan))]
    if faults:
        raise DataError(" ".join(faults[:_MAX_FAULTS]))


def _models(plan: Plan) -> Iterator[str]:
    from lmms_eval.models import list_available_models

    known = list_available_models(include_aliases=True)
    for number, model in enumerate(plan.models):
        if model.model not in known:
            yield _unknown(f"models.{number}.model", "a model that lmms-eval knows here", model.model, known)


def _tasks(plan: Plan) -> Iterator[str]:
    others = {number: task for number, task in enumerate(plan.tasks) if not OWN_TASKS.fullmatch(task)}
    if not others:
        return
    from lmms_eval.tasks import TaskManager

    logger.disable("lmms_eval")  # it tells of each of its own files that is no task
    try:
        known = TaskManager().all_tasks
    finally:
        logger.enable("lmms_eval")
    for number, task in others.items():
        if task not in known:
            yield _unknown(f"tasks.{number}", "a task that lmms-eval knows here", task, known)


def _policies(plan: Plan) -> Iterator[str]:
    benchmarks = {match[1] for task in plan.tasks if (match := OWN_TASKS.fullmatch(task))}
    for number, model in enumerate(plan.models):
        if model.model == _SIMULATED:
            yield from _simulated(f"models.{number}.args", model, sorted(benchmarks))


def _simulated(place: str, model: Model, benchmarks: Iterable[str]) -> Iterator[str]:
    policy = model.args.get("policy", "oracle")
    for benchmark in benchmarks:
        if policy not in _POLICIES[benchmark]:
            what = f"one of {', '.join(_POLICIES[benchmark])}, which {_SIMULATED} has for {benchmark}"
            yield _unknown(f"{place}.policy", what, policy, _POLICIES[benchmark])
    accuracy, seed = model.args.get("accuracy", 1), model.args.get("seed", 0)
    if type(accuracy) not in (int, float) or not 0 <= accuracy <= 1:
        yield f"{place}.accuracy: Expected a number from 0 to 1, found {shown(accuracy)}."
    if type(seed) is not int:
        yield f"{place}.seed: Expected a whole number, found {shown(seed)}."
    known = ("policy", "accuracy", "seed", "device")
    for name in model.args.keys() - set(known):
        yield _unknown(place, f"arguments of {_SIMULATED}, {', '.join(known)}", name, known)


def _unknown(place: str, what: str, found: object, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(str(found), list(known), n=1)
    hint = f" Is {near[0]} meant?" if near else ""
    return f"{place}: Expected {what}, found {shown(found)}.{hint}"
