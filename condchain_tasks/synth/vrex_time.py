"""A room with a clock, a calendar and a window: when is it? And a poster that tells of another time."""

from __future__ import annotations

import math
import random
from itertools import product

from PIL import Image

from condchain_tasks.synth.vrex_pen import COLOURS, GREY, INK, PALE, WHITE, Sheet, polygon
from condchain_tasks.synth.vrex_plan import Ask, Kind, Plan
from condchain_tasks.synth.vrex_queries import Best, Count, Derived, Lookup, Row, Scene
from condchain_tasks.synth.vrex_rules import Compose

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = {
    "January": 31, "February": 28, "March": 31, "April": 30, "May": 31, "June": 30, "July": 31, "August": 31,
    "September": 30, "October": 31, "November": 30, "December": 31,
}  # fmt: skip
"""With their days."""

_SKY = {"the sun": "by day", "the moon": "by night"}
_HALLS = ("Old Mill", "Town Hall", "Blue Barn", "City Park")
_HUES = ("red", "green", "blue", "purple", "orange")
_ORDER = ("clock", "sky", "weekday", "day", "month")
"""What is asked in chains of 3, 4, 5 and 6 steps: the first two, three, four, or all."""

_WIDTH, _HEIGHT = 1100, 700


def _plan(rng: random.Random, length: int) -> Plan:
    scene = _scene(rng)
    asked = list(_ORDER[: length - 1])
    rng.shuffle(asked)
    times = tuple(_clock(rng) for _ in range(8))
    numbers = tuple(map(str, range(1, 29)))
    today = {"crossed": "no"}
    here = {
        "clock": Ask("What time is it by the clock in the room?", Lookup("clock", {}, "time"), times),
        "sky": Ask("Is the sun or the moon in the window of the room?", Lookup("window", {}, "sky"), tuple(_SKY)),
        "weekday": Ask(
            "On which weekday is the first day that is not crossed out?",
            Best("days", today, "day", False, "weekday"),
            _WEEKDAYS,
        ),
        "day": Ask(
            "What is the number of the first day that is not crossed out?",
            Best("days", today, "day", False, "day"),
            numbers,
        ),
        "month": Ask("Which month does the calendar show?", Lookup("calendar", {}, "month"), tuple(_MONTHS)),
    }
    there = {
        "clock": Ask("At what time does the concert on the poster begin?", Lookup("poster", {}, "time")),
        "sky": Ask("Where does the concert on the poster take place?", Lookup("poster", {}, "hall")),
        "weekday": Ask("On which weekday is the concert on the poster?", Lookup("poster", {}, "weekday")),
        "day": Ask("On which day of the month is the concert on the poster?", Lookup("poster", {}, "day")),
        "month": Ask("In which month is the concert on the poster?", Lookup("poster", {}, "month")),
    }
    gold = tuple(here[key] for key in asked)
    rule = Compose(_template(asked), _SKY)
    parts = []
    for ask in gold:
        right = str(ask.query.result(scene))
        parts.append((right, rng.choice([text for text in ask.wrong if text != right])))
    return Plan(
        scene=scene,
        final=Ask(
            "When was the picture of the room made?",
            Derived(rule, tuple(ask.query for ask in gold)),
            tuple(str(rule.apply(texts)) for texts in product(*parts)),
        ),
        rule=rule,
        gold=gold,
        distracting=tuple(there[key] for key in asked),
        asides=_asides(),
    )


def _clock(rng: random.Random) -> str:
    return f"{rng.choice((1, 2, 3, 4, 8, 9, 10, 11))}:{5 * rng.randint(0, 11):02d}"


def _template(asked: list[str]) -> str:
    part = {key: f"{{{number}}}" for number, key in enumerate(asked, 1)}
    date = " ".join(part[key] for key in ("day", "month") if key in part)
    return ", ".join(filter(None, (part.get("weekday", ""), date, f"{part['clock']} {part['sky']}")))


