"""The simulated model's replies to CCRV-Bench.

oracle: obeys the constraint and states the reference. violates: states the reference and breaks the constraint.
wrong: obeys the constraint and states nothing that is right.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from typing import Any

POLICIES = ("oracle", "violates", "wrong")
FIELDS = {"key", "x", "y", "reference", "adapted", "spec"}

NOTHING_RIGHT = "Nothing here touches anything else, and nothing changes."

DENIAL = "The premise is false: the picture contradicts it."

_NOWHERE = (-9999.0, -9999.0)


def reply(doc: Mapping[str, Any], prompt: str, policy: str, accuracy: float, seed: int) -> str:
    """Answers one item.

    Args:
        doc: The row; it has `FIELDS`.
        prompt: What was said; the row alone decides.
        policy: One of `POLICIES`.
        accuracy: Probability of the policy's reply; otherwise the reply of `wrong` is given. 0 to 1.
        seed: Of the random choices.
    """
    if random.Random(f"{seed} {doc['key']} {doc['y']}").random() >= accuracy:
        policy = "wrong"
    return {"oracle": _oracle, "violates": _violates, "wrong": _wrong}[policy](doc)


def _oracle(doc: Mapping[str, Any]) -> str:
    if doc["y"] == "Y2":
        return _grounded(_centre(doc), doc["reference"])
    return str(doc["adapted"] or doc["reference"])


def _violates(doc: Mapping[str, Any]) -> str:
    if doc["y"] == "Y2":
        return _grounded(_NOWHERE, doc["reference"])
    if doc["y"] == "Y3":
        premise = str(json.loads(doc["spec"])["false_premise"]).rstrip(".")
        return f"Since {premise[:1].lower()}{premise[1:]}, this follows. {doc['reference']}"
    return str(doc["reference"])


def _wrong(doc: Mapping[str, Any]) -> str:
    if doc["y"] == "Y2":
        return _grounded(_centre(doc), NOTHING_RIGHT)
    if doc["y"] == "Y3":
        return f"{DENIAL} {NOTHING_RIGHT}"
    return "nothing" if doc["y"] == "Y4" else NOTHING_RIGHT


def _centre(doc: Mapping[str, Any]) -> tuple[float, float]:
    left, top, right, bottom = doc["bbox_xyxy"]
    return (left + right) / 2, (top + bottom) / 2


def _grounded(point: tuple[float, float], explanation: str) -> str:
    return f"Coordinate: {point[0]:g}, {point[1]:g}\nExplanation: {explanation}"
