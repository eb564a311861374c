"""The places where still scenes are set: backdrop, ground, and what hides a part of a thing there.

All are pale or grey, so that no thing is mistaken for a part of its place.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from PIL import Image, ImageDraw

from condchain_tasks.synth.natural_pen import SCALE, WHITE, Ink, Shape, box, oval, smooth

WIDTH, HEIGHT = 960, 640
COLUMNS, ROWS = 4, 2
CELL_WIDTH, CELL_HEIGHT = WIDTH // COLUMNS, HEIGHT // ROWS
_GROUND = 200
"""Where the ground of a cell begins, in pixels below its top."""


Cover = tuple[tuple[Ink, tuple[Shape, ...]], ...]
"""What can stand in front of a thing: shapes in the box from (-1, 0) to (1, 1), feet at y = 1, by their inks."""

_BOX: Cover = (
    ((214, 184, 140), (box(-1, 0, 1, 1),)),
    ((238, 226, 200), (box(-0.16, 0, 0.16, 1),)),
)
_BUSH: Cover = (
    (
        (110, 134, 104),
        (
            oval(-0.62, 0.62, 0.4, 0.4),
            oval(-0.2, 0.42, 0.44, 0.44),
            oval(0.3, 0.4, 0.42, 0.42),
            oval(0.64, 0.66, 0.38, 0.38),
            box(-0.9, 0.6, 0.9, 1, 0.1),
        ),
    ),
)
_ROCK: Cover = (
    ((158, 156, 152), (((-1, 1), (-0.86, 0.42), (-0.4, 0.04), (0.3, 0), (0.8, 0.34), (1, 1)),)),
    ((182, 180, 176), (((-0.4, 0.04), (0.3, 0), (0.1, 0.4), (-0.5, 0.44)),)),
)
_SNOW: Cover = (
    (
        (244, 248, 252),
        (smooth((-1.05, 1), (-0.8, 0.5), (-0.3, 0.05), (0.25, 0.05), (0.8, 0.5), (1.05, 1), (0, 1)),),
    ),
)
_SACK: Cover = (
    ((206, 190, 160), (smooth((-0.3, 0.2), (0.3, 0.2), (0.95, 0.6), (0.8, 1), (-0.8, 1), (-0.95, 0.6)),)),
    ((206, 190, 160), (((-0.24, 0.2), (-0.4, 0), (0.4, 0), (0.24, 0.2)),)),
    ((120, 110, 96), (box(-0.3, 0.16, 0.3, 0.25),)),
)


_Draw = ImageDraw.ImageDraw


def _shade(ink: Ink, by: int) -> Ink:
    r, g, b = (max(0, min(255, c + by)) for c in ink)
    return r, g, b


def _rect(draw: _Draw, x0: float, y0: float, x1: float, y1: float, ink: Ink) -> None:
    draw.rectangle((SCALE * x0, SCALE * y0, SCALE * x1 - 1, SCALE * y1 - 1), fill=ink)


def _disc(draw: _Draw, x: float, y: float, r: float, ink: Ink, squash: float = 1) -> None:
    draw.ellipse((SCALE * (x - r), SCALE * (y - r * squash), SCALE * (x + r), SCALE * (y + r * squash)), fill=ink)


def _fill(draw: _Draw, shape: Shape, ink: Ink) -> None:
    draw.polygon([(SCALE * x, SCALE * y) for x, y in shape], fill=ink)


def _hills(draw: _Draw, rng: random.Random, top: float, bottom: float, ink: Ink) -> None:
    phase, period = rng.uniform(0, 6.3), rng.uniform(90, 160)
    line = tuple((x, top + 14 * math.sin(phase + x / period)) for x in range(0, WIDTH + 24, 24))
    _fill(draw, (*line, (WIDTH, bottom), (0, bottom)), ink)


def _clouds(draw: _Draw, rng: random.Random, count: int, ink: Ink) -> None:
    for _ in range(count):
        x, y = rng.uniform(40, WIDTH - 40), rng.uniform(30, 110)
        for dx, r in ((-26, 14), (0, 21), (27, 15)):
            _disc(draw, x + dx, y, r, ink, 0.8)


def _bricks(draw: _Draw, y0: int, y1: int, height: int, ink: Ink) -> None:
    for i, y in enumerate(range(y0, y1, height)):
        _rect(draw, 0, y, WIDTH, y + 1.5, ink)
        for x in range(-height * (i % 2), WIDTH, 2 * height):
            _rect(draw, x, y, x + 1.5, min(y + height, y1), ink)


def _boards(draw: _Draw, ink: Ink) -> None:
    for row in range(ROWS):
        y = CELL_HEIGHT * row + _GROUND
        _rect(draw, 0, y, WIDTH, y + 40, ink)
        _rect(draw, 0, y + 40, WIDTH, y + 44, _shade(ink, -60))
        _rect(draw, 0, y + 44, WIDTH, y + 120, _shade(ink, -22))


def _shelf(draw: _Draw, rng: random.Random, wall: Ink, ground: Ink) -> None:
    step = rng.choice((24, 30, 40))
    for x in range(rng.randrange(step), WIDTH, step):
        _rect(draw, x, 0, x + step * 0.4, HEIGHT, _shade(wall, 9))
    _boards(draw, ground)


def _kitchen(draw: _Draw, rng: random.Random, wall: Ink, ground: Ink) -> None:
    step = rng.choice((32, 40))
    for x in range(0, WIDTH, step):
        _rect(draw, x, 0, x + 2, HEIGHT, _shade(wall, -16))
    for y in range(0, HEIGHT, step):
        _rect(draw, 0, y, WIDTH, y + 2, _shade(wall, -16))
    _boards(draw, ground)


def _market(draw: _Draw, rng: random.Random, wall: Ink, ground: Ink) -> None:
    awning = _shade(wall, -50)
    for row in range(ROWS):
        y = row * CELL_HEIGHT
        for i, x in enumerate(range(0, WIDTH, 48)):
            ink = WHITE if i % 2 else awning
            _rect(draw, x, y, x + 48, y + 16, ink)
            _disc(draw, x + 24, y + 16, 23, ink, 0.5)
    _boards(draw, ground)


def _gallery(draw: _Draw, rng: random.Random, wall: Ink, ground: Ink) -> None:
    for row in range(ROWS):
        for column in range(COLUMNS):
            x, y = column * CELL_WIDTH, row * CELL_HEIGHT
            _rect(draw, x + 16, y + 14, x + CELL_WIDTH - 16, y + 188, _shade(wall, -24))
            _rect(draw, x + 19, y + 17, x + CELL_WIDTH - 19, y + 185, _shade(wall, 10))
    _boards(draw, ground)


def _garage(draw: _Draw, rng: random.Random, wall: Ink, ground: Ink) -> None:
    _bricks(draw, 0, HEIGHT, rng.choice((26, 32)), _shade(wall, -18))
    _boards(draw, ground)


def _terraces(draw: _Draw, rng: random.Random, ground: Ink, bank: Ink) -> None:
    _rect(draw, 0, CELL_HEIGHT, WIDTH, CELL_HEIGHT + _GROUND, bank)
    for row in range(ROWS):
        y = CELL_HEIGHT * row + _GROUND
        _rect(draw, 0, y, WIDTH, y + 120, ground)
        for _ in range(24):
            x, dy = rng.uniform(0, WIDTH), rng.uniform(6, 112)
            _rect(draw, x, y + dy, x + 9, y + dy + 2, _shade(ground, -26))
    _rect(draw, 0, CELL_HEIGHT - 3, WIDTH, CELL_HEIGHT, _shade(ground, -60))


def _garden(draw: _Draw, rng: random.Random, wall: Ink, ground: Ink) -> None:
    _clouds(draw, rng, 4, WHITE)
    _hills(draw, rng, 130, 210, _shade(ground, 22))
    _hills(draw, rng, 168, 210, _shade(ground, 12))
    _terraces(draw, rng, ground, (222, 218, 208))
    _bricks(draw, CELL_HEIGHT, CELL_HEIGHT + _GROUND, 25, (200, 195, 184))


def _park(draw: _Draw, rng: random.Random, wall: Ink, ground: Ink) -> None:
    _clouds(draw, rng, 2, WHITE)
    for _ in range(7):
        x, r = rng.uniform(0, WIDTH), rng.uniform(34, 56)
        _rect(draw, x - 5, 130, x + 5, 205, (176, 166, 152))
        _disc(draw, x, 110, r, _shade(ground, rng.choice((-6, 4, 14))))
    _terraces(draw, rng, ground, (226, 232, 214))
    for x in range(0, WIDTH, 40):
        _disc(draw, x, CELL_HEIGHT + 190, 30, (206, 216, 192))


def _beach(draw: _Draw, rng: random.Random, wall: Ink, ground: Ink) -> None:
    _disc(draw, rng.uniform(60, 900), rng.uniform(40, 70), 30, (255, 246, 206))
    _clouds(draw, rng, 2, WHITE)
    _rect(draw, 0, 136, WIDTH, 205, (168, 204, 218))
    for _ in range(16):
        x, y = rng.uniform(0, WIDTH), rng.uniform(142, 190)
        _rect(draw, x, y, x + 44, y + 2, (214, 232, 238))
    _terraces(draw, rng, ground, (226, 214, 196))
    for x in range(0, WIDTH, 30):
        _rect(draw, x, CELL_HEIGHT, x + 2, CELL_HEIGHT + _GROUND, (198, 184, 164))


def _winter(draw: _Draw, rng: random.Random, wall: Ink, ground: Ink) -> None:
    _hills(draw, rng, 120, 210, _shade(wall, 22))
    for _ in range(11):
        x, h = rng.uniform(0, WIDTH), rng.uniform(60, 110)
        for k in (0.0, 0.3, 0.6):
            top, half = 204 - h + k * h * 0.8, 14 + 22 * k
            _fill(draw, ((x, top), (x + half, top + h * 0.42), (x - half, top + h * 0.42)), (156, 178, 176))
    _terraces(draw, rng, ground, (206, 220, 232))
    for _ in range(45):
        _disc(draw, rng.uniform(0, WIDTH), rng.uniform(0, 196), 2.5, WHITE)


def _desert(draw: _Draw, rng: random.Random, wall: Ink, ground: Ink) -> None:
    _disc(draw, rng.uniform(60, 900), rng.uniform(36, 80), 34, (255, 250, 226))
    for _ in range(3):
        x, w, y = rng.uniform(0, WIDTH), rng.uniform(50, 110), rng.uniform(90, 130)
        _fill(draw, ((x - w, 210), (x - 0.7 * w, y), (x + 0.7 * w, y), (x + w, 210)), (224, 202, 164))
    _hills(draw, rng, 180, 210, _shade(ground, -12))
    _terraces(draw, rng, ground, (232, 214, 192))
    for y in (360, 408, 452, 490):
        _hills(draw, rng, y, y + 3, (220, 200, 168))


@dataclass(frozen=True)
class Place:
    """Where a scene is set.

    Attributes:
        draw: Draws walls and ground, given a wall's and a ground's ink, on a picture filled with the former.
        palettes: Pairs of wall and ground.
        cover: What stands in front of a thing there: "a rock".
        cover_art: The shapes of that.
    """

    draw: Callable[[_Draw, random.Random, Ink, Ink], None]
    palettes: tuple[tuple[Ink, Ink], ...]
    cover: str
    cover_art: Cover


_WOODS: tuple[Ink, ...] = ((226, 204, 172), (206, 200, 192), (196, 172, 146))
_SKIES: tuple[Ink, ...] = ((204, 226, 242), (226, 230, 240), (244, 226, 212))


def _palettes(walls: tuple[Ink, ...], grounds: tuple[Ink, ...]) -> tuple[tuple[Ink, Ink], ...]:
    return tuple((wall, ground) for wall in walls for ground in grounds)


PLACES: Mapping[str, Place] = {
    "beach": Place(_beach, _palettes(_SKIES, ((240, 226, 190), (232, 218, 200))), "a rock", _ROCK),
    "desert": Place(
        _desert,
        _palettes(((250, 232, 206), (216, 230, 240)), ((238, 214, 176), (232, 212, 172))),
        "a rock",
        _ROCK,
    ),
    "gallery": Place(_gallery, _palettes(((224, 222, 218), (214, 224, 222), (232, 220, 214)), _WOODS), "a box", _BOX),
    "garage": Place(_garage, _palettes(((226, 208, 196), (214, 216, 220), (228, 222, 206)), _WOODS), "a box", _BOX),
    "garden": Place(_garden, _palettes(_SKIES, ((190, 212, 166), (206, 216, 176))), "a bush", _BUSH),
    "kitchen": Place(_kitchen, _palettes(((236, 240, 240), (222, 234, 232), (242, 236, 222)), _WOODS), "a box", _BOX),
    "market": Place(_market, _palettes(((212, 220, 226), (226, 216, 206), (218, 224, 210)), _WOODS), "a sack", _SACK),
    "park": Place(_park, _palettes(_SKIES, ((196, 214, 172), (214, 220, 184))), "a bush", _BUSH),
    "shelf": Place(
        _shelf,
        _palettes(((228, 224, 236), (222, 232, 224), (240, 228, 216), (218, 228, 238)), _WOODS),
        "a box",
        _BOX,
    ),
    "winter": Place(
        _winter,
        _palettes(((200, 216, 232), (220, 222, 234)), ((236, 241, 246),)),
        "a heap of snow",
        _SNOW,
    ),
}


def draw_backdrop(place: Place, rng: random.Random) -> Image.Image:
    """A place without things, at `SCALE` times the size of the picture, a post between any two columns."""
    wall, ground = rng.choice(place.palettes)
    canvas = Image.new("RGB", (SCALE * WIDTH, SCALE * HEIGHT), wall)
    draw = ImageDraw.Draw(canvas)
    place.draw(draw, rng, wall, ground)
    for column in range(1, COLUMNS):
        x = column * CELL_WIDTH
        _rect(draw, x - 2, 0, x + 2, HEIGHT, (150, 140, 128))
    return canvas