def _scene(rng: random.Random) -> Scene:
    month = rng.choice([name for name in _MONTHS if name != "February"])
    offset, length, today = rng.randrange(7), _MONTHS[month], rng.randint(2, 28)
    days: list[Row] = [
        {
            "day": day,
            "weekday": _WEEKDAYS[(offset + day - 1) % 7],
            "week": (offset + day - 1) // 7,
            "crossed": "yes" if day < today else "no",
        }
        for day in range(1, length + 1)
    ]
    concert = rng.choice([day for day in range(1, 29) if day != today])
    names = tuple(_MONTHS)
    poster: Row = {
        "month": names[(names.index(month) + 1) % len(names)],
        "day": concert,
        "weekday": _WEEKDAYS[(offset + length + concert - 1) % 7],
        "time": f"{rng.choice((5, 6, 7))}:{rng.choice(('00', '15', '30', '45'))} pm",
        "hall": rng.choice(_HALLS),
        "price": rng.randint(4, 15),
        "colour": rng.choice(_HUES),
    }
    hues = rng.sample(_HUES, 4)
    books: list[Row] = [{"colour": rng.choice(_HUES)} for _ in range(rng.randint(4, 9))]
    return Scene(
        "time",
        {
            "clock": ({"time": _clock(rng), "colour": hues[0]},),
            "window": ({"sky": rng.choice(tuple(_SKY)), "curtains": hues[1]},),
            "calendar": ({"month": month},),
            "days": tuple(days),
            "poster": (poster,),
            "books": tuple(books),
            "table": ({"vase": hues[2], "flowers": rng.randint(2, 6), "cloth": hues[3]},),
        },
    )


def _asides() -> tuple[Ask, ...]:
    return (
        Ask("What colour are the curtains at the window in the room?", Lookup("window", {}, "curtains")),
        Ask("What colour is the rim of the clock on the wall?", Lookup("clock", {}, "colour")),
        Ask("How many books are there on the shelf?", Count("books", {})),
        *(Ask(f"How many of the books on the shelf are {hue}?", Count("books", {"colour": hue})) for hue in _HUES),
        Ask("What colour was the vase on the table in the picture of the room?", Lookup("table", {}, "vase")),
        Ask("How many flowers have been put in the vase on the table?", Lookup("table", {}, "flowers")),
        Ask("What colour is the cloth?", Lookup("table", {}, "cloth")),
        Ask("How many coins does a ticket for the concert cost?", Lookup("poster", {}, "price")),
        Ask("What colour is the poster that hangs on the wall in the room?", Lookup("poster", {}, "colour")),
        Ask("On which weekday does the month begin?", Lookup("days", {"day": 1}, "weekday")),
        Ask("How many days does the month on the wall of the room have?", Count("days", {})),
    )


def _draw(scene: Scene) -> Image.Image:
    sheet = Sheet(_WIDTH, _HEIGHT, "#f3ead8")
    sheet.box(0, 560, _WIDTH, 140, "#c9a777", None)
    sheet.line([(0, 560), (_WIDTH, 560)], "#8a6a40", 4)
    _draw_window(sheet, scene.rows("window")[0])
    _draw_clock(sheet, scene.rows("clock")[0])
    _draw_calendar(sheet, scene)
    _draw_poster(sheet, scene.rows("poster")[0])
    sheet.box(330, 520, 300, 14, "#8a6a40", INK)
    for k, row in enumerate(scene.rows("books")):
        sheet.box(340 + 30 * k, 444 + 8 * (k % 2), 28, 76 - 8 * (k % 2), COLOURS[str(row["colour"])], INK)
    _draw_table(sheet, scene.rows("table")[0])
    return sheet.finish()


