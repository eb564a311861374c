"""Pictures of causal scenes: layers, each of them one thing or a part of it, and the exact boxes of the things.

Positions are pixels of the picture, whose origin is its top left corner; everything is drawn at `SCALE` times its
size and averaged down. Things that `natural_things` draws stand in their unit squares here too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from PIL import Image, ImageChops

from condchain_tasks.synth.natural_pen import (
    COLOURS,
    DARK,
    GREY,
    LIGHT,
    OUTLINE,
    SCALE,
    WHITE,
    Ink,
    Pen,
    Point,
    Shape,
    arc,
    box,
    oval,
    smooth,
)
from condchain_tasks.synth.natural_things import KINDS

WIDTH, HEIGHT = 640, 480
GROUND = 400
"""Where floor and lawn begin, in pixels from the top."""

WOOD: Ink = (190, 142, 92)
DARK_WOOD: Ink = (146, 100, 62)
STRAW: Ink = (222, 190, 120)
WATER: Ink = (126, 186, 226)
STONE: Ink = (158, 156, 152)
BRICK: Ink = (190, 96, 74)
FLAME: Ink = (250, 150, 30)
LEAVES: Ink = (104, 158, 88)

Box = tuple[int, int, int, int]
"""Left, top, right, bottom; the last two lie just outside."""


Turn = tuple[float, Point]
"""Angle in radians, clockwise, and the point in drawn pixels about which something is turned."""


class Brush(Pen):
    """A pen that can turn what it draws.

    Args:
        canvas: As for a `Pen`, and so are all others but the last.
        turn: By which everything is turned.
    """

    def __init__(
        self, canvas: Image.Image, x: float, base: float, side: float, colour: str, mirrored: bool, turn: Turn
    ) -> None:
        super().__init__(canvas, x, base, side, colour, "plain", mirrored)
        self.turn = turn

    def at(self, shape: Shape) -> list[Point]:
        """The points of a shape, in drawn pixels."""
        points = super().at(shape)
        angle, (x0, y0) = self.turn
        if not angle:
            return points
        c, s = math.cos(angle), math.sin(angle)
        return [(x0 + c * (x - x0) - s * (y - y0), y0 + s * (x - x0) + c * (y - y0)) for x, y in points]


class Page(Brush):
    """A brush for a whole picture, whose unit is the pixel.

    Args:
        canvas: The picture at `SCALE`.
        mirrored: Swaps left and right of the picture.
        turn: By which everything is turned.
    """

    def __init__(self, canvas: Image.Image, mirrored: bool, turn: Turn = (0.0, (0.0, 0.0))) -> None:
        super().__init__(canvas, SCALE * (WIDTH - 0.5 if mirrored else 0.5), SCALE, SCALE, "red", mirrored, turn)

    def turned(self, degrees: float, centre: Point) -> Page:
        """One that turns everything clockwise about a point; the other way in a mirrored picture."""
        angle = math.radians(-degrees if self.mirrored else degrees)
        return Page(self.canvas, self.mirrored, (angle, self.at((centre,))[0]))

    def unit(self, x: float, y: float, side: float, colour: str, flip: bool) -> Brush:
        """One for the unit square of a thing that stands at (x, y), its middle and foot.

        Args:
            x: Pixels of the picture, as are `y` and `side`.
            y: From the picture's top.
            side: Of the unit square.
            colour: A key of `COLOURS`.
            flip: Swaps the thing's left and right.
        """
        place = (WIDTH - x if self.mirrored else x, y, side)
        across, down, length = (SCALE * one for one in place)
        return Brush(self.canvas, across, down, length, colour, self.mirrored != flip, self.turn)


Paint = Callable[[Page], None]
"""Draws a thing, or a part of one."""


@dataclass(frozen=True)
class Layer:
    """A thing, or a part of one; `thing` is "" for what is no thing of the scene."""

    thing: str
    paint: Paint


@dataclass(frozen=True)
class Drawing:
    """A picture: `backdrop` is a key of `BACKDROPS`; layers that come later hide earlier ones."""

    backdrop: str
    mirrored: bool
    layers: tuple[Layer, ...]


def draw(drawing: Drawing, without: str = "") -> Image.Image:
    """An RGB picture of `WIDTH` x `HEIGHT` pixels; one thing may be left out."""
    canvas = _backdrop(drawing.backdrop).copy()
    pen = Page(canvas, drawing.mirrored)
    for layer in drawing.layers:
        if not (without and layer.thing == without):
            layer.paint(pen)
    return canvas.reduce(SCALE)


def boxes(drawing: Drawing) -> dict[str, Box]:
    """The smallest box around what can be seen of each thing.

    Raises:
        ValueError: Of some thing nothing can be seen.
    """
    size = (SCALE * WIDTH, SCALE * HEIGHT)
    visible: dict[str, Image.Image] = {}
    before = Image.new("L", size)
    for layer in reversed(drawing.layers):
        canvas = Image.new("RGBA", size)
        layer.paint(Page(canvas, drawing.mirrored))
        mask = canvas.getchannel("A")
        if layer.thing:
            seen = ImageChops.subtract(mask, before)
            visible[layer.thing] = ImageChops.lighter(visible[layer.thing], seen) if layer.thing in visible else seen
        before = ImageChops.lighter(before, mask)
    found = {}
    for thing, seen in visible.items():
        extent = seen.getbbox()
        if extent is None:
            raise ValueError(f"nothing of {thing!r} can be seen")
        left, top, right, bottom = extent
        found[thing] = (left // SCALE, top // SCALE, -(-right // SCALE), -(-bottom // SCALE))
    return found


# --- backdrops ------------------------------------------------------------------------------------------------


@cache
def _backdrop(name: str) -> Image.Image:
    canvas = Image.new("RGB", (SCALE * WIDTH, SCALE * HEIGHT), WHITE)
    BACKDROPS[name](Page(canvas, False))
    return canvas


def _flat(pen: Page, shape: Shape, ink: Ink) -> None:
    pen.draw.polygon(pen.at(shape), fill=ink)


def _room(wall: Ink, stripe: Ink, floor: Ink) -> Paint:
    def paint(pen: Page) -> None:
        _flat(pen, box(0, 0, WIDTH, GROUND), wall)
        for x in range(10, WIDTH, 40):
            _flat(pen, box(x, 0, x + 14, GROUND), stripe)
        _flat(pen, box(0, GROUND, WIDTH, HEIGHT), floor)
        _flat(pen, box(0, GROUND - 8, WIDTH, GROUND), WHITE)
        for y in (GROUND + 22, GROUND + 48):
            _flat(pen, box(0, y, WIDTH, y + 1.5), tuple(c - 24 for c in floor))  # type: ignore[arg-type]

    return paint


def _lawn(sky: Ink, hill: Ink, grass: Ink) -> Paint:
    def paint(pen: Page) -> None:
        _flat(pen, box(0, 0, WIDTH, GROUND), sky)
        for x, y in ((90, 60), (330, 36), (540, 76)):
            for dx, r in ((-26, 13), (0, 20), (27, 14)):
                _flat(pen, oval(x + dx, y, r, 0.8 * r), WHITE)
        ridge = tuple((x, 340 + 22 * math.sin(x / 90)) for x in range(0, WIDTH + 20, 20))
        _flat(pen, (*ridge, (WIDTH, GROUND), (0, GROUND)), hill)
        _flat(pen, box(0, GROUND, WIDTH, HEIGHT), grass)

    return paint


BACKDROPS: dict[str, Paint] = {
    "blue room": _room((222, 232, 240), (214, 226, 236), (214, 196, 170)),
    "cream room": _room((242, 236, 222), (236, 229, 212), (206, 188, 164)),
    "rose room": _room((240, 228, 226), (234, 220, 218), (204, 196, 188)),
    "green lawn": _lawn((214, 232, 244), (206, 224, 190), (186, 210, 160)),
    "autumn lawn": _lawn((236, 234, 236), (226, 216, 186), (214, 204, 156)),
}
ROOMS = ("blue room", "cream room", "rose room")
LAWNS = ("green lawn", "autumn lawn")


# --- things ---------------------------------------------------------------------------------------------------


def known(
    kind: str, x: float, y: float, side: float, colour: str, flip: bool = False, **extras: str | int | bool
) -> Paint:
    """A thing of `natural_things` that stands at (x, y), its middle and foot; `flip` swaps its left and right."""
    details = {**_EXTRAS.get(kind, {}), **extras}

    def paint(pen: Page) -> None:
        KINDS[kind].draw(pen.unit(x, y, side, colour, flip), details)

    return paint


_EXTRAS: dict[str, dict[str, str | int | bool]] = {
    "apple": {"leaf": False},
    "backpack": {"pocket": True},
    "balloon": {"basket": False},
    "bell": {"ringing": False},
    "birdhouse": {"bird": False},
    "boat": {"flag": False},
    "book": {"bookmark": False},
    "bucket": {"spade": False},
    "cactus": {"bloom": False},
    "cake": {"candles": 3},
    "car": {"suitcase": False},
    "clock": {"time": "three o'clock"},
    "drum": {"sticks": False},
    "hat": {"feather": False},
    "robot": {"antenna": True},
    "teapot": {"steam": False},
    "tent": {"flag": False},
    "vase": {"flowers": 3},
}


def shapes(*parts: tuple[Ink, Sequence[Shape]]) -> Paint:
    """Outlined parts, each of one ink."""

    def paint(pen: Page) -> None:
        for ink, outlines in parts:
            pen.part(ink, *outlines)

    return paint


def strokes(ink: Ink, width: float, *lines: Shape) -> Paint:
    """Outlined bars of a width in pixels."""

    def paint(pen: Page) -> None:
        for line in lines:
            pen.stroke(line, ink, width)

    return paint


def lines(width: float, *open_lines: Shape, ink: Ink = OUTLINE) -> Paint:
    """Lines of a width in pixels."""

    def paint(pen: Page) -> None:
        for line in open_lines:
            pen.line(line, ink, SCALE * width)

    return paint


def tilted(paint: Paint, degrees: float, centre: Point) -> Paint:
    """Turned about a point; clockwise, or the other way in a mirrored picture."""

    return lambda pen: paint(pen.turned(degrees, centre))


def both(*paints: Paint) -> Paint:
    def paint(pen: Page) -> None:
        for one in paints:
            one(pen)

    return paint


def rope(*points: Point) -> Paint:
    """A twisted rope."""

    def paint(pen: Page) -> None:
        pen.stroke(points, STRAW, 5)
        for (x0, y0), (x1, y1) in pairwise(points):
            length = math.hypot(x1 - x0, y1 - y0)
            for k in range(1, int(length / 9)):
                x, y = x0 + (x1 - x0) * 9 * k / length, y0 + (y1 - y0) * 9 * k / length
                pen.line(((x - 2.4, y + 1.6), (x + 2.4, y - 1.6)), DARK_WOOD, 3)

    return paint


def chain(x0: float, y0: float, x1: float, y1: float) -> Paint:
    """A chain of links."""
    length = math.hypot(x1 - x0, y1 - y0)
    count = max(2, round(length / 13))

    def paint(pen: Page) -> None:
        for k in range(count):
            t = (k + 0.5) / count
            x, y = x0 + t * (x1 - x0), y0 + t * (y1 - y0)
            flat = abs(x1 - x0) > abs(y1 - y0)
            rx, ry = (8.5, 5) if flat else (5, 8.5)
            pen.line(oval(x, y, rx, ry), OUTLINE, 12)
            pen.line(oval(x, y, rx, ry), GREY, 5)

    return paint


def hook(x: float, y: float) -> Paint:
    """A hook whose plate is fixed at (x, y), above it; a rope hangs from (x, y + 34)."""
    bent = ((x, y + 8), (x, y + 18), *arc(x, y + 28, 9, 9, -90, 150))
    return both(shapes((GREY, (box(x - 20, y, x + 20, y + 8, 3),))), strokes(GREY, 5, bent))


def ceiling(pen: Page) -> None:
    """A beam along the top of a room."""
    pen.part(DARK_WOOD, box(-4, -4, WIDTH + 4, 22))


def table(x: float, y: float, half: float, foot: float = GROUND + 30, ink: Ink = WOOD) -> Paint:
    """A table whose top is at `y`."""
    legs = [box(x + k * (half - 20) - 7, y + 10, x + k * (half - 20) + 7, foot) for k in (-1, 1)]
    return shapes((ink, legs), (ink, (box(x - half, y, x + half, y + 14, 4),)))


def stool(x: float, y: float, half: float, foot: float = GROUND + 30, ink: Ink = WOOD) -> Paint:
    """A stool whose seat is at `y`."""
    legs = strokes(ink, 8, *(((x + k * 0.6 * half, y + 10), (x + k * 0.9 * half, foot - 5)) for k in (-1, 1)))
    bar = strokes(ink, 5, ((x - 0.74 * half, (y + foot) / 2), (x + 0.74 * half, (y + foot) / 2)))
    return both(bar, legs, shapes((ink, (box(x - half, y, x + half, y + 12, 5),))))


def shelf(x: float, y: float, half: float) -> Paint:
    """A shelf on brackets whose top is at `y`."""
    brackets = [
        ((x + k * 0.7 * half, y + 10), (x + k * 0.7 * half, y + 44), (x + k * 0.7 * half - k * 26, y + 10))
        for k in (-1, 1)
    ]
    return shapes((GREY, brackets), (WOOD, (box(x - half, y, x + half, y + 13, 3),)))


def crate(x: float, y: float, side: float, ink: Ink = WOOD) -> Paint:
    """A crate of boards that stands at (x, y)."""
    left, top = x - side / 2, y - side

    def paint(pen: Page) -> None:
        pen.part(ink, box(left, top, left + side, y))
        pen.stroke(((left + 8, y - 8), (left + side - 8, top + 8)), DARK_WOOD, 8)
        for a, b in (((left, top), (left + side, top + 14)), ((left, y - 14), (left + side, y))):
            pen.part(DARK_WOOD, box(*a, *b))

    return paint


def ball(x: float, y: float, r: float, colour: str) -> Paint:
    """A ball around (x, y)."""

    def paint(pen: Page) -> None:
        pen.part(COLOURS[colour], oval(x, y, r, r))
        _flat(pen, oval(x - 0.35 * r, y - 0.38 * r, 0.2 * r, 0.2 * r), WHITE)
        pen.line(arc(x, y, 0.6 * r, r, -90, 90), OUTLINE, 4)
        pen.line(arc(x, y, 0.6 * r, r, 90, 270), OUTLINE, 4)

    return paint


def boulder(x: float, y: float, side: float) -> Paint:
    """A stone that lies at (x, y)."""
    shape = ((-0.5, 0), (-0.48, -0.4), (-0.25, -0.72), (0.15, -0.78), (0.42, -0.5), (0.5, 0))
    face = ((-0.25, -0.72), (0.15, -0.78), (0.05, -0.42), (-0.3, -0.36))

    def at(points: Shape) -> Shape:
        return tuple((x + side * a, y + side * b) for a, b in points)

    return both(shapes((STONE, (at(shape),))), lambda pen: _flat(pen, at(face), (186, 184, 180)))


def candle(x: float, y: float, height: float, lean: float = 0) -> Paint:
    """A burning candle that stands at (x, y); `lean` moves the tip of its flame."""
    top = y - height
    flame = smooth((x + lean, top - 40), (x + 9 + 0.3 * lean, top - 18), (x, top - 6), (x - 9 + 0.3 * lean, top - 18))
    inner = smooth((x + 0.5 * lean, top - 26), (x + 4, top - 14), (x, top - 8), (x - 4, top - 14))
    return both(
        shapes((GREY, (box(x - 22, y - 8, x + 22, y, 3),)), (WHITE, (box(x - 10, top, x + 10, y - 8),))),
        lines(2, ((x, top), (x, top - 9))),
        shapes((FLAME, (flame,))),
        lambda pen: _flat(pen, inner, COLOURS["yellow"]),
    )


def wheel(x: float, y: float, r: float) -> Paint:
    """A wheel with a light hub."""
    return both(shapes((DARK, (oval(x, y, r, r),))), lambda pen: _flat(pen, oval(x, y, 0.45 * r, 0.45 * r), LIGHT))


def motion(*marks: Shape) -> Paint:
    """Lines that show in which way something moves."""
    return lines(2.5, *marks, ink=DARK)


def bricks(x0: float, y0: float, x1: float, y1: float, row: float = 16) -> Paint:
    """A wall of bricks."""

    def paint(pen: Page) -> None:
        pen.part(BRICK, box(x0, y0, x1, y1))
        y, odd = y0 + row, False
        while y < y1:
            pen.line(((x0, y), (x1, y)), LIGHT, 3)
            x = x0 + (row if odd else 2 * row)
            while x < x1:
                pen.line(((x, y - row), (x, y)), LIGHT, 3)
                x += 2 * row
            y, odd = y + row, not odd

    return paint
