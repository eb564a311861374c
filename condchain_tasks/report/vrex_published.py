"""V-REX's published figures, to be set beside one's own."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from condchain_tasks.report.published_tables import published_table

CORRELATIONS = {"planning": 0.858, "following": 0.948}
"""Pearson's correlation of an ability with the accuracy on the final question alone, over 32 models."""

AVERAGE = "average"

_PARTS = ("deduction", "guessing", "navigation", "retrieval", AVERAGE)
_SAME = {"instruct": "", "it": "", "chat": "", "hf": "", "thinking": "think", "onevision": "ov"}
_TOKEN = re.compile(r"[a-z]+|\d+(?:[._]\d+)?b?(?![a-z])|[^\W_]")


class Figure(NamedTuple):
    """What a published figure is of.

    Attributes:
        variant: "standard", "hard" (eight options) or "blind" (no picture).
        measure: "ability", "accuracy" (on the final question) or "recovery".
        mode: "planning", "following" or "direct".
        part: A category, or "average".
    """

    variant: str
    measure: str
    mode: str
    part: str


def published_figures(model: str) -> Mapping[Figure, float]:
    """A model's published figures, per cent.

    Args:
        model: The folder that lmms-eval names after the model, or the paper's name. Owner, case, punctuation and words
            such as "Instruct" do not matter; any other word makes it another model.

    Returns:
        By what they are of; empty if the model is not in the paper's tables.
    """
    return _by_model().get(_key(model), {})


@cache
def accuracy_by_wrong_steps() -> Mapping[int, float]:
    """The published accuracy on the final question after following, per cent, by the number of wrong steps."""
    return {
        int(row["wrong_steps"]): 100 * float(row["final_acc_following"]) for row in published_table("vrex_wrong_steps")
    }


@cache
def _by_model() -> Mapping[frozenset[str], Mapping[Figure, float]]:
    found: defaultdict[frozenset[str], dict[Figure, float]] = defaultdict(dict)
    for table, columns in _COLUMNS.items():
        for row in published_table(table):
            found[_key(row["model"])].update((figure, float(row[column])) for column, figure in columns.items())
    return found


_COLUMNS = {
    "vrex_ability": {
        f"{mode}_{'avg' if part == AVERAGE else part}": Figure("standard", "ability", mode, part)
        for mode in ("planning", "following")
        for part in _PARTS
    },
    "vrex_final_accuracy": {
        f"{'overall' if part == AVERAGE else part}_{mode}": Figure("standard", "accuracy", mode, part)
        for mode in ("direct", "planning", "following")
        for part in _PARTS
    },
    "vrex_recovery": {
        f"from_failed_{mode}": Figure("standard", "recovery", mode, AVERAGE) for mode in ("planning", "following")
    },
    "vrex_planning_options": {f"{part}_8": Figure("hard", "ability", "planning", part) for part in _PARTS},
    # The table does not say how the final question was asked; alone is the plain reading.
    "vrex_blindfold": {part: Figure("blind", "accuracy", "direct", part) for part in _PARTS if part != AVERAGE},
}


def _key(model: str) -> frozenset[str]:
    """The words of a model's name that tell it from others."""
    name = re.split(r"__|/", model)[-1].lower().replace("-qwen2-", "-")  # the language model of LLaVA-OneVision
    words = (word.replace("_", ".") for word in _TOKEN.findall(name))
    return frozenset(_SAME.get(word, word) for word in words) - {""}
