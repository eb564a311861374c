"""Charts as SVG that stands in the page, drawn by matplotlib.

A library of scripts would have made them interactive in the browser too, but plotly's, inlined, is 4.8 MB that keep the
page from answering for two seconds each time it is opened; these charts cost nothing to open, print, and need no script
but the page's own tooltip. Their colours are variables of the page's style, so that they follow its theme.
"""

from __future__ import annotations

import io
import math
import re
import warnings
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, count, groupby, pairwise
from typing import Any
from xml.etree import ElementTree

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from condchain_tasks.report.model import Chart, Series
from condchain_tasks.report.plain import interval, number, one_line

SERIES_COLORS = 8
"""The page's style must have the variables --series-0 and so on, besides --ink, --muted, --edge and --card."""

_INK, _MUTED, _GRID, _CARD = "#010101", "#010102", "#010103", "#010104"
_SERIES = [f"#0102{place:02x}" for place in range(SERIES_COLORS)]
_VARIABLES = {_INK: "--ink", _MUTED: "--muted", _GRID: "--edge", _CARD: "--card"} | {
    color: f"--series-{place}" for place, color in enumerate(_SERIES)
}
_MARKERS = "osD^vP*X"
_DASHES = ("-", "--", "-.")
_PUBLISHED_DASH = ":"
_HATCHES = ("", "--", "xx")
_PUBLISHED_HATCH = "////"
_COLORS = matplotlib.colormaps["cividis"]
_DARK, _BRIGHT = "#000000", "#ffffff"
_BRIGHT_INK_BELOW = 0.465  # of the scale: either ink has a contrast of 4.5 or more on its part

_ASIDE: dict[str, Any] = {"color": _MUTED, "fontsize": 11}

_WIDTH = 800
_HEIGHT = 420
_ROW_HEIGHT = 38
_LEGEND_ROW_HEIGHT = 22
_LEGEND_LETTERS = 116  # side by side
_POINTS_PER_INCH = 72  # matplotlib's unit of SVG: one of them is a pixel of the page
_MAX_NAME = 41
_MIN_HEAD = 6  # letters of a name's first word that are kept at least, as far as there are
_MAX_TICK = 29
_MAX_STRAIGHT = 60  # letters of all categories' names together, beyond which they are turned
_MAX_SLANTED = 14
_MAX_TIP = 400
_MAX_TICKS = 12
_MAX_HALF = 6
_KEYS = 5  # to the colours of heat maps

_SVG = "http://www.w3.org/2000/svg"
_LINK = "{http://www.w3.org/1999/xlink}href"
_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "condchain",
    "text.parse_math": False,
    "font.size": 12,
    "text.color": _INK,
    "axes.edgecolor": _MUTED,
    "axes.facecolor": "none",
    "axes.labelcolor": _INK,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": _GRID,
    "grid.linewidth": 0.8,
    "hatch.linewidth": 1.5,
    "xtick.color": _MUTED,
    "xtick.labelcolor": _INK,
    "ytick.color": _MUTED,
    "ytick.labelcolor": _INK,
    "legend.frameon": False,
}


