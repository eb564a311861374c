"""Draws charts from their facts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from condchain_tasks.synth.chart_sheet import Box, Sheet, wedge
from condchain_tasks.synth.chart_themes import TIME_AXES, Theme, TimeAxis
from condchain_tasks.synth.world import Scalar

Facts = Mapping[str, Scalar]

_COLOURS = {
    "red": "#dc1c1c",
    "orange": "#ff8a00",
    "yellow": "#f9d200",
    "green": "#17923a",
    "blue": "#2060dd",
    "purple": "#7a22b8",
    "pink": "#ff82c3",
    "brown": "#84502a",
}
_INKS = {
    "black": "#000000",
    "red": "#d01010",
    "green": "#0b8030",
    "blue": "#1a4fd0",
    "purple": "#8a1fc0",
    "orange": "#f07800",
}
_TINTS = {
    "white": "#ffffff",
    "grey": "#d6d6d6",
    "light green": "#d6f3d6",
    "pink": "#ffdcec",
    "light blue": "#cfe8ff",
}
_PALE = ("yellow", "orange", "pink")  # a hatch on these must be dark
_HATCHES = {
    "a plain colour": "",
    "diagonal stripes": "//",
    "horizontal stripes": "--",
    "vertical stripes": "||",
    "dots": "..",
    "a square grid": "++",
}
_SIGNS = {
    **{letter: letter for letter in "ABCDEF"},
    **{"up": "↑", "down": "↓", "left": "←", "right": "→"},
    **{"a heart": "♥", "a spade": "♠", "a club": "♣", "a diamond": "♦"},
}
_MARKERS = {"circles": "o", "squares": "s", "triangles": "^", "diamonds": "D", "stars": "*", "crosses": "X"}
_MARKER_SIZES = {"stars": 16, "diamonds": 10}


@dataclass(frozen=True)
class Look:
    """How a chart looks apart from the facts of its subjects.

    Attributes:
        kind: What the chart is.
        theme: What it is about.
        size: Width and height in pixels.
        background: Colour of the paper.
        family: Typeface, "sans" or "serif".
        grid: Whether faint lines mark the value axis's numbers.
        title: The title, with {topic} and {year}.
        top: Upper end of the value axis.
        horizontal: Whether bars lie.
        thickness: Of a bar, as a share of its place.
        hole: Of a pie, as a share of its radius.
        time: Time axis of a line chart.
        curves: Values of each line at the points of the time axis.
    """

    kind: Literal["bar", "line", "pie"]
    theme: Theme
    size: tuple[int, int]
    background: str
    family: Literal["sans", "serif"]
    grid: bool
    title: str
    top: int = 100
    horizontal: bool = False
    thickness: float = 0.7
    hole: float = 0.0
    time: TimeAxis = TIME_AXES[0]
    curves: tuple[tuple[int, ...], ...] = ()


def draw_chart(facts: Mapping[str, Facts], look: Look) -> bytes:
    """Draws a chart.

    Args:
        facts: Facts of every subject by id; bars, lines and slices in their order.
        look: The rest.

    Returns:
        A PNG file.
    """
    sheet = Sheet(look.size, look.background, look.family)
    _title(sheet, facts["title"], look)
    _footnote(sheet, facts["footnote"])
    elements = [each for each in facts.values() if each["part"] in ("bar", "line", "slice")]
    {"bar": _bars, "line": _lines, "pie": _pie}[look.kind](sheet, facts, elements, look)
    return sheet.png()


def _title(sheet: Sheet, facts: Facts, look: Look) -> None:
    text = look.title.format(topic=look.theme.topic, year=facts["year"])
    _loose_text(sheet, text.upper() if facts.get("capitals") else text, sheet.height - 32, 18, facts, bold=True)


def _footnote(sheet: Sheet, facts: Facts) -> None:
    text = f"Source: {facts['source']}, page {facts['page']}"
    _loose_text(sheet, text, 20, 12.5, facts, bold=bool(facts.get("bold")))


def _loose_text(sheet: Sheet, text: str, y: float, size: float, facts: Facts, bold: bool) -> None:
    x = {"left": 24.0, "centre": sheet.width / 2, "right": sheet.width - 24.0}[str(facts["side"])]
    ink = _INKS[str(facts["ink"])]
    align: Any = facts["side"]
    italic = bool(facts.get("italic"))
    box = sheet.text(x, y, text, size, colour=ink, bold=bold, italic=italic, align=align)
    if facts.get("underlined"):
        sheet.segments([(box.x, box.y - 0.5, box.right, box.y - 0.5)], ink, 1.6)
    if facts.get("framed"):
        sheet.stroke(box.grown(7).path(), "black", 1.5)


def _axis(sheet: Sheet, facts: Facts, box: Box, title: str, title_at: float, ticks: Sequence[float]) -> None:
    """An axis along the lower or left edge of `box`, its title centred on `title_at` across it."""
    level = facts["part"] == "x axis"
    line_ink, title_ink = _INKS[str(facts["line_ink"])], _INKS[str(facts["title_ink"])]
    end = (box.right + 12, box.y) if level else (box.x, box.top + 12)
    sheet.segments([(box.x, box.y, *end)], line_ink, 5.0 if facts["thick"] else 1.3)
    if facts["arrowhead"]:
        sheet.marks([end], ">" if level else "^", 14, line_ink, line_ink)
    if facts.get("ticks"):
        marks = [(t, box.y, t, box.y - 9) if level else (box.x, t, box.x - 9, t) for t in ticks]
        sheet.segments(marks, line_ink, 2.0)
    low, high = (box.x, box.right) if level else (box.y, box.top)
    align, along = {
        "start": ("left", low),
        "middle": ("centre", (low + high) / 2),
        "end": ("right", high),
    }[str(facts["title_end"])]
    around = sheet.text(
        *((along, title_at) if level else (title_at, along)),
        title,
        14,
        colour=title_ink,
        bold=bool(facts.get("title_bold")),
        italic=bool(facts.get("title_italic")),
        align=align,  # type: ignore[arg-type]
        upright=level,
    )
    if facts.get("title_framed"):
        sheet.stroke(around.grown(4).path(), "black", 1.2)


def _scale(sheet: Sheet, box: Box, look: Look, across: bool) -> Callable[[float], float]:
    """Numbers the value axis; returns the place of a value on it. `across` is for lying bars."""
    low, length = (box.x, box.width) if across else (box.y, box.height)

    def place(value: float) -> float:
        return low + length * value / look.top

    steps = [(place(value), str(value)) for value in range(0, look.top, 20)]
    if look.grid:
        lines = [(at, box.y, at, box.top) if across else (box.x, at, box.right, at) for at, _ in steps[1:]]
        sheet.segments(lines, "#d4d4d4", 1.0)
    for at, number in steps:
        if across:
            sheet.text(at, box.y - 20, number, 12)
        else:
            sheet.text(box.x - 14, at, number, 12, align="right")
    return place


def _hatch(facts: Facts) -> tuple[str, str, str]:
    colour = str(facts["colour"])
    return _COLOURS[colour], _HATCHES[str(facts["pattern"])], "black" if colour in _PALE else "white"


def _badges(sheet: Sheet, elements: Sequence[Facts], points: Sequence[tuple[float, float]]) -> None:
    """The letters, arrows or signs on bars or slices, in white discs; all have one or none has."""
    key = next((key for key in ("letter", "arrow", "sign") if key in elements[0]), None)
    if key:
        sheet.marks(points, "o", 28, "white", "black")
        for facts, (x, y) in zip(elements, points, strict=True):
            sheet.text(x, y, _SIGNS[str(facts[key])], 20, bold=True, family="sans")


def _star(sheet: Sheet, x: float, y: float) -> None:
    sheet.text(x, y, "★", 16, family="sans")


def _label(sheet: Sheet, facts: Facts, text: str, x: float, y: float, size: float, align: Any) -> None:
    """A bar's or slice's label with its frame, and the dots under it."""
    box = sheet.text(x, y, text, size, bold=bool(facts.get("bold")), align=align)
    if facts.get("boxed"):
        sheet.stroke(Box(box.x - 4, y - 9.5, box.width + 8, 19).path(), "black", 1.3)
    n = int(facts.get("dots", 0))
    left = {
        "left": box.x + 3,
        "centre": (box.x + box.right - 10 * (n - 1)) / 2,
        "right": box.right - 10 * n + 7,
    }
    for i in range(n):
        sheet.text(left[align] + 10 * i, y - 17, "●", 9, family="sans")


def _bars(sheet: Sheet, facts: Mapping[str, Facts], bars: Sequence[Facts], look: Look) -> None:
    grouped = bars[0]["series"] != ""
    across = look.horizontal
    x = (240 if grouped else 170) if across else 100
    box = Box(x, 105, sheet.width - x - (150 if across else 40), sheet.height - 105 - 85)
    if not across:
        below = 150 if grouped else 130
        box = Box(x, below, sheet.width - x - 40, sheet.height - below - 105)
    place = _scale(sheet, box, look, across)
    gap = 0.5 if grouped else 0.0
    span = box.height if across else box.width
    pitch = span / (len(bars) + gap * (len(bars) // 2))
    middles = [pitch * (i + 0.5 + gap * (i // 2 + 0.5)) for i in range(len(bars))]
    middles = [box.top - at if across else box.x + at for at in middles]
    half = pitch * look.thickness / 2
    shapes = []
    for bar, at in zip(bars, middles, strict=True):
        end = place(float(bar["value"]))
        shape = Box(box.x, at - half, end - box.x, 2 * half) if across else Box(at - half, box.y, 2 * half, end - box.y)
        shapes.append(shape)
        sheet.fill(shape.path(), *_hatch(bar))
    for bar, shape in zip(bars, shapes, strict=True):
        if bar.get("outline"):
            sheet.stroke(shape.path(), "black", 4.0)
    _badges(sheet, bars, [(box.x + 22, at) if across else (at, box.y + 22) for at in middles])
    draw_bar = _lying_bar if across else _standing_bar
    for bar, at in zip(bars, middles, strict=True):
        draw_bar(sheet, bar, at, place(float(bar["value"])), box)
    if grouped:
        for i in range(0, len(bars), 2):
            _group(sheet, str(bars[i]["label"]), middles[i], middles[i + 1], half, box, across)
    values, categories = look.theme.quantity, look.theme.category
    numbers = [place(value) for value in range(0, look.top, 20)]
    title_at = 58.0
    _axis(
        sheet,
        facts["x_axis"],
        box,
        values if across else categories,
        title_at,
        numbers if across else middles,
    )
    _axis(sheet, facts["y_axis"], box, categories if across else values, 34, middles if across else numbers)


def _standing_bar(sheet: Sheet, bar: Facts, at: float, end: float, box: Box) -> None:
    over = end
    if bar.get("error_bar"):
        sheet.segments(_whisker(at, end - 14, at, end + 14, across=False), "black", 2.2)
        over += 14
    printed = sheet.text(at, over + 14, str(bar["value"]), 15)
    if bar.get("star"):
        _star(sheet, printed.right + 9, over + 14)
    if "note" in bar:
        sheet.text(at, over + 32, str(bar["note"]), 12.5, italic=True)
    _label(sheet, bar, str(bar["series"] or bar["label"]), at, box.y - 22, 13, "centre")


def _lying_bar(sheet: Sheet, bar: Facts, at: float, end: float, box: Box) -> None:
    after = end
    if bar.get("error_bar"):
        sheet.segments(_whisker(end - 14, at, end + 14, at, across=True), "black", 2.2)
        after += 14
    printed = sheet.text(after + 8, at, str(bar["value"]), 15, align="left")
    after = printed.right + 6
    if bar.get("star"):
        _star(sheet, after + 6, at)
        after += 16
    if "note" in bar:
        sheet.text(after, at, str(bar["note"]), 12.5, italic=True, align="left")
    _label(sheet, bar, str(bar["series"] or bar["label"]), box.x - 16, at + 5, 13, "right")


def _whisker(x0: float, y0: float, x1: float, y1: float, across: bool) -> list[tuple[float, float, float, float]]:
    dx, dy = (0, 7) if across else (7, 0)
    return [(x0, y0, x1, y1)] + [(x - dx, y - dy, x + dx, y + dy) for x, y in ((x0, y0), (x1, y1))]


def _group(sheet: Sheet, label: str, one: float, two: float, half: float, box: Box, across: bool) -> None:
    middle = (one + two) / 2
    if across:
        x = box.x - 90
        sheet.segments([(x, one + half, x, two - half)], "#707070", 1.5)
        sheet.text(x - 8, middle, label, 13.5, align="right")
    else:
        y = box.y - 52
        sheet.segments([(one - half, y, two + half, y)], "#707070", 1.5)
        sheet.text(middle, y - 13, label, 13.5)


def _pie(sheet: Sheet, facts: Mapping[str, Facts], slices: Sequence[Facts], look: Look) -> None:
    middle, radius = (sheet.width / 2, sheet.height / 2 - 5), 185.0
    total = sum(int(each["value"]) for each in slices)
    start = 0.0
    placed, shapes = [], []
    for each in slices:
        end = start + 360 * int(each["value"]) / total
        angle = math.radians((start + end) / 2)
        away = 26.0 if each.get("pulled") else 0.0
        placed.append(_Slice(each, math.sin(angle), math.cos(angle), middle, away))
        shapes.append(wedge(placed[-1].point(0), radius, radius * look.hole, start, end))
        sheet.fill(shapes[-1], *_hatch(each))
        start = end
    for shape in shapes:
        sheet.stroke(shape, look.background, 2.5)
    _badges(sheet, slices, [part.point(radius * (0.76 if look.hole else 0.7)) for part in placed])
    row = 50 + (14 if "dots" in slices[0] else 0) + (17 if "note" in slices[0] else 0)
    for side in (-1, 1):
        column = sorted((part for part in placed if (part.right > 0) == (side > 0)), key=lambda part: part.up)
        heights = [middle[1] + (radius + 30) * part.up for part in column]
        for part, y in zip(column, _apart(heights, row, 30 + row, sheet.height - 80), strict=True):
            x = middle[0] + side * (radius + 60)
            sheet.segments([(*part.point(radius), x - side * 8, y)], "#606060", 1.2)
            _slice_label(sheet, part.facts, x, y, side, look)


@dataclass(frozen=True)
class _Slice:
    """A slice's place: the direction of its middle from the pie's, and how far it is pulled that way."""

    facts: Facts
    right: float
    up: float
    middle: tuple[float, float]
    away: float

    def point(self, distance: float) -> tuple[float, float]:
        """The point of its middle line at a distance from its tip."""
        out = distance + self.away
        return self.middle[0] + out * self.right, self.middle[1] + out * self.up


def _slice_label(sheet: Sheet, facts: Facts, x: float, y: float, side: int, look: Look) -> None:
    """Label, dots, value and note below one another, from x to the right (side 1) or to the left (-1)."""
    align: Any = "left" if side > 0 else "right"
    _label(sheet, facts, str(facts["label"]), x, y, 14, align)
    y -= 19 + (14 if "dots" in facts else 0)
    printed = sheet.text(x, y, f"{facts['value']} {look.theme.unit}", 13, align=align)
    if facts.get("star"):
        _star(sheet, printed.right + 11 if side > 0 else printed.x - 11, y)
    if "note" in facts:
        sheet.text(x, y - 17, str(facts["note"]), 12.5, italic=True, align=align)


def _apart(heights: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Moves rising heights as little as a forward and a backward pass need to be `gap` apart."""
    moved: list[float] = []
    for height in heights:
        moved.append(max(height, moved[-1] + gap if moved else low))
    ceiling = high
    for i in reversed(range(len(moved))):
        moved[i] = min(moved[i], ceiling)
        ceiling = moved[i] - gap
    return moved


