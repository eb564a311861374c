"""Flowcharts that sort parcels: where does a parcel end up, going by its card?"""

from __future__ import annotations

import random

from PIL import Image

from condchain_tasks.synth.vrex_pen import COLOURS, GREY, INK, PALE, WHITE, Point, Sheet
from condchain_tasks.synth.vrex_plan import Ask, Kind, Plan, shuffled
from condchain_tasks.synth.vrex_queries import Best, Count, Guided, Listed, Lookup, Row, Scene
from condchain_tasks.synth.vrex_rules import Path

_TESTS = ("Fragile", "Heavy", "Urgent", "Insured", "Frozen", "Liquid", "Gift", "Foreign", "Bulky")
_ENDS = ("Ship", "Plane", "Train", "Truck", "Bike", "Drone", "Boat", "Van")
_PARCELS = ("red", "blue", "green", "purple")
_END_COLOURS = ("yellow", "orange", "pink", "green")

_WIDTH, _HEIGHT = 960, 760
_CHART = 680
_HALF_WIDTH, _HALF_HEIGHT = 92, 38


def _plan(rng: random.Random, length: int) -> Plan:
    levels = length - 1
    tests = [f"{name}?" for name in rng.sample(_TESTS, 2 * levels - 1)]
    ends = rng.sample(_ENDS, 4)
    grid = [tests[:1], *(tests[2 * k - 1 : 2 * k + 1] for k in range(1, levels))]
    nodes: list[Row] = [
        {"name": name, "shape": "test", "level": level, "side": side}
        for level, names in enumerate(grid)
        for side, name in enumerate(names)
    ]
    for side, (name, colour) in enumerate(zip(ends, rng.sample(_END_COLOURS, 4), strict=True)):
        nodes.append({"name": name, "shape": "end", "level": levels, "side": side, "colour": colour})
    arrows: list[Row] = []
    for level, names in enumerate(grid):
        for side, name in enumerate(names):
            targets = grid[level + 1] if level < levels - 1 else ends[2 * side : 2 * side + 2]
            for label, target in zip(rng.sample(("yes", "no"), 2), targets, strict=True):
                arrows.append({"from": name, "label": label, "to": target})
    one, other = parcels = rng.sample(_PARCELS, 2)
    lines = shuffled(rng, tests)
    while True:
        cards = [{"who": who, "at": test, "label": rng.choice(("yes", "no"))} for who in parcels for test in lines]
        scene = Scene("flowchart", {"nodes": tuple(nodes), "arrows": tuple(arrows), "cards": tuple(cards)})
        found = [Guided("arrows", "cards", who, tests[0], 0).result(scene) for who in parcels]
        if found[0] != found[1]:
            break
    paths = {who: _path(scene, who, tests[0]) for who in parcels}

    def chain(who: str) -> tuple[Ask, ...]:
        return tuple(
            Ask(
                f"Which box comes after “{test}” for the {who} parcel?",
                Guided("arrows", "cards", who, test, 1),
                tuple(name for name in (*tests, *ends) if name not in (test, tests[0])),
            )
            for test in paths[who]
        )

    return Plan(
        scene=scene,
        final=Ask(
            f"By its card, in which box of the flowchart does the {one} parcel end up?",
            Guided("arrows", "cards", one, tests[0], 0),
            tuple(ends),
        ),
        rule=Path(tests[0], tuple(paths[one])),
        gold=chain(one),
        distracting=chain(other),
        asides=_asides(scene, one, other, paths[one], ends),
    )


def _path(scene: Scene, who: str, start: str) -> list[str]:
    """The tests that a parcel comes to."""
    path = [start]
    while scene.rows("arrows", {"from": path[-1]}):
        path.append(str(Guided("arrows", "cards", who, path[-1], 1).result(scene)))
    return path[:-1]


