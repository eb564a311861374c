"""Suspects and traces at two places: who left them?"""

from __future__ import annotations

import random
from itertools import product

from PIL import Image

from condchain_tasks.synth.vrex_matching import Wording, match, match_plan
from condchain_tasks.synth.vrex_pen import COLOURS, GREY, INK, WHITE, Point, Sheet, star
from condchain_tasks.synth.vrex_plan import Kind, Plan
from condchain_tasks.synth.vrex_queries import Count, Lookup, Query, Row, Scene

_HAIR = {"black": "#23211f", "brown": "#8a5a33", "blond": "#f1cf63", "red": "#c8502a"}
_JACKETS = ("red", "green", "blue", "purple")
_BUTTONS = ("round", "square", "star-shaped")
_SOLES = ("striped", "dotted", "wavy")
_WORDING = Wording(
    names=("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana", "Ida", "Jon", "Kim", "Leo"),
    features={"hair": tuple(_HAIR), "jacket": _JACKETS, "button": _BUTTONS, "sole": _SOLES},
    always="",
    places={"cake": "by the cake", "vase": "by the vase"},
    final="Who left all the traces that were found {place}?",
    clues={
        "hair": "Which suspects have hair of the colour found {place}?",
        "jacket": "Which suspects wear a jacket like the scrap found {place}?",
        "button": "Which suspects have buttons like the one found {place}?",
        "sole": "Which suspects have soles like the footprint found {place}?",
    },
)
_DECOR = {"tray": ("orange", "pink", "yellow", "green"), "letter": ("K", "M", "P", "R", "T")}

_WIDTH, _HEIGHT = 1040, 700
_SKIN = "#f3cfa8"


def _plan(rng: random.Random, length: int) -> Plan:
    scene = match(rng, "suspects", _WORDING, length - 1, _DECOR)
    return match_plan(rng, scene, _WORDING, _asides(scene))


def _asides(scene: Scene) -> list[tuple[str, Query]]:
    found: list[tuple[str, Query]] = [("How many suspects are there?", Count("candidates", {}))]
    for table, place in _WORDING.places.items():
        found += [
            (f"What colour is the tray with all the traces that were found {place}?", Lookup(table, {}, "tray")),
            (f"Which letter is on the tray of the traces found {place}?", Lookup(table, {}, "letter")),
        ]
    for row in scene.rows("candidates"):
        found.append(
            (
                f"What colour is the jacket that {row['name']} wears?",
                Lookup("candidates", {"name": row["name"]}, "jacket"),
            )
        )
        found.append(
            (f"What shape are {row['name']}'s buttons?", Lookup("candidates", {"name": row["name"]}, "button"))
        )
    for hair, jacket in product(_HAIR, _JACKETS):
        question = f"How many of the suspects have {hair} hair and wear a {jacket} jacket?"
        found.append((question, Count("candidates", {"hair": hair, "jacket": jacket})))
    for hair in _HAIR:
        found.append((f"How many of the suspects have {hair} hair?", Count("candidates", {"hair": hair})))
    for jacket in _JACKETS:
        found.append((f"How many of the suspects wear a {jacket} jacket?", Count("candidates", {"jacket": jacket})))
    return found


