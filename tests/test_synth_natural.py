"""Still scenes: facts are uniform and independent, names are unique, and the picture shows every fact."""

from __future__ import annotations

import ast
import itertools
import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image, ImageChops

from condchain_tasks.synth import natural
from condchain_tasks.synth.natural import NaturalWorld, make_world
from condchain_tasks.synth.natural_art import MARKS, SIZES, Scene, Thing, draw_scene
from condchain_tasks.synth.natural_pen import COLOURS, PATTERNS
from condchain_tasks.synth.natural_places import PLACES
from condchain_tasks.synth.natural_things import KINDS
from condchain_tasks.synth.world import Attribute, Scalar
from condchain_tasks.vpir import evaluate

CELL_WIDTH, CELL_HEIGHT = 240, 320


@pytest.fixture(scope="module")
def worlds() -> list[NaturalWorld]:
    return [make_world(random.Random(seed)) for seed in range(2000)]


def values_of(worlds: list[NaturalWorld]) -> dict[tuple[str, str], tuple[Attribute, Counter[Scalar]]]:
    """Each attribute with the counts of its values; those that differ from kind to kind apart."""
    found: dict[tuple[str, str], tuple[Attribute, Counter[Scalar]]] = {}
    for world in worlds:
        for subject in world.subjects:
            for attribute in subject.attributes:
                own = attribute.key in {extra.key for extra in natural._EXTRAS[subject.id]}
                place = (subject.id if own else "any", attribute.key)
                found.setdefault(place, (attribute, Counter()))[1][subject.facts[attribute.key]] += 1
    return found


def test_every_attribute_is_uniform(worlds: list[NaturalWorld]) -> None:
    found = values_of(worlds)
    assert {key for kind, key in found if kind == "any"} == {
        "colour", "size", "pattern", "column", "upper", "bow", "mat", "hidden", "word", "mark", "marks", "border",
    }  # fmt: skip
    assert {kind for kind, _ in found} == {"any", *KINDS}
    for place, (attribute, counts) in found.items():
        expected = counts.total() / len(attribute.values)
        assert set(counts) == set(attribute.values), place
        for value, count in counts.items():
            assert abs(count - expected) < 4.5 * expected**0.5, (place, value, count, expected)


def test_facts_of_a_thing_are_pairwise_independent(worlds: list[NaturalWorld]) -> None:
    common = natural._attributes("mug", "a box")[:12]
    facts = [subject.facts for world in worlds for subject in world.subjects]
    for one, other in itertools.combinations(common, 2):
        counts = Counter((f[one.key], f[other.key]) for f in facts)
        expected = len(facts) / len(one.values) / len(other.values)
        for pair in itertools.product(one.values, other.values):
            assert abs(counts[pair] - expected) < 5 * expected**0.5, (one.key, other.key, pair)


def test_worlds_are_rich_and_varied(worlds: list[NaturalWorld]) -> None:
    assert {world.scene.place for world in worlds} == set(PLACES)
    assert Counter(len(world.subjects) for world in worlds).keys() == {6, 7, 8}
    for world in worlds:
        assert sum(len(subject.attributes) for subject in world.subjects) >= 45
        assert len({thing.size for thing in world.scene.things}) == 3
        assert len({(thing.row, thing.column) for thing in world.scene.things}) == len(world.subjects)


@settings(max_examples=60)
@given(st.integers(0, 2**64))
def test_contract(seed: int) -> None:
    world = make_world(random.Random(seed))
    ids = {subject.id for subject in world.subjects}
    assert world.domain == "natural" and len(ids) == len(world.subjects)
    for subject in world.subjects:
        keys = [attribute.key for attribute in subject.attributes]
        assert len(keys) == len(set(keys)) >= 13
        assert set(keys) < set(subject.facts)
        for attribute in subject.attributes:
            assert subject.facts[attribute.key] in attribute.values
            assert (attribute.kind == "flag") == (attribute.values == (False, True))
            assert bool(attribute.asks) <= (len(attribute.values) >= 4)
        assert subject.related and set(subject.related) <= ids - {subject.id}
        for name in subject.names:
            assert [s.id for s in world.subjects if evaluate(name.selector, s.facts)] == [subject.id]
            revealed = {n.id for n in ast.walk(ast.parse(name.selector)) if isinstance(n, ast.Name)}
            assert not revealed & set(keys)


def test_names_and_neighbours_follow_the_grid() -> None:
    """Mug and hat share the second column; the robot stands alone at the far right of the upper row."""
    mug, hat, robot = thing("mug", 0, 1), thing("hat", 1, 1), thing("robot", 0, 3)
    things = (mug, robot, hat)
    subject = natural._subject(mug, things, "a box")
    assert [name.text for name in subject.names] == ["the mug", "the labelled thing in the same column as the hat"]
    assert subject.names[1].selector == 'column_mate == "hat"'
    assert subject.related == ("hat",)
    alone = natural._subject(robot, things, "a box")
    assert [name.text for name in alone.names] == ["the robot"]
    assert alone.facts["column_mate"] == "none"
    assert alone.related == ("mug",)
    assert (alone.facts["column"], alone.facts["upper"]) == ("fourth", True)
    assert (natural._subject(hat, things, "a box").facts["upper"]) is False