def _asides(scene: Scene, one: str, other: str, passed: list[str], ends: list[str]) -> tuple[Ask, ...]:
    missed = [str(row["name"]) for row in scene.rows("nodes", {"shape": "test"}) if row["name"] not in passed]
    yes = {who: Count("cards", {"who": who, "label": "yes"}) for who in (one, other)}
    return (
        *(
            Ask(
                f"By its card, what is said of the {one} parcel in the line “{test}”?",
                Lookup("cards", {"who": one, "at": test}, "label"),
            )
            for test in missed
        ),
        *(
            Ask(
                f"To which box of the flowchart does the {label} arrow of “{test}” lead?",
                Lookup("arrows", {"from": test, "label": label}, "to"),
            )
            for test in missed
            for label in ("yes", "no")
        ),
        Ask(f"How many lines of its card does the {one} parcel have marked with a yes?", yes[one]),
        Ask(f"How many lines of the card say no for the {one} parcel?", Count("cards", {"who": one, "label": "no"})),
        Ask(f"How many lines say yes on the {other} parcel's card?", yes[other]),
        Ask("How many tests are there in the flowchart?", Count("nodes", {"shape": "test"})),
        Ask("How many arrows with a yes does the flowchart have?", Count("arrows", {"label": "yes"})),
        *(Ask(f"What colour does the box “{end}” have?", Lookup("nodes", {"name": end}, "colour")) for end in ends),
        *(
            Ask(f"Which box of the flowchart is {colour}?", Lookup("nodes", {"shape": "end", "colour": colour}, "name"))
            for colour in _END_COLOURS
        ),
        Ask(
            "Which box is the last one on the right at the bottom of the flowchart?",
            Best("nodes", {"shape": "end"}, "side", True, "name"),
        ),
        Ask("In what colours are the two parcels on the cards?", Listed("cards", {}, "who")),
    )


def _draw(scene: Scene) -> Image.Image:
    sheet = Sheet(_WIDTH, _HEIGHT)
    levels = max(int(row["level"]) for row in scene.rows("nodes"))
    step = (_HEIGHT - 130) / levels
    places = {str(row["name"]): _place(row, step) for row in scene.rows("nodes")}
    sheet.arrow([(_CHART / 2, 14), (_CHART / 2, 64 - _HALF_HEIGHT)])
    sheet.text((_CHART / 2 + 12, 14), "start", 14, GREY, to="lm")
    for row in scene.rows("arrows"):
        start, end = places[str(row["from"])], places[str(row["to"])]
        ending = scene.rows("nodes", {"name": row["to"], "shape": "end"})
        lean = max(-1.0, min(1.0, (end[0] - start[0]) / 100))
        first = (start[0] + 26 * lean, start[1] + _HALF_HEIGHT * (1 - 26 * abs(lean) / _HALF_WIDTH))
        last = (end[0] - 12 * lean, end[1] - (22 if ending else _HALF_HEIGHT * (1 - 12 * abs(lean) / _HALF_WIDTH)))
        sheet.arrow([first, last])
        share = 0.28
        at = (first[0] + share * (last[0] - first[0]), first[1] + share * (last[1] - first[1]))
        good = row["label"] == "yes"
        sheet.tag(at, str(row["label"]), 13, "#e3f4e3" if good else "#fbe6e4", "#1f6a2c" if good else "#9c2a22", 5)
    for row in scene.rows("nodes"):
        name, (x, y) = str(row["name"]), places[str(row["name"])]
        if row["shape"] == "end":
            sheet.box(x - 66, y - 22, 132, 44, COLOURS[str(row["colour"])], INK, 10)
        else:
            corners = ((x - _HALF_WIDTH, y), (x, y - _HALF_HEIGHT), (x + _HALF_WIDTH, y), (x, y + _HALF_HEIGHT))
            sheet.shape(corners, "#eaf1fb")
        sheet.text((x, y), name, 17, bold=True)
    for number, who in enumerate(dict.fromkeys(str(row["who"]) for row in scene.rows("cards"))):
        _draw_card(sheet, scene.rows("cards", {"who": who}), who, 30 + number * 360)
    return sheet.finish()


def _place(row: Row, step: float) -> Point:
    y = 64 + step * int(row["level"])
    if row["shape"] == "end":
        return 85 + 170 * int(row["side"]), y
    return (_CHART / 2 if row["level"] == 0 else 170 + 340 * int(row["side"])), y


def _draw_card(sheet: Sheet, rows: tuple[Row, ...], who: str, top: float) -> None:
    left = _CHART + 20
    sheet.box(left, top, 240, 76 + 28 * len(rows), WHITE, GREY, 10)
    sheet.box(left + 16, top + 12, 52, 44, COLOURS[who], INK, 3)
    for x in (left + 39, left + 45):
        sheet.line([(x, top + 13), (x, top + 54)], PALE, 2)
    sheet.text((left + 80, top + 34), f"{who} parcel", 18, bold=True, to="lm")
    for k, row in enumerate(rows):
        y = top + 82 + 28 * k
        sheet.text((left + 18, y), str(row["at"]), 16, to="lm")
        sheet.text((left + 190, y), str(row["label"]), 16, bold=True, to="lm")
        sheet.line([(left + 16, y + 14), (left + 224, y + 14)], PALE, 1)


FLOWCHART = Kind("flowchart", "deduction", "flowchart", (3, 6), _plan, _draw)