def _lines(sheet: Sheet, facts: Mapping[str, Facts], lines: Sequence[Facts], look: Look) -> None:
    box = Box(100, 105, sheet.width - 150, sheet.height - 105 - 95)
    legend = facts["legend"]
    strip, column = 88.0, 190.0
    box, legend_box = {
        "above": (
            Box(box.x, box.y, box.width, box.height - strip - 20),
            Box(24, box.top + 28 - strip, sheet.width - 48, strip),
        ),
        "below": (
            Box(box.x, box.y + strip + 12, box.width, box.height - strip - 12),
            Box(24, 44, sheet.width - 48, strip),
        ),
        "left": (
            Box(box.x + column + 10, box.y, box.width - column - 10, box.height),
            Box(16, box.y + 40, column, 26 + 62 * len(lines)),
        ),
        "right": (
            Box(box.x, box.y, box.width - column, box.height),
            Box(sheet.width - column - 12, box.y + 40, column, 26 + 62 * len(lines)),
        ),
    }[str(legend["place"])]
    place = _scale(sheet, box, look, across=False)
    step = (box.width - 110) / (len(look.time.marks) - 1)
    moments = [box.x + 50 + step * i for i in range(len(look.time.marks))]
    for moment, mark in zip(moments, look.time.marks, strict=True):
        sheet.text(moment, box.y - 20, mark, 12.5)
    for line, curve in zip(lines, look.curves, strict=True):
        points = [(moment, place(value)) for moment, value in zip(moments, curve, strict=True)]
        sheet.line(points, **_line_style(line, look))
        sheet.text(points[0][0] - 12, points[0][1], str(line["start"]), 14, align="right")
        sheet.text(points[-1][0] + 12, points[-1][1], str(line["end"]), 14, align="left")
    numbers = [place(value) for value in range(0, look.top, 20)]
    _axis(sheet, facts["x_axis"], box, look.time.title, box.y - 46, moments)
    _axis(sheet, facts["y_axis"], box, look.theme.quantity, box.x - 66, numbers)
    _legend(sheet, legend, lines, legend_box, look)


