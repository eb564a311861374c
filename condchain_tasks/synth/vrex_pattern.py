"""Two lines of tiles that follow rules: which tile comes next?"""

from __future__ import annotations

import random
from itertools import product

from PIL import Image

from condchain_tasks.synth.vrex_pen import COLOURS, GREY, INK, WHITE, Point, Sheet, polygon, star
from condchain_tasks.synth.vrex_plan import Ask, Kind, Plan
from condchain_tasks.synth.vrex_queries import Cell, Count, Derived, Lookup, Next, Row, Scene
from condchain_tasks.synth.vrex_rules import Compose

_VALUES: dict[str, tuple[Cell, ...]] = {
    "colour": ("red", "yellow", "green", "blue", "purple"),
    "shape": ("circle", "square", "triangle", "star", "hexagon"),
    "dots": (2, 3, 4, 5, 6),
    "frame": ("orange", "pink", "brown", "black"),
    "flag": ("left", "right", "top", "bottom"),
}
"""What a tile shows. The flag is a small wedge at one side of the frame."""

_ASKS = {
    "colour": "Going on as before, what colour will the next shape have in the {line} line?",
    "shape": "Going on as before, which shape comes next in the {line} line?",
    "dots": "Going on as before, how many dots come next in the {line} line?",
    "frame": "Going on as before, what colour will the next frame have in the {line} line?",
    "flag": "Going on as before, at which side will the next wedge be in the {line} line?",
}
_SHOWN = 6
_LINES = ("upper", "lower")
_ORDER = ("first", "second", "third", "fourth", "fifth", "sixth")
_BACK = ("one place", "two places", "three places", "four places", "five places", "six places")

_WIDTH, _HEIGHT = 1000, 480


def _plan(rng: random.Random, length: int) -> Plan:
    varied = ["colour", *rng.sample([key for key in _VALUES if key != "colour"], length - 2)]
    rng.shuffle(varied)
    tiles: list[Row] = []
    for line in _LINES:
        columns = {key: _course(rng, key, key in varied) for key in _VALUES}
        tiles += [
            {"line": line, "place": _ORDER[k], **{key: cells[k] for key, cells in columns.items()}}
            for k in range(_SHOWN)
        ]
    scene = Scene("pattern", {"tiles": tuple(tiles)})
    line = rng.choice(_LINES)
    gold, distracting = (
        tuple(Ask(_ASKS[key].format(line=one), Next("tiles", {"line": one}, key), _texts(key)) for key in varied)
        for one in (line, _LINES[1 - _LINES.index(line)])
    )
    last = scene.rows("tiles", {"line": line})[-1]
    rule = Compose(_template(varied, str(last["shape"])), {})
    return Plan(
        scene=scene,
        final=Ask(
            f"Which tile belongs in the place of the question mark in the {line} line?",
            Derived(rule, tuple(ask.query for ask in gold)),
            _wrong(rng, scene, gold, rule),
        ),
        rule=rule,
        gold=gold,
        distracting=distracting,
        asides=_asides(),
    )


