"""What may be said about a chart's bars, lines, slices and other parts.

Fixed attributes are constants; those whose values depend on the chart (how many bars, which unit) are
functions. Keys are the names of facts; `chart_draw` draws what they say.
"""

from __future__ import annotations

from collections.abc import Iterable

from condchain_tasks.synth.chart_themes import HEADINGS, SOURCES, Theme, TimeAxis
from condchain_tasks.synth.world import Attribute

COLOURS = ("red", "orange", "yellow", "green", "blue", "purple", "pink", "brown")
INKS = ("black", "red", "green", "blue", "purple", "orange")
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
NUMERALS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}


def _flag(key: str, says: str, denies: str) -> Attribute:
    return Attribute(key, "flag", (False, True), "{subject} " + says, "{subject} " + denies)


def _quoted(words: Iterable[str]) -> dict[str | int | bool, str]:
    return {word: f"“{word}”" for word in words}


def _numerals(numbers: Iterable[int]) -> dict[str | int | bool, str]:
    return {number: NUMERALS[number] for number in numbers}


# Bars and slices

COLOUR = Attribute(
    "colour",
    "category",
    COLOURS,
    "{subject} is {value}",
    "{subject} is not {value}",
    asks="What colour is {subject}?",
)
PATTERN = Attribute(
    "pattern",
    "category",
    ("a plain colour", "diagonal stripes", "horizontal stripes", "vertical stripes", "dots", "a square grid"),
    "{subject} is filled with {value}",
    "{subject} is not filled with {value}",
    asks="What is {subject} filled with?",
)
STAR = _flag("star", "has a star beside its value", "has no star beside its value")
OUTLINE = _flag("outline", "has a black outline", "has no black outline")
BOLD = _flag("bold", "has its label in bold type", "does not have its label in bold type")
BOXED = _flag("boxed", "has a frame around its label", "has no frame around its label")
ERROR_BAR = _flag("error_bar", "has an error bar", "has no error bar")
PULLED = _flag("pulled", "is pulled out of the circle", "is not pulled out of the circle")
DOTS = Attribute(
    "dots",
    "count",
    tuple(NUMERALS),
    "{subject} has {value} dots under its label",
    "{subject} does not have {value} dots under its label",
    at_least="{subject} has at least {value} dots under its label",
    fewer="{subject} has fewer than {value} dots under its label",
    asks="How many dots does {subject} have under its label?",
    words=_numerals(NUMERALS),
)
BADGES = (
    Attribute(
        "letter",
        "category",
        tuple("ABCDEF"),
        "{subject} is marked with the letter {value}",
        "{subject} is not marked with the letter {value}",
        asks="Which letter is {subject} marked with?",
    ),
    Attribute(
        "arrow",
        "category",
        ("up", "down", "left", "right"),
        "{subject} carries an arrow that points {value}",
        "{subject} carries no arrow that points {value}",
        asks="Which way does the arrow on {subject} point?",
    ),
    Attribute(
        "sign",
        "category",
        ("a heart", "a spade", "a club", "a diamond"),
        "{subject} is marked with {value}",
        "{subject} is not marked with {value}",
        asks="Which sign is {subject} marked with?",
    ),
)


def note(words: tuple[str, ...]) -> Attribute:
    """The word that is printed beside a bar, a slice or a line's entry in the legend."""
    return Attribute(
        "note",
        "category",
        words,
        "{subject} carries the note {value}",
        "{subject} does not carry the note {value}",
        asks="Which note does {subject} carry?",
        words=_quoted(words),
    )


def value(key: str, verb: str, values: range, theme: Theme) -> Attribute:
    """A printed whole number with its unit; `verb` is "show", "start at" or "end at"."""
    first, _, rest = verb.partition(" ")
    tail = f" {rest}" if rest else ""
    less = "fewer" if theme.countable else "less"
    return Attribute(
        key,
        "count",
        tuple(values),
        f"{{subject}} {first}s{tail} {{value}}",
        f"{{subject}} does not {verb} {{value}}",
        at_least=f"{{subject}} {first}s{tail} {{value}} or more",
        fewer=f"{{subject}} {first}s{tail} {less} than {{value}}",
        asks=f"{'At what' if rest else 'What'} value does {{subject}} {first}?",
        words={number: f"{number} {theme.unit}" for number in values},
    )