def _draw_window(sheet: Sheet, row: Row) -> None:
    day = row["sky"] == "the sun"
    sheet.box(50, 60, 230, 260, "#bfe3fa" if day else "#1d2a4d", INK, 0, 5)
    at = (200, 130)
    if day:
        for point in polygon(at, 52, 12):
            sheet.line([at, point], "#f2b01d", 5)
        sheet.disc(at, 34, "#ffd84a", "#f2b01d")
    else:
        sheet.disc(at, 36, "#f6efcf", None)
        sheet.disc((at[0] - 18, at[1] - 10), 32, "#1d2a4d", None)
        for x, y in ((100, 110), (140, 210), (230, 230), (110, 280), (170, 260)):
            sheet.disc((x, y), 3, WHITE, None)
    sheet.line([(165, 60), (165, 320)], INK, 4)
    sheet.line([(50, 190), (280, 190)], INK, 4)
    for left in (28, 250):
        sheet.box(left, 46, 52, 310, COLOURS[str(row["curtains"])], INK, 6)


def _draw_clock(sheet: Sheet, row: Row) -> None:
    x, y = at = (470, 200)
    sheet.disc(at, 128, COLOURS[str(row["colour"])], INK)
    sheet.disc(at, 112, WHITE, INK)
    for number, (px, py) in enumerate(polygon(at, 88, 12, -60), 1):
        sheet.text((px, py), str(number), 20, bold=True)
    hour, minute = map(int, str(row["time"]).split(":"))
    for turn, reach, thick in (((hour + minute / 60) / 12, 52, 8), (minute / 60, 84, 5)):
        angle = 2 * math.pi * turn
        sheet.line([at, (x + reach * math.sin(angle), y - reach * math.cos(angle))], INK, thick)
    for tick in polygon(at, 106, 60):
        sheet.disc(tick, 1.5, GREY, None)
    sheet.disc(at, 7, INK, None)


def _draw_calendar(sheet: Sheet, scene: Scene) -> None:
    left, top = 640, 40
    sheet.box(left, top, 420, 370, WHITE, INK, 6)
    sheet.box(left, top, 420, 50, "#d8383c", INK, 6)
    sheet.text((left + 210, top + 25), str(scene.rows("calendar")[0]["month"]), 26, WHITE, True)
    for k, name in enumerate(_WEEKDAYS):
        sheet.text((left + 42 + 56 * k, top + 70), name[:3], 16, GREY, True)
    sheet.text((left + 210, top + 352), "Days that are over are crossed out.", 17, GREY)
    for row in scene.rows("days"):
        x = left + 42 + 56 * _WEEKDAYS.index(str(row["weekday"]))
        y = top + 104 + 38 * int(row["week"])
        sheet.text((x, y), str(row["day"]), 19)
        if row["crossed"] == "yes":
            for side in (-1, 1):
                sheet.line([(x - 15, y - 13 * side), (x + 15, y + 13 * side)], "#d8383c", 2.5)


def _draw_poster(sheet: Sheet, row: Row) -> None:
    left, top = 760, 440
    sheet.box(left, top, 300, 220, COLOURS[str(row["colour"])], INK)
    sheet.box(left + 12, top + 12, 276, 196, WHITE, None)
    lines = (
        ("CONCERT", 28),
        (f"{row['weekday']}, {row['day']} {row['month']}", 18),
        (str(row["time"]), 24),
        (str(row["hall"]), 20),
        (f"Tickets: {row['price']} coins", 17),
    )
    for k, (text, size) in enumerate(lines):
        sheet.text((left + 150, top + 38 + 37 * k), text, size, bold=k == 0)


def _draw_table(sheet: Sheet, row: Row) -> None:
    sheet.shape([(30, 560), (290, 560), (310, 600), (10, 600)], COLOURS[str(row["cloth"])])
    for x in (40, 280):
        sheet.line([(x, 600), (x, 690)], "#6b4a28", 10)
    flowers = int(row["flowers"])
    for k in range(flowers):
        top = (160 + 27 * (k - (flowers - 1) / 2), 440 + 14 * (k % 2))
        sheet.line([(160, 520), top], "#3a7a3c", 3)
        for petal in polygon(top, 7, 5):
            sheet.disc(petal, 6, PALE, INK, 1)
        sheet.disc(top, 5, "#f6cf3a", None)
    sheet.shape([(136, 510), (184, 510), (192, 550), (182, 576), (138, 576), (128, 550)], COLOURS[str(row["vase"])])


TIME = Kind("time", "guessing", "time", (3, 6), _plan, _draw)