def _draw(scene: Scene) -> Image.Image:
    sheet = Sheet(_WIDTH, _HEIGHT, "#eef1f3")
    sheet.text((352, 28), "The suspects and the soles of their shoes", 22, bold=True)
    for k, row in enumerate(scene.rows("candidates")):
        _suspect(sheet, 16 + (k % 4) * 168, 56 + (k // 4) * 322, row)
    for k, (table, place) in enumerate(_WORDING.places.items()):
        left, top, (row,) = 706, 56 + 322 * k, scene.rows(table)
        sheet.box(left, top, 316, 306, COLOURS[str(row["tray"])], INK, 14)
        sheet.box(left + 14, top + 46, 288, 246, "#fdfcf8", INK, 8)
        sheet.text((left + 20, top + 24), f"Found {place}", 19, bold=True, to="lm")
        sheet.disc((left + 286, top + 23), 16, WHITE, INK, 1.5)
        sheet.text((left + 286, top + 23), str(row["letter"]), 18, bold=True)
        traces = [feature for feature in _WORDING.features if feature in row]
        for place_number, feature in enumerate(traces):
            at = (left + 86 + 144 * (place_number % 2), top + 100 + 122 * (place_number // 2))
            _trace(sheet, at, feature, str(row[feature]))
    return sheet.finish()


def _suspect(sheet: Sheet, left: float, top: float, row: Row) -> None:
    sheet.box(left, top, 158, 306, WHITE, GREY, 12)
    x, y = left + 79, top + 78
    hair = _HAIR[str(row["hair"])]
    sheet.disc((x, y - 8), 42, hair)
    sheet.disc((x, y + 8), 34, _SKIN)
    for side in (-1, 1):
        sheet.disc((x + 12 * side, y + 4), 3.5, INK, None)
    sheet.line([(x - 9, y + 22), (x, y + 26), (x + 9, y + 22)], INK, 2)
    shoulders = [(x - 34, y + 44), (x + 34, y + 44), (x + 56, y + 128), (x - 56, y + 128)]
    sheet.shape(shoulders, COLOURS[str(row["jacket"])])
    for k in range(2):
        _button(sheet, (x, y + 66 + 38 * k), 11, str(row["button"]))
    _sole(sheet, (x, y + 166), 0.62, str(row["sole"]))
    sheet.text((x, top + 286), str(row["name"]), 20, bold=True)


def _button(sheet: Sheet, at: Point, r: float, shape: str) -> None:
    x, y = at
    if shape == "round":
        sheet.disc(at, r, WHITE, INK, 1.5)
    elif shape == "square":
        sheet.box(x - 0.9 * r, y - 0.9 * r, 1.8 * r, 1.8 * r, WHITE, INK, 0, 1.5)
    else:
        sheet.shape(star(at, 1.4 * r), WHITE, INK, 1.5)
    for side in (-1, 1):
        sheet.disc((x + 0.28 * side * r, y), 0.13 * r, INK, None)


def _sole(sheet: Sheet, at: Point, size: float, pattern: str) -> None:
    """A footprint that points to the right, 112 by 44 pixels at size 1."""
    x, y = at
    width, height = 112 * size, 44 * size
    left, top = x - width / 2, y - height / 2
    sheet.box(left, top, width, height, "#d9d3c8", INK, height / 2)
    for k in range(5):
        across = left + width * (0.16 + 0.17 * k)
        if pattern == "striped":
            sheet.line([(across, top + 0.16 * height), (across, top + 0.84 * height)], INK, 4 * size)
        elif pattern == "dotted":
            for share in (0.3, 0.7):
                sheet.disc((across, top + share * height), 4.5 * size, INK, None)
    if pattern == "wavy":
        for share in (0.32, 0.68):
            wave = [
                (left + width * (0.12 + 0.095 * k), top + height * (share + (0.09 if k % 2 else -0.09)))
                for k in range(9)
            ]
            sheet.line(wave, INK, 3.5 * size)


def _trace(sheet: Sheet, at: Point, feature: str, value: str) -> None:
    x, y = at
    label = {"hair": "hair", "jacket": "scrap of jacket", "button": "button", "sole": "footprint"}[feature]
    if feature == "hair":
        for k in range(5):
            strand = [(x - 40 + 16 * n, y - 12 + 6 * k + (9 if n % 2 else -3)) for n in range(6)]
            sheet.line(strand, _HAIR[value], 4)
    elif feature == "jacket":
        scrap = [
            (x - 40, y - 20),
            (x - 12, y - 30),
            (x + 4, y - 18),
            (x + 36, y - 26),
            (x + 42, y + 10),
            (x + 14, y + 26),
            (x - 8, y + 16),
            (x - 34, y + 24),
        ]
        sheet.shape(scrap, COLOURS[value])
    elif feature == "button":
        _button(sheet, at, 24, value)
    else:
        _sole(sheet, at, 1, value)
    sheet.text((x, y + 50), label, 15, GREY)


SUSPECTS = Kind("suspects", "guessing", "responsibility", (3, 5), _plan, _draw)