def rank(n: int) -> Attribute:
    """Place of a value among all n of the chart, from the highest down."""
    ranks = ("highest", *(f"{ordinal} highest" for ordinal in ORDINALS[1 : n - 1]), "lowest")
    return Attribute(
        "rank",
        "category",
        ranks,
        "{subject} has the {value} value in the chart",
        "{subject} does not have the {value} value in the chart",
        asks="How does the value of {subject} rank in the chart?",
    )


def _place(key: str, n: int, says: str, denies: str, asks: str) -> Attribute:
    return Attribute(
        key, "category", ORDINALS[:n], "{subject} " + says, "{subject} " + denies, asks=asks if n >= 4 else ""
    )


def bar_position(n: int, start: str) -> Attribute:
    """Place among n bars, counted from `start` ("left" or "top")."""
    place = f"the {{value}} bar from the {start}"
    return _place("position", n, f"is {place}", f"is not {place}", f"Which bar from the {start} is {{subject}}?")


def bar_group(n: int, start: str) -> Attribute:
    """Place of a bar's group among n groups, counted from `start` ("left" or "top")."""
    place = f"the {{value}} group from the {start}"
    asks = f"Which group from the {start} does {{subject}} belong to?"
    return _place("group", n, f"belongs to {place}", f"does not belong to {place}", asks)


def slice_position(n: int) -> Attribute:
    """Place among n slices, counted clockwise from twelve o'clock."""
    place = "the {value} slice clockwise from the top"
    asks = "In which place does {subject} come, counted clockwise from the top?"
    return _place("position", n, f"is {place}", f"is not {place}", asks)


def legend_position(n: int) -> Attribute:
    """Place among n entries of the legend."""
    asks = "In which place does the legend list {subject}?"
    return _place("position", n, "is listed {value} in the legend", "is not listed {value} in the legend", asks)


# Lines

STYLE = Attribute(
    "style",
    "category",
    ("solid", "dashed", "dotted", "dash-dotted"),
    "{subject} is {value}",
    "{subject} is not {value}",
    asks="In which line style is {subject} drawn?",
)
MARKER = Attribute(
    "marker",
    "category",
    ("circles", "squares", "triangles", "diamonds", "stars", "crosses"),
    "{subject} is marked with {value}",
    "{subject} is not marked with {value}",
    asks="Which shapes is {subject} marked with?",
)
HOLLOW = _flag("hollow", "has hollow markers", "does not have hollow markers")
THICK = _flag("thick", "is drawn thick", "is not drawn thick")
CHECKED = _flag("checked", "has a check mark in the legend", "has no check mark in the legend")
NAME_BOLD = _flag(
    "bold", "has its name in bold type in the legend", "does not have its name in bold type in the legend"
)


def peak(axis: TimeAxis) -> Attribute:
    """When a line reaches its highest point: at neither end of the axis."""
    marks = axis.marks[1:-1]
    return Attribute(
        "peak",
        "category",
        marks,
        "{subject} peaks {value}",
        "{subject} does not peak {value}",
        asks="When does {subject} peak?",
        words=dict(zip(marks, axis.phrases[1:-1], strict=True)),
    )


# Title and footnote

