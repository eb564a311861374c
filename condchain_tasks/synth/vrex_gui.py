"""Screens of a phone: which one is shown after some taps?"""

from __future__ import annotations

import random

from PIL import Image

from condchain_tasks.synth.vrex_pen import COLOURS, GREY, INK, PALE, WHITE, Sheet
from condchain_tasks.synth.vrex_plan import Ask, Kind, Plan, shuffled
from condchain_tasks.synth.vrex_queries import Count, Listed, Lookup, Route, Row, Scene
from condchain_tasks.synth.vrex_rules import Path

_SCREENS = ("Music", "Photos", "Recipes", "Travel", "Weather", "Garden", "Sports", "Wallet", "Books", "Films")
_BUTTONS = ("Star", "Arrow", "Bell", "Cloud", "Heart", "Key", "Leaf", "Moon")
_COLOURS = ("red", "orange", "green", "blue", "purple", "brown")
_SHOWN = 8
_IN_ROW = 4
_ON_SCREEN = 3

_WIDTH, _HEIGHT = 1000, 760


def _plan(rng: random.Random, length: int) -> Plan:
    taps = length - 1
    while True:
        scene = _scene(rng)
        names = [str(row["screen"]) for row in scene.rows("screens")]
        paths = [path for start in shuffled(rng, names) if (path := _walk(rng, scene, start, taps))]
        for path in paths[1:]:
            if not {(screen, tap) for screen, tap in path} & set(paths[0]):
                return _made(scene, names, paths[0], path)


def _scene(rng: random.Random) -> Scene:
    names = rng.sample(_SCREENS, _SHOWN)
    screens: list[Row] = [
        {"screen": name, "number": k, "colour": rng.choice(_COLOURS)} for k, name in enumerate(names, 1)
    ]
    buttons: list[Row] = []
    for name in names:
        targets = rng.sample([other for other in names if other != name], _ON_SCREEN)
        for label, target in zip(rng.sample(_BUTTONS, _ON_SCREEN), targets, strict=True):
            buttons.append({"from": name, "label": label, "to": target})
    return Scene("gui", {"screens": tuple(screens), "buttons": tuple(buttons)})


def _walk(rng: random.Random, scene: Scene, start: str, taps: int) -> list[tuple[str, str]]:
    """Screens and taps of a way that comes to no screen twice; none if it cannot go on."""
    path: list[tuple[str, str]] = []
    seen = [start]
    for _ in range(taps):
        onward = [row for row in scene.rows("buttons", {"from": seen[-1]}) if row["to"] not in seen]
        if not onward:
            return []
        row = rng.choice(onward)
        path.append((seen[-1], str(row["label"])))
        seen.append(str(row["to"]))
    return path


def _made(scene: Scene, names: list[str], path: list[tuple[str, str]], other: list[tuple[str, str]]) -> Plan:
    start, labels = path[0][0], tuple(tap for _, tap in path)
    taps = ", then ".join(labels)

    def chain(steps: list[tuple[str, str]]) -> tuple[Ask, ...]:
        return tuple(
            Ask(
                f"Where does the button {tap} on the {screen} screen lead?",
                Lookup("buttons", {"from": screen, "label": tap}, "to"),
                tuple(name for name in names if name != screen),
            )
            for screen, tap in steps
        )

    return Plan(
        scene=scene,
        final=Ask(
            f"You are on the {start} screen and tap {taps}. Which screen do you see in the end?",
            Route("buttons", start, labels),
            tuple(names),
        ),
        rule=Path(start, tuple(screen for screen, _ in path)),
        gold=chain(path),
        distracting=chain(other),
        asides=_asides(scene, start, labels, {*path, *other}),
    )


def _asides(scene: Scene, start: str, labels: tuple[str, ...], passed: set[tuple[str, str]]) -> tuple[Ask, ...]:
    used = [tap for tap in dict.fromkeys(str(row["label"]) for row in scene.rows("buttons")) if tap in labels]
    return (
        *(
            Ask(
                f"Where does the button {row['label']} on the {row['from']} screen lead?",
                Lookup("buttons", {"from": row["from"], "label": row["label"]}, "to"),
            )
            for row in scene.rows("buttons")
            if (row["from"], row["label"]) not in passed
        ),
        *(
            Ask(f"On how many screens can you see and tap a button {tap}?", Count("buttons", {"label": tap}))
            for tap in used
        ),
        *(
            Ask(
                f"Which are all the screens on which you see a button {tap}?", Listed("buttons", {"label": tap}, "from")
            )
            for tap in used
        ),
        *(
            Ask(
                f"What colour does the bar of the {name} screen have that you see on top?",
                Lookup("screens", {"screen": name}, "colour"),
            )
            for name in (str(row["screen"]) for row in scene.rows("screens"))
        ),
        *(
            Ask(f"How many buttons lead to the {name} screen?", Count("buttons", {"to": name}))
            for name in (str(row["screen"]) for row in scene.rows("screens"))
        ),
        Ask(f"Which buttons can you see and tap on the {start} screen?", Listed("buttons", {"from": start}, "label")),
        Ask("How many screens are there?", Count("screens", {})),
        *(
            Ask(
                f"Which screen do you see in the picture at the number {row['number']}?",
                Lookup("screens", {"number": row["number"]}, "screen"),
            )
            for row in scene.rows("screens")
        ),
    )


def _draw(scene: Scene) -> Image.Image:
    sheet = Sheet(_WIDTH, _HEIGHT, "#eef0f4")
    numbers = {row["screen"]: row["number"] for row in scene.rows("screens")}
    for k, screen in enumerate(scene.rows("screens")):
        left, top = 22 + (k % _IN_ROW) * 244, 14 + (k // _IN_ROW) * 372
        sheet.box(left + 30, top, 190, 356, INK, INK, 24)
        sheet.box(left + 38, top + 14, 174, 328, WHITE, None, 14)
        sheet.box(left + 38, top + 14, 174, 54, COLOURS[str(screen["colour"])], None, 14)
        sheet.box(left + 38, top + 40, 174, 28, COLOURS[str(screen["colour"])], None)
        sheet.text((left + 125, top + 42), str(screen["screen"]), 22, WHITE, True)
        for place, button in enumerate(scene.rows("buttons", {"from": screen["screen"]})):
            y = top + 92 + 80 * place
            sheet.box(left + 48, y, 154, 60, PALE, GREY, 12, 1.5)
            sheet.text((left + 62, y + 30), str(button["label"]), 19, to="lm")
            sheet.arrow([(left + 138, y + 30), (left + 162, y + 30)], INK, 2, 9)
            sheet.disc((left + 182, y + 30), 15, WHITE)
            sheet.text((left + 182, y + 30), str(numbers[button["to"]]), 18, INK, True)
        sheet.disc((left + 12, top + 34), 22, "#ffe9a8")
        sheet.text((left + 12, top + 34), str(screen["number"]), 24, INK, True)
    return sheet.finish()


GUI = Kind("gui", "navigation", "gui", (3, 6), _plan, _draw)
