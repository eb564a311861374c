"""Charts with known facts: bar, line and pie charts that matplotlib draws.

`make_world` decides every fact first; the drawing (`chart_draw`) follows the facts.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from condchain_tasks.synth import chart_attributes as say
from condchain_tasks.synth.chart_draw import Look, draw_chart
from condchain_tasks.synth.chart_themes import NOTES, SERIES, THEMES, TIME_AXES, Theme
from condchain_tasks.synth.world import Attribute, Name, Scalar, Subject

SPAN = 45
"""How many values a printed number can take."""

_BACKGROUNDS = ("#ffffff", "#fbf8f1", "#f4f6f8")
_SIZES = ((800, 600), (820, 600), (800, 620), (840, 610))


@dataclass(frozen=True)
class ChartWorld:
    """One chart: its subjects with their facts, and how it looks apart from the facts."""

    subjects: tuple[Subject, ...]
    look: Look
    domain: Literal["chart"] = "chart"

    def draw(self, root: Path, record_id: str) -> str:
        """Writes `images/chart/<record_id>.png` below `root`; returns that path, relative to `root`."""
        image = f"images/chart/{record_id}.png"
        file = Path(root) / image
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(draw_chart({subject.id: subject.facts for subject in self.subjects}, self.look))
        return image


def make_world(rng: random.Random) -> ChartWorld:
    """Draws a chart's facts: its kind, its topic, what is printed and how it is styled."""
    kind = rng.choice(("bar", "bar", "line", "pie"))
    theme = rng.choice(THEMES)
    return {"bar": _bar_world, "line": _line_world, "pie": _pie_world}[kind](rng, theme)


def _spread(rng: random.Random, n: int, values: Sequence[int], gap: int) -> list[int]:
    """Draws n values at least `gap` apart, each uniform over `values`.

    They are spaced out on a circle that is then turned by a uniform angle, so no value is preferred.
    """
    cuts = [0, *sorted(rng.randint(0, len(values) - n * gap) for _ in range(n - 1))]
    turn = rng.randrange(len(values))
    drawn = [values[(turn + i * gap + cut) % len(values)] for i, cut in enumerate(cuts)]
    rng.shuffle(drawn)
    return drawn