def all_attributes() -> list[Attribute]:
    covers = sorted({place.cover for place in PLACES.values()})
    return list({a.says: a for kind in KINDS for cover in covers for a in natural._attributes(kind, cover)}.values())


@pytest.mark.parametrize("attribute", all_attributes(), ids=lambda a: a.says)
def test_sentences_fit_any_subject_and_value(attribute: Attribute) -> None:
    statements = [attribute.says, attribute.denies]
    if attribute.kind == "count":
        statements += [attribute.at_least, attribute.fewer]
        assert attribute.values == tuple(range(2, len(attribute.values) + 2))
        assert set(attribute.words) >= set(attribute.values)
    else:
        assert not attribute.at_least and not attribute.fewer
    for template in [*statements, *([attribute.asks] if attribute.asks else [])]:
        assert template.count("{subject}") == 1
        assert template.count("{value}") == (attribute.kind != "flag" and template != attribute.asks)
        text = template.format(subject="the mug", value="red or blue")
        assert text.endswith("?") == (template == attribute.asks)
        assert not set("_={}.") & set(text)
    assert len(set(statements)) == len(statements)


# The picture


def thing(kind: str, row: int = 0, column: int = 0, **changes: Any) -> Thing:
    plain = Thing(
        kind=kind,
        row=row,
        column=column,
        colour="blue",
        size="small",
        pattern="plain",
        hidden=False,
        bow=False,
        mat=False,
        extras={extra.key: extra.values[0] for extra in natural._EXTRAS[kind]},
        word="RIVER",
        mark="stars",
        marks=2,
        border="red",
        mirrored=False,
        shift=0,
    )
    return replace(plain, **changes)


def cell(picture: Image.Image, row: int, column: int) -> NDArray[np.int16]:
    x, y = column * CELL_WIDTH, row * CELL_HEIGHT
    return np.array(picture.crop((x, y, x + CELL_WIDTH, y + CELL_HEIGHT)), np.int16)


