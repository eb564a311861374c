"""A simulated model: it looks up the right answer instead of looking at pictures.

It is no model and its figures are no results. It proves a pipeline (data, ranks, caches, scores, reports) without a
GPU, and it measures the level of chance.
"""

from __future__ import annotations

import os
from typing import Any

import torch
from accelerate import Accelerator
from lmms_eval.api.instance import Instance
from lmms_eval.api.model import lmms
from lmms_eval.api.registry import register_model
from loguru import logger

from condchain_tasks.data.harness import RunNotPossible, is_first_rank
from condchain_tasks.models import sim_ccrv, sim_condchain, sim_vrex

POLICIES = tuple(dict.fromkeys((*sim_condchain.POLICIES, *sim_ccrv.POLICIES, *sim_vrex.POLICIES)))


@register_model("condchain_sim")
class SimulatedModel(lmms):
    """Answers by a policy: `--model condchain_sim --model_args policy=oracle,accuracy=0.7,seed=0`.

    The policies are those of the benchmark: see `sim_condchain`, `sim_ccrv`, `sim_vrex`. Every random choice depends on
    the seed and the document alone, so that any number of ranks gives the same replies.
    """

    is_simulated = True  # goes into the results

    def __init__(
        self, policy: str = "oracle", accuracy: float = 1.0, seed: int = 0, device: str = "cpu", **kwargs: Any
    ) -> None:
        """Sets the policy.

        Args:
            policy: One of `POLICIES`.
            accuracy: Probability of the policy's reply; otherwise another one is given. 0 to 1.
            seed: Of all random choices.
            device: For the harness; nothing is computed on it.
            **kwargs: `batch_size` and `max_batch_size`, which the harness passes to every model.

        Raises:
            RunNotPossible: An argument is unknown or out of its range.
        """
        super().__init__()
        unknown = kwargs.keys() - {"batch_size", "max_batch_size"}
        # lmms-eval makes numbers of what looks like some: -1 comes as -1.0, and "true" as True.
        numbers = all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in (accuracy, seed))
        if unknown or policy not in POLICIES or not (numbers and 0 <= accuracy <= 1 and float(seed).is_integer()):
            raise RunNotPossible(
                f"condchain_sim: expected policy={'|'.join(POLICIES)}, accuracy between 0 and 1, and a whole number as "
                f"seed; found policy={policy}, accuracy={accuracy}, seed={seed}"
                f"{''.join(f', {name}' for name in sorted(unknown))}."
            )
        self.policy, self.accuracy, self.seed = policy, float(accuracy), int(seed)
        if is_first_rank():
            logger.warning(
                "condchain_sim is no model: it looks the answers up (policy={}). This run's figures are no results.",
                policy,
            )
        self.device = torch.device("cpu")
        self.accelerator = Accelerator(cpu=int(os.environ.get("WORLD_SIZE", "1")) > 1)
        self._rank = self.accelerator.process_index
        self._world_size = self.accelerator.num_processes

    @property
    def rank(self) -> int:
        """This process's number."""
        return self._rank

    @property
    def world_size(self) -> int:
        """Number of processes."""
        return self._world_size

    def generate_until(self, requests: list[Instance]) -> list[str]:
        """One reply a request."""
        return [self._reply(request.args[0], *request.args[-3:]) for request in requests]

    def generate_until_multi_round(self, requests: list[Instance]) -> list[str]:
        """Not needed by any task of this package."""
        raise NotImplementedError("condchain_sim answers single-turn tasks")

    def loglikelihood(self, requests: list[Instance]) -> list[tuple[float, bool]]:
        """Not needed by any task of this package."""
        raise NotImplementedError("condchain_sim generates, and has no likelihoods")

    def _reply(self, prompt: str, doc_id: int, task: str, split: str) -> str:
        doc = self.task_dict[task][split][doc_id]
        for replies in (sim_condchain, sim_ccrv, sim_vrex):
            if doc.keys() >= replies.FIELDS:
                break
        else:
            raise RunNotPossible(f"condchain_sim answers the tasks of this package only, and {task} is none of them.")
        if self.policy not in replies.POLICIES:
            raise RunNotPossible(
                f"condchain_sim has no policy {self.policy} for {task}: expected {' or '.join(replies.POLICIES)}."
            )
        return replies.reply(doc, prompt, self.policy, self.accuracy, self.seed)
