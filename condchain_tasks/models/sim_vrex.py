"""The simulated model's replies to V-REX.

oracle: the right option. random: any option. distracted: while planning, the question of the distracting chain (another
wrong one where none is marked); else the right option.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from condchain_tasks.tasks.vrex.chains import ask, letter

POLICIES = ("oracle", "random", "distracted")
FIELDS = {"mode", "steps", "final_question", "length"}


def reply(doc: Mapping[str, Any], prompt: str, policy: str, accuracy: float, seed: int) -> str:
    """Answers one turn.

    Args:
        doc: The row; it has `FIELDS`.
        prompt: What was said; the step that its end asks for is answered.
        policy: One of `POLICIES`.
        accuracy: Probability of the policy's option at each step; otherwise any other option is given. 0 to 1.
        seed: Of the random choices.
    """
    number = next(n for n in reversed(range(len(doc["steps"]))) if prompt.endswith(ask(doc, n)))
    step = doc["steps"][number]
    options = range(len(step["options"]))
    draw = random.Random(f"{seed} {doc['id']} {doc['mode']} {doc['set']} {number}")
    if policy == "random":
        chosen = draw.choice(options)
    else:
        chosen = _distracting(step) if policy == "distracted" and _is_pick(doc, number) else step["gold"]
        if draw.random() >= accuracy:
            chosen = draw.choice([option for option in options if option != chosen])
    return f"({letter(chosen)})\n\nThis reply is simulated."


def _is_pick(doc: Mapping[str, Any], number: int) -> bool:
    return doc["mode"] == "planning" and number < len(doc["steps"]) - 1


def _distracting(step: Mapping[str, Any]) -> int:
    wrong = [number for number in range(len(step["options"])) if number != step["gold"]]
    return next((n for n in wrong if step["options"][n]["source"] == "distracting"), wrong[0])
