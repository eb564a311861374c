"""Two more stages of a task's run, at which it sees all of a rank's documents at once.

lmms-eval scores replies one document at a time, in four threads, and has no place where a task could ask a judge
about all of them with a concurrency of its own, or look at its judge before any request is sent. A task whose
`process_results` is a `StagedScoring` gets both. Here, too, what lmms-eval hands over as text to be scored becomes a
`Reply` again, which knows the tags that its reasoning stands between.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any

from loguru import logger

from condchain_tasks.model_replies import is_asked_here, is_scored_here
from condchain_tasks.scorers.replies import Reply, Tags, failed, read_reply, read_stripped
from condchain_tasks.tasks.reasoning import reasoning_tags

_MARK = "_condchain_tasks_stages"

Doc = dict[str, Any]


class StagedScoring:
    """A `process_results` with two stages before it."""

    def __init__(
        self,
        before_requests: Callable[[Any], None],
        before_scores: Callable[[list[tuple[Doc, Reply]]], None],
        score: Callable[[Doc, Sequence[Reply | str]], dict[str, Any]],
    ) -> None:
        """Puts the stages together.

        Args:
            before_requests: Called with the harness's command line (None if there is none) before any request.
            before_scores: Called with this rank's documents and replies before any is scored. Scoring must not
                depend on it: where lmms-eval has no place to attach to, it is not called.
            score: The harness's `process_results`.
        """
        self.before_requests = before_requests
        self.before_scores = before_scores
        self._score = score

    def __call__(self, doc: Doc, results: Sequence[Reply | str]) -> dict[str, Any]:
        """Scores one document."""
        return self._score(doc, results)

    def __repr__(self) -> str:
        return f"{self._score.__module__}.{self._score.__name__}, with stages before it"


def add_stages() -> None:
    """Lets lmms-eval's tasks call the stages of a `StagedScoring`.

    Calling this again changes nothing. If lmms-eval has no place to attach to, a warning says so.
    """
    try:
        from lmms_eval.api.task import ConfigurableTask
        from lmms_eval.models.model_utils.usage_metrics import set_task_context

        build: Callable[..., None] = ConfigurableTask.build_all_requests
        filters: Callable[[Any], Any] = ConfigurableTask.apply_filters
        score: Callable[..., Any] = ConfigurableTask.process_results
    except (ImportError, AttributeError):
        logger.warning(
            "condchain-tasks {} finds no stages in lmms-eval {}: a judge is asked about one reply at a time, and is "
            "not checked before the run.",
            version("condchain-tasks"),
            version("lmms_eval"),
        )
        return
    if getattr(ConfigurableTask, _MARK, False):
        return

    @functools.wraps(build)
    def build_all_requests(self: Any, *args: Any, **kwargs: Any) -> None:
        if isinstance(scoring := self.config.process_results, StagedScoring):
            scoring.before_requests(getattr(self, "args", None))
        build(self, *args, **kwargs)

    @functools.wraps(filters)
    def apply_filters(self: Any) -> Any:
        if not is_asked_here(self):
            return filters(self)
        tags = reasoning_tags(self)
        for instance in self.instances:
            # lmms-eval sends nothing more once its token budget is spent.
            instance.resps = [_kept_whole(reply, tags) for reply in instance.resps] or [failed("budget").encoded]
        done = filters(self)
        if isinstance(scoring := self.config.process_results, StagedScoring):
            set_task_context(self.config.task)  # tokens spent now are this task's
            scoring.before_scores(
                [
                    (self.task_docs[instance.doc_id], read_stripped(reply, tags))
                    for instance in self.instances
                    if not instance.metadata.get("__padding_only__")
                    for reply in instance.filtered_resps.values()
                    if isinstance(reply, str)
                ]
            )
        return done

    @functools.wraps(score)
    def process_results(self: Any, doc: Doc, results: list[Any], full_docs: Any = None) -> Any:
        if not is_scored_here(self):
            return score(self, doc, results, full_docs)
        replies = results[0] if isinstance(results[0], list) else results
        tags = reasoning_tags(self)
        return self.config.process_results(doc, [read_stripped(reply, tags) for reply in replies])

    ConfigurableTask.build_all_requests = build_all_requests
    ConfigurableTask.apply_filters = apply_filters
    ConfigurableTask.process_results = process_results
    setattr(ConfigurableTask, _MARK, True)


def _kept_whole(reply: Any, tags: Tags) -> Any:
    """A reply as it is; a failure without details that lmms-eval would take for reasoning, and cut."""
    if isinstance(reply, list):
        return [_kept_whole(one, tags) for one in reply]
    failure = read_reply(reply).failure
    return failed(failure).encoded if failure and any(tag in reply for pair in tags for tag in pair) else reply
