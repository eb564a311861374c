"""Pictures of still scenes: things at their places, each above its label."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import matplotlib
from PIL import Image, ImageDraw, ImageFont

from condchain_tasks.synth.natural_pen import (
    COLOURS,
    DARK,
    GREY,
    OUTLINE,
    SCALE,
    WHITE,
    Pen,
    Point,
    Shape,
    arc,
    box,
    oval,
)
from condchain_tasks.synth.natural_places import CELL_HEIGHT, CELL_WIDTH, PLACES, Place, draw_backdrop
from condchain_tasks.synth.natural_things import KINDS

SIZES: Mapping[str, int] = {"small": 72, "medium": 108, "large": 160}
"""Side of the unit square, in pixels of the picture."""

MARKS = ("stars", "hearts", "circles", "triangles", "squares", "crosses")

_BASELINE = 226
_LABEL = (164, 60)
_LABEL_TOP = 248


@dataclass(frozen=True)
class Thing:
    """One thing of a scene, with all that can be seen of it.

    Attributes:
        kind: A key of `KINDS`.
        row: 0 is the upper row.
        column: 0 is the left one, up to `COLUMNS` - 1.
        colour: A key of `COLOURS`.
        size: A key of `SIZES`.
        pattern: One of `PATTERNS`.
        hidden: A cover stands in front of a part of it.
        bow: A bow is tied to it.
        mat: It stands on a mat.
        extras: What only this kind of thing has: a mug's steam, a vase's flowers.
        word: Written on its label.
        mark: One of `MARKS`, on its label.
        marks: How many marks its label bears, 2 to 6.
        border: Colour of its label's border, a key of `COLOURS`.
        mirrored: Drawn as in a mirror; a thing that can point left does so when it is not mirrored.
        shift: How far it stands to the right of its column's middle, in pixels of the picture.
    """

    kind: str
    row: int
    column: int
    colour: str
    size: str
    pattern: str
    hidden: bool
    bow: bool
    mat: bool
    extras: Mapping[str, str | int | bool]
    word: str
    mark: str
    marks: int
    border: str
    mirrored: bool
    shift: int


@dataclass(frozen=True)
class Scene:
    """A picture to draw: `place` is a key of `PLACES`, `decor` seeds what carries no fact."""

    place: str
    decor: int
    things: tuple[Thing, ...]


def _draw_bow(pen: Pen, at: Point) -> None:
    r = max(0.14, 24 / pen.side)
    x, y = at
    for k in (-1, 1):
        loop = ((x, y), (x + k * r, y - 0.62 * r), (x + k * r, y + 0.62 * r))
        tail = ((x, y), (x + k * 0.62 * r, y + 1.05 * r), (x + k * 0.24 * r, y + 1.15 * r))
        for shape in (tail, loop):
            points = pen.at(shape)
            pen.draw.line([*points, *points[:2]], fill=WHITE, width=8)
            pen.draw.polygon(points, fill=OUTLINE)
    pen.draw.polygon(pen.at(oval(x, y, 0.3 * r, 0.3 * r)), fill=WHITE)
    pen.draw.polygon(pen.at(oval(x, y, 0.2 * r, 0.2 * r)), fill=OUTLINE)


def _draw_cover(pen: Pen, place: Place, at: Point) -> None:
    """The cover spans 0.56 of the unit square and ends a little in front of the thing's feet."""
    (cx, top), bottom = at, 1.05
    for ink, shapes in place.cover_art:
        pen.part(ink, *(tuple((cx + 0.28 * x, top + (bottom - top) * y) for x, y in s) for s in shapes))


@cache
def _word(text: str) -> Image.Image:
    """A mask with the word in bold."""
    fonts = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    font = ImageFont.truetype(str(fonts / "DejaVuSans-Bold.ttf"), 22 * SCALE)
    x0, y0, x1, y1 = (round(c) for c in font.getbbox(text))
    mask = Image.new("L", (x1 - x0, y1 - y0), 0)
    ImageDraw.Draw(mask).text((-x0, -y0), text, fill=255, font=font)
    return mask


def _mark(mark: str) -> Shape:
    """A mark's shape, within 1 of the origin."""
    if mark == "stars":
        return tuple(
            (r * math.sin(math.pi * i / 5), 0.08 - r * math.cos(math.pi * i / 5))
            for i, r in enumerate((1.08, 0.45) * 5)
        )
    if mark == "hearts":
        return (*arc(-0.47, -0.34, 0.5, 0.5, 160, 340), *arc(0.47, -0.34, 0.5, 0.5, 200, 380), (0, 0.95))
    if mark == "circles":
        return oval(0, 0, 0.86, 0.86)
    if mark == "triangles":
        return ((0, -0.9), (0.95, 0.8), (-0.95, 0.8))
    if mark == "squares":
        return box(-0.8, -0.8, 0.8, 0.8)
    w = 0.3
    return (
        (-w, -0.9), (w, -0.9), (w, -w), (0.9, -w), (0.9, w), (w, w),
        (w, 0.9), (-w, 0.9), (-w, w), (-0.9, w), (-0.9, -w), (-w, -w),
    )  # fmt: skip


_MARK_SHAPES = {mark: _mark(mark) for mark in MARKS}


def _draw_label(canvas: Image.Image, x: float, y: float, thing: Thing) -> None:
    """A label whose top edge has its middle at (x, y), in drawn pixels."""
    draw = ImageDraw.Draw(canvas)
    width, height = (SCALE * side for side in _LABEL)
    left, right, bottom = x - width / 2, x + width / 2, y + height
    draw.rectangle((left, y, right, bottom), fill=COLOURS[thing.border], outline=OUTLINE, width=2)
    draw.rectangle((left + 14, y + 14, right - 14, bottom - 14), fill=WHITE)
    word = _word(thing.word)
    canvas.paste(OUTLINE, (round(x - word.width / 2), round(y + 38 - word.height / 2)), word)
    r, step = 15, 45
    for i in range(thing.marks):
        cx = x + step * (i - (thing.marks - 1) / 2)
        points = [(cx + r * px, y + 82 + r * py) for px, py in _MARK_SHAPES[thing.mark]]
        draw.polygon(points, fill=DARK)


def _draw_thing(canvas: Image.Image, thing: Thing, place: Place) -> None:
    x = SCALE * ((thing.column + 0.5) * CELL_WIDTH + thing.shift)
    base = SCALE * (thing.row * CELL_HEIGHT + _BASELINE)
    side = SCALE * SIZES[thing.size]
    pen, kind = Pen(canvas, x, base, side, thing.colour, thing.pattern, thing.mirrored), KINDS[thing.kind]
    if thing.mat:
        for ink, grow in ((OUTLINE, 0), (WHITE, 4), (GREY, 10)):
            rx, ry = 0.6 * side + 24 - grow, 28 - grow
            pen.draw.ellipse((x - rx, base - ry, x + rx, base + ry), fill=ink)
    kind.draw(pen, thing.extras)
    if thing.bow:
        _draw_bow(pen, kind.bow)
    if thing.hidden:
        _draw_cover(pen, place, kind.cover)
    _draw_label(canvas, x, SCALE * (thing.row * CELL_HEIGHT + _LABEL_TOP), thing)


def draw_scene(scene: Scene) -> Image.Image:
    """Draws a scene.

    Returns:
        An RGB picture of `WIDTH` x `HEIGHT` pixels; the same scene always gives the same pixels.
    """
    place = PLACES[scene.place]
    canvas = draw_backdrop(place, random.Random(scene.decor))
    for thing in scene.things:
        _draw_thing(canvas, thing, place)
    return canvas.reduce(SCALE)
