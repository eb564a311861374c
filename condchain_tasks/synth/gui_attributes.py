"""What may be said about phone screens: every attribute of the gui domain, with its sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from condchain_tasks.synth.gui_art import CORNERS, GRID_PLACES, LETTER_ROWS
from condchain_tasks.synth.gui_canvas import COLOURS
from condchain_tasks.synth.gui_themes import (
    CAPTIONS,
    CONSENTS,
    HEADINGS,
    HELPERS,
    MESSAGES,
    REFUSALS,
    SLIDERS,
    TAGS,
    Theme,
    words,
)
from condchain_tasks.synth.world import Attribute, Scalar

_NUMBERS: Mapping[Scalar, str] = dict(enumerate(["two", "three", "four", "five", "six", "seven"], start=2))
ORDINALS: Mapping[Scalar, str] = dict(enumerate(["first", "second", "third", "fourth", "fifth", "sixth"], start=1))
_SHAPES: Mapping[Scalar, str] = {
    shape: f"a {shape}" for shape in ("circle", "square", "triangle", "diamond", "star", "heart")
}
_SYMBOLS: Mapping[Scalar, str] = {
    "envelope": "an envelope",
    "bell": "a bell",
    "camera": "a camera",
    "note": "a music note",
    "house": "a house",
    "person": "a person",
    "magnifier": "a magnifying glass",
    "clock": "a clock",
}
_HUES = tuple(COLOURS)
_PLURALS: Mapping[Scalar, str] = {shape: f"{shape}s" for shape in _SHAPES}


def _category(
    key: str, values: Sequence[Scalar] | Mapping[Scalar, str], says: str, denies: str, asks: str = ""
) -> Attribute:
    read = values if isinstance(values, Mapping) else {}
    return Attribute(key, "category", tuple(values), says, denies, asks=asks, words=read)


def _has(key: str, values: Sequence[Scalar] | Mapping[Scalar, str], what: str, asks: str = "") -> Attribute:
    return _category(key, values, f"{{subject}} has {what}", f"{{subject}} does not have {what}", asks)


def _shows(key: str, values: Sequence[Scalar] | Mapping[Scalar, str], what: str, asks: str = "") -> Attribute:
    return _category(key, values, f"{{subject}} shows {what}", f"{{subject}} does not show {what}", asks)


def _hue(key: str, part: str) -> Attribute:
    """The colour of a part, as in "the border of"."""
    return _category(
        key,
        _HUES,
        f"The {part} {{subject}} is {{value}}",
        f"The {part} {{subject}} is not {{value}}",
        f"What colour is the {part} {{subject}}?",
    )


def _quoted(values: Sequence[str]) -> dict[Scalar, str]:
    return {value: f"“{value}”" for value in values}


def _flag(key: str, says: str, denies: str) -> Attribute:
    return Attribute(key, "flag", (False, True), f"{{subject}} {says}", f"{{subject}} {denies}")


def _count(key: str, low: int, high: int, things: str, asks: str) -> Attribute:
    return Attribute(
        key,
        "count",
        tuple(range(low, high + 1)),
        f"{{subject}} has exactly {{value}} {things}",
        f"{{subject}} does not have exactly {{value}} {things}",
        f"{{subject}} has at least {{value}} {things}",
        f"{{subject}} has fewer than {{value}} {things}",
        asks,
        _NUMBERS,
    )


def _badge(key: str, where: str, asks: str) -> Attribute:
    return Attribute(
        key,
        "count",
        tuple(range(2, 10)),
        f"{{subject}} has the number {{value}} {where}",
        f"{{subject}} does not have the number {{value}} {where}",
        f"{{subject}} has the number {{value}} or a higher one {where}",
        f"{{subject}} has a number lower than {{value}} {where}",
        asks,
    )


_SWIPES: dict[Scalar, str] = {
    "tap": "a tap",
    "swipe up": "an upward swipe",
    "swipe down": "a downward swipe",
    "swipe left": "a swipe to the left",
    "swipe right": "a swipe to the right",
}


def _action(actions: Mapping[Scalar, str]) -> Attribute:
    return _category(
        "action",
        actions,
        "The action taken on {subject} is {value}",
        "The action taken on {subject} is not {value}",
        "Which action is taken on {subject}?",
    )


_STATUS: tuple[Attribute, ...] = (
    _shows(
        "time",
        words("6:15, 7:40, 8:05, 9:30, 10:50, 11:25, 12:10, 13:45, 15:20, 17:55, 19:35, 22:00"),
        "the time {value} in its status bar",
        "Which time does {subject} show in its status bar?",
    ),
    _shows(
        "battery",
        [f"{tens}0%" for tens in range(1, 10)],
        "a battery charge of {value}",
        "What battery charge does {subject} show?",
    ),
    _count(
        "signal", 2, 5, "full bars of signal strength", "How many full bars of signal strength does {subject} have?"
    ),
    _shows(
        "notice",
        {name: _SYMBOLS[name] for name in ("envelope", "bell", "camera", "note", "house", "person")},
        "{value} beside the time in its status bar",
        "Which symbol is beside the time in the status bar of {subject}?",
    ),
    _flag("charging", "shows a lightning bolt beside its battery", "shows no lightning bolt beside its battery"),
    _flag("buttons", "has three buttons in its navigation bar", "has no buttons in its navigation bar"),
)


def _app_bar(theme: Theme) -> tuple[Attribute, ...]:
    return (
        _category(
            "title",
            _quoted(theme.titles),
            "{subject} is titled {value}",
            "{subject} is not titled {value}",
            "What is the title of {subject}?",
        ),
        _badge("alerts", "on the bell in its app bar", "Which number is on the bell in the app bar of {subject}?"),
        _has(
            "lead",
            {"back": "a back arrow", "menu": "three lines", "cross": "a cross", "dots": "three dots"},
            "{value} at the left end of its app bar",
            "What is at the left end of the app bar of {subject}?",
        ),
    )


LOOKS: tuple[Attribute, ...] = (
    _hue("bar", "app bar of"),
    _flag("dark", "has a dark theme", "does not have a dark theme"),
)


def tab(theme: Theme) -> Attribute:
    """Which tab of the bar at the bottom is selected."""
    return _has("tab", _quoted(theme.tabs), "{value} as its selected tab", "Which tab is selected on {subject}?")


def _measure(theme: Theme) -> Attribute:
    noun, values = theme.measure
    return _shows("amount", values, f"the {noun} {{value}}", f"Which {noun} does {{subject}} show?")


_STARS = _count("stars", 2, 5, "filled rating stars", "How many filled rating stars does {subject} have?")


@cache
def screen_attributes(kind: str, theme: Theme) -> tuple[Attribute, ...]:
    """What may be said about a whole screen of one kind."""
    action = _action(_SWIPES | {"typing": "typing at a caret"} if kind in ("search", "chat") else _SWIPES)
    status = (*_STATUS, action)
    if kind == "launcher":
        return (*status, *_HOME)
    bar = (*status, *_app_bar(theme))
    if kind == "dialog":  # its colours are dimmed
        return bar
    own: Mapping[str, tuple[Attribute, ...]] = {
        "list": (tab(theme),),
        "settings": (tab(theme),),
        "scroll": _SCROLL,
        "search": (
            _count(
                "results",
                2,
                5,
                "entries below its text field",
                "How many entries are below the text field of {subject}?",
            ),
        ),
        "chat": (_count("messages", 2, 5, "messages", "How many messages does {subject} have?"),),
        "form": (
            _flag("agreed", "has a ticked check box", "does not have a ticked check box"),
            _flag("keyboard", "shows a keyboard", "does not show a keyboard"),
        ),
        "detail": (
            _STARS,
            _measure(theme),
            _has(
                "item",
                _quoted(theme.labels[:6]),
                "{value} as the heading below its picture",
                "Which heading is below the picture of {subject}?",
            ),
            _has(
                "chip", _quoted(theme.chips), "{value} as its selected choice", "Which choice is selected on {subject}?"
            ),
            _badge(
                "quantity", "between its minus and plus", "Which number is between the minus and the plus of {subject}?"
            ),
        ),
    }
    return (*bar, *LOOKS, *own[kind])


_HOME: tuple[Attribute, ...] = (
    _hue("wallpaper", "wallpaper of"),
    _shows(
        "weather",
        {"sun": "a sun", "cloud": "a cloud", "umbrella": "an umbrella", "moon": "a moon"},
        "{value} as its weather symbol",
        "Which weather symbol does {subject} show?",
    ),
    _shows(
        "temperature",
        words("3°, 8°, 14°, 19°, 25°, 31°"),
        "a temperature of {value}",
        "What temperature does {subject} show?",
    ),
    _flag("searchable", "has a search bar", "does not have a search bar"),
    _count("pages", 3, 7, "dots above its dock", "How many dots are above the dock of {subject}?"),
    _count("docked", 2, 5, "icons in its dock", "How many icons are in the dock of {subject}?"),
)
_SCROLL: tuple[Attribute, ...] = (
    _count("cards", 4, 7, "cards", "How many cards does {subject} have?"),
    _category(
        "scroll",
        {"top": "at the top", "middle": "in the middle", "bottom": "at the bottom"},
        "{subject} has its scroll handle {value}",
        "{subject} does not have its scroll handle {value}",
    ),
    _hue("float_colour", "floating button of"),
    _has(
        "float_symbol",
        {"plus": "a plus", "pencil": "a pencil", **{name: _SYMBOLS[name] for name in ("camera", "envelope", "note")}},
        "{value} on its floating button",
        "What is on the floating button of {subject}?",
    ),
)
_ICON: tuple[Attribute, ...] = (
    _has("shape", _SHAPES, "{value} as its icon", "What shape is the icon of {subject}?"),
    _hue("colour", "icon of"),
)


def _symbol(*names: str, what: str, asks: str) -> Attribute:
    return _has("symbol", {name: _SYMBOLS[name] for name in names}, what, asks)


_INPUT: tuple[Attribute, ...] = (
    _hue("border", "border of"),
    _symbol(
        *("envelope", "bell", "note", "house", "person", "magnifier"),
        what="{value} at its left end",
        asks="Which symbol is at the left end of {subject}?",
    ),
    _flag("clearable", "has a cross at its right end", "does not have a cross at its right end"),
    _flag("rounded", "has round ends", "does not have round ends"),
)


def text_in(values: Sequence[str]) -> Attribute:
    """What a field contains, out of some texts."""
    return _has("text", _quoted(values), "the text {value} in it", "What text is in {subject}?")


@cache
def part_attributes(theme: Theme) -> Mapping[str, tuple[Attribute, ...]]:
    """What may be said about each kind of element."""
    row = (
        *_ICON,
        _has("note", _quoted(theme.notes), "{value} as its second line", "What is the second line of {subject}?"),
        _badge("badge", "in its badge", "Which number is in the badge of {subject}?"),
        _category(
            "position",
            ORDINALS,
            "{subject} is the {value} from the top",
            "{subject} is not the {value} from the top",
            "Counting from the top, which row is {subject}?",
        ),
    )
    locked = _flag("locked", "has a padlock", "does not have a padlock")
    return {
        "list row": (*row, _flag("ticked", "has a ticked check box", "does not have a ticked check box"), locked),
        "settings row": (
            *row,
            _flag("is_on", "has its switch turned on", "has its switch turned off"),
            _flag("info", "has an information symbol", "does not have an information symbol"),
        ),
        "app": (
            _hue("colour", "icon of"),
            _has("symbol", _SYMBOLS, "{value} on its icon", "Which symbol is on the icon of {subject}?"),
            _badge("badge", "in its badge", "Which number is in the badge of {subject}?"),
            _flag("rounded", "has a circular icon", "has a square icon"),
            _flag("dot", "has a dot below its label", "has no dot below its label"),
            _category(
                "place",
                {place: "in the " + place.replace("middle centre", "centre") for place in GRID_PLACES},
                "{subject} is {value} of the grid",
                "{subject} is not {value} of the grid",
                "Where in the grid is {subject}?",
            ),
        ),
        "card": (
            *_ICON,
            _measure(theme),
            _STARS,
            _has("tag", _quoted(TAGS), "a tag that says {value}", "What does the tag of {subject} say?"),
            _hue("tag_colour", "tag of"),
            locked,
        ),
        "text field": (
            text_in(theme.typed),
            *_INPUT,
            _has("caption", _quoted(CAPTIONS), "the caption {value}", "What is the caption of {subject}?"),
            _flag("microphone", "has a microphone", "does not have a microphone"),
        ),
        "field": (
            *_INPUT,
            _has("helper", _quoted(HELPERS), "the remark {value}", "Which remark does {subject} have?"),
            _category(
                "position",
                {place: ORDINALS[place] for place in (1, 2, 3)},
                "{subject} is the {value} from the top",
                "{subject} is not the {value} from the top",
            ),
        ),
        "slider": (
            _has("label", _quoted(SLIDERS), "the label {value}", "What is the label of {subject}?"),
            _hue("colour", "handle of"),
            _has(
                "handle",
                {shape: read for shape, read in _SHAPES.items() if shape != "heart"},
                "{value} as its handle",
                "What shape is the handle of {subject}?",
            ),
            _category(
                "level",
                [f"{tens}0%" for tens in range(1, 10)],
                "{subject} is set to {value}",
                "{subject} is not set to {value}",
                "What is {subject} set to?",
            ),
            _count("marks", 3, 7, "marks below its line", "How many marks are below the line of {subject}?"),
            _symbol(
                *("bell", "camera", "note", "house", "clock"),
                what="{value} at its left end",
                asks="Which symbol is at the left end of {subject}?",
            ),
            locked,
        ),
        "dialog": (
            _category(
                "heading",
                _quoted(HEADINGS),
                "{subject} is headed {value}",
                "{subject} is not headed {value}",
                "What is the heading of {subject}?",
            ),
            *_ICON,
            _has(
                "left",
                _quoted(REFUSALS),
                "a left button that says {value}",
                "What does the left button of {subject} say?",
            ),
            _has(
                "right",
                _quoted(CONSENTS),
                "a right button that says {value}",
                "What does the right button of {subject} say?",
            ),
            _hue("button_colour", "right button of"),
            _has(
                "choice",
                {place: ORDINALS[place] for place in (1, 2, 3, 4)},
                "the {value} of its options selected",
                "Counting from the top, which option of {subject} is selected?",
            ),
            _flag("ticked", "has a ticked check box", "does not have a ticked check box"),
        ),
        "picture": (
            _shows("shape", _PLURALS, "{value}", "What shapes does {subject} show?"),
            _category(
                "colour",
                _HUES,
                "The shapes in {subject} are {value}",
                "The shapes in {subject} are not {value}",
                "What colour are the shapes in {subject}?",
            ),
            _count("shapes", 2, 5, "coloured shapes", "How many coloured shapes does {subject} have?"),
            _hue("frame", "frame of"),
            _has("tag", _quoted(TAGS), "a tag that says {value}", "What does the tag of {subject} say?"),
            _has(
                "corner",
                {corner: f"the {corner}" for corner in CORNERS},
                "its tag in {value} corner",
                "In which corner of {subject} is its tag?",
            ),
            _count("dots", 3, 7, "dots below it", "How many dots are below {subject}?"),
        ),
        "button": (
            _category(
                "label",
                _quoted(theme.buttons),
                "{subject} says {value}",
                "{subject} does not say {value}",
                "What does {subject} say?",
            ),
            _category("colour", _HUES, "{subject} is {value}", "{subject} is not {value}", "What colour is {subject}?"),
            _symbol(
                *("envelope", "bell", "camera", "note", "person"),
                what="{value} at its left end",
                asks="Which symbol is at the left end of {subject}?",
            ),
            _badge("badge", "in its badge", "Which number is in the badge of {subject}?"),
            _flag("wide", "spans the width of the screen", "does not span the width of the screen"),
            _flag("rounded", "has round ends", "does not have round ends"),
            _flag("onward", "has an arrow", "does not have an arrow"),
        ),
        "message": (
            _category(
                "text",
                _quoted(MESSAGES),
                "{subject} says {value}",
                "{subject} does not say {value}",
                "What does {subject} say?",
            ),
            _category("colour", _HUES, "{subject} is {value}", "{subject} is not {value}", "What colour is {subject}?"),
            _flag("right", "is on the right", "is on the left"),
            _has(
                "sent",
                words("6:02, 7:18, 9:44, 11:31, 14:27, 16:50, 18:09, 21:36"),
                "the time {value} on it",
                "Which time is on {subject}?",
            ),
            _has(
                "reaction",
                {shape: _SHAPES[shape] for shape in ("heart", "star", "diamond", "triangle")},
                "{value} as its reaction",
                "Which shape is the reaction to {subject}?",
            ),
            _badge("reactions", "beside its reaction", "Which number is beside the reaction to {subject}?"),
            _flag("ticked", "has a tick", "does not have a tick"),
        ),
        "keyboard": (
            _has("layout", tuple(LETTER_ROWS), "the {value} layout", "Which layout does {subject} have?"),
            _has(
                "enter",
                _quoted(words("Go, Send, Next, Done, Find, Join")),
                "an enter key that says {value}",
                "What does the enter key of {subject} say?",
            ),
            _hue("enter_colour", "enter key of"),
            _shows(
                "suggestion",
                _quoted(words("thanks, today, please, coffee, maybe, sunday")),
                "{value} as its middle suggestion",
                "What is the middle suggestion of {subject}?",
            ),
            _flag("capitals", "has capital letters on its letter keys", "has small letters on its letter keys"),
            _flag("digits", "has a row of digits", "does not have a row of digits"),
            _flag("microphone", "has a microphone key", "does not have a microphone key"),
            _flag("dark_keys", "has dark keys", "has light keys"),
        ),
    }