def _facts(rng: random.Random, attributes: Iterable[Attribute], known: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """`known` facts, and one drawn at random for every attribute that they do not settle."""
    return dict(known) | {a.key: rng.choice(a.values) for a in attributes if a.key not in known}


def _identity(part: str, label: str = "", series: str = "", position: str = "") -> dict[str, Scalar]:
    """The facts by which subjects are told apart; every subject has them."""
    return {"part": part, "label": label, "series": series, "position": position}


def _part(rng: random.Random, part: str, attributes: Sequence[Attribute], *others: str) -> Subject:
    """A part of the chart of which there is one; `others` are further nouns for it."""
    names = tuple(Name(f"the {noun}", f'part == "{part}"') for noun in (part, *others))
    return Subject(part.replace(" ", "_"), names, _facts(rng, attributes, _identity(part)), tuple(attributes), ())


def _texts(rng: random.Random) -> list[Subject]:
    """Title and footnote."""
    title = [say.YEAR, say.INK, say.SIDE]
    title += rng.sample([say.ITALIC, say.FRAMED, say.UNDERLINED, say.CAPITALS], 3)
    footnote = [say.SOURCE, say.PAGE, say.INK, say.SIDE]
    footnote += rng.sample([say.ITALIC, say.FRAMED, say.UNDERLINED, say.ALL_BOLD], 3)
    return [_part(rng, "title", title, "chart title"), _part(rng, "footnote", footnote)]


def _axes(rng: random.Random) -> list[Subject]:
    ends = {"x": ("at the left end", "at the right end"), "y": ("at the bottom", "at the top")}
    styles = [say.TICKS, say.TITLE_ITALIC, say.TITLE_BOLD, say.TITLE_FRAMED]
    common = [say.LINE_INK, say.TITLE_INK, say.ARROWHEAD, say.AXIS_THICK]
    return [
        _part(rng, f"{letter} axis", [*common, say.title_end(*ends[letter]), *rng.sample(styles, 2)], noun)
        for letter, noun in (("x", "horizontal axis"), ("y", "vertical axis"))
    ]


def _linked(elements: Sequence[Subject], parts: Sequence[Subject]) -> tuple[Subject, ...]:
    """Relates each bar, line or slice to its neighbours, its series and the parts; parts to everything."""
    n = len(elements)
    linked = []
    for i, element in enumerate(elements):
        series = element.facts["series"]
        near = {(i - 1) % n, (i + 1) % n}
        near |= {j for j, other in enumerate(elements) if series and other.facts["series"] == series}
        related = [elements[j].id for j in sorted(near - {i})] + [part.id for part in parts]
        linked.append(replace(element, related=tuple(related)))
    everything = [subject.id for subject in (*elements, *parts)]
    linked += [replace(part, related=tuple(i for i in everything if i != part.id)) for part in parts]
    return tuple(linked)


def _look(rng: random.Random, kind: Literal["bar", "line", "pie"], theme: Theme) -> Look:
    return Look(
        kind=kind,
        theme=theme,
        size=rng.choice(_SIZES),
        background=rng.choice(_BACKGROUNDS),
        family=rng.choice(("sans", "sans", "serif")),
        grid=rng.random() < 0.5,
        title=rng.choice(("{topic}, {year}", "{topic} in {year}", "{year}: {topic}")),
    )


def _trimmings(rng: random.Random, more: Sequence[Attribute], n: int) -> list[Attribute]:
    """Chooses n things that bars or slices carry, from those that both can have and `more`."""
    common = [say.STAR, say.BOLD, say.BOXED, say.DOTS, say.note(rng.choice(NOTES)), rng.choice(say.BADGES)]
    return rng.sample([*common, *more], n)


def _sized(
    rng: random.Random,
    theme: Theme,
    n: int,
    shared: Sequence[Attribute],
    known: Sequence[Mapping[str, Scalar]],
    names: Sequence[tuple[Name, ...]],
) -> tuple[list[Subject], range]:
    """Makes n bars or slices that show a value each; returns them and the range of their values.

    A value settles its rank and the other way round, so each subject is told by one of the two.
    """
    values = range(low := rng.choice((12, 20, 30)), low + SPAN)
    shown, rank = say.value("value", "show", values, theme), say.rank(n)
    drawn = _spread(rng, n, values, 2)
    highest_first = sorted(drawn, reverse=True)
    subjects = []
    for i, number in enumerate(drawn):
        size = rng.choice((shown, rank))
        settled = {**known[i], "value": number, "rank": rank.values[highest_first.index(number)]}
        facts = _facts(rng, (size, *shared), settled)
        subjects.append(Subject(f"{known[i]['part']}_{i + 1}", names[i], facts, (size, *shared), ()))
    return subjects, values


def _bar_world(rng: random.Random, theme: Theme) -> ChartWorld:
    horizontal = rng.random() < 0.4
    start = "top" if horizontal else "left"
    series = rng.choice(SERIES) if rng.random() < 0.4 else ("",)
    k = len(series)
    n = rng.choice((6, 8)) if k == 2 else rng.randint(5, 8)
    categories = rng.sample(theme.labels, n // k)
    known = [
        _identity("bar", categories[i // k], series[i % k], say.ORDINALS[i]) | {"group": say.ORDINALS[i // k]}
        for i in range(n)
    ]
    names: list[tuple[Name, ...]]
    names = [(_bar_name(str(facts["label"]), str(facts["series"])),) for facts in known]
    shared = [say.COLOUR, say.PATTERN, *_trimmings(rng, [say.OUTLINE, say.ERROR_BAR], 5)]
    if rng.random() < 0.5:
        shared.append(say.bar_group(n // k, start) if k == 2 else say.bar_position(n, start))
    else:
        names = [(*by_label, _placed("bar", i, f"the {{}} bar from the {start}")) for i, by_label in enumerate(names)]
    bars, values = _sized(rng, theme, n, shared, known, names)
    look = replace(
        _look(rng, "bar", theme),
        horizontal=horizontal,
        thickness=rng.choice((0.6, 0.7, 0.8)),
        top=values.stop + 5,
    )
    return ChartWorld(_linked(bars, [*_texts(rng), *_axes(rng)]), look)


def _bar_name(label: str, series: str) -> Name:
    if series:
        return Name(f"the {series.lower()} bar for {label}", f'label == "{label}" and series == "{series}"')
    return Name(f"the bar for {label}", f'label == "{label}"')


def _placed(part: str, i: int, text: str) -> Name:
    """The name of the i-th (from 0) of its kind; `text` has {} for the ordinal."""
    ordinal = say.ORDINALS[i]
    return Name(text.format(ordinal), f'part == "{part}" and position == "{ordinal}"')


def _pie_world(rng: random.Random, theme: Theme) -> ChartWorld:
    n = rng.randint(5, 7)
    labels = rng.sample(theme.labels, n)
    colours = rng.sample(say.COLOURS, n)
    known = [_identity("slice", labels[i], position=say.ORDINALS[i]) | {"colour": colours[i]} for i in range(n)]
    names: list[tuple[Name, ...]]
    names = [(Name(f"the slice for {label}", f'label == "{label}"'),) for label in labels]
    shared = [say.COLOUR, say.PATTERN, *_trimmings(rng, [say.PULLED], 5)]
    if rng.random() < 0.5:
        shared.append(say.slice_position(n))
    else:
        names = [
            (*by_label, _placed("slice", i, "the {} slice clockwise from the top")) for i, by_label in enumerate(names)
        ]
    slices, _ = _sized(rng, theme, n, shared, known, names)
    look = replace(_look(rng, "pie", theme), hole=rng.choice((0.0, 0.0, 0.45)))
    return ChartWorld(_linked(slices, _texts(rng)), look)


def _line_world(rng: random.Random, theme: Theme) -> ChartWorld:
    n = rng.randint(3, 5)
    time = rng.choice(TIME_AXES)
    points = rng.randint(6, 7)
    first = rng.randint(0, len(time.marks) - points)
    time = replace(time, marks=time.marks[first : first + points], phrases=time.phrases[first : first + points])
    values = range(low := rng.choice((5, 10, 15)), low + SPAN)
    peak = say.peak(time)
    columns = [_spread(rng, n, values, 5) for _ in range(points)]
    peaks = _spread(rng, n, range(values.stop + 8, values.stop + 34), 5)
    labels = rng.sample(theme.labels, n)
    colours = rng.sample(say.COLOURS, n)
    trimmings = [say.HOLLOW, say.THICK, say.CHECKED, say.NAME_BOLD, say.note(rng.choice(NOTES))]
    listed = rng.random() < 0.5
    attributes = [
        say.value("start", "start at", values, theme),
        say.value("end", "end at", values, theme),
        peak,
        say.COLOUR,
        say.STYLE,
        say.MARKER,
        *rng.sample(trimmings, rng.randint(3, 4)),
        *([say.legend_position(n)] if listed else []),
    ]
    lines, curves = [], []
    for i, label in enumerate(labels):
        names = [Name(f"the line for {label}", f'label == "{label}"')]
        if not listed:
            names.append(_placed("line", i, "the line listed {} in the legend"))
        known = _identity("line", label, position=say.ORDINALS[i]) | {
            "colour": colours[i],
            "start": columns[0][i],
            "end": columns[-1][i],
        }
        facts = _facts(rng, attributes, known)
        lines.append(Subject(f"line_{i + 1}", tuple(names), facts, tuple(attributes), ()))
        top = time.marks.index(str(facts["peak"]))
        curves.append(tuple(peaks[i] if j == top else column[i] for j, column in enumerate(columns)))
    look = replace(_look(rng, "line", theme), time=time, curves=tuple(curves), top=values.stop + 40)
    return ChartWorld(_linked(lines, [*_texts(rng), *_axes(rng), _legend(rng, n)]), look)


def _legend(rng: random.Random, n: int) -> Subject:
    attributes = (
        say.LEGEND_PLACE,
        say.HEADING,
        say.TINT,
        say.ENTRIES,
        say.FRAMED,
        say.HEADING_BOLD,
        say.HEADING_ITALIC,
    )
    facts = _facts(rng, attributes, _identity("legend") | {"entries": n})
    return Subject("legend", (Name("the legend", 'part == "legend"'),), facts, attributes, ())
