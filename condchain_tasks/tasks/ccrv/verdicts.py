"""The judge of this process's run: checked before any request, asked about all replies at once."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from condchain_tasks.data import ccrv_tasks
from condchain_tasks.data.cache import cache_root
from condchain_tasks.data.errors import DataError
from condchain_tasks.data.harness import RunNotPossible, is_first_rank
from condchain_tasks.judging import rules
from condchain_tasks.judging.batch import judge_all
from condchain_tasks.judging.cache import VerdictCache, judge_folder
from condchain_tasks.judging.ccrv import asks, prompt_fingerprints
from condchain_tasks.judging.endpoints import server
from condchain_tasks.judging.judge import Judge
from condchain_tasks.judging.settings import NONE, RULES, JudgeSettings, from_environment, judge_name
from condchain_tasks.judging.verdicts import Answer, Missing
from condchain_tasks.scorers.replies import Reply, read_reply

# What decides where a judge is called, beside its settings.
_ADDRESS = (
    "OPENAI_API_URL",
    "OPENAI_API_KEY",
    "AZURE_ENDPOINT",
    "AZURE_API_KEY",
    "API_VERSION",
    "LLM_JUDGE_URL",
    "AWS_REGION",
)


NOT_KEPT = Answer(Missing("No verdict is kept. `condchain judge` adds it."), calls=0)
"""Of a verdict that was not asked for."""


@dataclass(frozen=True)
class Session:
    """A judge, what it has said before, and what it has answered in this run on each document's reply."""

    judge: Judge
    cache: VerdictCache
    had: dict[tuple[str, ...], dict[str, Answer]] = field(default_factory=dict)


def judging() -> bool:
    """Whether there is a judge."""
    return judge_name() != NONE


def is_simulated() -> bool:
    """Whether verdicts are computed from drawn scenes' facts."""
    return judge_name() == RULES


def describe_judge() -> dict[str, Any]:
    """What identifies the judge in a result.

    Returns:
        `model` (its name; "none" if judging is off, "rules" if verdicts are computed), `temperature` (None if none is
        sent), `server` (its address, "" if there is none), `simulated`, and `prompts`.

    Raises:
        DataError: A setting is wrong.
        PromptError: One of its prompts cannot be used.
    """
    settings = from_environment()
    if settings is None:
        return {**nobody(), "model": judge_name(), "simulated": is_simulated()}
    return {
        "model": settings.model,
        "temperature": settings.temperature,
        "server": server(settings),
        "simulated": False,
        "prompts": prompt_fingerprints(),
    }


def nobody() -> dict[str, Any]:
    """What `describe_judge` says if nobody judged."""
    return {"model": NONE, "temperature": None, "server": "", "simulated": False, "prompts": []}


def is_same_judge(before: object, now: Mapping[str, Any]) -> bool:
    """Whether verdicts in a result are those of the judge of now.

    Args:
        before: What the result says of its judge; what an older version did not write down is taken to be the same.
        now: See `describe_judge`.
    """
    if not isinstance(before, dict) or "model" not in before:
        return False
    return all(before.get(name, value) == value for name, value in now.items())


def check_data(task: str) -> None:
    """Makes sure that the judge can judge a task's data, which not every one can: rules need facts.

    Raises:
        DataError: It cannot.
    """
    if not is_simulated():
        return
    source, data = ccrv_tasks.load(task)
    if not data.synthetic:
        raise DataError(
            f"CCRV_JUDGE=rules judges what `condchain synth ccrv` drew, by the facts of its scenes, and {source.root} "
            "is not drawn: set CCRV_JUDGE to a judge's name, or to none."
        )
    columns = list(rules.TEXTS)
    _RULES.learn(source.root, pq.read_table(data.rows, columns=columns).to_pylist())


def check_judge(command_line: Any) -> None:
    """Asks the judge for a word before any request is sent; the first rank does, once a run.

    A judge that lmms-eval is to start itself, after the model has answered (`--launcher_args`), is not there yet.

    Raises:
        RunNotPossible: There is no such judge.
    """
    _TOLD.clear()
    try:
        session = _session()
        if session is not None and is_first_rank() and not getattr(command_line, "launcher_args", None):
            _checked_once(session.judge)
    except ValueError as error:
        raise RunNotPossible(str(error)) from error


def ask_all(replies: Sequence[tuple[dict[str, Any], Reply | str]]) -> None:
    """Asks the judge about all of this rank's replies at once; about what stands in them beside reasoning."""
    session = _session()
    if session is None:
        return
    questions = {_identity(doc, reply): asks(doc, read_reply(reply).answer) for doc, reply in replies}
    listed = [ask for several in questions.values() for ask in several]
    answers: dict[str, Answer]
    try:
        answers = judge_all(listed, session.judge, session.cache)
    except DataError as error:  # the replies are paid for: a judge that is gone by now must not cost them
        answers = {ask.key: Answer(Missing(str(error)), calls=0) for ask in listed}
    for identity, several in questions.items():
        session.had[identity] = {ask.kind: answers[ask.key] for ask in several}


def on(doc: dict[str, Any], reply: Reply | str) -> dict[str, Answer]:
    """The verdicts on one reply, by kind; none on one without an answer. What was not asked before is asked now."""
    if is_simulated():
        return _RULES.judge(doc, read_reply(reply).answer)
    session = _session()
    if session is None:
        return {ask.kind: _OFF for ask in asks(doc, read_reply(reply).answer)}
    if _identity(doc, reply) not in session.had:
        ask_all([(doc, reply)])
    return session.had[_identity(doc, reply)]


def kept(doc: dict[str, Any], reply: Reply | str) -> dict[str, Answer]:
    """The verdicts on one reply that are there without a request, by kind; the others are missing."""
    answer = read_reply(reply).answer
    if is_simulated():
        return _RULES.judge(doc, answer)
    session = _session()
    found: dict[str, Answer] = {}
    for ask in asks(doc, answer):
        verdict = session.cache.get(ask.key, ask.kind) if session else None
        found[ask.kind] = Answer(verdict, calls=0) if verdict else NOT_KEPT
    return found


def is_to_be_told() -> bool:
    """Whether nobody was told yet in this run that its verdicts are none, or simulated; then somebody is."""
    is_new = not _TOLD.is_set()
    _TOLD.set()
    return is_new


def _identity(doc: Mapping[str, Any], reply: Reply | str) -> tuple[str, ...]:
    return doc["image"], doc["key"], doc["y"], doc["setting"], read_reply(reply).answer


_OFF = Answer(Missing("Judging is off (CCRV_JUDGE=none). `condchain judge` adds the verdicts later."), calls=0)
_RULES = rules.Rules()
_TOLD = threading.Event()


def _session() -> Session | None:
    settings = from_environment()
    return None if settings is None else _session_of(settings, cache_root(), tuple(map(os.environ.get, _ADDRESS)))


@functools.lru_cache(maxsize=4)
def _session_of(settings: JudgeSettings, root: Path, address: tuple[str | None, ...]) -> Session:
    """One session for everything that identifies a judge, however many tasks a run has."""
    return Session(Judge(settings), VerdictCache(judge_folder(settings.model, server(settings))))


@functools.lru_cache(maxsize=4)
def _checked_once(judge: Judge) -> None:
    judge.check()
