"""Rooms of an inn and two photos: in which room was a photo taken?"""

from __future__ import annotations

import random
from itertools import product

from PIL import Image

from condchain_tasks.synth.vrex_matching import Wording, match, match_plan
from condchain_tasks.synth.vrex_pen import COLOURS, INK, WHITE, Sheet, polygon, star
from condchain_tasks.synth.vrex_plan import Kind, Plan
from condchain_tasks.synth.vrex_queries import Count, Listed, Lookup, Query, Row, Scene

_WALLS = ("red", "yellow", "green", "blue")
_WINDOWS = ("round", "square", "arched")
_FLOORS = ("striped", "checked", "plain")
_LAMPS = ("ball", "star", "cone")
_WORDING = Wording(
    names=("Acorn", "Birch", "Cedar", "Daisy", "Elm", "Fern", "Hazel", "Ivy", "Juniper", "Linden", "Maple", "Olive"),
    features={"wall": _WALLS, "window": _WINDOWS, "floor": _FLOORS, "lamp": _LAMPS},
    always="wall",
    places={"photo_a": "photo A", "photo_b": "photo B"},
    final="In which of the rooms was {place} taken?",
    clues={
        "wall": "Which rooms have a wall of the colour seen in {place}?",
        "window": "Which rooms have a window of the shape seen in {place}?",
        "floor": "Which rooms have a floor with the pattern seen in {place}?",
        "lamp": "Which rooms have a lamp of the shape seen in {place}?",
    },
)
_DECOR = {"frame": ("pink", "orange", "purple", "brown"), "animal": ("cat", "bird", "fish")}

_WIDTH, _HEIGHT = 1000, 700


def _plan(rng: random.Random, length: int) -> Plan:
    scene = match(rng, "rooms", _WORDING, length - 1, _DECOR)
    return match_plan(rng, scene, _WORDING, _asides(scene))


def _asides(scene: Scene) -> list[tuple[str, Query]]:
    found: list[tuple[str, Query]] = [
        ("What colour is the frame around photo A?", Lookup("photo_a", {}, "frame")),
        ("What colour is the frame around photo B?", Lookup("photo_b", {}, "frame")),
        ("Which animal was in the room when photo A was taken?", Lookup("photo_a", {}, "animal")),
        ("Which animal was in the room when photo B was taken?", Lookup("photo_b", {}, "animal")),
        ("How many of the rooms are there in the inn in which photo A was taken?", Count("candidates", {})),
    ]
    for wall, window in product(_WALLS, _WINDOWS):
        question = f"How many rooms of the inn have a {wall} wall and a window that is {window}?"
        found.append((question, Count("candidates", {"wall": wall, "window": window})))
    for wall in _WALLS:
        found.append((f"How many of the rooms have a {wall} wall?", Count("candidates", {"wall": wall})))
    for window in _WINDOWS:
        found.append((f"In how many of the rooms is the window {window}?", Count("candidates", {"window": window})))
    for row in scene.rows("candidates"):
        name = row["name"]
        found.append((f"What colour is the wall in the room {name}?", Lookup("candidates", {"name": name}, "wall")))
        found.append(
            (f"What pattern does the floor have in the room {name}?", Lookup("candidates", {"name": name}, "floor"))
        )
    found.append(("Which of the rooms have a star as a lamp?", Listed("candidates", {"lamp": "star"}, "name")))
    return found