def _course(rng: random.Random, key: str, varied: bool) -> list[Cell]:
    """The cells of a line: all the same, or a cycle of two or three that is seen at least twice, or even steps."""
    if not varied:
        return [rng.choice(_VALUES[key])] * _SHOWN
    if key == "dots" and rng.random() < 0.4:
        return [*range(2, 2 + _SHOWN)] if rng.random() < 0.5 else [*range(1 + _SHOWN, 1, -1)]
    period = rng.choice((2, 3))
    return rng.sample(_VALUES[key], period) * (_SHOWN // period)


def _template(varied: list[str], shape: str) -> str:
    """The text of a tile, with the number of the step in place of each varied part."""
    part = {key: f"{{{number}}}" for number, key in enumerate(varied, 1)}
    text = f"{part['colour']} {part.get('shape', shape)}"
    if "dots" in part:
        text += f", {part['dots']} dots"
    if "frame" in part:
        text += f", {part['frame']} frame"
    if "flag" in part:
        text += f", wedge at the {part['flag']}"
    return text


def _texts(key: str) -> tuple[str, ...]:
    return () if key == "dots" else tuple(map(str, _VALUES[key]))


def _wrong(rng: random.Random, scene: Scene, gold: tuple[Ask, ...], rule: Compose) -> tuple[str, ...]:
    """Tiles that may share parts with the right one, all parts alike likely."""
    if len(gold) == 1:
        return tuple(str(rule.apply([text])) for text in gold[0].wrong)
    parts = []
    for ask in gold:
        right = str(ask.query.result(scene))
        others = ask.wrong or tuple(map(str, _VALUES["dots"]))
        parts.append((right, rng.choice([text for text in others if text != right])))
    return tuple(str(rule.apply(texts)) for texts in product(*parts))


def _asides() -> tuple[Ask, ...]:
    found = []
    for line in _LINES:
        for key, text in (
            ("shape", "Which shape does the tile {back} before the question mark in the {line} line show?"),
            ("frame", "What colour is the frame of the {place} tile in the {line} line?"),
        ):
            for number, place in enumerate(_ORDER):
                query = Lookup("tiles", {"line": line, "place": place}, key)
                found.append(Ask(text.format(place=place, line=line, back=_BACK[-1 - number]), query))
        for shape in _VALUES["shape"]:
            question = f"How many tiles in the {line} line show a {shape}?"
            found.append(Ask(question, Count("tiles", {"line": line, "shape": shape})))
        for colour in _VALUES["colour"]:
            question = f"How many of the shapes that come before the question mark in the {line} line are {colour}?"
            found.append(Ask(question, Count("tiles", {"line": line, "colour": colour})))
    return tuple(found)


def _draw(scene: Scene) -> Image.Image:
    sheet = Sheet(_WIDTH, _HEIGHT)
    for number, line in enumerate(_LINES):
        top = 58 + 222 * number
        sheet.text((24, top - 26), f"{line} line", 20, bold=True, to="lm")
        for row in scene.rows("tiles", {"line": line}):
            _tile(sheet, 24 + 138 * _ORDER.index(str(row["place"])), top, row)
        left = 24 + 138 * _SHOWN
        sheet.box(left, top, 124, 164, WHITE, GREY, 12, 2)
        sheet.text((left + 62, top + 82), "?", 64, GREY, True)
    return sheet.finish()


def _tile(sheet: Sheet, left: float, top: float, row: Row) -> None:
    frame = INK if row["frame"] == "black" else COLOURS[str(row["frame"])]
    sheet.box(left, top, 124, 164, WHITE, frame, 12, 7)
    at = (left + 62, top + 68)
    shape, fill = str(row["shape"]), COLOURS[str(row["colour"])]
    if shape == "circle":
        sheet.disc(at, 30, fill)
    elif shape == "square":
        sheet.box(at[0] - 28, at[1] - 28, 56, 56, fill)
    else:
        sheet.shape(_corners(shape, at), fill)
    dots = int(row["dots"])
    for k in range(dots):
        sheet.disc((left + 62 + 14 * (k - (dots - 1) / 2), top + 128), 4.5, INK, None)
    for side, (x, y), (dx, dy) in (
        ("left", (left + 7, top + 82), (1, 0)),
        ("right", (left + 117, top + 82), (-1, 0)),
        ("top", (left + 62, top + 7), (0, 1)),
        ("bottom", (left + 62, top + 157), (0, -1)),
    ):
        if row["flag"] == side:
            sheet.shape([(x - 12 * dy, y - 12 * dx), (x + 12 * dy, y + 12 * dx), (x + 15 * dx, y + 15 * dy)], INK, None)


def _corners(shape: str, at: Point) -> list[Point]:
    if shape == "star":
        return star(at, 36)
    return polygon((at[0], at[1] + 6), 36, 3) if shape == "triangle" else polygon(at, 32, 6, 0)


PATTERN = Kind("pattern", "deduction", "pattern", (2, 6), _plan, _draw)
