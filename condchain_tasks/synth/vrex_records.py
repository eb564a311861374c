"""From a plan to the records of one chain: planning, following, and planning with eight options."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from condchain_tasks.data.identity import MARK
from condchain_tasks.synth.vrex_kinds import CATEGORIES, KINDS
from condchain_tasks.synth.vrex_options import Options, draw_numbers, draw_options
from condchain_tasks.synth.vrex_plan import Ask, Kind, Plan
from condchain_tasks.synth.vrex_queries import Query, Scene, text_of
from condchain_tasks.synth.vrex_rules import Rule

Json = dict[str, Any]

STANDARD, HARD = 4, 8
"""Options of a planning step in the two sets; there are `STANDARD` answers to choose from, or fewer."""

_LENGTHS = {2: 20, 3: 48, 4: 28, 5: 11, 6: 5}
"""Number of steps, and how often a chain has it before its kind of scene has a say."""


@dataclass(frozen=True)
class Sample:
    """One chain.

    Attributes:
        id: Of its records and its picture.
        planning: Record of planning.jsonl.
        following: Record of following.jsonl.
        hard: Record of planning_hard.jsonl.
        scene: The picture's facts.
        rule: How the final answer follows.
        queries: For each question of the records what it asks.
        distracting: For each planning step the index of the distracting chain's option.
        distracting_hard: The same in the hard set.
    """

    id: str
    planning: Json
    following: Json
    hard: Json
    scene: Scene
    rule: Rule
    queries: dict[str, Query]
    distracting: tuple[int, ...]
    distracting_hard: tuple[int, ...]


@dataclass(frozen=True)
class _Picks:
    """The planning steps of one set, and where each has the distracting chain's question."""

    steps: list[Json]
    distracting: tuple[int, ...]
    asks: tuple[Ask, ...]


def make_sample(number: int, seed: int) -> Sample:
    """Makes the chain of a number, without drawing its picture.

    Args:
        number: From 0; categories take turns, and so do their kinds of scenes.
        seed: Other seeds give other chains.
    """
    rng = random.Random(f"vrex/{seed}/{number}")
    kind = _kind(number)
    plan = kind.plan(rng, _length(rng, kind))
    sample_id = f"{kind.name}_{number:04d}"
    last = _answered(rng, plan, plan.final)
    standard, hard = (_picks(rng, plan, count) for count in (STANDARD, HARD))
    head = {
        "id": sample_id,
        MARK: True,
        "image": f"images/{sample_id}.png",
        "category": kind.category,
        "scenario": kind.scenario,
        "final_question": plan.final.question,
    }
    following = [_answered(rng, plan, ask) for ask in plan.gold]
    asks = (plan.final, *plan.gold, *standard.asks, *hard.asks)
    return Sample(
        id=sample_id,
        planning=head | {"steps": [*standard.steps, last]},
        following=head | {"steps": [*following, last]},
        hard=head | {"set": "hard", "steps": [*hard.steps, last]},
        scene=plan.scene,
        rule=plan.rule,
        queries={ask.question: ask.query for ask in asks},
        distracting=standard.distracting,
        distracting_hard=hard.distracting,
    )


def _kind(number: int) -> Kind:
    of_category = [kind for kind in KINDS.values() if kind.category == CATEGORIES[number % len(CATEGORIES)]]
    return of_category[number // len(CATEGORIES) % len(of_category)]


def _length(rng: random.Random, kind: Kind) -> int:
    least, most = kind.lengths
    possible = [length for length in _LENGTHS if least <= length <= most]
    return rng.choices(possible, cum_weights=list(accumulate(_LENGTHS[length] for length in possible)))[0]


def _answer(scene: Scene, ask: Ask) -> str:
    return text_of(ask.query.result(scene))


def _answered(rng: random.Random, plan: Plan, ask: Ask) -> Json:
    """A step that asks for an answer."""
    value = ask.query.result(plan.scene)
    right = text_of(value)
    if ask.wrong:
        options = draw_options(rng, right, (), ask.wrong, STANDARD, ask.question)
    else:
        options = draw_numbers(rng, int(right), STANDARD)
    return {"question": ask.question, "answer": right, "options": list(options.texts), "gold": options.gold}


def _picks(rng: random.Random, plan: Plan, count: int) -> _Picks:
    """The steps that ask for the next question."""
    steps: list[Json] = []
    distracting: list[int] = []
    asks: list[Ask] = []
    pool = [ask.question for ask in plan.asides]
    by_question = {ask.question: ask for ask in (*plan.asides, *plan.gold, *plan.distracting)}
    for gold, other in zip(plan.gold, plan.distracting, strict=True):
        options: Options = draw_options(rng, gold.question, (other.question,), pool, count, plan.final.question)
        sources = {gold.question: "gold", other.question: "distracting"}
        chosen: Sequence[Ask] = [by_question[text] for text in options.texts]
        steps.append(
            {
                "question": gold.question,
                "answer": _answer(plan.scene, gold),
                "options": [
                    {
                        "question": ask.question,
                        "answer": _answer(plan.scene, ask),
                        "source": sources.get(ask.question, "distractor"),
                    }
                    for ask in chosen
                ],
                "gold": options.gold,
            }
        )
        distracting.append(options.texts.index(other.question))
        asks += chosen
    return _Picks(steps, tuple(distracting), tuple(asks))