SIDE = Attribute(
    "side",
    "category",
    ("left", "centre", "right"),
    "{subject} stands {value}",
    "{subject} does not stand {value}",
    words={"left": "at the left", "centre": "in the centre", "right": "at the right"},
)
INK = Attribute(
    "ink",
    "category",
    INKS,
    "{subject} is printed in {value}",
    "{subject} is not printed in {value}",
    asks="What colour is {subject} printed in?",
)
ITALIC = _flag("italic", "is in italics", "is not in italics")
FRAMED = _flag("framed", "has a frame around it", "has no frame around it")
UNDERLINED = _flag("underlined", "is underlined", "is not underlined")
CAPITALS = _flag("capitals", "is in capital letters", "is not in capital letters")
ALL_BOLD = _flag("bold", "is in bold type", "is not in bold type")
YEAR = Attribute(
    "year",
    "count",
    tuple(range(2008, 2024)),
    "{subject} names the year {value}",
    "{subject} does not name the year {value}",
    at_least="{subject} names the year {value} or a later one",
    fewer="{subject} names a year before {value}",
    asks="Which year does {subject} name?",
)
SOURCE = Attribute(
    "source",
    "category",
    SOURCES,
    "{subject} credits {value}",
    "{subject} does not credit {value}",
    asks="Whom does {subject} credit?",
    words={source: f"the {source}" for source in SOURCES},
)
PAGE = Attribute(
    "page",
    "count",
    tuple(range(11, 60)),
    "{subject} refers to page {value}",
    "{subject} does not refer to page {value}",
    at_least="{subject} refers to page {value} or a later page",
    fewer="{subject} refers to a page before page {value}",
    asks="Which page does {subject} refer to?",
)

# Axes

LINE_INK = Attribute(
    "line_ink",
    "category",
    INKS,
    "{subject} is drawn in {value}",
    "{subject} is not drawn in {value}",
    asks="What colour is {subject} drawn in?",
)
TITLE_INK = Attribute(
    "title_ink",
    "category",
    INKS,
    "The title of {subject} is {value}",
    "The title of {subject} is not {value}",
    asks="What colour is the title of {subject}?",
)
ARROWHEAD = _flag("arrowhead", "ends in an arrowhead", "does not end in an arrowhead")
AXIS_THICK = _flag("thick", "is drawn as a thick line", "is not drawn as a thick line")
TICKS = _flag("ticks", "has tick marks", "has no tick marks")
TITLE_ITALIC = _flag("title_italic", "has its title in italics", "does not have its title in italics")
TITLE_BOLD = _flag("title_bold", "has its title in bold type", "does not have its title in bold type")
TITLE_FRAMED = _flag("title_framed", "has a frame around its title", "has no frame around its title")


def title_end(start: str, end: str) -> Attribute:
    """Where along an axis its title stands; `start` and `end` are phrases such as "at the left end"."""
    return Attribute(
        "title_end",
        "category",
        ("start", "middle", "end"),
        "{subject} has its title {value}",
        "{subject} does not have its title {value}",
        words={"start": start, "middle": "in the middle", "end": end},
    )


# Legend

LEGEND_PLACE = Attribute(
    "place",
    "category",
    ("above", "below", "left", "right"),
    "{subject} stands {value}",
    "{subject} does not stand {value}",
    asks="Where does {subject} stand?",
    words={
        "above": "above the lines",
        "below": "below the lines",
        "left": "to the left of the lines",
        "right": "to the right of the lines",
    },
)
HEADING = Attribute(
    "heading",
    "category",
    HEADINGS,
    "{subject} is headed {value}",
    "{subject} is not headed {value}",
    asks="Which word heads {subject}?",
    words=_quoted(HEADINGS),
)
TINT = Attribute(
    "tint",
    "category",
    ("white", "grey", "light green", "pink", "light blue"),
    "{subject} has a {value} background",
    "{subject} does not have a {value} background",
    asks="What colour is the background of {subject}?",
)
ENTRIES = Attribute(
    "entries",
    "count",
    (3, 4, 5),
    "{subject} lists {value} lines",
    "{subject} does not list {value} lines",
    at_least="{subject} lists at least {value} lines",
    fewer="{subject} lists fewer than {value} lines",
    words=_numerals((3, 4, 5)),
)
HEADING_BOLD = _flag("heading_bold", "has its heading in bold type", "does not have its heading in bold type")
HEADING_ITALIC = _flag("heading_italic", "has its heading in italics", "does not have its heading in italics")