def _line_style(facts: Facts, look: Look) -> dict[str, Any]:
    colour = _COLOURS[str(facts["colour"])]
    marker = str(facts["marker"])
    thick = bool(facts.get("thick"))
    dash = {
        "solid": "solid",
        "dashed": (0, (1.9, 1.0) if thick else (4.0, 2.0)),
        "dotted": (0, (0.9, 0.9) if thick else (1.1, 1.5)),
        "dash-dotted": (0, (2.6, 0.8, 0.8, 0.8) if thick else (6.0, 2.0, 1.2, 2.0)),
    }[str(facts["style"])]
    return {
        "color": colour,
        "linestyle": dash,
        "linewidth": 6.0 if thick else 2.2,
        "dash_capstyle": "butt",
        "marker": _MARKERS[marker],
        "markersize": _MARKER_SIZES.get(marker, 12) + (3 if thick else 0),
        "mfc": "white" if facts.get("hollow") else colour,
        "mec": colour,
        "mew": 2.0,
    }


def _legend(sheet: Sheet, facts: Facts, lines: Sequence[Facts], box: Box, look: Look) -> None:
    sheet.panel(box, _TINTS[str(facts["tint"])], "black" if facts["framed"] else "none")
    sheet.text(
        box.x + 14,
        box.top - 15,
        str(facts["heading"]),
        15,
        bold=bool(facts["heading_bold"]),
        italic=bool(facts["heading_italic"]),
        align="left",
    )
    stacked = facts["place"] in ("left", "right")
    cell = (box.width - 20) / len(lines)
    for i, line in enumerate(lines):
        x = box.x + 14 + (0 if stacked else cell * i)
        y = box.top - 43 - (62 * i if stacked else 0)
        sheet.line([(x, y), (x + 50, y), (x + 100, y)], markevery=(1, 2), **_line_style(line, look))
        name = sheet.text(x, y - 20, str(line["label"]), 12.5, bold=bool(line.get("bold")), align="left")
        after = name.right + 8
        if line.get("checked"):
            after = sheet.text(after, y - 20, "✓", 16, bold=True, align="left", family="sans").right + 4
        if "note" in line:
            sheet.text(after, y - 20, str(line["note"]), 12, italic=True, align="left")
