"""A simulated model: it looks up the right answer instead of looking at pictures.

It is no model and its figures are no results. It proves a pipeline (data, ranks, caches, scores, reports) without a
GPU, and it measures the level of chance.
"""

from __future__ import annotations

import os
import random
from typing import Any

import torch
from accelerate import Accelerator
from lmms_eval.api.instance import Instance
from lmms_eval.api.model import lmms
from lmms_eval.api.registry import register_model

from condchain_tasks.data.harness import RunNotPossible

POLICIES = ("oracle", "always_continue", "always_stop", "random")


@register_model("condchain_sim")
class SimulatedModel(lmms):
    """Answers by a policy: `--model condchain_sim --model_args policy=oracle,accuracy=0.7,seed=0`.

    Policies:
        oracle: The right option.
        always_continue: The true path's option, as if every condition held.
        always_stop: The false path's option, as if the condition that it changes failed.
        random: Any option that the instruction shows, each as likely as the others.
    """

    def __init__(
        self, policy: str = "oracle", accuracy: float = 1.0, seed: int = 0, device: str = "cpu", **kwargs: Any
    ) -> None:
        """Sets the policy.

        Args:
            policy: One of `POLICIES`.
            accuracy: Probability of the policy's option; otherwise any other option is given. 0 to 1.
            seed: Of all random choices. They depend on the seed and the document alone, so that any number of ranks
                gives the same replies.
            device: For the harness; nothing is computed on it.
            **kwargs: `batch_size` and `max_batch_size`, which the harness passes to every model.

        Raises:
            RunNotPossible: An argument is unknown or out of its range.
        """
        super().__init__()
        unknown = kwargs.keys() - {"batch_size", "max_batch_size"}
        try:
            self.policy, self.accuracy, self.seed = policy, float(accuracy), int(seed)
            known = policy in POLICIES and 0 <= self.accuracy <= 1 and not unknown
        except ValueError:
            known = False
        if not known:
            raise RunNotPossible(
                f"condchain_sim: expected policy={'|'.join(POLICIES)}, accuracy between 0 and 1, and a whole number as "
                f"seed; found policy={policy}, accuracy={accuracy}, seed={seed}"
                f"{''.join(f', {name}' for name in sorted(unknown))}."
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
        return [self._reply(*request.args[-3:]) for request in requests]

    def generate_until_multi_round(self, requests: list[Instance]) -> list[str]:
        """Not needed by any task of this package."""
        raise NotImplementedError("condchain_sim answers single-turn tasks")

    def loglikelihood(self, requests: list[Instance]) -> list[tuple[float, bool]]:
        """Not needed by any task of this package."""
        raise NotImplementedError("condchain_sim generates, and has no likelihoods")

    def _reply(self, doc_id: int, task: str, split: str) -> str:
        doc = self.task_dict[task][split][doc_id]
        if "labels" not in doc:
            raise RunNotPossible(f"condchain_sim answers the tasks of this package only, and {task} is none of them.")
        labels = doc["labels"] or ["None"]
        draw = random.Random(f"{self.seed} {doc['pair']} {doc['path']}")
        if self.policy == "random":
            label = draw.choice(labels)
        else:
            label = {
                "oracle": doc["gold"],
                "always_continue": doc["gold_true"],
                "always_stop": doc["gold_false"],
            }[self.policy]
            if draw.random() >= self.accuracy:
                label = draw.choice([other for other in labels if other != label] or ["None"])
        return f"This reply is simulated.\n\n\\boxed{{{label}}}"
