"""Who or what fits all clues? The part that rooms in photos and suspects at two scenes have in common."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from condchain_tasks.synth.vrex_plan import Ask, Plan
from condchain_tasks.synth.vrex_queries import Alike, Query, Row, Scene, text_of
from condchain_tasks.synth.vrex_rules import Common

CANDIDATES = 8


@dataclass(frozen=True)
class Wording:
    """How a kind of scene speaks of its clues.

    Attributes:
        names: Of candidates, at least `CANDIDATES`.
        features: Their features and the values of each.
        always: A feature that is always a clue, or "".
        places: The two tables of clues, and how the questions call them.
        final: The final question, with "{place}".
        clues: For each feature the question for the candidates that share it with the clue, with "{place}".
    """

    names: tuple[str, ...]
    features: Mapping[str, tuple[str, ...]]
    always: str
    places: Mapping[str, str]
    final: str
    clues: Mapping[str, str]


def match(rng: random.Random, kind: str, wording: Wording, clues: int, decor: Mapping[str, Sequence[str]]) -> Scene:
    """Draws candidates and two sets of clues, each of which one candidate fits, and without any clue more than one.

    Args:
        rng: The only source of chance.
        kind: Of scene.
        wording: Of that kind.
        clues: Number of clues in each set.
        decor: Values of what else the places show; the two places differ in it.
    """
    features = [name for name in wording.features if name != wording.always]
    used = [wording.always] * bool(wording.always)
    used += rng.sample(features, clues - len(used))
    rng.shuffle(used)
    names = sorted(rng.sample(wording.names, CANDIDATES))
    while True:
        target, other = _random(rng, wording), _random(rng, wording)
        near = [target | {feature: _another(rng, wording, feature, target)} for feature in used]
        rest = [_random(rng, wording) for _ in range(CANDIDATES - 2 - len(near))]
        rows = rng.sample([target, other, *near, *rest], CANDIDATES)
        if _fitting(rows, used, target) == 1 == _fitting(rows, used, other):
            break
    tables: dict[str, tuple[Row, ...]] = {
        "candidates": tuple({"name": name, **row} for name, row in zip(names, rows, strict=True))
    }
    decorated = {key: rng.sample(values, 2) for key, values in decor.items()}
    for number, (place, one) in enumerate(zip(wording.places, (target, other), strict=True)):
        tables[place] = (
            {feature: one[feature] for feature in used} | {key: pair[number] for key, pair in decorated.items()},
        )
    return Scene(kind, tables)


def match_plan(rng: random.Random, scene: Scene, wording: Wording, asides: Sequence[tuple[str, Query]]) -> Plan:
    """Makes the chain that asks clue by clue who fits."""
    (table, place), (other_table, other_place) = wording.places.items()
    used = [feature for feature in scene.tables[table][0] if feature in wording.features]
    names = [str(row["name"]) for row in scene.rows("candidates")]

    def chain(table: str, place: str) -> tuple[Ask, ...]:
        asks = []
        for feature in used:
            query = Alike("candidates", table, (feature,), "name")
            fitting = query.result(scene)
            size = len(fitting) if isinstance(fitting, tuple) else 1
            asks.append(Ask(wording.clues[feature].format(place=place), query, _lists(rng, names, size)))
        return tuple(asks)

    return Plan(
        scene=scene,
        final=Ask(wording.final.format(place=place), Alike("candidates", table, tuple(used), "name"), tuple(names)),
        rule=Common(),
        gold=chain(table, place),
        distracting=chain(other_table, other_place),
        asides=tuple(Ask(question, query) for question, query in asides),
    )


def _random(rng: random.Random, wording: Wording) -> dict[str, str]:
    return {feature: rng.choice(values) for feature, values in wording.features.items()}


def _another(rng: random.Random, wording: Wording, feature: str, row: Mapping[str, str]) -> str:
    return rng.choice([value for value in wording.features[feature] if value != row[feature]])


def _fitting(rows: Sequence[Mapping[str, str]], used: Sequence[str], model: Mapping[str, str]) -> int:
    return sum(all(row[feature] == model[feature] for feature in used) for row in rows)


def _lists(rng: random.Random, names: Sequence[str], size: int) -> tuple[str, ...]:
    """Lists of about as many names, in the order of the picture."""
    found = []
    for _ in range(16):
        chosen = set(rng.sample(names, min(len(names) - 1, max(1, size + rng.choice((-1, 0, 0, 1))))))
        found.append(text_of(tuple(name for name in names if name in chosen)))
    return tuple(dict.fromkeys(found))