def _draw(scene: Scene) -> Image.Image:
    sheet = Sheet(_WIDTH, _HEIGHT, "#f3f1ec")
    sheet.text((322, 28), "The rooms of the inn", 22, bold=True)
    for k, row in enumerate(scene.rows("candidates")):
        left, top = 16 + (k % 3) * 208, 56 + (k // 3) * 214
        _room(sheet, left, top, 196, 166, row)
        sheet.box(left, top, 196, 166, None, INK, 0, 2)
        sheet.text((left + 98, top + 184), str(row["name"]), 18, bold=True)
    for k, (table, name) in enumerate(_WORDING.places.items()):
        left, top, (row,) = 672, 60 + 322 * k, scene.rows(table)
        sheet.box(left - 14, top - 14, 328, 268, COLOURS[str(row["frame"])], INK, 4)
        _room(sheet, left, top, 300, 240, row)
        sheet.box(left, top, 300, 240, None, INK, 0, 2)
        sheet.text((left + 150, top + 276), f"P{name[1:]}: a part of the room", 18, bold=True)
    return sheet.finish()


def _room(sheet: Sheet, left: float, top: float, width: float, height: float, row: Row) -> None:
    """What a row says of a room; a photo shows only a part of it."""
    unit = height / 100
    ground = top + (70 * unit if "floor" in row else height)
    sheet.box(left, top, width, height, COLOURS[str(row["wall"])], None)
    if "window" in row:
        _window(sheet, left + 0.27 * width, top + 34 * unit, 20 * unit, str(row["window"]))
    if "lamp" in row:
        _lamp(sheet, left + 0.7 * width, top, unit, str(row["lamp"]))
    if "floor" in row:
        _floor(sheet, left, ground, width, top + height - ground, str(row["floor"]))
    if "animal" in row:
        _animal(sheet, left + 0.7 * width, top + 88 * unit, unit, str(row["animal"]))


def _window(sheet: Sheet, x: float, y: float, r: float, shape: str) -> None:
    glass = "#dff1fb"
    if shape == "round":
        sheet.disc((x, y), r, glass, INK, 3)
    elif shape == "square":
        sheet.box(x - r, y - r, 2 * r, 2 * r, glass, INK, 0, 3)
    else:
        arch = polygon((x, y - 0.1 * r), r, 24, 180)[:13]
        sheet.shape([*arch, (x + r, y + 1.2 * r), (x - r, y + 1.2 * r)], glass, INK, 3)
    bottom = y + (1.2 * r if shape == "arched" else r)
    sheet.line([(x, y - r), (x, bottom)], INK, 2)
    sheet.line([(x - r, y), (x + r, y)], INK, 2)


def _lamp(sheet: Sheet, x: float, top: float, unit: float, shape: str) -> None:
    y, r = top + 30 * unit, 13 * unit
    sheet.line([(x, top), (x, y - 0.6 * r)], INK, 3)
    if shape == "ball":
        sheet.disc((x, y), r, "#fff6d0", INK)
    elif shape == "star":
        sheet.shape(star((x, y), 1.25 * r), "#fff6d0")
    else:
        sheet.shape([(x, y - r), (x + 1.2 * r, y + 0.8 * r), (x - 1.2 * r, y + 0.8 * r)], "#fff6d0")


def _floor(sheet: Sheet, left: float, top: float, width: float, height: float, pattern: str) -> None:
    sheet.box(left, top, width, height, "#ead9bd", INK, 0, 2)
    side = height / 2
    columns = round(width / side)
    for k in range(columns):
        x = left + k * width / columns
        if pattern == "striped" and k % 2 == 0:
            sheet.box(x, top, width / columns, height, "#7a5a3a", None)
        elif pattern == "checked":
            sheet.box(x, top + side * (k % 2), width / columns, side, "#7a5a3a", None)


def _animal(sheet: Sheet, x: float, y: float, unit: float, animal: str) -> None:
    fur, r = "#4a4f5a", 7 * unit
    if animal == "fish":
        sheet.box(x - 1.7 * r, y - 2.2 * r, 3.4 * r, 2.8 * r, "#dff1fb", INK, r / 2)
        sheet.disc((x - 0.2 * r, y - 0.8 * r), 0.65 * r, fur)
        sheet.shape([(x + 0.3 * r, y - 0.8 * r), (x + 1.1 * r, y - 1.4 * r), (x + 1.1 * r, y - 0.2 * r)], fur)
        return
    sheet.disc((x, y - 0.2 * r), r, fur)
    sheet.disc((x, y - 1.6 * r), 0.75 * r, fur)
    if animal == "cat":
        for side in (-1, 1):
            ear = [
                (x + 0.15 * side * r, y - 2.2 * r),
                (x + 0.7 * side * r, y - 2.9 * r),
                (x + 0.75 * side * r, y - 1.8 * r),
            ]
            sheet.shape(ear, fur)
        sheet.line([(x + 0.9 * r, y), (x + 1.7 * r, y - 0.2 * r), (x + 1.9 * r, y - 1.2 * r)], INK, 4)
    else:
        sheet.shape([(x - 0.6 * r, y - 1.8 * r), (x - 1.5 * r, y - 1.5 * r), (x - 0.6 * r, y - 1.2 * r)], "#f2901d")
        sheet.shape([(x + 0.7 * r, y - 0.5 * r), (x + 1.9 * r, y - 0.9 * r), (x + 0.8 * r, y + 0.3 * r)], fur)
    for side in (-1, 1):
        sheet.disc((x + 0.3 * side * r, y - 1.7 * r), 0.13 * r, WHITE, None)


ROOMS = Kind("rooms", "guessing", "location", (3, 5), _plan, _draw)
