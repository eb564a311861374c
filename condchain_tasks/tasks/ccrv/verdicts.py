"""The judge of this process's run: checked before any request, asked about all replies at once."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from condchain_tasks.data.cache import cache_root
from condchain_tasks.data.errors import DataError
from condchain_tasks.data.harness import RunNotPossible, is_first_rank
from condchain_tasks.judging.batch import judge_all
from condchain_tasks.judging.cache import VerdictCache, judge_folder
from condchain_tasks.judging.ccrv import asks, prompt_fingerprints
from condchain_tasks.judging.judge import Judge
from condchain_tasks.judging.settings import JudgeSettings, from_environment
from condchain_tasks.judging.verdicts import Answer, Missing

# What decides where a judge is called, beside its settings.
_ADDRESS = ("OPENAI_API_URL", "OPENAI_API_KEY", "AZURE_ENDPOINT", "AZURE_API_KEY", "LLM_JUDGE_URL")


@dataclass(frozen=True)
class Session:
    """A judge, what it has said before, and what it has answered in this run on each document's reply."""

    judge: Judge
    cache: VerdictCache
    had: dict[tuple[str, ...], dict[str, Answer]] = field(default_factory=dict)


def judging() -> bool:
    """Whether there is a judge."""
    return from_environment() is not None


def describe_judge() -> dict[str, Any]:
    """What identifies the judge in a result: its name, "none" if judging is off, and its prompts.

    Raises:
        DataError: A setting is wrong.
        PromptError: One of its prompts cannot be used.
    """
    settings = from_environment()
    if settings is None:
        return {"model": "none", "prompts": []}
    return {"model": settings.model, "temperature": settings.temperature, "prompts": prompt_fingerprints()}


def is_same_judge(before: object, now: Mapping[str, Any]) -> bool:
    """Whether verdicts in a result are those of the judge of now.

    Args:
        before: What the result says of its judge; what an older version did not write down is taken to be the same.
        now: See `describe_judge`.
    """
    if not isinstance(before, dict) or "model" not in before:
        return False
    return all(before.get(name, value) == value for name, value in now.items())


def check_judge(command_line: Any) -> None:
    """Asks the judge for a word before any request is sent; the first rank does, once a run.

    A judge that lmms-eval is to start itself, after the model has answered (`--launcher_args`), is not there yet.

    Raises:
        RunNotPossible: There is no such judge.
    """
    try:
        session = _session()
        if session is not None and is_first_rank() and not getattr(command_line, "launcher_args", None):
            _checked_once(session.judge)
    except ValueError as error:
        raise RunNotPossible(str(error)) from error


def ask_all(replies: list[tuple[dict[str, Any], str]]) -> None:
    """Asks the judge about all of this rank's replies at once."""
    session = _session()
    if session is None:
        return
    questions = {_identity(doc, reply): asks(doc, reply.strip()) for doc, reply in replies}
    listed = [ask for several in questions.values() for ask in several]
    answers: dict[str, Answer]
    try:
        answers = judge_all(listed, session.judge, session.cache)
    except DataError as error:  # the replies are paid for: a judge that is gone by now must not cost them
        answers = {ask.key: Answer(Missing(str(error)), calls=0) for ask in listed}
    for identity, several in questions.items():
        session.had[identity] = {ask.kind: answers[ask.key] for ask in several}


def on(doc: dict[str, Any], reply: str) -> dict[str, Answer]:
    """The verdicts on one reply, by kind; none on a failed one. What was not asked before is asked now."""
    session = _session()
    if session is None:
        return {ask.kind: _OFF for ask in asks(doc, reply.strip())}
    if _identity(doc, reply) not in session.had:
        ask_all([(doc, reply)])
    return session.had[_identity(doc, reply)]


def _identity(doc: Mapping[str, Any], reply: str) -> tuple[str, ...]:
    return doc["image"], doc["key"], doc["y"], doc["setting"], reply.strip()


_OFF = Answer(Missing("Judging is off (CCRV_JUDGE=none). `condchain judge` adds the verdicts later."), calls=0)


def _session() -> Session | None:
    settings = from_environment()
    return None if settings is None else _session_of(settings, cache_root(), tuple(map(os.environ.get, _ADDRESS)))


@functools.lru_cache(maxsize=4)
def _session_of(settings: JudgeSettings, root: Path, address: tuple[str | None, ...]) -> Session:
    """One session for everything that identifies a judge, however many tasks a run has."""
    return Session(Judge(settings), VerdictCache(judge_folder(settings.model)))


@functools.lru_cache(maxsize=4)
def _checked_once(judge: Judge) -> None:
    judge.check()
