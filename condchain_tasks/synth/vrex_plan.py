"""What a kind of scene gives for one chain: the picture's facts, the final question, and questions on the way."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PIL import Image

from condchain_tasks.synth.vrex_queries import Query, Scene
from condchain_tasks.synth.vrex_rules import Rule


@dataclass(frozen=True)
class Ask:
    """A question about a scene.

    Attributes:
        question: In English.
        query: Its result, in words, is the answer.
        wrong: Texts that could be taken for the answer; the right one may be among them. None of them is needed for a
            number, nor for a question that no chain asks.
    """

    question: str
    query: Query
    wrong: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plan:
    """A chain of questions, not yet put into options.

    Attributes:
        scene: The picture's facts.
        final: The final question.
        rule: How its answer follows from the answers to `gold`.
        gold: Questions 1 to T-1, each of them needed.
        distracting: As many questions of a chain about another goal in the same picture.
        asides: Questions that lead nowhere; at least eight.
    """

    scene: Scene
    final: Ask
    rule: Rule
    gold: tuple[Ask, ...]
    distracting: tuple[Ask, ...]
    asides: tuple[Ask, ...]


@dataclass(frozen=True)
class Kind:
    """A kind of scene.

    Attributes:
        name: Of the kind, as `Scene.kind` has it.
        category: Of V-REX.
        scenario: Of V-REX.
        lengths: The least and the greatest number T of steps, the final one included.
        plan: Makes a chain of T steps.
        draw: Draws a scene, from its tables alone.
    """

    name: str
    category: str
    scenario: str
    lengths: tuple[int, int]
    plan: Callable[[random.Random, int], Plan]
    draw: Callable[[Scene], Image.Image]


def shuffled(rng: random.Random, items: Sequence[str]) -> list[str]:
    """The items in random order."""
    return rng.sample(items, len(items))