def pixels(*things: Thing) -> list[NDArray[np.int16]]:
    """Each thing in a cell of the gallery, whose cells are all alike but for the posts at their edges."""
    drawn = []
    for start in range(0, len(things), 8):
        placed = [replace(one, row=i // 4, column=i % 4) for i, one in enumerate(things[start : start + 8])]
        picture = draw_scene(Scene("gallery", 3, tuple(placed)))
        drawn += [cell(picture, one.row, one.column) for one in placed]
    for part in drawn:
        part[:, [0, 1, 2, -1, -2, -3]] = 0
    return drawn


def near(picture: NDArray[np.int16], colour: str, tolerance: int = 24) -> NDArray[np.bool_]:
    return np.asarray(np.abs(picture - np.array(COLOURS[colour])).max(-1) <= tolerance)


def test_colours_are_far_apart() -> None:
    for one, other in itertools.combinations(COLOURS.values(), 2):
        assert sum(abs(a - b) for a, b in zip(one, other, strict=True)) >= 80


@pytest.mark.parametrize("seed", range(6))
def test_the_saved_picture_shows_place_colour_and_border(tmp_path: Path, seed: int) -> None:
    world = make_world(random.Random(seed))
    assert world.draw(tmp_path, "s1") == "images/natural/s1.jpg"
    with Image.open(tmp_path / "images/natural/s1.jpg") as image:
        assert (image.format, image.mode, image.size) == ("JPEG", "RGB", (960, 640))
        picture = image.copy()
    filled = {(thing.row, thing.column): thing for thing in world.scene.things}
    for row, column in itertools.product(range(2), range(4)):
        part = cell(picture, row, column)
        label, above = part[248:308], part[:240]
        if (row, column) not in filled:
            assert not (part.min(-1) < 60).any()
            continue
        at = filled[row, column]
        for region, shown in ((label, at.border), (above, at.colour)):
            counts = {colour: int(near(region, colour, 40).sum()) for colour in COLOURS}
            assert max(counts, key=lambda colour: counts[colour]) == shown, (at.kind, counts)


def extent(picture: NDArray[np.int16], colour: str) -> tuple[float, float]:
    ys, xs = np.nonzero(near(picture[:240], colour))
    return float(np.ptp(ys)), float(np.ptp(xs))


@pytest.mark.parametrize("kind", KINDS)
def test_sizes_are_clearly_apart(kind: str) -> None:
    drawn = pixels(*(thing(kind, size=size) for size in SIZES))
    small, medium, large = (np.array(extent(picture, "blue")) for picture in drawn)
    assert (medium / small > 1.35).all() and (large / medium > 1.35).all()


def changed(one: NDArray[np.int16], other: NDArray[np.int16]) -> NDArray[np.bool_]:
    return np.asarray(np.abs(one - other).max(-1) > 50)


@pytest.mark.parametrize("kind", KINDS)
def test_every_fact_can_be_seen_on_a_small_and_crowded_thing(kind: str) -> None:
    crowded = thing(kind, colour="red", hidden=True, bow=True, mat=True)
    changes: list[dict[str, Any]] = [{key: False} for key in ("hidden", "bow", "mat")]
    changes += [
        {"extras": {**crowded.extras, extra.key: value}, "mirrored": extra.key == "points_left"}
        for extra in natural._EXTRAS[kind]
        for value in extra.values[1:]
    ]
    before, *after = pixels(crowded, *(replace(crowded, **change) for change in changes))
    for change, picture in zip(changes, after, strict=True):
        assert changed(before, picture).sum() >= 40, change
    for one, other in itertools.combinations(pixels(*(replace(crowded, pattern=p) for p in PATTERNS)), 2):
        assert changed(one, other).sum() >= 90
    assert near(before[:240], "red").sum() >= 250


def test_every_fact_of_a_label_can_be_seen() -> None:
    choices: dict[str, Iterable[Any]] = {"word": natural.WORDS, "mark": MARKS, "marks": range(2, 7), "border": COLOURS}
    for key, values in choices.items():
        drawn = pixels(*(replace(thing("mug"), **{key: value}) for value in values))
        for one, other in itertools.combinations(drawn, 2):
            difference = changed(one, other)
            assert difference[248:308].sum() >= 60
            assert not difference[:248].any()


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_reaches_into_another_cell(kind: str) -> None:
    extras = {extra.key: extra.values[-1] for extra in natural._EXTRAS[kind]}
    empty = draw_scene(Scene("shelf", 3, ()))
    cells = ((0, 0), (0, 2), (1, 1), (1, 3))
    looks = itertools.product((False, True), (-8, 8))
    biggest = tuple(
        thing(kind, *at, size="large", hidden=True, bow=True, mat=True, extras=extras, mirrored=mirrored, shift=shift)
        for at, (mirrored, shift) in zip(cells, looks, strict=True)
    )
    difference = ImageChops.difference(draw_scene(Scene("shelf", 3, biggest)), empty)
    for row, column in itertools.product(range(2), range(4)):
        assert cell(difference, row, column).any() == ((row, column) in cells)


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize(
    ("time", "dx", "dy"), [("three o'clock", 1, 0), ("six o'clock", 0, 1), ("nine o'clock", -1, 0)]
)
def test_hour_hand(time: str, dx: int, dy: int, mirrored: bool) -> None:
    """The dial of a large clock has its middle at (120, 134) of the cell; the hour hand is 25 pixels long."""
    (picture,) = pixels(thing("clock", size="large", extras={"time": time}, mirrored=mirrored))
    for x, y in ((1, 0), (0, 1), (-1, 0)):
        assert (picture[134 + 16 * y, 120 + 16 * x].max() < 80) == ((x, y) == (dx, dy))


@pytest.mark.parametrize("mark", MARKS)
def test_marks_are_apart(mark: str) -> None:
    """Along the label's lower half, columns with ink alternate with columns without it."""
    counts = range(2, 7)
    for marks, picture in zip(counts, pixels(*(thing("mug", mark=mark, marks=n) for n in counts)), strict=True):
        ink = (picture[280:300, 46:194].max(-1) < 120).any(0)
        assert np.count_nonzero(np.diff(ink.astype(int)) == 1) == marks


def test_things_that_point_left_do(worlds: list[NaturalWorld]) -> None:
    for world in worlds[:300]:
        for drawn in world.scene.things:
            if "points_left" in drawn.extras:
                assert drawn.mirrored is not drawn.extras["points_left"]


@pytest.mark.parametrize(
    ("kind", "x", "y", "ink"),
    [
        ("mug", 0, 0.58, COLOURS["blue"]),
        ("teapot", -0.03, 0.4, COLOURS["blue"]),
        ("fish", 0.2, 0.43, (252, 252, 252)),
        ("car", -0.05, 0.67, (252, 252, 252)),
    ],
    ids=str,
)
def test_handle_spout_eye_and_headlight_are_on_the_left(kind: str, x: float, y: float, ink: object) -> None:
    """The middle of the detail, in the unit square, is on the other side of a mirrored thing."""
    side, base = SIZES["large"], 226
    left, right = (round(120 + k * (x - 0.5) * side) for k in (1, -1))
    at = round(base - (1 - y) * side)
    plain, mirrored = pixels(*(thing(kind, size="large", mirrored=m) for m in (False, True)))
    assert tuple(plain[at, left]) == tuple(mirrored[at, right]) == ink
    assert tuple(plain[at, right]) != ink and tuple(mirrored[at, left]) != ink


def test_same_seed_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        make_world(random.Random(11)).draw(tmp_path, name)
    folder = tmp_path / "images/natural"
    assert (folder / "a.jpg").read_bytes() == (folder / "b.jpg").read_bytes()
    assert make_world(random.Random(11)) == make_world(random.Random(11))
    assert make_world(random.Random(11)) != make_world(random.Random(12))
