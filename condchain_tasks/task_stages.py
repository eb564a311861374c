"""Two more stages of a task's run, at which it sees all of a rank's documents at once.

lmms-eval scores replies one document at a time, in four threads, and has no place where a task could ask a judge
about all of them with a concurrency of its own, or look at its judge before any request is sent. A task whose
`process_results` is a `StagedScoring` gets both. Here, too, replies are made fit for the sample log.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from loguru import logger

from condchain_tasks.scorers.replies import encodable

_MARK = "_condchain_tasks_stages"

Doc = dict[str, Any]


class StagedScoring:
    """A `process_results` with two stages before it."""

    def __init__(
        self,
        before_requests: Callable[[Any], None],
        before_scores: Callable[[list[tuple[Doc, str]]], None],
        score: Callable[[Doc, list[str]], dict[str, Any]],
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

    def __call__(self, doc: Doc, results: list[str]) -> dict[str, Any]:
        """Scores one document."""
        return self._score(doc, results)

    def __repr__(self) -> str:
        return f"{self._score.__module__}.{self._score.__name__}, with stages before it"


def add_stages() -> None:
    """Lets lmms-eval's tasks call the stages of a `StagedScoring`.

    Calling this again changes nothing. If lmms-eval has no place to attach to, a warning says so.
    """
    try:
        from lmms_eval.api.reasoning import parse_reasoning_tags_config, strip_reasoning_tags
        from lmms_eval.api.task import ConfigurableTask
        from lmms_eval.models.model_utils.usage_metrics import set_task_context

        build: Callable[..., None] = ConfigurableTask.build_all_requests
        filters: Callable[[Any], Any] = ConfigurableTask.apply_filters
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
        if _is_ours(self):
            for instance in self.instances:
                instance.resps = [_encodable(reply) for reply in instance.resps]
        done = filters(self)
        if isinstance(scoring := self.config.process_results, StagedScoring):
            # The harness takes the reasoning out of a reply only when it scores it.
            tags = parse_reasoning_tags_config(
                cli_value=getattr(getattr(self, "args", None), "reasoning_tags", None),
                task_value=self.config.reasoning_tags,
            )
            set_task_context(self.config.task)  # tokens spent now are this task's
            scoring.before_scores(
                [
                    (self.task_docs[instance.doc_id], strip_reasoning_tags(reply, tags) if tags else reply)
                    for instance in self.instances
                    if not instance.metadata.get("__padding_only__")
                    for reply in instance.filtered_resps.values()
                    if isinstance(reply, str)
                ]
            )
        return done

    ConfigurableTask.build_all_requests = build_all_requests
    ConfigurableTask.apply_filters = apply_filters
    setattr(ConfigurableTask, _MARK, True)


def _is_ours(task: Any) -> bool:
    return str(getattr(task.config.process_results, "__module__", "")).startswith("condchain_tasks.")


def _encodable(reply: Any) -> Any:
    if isinstance(reply, list):
        return [_encodable(one) for one in reply]
    return encodable(reply) if isinstance(reply, str) else reply
