"""Shapes, symbols and lettering on a phone screen: what `gui_art` paints with.

Everything is antialiased by shrinking masks that were drawn four times as large. Masks and lettering are
cached, since all screens share them. Lengths are pixels of a 540 x 1170 screen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import matplotlib
from PIL import Image, ImageDraw, ImageFont

from condchain_tasks.synth.world import Scalar

WIDTH, HEIGHT = 540, 1170

Colour = tuple[int, int, int]
Box = tuple[int, int, int, int]

COLOURS: Mapping[str, Colour] = {
    "red": (214, 34, 38),
    "orange": (250, 136, 20),
    "yellow": (252, 214, 40),
    "green": (30, 148, 66),
    "blue": (36, 96, 220),
    "purple": (128, 52, 184),
    "pink": (250, 150, 196),
    "brown": (132, 80, 44),
}
WHITE: Colour = (255, 255, 255)
BLACK: Colour = (0, 0, 0)
GESTURE: Colour = (0, 205, 215)

# Symbols are lists of strokes on a 24 x 24 grid: (what, coordinates, filled or cut out[, width of a line]).
_Stroke = tuple[str, tuple[float, ...], bool, float]


def _stroke(what: str, *xy: float, fill: bool = True, width: float = 2.4) -> _Stroke:
    return what, xy, fill, width


SYMBOLS: Mapping[str, tuple[_Stroke, ...]] = {
    "circle": (_stroke("ellipse", 1, 1, 23, 23),),
    "square": (_stroke("rectangle", 2, 2, 22, 22),),
    "triangle": (_stroke("polygon", 12, 1.5, 23.5, 22, 0.5, 22),),
    "diamond": (_stroke("polygon", 12, 0, 22, 12, 12, 24, 2, 12),),
    "star": (
        _stroke(
            "polygon",
            *(12, 0.5, 15, 8.6, 23.6, 8.9, 16.8, 14.2, 19.2, 22.6),
            *(12, 17.8, 4.8, 22.6, 7.2, 14.2, 0.4, 8.9, 9, 8.6),
        ),
    ),
    "heart": (
        _stroke("ellipse", 0.8, 2, 13.2, 14.4),
        _stroke("ellipse", 10.8, 2, 23.2, 14.4),
        _stroke("polygon", 2.2, 11.9, 12, 23, 21.8, 11.9, 12, 6),
    ),
    "envelope": (
        _stroke("rectangle", 1, 4, 23, 20),
        _stroke("line", 1, 5, 12, 13.5, 23, 5, fill=False),
    ),
    "bell": (
        _stroke("ellipse", 5, 3, 19, 17),
        _stroke("polygon", 5, 10, 19, 10, 19, 15, 22, 19, 2, 19, 5, 15),
        _stroke("ellipse", 9, 18.5, 15, 23.5),
        _stroke("rectangle", 10.8, 1, 13.2, 4),
    ),
    "camera": (
        _stroke("rectangle", 1, 6, 23, 21),
        _stroke("polygon", 7, 7, 9, 3, 15, 3, 17, 7),
        _stroke("ellipse", 7, 8.5, 17, 18.5, fill=False),
        _stroke("ellipse", 9.4, 10.9, 14.6, 16.1),
    ),
    "note": (
        _stroke("ellipse", 2, 16, 10, 23),
        _stroke("ellipse", 13, 14, 21, 21),
        _stroke("polygon", 7.5, 4, 21, 1, 21, 6, 7.5, 9),
        _stroke("rectangle", 7.5, 4, 10, 20),
        _stroke("rectangle", 18.5, 2, 21, 18),
    ),
    "house": (
        _stroke("polygon", 12, 1, 24, 12, 0, 12),
        _stroke("rectangle", 4, 11, 20, 23),
        _stroke("rectangle", 9.8, 15, 14.2, 23, fill=False),
    ),
    "person": (
        _stroke("ellipse", 7, 1, 17, 11),
        _stroke("ellipse", 2, 13, 22, 33),
    ),
    "magnifier": (
        _stroke("ellipse", 1, 1, 18, 18),
        _stroke("ellipse", 4.4, 4.4, 14.6, 14.6, fill=False),
        _stroke("line", 15, 15, 22, 22, width=4),
    ),
    "clock": (
        _stroke("ellipse", 1, 1, 23, 23),
        _stroke("line", 12, 5, 12, 12.5, 17, 15.5, fill=False),
    ),
    "padlock": (
        _stroke("ellipse", 5.5, 1, 18.5, 16),
        _stroke("ellipse", 8.5, 4, 15.5, 13, fill=False),
        _stroke("rectangle", 3, 10, 21, 23),
        _stroke("ellipse", 10, 14, 14, 18, fill=False),
    ),
    "pencil": (
        _stroke("polygon", 1, 23, 3, 16, 16, 3, 21, 8, 8, 21),
        _stroke("polygon", 17.2, 1.8, 19, 0, 24, 5, 22.2, 6.8),
    ),
    "plus": (_stroke("rectangle", 10, 2, 14, 22), _stroke("rectangle", 2, 10, 22, 14)),
    "minus": (_stroke("rectangle", 2, 10, 22, 14),),
    "cross": (_stroke("line", 4, 4, 20, 20, width=3), _stroke("line", 20, 4, 4, 20, width=3)),
    "tick": (_stroke("line", 3, 12.5, 9.5, 19, 21, 5, width=3.4),),
    "back": (_stroke("line", 3, 12, 22, 12, width=2.8), _stroke("line", 12, 3, 3, 12, 12, 21, width=2.8)),
    "menu": tuple(_stroke("rectangle", 2, y, 22, y + 2.8) for y in (4, 10.6, 17.2)),
    "dots": tuple(_stroke("ellipse", 9.5, y, 14.5, y + 5) for y in (1, 9.5, 18)),
    "send": (_stroke("polygon", 1, 2, 23.5, 12, 1, 22, 5, 12),),
    "onward": (_stroke("line", 2, 12, 21, 12, width=2.8), _stroke("line", 13, 4, 21, 12, 13, 20, width=2.8)),
    "microphone": (
        _stroke("rectangle", 8.5, 4, 15.5, 12),
        _stroke("ellipse", 8.5, 0.5, 15.5, 7.5),
        _stroke("ellipse", 8.5, 8.5, 15.5, 15.5),
        _stroke("line", 4.5, 10, 4.5, 13, 7.5, 17.5, 12, 18.5, 16.5, 17.5, 19.5, 13, 19.5, 10, width=2),
        _stroke("rectangle", 11, 18, 13, 23),
    ),
    "bolt": (_stroke("polygon", 14, 0, 4, 14, 11, 14, 9, 24, 20, 9, 13, 9),),
    "info": (
        _stroke("ellipse", 1, 1, 23, 23),
        _stroke("rectangle", 10.6, 10, 13.4, 18.5, fill=False),
        _stroke("ellipse", 10.3, 5, 13.7, 8.4, fill=False),
    ),
    "sun": (
        _stroke("ellipse", 6.5, 6.5, 17.5, 17.5),
        *(
            _stroke("line", 12 + 7.5 * x, 12 + 7.5 * y, 12 + 11.5 * x, 12 + 11.5 * y)
            for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1), (0.7, 0.7), (-0.7, 0.7), (0.7, -0.7), (-0.7, -0.7))
        ),
    ),
    "moon": (_stroke("ellipse", 1, 1, 23, 23), _stroke("ellipse", 8, -3, 26, 17, fill=False)),
    "cloud": (
        _stroke("ellipse", 1, 10, 12, 20),
        _stroke("ellipse", 6, 4, 18, 18),
        _stroke("ellipse", 13, 9, 23.5, 20),
        _stroke("rectangle", 6, 13, 18, 20),
    ),
    "umbrella": (
        _stroke("ellipse", 1, 2, 23, 24),
        _stroke("rectangle", 0, 13, 24, 24, fill=False),
        _stroke("rectangle", 11, 12, 13, 20),
        _stroke("line", 12, 19, 12, 21.5, 13.5, 22.8, 15.5, 22.5, 16.5, 20.5, width=1.8),
    ),
    "triangle back": (_stroke("polygon", 18, 2, 18, 22, 3, 12),),
    "ring": (_stroke("ellipse", 1, 1, 23, 23), _stroke("ellipse", 4, 4, 20, 20, fill=False)),
    "frame": (_stroke("rectangle", 2, 2, 22, 22), _stroke("rectangle", 5, 5, 19, 19, fill=False)),
}
_OVERSAMPLING = 4
_DIMMED = [round(0.55 * level) for level in range(256)] * 3


@lru_cache(maxsize=512)
def _symbol(name: str, size: int) -> Image.Image:
    scale = size * _OVERSAMPLING / 24
    mask = Image.new("L", (size * _OVERSAMPLING,) * 2)
    pen = ImageDraw.Draw(mask)
    for what, grid, fill, width in SYMBOLS[name]:
        xy = [value * scale for value in grid]
        ink = 255 if fill else 0
        if what == "line":
            pen.line(xy, ink, round(width * scale), joint="curve")
        else:
            getattr(pen, what)(xy, fill=ink)
    return mask.reduce(_OVERSAMPLING)


@lru_cache(maxsize=512)
def _round_ends(width: int, radius: int) -> tuple[Image.Image, Image.Image]:
    """The top and the bottom of a rectangle with round corners, each as high as the radius."""
    mask = Image.new("L", (width * _OVERSAMPLING, 2 * radius * _OVERSAMPLING))
    edge = (0, 0, mask.width - 1, mask.height - 1)
    ImageDraw.Draw(mask).rounded_rectangle(edge, radius * _OVERSAMPLING, 255)
    small = mask.reduce(_OVERSAMPLING)
    return small.crop((0, 0, width, radius)), small.crop((0, radius, width, 2 * radius))


@lru_cache(maxsize=32)
def font(size: int, bold: bool) -> ImageFont.FreeTypeFont:
    """DejaVu Sans of a size in pixels."""
    folder = Path(matplotlib.get_data_path(), "fonts", "ttf")
    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    return ImageFont.truetype(str(folder / name), size, layout_engine=ImageFont.Layout.BASIC)


@lru_cache(maxsize=4096)
def _lettering(text: str, size: int, bold: bool, anchor: str) -> tuple[Image.Image, int, int]:
    face = font(size, bold)
    left, top, right, bottom = (round(edge) for edge in face.getbbox(text, anchor=anchor + "m"))
    mask = Image.new("L", (max(1, right - left), max(1, bottom - top)))
    ImageDraw.Draw(mask).text((-left, -top), text, 255, face, anchor=anchor + "m")
    return mask, left, top


@lru_cache(maxsize=32)
def _gesture(action: str, length: int) -> Image.Image:
    """A ring for a tap, or an arrow as long as `length` with a dot where the finger came down."""
    size = length * _OVERSAMPLING
    sprite = Image.new("RGBA", (size, size))
    pen = ImageDraw.Draw(sprite)
    middle, edge = size / 2, 3 * _OVERSAMPLING
    if action == "tap":
        for colour, outer, inner in ((BLACK, 0.5, 0.30), (WHITE, 0.475, 0.325), (GESTURE, 0.44, 0.36)):
            pen.ellipse((middle - outer * size,) * 2 + (middle + outer * size,) * 2, (*colour, 255))
            pen.ellipse((middle - inner * size,) * 2 + (middle + inner * size,) * 2, (0, 0, 0, 0))
        return sprite.reduce(_OVERSAMPLING)
    for colour, grow in ((BLACK, 2 * edge), (WHITE, edge), (GESTURE, 0)):
        shaft, head, start = 5 * _OVERSAMPLING + grow, 20 * _OVERSAMPLING, 13 * _OVERSAMPLING + grow
        foot, tip = 20 * _OVERSAMPLING, size - 8 * _OVERSAMPLING
        ink = (*colour, 255)
        pen.rectangle((foot, middle - shaft, tip - head, middle + shaft), ink)
        pen.polygon(
            (
                (tip + 1.3 * grow, middle),
                (tip - 1.6 * head - grow, middle - head - 1.6 * grow),
                (tip - 1.6 * head - grow, middle + head + 1.6 * grow),
            ),
            ink,
        )
        pen.ellipse((foot - start, middle - start, foot + start, middle + start), ink)
    turn = {"swipe right": 0, "swipe up": 90, "swipe left": 180, "swipe down": 270}[action]
    return sprite.reduce(_OVERSAMPLING).rotate(turn)


def contrast(colour: Colour) -> Colour:
    """Black or white, whichever is legible on a colour."""
    red, green, blue = colour
    return BLACK if 0.3 * red + 0.59 * green + 0.11 * blue > 140 else WHITE


@dataclass(frozen=True)
class Scheme:
    """The neutral colours of a light or a dark screen."""

    surface: Colour
    raised: Colour
    line: Colour
    muted: Colour
    ink: Colour


LIGHT = Scheme((250, 250, 252), (234, 235, 240), (206, 207, 214), (104, 104, 112), (24, 24, 30))
DARK = Scheme((24, 25, 29), (48, 50, 57), (84, 86, 94), (166, 166, 174), (242, 242, 246))


class Canvas:
    """A screen under the brush: antialiased shapes, symbols and text."""

    def __init__(self, scheme: Scheme, background: Colour) -> None:
        self.scheme = scheme
        self.image = Image.new("RGB", (WIDTH, HEIGHT), background)

    def box(self, box: Box, colour: Colour) -> None:
        """A rectangle; right and bottom edges exclusive."""
        self.image.paste(colour, box)

    def rounded(self, box: Box, radius: int, colour: Colour) -> None:
        """A rectangle with round corners; twice the radius is at most its height."""
        left, top, right, bottom = box
        self.image.paste(colour, (left, top + radius, right, bottom - radius))
        if radius:
            upper, lower = _round_ends(right - left, radius)
            self.image.paste(colour, (left, top), upper)
            self.image.paste(colour, (left, bottom - radius), lower)

    def outlined(self, box: Box, radius: int, colour: Colour, inside: Colour, width: int = 2) -> None:
        """A rectangle with round corners and a border."""
        left, top, right, bottom = box
        self.rounded(box, radius, colour)
        inner = (left + width, top + width, right - width, bottom - width)
        self.rounded(inner, max(0, radius - width), inside)

    def symbol(self, name: str, centre: tuple[int, int], size: int, colour: Colour) -> None:
        """A symbol of `SYMBOLS`."""
        self.image.paste(colour, (centre[0] - size // 2, centre[1] - size // 2), _symbol(name, size))

    def text(
        self, at: tuple[int, int], text: str, size: int, colour: Colour, bold: bool = False, anchor: str = "l"
    ) -> None:
        """One line, its left end ("l"), middle ("m") or right end ("r") at a point of its centre line."""
        mask, left, top = _lettering(text, size, bold, anchor)
        self.image.paste(colour, (at[0] + left, at[1] + top), mask)

    def number(self, centre: tuple[int, int], number: Scalar) -> None:
        """A badge: a digit on a white disc with a black rim."""
        self.symbol("circle", centre, 38, BLACK)
        self.symbol("circle", centre, 34, WHITE)
        self.text(centre, str(number), 21, BLACK, bold=True, anchor="m")

    def stars(self, left: int, middle: int, size: int, full: int, background: Colour) -> None:
        """Five stars in a row, the first `full` of them filled."""
        for place in range(5):
            centre = (left + size // 2 + place * (size + 4), middle)
            self.symbol("star", centre, size, self.scheme.ink)
            if place >= full:
                self.symbol("star", centre, size - 8, background)

    def dim(self, top: int) -> None:
        """Darkens everything below a height."""
        below = self.image.crop((0, top, WIDTH, HEIGHT))
        self.image.paste(below.point(_DIMMED), (0, top))

    def gesture(self, action: str, centre: tuple[int, int], length: int) -> None:
        """The mark of a tap or a swipe."""
        sprite = _gesture(action, length)
        self.image.paste(sprite, (centre[0] - length // 2, centre[1] - length // 2), sprite)
