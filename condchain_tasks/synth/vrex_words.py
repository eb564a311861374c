"""Grids of letters in which numbered letters spell a word."""

from __future__ import annotations

import random

from PIL import Image

from condchain_tasks.synth.vrex_pen import COLOURS, INK, WHITE, Sheet
from condchain_tasks.synth.vrex_plan import Ask, Kind, Plan
from condchain_tasks.synth.vrex_queries import Count, Derived, Lookup, Row, Scene
from condchain_tasks.synth.vrex_rules import Spell

_WORDS = {
    2: ("GO", "UP", "IN", "ON", "NO", "MY", "HI", "IT", "US", "SO"),
    3: ("SUN", "TOY", "MUG", "INK", "JOY", "TIP", "PIN", "NUT", "LIP", "ROW", "SKY", "KIT", "HUT"),
    4: ("SHIP", "MOON", "RING", "SONG", "LION", "MILK", "KING", "SNOW", "TOWN", "PLUM", "JUMP", "SPIN"),
    5: ("STORM", "PILOT", "TRUNK", "MOTOR", "SPOON", "GHOST", "SHIRT", "PRINT", "TULIP", "NORTH", "MONTH", "LIGHT"),
}
"""By length, without the letters A to F, so that no answer can be taken for an option's letter."""

_LETTERS = "GHIJKLMNOPRSTUVWY"
_PAIRS = (("blue", "orange"), ("orange", "blue"), ("green", "purple"), ("purple", "green"))
_ROWS, _COLUMNS = 5, 7
_ROW_NAMES = ("first", "second", "third", "fourth", "fifth")

_WIDTH, _HEIGHT = 840, 660


def _plan(rng: random.Random, length: int) -> Plan:
    colours = rng.choice(_PAIRS)
    words = rng.sample(_WORDS[length - 1], 2)
    places = rng.sample(range(_ROWS * _COLUMNS), 2 * (length - 1))
    marked = {
        places[k * (length - 1) + n]: (letter, colour, n + 1)
        for k, (word, colour) in enumerate(zip(words, colours, strict=True))
        for n, letter in enumerate(word)
    }
    cells: list[Row] = []
    for place in range(_ROWS * _COLUMNS):
        letter, colour, number = marked.get(place, (rng.choice(_LETTERS), "none", 0))
        row, column = _ROW_NAMES[place // _COLUMNS], place % _COLUMNS + 1
        cells.append({"letter": letter, "colour": colour, "number": number, "row": row, "column": column})
    scene = Scene("words", {"cells": tuple(cells)})
    gold, distracting = (
        tuple(
            Ask(
                f"Which letter stands beside the {colour} number {number}?",
                Lookup("cells", {"colour": colour, "number": number}, "letter"),
                tuple(rng.sample(_LETTERS, len(_LETTERS))),
            )
            for number in range(1, length)
        )
        for colour in colours
    )
    text = f"Which word do the letters with {colours[0]} numbers spell, in the order of the numbers?"
    final = Ask(text, Derived(Spell(), tuple(ask.query for ask in gold)), _WORDS[length - 1])
    return Plan(scene, final, Spell(), gold, distracting, _asides(scene, colours))


def _asides(scene: Scene, colours: tuple[str, str]) -> tuple[Ask, ...]:
    found = []
    for row in scene.rows("cells", {"colour": "none"}):
        where = {"row": row["row"], "column": row["column"]}
        question = f"Which letter stands in the {row['row']} row at place {row['column']}?"
        found.append(Ask(question, Lookup("cells", where, "letter")))
    for row_name in _ROW_NAMES:
        for colour in colours:
            question = f"How many of the letters with {colour} numbers are in the {row_name} row?"
            found.append(Ask(question, Count("cells", {"row": row_name, "colour": colour})))
    for letter in dict.fromkeys(str(row["letter"]) for row in scene.rows("cells")):
        found.append(Ask(f"How often is the letter {letter} in the grid?", Count("cells", {"letter": letter})))
    return tuple(found)


def _draw(scene: Scene) -> Image.Image:
    sheet = Sheet(_WIDTH, _HEIGHT, "#f4f1ea")
    side = 112
    for row in scene.rows("cells"):
        left, top = 28 + side * (int(row["column"]) - 1), 50 + side * _ROW_NAMES.index(str(row["row"]))
        marked = row["colour"] != "none" or row["number"] != 0
        sheet.box(left, top, side, side, WHITE, INK, 0, 1.5)
        sheet.text((left + side / 2 + 12 * marked, top + side / 2 + 8 * marked), str(row["letter"]), 50, INK, True)
        if marked:
            sheet.disc((left + 24, top + 24), 18, COLOURS[str(row["colour"])], INK, 1.5)
            sheet.text((left + 24, top + 24), str(row["number"]), 22, WHITE, True)
    return sheet.finish()


WORDS = Kind("words", "retrieval", "word puzzle", (3, 6), _plan, _draw)
