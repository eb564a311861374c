"""Maps with three routes from one place to another: how long do they take?"""

from __future__ import annotations

import random
from itertools import pairwise

from PIL import Image

from condchain_tasks.synth.vrex_pen import COLOURS, INK, WHITE, Point, Sheet
from condchain_tasks.synth.vrex_plan import Ask, Kind, Plan
from condchain_tasks.synth.vrex_queries import Best, Count, Derived, Lookup, Row, Scene, Total
from condchain_tasks.synth.vrex_rules import Extreme, Rule, Sum, Term

_PLACES = (
    "Bakery", "Bank", "Castle", "Church", "Farm", "Garden", "Harbour", "Inn", "Library", "Market", "Mill", "Museum",
    "Pool", "School", "Station", "Theatre", "Tower", "Zoo",
)  # fmt: skip
_ROUTES = ("red", "blue", "green", "purple")
_LIGHTS = 2
_MINUTES = (2, 12)

_WIDTH, _HEIGHT = 1100, 660


def _plan(rng: random.Random, length: int) -> Plan:
    if length == 4 and rng.random() < 0.5:
        return _quickest(rng)
    if length == 3 and rng.random() < 0.5:
        return _difference(rng)
    return _sum(rng, length - 1)


def _scene(rng: random.Random, least: int) -> Scene:
    """A map on which every route has at least so many legs, and no two routes the same minutes or traffic lights."""
    start, goal, *others = rng.sample(_PLACES, len(_PLACES))
    routes = rng.sample(_ROUTES, 3)
    while True:
        legs: list[Row] = []
        places = iter(others)
        for route in routes:
            stops = [start, *(next(places) for _ in range(rng.randint(max(2, least), 5) - 1)), goal]
            for number, (one, other) in enumerate(pairwise(stops)):
                times = {"minutes": rng.randint(*_MINUTES), "lights": rng.randint(0, _LIGHTS)}
                legs.append({"route": route, "leg": number, "from": one, "to": other, **times})
        scene = Scene("map", {"legs": tuple(legs)})
        if all(len({_total(scene, route, column) for route in routes}) == 3 for column in ("minutes", "lights")):
            return scene


def _total(scene: Scene, route: str, column: str) -> int:
    return sum(int(row[column]) for row in scene.rows("legs", {"route": route}))


def _routes(scene: Scene) -> list[str]:
    return list(dict.fromkeys(str(row["route"]) for row in scene.rows("legs")))


def _ends(scene: Scene) -> tuple[str, str]:
    rows = scene.rows("legs")
    return str(rows[0]["from"]), str(rows[-1]["to"])


def _minutes(row: Row) -> Ask:
    return Ask(
        f"How many minutes does the {row['route']} route take from the {row['from']} to the {row['to']}?",
        Lookup("legs", {"route": row["route"], "leg": row["leg"]}, "minutes"),
    )


def _lights(row: Row) -> Ask:
    return Ask(
        f"How many traffic lights has the {row['route']} route from the {row['from']} to the {row['to']}?",
        Lookup("legs", {"route": row["route"], "leg": row["leg"]}, "lights"),
    )


def _all_minutes(route: str) -> Ask:
    return Ask(f"How many minutes does the {route} route take in all?", Total("legs", {"route": route}, "minutes"))


def _all_lights(route: str) -> Ask:
    return Ask(f"How many traffic lights has the {route} route in all?", Total("legs", {"route": route}, "lights"))


def _sum(rng: random.Random, legs: int) -> Plan:
    """The time of one route of so many legs; the distracting chain goes along another, or counts traffic lights."""
    while True:
        scene = _scene(rng, legs)
        route, other = rng.sample(_routes(scene), 2)
        rows = scene.rows("legs", {"route": route})
        if len(rows) == legs:
            break
    gold = tuple(map(_minutes, rows))
    away = tuple(map(_minutes, scene.rows("legs", {"route": other})[:legs]))
    distracting = away if rng.random() < 0.5 else tuple(map(_lights, rows))
    start, goal = _ends(scene)
    question = f"How long is the whole trip from the {start} to the {goal} on the {route} route, in minutes?"
    rule = Sum(tuple(Term((k,)) for k in range(legs)))
    return _made(scene, Ask(question, Total("legs", {"route": route}, "minutes")), rule, gold, distracting)


def _difference(rng: random.Random) -> Plan:
    """The slower of two routes less the quicker one; the distracting chain counts their traffic lights."""
    scene = _scene(rng, 2)
    pair = rng.sample(_routes(scene), 2)
    slow, quick = sorted(pair, key=lambda route: -_total(scene, route, "minutes"))
    start, goal = _ends(scene)
    question = (
        f"By how many minutes is the trip from the {start} to the {goal} longer "
        f"on the {slow} route than on the {quick} route?"
    )
    rule = Sum((Term((pair.index(slow),)), Term((pair.index(quick),), -1)))
    gold = tuple(map(_all_minutes, pair))
    final = Ask(question, Derived(rule, tuple(ask.query for ask in gold)))
    return _made(scene, final, rule, gold, tuple(map(_all_lights, pair)))


