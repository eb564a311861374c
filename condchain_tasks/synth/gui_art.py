"""Draws phone screens from facts: the pictures of the gui domain.

Nothing is decided here: a screen looks as its facts say. What a fact means is in `gui_attributes`, next to
the words that state it. Lengths are pixels of a 540 x 1170 screen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

from PIL import Image

from condchain_tasks.synth.gui_canvas import (
    BLACK,
    COLOURS,
    DARK,
    LIGHT,
    WHITE,
    WIDTH,
    Box,
    Canvas,
    Colour,
    contrast,
    font,
)
from condchain_tasks.synth.world import Scalar

LETTER_ROWS: Mapping[str, tuple[str, str, str]] = {
    "QWERTY": ("qwertyuiop", "asdfghjkl", "zxcvbnm"),
    "AZERTY": ("azertyuiop", "qsdfghjklm", "wxcvbn"),
    "QWERTZ": ("qwertzuiop", "asdfghjkl", "yxcvbnm"),
    "DVORAK": (",.pyfgcrl", "aoeuidhtns", "qjkxbmwvz"),
}
GRID_PLACES = tuple(f"{row} {column}" for row in ("top", "middle", "bottom") for column in ("left", "centre", "right"))
CORNERS = ("top left", "top right", "bottom left", "bottom right")


@dataclass(frozen=True)
class Part:
    """An element of a screen.

    Attributes:
        kind: "row", "card", "app", "dialog", "keyboard", "text field", "field", "slider", "picture",
            "button" or "message".
        facts: What the element looks like.
    """

    kind: str
    facts: Mapping[str, Scalar]


@dataclass(frozen=True)
class Screen:
    """One frame of a trajectory.

    Attributes:
        kind: A key of `LAYOUTS`.
        facts: What the screen looks like as a whole.
        parts: Its elements, from top to bottom.
    """

    kind: str
    facts: Mapping[str, Scalar]
    parts: tuple[Part, ...]

    def of(self, kind: str) -> tuple[Part, ...]:
        """The elements of one kind."""
        return tuple(part for part in self.parts if part.kind == kind)


_Facts = Mapping[str, Scalar]


def _paint(facts: _Facts, key: str) -> Colour:
    return COLOURS[str(facts[key])]


def _whole(facts: _Facts, key: str) -> int:
    return cast(int, facts[key])


def _status_bar(canvas: Canvas, facts: _Facts, background: Colour) -> None:
    ink, middle = contrast(background), 26
    canvas.text((22, middle), str(facts["time"]), 23, ink, bold=True)
    canvas.symbol(str(facts["notice"]), (128, middle), 28, ink)
    for place in range(5):
        left, top = 318 + place * 13, 33 - place * 4
        canvas.box((left, top, left + 10, 38), ink)
        if place >= _whole(facts, "signal"):
            canvas.box((left + 2, top + 2, left + 8, 36), background)
    if facts["charging"]:
        canvas.symbol("bolt", (403, middle), 28, ink)
    charge = str(facts["battery"])
    canvas.outlined((420, 15, 460, 37), 4, ink, background)
    canvas.box((460, 22, 463, 30), ink)
    canvas.box((424, 19, 424 + round(32 * int(charge.rstrip("%")) / 100), 33), ink)
    canvas.text((526, middle), charge, 20, ink, bold=True, anchor="r")


def _navigation_bar(canvas: Canvas, facts: _Facts, background: Colour) -> None:
    ink = contrast(background)
    if facts["buttons"]:
        for name, x in (("triangle back", 110), ("ring", 270), ("frame", 430)):
            canvas.symbol(name, (x, 1136), 34, ink)
    else:
        canvas.rounded((190, 1144, 350, 1152), 4, ink)


def _app_bar(canvas: Canvas, facts: _Facts) -> None:
    colour = _paint(facts, "bar")
    ink = contrast(colour)
    canvas.box((0, 52, WIDTH, 130), colour)
    canvas.symbol(str(facts["lead"]), (40, 91), 34, ink)
    canvas.text((82, 91), str(facts["title"]), 29, ink, bold=True)
    canvas.symbol("bell", (484, 94), 38, ink)
    canvas.number((504, 76), facts["alerts"])


TAB_SYMBOLS = ("house", "magnifier", "heart", "person")


def _tab_bar(canvas: Canvas, facts: _Facts) -> None:
    scheme = canvas.scheme
    canvas.box((0, 1008, WIDTH, 1010), scheme.line)
    for place, name in enumerate(str(facts["tabs"]).split()):
        centre = 68 + place * 135
        chosen = name == facts["tab"]
        if chosen:
            canvas.rounded((centre - 60, 1014, centre + 60, 1098), 18, scheme.ink)
        ink = scheme.surface if chosen else scheme.muted
        canvas.symbol(TAB_SYMBOLS[place], (centre, 1042), 32, ink)
        canvas.text((centre, 1078), name, 19, ink, bold=chosen, anchor="m")


def _check_box(canvas: Canvas, centre: tuple[int, int], ticked: bool) -> None:
    scheme = canvas.scheme
    x, y = centre
    inside = scheme.ink if ticked else scheme.surface
    canvas.outlined((x - 17, y - 17, x + 17, y + 17), 6, scheme.ink, inside, 3)
    if ticked:
        canvas.symbol("tick", centre, 26, scheme.surface)


def _toggle(canvas: Canvas, centre: tuple[int, int], is_on: bool) -> None:
    scheme = canvas.scheme
    x, y = centre
    canvas.outlined((x - 34, y - 18, x + 34, y + 18), 18, scheme.ink, scheme.ink if is_on else scheme.surface, 3)
    knob, colour = (x + 16, scheme.surface) if is_on else (x - 16, scheme.ink)
    canvas.symbol("circle", (knob, y), 26, colour)


ROW_HEIGHT = 118
ROWS_TOP = 134


def _rows(canvas: Canvas, screen: Screen) -> None:
    scheme = canvas.scheme
    for part in screen.of("row"):
        row = part.facts
        top = ROWS_TOP + (_whole(row, "position") - 1) * ROW_HEIGHT
        middle = top + ROW_HEIGHT // 2
        canvas.symbol(str(row["shape"]), (52, middle), 58, _paint(row, "colour"))
        canvas.text((98, middle - 18), str(row["label"]), 24, scheme.ink, bold=True)
        canvas.text((98, middle + 20), str(row["note"]), 19, scheme.muted)
        canvas.number((392, middle), row["badge"])
        if "is_on" in row:
            if row["info"]:
                canvas.symbol("info", (437, middle), 34, scheme.muted)
            _toggle(canvas, (496, middle), bool(row["is_on"]))
        else:
            if row["locked"]:
                canvas.symbol("padlock", (447, middle), 34, scheme.ink)
            _check_box(canvas, (502, middle), bool(row["ticked"]))
        canvas.box((98, top + ROW_HEIGHT - 2, WIDTH, top + ROW_HEIGHT), scheme.line)


def _launcher(canvas: Canvas, screen: Screen) -> None:
    facts = screen.facts
    background = _paint(facts, "wallpaper")
    ink = contrast(background)
    canvas.rounded((20, 66, 520, 186), 28, WHITE)
    canvas.symbol(str(facts["weather"]), (90, 126), 80, LIGHT.ink)
    canvas.text((500, 126), str(facts["temperature"]), 52, LIGHT.ink, bold=True, anchor="r")
    if facts["searchable"]:
        canvas.rounded((20, 206, 520, 266), 30, LIGHT.raised)
        canvas.symbol("magnifier", (56, 236), 32, LIGHT.muted)
    for part in screen.of("app"):
        app = part.facts
        place = GRID_PLACES.index(str(app["place"]))
        x, y = 90 + place % 3 * 180, 346 + place // 3 * 200
        tile = _paint(app, "colour")
        radius = 50 if app["rounded"] else 12
        canvas.outlined((x - 50, y - 50, x + 50, y + 50), radius, WHITE, tile, 4)
        canvas.symbol(str(app["symbol"]), (x, y), 56, contrast(tile))
        canvas.number((x + 42, y - 42), app["badge"])
        canvas.text((x, y + 70), str(app["label"]), 21, ink, bold=True, anchor="m")
        if app["dot"]:
            canvas.symbol("circle", (x, y + 94), 13, ink)
    dots = _whole(facts, "pages")
    for place in range(dots):
        canvas.symbol("circle", (270 + (2 * place - dots + 1) * 17, 926), 17, ink)
    canvas.rounded((20, 950, 520, 1080), 34, LIGHT.raised)
    docked = _whole(facts, "docked")
    for place in range(docked):
        x = 270 + (2 * place - docked + 1) * 48
        canvas.rounded((x - 36, 979, x + 36, 1051), 18, LIGHT.muted)
        canvas.symbol(("person", "envelope", "camera", "house", "clock")[place], (x, 1015), 40, WHITE)


def _cards(canvas: Canvas, screen: Screen) -> None:
    scheme, facts = canvas.scheme, screen.facts
    cards = screen.of("card")
    pitch = 950 // len(cards)
    for place, part in enumerate(cards):
        card = part.facts
        top = 138 + place * pitch
        canvas.rounded((14, top, 508, top + pitch - 8), 16, scheme.raised)
        top += (pitch - 8 - 116) // 2
        canvas.rounded((24, top + 12, 116, top + 104), 12, scheme.surface)
        canvas.symbol(str(card["shape"]), (70, top + 58), 66, _paint(card, "colour"))
        canvas.text((130, top + 24), str(card["label"]), 22, scheme.ink, bold=True)
        canvas.text((130, top + 58), str(card["amount"]), 21, scheme.ink)
        if card["locked"]:
            canvas.symbol("padlock", (382, top + 28), 34, scheme.ink)
        canvas.stars(130, top + 90, 26, _whole(card, "stars"), scheme.raised)
        tag = _paint(card, "tag_colour")
        canvas.rounded((308, top + 76, 396, top + 108), 8, tag)
        canvas.text((352, top + 92), str(card["tag"]), 19, contrast(tag), bold=True, anchor="m")
    canvas.rounded((518, 140, 532, 1084), 7, scheme.line)
    thumb = {"top": 146, "middle": 532, "bottom": 918}[str(facts["scroll"])]
    canvas.rounded((518, thumb, 532, thumb + 160), 7, scheme.ink)
    colour = _paint(facts, "float_colour")
    canvas.symbol("circle", (450, 1030), 96, scheme.surface)
    canvas.symbol("circle", (450, 1030), 86, colour)
    canvas.symbol(str(facts["float_symbol"]), (450, 1030), 44, contrast(colour))


def _input(canvas: Canvas, box: Box, facts: _Facts) -> None:
    """What a text field and a field of a form have in common."""
    scheme = canvas.scheme
    left, top, right, bottom = box
    middle = (top + bottom) // 2
    canvas.outlined(box, 28 if facts["rounded"] else 0, _paint(facts, "border"), scheme.surface, 6)
    canvas.symbol(str(facts["symbol"]), (left + 42, middle), 32, scheme.ink)
    canvas.text((left + 72, middle), str(facts["text"]), 22, scheme.ink)
    if facts["clearable"]:
        canvas.symbol("cross", (right - 38, middle), 28, scheme.ink)


def _text_field(canvas: Canvas, screen: Screen, box: Box) -> None:
    scheme = canvas.scheme
    (part,) = screen.of("text field")
    _input(canvas, box, part.facts)
    left, top, right, bottom = box
    middle = (top + bottom) // 2
    if part.facts["microphone"]:
        canvas.symbol("microphone", (right - 82, middle), 34, scheme.ink)
    caption = str(part.facts["caption"])
    width = round(font(18, True).getlength(caption))
    canvas.box((left + 34, top - 2, left + 46 + width, top + 10), scheme.surface)
    canvas.text((left + 40, top + 1), caption, 18, scheme.ink, bold=True)
    if screen.facts["action"] == "typing":
        caret = left + 76 + round(font(22, False).getlength(str(part.facts["text"])))
        canvas.box((caret, middle - 18, caret + 4, middle + 18), scheme.ink)


KEYBOARD_TOP = 740


def _keyboard(canvas: Canvas, facts: _Facts) -> None:
    dark = bool(facts["dark_keys"])
    scheme = DARK if dark else LIGHT
    key, ink = ((96, 98, 106), WHITE) if dark else (WHITE, BLACK)
    canvas.box((0, KEYBOARD_TOP, WIDTH, 1100), scheme.line if not dark else scheme.surface)
    for x, word in ((90, "and"), (270, str(facts["suggestion"])), (450, "the")):
        canvas.text((x, KEYBOARD_TOP + 26), word, 22, scheme.ink, bold=True, anchor="m")
    for x in (180, 360):
        canvas.box((x - 1, KEYBOARD_TOP + 12, x + 1, KEYBOARD_TOP + 40), scheme.muted)
    letters = LETTER_ROWS[str(facts["layout"])]
    rows = (("1234567890",) if facts["digits"] else ()) + letters
    pitch = (1096 - KEYBOARD_TOP - 52) // (len(rows) + 1)
    top = KEYBOARD_TOP + 52
    for row in rows:
        left = (WIDTH - 53 * len(row)) // 2
        for place, letter in enumerate(row.upper() if facts["capitals"] else row):
            x = left + 53 * place
            canvas.rounded((x + 3, top + 4, x + 50, top + pitch - 4), 7, key)
            canvas.text((x + 26, top + pitch // 2), letter, 25, ink, anchor="m")
        top += pitch
    bottom = top + pitch - 4
    middle = top + pitch // 2
    canvas.rounded((6, top + 4, 76, bottom), 7, scheme.muted)
    canvas.text((41, middle), "?!", 22, contrast(scheme.muted), bold=True, anchor="m")
    if facts["microphone"]:
        canvas.rounded((82, top + 4, 142, bottom), 7, key)
        canvas.symbol("microphone", (112, middle), 36, ink)
    canvas.rounded((148, top + 4, 396, bottom), 7, key)
    enter = _paint(facts, "enter_colour")
    canvas.rounded((402, top + 4, 534, bottom), 7, enter)
    canvas.text((468, middle), str(facts["enter"]), 23, contrast(enter), bold=True, anchor="m")


def _search(canvas: Canvas, screen: Screen) -> None:
    scheme = canvas.scheme
    _text_field(canvas, screen, (20, 156, 520, 224))
    for place in range(_whole(screen.facts, "results")):
        middle = 282 + place * 76
        canvas.symbol("clock", (46, middle), 34, scheme.muted)
        canvas.text((84, middle), str(screen.facts[f"result_{place + 1}"]), 23, scheme.ink)
        canvas.box((84, middle + 37, WIDTH, middle + 39), scheme.line)
    (keyboard,) = screen.of("keyboard")
    _keyboard(canvas, keyboard.facts)


def _chat(canvas: Canvas, screen: Screen) -> None:
    scheme = canvas.scheme
    for place, part in enumerate(screen.of("message")):
        message = part.facts
        top = 138 + place * 80
        left = 160 if message["right"] else 14
        colour = _paint(message, "colour")
        ink = contrast(colour)
        canvas.rounded((left, top, left + 366, top + 72), 22, colour)
        canvas.text((left + 18, top + 23), str(message["text"]), 21, ink, bold=True)
        canvas.text((left + 18, top + 52), str(message["sent"]), 18, ink)
        if message["ticked"]:
            canvas.symbol("tick", (left + 100, top + 52), 26, ink)
        canvas.rounded((left + 256, top + 25, left + 352, top + 67), 21, WHITE)
        canvas.symbol(str(message["reaction"]), (left + 284, top + 46), 28, BLACK)
        canvas.text((left + 326, top + 46), str(message["reactions"]), 23, BLACK, bold=True, anchor="m")
    _text_field(canvas, screen, (14, 664, 456, 730))
    canvas.symbol("circle", (498, 697), 64, scheme.ink)
    canvas.symbol("send", (500, 697), 34, scheme.surface)
    (keyboard,) = screen.of("keyboard")
    _keyboard(canvas, keyboard.facts)


def _form(canvas: Canvas, screen: Screen) -> None:
    scheme = canvas.scheme
    for part in screen.of("field"):
        field = part.facts
        top = 140 + (_whole(field, "position") - 1) * 112
        canvas.text((26, top + 14), str(field["label"]), 21, scheme.ink, bold=True)
        canvas.text((514, top + 14), str(field["helper"]), 20, scheme.muted, anchor="r")
        _input(canvas, (20, top + 32, 520, top + 98), field)
    (part,) = screen.of("slider")
    _slider(canvas, part.facts)
    _check_box(canvas, (44, 648), bool(screen.facts["agreed"]))
    canvas.text((76, 648), "I agree to the terms", 21, scheme.ink)
    if screen.facts["keyboard"]:
        _keyboard(canvas, PLAIN_KEYBOARD)
    else:
        canvas.rounded((20, 760, 520, 830), 16, scheme.ink)
        canvas.text((270, 795), "Continue", 25, scheme.surface, bold=True, anchor="m")


PLAIN_KEYBOARD: _Facts = {
    "dark_keys": False,
    "suggestion": "is",
    "layout": "QWERTY",
    "digits": False,
    "capitals": False,
    "microphone": False,
    "enter_colour": "blue",
    "enter": "Next",
}


def _slider(canvas: Canvas, slider: _Facts) -> None:
    scheme = canvas.scheme
    colour = _paint(slider, "colour")
    left, right, line = 76, 440, 560
    level = int(str(slider["level"]).rstrip("%"))
    at = left + (right - left) * level // 100
    canvas.text((26, 498), str(slider["label"]), 21, scheme.ink, bold=True)
    canvas.symbol(str(slider["symbol"]), (42, line), 36, scheme.ink)
    canvas.rounded((left, line - 6, right, line + 6), 6, scheme.line)
    canvas.rounded((left, line - 6, at, line + 6), 6, colour)
    marks = _whole(slider, "marks")
    for place in range(marks):
        x = left + (right - left) * place // (marks - 1)
        canvas.box((x - 2, line + 24, x + 2, line + 42), scheme.ink)
    canvas.symbol(str(slider["handle"]), (at, line), 42, colour)
    canvas.text((at, line - 38), str(slider["level"]), 21, scheme.ink, bold=True, anchor="m")
    if slider["locked"]:
        canvas.symbol("padlock", (496, line), 38, scheme.ink)


def _detail(canvas: Canvas, screen: Screen) -> None:
    scheme, facts = canvas.scheme, screen.facts
    (part,) = screen.of("picture")
    picture = part.facts
    canvas.outlined((20, 142, 520, 470), 0, _paint(picture, "frame"), scheme.raised, 14)
    shapes = _whole(picture, "shapes")
    for place in range(shapes):
        centre = (270 + (2 * place - shapes + 1) * 38, 306)
        canvas.symbol(str(picture["shape"]), centre, 66, _paint(picture, "colour"))
    vertical, horizontal = str(picture["corner"]).split()
    x, y = (90 if horizontal == "left" else 450), (186 if vertical == "top" else 426)
    canvas.rounded((x - 48, y - 22, x + 48, y + 22), 8, scheme.ink)
    canvas.text((x, y), str(picture["tag"]), 22, scheme.surface, bold=True, anchor="m")
    dots = _whole(picture, "dots")
    for place in range(dots):
        canvas.symbol("circle", (270 + (2 * place - dots + 1) * 15, 492), 16, scheme.ink)

    canvas.text((24, 540), str(facts["item"]), 30, scheme.ink, bold=True)
    canvas.text((24, 594), str(facts["amount"]), 28, scheme.ink)
    canvas.stars(24, 648, 34, _whole(facts, "stars"), scheme.surface)
    for place, name in enumerate(str(facts["chips"]).split()):
        box = (20 + place * 82, 684, 96 + place * 82, 734)
        chosen = name == facts["chip"]
        canvas.outlined(box, 14, scheme.ink, scheme.ink if chosen else scheme.surface)
        ink = scheme.surface if chosen else scheme.ink
        canvas.text((58 + place * 82, 709), name, 20, ink, bold=chosen, anchor="m")
    for name, x in (("minus", 50), ("plus", 250)):
        canvas.rounded((x - 30, 764, x + 30, 824), 14, scheme.raised)
        canvas.symbol(name, (x, 794), 30, scheme.ink)
    canvas.text((150, 794), str(facts["quantity"]), 34, scheme.ink, bold=True, anchor="m")

    (part,) = screen.of("button")
    button = part.facts
    colour = _paint(button, "colour")
    ink = contrast(colour)
    right = 520 if button["wide"] else 340
    canvas.rounded((20, 900, right, 984), 42 if button["rounded"] else 0, colour)
    canvas.symbol(str(button["symbol"]), (66, 942), 38, ink)
    canvas.text((98, 942), str(button["label"]), 24, ink, bold=True)
    if button["onward"]:
        canvas.symbol("onward", (right - 46, 942), 36, ink)
    canvas.number((right - 18, 900), button["badge"])


def _dialog(canvas: Canvas, screen: Screen) -> None:
    scheme = canvas.scheme
    _rows(canvas, screen)
    _tab_bar(canvas, screen.facts)
    canvas.dim(52)
    (part,) = screen.of("dialog")
    dialog = part.facts
    canvas.rounded((40, 270, 500, 866), 30, scheme.surface)
    canvas.symbol(str(dialog["shape"]), (270, 328), 70, _paint(dialog, "colour"))
    canvas.text((270, 400), str(dialog["heading"]), 28, scheme.ink, bold=True, anchor="m")
    for place in range(4):
        middle = 460 + place * 62
        canvas.symbol("circle", (86, middle), 36, scheme.ink)
        canvas.symbol("circle", (86, middle), 28, scheme.surface)
        if place + 1 == dialog["choice"]:
            canvas.symbol("circle", (86, middle), 20, scheme.ink)
        canvas.text((122, middle), str(dialog[f"option_{place + 1}"]), 22, scheme.ink)
    canvas.box((62, 692, 478, 694), scheme.line)
    _check_box(canvas, (86, 730), bool(dialog["ticked"]))
    canvas.text((122, 730), "Do not show again", 21, scheme.ink)
    canvas.outlined((64, 778, 258, 844), 16, scheme.ink, scheme.surface, 3)
    canvas.text((161, 811), str(dialog["left"]), 23, scheme.ink, bold=True, anchor="m")
    colour = _paint(dialog, "button_colour")
    canvas.rounded((282, 778, 476, 844), 16, colour)
    canvas.text((379, 811), str(dialog["right"]), 23, contrast(colour), bold=True, anchor="m")


def _list(canvas: Canvas, screen: Screen) -> None:
    _rows(canvas, screen)
    _tab_bar(canvas, screen.facts)


def _scroll(canvas: Canvas, screen: Screen) -> None:
    _cards(canvas, screen)


@dataclass(frozen=True)
class _Layout:
    """How a kind of screen is drawn, and where its gestures hide nothing.

    Attributes:
        draw: Draws everything between the bars.
        up_down: Centre of a vertical swipe, and its length.
        left_right: The same for a horizontal swipe.
        taps: Points that a tap may hit.
    """

    draw: Callable[[Canvas, Screen], None]
    up_down: tuple[int, int, int]
    left_right: tuple[int, int, int]
    taps: tuple[tuple[int, int], ...]


_ROW_TAPS = tuple((328, ROWS_TOP + ROW_HEIGHT // 2 + place * ROW_HEIGHT) for place in range(6))
LAYOUTS: Mapping[str, _Layout] = {
    "launcher": _Layout(_launcher, (180, 546, 220), (270, 468, 220), ((280, 126),)),
    "list": _Layout(_list, (336, 460, 220), (270, 926, 220), _ROW_TAPS),
    "settings": _Layout(_list, (336, 460, 220), (270, 926, 220), _ROW_TAPS),
    "scroll": _Layout(_scroll, (454, 500, 220), (454, 560, 100), ((454, 300), (454, 520), (454, 680))),
    "search": _Layout(_search, (440, 470, 220), (420, 470, 180), ((440, 282), (440, 358))),
    "chat": _Layout(_chat, (270, 596, 108), (270, 596, 160), ((498, 697),)),
    "form": _Layout(_form, (440, 660, 108), (440, 660, 150), ((440, 660),)),
    "dialog": _Layout(_dialog, (270, 936, 120), (270, 936, 180), ((440, 460), (440, 584), (440, 646))),
    "detail": _Layout(_detail, (440, 690, 220), (440, 690, 160), ((250, 794), (50, 794))),
}


def draw_screen(screen: Screen) -> Image.Image:
    """Draws one frame.

    Args:
        screen: What it shows.

    Returns:
        An RGB picture of 540 x 1170 pixels.
    """
    facts = screen.facts
    scheme = DARK if facts["dark"] else LIGHT
    home = screen.kind == "launcher"
    background = _paint(facts, "wallpaper") if home else scheme.surface
    canvas = Canvas(scheme, background)
    layout = LAYOUTS[screen.kind]
    _status_bar(canvas, facts, background)
    if not home:
        _app_bar(canvas, facts)
    layout.draw(canvas, screen)
    _navigation_bar(canvas, facts, BLACK if screen.kind == "dialog" else background)
    action = str(facts["action"])
    if action == "tap":
        canvas.gesture(action, layout.taps[_whole(facts, "touch") % len(layout.taps)], 84)
    elif action.startswith("swipe"):
        x, y, length = layout.up_down if action in ("swipe up", "swipe down") else layout.left_right
        canvas.gesture(action, (x, y), length)
    return canvas.image
