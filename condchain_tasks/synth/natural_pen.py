"""Drawing of flat illustrations: shapes in the unit square, and the pen that places them on a picture.

In the unit square x goes to the right and y down; a thing stands at y = 1, and details may rise above y = 0.
Everything is drawn at `SCALE` times the size of the picture and averaged down in the end.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache

from PIL import Image, ImageChops, ImageDraw

Point = tuple[float, float]
Shape = tuple[Point, ...]
Ink = tuple[int, int, int]

SCALE = 2
"""Drawn pixels for each pixel of the picture, along each axis."""

COLOURS: Mapping[str, Ink] = {
    "red": (212, 36, 40),
    "orange": (250, 138, 18),
    "yellow": (252, 218, 48),
    "green": (44, 150, 62),
    "blue": (34, 96, 208),
    "purple": (122, 56, 172),
    "pink": (252, 152, 200),
    "brown": (120, 74, 40),
}
PATTERNS = ("plain", "striped", "dotted", "checked")

OUTLINE: Ink = (38, 40, 46)
DARK: Ink = (62, 64, 72)
GREY: Ink = (140, 144, 152)
LIGHT: Ink = (212, 215, 220)
WHITE: Ink = (252, 252, 252)
_DARK_PATTERN_ON = frozenset({"yellow", "pink"})


@cache
def arc(cx: float, cy: float, rx: float, ry: float, start: float, end: float) -> Shape:
    """An open curve from `start` to `end` degrees; 0 is right, 90 is down."""
    steps = max(4, round(abs(end - start) / (12 if max(rx, ry) > 0.12 else 24)))
    angles = (math.radians(start + (end - start) * i / steps) for i in range(steps + 1))
    return tuple((cx + rx * math.cos(a), cy + ry * math.sin(a)) for a in angles)


def oval(cx: float, cy: float, rx: float, ry: float) -> Shape:
    return arc(cx, cy, rx, ry, 0, 360)


@cache
def box(x0: float, y0: float, x1: float, y1: float, r: float = 0) -> Shape:
    if r == 0:
        return ((x0, y0), (x1, y0), (x1, y1), (x0, y1))
    corners = ((x0 + r, y0 + r, 180), (x1 - r, y0 + r, 270), (x1 - r, y1 - r, 0), (x0 + r, y1 - r, 90))
    return tuple(point for cx, cy, angle in corners for point in arc(cx, cy, r, r, angle, angle + 90))


@cache
def smooth(*points: Point) -> Shape:
    """A closed Catmull-Rom curve through the points."""
    n, curve = len(points), []
    for i in range(n):
        p, q, r, s = (points[(i + k) % n] for k in (-1, 0, 1, 2))
        for t in (0.0, 0.2, 0.4, 0.6, 0.8):
            w = (-t + 2 * t**2 - t**3, 2 - 5 * t**2 + 3 * t**3, t + 4 * t**2 - 3 * t**3, t**3 - t**2)
            x, y = (sum(a * b for a, b in zip(w, axis, strict=True)) / 2 for axis in zip(p, q, r, s, strict=True))
            curve.append((x, y))
    return tuple(curve)


@cache
def _pattern(pattern: str, unit: int) -> Image.Image:
    """A mask that covers any thing whose unit square has a side of `unit`, set where the second ink goes."""
    side = round(1.4 * unit)
    tile = Image.new("1", (side, side), 0)
    draw = ImageDraw.Draw(tile)
    period = 16 + unit // 12
    half = period // 2
    for i in range(-side // period, 2 * side // period + 1):
        if pattern == "striped":
            x = i * period
            draw.polygon(((x, 0), (x + half, 0), (x + half - side, side), (x - side, side)), fill=1)
            continue
        for j in range(side // period + 1):
            x, y = i * period, j * period
            if pattern == "dotted":
                x += half * (j % 2)
                r = 0.29 * period
                draw.ellipse((x - r, y - r, x + r, y + r), fill=1)
            else:
                draw.rectangle((x, y, x + half - 1, y + half - 1), fill=1)
                draw.rectangle((x + half, y + half, x + period - 1, y + period - 1), fill=1)
    return tile


class Pen:
    """Draws in the unit square of one thing.

    Args:
        canvas: The picture at `SCALE`.
        x: Middle of the unit square, in drawn pixels.
        base: Its bottom edge, in drawn pixels.
        side: Its side, in drawn pixels.
        colour: A key of `COLOURS`, for bodies.
        pattern: One of `PATTERNS`, for bodies.
        mirrored: Swaps left and right.
    """

    def __init__(
        self, canvas: Image.Image, x: float, base: float, side: float, colour: str, pattern: str, mirrored: bool
    ) -> None:
        self.canvas, self.side = canvas, side
        self.colour, self.pattern, self.mirrored = colour, pattern, mirrored
        self.left, self.top = x - side / 2, base - side
        self.draw = ImageDraw.Draw(canvas)

    def at(self, shape: Shape) -> list[Point]:
        x0, y0, side = self.left, self.top, self.side
        if self.mirrored:
            return [(x0 + (1 - x) * side, y0 + y * side) for x, y in shape]
        return [(x0 + x * side, y0 + y * side) for x, y in shape]

    def line(self, shape: Shape, ink: Ink = OUTLINE, width: float = 4) -> None:
        """An open line of `width` drawn pixels."""
        self.draw.line(self.at(shape), fill=ink, width=round(width))

    def stroke(self, shape: Shape, ink: Ink, width: float) -> None:
        """A bar with an outline; `width` is a share of the unit square's side."""
        points, bar = self.at(shape), max(4, width * self.side)
        self.draw.line(points, fill=OUTLINE, width=round(bar + 8), joint="curve")
        self.draw.line(points, fill=ink, width=round(bar), joint="curve")

    def part(self, ink: Ink, *shapes: Shape) -> None:
        """Shapes in one ink, with an outline around all of them together."""
        placed = [self.at(shape) for shape in shapes]
        for points in placed:
            self.draw.line([*points, *points[:2]], fill=OUTLINE, width=8)
        for points in placed:
            self.draw.polygon(points, fill=ink)

    def body(self, *shapes: Shape) -> None:
        """Shapes in the thing's colour and pattern, with an outline around all of them together."""
        colour, pattern = self.colour, self.pattern
        self.part(COLOURS[colour], *shapes)
        if pattern == "plain":
            return
        placed = [self.at(shape) for shape in shapes]
        xs, ys = zip(*(point for points in placed for point in points), strict=True)
        left, top, right, bottom = (
            math.floor(min(xs)),
            math.floor(min(ys)),
            math.ceil(max(xs)),
            math.ceil(max(ys)),
        )
        box = (0, 0, right - left + 1, bottom - top + 1)
        # One bit a pixel: three times as fast as grey, and averaging down smooths the edges.
        mask = Image.new("1", box[2:], 0)
        draw = ImageDraw.Draw(mask)
        for points in placed:
            draw.polygon([(x - left, y - top) for x, y in points], fill=1)
        mask = ImageChops.logical_and(mask, _pattern(pattern, round(self.side)).crop(box))
        self.canvas.paste(OUTLINE if colour in _DARK_PATTERN_ON else WHITE, (left, top), mask)