def _quickest(rng: random.Random) -> Plan:
    """The route with the fewest, or most, minutes; the distracting chain counts traffic lights."""
    scene = _scene(rng, 2)
    routes = _routes(scene)
    rng.shuffle(routes)
    most = rng.random() < 0.5
    start, goal = _ends(scene)
    question = f"Which route from the {start} to the {goal} takes the {'most' if most else 'fewest'} minutes?"
    names = tuple(f"the {route} route" for route in routes)
    rule = Extreme(names, most)
    gold = tuple(map(_all_minutes, routes))
    final = Ask(question, Derived(rule, tuple(ask.query for ask in gold)), names)
    return _made(scene, final, rule, gold, tuple(map(_all_lights, routes)))


def _made(scene: Scene, final: Ask, rule: Rule, gold: tuple[Ask, ...], distracting: tuple[Ask, ...]) -> Plan:
    taken = {ask.question for ask in (*gold, *distracting)}
    asides = [ask for ask in _asides(scene) if ask.question not in taken]
    return Plan(scene, final, rule, gold, distracting, tuple(asides))


def _asides(scene: Scene) -> list[Ask]:
    start, goal = _ends(scene)
    found = []
    for route in _routes(scene):
        where = {"route": route}
        found += [
            Ask(
                f"Which place comes first on the trip from the {start} to the {goal} on the {route} route?",
                Best("legs", where, "leg", False, "to"),
            ),
            Ask(f"How many parts does the {route} route have?", Count("legs", where)),
            Ask(f"Which is the last place on the {route} route?", Best("legs", where, "leg", True, "from")),
            Ask(
                f"On the whole trip from the {start} to the {goal}, how many minutes does the shortest part of the "
                f"{route} route take?",
                Best("legs", where, "minutes", False, "minutes"),
            ),
            Ask(
                f"How long is the longest part of the {route} route, in minutes?",
                Best("legs", where, "minutes", True, "minutes"),
            ),
        ]
        for lights in (0, _LIGHTS):
            question = (
                f"On how many parts of the trip from the {start} to the {goal} does the {route} route have "
                f"{lights or 'no'} traffic lights?"
            )
            found.append(Ask(question, Count("legs", where | {"lights": lights})))
    found += map(_lights, scene.rows("legs"))
    total = Total("legs", {}, "lights")
    found.append(Ask(f"How many traffic lights are there on all routes from the {start} to the {goal}?", total))
    return found


def _draw(scene: Scene) -> Image.Image:
    sheet = Sheet(_WIDTH, _HEIGHT, "#eaf3e3")
    sheet.box(0, 0, _WIDTH, 54, WHITE, None)
    sheet.text((20, 27), "The number on each part of a route is its time in minutes.", 19, to="lm")
    _light(sheet, (680, 27))
    sheet.text((700, 27), "traffic light", 19, to="lm")
    legs, lanes = scene.rows("legs"), _routes(scene)
    places: dict[str, Point] = {}
    for row in legs:
        many = len(scene.rows("legs", {"route": row["route"]}))
        for name, number in ((row["from"], int(row["leg"])), (row["to"], int(row["leg"]) + 1)):
            outer = number in (0, many)
            wave = -24 if number % 2 else 24
            y = 360.0 if outer else 156.0 + 200 * lanes.index(str(row["route"])) + wave
            at = (82 + (_WIDTH - 164) * number / many, y)
            if places.setdefault(str(name), at) != at:
                raise ValueError(f"the {name} would stand at two places")
    if len(set(places.values())) < len(places):
        raise ValueError("two places would stand at the same point")
    for row in legs:
        sheet.line([places[str(row["from"])], places[str(row["to"])]], COLOURS[str(row["route"])], 9)
    for row in legs:
        (x0, y0), (x1, y1) = places[str(row["from"])], places[str(row["to"])]
        x, y = (x0 + x1) / 2, (y0 + y1) / 2
        sheet.tag((x, y), str(row["minutes"]), 19, WHITE)
        lights = int(row["lights"])
        for k in range(lights):
            _light(sheet, (x + 18 * (k - (lights - 1) / 2), y - 38))
    for name, (x, y) in places.items():
        ending = name in _ends(scene)
        width = max(84, sheet.width_of(name, 17, True) + 20)
        sheet.box(x - width / 2, y - 20, width, 40, "#ffe08a" if ending else WHITE, INK, 9, 3 if ending else 2)
        sheet.text((x, y), name, 17, bold=True)
    return sheet.finish()


def _light(sheet: Sheet, at: Point) -> None:
    sheet.box(at[0] - 7, at[1] - 16, 14, 32, INK, None, 4)
    for k, colour in enumerate(("red", "yellow", "green")):
        sheet.disc((at[0], at[1] - 10 + 10 * k), 4, COLOURS[colour], None)


MAP = Kind("map", "navigation", "map", (3, 6), _plan, _draw)
