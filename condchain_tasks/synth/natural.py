"""Still scenes of things that stand in four columns and two rows, with every fact known.

Facts are drawn first, each of them uniformly and independently of the others; the picture follows them.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from condchain_tasks.data.identity import PICTURE_MARK
from condchain_tasks.synth.natural_art import MARKS, SIZES, Scene, Thing, draw_scene
from condchain_tasks.synth.natural_pen import COLOURS, PATTERNS
from condchain_tasks.synth.natural_places import COLUMNS, PLACES, ROWS
from condchain_tasks.synth.natural_things import KINDS
from condchain_tasks.synth.world import Attribute, Name, Scalar, Subject

WORDS = ("BREAD", "CLOUD", "FOREST", "HONEY", "MUSIC", "NORTH", "PEARL", "RIVER", "SUGAR", "TIGER")
_COLUMN_NAMES = ("first", "second", "third", "fourth")
_NUMBERS: dict[Scalar, str] = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}


def _flag(key: str, says: str, denies: str) -> Attribute:
    return Attribute(key, "flag", (False, True), says, denies)


def _count(key: str, last: int, things: str, where: str) -> Attribute:
    """A count from 2 to `last` of things that are `where`, as in "on {subject}"."""
    return Attribute(
        key,
        "count",
        tuple(range(2, last + 1)),
        says=f"There are exactly {{value}} {things} {where}",
        denies=f"The number of {things} {where} is not {{value}}",
        at_least=f"There are at least {{value}} {things} {where}",
        fewer=f"There are fewer than {{value}} {things} {where}",
        asks=f"How many {things} are there {where}?",
        words=_NUMBERS,
    )


_COMMON = (
    Attribute(
        "colour",
        "category",
        tuple(COLOURS),
        says="{subject} is {value}",
        denies="{subject} is not {value}",
        asks="What colour is {subject}?",
    ),
    Attribute(
        "size",
        "category",
        tuple(SIZES),
        says="{subject} is {value}",
        denies="{subject} is not {value}",
        words={"medium": "medium-sized"},
    ),
    Attribute(
        "pattern",
        "category",
        PATTERNS,
        says="The surface of {subject} is {value}",
        denies="The surface of {subject} is not {value}",
        asks="What does the surface of {subject} look like?",
    ),
    Attribute(
        "column",
        "category",
        _COLUMN_NAMES,
        says="{subject} is in the {value} column from the left",
        denies="{subject} is not in the {value} column from the left",
        asks="In which column from the left is {subject}?",
    ),
    _flag("upper", "{subject} is in the upper row", "{subject} is in the lower row"),
    _flag("bow", "{subject} has a black bow tied to it", "{subject} has no black bow tied to it"),
    _flag("mat", "{subject} stands on a round mat", "{subject} does not stand on a round mat"),
    Attribute(
        "word",
        "category",
        WORDS,
        says="The label under {subject} reads {value}",
        denies="The label under {subject} does not read {value}",
        asks="What does the label under {subject} read?",
    ),
    Attribute(
        "mark",
        "category",
        MARKS,
        says="The marks on the label under {subject} are {value}",
        denies="The marks on the label under {subject} are not {value}",
        asks="What are the marks on the label under {subject}?",
    ),
    _count("marks", 6, "marks", "on the label under {subject}"),
    Attribute(
        "border",
        "category",
        tuple(COLOURS),
        says="The border of the label under {subject} is {value}",
        denies="The border of the label under {subject} is not {value}",
        asks="What colour is the border of the label under {subject}?",
    ),
)

_STEAM = _flag("steam", "Steam rises from {subject}", "No steam rises from {subject}")
_FACES = _flag("points_left", "{subject} faces left", "{subject} faces right")
_EXTRAS: dict[str, tuple[Attribute, ...]] = {
    "apple": (_flag("leaf", "{subject} has a white leaf", "{subject} has no leaf"),),
    "backpack": (_flag("pocket", "{subject} has a white pocket", "{subject} has no white pocket"),),
    "balloon": (_flag("basket", "{subject} carries a basket", "{subject} carries no basket"),),
    "bell": (_flag("ringing", "{subject} is ringing", "{subject} is silent"),),
    "birdhouse": (_flag("bird", "A bird sits on {subject}", "No bird sits on {subject}"),),
    "boat": (_flag("flag", "{subject} flies a white flag", "{subject} flies no flag"),),
    "book": (_flag("bookmark", "A bookmark sticks out of {subject}", "No bookmark sticks out of {subject}"),),
    "bucket": (_flag("spade", "A spade stands in {subject}", "No spade stands in {subject}"),),
    "cactus": (_flag("bloom", "{subject} has a flower at its top", "{subject} has no flower at its top"),),
    "cake": (_count("candles", 5, "candles", "on {subject}"),),
    "car": (
        _FACES,
        _flag(
            "suitcase",
            "A suitcase lies on the roof of {subject}",
            "No suitcase lies on the roof of {subject}",
        ),
    ),
    "chair": (_flag("ball", "A ball lies on {subject}", "No ball lies on {subject}"),),
    "clock": (
        Attribute(
            "time",
            "category",
            ("three o'clock", "six o'clock", "nine o'clock", "twelve o'clock"),
            says="{subject} shows {value}",
            denies="{subject} does not show {value}",
            asks="What time does {subject} show?",
        ),
    ),
    "drum": (_flag("sticks", "A pair of drumsticks lies on {subject}", "No drumsticks lie on {subject}"),),
    "fish": (_FACES, _flag("bubbles", "Bubbles rise from {subject}", "No bubbles rise from {subject}")),
    "guitar": (_flag("notes", "Musical notes float around {subject}", "No musical notes float around {subject}"),),
    "hat": (_flag("feather", "{subject} has a feather", "{subject} has no feather"),),
    "house": (_flag("smoke", "Smoke rises from {subject}", "No smoke rises from {subject}"),),
    "kite": (_flag("tail", "{subject} has a tail", "{subject} has no tail"),),
    "lamp": (_flag("lit", "{subject} is switched on", "{subject} is switched off"),),
    "mug": (
        _STEAM,
        _flag("points_left", "The handle of {subject} is on the left", "The handle of {subject} is on the right"),
    ),
    "robot": (_flag("antenna", "{subject} has an antenna", "{subject} has no antenna"),),
    "rocket": (_flag("smoke", "Smoke pours out of {subject}", "No smoke pours out of {subject}"),),
    "shirt": (_flag("hanger", "{subject} is on a hanger", "{subject} is not on a hanger"),),
    "teapot": (
        _STEAM,
        _flag("points_left", "The spout of {subject} points left", "The spout of {subject} points right"),
    ),
    "tent": (_flag("flag", "A flag flies over {subject}", "No flag flies over {subject}"),),
    "umbrella": (_flag("rain", "Rain falls on {subject}", "No rain falls on {subject}"),),
    "vase": (_count("flowers", 5, "flowers", "in {subject}"),),
}


@dataclass(frozen=True)
class NaturalWorld:
    """A still scene: what can be said of it, and how it is drawn."""

    subjects: tuple[Subject, ...]
    scene: Scene
    domain: str = "natural"

    def draw(self, root: Path, record_id: str) -> str:
        """Draws the scene as `images/natural/<record_id>.jpg` under `root`; see `World.draw`."""
        image = f"images/natural/{record_id}.jpg"
        path = root / image
        path.parent.mkdir(parents=True, exist_ok=True)
        draw_scene(self.scene).save(path, quality=90, comment=PICTURE_MARK)
        return image


@cache
def _attributes(kind: str, cover: str) -> tuple[Attribute, ...]:
    hidden = _flag(
        "hidden",
        f"{{subject}} is partly hidden behind {cover}",
        f"No part of {{subject}} is hidden behind {cover}",
    )
    return (*_COMMON, hidden, *_EXTRAS[kind])


def _draw_thing(rng: random.Random, kind: str, cell: int, size: str) -> Thing:
    extras: dict[str, Scalar] = {extra.key: rng.choice(extra.values) for extra in _EXTRAS[kind]}
    mirrored = rng.random() < 0.5
    return Thing(
        kind=kind,
        row=cell // COLUMNS,
        column=cell % COLUMNS,
        colour=rng.choice(tuple(COLOURS)),
        size=size,
        pattern=rng.choice(PATTERNS),
        hidden=rng.random() < 0.5,
        bow=rng.random() < 0.5,
        mat=rng.random() < 0.5,
        extras=extras,
        word=rng.choice(WORDS),
        mark=rng.choice(MARKS),
        marks=rng.randint(2, 6),
        border=rng.choice(tuple(COLOURS)),
        mirrored=not extras["points_left"] if "points_left" in extras else mirrored,
        shift=rng.randint(-8, 8),
    )


def _draw_sizes(rng: random.Random, count: int) -> list[str]:
    """One size a thing; each of the three occurs, for a size is seen only beside the others."""
    while True:
        sizes = rng.choices(tuple(SIZES), k=count)
        if len(set(sizes)) == len(SIZES):
            return sizes


def _distance(one: Thing, other: Thing) -> int:
    return abs(one.column - other.column) + abs(one.row - other.row)


def _related(thing: Thing, things: Iterable[Thing]) -> tuple[str, ...]:
    """The things right beside, above or below it, or else the nearest ones."""
    others = [other for other in things if other is not thing]
    nearest = min(_distance(thing, other) for other in others)
    return tuple(other.kind for other in others if _distance(thing, other) == nearest)


def _subject(thing: Thing, things: tuple[Thing, ...], cover: str) -> Subject:
    mates = [other.kind for other in things if other.column == thing.column and other is not thing]
    names = [Name(f"the {thing.kind}", f'kind == "{thing.kind}"')]
    if mates:
        names.append(Name(f"the labelled thing in the same column as the {mates[0]}", f'column_mate == "{mates[0]}"'))
    facts: dict[str, Scalar] = {
        "kind": thing.kind,
        "column_mate": mates[0] if mates else "none",
        "colour": thing.colour,
        "size": thing.size,
        "pattern": thing.pattern,
        "column": _COLUMN_NAMES[thing.column],
        "upper": thing.row == 0,
        "hidden": thing.hidden,
        "bow": thing.bow,
        "mat": thing.mat,
        "word": thing.word,
        "mark": thing.mark,
        "marks": thing.marks,
        "border": thing.border,
        **thing.extras,
    }
    return Subject(thing.kind, tuple(names), facts, _attributes(thing.kind, cover), _related(thing, things))


def make_world(rng: random.Random) -> NaturalWorld:
    """Draws a scene of 6 to 8 things, no two of a kind, at one of the places.

    Args:
        rng: The only source of chance: the same state gives the same world and the same picture.
    """
    place = rng.choice(tuple(PLACES))
    count = rng.randint(6, COLUMNS * ROWS)
    kinds = rng.sample(tuple(KINDS), count)
    cells = sorted(rng.sample(range(COLUMNS * ROWS), count))
    sizes = _draw_sizes(rng, count)
    things = tuple(_draw_thing(rng, kind, cell, size) for kind, cell, size in zip(kinds, cells, sizes, strict=True))
    cover = PLACES[place].cover
    subjects = tuple(_subject(thing, things, cover) for thing in things)
    return NaturalWorld(subjects, Scene(place, rng.randrange(2**32), things))
