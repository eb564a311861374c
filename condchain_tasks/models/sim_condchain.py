"""The simulated model's replies to MM-CondChain.

oracle: the right option. always_continue: the true path's option, as if every condition held. always_stop: the false
path's option, as if the condition that it changes failed. random: any option that the instruction shows, each as
likely as the others.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

POLICIES = ("oracle", "always_continue", "always_stop", "random")
FIELDS = {"labels", "pair", "path", "gold", "gold_true", "gold_false"}


def reply(doc: Mapping[str, Any], prompt: str, policy: str, accuracy: float, seed: int) -> str:
    """Answers one path of a chain.

    Args:
        doc: The row; it has `FIELDS`.
        prompt: What was said; the row alone decides.
        policy: One of `POLICIES`.
        accuracy: Probability of the policy's option; otherwise any other option is given. 0 to 1.
        seed: Of the random choices.
    """
    labels = doc["labels"] or ["None"]
    draw = random.Random(f"{seed} {doc['pair']} {doc['path']}")
    if policy == "random":
        label = draw.choice(labels)
    else:
        label = {"oracle": doc["gold"], "always_continue": doc["gold_true"], "always_stop": doc["gold_false"]}[policy]
        if draw.random() >= accuracy:
            label = draw.choice([other for other in labels if other != label] or ["None"])
    return f"This reply is simulated.\n\n\\boxed{{{label}}}"