def draw(chart: Chart) -> str:
    """Draws a chart.

    Series that stand in a paper have hollow marks, dotted lines or hollow, hatched bars. Other series differ by the
    form of their marks or lines too; bars whose colour comes again are hatched. No two names look the same. All heat
    maps of a chart have one scale of colours, which stands above them. What can be pointed at has its text in the
    attribute `data-tip`.

    Args:
        chart: What to draw.

    Returns:
        An `svg` element without scripts, styles and style attributes; all its ids begin with the chart's.
    """
    tips: dict[str, str] = {}
    buffer = io.StringIO()
    with matplotlib.rc_context(_SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # only the browser's fonts matter
        figure = _heatmaps(chart, tips) if chart.kind == "heatmap" else _plane(chart, tips)
        # Not as the figure's own layout: matplotlib would draw everything twice, the first time for the layout alone.
        ConstrainedLayoutEngine().execute(figure)
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    return _for_page(buffer.getvalue(), f"chart-{chart.id}", tips)


def _figure(height: float) -> Figure:
    return Figure((_WIDTH / _POINTS_PER_INCH, height / _POINTS_PER_INCH))


def _plane(chart: Chart, tips: dict[str, str]) -> Figure:
    names = _distinct([_series_name(one) for one in chart.series], _MAX_NAME)
    legend_columns = _LEGEND_LETTERS // max(len(name) + 8 for name in names)
    legend_rows = math.ceil(len(chart.series) / legend_columns) if len(chart.series) > 1 else 0
    figure = _figure(_HEIGHT + legend_rows * _LEGEND_ROW_HEIGHT)
    axes = figure.add_subplot()
    axes.set_xlabel(_name(chart.x_title))
    axes.set_ylabel(_name(chart.y_title))
    xs = list(dict.fromkeys(chain.from_iterable(one.x for one in chart.series)))
    is_categorical = chart.kind == "bar" or any(isinstance(x, str) for x in xs)
    places = {x: float(place) if is_categorical else float(x) for place, x in enumerate(xs)}
    if is_categorical:
        _label(axes, "x", [str(x) for x in xs])
    elif chart.kind == "line" and len(xs) <= _MAX_TICKS:
        axes.set_xticks(sorted(places.values()), [f"{x:g}" for x in sorted(places.values())])
    for x0, y0, x1, y1, label in chart.lines:
        axes.plot([x0, x1], [y0, y1], color=_MUTED, linestyle="--", linewidth=1.2, zorder=1)
        axes.annotate(_name(label), (x1, y1), (-4, 4), textcoords="offset points", ha="right", va="bottom", **_ASIDE)
    for x, y, text in chart.regions:
        axes.text(x, y, _name(text), style="italic", ha="center", va="center", **_ASIDE)
    handles = [
        (_bars if chart.kind == "bar" else _points)(axes, chart, place, places, tips)
        for place in range(len(chart.series))
    ]
    if legend_rows:
        figure.legend(handles, names, loc="outside lower left", ncols=legend_columns, fontsize=11)
    return figure


def _points(axes: Axes, chart: Chart, place: int, places: Mapping[str | float, float], tips: dict[str, str]) -> Line2D:
    """Points, each with its interval, and for a line chart what joins them; returns the legend's entry."""
    one = chart.series[place]
    color = _SERIES[place % len(_SERIES)]
    shift = _shift(places.values(), place, len(chart.series)) if chart.kind == "line" else 0.0
    x = [places[value] + shift for value in one.x]
    y = [_finite(value) for value in one.y]
    style: dict[str, Any] = {
        "color": color,
        "marker": _MARKERS[(place + place // len(_SERIES)) % len(_MARKERS)],
        "markersize": 8,
        "markeredgewidth": 1.6,
        "markerfacecolor": _CARD if one.published else color,
        "linestyle": "none",
    }
    if chart.kind == "line":
        style["linestyle"] = _PUBLISHED_DASH if one.published else _DASHES[place // len(_SERIES) % len(_DASHES)]
        axes.plot(x, [math.nan if value is None else value for value in y], **style | {"marker": "none"})
    _intervals(axes, x, one, color)
    for index, (left, up, tip) in enumerate(zip(x, y, _tips(chart, one), strict=True)):
        if up is not None:
            (point,) = axes.plot([left], [up], **style | {"linestyle": "none"})
            point.set_gid(_tip_id(tips, tip, place, index))
    return Line2D([], [], **style)


def _shift(places: Iterable[float], place: int, series: int) -> float:
    """How far to the side a series is drawn, so that its intervals do not hide those of the others."""
    gaps = [right - left for left, right in pairwise(sorted(places))]
    return (place - (series - 1) / 2) * min(gaps, default=1.0) * min(0.04, 0.3 / series)


def _bars(axes: Axes, chart: Chart, place: int, places: Mapping[str | float, float], tips: dict[str, str]) -> Patch:
    one = chart.series[place]
    turn, hue = divmod(place, len(_SERIES))
    color = _SERIES[hue]
    width = 0.8 / len(chart.series)
    x = [places[value] + (place + 0.5) * width - 0.4 for value in one.x]
    style: dict[str, Any] = {
        "facecolor": _CARD if one.published else color,
        "edgecolor": color if one.published or not turn else _CARD,
        "hatch": _PUBLISHED_HATCH if one.published else _HATCHES[turn % len(_HATCHES)],
    }
    for index, (middle, value, tip) in enumerate(zip(x, one.y, _tips(chart, one), strict=True)):
        height = _finite(value)
        if height is not None:
            (bar,) = axes.bar([middle], [height], width * 0.92, **style)
            bar.set_gid(_tip_id(tips, tip, place, index))
    _intervals(axes, x, one, _INK)
    return Patch(**style)


def _intervals(axes: Axes, x: Sequence[float], one: Series, color: str) -> None:
    ends = zip(x, map(_finite, one.low), map(_finite, one.high), strict=False)
    known = [(x, low, high) for x, low, high in ends if low is not None and high is not None]
    if known:
        left, low, high = zip(*known, strict=True)
        axes.vlines(left, low, high, colors=color, linewidth=1.2)


def _heatmaps(chart: Chart, tips: dict[str, str]) -> Figure:
    """One square of cells for each series, two side by side if they have few columns."""
    columns = 2 if len(chart.series) > 1 and max(len(one.x) for one in chart.series) <= _MAX_HALF else 1
    rows = math.ceil(len(chart.series) / columns)
    cells = max(len(one.y) for one in chart.series)
    figure = _figure(rows * (110 + cells * _ROW_HEIGHT) + _LEGEND_ROW_HEIGHT)
    values = map(_finite, chain.from_iterable(row for one in chart.series for row in one.z))
    known = [value for value in values if value is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    scale = Normalize(low, high)
    if known:
        keys = dict.fromkeys(np.linspace(low, high, _KEYS).tolist())  # one if the ends are the same
        handles = [Patch(facecolor=_COLORS(scale(key)), edgecolor=_MUTED, label=number(key)) for key in keys]
        figure.legend(handles=handles, loc="outside upper left", ncols=_KEYS, fontsize=11)
    names = _distinct([one_line(one.name) for one in chart.series], _MAX_NAME)
    squares = figure.subplots(rows, columns, squeeze=False).flat
    for place, (name, axes) in enumerate(zip(names, squares, strict=False)):
        axes.set_title(name, fontsize=12, y=1.0)  # given, since matplotlib is slow to find it
        _heatmap(axes, chart, place, scale, tips)
    for axes in squares:
        axes.remove()
    return figure


def _heatmap(axes: Axes, chart: Chart, place: int, scale: Normalize, tips: dict[str, str]) -> None:
    one = chart.series[place]
    axes.set(xlabel=_name(chart.x_title), ylabel=_name(chart.y_title))
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    axes.set_xlim(-0.5, len(one.x) - 0.5)
    axes.set_ylim(len(one.y) - 0.5, -0.5)
    _label(axes, "x", [str(x) for x in one.x])
    _label(axes, "y", [str(y) for y in one.y])
    texts = one.text or ("",) * len(one.y)
    for up, (y, row, text) in enumerate(zip(one.y, one.z, texts, strict=True)):
        for left, (x, found) in enumerate(zip(one.x, row, strict=True)):
            value = _finite(found)
            share = 0.0 if value is None else scale(value)
            cell = Rectangle((left - 0.48, up - 0.46), 0.96, 0.92, color=_GRID if value is None else _COLORS(share))
            lines = (text, f"{chart.y_title}: {y}", f"{chart.x_title}: {x}", f"{one.name}: {number(value)}")
            cell.set_gid(_tip_id(tips, _tip(lines), place, up * len(one.x) + left))
            axes.add_artist(cell)
            ink = _INK if value is None else _BRIGHT if share < _BRIGHT_INK_BELOW else _DARK
            axes.text(left, up, number(value), color=ink, ha="center", va="center", fontsize=11, in_layout=False)


def _label(axes: Axes, axis: str, names: Sequence[str]) -> None:
    labels = _distinct([one_line(name) for name in names], _MAX_TICK)
    style: dict[str, Any] = {}
    if axis == "x" and len(labels) > _MAX_SLANTED:
        style = {"rotation": 90, "fontsize": 10}
    elif axis == "x" and sum(map(len, labels)) > _MAX_STRAIGHT:
        style = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
    (axes.set_xticks if axis == "x" else axes.set_yticks)(range(len(labels)), labels, **style)


def _tips(chart: Chart, one: Series) -> list[str]:
    nothing = (None,) * len(one.y)
    ends = zip(one.low or nothing, one.high or nothing, strict=True)
    return [
        _tip(
            (
                text,
                one.name,
                f"{chart.x_title}: {x if isinstance(x, str) else f'{x:g}'}",
                f"{chart.y_title}: {number(_finite(y))} {interval(low, high)}",
            )
        )
        for text, x, y, (low, high) in zip(one.text or ("",) * len(one.y), one.x, one.y, ends, strict=True)
    ]


def _tip(lines: Sequence[str]) -> str:
    return "\n".join(_shortened(one_line(line), _MAX_TIP) for line in lines if line)


def _tip_id(tips: dict[str, str], tip: str, series: int, place: int) -> str:
    name = f"tip-{series}-{place}"
    tips[name] = tip
    return name


def _series_name(one: Series) -> str:
    name = one_line(one.name).lstrip("_")  # matplotlib leaves entries with a leading underscore out of legends
    return f"{name} (published)" if one.published else name


def _name(text: str) -> str:
    return _shortened(one_line(text), _MAX_NAME)


def _distinct(names: Sequence[str], most: int) -> list[str]:
    """Shortens names such that no two look the same: those that would, even so, are numbered."""
    families: defaultdict[str, set[str]] = defaultdict(set)
    for name in names:
        if len(name) > most:
            families[_words(name)[0]].add(name)
    short = {name: _shortened(name, most) for name in names}
    for family in families.values():
        if len(family) > 1:
            short |= _told_apart(family, most)
    found: dict[str, None] = {}
    for name in names:
        numbered = (f"{short[name]} #{place}" for place in count(2))
        found[next(text for text in chain([short[name]], numbered) if text not in found)] = None
    return list(found)


def _told_apart(family: Collection[str], most: int) -> dict[str, str]:
    """Shortens names with the same first word: words that all of them have are left out before others are."""
    shared = set.intersection(*(set(_words(name)) for name in family))
    short = {}
    for name in family:
        head, *rest = _words(name)
        runs = groupby(rest, shared.__contains__)
        own = "".join("…" if is_shared else "".join(run) for is_shared, run in runs)
        short[name] = _shortened(_shortened(head, max(most - len(own), _MIN_HEAD)) + own, most)
    return short


def _words(name: str) -> list[str]:
    return re.split(r"(?<=[ (])", name)


def _shortened(text: str, most: int) -> str:
    """Names differ in their ends as often as in their beginnings: the middle is left out."""
    half = (most - 1) // 2
    return text if len(text) <= most else f"{text[:half]}…{text[-half:]}"


def _finite(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and math.isfinite(value) else None


def _for_page(svg: str, prefix: str, tips: Mapping[str, str]) -> str:
    """Fits matplotlib's SVG for a page that holds several, has themes, and allows no styles but its own."""
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")
    root = ElementTree.fromstring(svg)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.rpartition("}")[2] in ("metadata", "style"):
                parent.remove(child)
    for node in root.iter():
        tip = tips.get(node.get("id", ""))
        if tip is not None:
            node.set("data-tip", tip)
        for declaration in node.attrib.pop("style", "").split(";"):
            name, _, value = declaration.partition(":")
            if value:
                node.set(name.strip(), value.strip())
        for name, value in node.attrib.items():
            if name == "id":
                node.set(name, f"{prefix}-{value}")
            elif name == _LINK:
                node.set(name, f"#{prefix}-{value[1:]}")
            elif value.startswith("url(#"):
                node.set(name, f"url(#{prefix}-{value[5:]}")
            elif value in _VARIABLES:
                node.set(name, f"var({_VARIABLES[value]})")
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    return ElementTree.tostring(root, encoding="unicode")
