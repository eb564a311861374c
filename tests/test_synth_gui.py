"""The gui domain: what its worlds promise to the chain builder, and what its pictures show."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image, ImageChops

from condchain_tasks import vpir
from condchain_tasks.synth import gui_themes
from condchain_tasks.synth.gui import GuiWorld, make_world
from condchain_tasks.synth.gui_art import LAYOUTS, Screen, draw_screen
from condchain_tasks.synth.gui_attributes import part_attributes, screen_attributes
from condchain_tasks.synth.gui_canvas import COLOURS, font
from condchain_tasks.synth.world import Attribute, Scalar, Subject

ALL_ATTRIBUTES = {
    (kind, attribute.key): attribute
    for theme in gui_themes.THEMES
    for kind, attributes in (
        *((kind, screen_attributes(kind, theme)) for kind in LAYOUTS),
        *part_attributes(theme).items(),
    )
    for attribute in attributes
}


@cache
def worlds(number: int) -> tuple[GuiWorld, ...]:
    return tuple(make_world(random.Random(seed)) for seed in range(number))


def subjects_of(number: int) -> Iterator[Subject]:
    return (subject for world in worlds(number) for subject in world.subjects)


# --- The contract -------------------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**9))
def test_a_world_is_rich_and_its_subjects_are_related(seed: int) -> None:
    world = make_world(random.Random(seed))
    ids = {subject.id for subject in world.subjects}
    assert world.domain == "gui"
    assert 4 <= len(world.screens) <= 12
    assert len(ids) == len(world.subjects) >= 8
    assert sum(len(subject.attributes) for subject in world.subjects) >= 45
    for subject in world.subjects:
        assert len(subject.attributes) >= 6
        assert set(subject.related) <= ids - {subject.id}
        assert len(set(subject.related)) == len(subject.related) >= 1


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**9))
def test_facts_are_among_the_values(seed: int) -> None:
    for subject in make_world(random.Random(seed)).subjects:
        keys = [attribute.key for attribute in subject.attributes]
        assert len(set(keys)) == len(keys)
        for attribute in subject.attributes:
            assert subject.facts[attribute.key] in attribute.values


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**9))
def test_every_name_is_of_one_subject_and_the_first_reveals_nothing(seed: int) -> None:
    subjects = make_world(random.Random(seed)).subjects
    names = [name.text for subject in subjects for name in subject.names]
    assert len(set(names)) == len(names)
    for subject in subjects:
        for name in subject.names:
            found = [other.id for other in subjects if vpir.evaluate(name.selector, other.facts)]
            assert found == [subject.id], name
        revealed = set(vpir.analyse(subject.names[0].selector).keys)
        assert not revealed & {attribute.key for attribute in subject.attributes}


def test_a_name_that_searches_all_images_fits_one_drawn_thing() -> None:
    """Rows that are drawn but are no subjects count as well: a reader cannot tell them apart."""
    seen = 0
    for world in worlds(100):
        labels = Counter(part.facts.get("label") for screen in world.screens for part in screen.parts)
        titles = Counter(screen.facts.get("title") for screen in world.screens)
        dialogs = sum(screen.kind == "dialog" for screen in world.screens)
        for name in (name for subject in world.subjects for name in subject.names):
            quoted = name.text.partition("“")[2].rstrip("”")
            if " labelled “" in name.text:
                assert labels[quoted] == 1
            elif " titled “" in name.text:
                assert titles[quoted] == 1
            elif name.text == "the only dialog in all the images":
                assert dialogs == 1
            else:
                continue
            seen += 1
    assert seen > 100


def test_images_are_numbered_like_the_screens() -> None:
    for world in worlds(50):
        screens = [subject for subject in world.subjects if subject.facts["part"] == "screen"]
        assert [subject.facts["image"] for subject in screens] == list(range(1, len(world.screens) + 1))
        for subject, screen in zip(screens, world.screens, strict=True):
            assert subject.names[0].text == f"the screen in Image {subject.facts['image']}"
            assert subject.facts["time"] == screen.facts["time"]


def test_counts_of_elements_are_what_is_drawn() -> None:
    for world in worlds(200):
        for screen in world.screens:
            for key, kind in (("cards", "card"), ("messages", "message")):
                if key in screen.facts:
                    assert screen.facts[key] == len(screen.of(kind))
            if screen.kind in ("list", "settings"):
                assert sorted(int(row.facts["position"]) for row in screen.of("row")) == [1, 2, 3, 4, 5, 6]


# --- Chance -------------------------------------------------------------------------------------------------


def test_every_value_is_as_likely_as_the_others() -> None:
    counts: defaultdict[tuple[Scalar, str, int], Counter[int]] = defaultdict(Counter)
    for subject in subjects_of(2000):
        for attribute in subject.attributes:
            values = attribute.values
            place = values.index(subject.facts[attribute.key])
            counts[subject.facts["part"], attribute.key, len(values)][place] += 1
    for (part, key, size), found in counts.items():
        total = sum(found.values())
        for place in range(size):
            expected = total / size
            spread = (expected * (1 - 1 / size)) ** 0.5
            assert abs(found[place] - expected) < 5 * spread, (part, key, place, found)


def test_facts_of_a_subject_are_independent() -> None:
    """Whether two facts both lie in the lower half of their values: as often as for independent draws."""
    pairs: defaultdict[tuple[Scalar, str, str], list[float]] = defaultdict(list)
    for subject in subjects_of(2000):
        low = []
        for attribute in subject.attributes:
            size = len(attribute.values)
            is_low = attribute.values.index(subject.facts[attribute.key]) < size // 2
            low.append((attribute.key, is_low - size // 2 / size))
        for (one, x), (other, y) in combinations(low, 2):
            pairs[subject.facts["part"], one, other].append(x * y)
    assert len(pairs) > 300
    for pair, products in pairs.items():
        spread = sum(product * product for product in products) ** 0.5
        assert abs(sum(products)) < 5 * spread, pair


def test_worlds_differ() -> None:
    assert len({tuple(screen.kind for screen in world.screens) for world in worlds(200)}) > 150
    assert {screen.kind for world in worlds(200) for screen in world.screens} == set(LAYOUTS)
    assert {len(world.screens) for world in worlds(200)} == set(range(4, 13))


# --- Words --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("attribute", ALL_ATTRIBUTES.values(), ids=["-".join(ids) for ids in ALL_ATTRIBUTES])
def test_sentences_are_complete(attribute: Attribute) -> None:
    sentences = [attribute.says, attribute.denies]
    if attribute.kind == "count":
        assert attribute.values == tuple(range(min(attribute.values), max(attribute.values) + 1))
        assert min(attribute.values) >= 2
        sentences += [attribute.at_least, attribute.fewer]
    else:
        assert not attribute.at_least and not attribute.fewer
    assert len(set(sentences)) == len(sentences)
    for sentence in sentences:
        assert sentence.startswith(("{subject} ", "The "))
        assert not sentence.endswith(".")
        assert sentence.count("{subject}") == 1
        assert sentence.count("{value}") == (attribute.kind != "flag")
        assert "_" not in sentence and "  " not in sentence
    if attribute.asks:
        assert attribute.asks.endswith("?") and attribute.asks[0].isupper()
        assert attribute.asks.count("{subject}") == 1 and "{value}" not in attribute.asks
        assert len(attribute.values) >= 4
    read = [attribute.words.get(value, str(value)) for value in attribute.values]
    assert len(set(read)) == len(read)
    assert not any("_" in word for word in read)


def test_a_statement_reads_as_english() -> None:
    position = ALL_ATTRIBUTES["list row", "position"]
    signal = ALL_ATTRIBUTES["launcher", "signal"]
    row, screen = "the Wi-Fi row in Image 2", "the screen in Image 1"
    assert position.says.format(subject=row, value="second or third") == (
        "the Wi-Fi row in Image 2 is the second or third from the top"
    )
    assert signal.at_least.format(subject=screen, value=signal.words[3]) == (
        "the screen in Image 1 has at least three full bars of signal strength"
    )


WIDTHS = (
    ("titles", 29, True, 360),
    ("labels", 24, True, 212),  # of a row, left of where a finger may swipe
    ("notes", 19, False, 212),
    ("notes", 22, False, 340),
    ("typed", 22, False, 258),
    ("typed", 23, False, 240),
    ("buttons", 24, True, 178),
    ("tabs", 19, True, 116),
    ("chips", 20, True, 70),
)


@pytest.mark.parametrize("theme", gui_themes.THEMES, ids=lambda theme: theme.titles[0])
@pytest.mark.parametrize(("field", "size", "bold", "room"), WIDTHS)
def test_words_fit_their_place(theme: gui_themes.Theme, field: str, size: int, bold: bool, room: int) -> None:
    for text in getattr(theme, field):
        assert font(size, bold).getlength(text) <= room, text


@pytest.mark.parametrize(
    ("texts", "size", "bold", "room"),
    [
        (gui_themes.APPS, 21, True, 126),
        (gui_themes.MESSAGES, 21, True, 232),
        (gui_themes.TAGS, 22, True, 86),
        (gui_themes.HEADINGS, 28, True, 440),
        (gui_themes.REFUSALS, 23, True, 176),
        (gui_themes.CONSENTS, 23, True, 176),
        (gui_themes.SLIDERS, 21, True, 250),
        *((texts, 22, False, 370) for texts in gui_themes.FIELD_TEXTS.values()),
    ],
)
def test_shared_words_fit_their_place(texts: tuple[str, ...], size: int, bold: bool, room: int) -> None:
    for text in texts:
        assert font(size, bold).getlength(text) <= room, text


def test_the_words_of_an_app_are_distinct() -> None:
    for theme in gui_themes.THEMES:
        for texts in (theme.titles, theme.labels, theme.notes, theme.typed, theme.buttons, theme.tabs, theme.chips):
            assert len(set(texts)) == len(texts)
        assert not set(theme.labels) & set(theme.typed)
        assert len(theme.labels) >= 12 and len(theme.notes) >= 4 and len(theme.typed) >= 5


# --- Pictures -----------------------------------------------------------------------------------------------


def first_screen(kind: str) -> tuple[GuiWorld, int]:
    return next(
        (world, index)
        for world in worlds(100)
        for index, screen in enumerate(world.screens)
        if screen.kind == kind and screen.facts["action"] != "typing"
    )


def altered(screen: Screen, subject: Subject, key: str, value: Scalar) -> Screen:
    """The screen with one fact of one of its subjects replaced."""
    if subject.facts["part"] == "screen":
        return replace(screen, facts={**screen.facts, key: value})
    parts = tuple(
        replace(part, facts={**part.facts, key: value})
        if part.kind == subject.facts["part"] and part.facts.items() <= subject.facts.items()
        else part
        for part in screen.parts
    )
    assert parts != screen.parts
    return replace(screen, parts=parts)


@pytest.mark.parametrize("kind", LAYOUTS)
def test_every_value_of_every_fact_has_a_look_of_its_own(kind: str) -> None:
    world, index = first_screen(kind)
    screen = world.screens[index]
    original = draw_screen(screen).tobytes()
    for subject in world.subjects:
        if subject.facts["image"] != index + 1:
            continue
        for attribute in subject.attributes:
            if attribute.key in ("cards", "messages"):  # as many as there are parts
                continue
            others = [value for value in attribute.values if value != subject.facts[attribute.key]]
            sample = random.Random(subject.id + attribute.key).sample(others, min(2, len(others)))
            looks = {draw_screen(altered(screen, subject, attribute.key, value)).tobytes() for value in sample}
            assert len(looks | {original}) == len(sample) + 1, (subject.id, attribute.key)


def changes(one: Image.Image, other: Image.Image) -> NDArray[np.bool_]:
    """Which pixels differ."""
    return np.asarray(ImageChops.difference(one, other).convert("L")) > 0


@pytest.mark.parametrize("kind", LAYOUTS)
def test_a_gesture_hides_no_fact(kind: str) -> None:
    """A mark may touch a line between rows or the end of a ring, but nothing that tells a value."""
    world, index = first_screen(kind)
    screen = world.screens[index]
    plain = replace(screen, facts={**screen.facts, "action": "none"})
    picture = draw_screen(plain)
    taps = len(LAYOUTS[kind].taps)
    marks = [
        changes(picture, draw_screen(replace(plain, facts={**plain.facts, "action": action, "touch": touch})))
        for action, touch in (
            *((f"swipe {way}", 0) for way in ("up", "down", "left", "right")),
            *(("tap", touch) for touch in range(taps)),
        )
    ]
    for subject in world.subjects:
        if subject.facts["image"] != index + 1:
            continue
        for attribute in subject.attributes:
            if attribute.key in ("cards", "messages", "results", "dark", "wallpaper", "action", "position"):
                continue
            value = next(value for value in attribute.values if value != subject.facts[attribute.key])
            fact = changes(picture, draw_screen(altered(plain, subject, attribute.key, value)))
            for mark in marks:
                assert (fact & mark).sum() <= 0.03 * fact.sum(), (subject.id, attribute.key, value)


def test_colours_are_where_the_facts_say() -> None:
    for name, colour in COLOURS.items():
        world, index = first_screen("list")
        screen = world.screens[index]
        picture = draw_screen(replace(screen, facts={**screen.facts, "bar": name}))
        assert picture.getpixel((300, 91)) == colour
        world, index = first_screen("launcher")
        screen = world.screens[index]
        picture = draw_screen(replace(screen, facts={**screen.facts, "wallpaper": name}))
        assert picture.getpixel((5, 600)) == colour


def test_a_switch_that_is_on_has_its_knob_on_the_right() -> None:
    world, index = first_screen("settings")
    screen = world.screens[index]
    picture = draw_screen(replace(screen, facts={**screen.facts, "dark": False, "action": "typing"}))
    for row in screen.of("row"):
        middle = 134 + 118 * (int(row.facts["position"]) - 1) + 59
        knob_left, track, knob_right = (picture.getpixel((x, middle)) == (250, 250, 252) for x in (480, 496, 512))
        expected = (False, False, True) if row.facts["is_on"] else (False, True, True)
        assert (knob_left, track, knob_right) == expected


@pytest.mark.parametrize(
    ("action", "direction"),
    [("swipe up", (0, -1)), ("swipe down", (0, 1)), ("swipe left", (-1, 0)), ("swipe right", (1, 0))],
)
def test_an_arrow_points_where_the_finger_went(action: str, direction: tuple[int, int]) -> None:
    """The head is wider than the dot where the finger came down."""
    world, index = first_screen("list")
    screen = world.screens[index]
    plain = draw_screen(replace(screen, facts={**screen.facts, "action": "typing"}))
    marked = draw_screen(replace(screen, facts={**screen.facts, "action": action}))
    changed = [
        (x, y) for y in range(300, 1000) for x in range(150, 400) if plain.getpixel((x, y)) != marked.getpixel((x, y))
    ]
    along = Counter(x * direction[0] + y * direction[1] for x, y in changed)
    middle = (min(along) + max(along)) / 2
    ahead = max(width for place, width in along.items() if place > middle)
    behind = max(width for place, width in along.items() if place < middle)
    assert ahead > behind + 6


def test_a_trajectory_lies_in_the_official_layout(tmp_path: Path) -> None:
    world = next(world for world in worlds(100) if len(world.screens) == 12)
    assert world.draw(tmp_path, "gui-7") == "images/gui/gui-7"
    files = sorted((tmp_path / "images/gui/gui-7").iterdir())
    assert [path.name for path in files] == [f"gui-7_{number:02d}.png" for number in range(1, 13)]
    for path, screen in zip(files, world.screens, strict=True):
        with Image.open(path) as picture:
            assert (picture.format, picture.mode, picture.size) == ("PNG", "RGB", (540, 1170))
            assert picture.tobytes() == draw_screen(screen).tobytes()


def test_the_same_seed_gives_the_same_files(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        make_world(random.Random(5)).draw(tmp_path / folder, "same")
    assert make_world(random.Random(5)) == make_world(random.Random(5)) != make_world(random.Random(6))
    names = [path.name for path in sorted((tmp_path / "a/images/gui/same").iterdir())]
    for name in names:
        one, other = (tmp_path / folder / "images/gui/same" / name for folder in ("a", "b"))
        assert one.read_bytes() == other.read_bytes()
    assert len(names) >= 4
