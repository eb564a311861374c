"""Drawing of flat diagrams with labels, in pixels of the finished picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import matplotlib
from PIL import Image, ImageDraw, ImageFont

from condchain_tasks.synth.lettering import face

Point = tuple[float, float]

SCALE = 2
"""Drawn pixels for each pixel of the finished picture, along each axis."""

INK = "#22262e"
GREY = "#8a93a1"
PALE = "#e4e8ee"
WHITE = "#ffffff"
PAPER = "#fbfaf6"

COLOURS = {
    "red": "#d8383c",
    "orange": "#f2901d",
    "yellow": "#f6cf3a",
    "green": "#3a9a4c",
    "blue": "#2f6fd0",
    "purple": "#7c45b0",
    "pink": "#f08cbc",
    "brown": "#85552f",
}
"""Hues that are told apart at a glance, and their names."""


@cache
def _font(size: float, bold: bool) -> ImageFont.FreeTypeFont:
    file = Path(matplotlib.get_data_path(), "fonts", "ttf", f"{face(bold=bold)}.ttf")
    return ImageFont.truetype(str(file), size * SCALE)


class Sheet:
    """A picture under way.

    Args:
        width: Of the finished picture, pixels.
        height: Of the finished picture, pixels.
        paper: Its background.
    """

    def __init__(self, width: int, height: int, paper: str = PAPER) -> None:
        self.canvas = Image.new("RGB", (width * SCALE, height * SCALE), paper)
        self._draw = ImageDraw.Draw(self.canvas)

    def finish(self) -> Image.Image:
        """The picture at its own size."""
        return self.canvas.reduce(SCALE)

    def text(self, at: Point, text: str, size: float = 18, ink: str = INK, bold: bool = False, to: str = "mm") -> None:
        """Writes a line; `to` anchors it as in Pillow ("mm": the middle is at the point, "lm": the left end)."""
        self._draw.text(_scaled(at), text, fill=ink, font=_font(size, bold), anchor=to)

    def width_of(self, text: str, size: float = 18, bold: bool = False) -> float:
        """How wide a line will be, pixels."""
        return _font(size, bold).getlength(text) / SCALE

    def box(
        self,
        left: float,
        top: float,
        width: float,
        height: float,
        fill: str | None = WHITE,
        line: str | None = INK,
        round_by: float = 0,
        thick: float = 2,
    ) -> None:
        """A rectangle with corners rounded by a radius."""
        corners = (left * SCALE, top * SCALE, (left + width) * SCALE, (top + height) * SCALE)
        self._draw.rounded_rectangle(corners, round_by * SCALE, fill, line, round(thick * SCALE) if line else 0)

    def disc(
        self, at: Point, radius: float, fill: str | None = WHITE, line: str | None = INK, thick: float = 2
    ) -> None:
        x, y = _scaled(at)
        r = radius * SCALE
        self._draw.ellipse((x - r, y - r, x + r, y + r), fill, line, round(thick * SCALE) if line else 0)

    def shape(self, points: Sequence[Point], fill: str | None, line: str | None = INK, thick: float = 2) -> None:
        """A polygon."""
        placed = [_scaled(point) for point in points]
        self._draw.polygon(placed, fill)
        if line:
            self._draw.line([*placed, *placed[:2]], line, round(thick * SCALE), joint="curve")

    def line(self, points: Sequence[Point], ink: str = INK, thick: float = 2) -> None:
        self._draw.line([_scaled(point) for point in points], ink, round(thick * SCALE), joint="curve")

    def arrow(self, points: Sequence[Point], ink: str = INK, thick: float = 2.5, head: float = 12) -> None:
        """A line with a head at its last point."""
        (x0, y0), (x1, y1) = points[-2], points[-1]
        angle = math.atan2(y1 - y0, x1 - x0)
        back = (x1 - head * math.cos(angle) * 0.8, y1 - head * math.sin(angle) * 0.8)
        self.line([*points[:-1], back], ink, thick)
        sides = [(x1 - head * math.cos(angle + k), y1 - head * math.sin(angle + k)) for k in (0.45, -0.45)]
        self.shape([(x1, y1), *sides], ink, None)

    def tag(self, at: Point, text: str, size: float = 16, fill: str = WHITE, ink: str = INK, pad: float = 6) -> None:
        """A line of text on a rounded label of its own."""
        width = self.width_of(text, size, True) + 2 * pad
        height = size + 1.4 * pad
        self.box(at[0] - width / 2, at[1] - height / 2, width, height, fill, ink, height / 3, 1.5)
        self.text(at, text, size, ink, True)


def _scaled(point: Point) -> Point:
    return point[0] * SCALE, point[1] * SCALE


def polygon(at: Point, radius: float, corners: int, turn: float = -90) -> list[Point]:
    """The corners of a regular polygon, the first at `turn` degrees; 0 is right, 90 is down."""
    angles = (math.radians(turn + 360 * k / corners) for k in range(corners))
    return [(at[0] + radius * math.cos(a), at[1] + radius * math.sin(a)) for a in angles]


def star(at: Point, radius: float, points: int = 5) -> list[Point]:
    """The corners of a star."""
    return [
        (at[0] + r * math.sin(math.pi * k / points), at[1] - r * math.cos(math.pi * k / points))
        for k, r in enumerate((radius, radius * 0.45) * points)
    ]
