"""Market tables: how many things lie there, and what do they cost?"""

from __future__ import annotations

import random
from itertools import pairwise

from PIL import Image

from condchain_tasks.synth.natural_pen import Pen
from condchain_tasks.synth.natural_things import KINDS as THINGS
from condchain_tasks.synth.vrex_pen import GREY, INK, PALE, SCALE, WHITE, Sheet
from condchain_tasks.synth.vrex_plan import Ask, Kind, Plan
from condchain_tasks.synth.vrex_queries import Best, Count, Derived, Listed, Lookup, Query, Row, Scene
from condchain_tasks.synth.vrex_rules import Sum, Term

_THINGS = {
    "apple": "apples",
    "bell": "bells",
    "book": "books",
    "boat": "boats",
    "cactus": "cactuses",
    "drum": "drums",
    "hat": "hats",
    "kite": "kites",
    "mug": "mugs",
    "tent": "tents",
}
"""Singular and plural."""

_COLOURS = ("red", "yellow", "green", "blue", "purple")
_EXTRAS = ("leaf", "ringing", "bookmark", "flag", "bloom", "sticks", "feather", "tail", "steam", "points_left")
_KINDS = 6
_COLUMNS, _ROWS = 7, 4
_ROW_NAMES = ("top", "second", "third", "bottom")

_WIDTH, _HEIGHT = 1000, 640
_TABLE = 740


def _plan(rng: random.Random, length: int) -> Plan:
    kinds = rng.sample(tuple(_THINGS), _KINDS)
    counts = [rng.randint(2, 6) for _ in kinds]
    while sum(counts) > _COLUMNS * _ROWS:
        counts = [rng.randint(2, 6) for _ in kinds]
    laid = [kind for kind, count in zip(kinds, counts, strict=True) for _ in range(count)]
    cells = rng.sample(range(_COLUMNS * _ROWS), len(laid))
    things: list[Row] = [
        {
            "thing": kind,
            "colour": rng.choice(_COLOURS),
            "row": _ROW_NAMES[cell // _COLUMNS],
            "column": cell % _COLUMNS,
            "shift": rng.randint(-10, 10),
        }
        for cell, kind in sorted(zip(cells, laid, strict=True))
    ]
    prices = rng.sample(range(2, 10), _KINDS)
    listed: list[Row] = [{"thing": kind, "price": price} for kind, price in zip(kinds, prices, strict=True)]
    rng.shuffle(listed)
    scene = Scene("counting", {"things": tuple(things), "prices": tuple(listed)})
    if length == 2:
        return _dozen(scene, kinds)
    if length in (3, 5) and rng.random() < 0.7:
        return _cost(scene, kinds, length // 2)
    return _together(scene, kinds, length - 1)


def _count(kind: str) -> Ask:
    return Ask(f"How many {_THINGS[kind]} are there on the table?", Count("things", {"thing": kind}))


def _price(kind: str) -> Ask:
    return Ask(f"How many coins does one {kind} cost?", Lookup("prices", {"thing": kind}, "price"))


def _dozen(scene: Scene, kinds: list[str]) -> Plan:
    rule = Sum((Term((), 12), Term((0,), -1)))
    text = f"How many more of the {_THINGS[kinds[0]]} would make up a dozen on the table?"
    return _made(scene, text, rule, (_count(kinds[0]),), (_count(kinds[1]),), kinds[:1])


def _together(scene: Scene, kinds: list[str], number: int) -> Plan:
    """The distracting chain asks what the same kinds cost."""
    asked = kinds[:number]
    rule = Sum(tuple(Term((k,)) for k in range(number)))
    text = f"What is the number of {_all([_THINGS[kind] for kind in asked])} on the table together?"
    return _made(scene, text, rule, tuple(map(_count, asked)), tuple(map(_price, asked)), asked)


def _cost(scene: Scene, kinds: list[str], number: int) -> Plan:
    """Gold and distracting chain ask for number and price of other kinds."""
    asked, others = kinds[:number], kinds[number : 2 * number]
    rule = Sum(tuple(Term((2 * k, 2 * k + 1)) for k in range(number)))
    text = f"How many coins do the {_all([_THINGS[kind] for kind in asked])} on the table cost together?"
    gold, distracting = (
        tuple(ask for kind in group for ask in (_count(kind), _price(kind))) for group in (asked, others)
    )
    return _made(scene, text, rule, gold, distracting, asked)


def _made(
    scene: Scene, text: str, rule: Sum, gold: tuple[Ask, ...], distracting: tuple[Ask, ...], asked: list[str]
) -> Plan:
    parts: tuple[Query, ...] = tuple(ask.query for ask in gold)
    taken = {ask.question for ask in (*gold, *distracting)}
    asides = (ask for ask in _asides(scene, asked) if ask.question not in taken)
    return Plan(scene, Ask(text, Derived(rule, parts)), rule, gold, distracting, tuple(asides))


def _asides(scene: Scene, asked: list[str]) -> tuple[Ask, ...]:
    return (
        *(
            Ask(
                f"How many of the {_THINGS[kind]} on the table are {colour}?",
                Count("things", {"thing": kind, "colour": colour}),
            )
            for kind in asked
            for colour in _COLOURS
        ),
        *(
            Ask(
                f"How many of the {_THINGS[kind]} lie in the {row} row of the table?",
                Count("things", {"thing": kind, "row": row}),
            )
            for kind in asked
            for row in _ROW_NAMES
        ),
        *(
            Ask(f"What is the number of {colour} things on the table?", Count("things", {"colour": colour}))
            for colour in _COLOURS
        ),
        Ask("What is the number of things on the table?", Count("things", {})),
        *(
            Ask(
                f"How many coins do one {one} and one {other} cost together?",
                Derived(Sum((Term((0,)), Term((1,)))), (_price(one).query, _price(other).query)),
            )
            for one, other in pairwise(str(row["thing"]) for row in scene.rows("prices"))
            if one not in asked and other not in asked
        ),
        Ask("Which thing costs the most coins?", Best("prices", {}, "price", True, "thing")),
        Ask("Which thing costs the fewest coins?", Best("prices", {}, "price", False, "thing")),
        Ask("Which kinds of things are there in the top row?", Listed("things", {"row": "top"}, "thing")),
    )


def _all(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _draw(scene: Scene) -> Image.Image:
    sheet = Sheet(_WIDTH, _HEIGHT, "#efe3cf")
    sheet.box(16, 16, _TABLE - 16, _HEIGHT - 32, "#fdf8ee", "#b89b72", 14, 4)
    for row in scene.rows("things"):
        x = 72 + int(row["column"]) * 102 + int(row["shift"])
        base = 138 + _ROW_NAMES.index(str(row["row"])) * 152
        pen = Pen(sheet.canvas, x * SCALE, base * SCALE, 74 * SCALE, str(row["colour"]), "plain", False)
        THINGS[str(row["thing"])].draw(pen, dict.fromkeys(_EXTRAS, False))
    left = _TABLE + 24
    prices = scene.rows("prices")
    sheet.box(left, 60, 216, 84 + 64 * len(prices), WHITE, GREY, 10)
    sheet.text((left + 108, 92), "Price in coins", 20, bold=True)
    for k, row in enumerate(prices):
        y = 150 + 64 * k
        sheet.text((left + 24, y), str(row["thing"]), 20, to="lm")
        sheet.text((left + 190, y), str(row["price"]), 22, INK, True)
        sheet.line([(left + 14, y + 32), (left + 202, y + 32)], PALE, 1)
    return sheet.finish()


COUNTING = Kind("counting", "retrieval", "counting", (2, 6), _plan, _draw)
