"""A YAML task whose documents are conversations; see `condchain_tasks.rounds`."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from lmms_eval.api.instance import Instance
from lmms_eval.api.model import lmms
from lmms_eval.api.task import ConfigurableTask

from condchain_tasks.data.harness import RunNotPossible
from condchain_tasks.rounds import REQUEST_TYPE, Chain
from condchain_tasks.tasks.reasoning import reasoning_tags


class RoundsTask(ConfigurableTask):
    """The harness's YAML task, but for the requests: one conversation a document, for any kind of model."""

    def __init__(self, config: dict[str, Any]) -> None:
        """Reads the task's YAML, which names this class."""
        super().__init__(config={key: value for key, value in config.items() if key != "class"})

    @abstractmethod
    def chain(self, doc: dict[str, Any]) -> Chain:
        """The conversation about a document."""

    def construct_requests(self, doc_id: int, ctx: str, **kwargs: Any) -> Instance:
        """One conversation as one request; its arguments are those of `rounds.run_rounds`."""
        if not hasattr(lmms, REQUEST_TYPE):
            raise RunNotPossible(
                f"{self.config.task}: lmms-eval runs conversations in rounds only with what CONDCHAIN_PATCHES=off "
                "leaves out. Unset it, or run vrex_direct or a task whose name has _tf."
            )
        # Reasoning is left out of the history by the same tags by which the harness leaves it out of the scores.
        tags = reasoning_tags(self)
        metadata = kwargs["metadata"]
        settings = dict(self.config.generation_kwargs)
        chain = self.chain(self.task_docs[doc_id])
        arguments = (ctx, chain, settings, tags, doc_id, self.config.task, metadata["split"])
        return Instance(request_type=REQUEST_TYPE, arguments=arguments, idx=0, **kwargs)
