"""The kinds of things in a still scene, each drawn in its unit square.

Only a thing's body has a hue and a pattern; all its other parts are white, grey or dark, so its colour is
never in doubt. Width and height of all kinds, averaged, are about one side of the unit square, so that small,
medium and large things can be told apart whatever their kinds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from condchain_tasks.synth.natural_pen import (
    COLOURS,
    DARK,
    GREY,
    LIGHT,
    OUTLINE,
    WHITE,
    Pen,
    Point,
    arc,
    box,
    oval,
    smooth,
)

_Extras = Mapping[str, str | int | bool]


def _steam(pen: Pen, x: float, y: float) -> None:
    for k in (-0.17, 0, 0.17):
        wave = tuple((x + k + 0.035 * math.sin(2.1 * i), y - 0.05 * i) for i in range(6))
        pen.line(wave, DARK, max(5, 0.035 * pen.side))


def _puffs(pen: Pen, *puffs: tuple[float, float, float]) -> None:
    pen.part(WHITE, *(oval(x, y, r, r) for x, y, r in puffs))


def _pennant(pen: Pen, x: float, y: float) -> None:
    pen.line(((x, y + 0.26), (x, y)), width=max(6, 0.03 * pen.side))
    pen.part(WHITE, ((x, y), (x + 0.27, y + 0.085), (x, y + 0.17)))


def _mug(pen: Pen, extras: _Extras) -> None:
    pen.stroke(arc(0.2, 0.58, 0.2, 0.22, 90, 270), COLOURS[pen.colour], 0.08)
    pen.body(box(0.2, 0.16, 0.9, 1, 0.09))
    pen.part(DARK, oval(0.55, 0.18, 0.35, 0.07))
    if extras["steam"]:
        _steam(pen, 0.55, 0.08)


def _lamp(pen: Pen, extras: _Extras) -> None:
    lit = bool(extras["lit"])
    pen.stroke(((0.5, 0.5), (0.5, 0.95)), GREY, 0.06)
    pen.part(GREY, box(0.25, 0.92, 0.75, 1, 0.03))
    pen.part(WHITE if lit else DARK, oval(0.5, 0.5, 0.12, 0.12))
    pen.body(((0.3, 0), (0.7, 0), (0.95, 0.5), (0.05, 0.5)))
    if lit:
        for k in (-0.36, -0.2, 0.2, 0.36):
            pen.line(((0.5 + k, 0.58), (0.5 + 1.35 * k, 0.76)), width=max(5, 0.035 * pen.side))


def _chair(pen: Pen, extras: _Extras) -> None:
    for x in (0.2, 0.8):
        pen.stroke(((x, 0.4), (x, 1)), GREY, 0.07)
    pen.body(box(0.15, 0, 0.85, 0.46, 0.08))
    pen.body(box(0.08, 0.54, 0.92, 0.72, 0.04))
    if extras["ball"]:
        pen.part(WHITE, oval(0.5, 0.41, 0.13, 0.13))
        pen.line(arc(0.5, 0.41, 0.05, 0.12, 90, 270))
        pen.line(((0.37, 0.41), (0.62, 0.41)))


def _book(pen: Pen, extras: _Extras) -> None:
    if extras["bookmark"]:
        pen.part(WHITE, ((0.58, 0.2), (0.58, -0.2), (0.66, -0.12), (0.74, -0.2), (0.74, 0.2)))
    pen.part(LIGHT, box(0.2, 0.07, 0.92, 0.97))
    for x in (0.875, 0.9):
        pen.line(((x, 0.09), (x, 0.95)), GREY, 2)
    pen.body(box(0.12, 0.02, 0.84, 1, 0.03))
    pen.line(((0.22, 0.03), (0.22, 0.99)), width=6)
    pen.part(WHITE, box(0.34, 0.16, 0.74, 0.36))
    for y in (0.23, 0.3):
        pen.line(((0.4, y), (0.68, y)), GREY)


def _umbrella(pen: Pen, extras: _Extras) -> None:
    pen.line((*((0.5, y) for y in (-0.07, 0.9)), *arc(0.41, 0.9, 0.09, 0.09, 0, 180)), OUTLINE, 0.05 * pen.side)
    scallops = [arc(0.875 - 0.25 * i, 0.52, 0.125, 0.07, 0, -180) for i in range(4)]
    pen.body((*arc(0.5, 0.52, 0.5, 0.5, 180, 360), *(p for s in scallops for p in s)))
    for x in (0.25, 0.75):
        pen.line(((x, 0.47), (0.5 + (x - 0.5) * 0.7, 0.22), (0.5, 0.02)))
    if extras["rain"]:
        for x, y in ((0.02, 0.02), (0.2, -0.12), (0.36, -0.02), (0.64, -0.16), (0.78, 0), (0.98, -0.04)):
            pen.line(((x, y), (x - 0.04, y + 0.1)), DARK, max(5, 0.03 * pen.side))


def _kite(pen: Pen, extras: _Extras) -> None:
    pen.stroke(((0.5, 0.7), (0.5, 1)), GREY, 0.04)
    if extras["tail"]:
        tail = ((0.5, 0.8), (0.6, 0.88), (0.72, 0.82), (0.84, 0.86), (0.96, 0.74), (1.08, 0.76))
        pen.line(tail, width=max(4, 0.02 * pen.side))
        for x, y in (tail[2], tail[4]):
            pen.part(WHITE, ((x - 0.08, y - 0.08), (x, y), (x - 0.08, y + 0.08)))
            pen.part(WHITE, ((x + 0.08, y - 0.08), (x, y), (x + 0.08, y + 0.08)))
    pen.body(((0.5, -0.05), (0.95, 0.34), (0.5, 0.84), (0.05, 0.34)))
    pen.line(((0.5, -0.05), (0.5, 0.84)))
    pen.line(((0.05, 0.34), (0.95, 0.34)))


def _fish(pen: Pen, extras: _Extras) -> None:
    pen.stroke(((0.5, 0.7), (0.5, 0.95)), GREY, 0.05)
    pen.part(GREY, box(0.34, 0.93, 0.66, 1, 0.02))
    body = smooth((-0.04, 0.5), (0.2, 0.26), (0.5, 0.2), (0.85, 0.46), (0.85, 0.54), (0.5, 0.8), (0.2, 0.74))
    pen.body(
        body,
        ((0.8, 0.5), (1.08, 0.24), (1.02, 0.5), (1.08, 0.76)),
        ((0.36, 0.24), (0.62, 0.06), (0.68, 0.32)),
    )
    pen.part(WHITE, oval(0.16, 0.44, 0.07, 0.07))
    pen.draw.polygon(pen.at(oval(0.15, 0.45, 0.035, 0.035)), fill=OUTLINE)
    pen.line(arc(0.24, 0.5, 0.08, 0.2, -60, 60), width=6)
    if extras["bubbles"]:
        for x, y, r in ((-0.06, 0.2, 0.05), (0.06, 0.02, 0.07), (-0.04, -0.16, 0.06)):
            pen.part(WHITE, oval(x, y, r, r))


def _house(pen: Pen, extras: _Extras) -> None:
    pen.part(GREY, box(0.68, 0.06, 0.82, 0.4))
    pen.body(box(0.1, 0.4, 0.9, 1))
    pen.part(DARK, ((0.5, 0), (1.02, 0.44), (-0.02, 0.44)))
    pen.part(LIGHT, box(0.56, 0.6, 0.76, 1))
    pen.part(WHITE, box(0.2, 0.56, 0.42, 0.76))
    pen.line(((0.31, 0.56), (0.31, 0.76)))
    pen.line(((0.2, 0.66), (0.42, 0.66)))
    if extras["smoke"]:
        _puffs(pen, (0.76, 0, 0.06), (0.84, -0.12, 0.08), (0.96, -0.22, 0.1))


def _boat(pen: Pen, extras: _Extras) -> None:
    pen.line(((0.48, 0), (0.48, 0.72)), width=0.05 * pen.side)
    pen.body(((0.53, 0.06), (0.95, 0.6), (0.53, 0.6)))
    pen.body(((0.43, 0.16), (0.43, 0.6), (0.12, 0.6)))
    pen.body(((-0.02, 0.68), (1.02, 0.68), (0.84, 1), (0.16, 1)))
    if extras["flag"]:
        _pennant(pen, 0.48, -0.2)


def _guitar(pen: Pen, extras: _Extras) -> None:
    pen.part(DARK, box(0.45, -0.1, 0.55, 0.5), box(0.42, -0.2, 0.58, -0.06))
    pen.body(
        smooth(
            (0.5, 0.3), (0.71, 0.36), (0.69, 0.54), (0.82, 0.72), (0.74, 0.94),
            (0.5, 1), (0.26, 0.94), (0.18, 0.72), (0.31, 0.54), (0.29, 0.36),
        )
    )  # fmt: skip
    pen.part(DARK, oval(0.5, 0.56, 0.09, 0.09))
    pen.part(DARK, box(0.4, 0.79, 0.6, 0.84))
    for x in (0.48, 0.52):
        pen.line(((x, -0.1), (x, 0.8)), LIGHT, 2)
    if extras["notes"]:
        # A note's stem is on its right, in a mirrored guitar too.
        right = -1 if pen.mirrored else 1
        for x, y in ((0.12, 0.22), (0.86, 0.16)):
            stem, flag = x + 0.06 * right, x + 0.15 * right
            pen.draw.polygon(pen.at(oval(x, y, 0.075, 0.055)), fill=OUTLINE)
            pen.line(((stem, y), (stem, y - 0.27), (flag, y - 0.19)), width=max(5, 0.035 * pen.side))


_HANDS: Mapping[str, Point] = {
    "three o'clock": (0.15, 0),
    "six o'clock": (0, 0.15),
    "nine o'clock": (-0.15, 0),
    "twelve o'clock": (0, -0.15),
}


def _clock(pen: Pen, extras: _Extras) -> None:
    pen.part(GREY, box(0, 0.92, 1, 1))
    pen.body((*arc(0.5, 0.44, 0.44, 0.44, 180, 360), (0.94, 0.92), (0.06, 0.92)))
    pen.part(WHITE, oval(0.5, 0.44, 0.29, 0.29))
    for dx, dy in _HANDS.values():
        pen.line(((0.5 + 1.6 * dx, 0.44 + 1.6 * dy), (0.5 + 1.85 * dx, 0.44 + 1.85 * dy)), width=5)
    hour = _HANDS[str(extras["time"])]
    # A mirrored clock would show another hour.
    dx = -hour[0] if pen.mirrored else hour[0]
    pen.line(((0.5, 0.44), (0.5, 0.22)), width=max(4, 0.025 * pen.side))
    pen.line(((0.5, 0.44), (0.5 + dx, 0.44 + hour[1])), width=max(8, 0.06 * pen.side))


def _teapot(pen: Pen, extras: _Extras) -> None:
    pen.stroke(arc(0.84, 0.6, 0.22, 0.2, -110, 110), COLOURS[pen.colour], 0.08)
    pen.body(
        oval(0.52, 0.66, 0.37, 0.34),
        ((0.24, 0.84), (0.02, 0.5), (-0.1, 0.42), (-0.04, 0.34), (0.12, 0.4), (0.3, 0.6)),
    )
    pen.part(LIGHT, arc(0.52, 0.37, 0.24, 0.11, 180, 360))
    pen.part(LIGHT, oval(0.52, 0.22, 0.055, 0.055))
    if extras["steam"]:
        _steam(pen, 0.02, 0.26)


def _backpack(pen: Pen, extras: _Extras) -> None:
    pen.line(arc(0.5, 0.1, 0.13, 0.12, 180, 360), width=0.06 * pen.side)
    pen.part(GREY, box(0.02, 0.48, 0.2, 0.9, 0.06), box(0.8, 0.48, 0.98, 0.9, 0.06))
    pen.body(box(0.13, 0.08, 0.87, 1, 0.2))
    pen.line(((0.14, 0.36), (0.3, 0.42), (0.7, 0.42), (0.86, 0.36)), width=6)
    pen.part(LIGHT, box(0.45, 0.36, 0.55, 0.5))
    if extras["pocket"]:
        pen.part(WHITE, box(0.27, 0.58, 0.73, 0.9, 0.06))
        pen.line(((0.33, 0.67), (0.67, 0.67)), width=6)


def _cactus(pen: Pen, extras: _Extras) -> None:
    pen.body(
        box(0.36, 0, 0.64, 0.8, 0.13),
        box(0.06, 0.22, 0.24, 0.56, 0.08),
        box(0.06, 0.42, 0.5, 0.58, 0.07),
        box(0.76, 0.14, 0.94, 0.48, 0.08),
        box(0.5, 0.34, 0.94, 0.5, 0.07),
    )
    pen.part(GREY, ((0.26, 0.76), (0.74, 0.76), (0.68, 1), (0.32, 1)))
    pen.part(LIGHT, box(0.22, 0.7, 0.78, 0.79))
    if extras["bloom"]:
        _flower(pen, 0.5, -0.06, 0.15)


def _flower(pen: Pen, x: float, y: float, r: float) -> None:
    turns = [math.radians(72 * i - 90) for i in range(5)]
    pen.part(
        WHITE,
        *(oval(x + 0.6 * r * math.cos(a), y + 0.6 * r * math.sin(a), 0.46 * r, 0.46 * r) for a in turns),
    )
    pen.draw.polygon(pen.at(oval(x, y, 0.36 * r, 0.36 * r)), fill=DARK)


def _balloon(pen: Pen, extras: _Extras) -> None:
    if extras["basket"]:
        for k in (-1, 1):
            pen.line(((0.5 + 0.3 * k, 0.5), (0.5 + 0.1 * k, 0.84)), width=5)
        pen.part(LIGHT, box(0.37, 0.82, 0.63, 1))
        pen.line(((0.37, 0.91), (0.63, 0.91)))
        pen.line(((0.5, 0.82), (0.5, 1)))
    else:
        pen.line(((0.5, 0.7), (0.47, 0.8), (0.53, 0.9), (0.5, 1)), width=5)
    pen.body(smooth((0.5, -0.06), (0.86, 0.16), (0.84, 0.46), (0.56, 0.72), (0.44, 0.72), (0.16, 0.46), (0.14, 0.16)))


def _hat(pen: Pen, extras: _Extras) -> None:
    pen.body(oval(0.5, 0.88, 0.54, 0.12))
    pen.body(smooth((0.22, 0.86), (0.24, 0.4), (0.36, 0.22), (0.64, 0.22), (0.76, 0.4), (0.78, 0.86), (0.5, 0.92)))
    pen.part(DARK, ((0.22, 0.68), (0.78, 0.68), (0.78, 0.84), (0.5, 0.88), (0.22, 0.84)))
    if extras["feather"]:
        pen.part(WHITE, smooth((0.66, 0.78), (0.7, 0.4), (0.9, 0.04), (1.04, -0.04), (1, 0.2), (0.82, 0.56)))
        pen.line(((0.67, 0.78), (0.8, 0.4), (1.0, 0.02)))


def _drum(pen: Pen, extras: _Extras) -> None:
    pen.body((*arc(0.5, 0.26, 0.46, 0.12, 180, 360), *arc(0.5, 0.88, 0.46, 0.12, 0, 180)))
    pen.stroke(arc(0.5, 0.86, 0.46, 0.12, 0, 180), GREY, 0.06)
    pen.part(GREY, oval(0.5, 0.29, 0.48, 0.14))
    pen.part(WHITE, oval(0.5, 0.26, 0.46, 0.13))
    if extras["sticks"]:
        for x0, x1 in ((0.3, 0.78), (0.7, 0.22)):
            pen.stroke(((x0, 0.3), (x1, -0.18)), LIGHT, 0.045)
            pen.part(DARK, oval(x0, 0.3, 0.05, 0.05))


def _bell(pen: Pen, extras: _Extras) -> None:
    pen.line(oval(0.5, 0.08, 0.09, 0.09), width=0.05 * pen.side)
    pen.part(DARK, oval(0.5, 0.9, 0.11, 0.1))
    pen.body(
        smooth(
            (0.5, 0.12), (0.7, 0.22), (0.77, 0.5), (0.84, 0.74), (0.96, 0.86),
            (0.5, 0.9), (0.04, 0.86), (0.16, 0.74), (0.23, 0.5), (0.3, 0.22),
        )
    )  # fmt: skip
    if extras["ringing"]:
        for k in (-1, 1):
            for r in (0.48, 0.6):
                middle = 0 if k > 0 else 180
                pen.line(arc(0.5, 0.4, r, r, middle - 22, middle + 22), width=max(5, 0.035 * pen.side))


def _vase(pen: Pen, extras: _Extras) -> None:
    count = int(extras["flowers"])
    heads = [(0.5 + 0.26 * (i - (count - 1) / 2), (0.06, -0.1)[i % 2]) for i in range(count)]
    for x, y in heads:
        pen.line(((0.5 + 0.25 * (x - 0.5), 0.42), (x, y)), DARK, max(4, 0.025 * pen.side))
    for x, y in heads:
        _flower(pen, x, y, 0.15)
    pen.body(
        smooth(
            (0.34, 0.34), (0.66, 0.34), (0.62, 0.46), (0.84, 0.68), (0.68, 0.98),
            (0.5, 1), (0.32, 0.98), (0.16, 0.68), (0.38, 0.46),
        )
    )  # fmt: skip


def _car(pen: Pen, extras: _Extras) -> None:
    if extras["suitcase"]:
        pen.part(GREY, box(0.4, 0.06, 0.8, 0.3, 0.03))
        pen.line(((0.54, 0.05), (0.54, -0.02), (0.66, -0.02), (0.66, 0.05)), width=max(5, 0.03 * pen.side))
        for x in (0.48, 0.72):
            pen.line(((x, 0.06), (x, 0.3)))
    pen.body(
        ((0.2, 0.6), (0.34, 0.3), (0.84, 0.3), (0.98, 0.6)),
        box(-0.1, 0.54, 1.1, 0.88, 0.1),
    )
    pen.part(WHITE, ((0.3, 0.55), (0.39, 0.37), (0.55, 0.37), (0.55, 0.55)))
    pen.part(WHITE, ((0.62, 0.55), (0.62, 0.37), (0.79, 0.37), (0.87, 0.55)))
    pen.part(WHITE, oval(-0.05, 0.67, 0.05, 0.06))
    for x in (0.16, 0.84):
        pen.part(DARK, oval(x, 0.87, 0.13, 0.13))
        pen.draw.polygon(pen.at(oval(x, 0.87, 0.06, 0.06)), fill=LIGHT)


def _robot(pen: Pen, extras: _Extras) -> None:
    if extras["antenna"]:
        pen.line(((0.5, 0.1), (0.5, -0.14)), width=max(6, 0.04 * pen.side))
        pen.part(WHITE, oval(0.5, -0.16, 0.07, 0.07))
    for k in (-1, 1):
        pen.stroke(((0.5 + 0.3 * k, 0.48), (0.5 + 0.46 * k, 0.58), (0.5 + 0.46 * k, 0.74)), GREY, 0.08)
        pen.part(GREY, box(0.5 + 0.18 * k - 0.09, 0.8, 0.5 + 0.18 * k + 0.09, 1, 0.03))
    pen.body(box(0.2, 0.4, 0.8, 0.86, 0.06))
    pen.body(box(0.25, 0.04, 0.75, 0.38, 0.06))
    for x in (0.39, 0.61):
        pen.part(WHITE, oval(x, 0.17, 0.07, 0.07))
        pen.draw.polygon(pen.at(oval(x, 0.17, 0.03, 0.03)), fill=OUTLINE)
    pen.part(LIGHT, box(0.36, 0.28, 0.64, 0.33))


def _birdhouse(pen: Pen, extras: _Extras) -> None:
    pen.stroke(((0.5, 0.7), (0.5, 1)), GREY, 0.09)
    pen.body(((0.5, 0.08), (0.82, 0.36), (0.82, 0.8), (0.18, 0.8), (0.18, 0.36)))
    pen.stroke(((0.06, 0.42), (0.5, 0.04), (0.94, 0.42)), DARK, 0.07)
    pen.part(DARK, oval(0.5, 0.46, 0.12, 0.12))
    pen.stroke(((0.5, 0.66), (0.5, 0.72)), LIGHT, 0.05)
    if extras["bird"]:
        pen.part(DARK, ((0.33, -0.15), (0.24, -0.12), (0.33, -0.09)))
        pen.part(
            WHITE,
            oval(0.42, -0.12, 0.09, 0.09),
            smooth((0.36, -0.08), (0.52, -0.12), (0.72, -0.1), (0.6, 0.03), (0.44, 0.03)),
        )
        pen.draw.polygon(pen.at(oval(0.4, -0.14, 0.022, 0.022)), fill=OUTLINE)


def _rocket(pen: Pen, extras: _Extras) -> None:
    if extras["smoke"]:
        _puffs(
            pen,
            (0.14, 0.93, 0.12),
            (0.34, 0.95, 0.11),
            (0.5, 0.93, 0.13),
            (0.68, 0.95, 0.11),
            (0.88, 0.93, 0.12),
        )
    pen.body(((0.3, 0.5), (0.06, 0.84), (0.34, 0.78)), ((0.7, 0.5), (0.94, 0.84), (0.66, 0.78)))
    pen.part(DARK, ((0.4, 0.8), (0.6, 0.8), (0.66, 0.9), (0.34, 0.9)))
    pen.body(smooth((0.5, -0.08), (0.66, 0.12), (0.73, 0.42), (0.66, 0.82), (0.34, 0.82), (0.27, 0.42), (0.34, 0.12)))
    pen.part(GREY, oval(0.5, 0.3, 0.12, 0.12))
    pen.part(WHITE, oval(0.5, 0.3, 0.075, 0.075))


def _cake(pen: Pen, extras: _Extras) -> None:
    count = int(extras["candles"])
    for i in range(count):
        x = 0.5 + 0.19 * (i - (count - 1) / 2)
        pen.part(DARK, smooth((x, -0.02), (x + 0.04, 0.07), (x, 0.11), (x - 0.04, 0.07)))
        pen.stroke(((x, 0.15), (x, 0.44)), WHITE, 0.05)
    pen.part(LIGHT, box(-0.02, 0.94, 1.02, 1, 0.02))
    pen.body(box(0.06, 0.4, 0.94, 0.95, 0.04))
    drips = [(0.94 - 0.11 * i, 0.6 if i % 2 else 0.5) for i in range(9)]
    pen.part(WHITE, ((0.06, 0.42), (0.1, 0.38), (0.9, 0.38), (0.94, 0.42), *drips))


def _bucket(pen: Pen, extras: _Extras) -> None:
    pen.part(DARK, oval(0.5, 0.2, 0.46, 0.12))
    if extras["spade"]:
        pen.stroke(((0.62, 0.26), (0.7, -0.12)), LIGHT, 0.06)
        pen.stroke(((0.58, -0.15), (0.82, -0.1)), LIGHT, 0.06)
    pen.body((*arc(0.5, 0.2, 0.46, 0.12, 180, 0), *arc(0.5, 0.91, 0.32, 0.09, 0, 180)))
    pen.line(arc(0.5, 0.2, 0.47, 0.4, 10, 170), OUTLINE, 0.05 * pen.side)


def _shirt(pen: Pen, extras: _Extras) -> None:
    if extras["hanger"]:
        pen.line(
            (*arc(0.5, -0.1, 0.07, 0.07, 180, 400), (0.5, 0.02), (0.5, 0.14)),
            OUTLINE,
            max(6, 0.04 * pen.side),
        )
        pen.stroke(((0.1, 0.2), (0.5, 0.04), (0.9, 0.2)), LIGHT, 0.05)
    pen.body(
        ((0.32, 0.08), (0.4, 0.16), (0.5, 0.19), (0.6, 0.16), (0.68, 0.08), (1.04, 0.3), (0.92, 0.52),
         (0.78, 0.44), (0.78, 1), (0.22, 1), (0.22, 0.44), (0.08, 0.52), (-0.04, 0.3))
    )  # fmt: skip
    pen.line(arc(0.5, 0.07, 0.2, 0.14, 10, 170), OUTLINE, max(6, 0.05 * pen.side))


def _tent(pen: Pen, extras: _Extras) -> None:
    if extras["flag"]:
        _pennant(pen, 0.5, -0.2)
    pen.body(((0.5, 0.04), (1.08, 1), (-0.08, 1)))
    pen.part(DARK, ((0.5, 0.4), (0.68, 1), (0.32, 1)))
    pen.line(((0.5, 0.04), (0.5, 0.4)))


def _apple(pen: Pen, extras: _Extras) -> None:
    pen.line(((0.5, 0.3), (0.54, 0.02)), width=0.06 * pen.side)
    if extras["leaf"]:
        pen.part(WHITE, smooth((0.55, 0.14), (0.68, -0.04), (0.94, -0.06), (0.84, 0.12), (0.68, 0.18)))
        pen.line(((0.56, 0.14), (0.84, 0)))
    pen.body(
        smooth(
            (0.5, 0.28), (0.68, 0.2), (0.92, 0.34), (0.94, 0.62), (0.74, 0.96), (0.5, 0.95),
            (0.26, 0.96), (0.06, 0.62), (0.08, 0.34), (0.32, 0.2),
        )
    )  # fmt: skip


@dataclass(frozen=True)
class Kind:
    """How a kind of thing is drawn.

    Attributes:
        draw: Draws it.
        bow: Where a bow is tied to it.
        cover: Middle and top of what hides a part of it.
    """

    draw: Callable[[Pen, _Extras], None]
    bow: Point
    cover: Point = (0.86, 0.64)


KINDS: Mapping[str, Kind] = {
    "apple": Kind(_apple, (0.3, 0.2)),
    "backpack": Kind(_backpack, (0.2, 0.14)),
    "balloon": Kind(_balloon, (0.24, 0.12), (0.88, 0.42)),
    "bell": Kind(_bell, (0.5, 0.18)),
    "birdhouse": Kind(_birdhouse, (0.84, 0.26), (0.72, 0.66)),
    "boat": Kind(_boat, (0.2, 0.66)),
    "book": Kind(_book, (0.22, 0.1)),
    "bucket": Kind(_bucket, (0.14, 0.26)),
    "cactus": Kind(_cactus, (0.5, 0.34), (0.72, 0.62)),
    "cake": Kind(_cake, (0.06, 0.48)),
    "car": Kind(_car, (0.26, 0.5), (0.88, 0.6)),
    "chair": Kind(_chair, (0.2, 0.04)),
    "clock": Kind(_clock, (0.5, 0.02), (0.88, 0.66)),
    "drum": Kind(_drum, (0.12, 0.36)),
    "fish": Kind(_fish, (0.6, 0.2), (0.68, 0.58)),
    "guitar": Kind(_guitar, (0.5, 0.06), (0.72, 0.66)),
    "hat": Kind(_hat, (0.32, 0.34), (0.2, 0.66)),
    "house": Kind(_house, (0.2, 0.4), (0.88, 0.66)),
    "kite": Kind(_kite, (0.5, -0.02), (0.2, 0.54)),
    "lamp": Kind(_lamp, (0.5, 0.02), (0.68, 0.72)),
    "mug": Kind(_mug, (0.32, 0.26)),
    "robot": Kind(_robot, (0.5, 0.4), (0.82, 0.62)),
    "rocket": Kind(_rocket, (0.26, 0.66), (0.82, 0.66)),
    "shirt": Kind(_shirt, (0.5, 0.22), (0.8, 0.64)),
    "teapot": Kind(_teapot, (0.74, 0.4)),
    "tent": Kind(_tent, (0.24, 0.56)),
    "umbrella": Kind(_umbrella, (0.5, 0.66), (0.88, 0.32)),
    "vase": Kind(_vase, (0.5, 0.46), (0.82, 0.68)),
}
