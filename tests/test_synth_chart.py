"""Charts with known facts: the contract, the distribution of facts, and whether the picture shows them."""

from __future__ import annotations

import io
import itertools
import random
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from matplotlib import get_data_path
from PIL import Image, ImageFont

from condchain_tasks import vpir
from condchain_tasks.synth import chart, chart_draw, lettering
from condchain_tasks.synth.chart_attributes import COLOURS, INKS
from condchain_tasks.synth.chart_sheet import wedge
from condchain_tasks.synth.chart_themes import NOTES, SERIES, SOURCES, THEMES, TIME_AXES
from condchain_tasks.synth.png import encode_png
from condchain_tasks.synth.world import Attribute, Subject

WORLDS = [chart.make_world(random.Random(seed)) for seed in range(2000)]


def first_of_each_kind(n: int) -> list[chart.ChartWorld]:
    kinds = defaultdict(list)
    for world in WORLDS:
        kinds[world.look.kind].append(world)
    return [world for kind in ("bar", "line", "pie") for world in kinds[kind][:n]]


def elements(world: chart.ChartWorld) -> list[Subject]:
    return [subject for subject in world.subjects if subject.facts["part"] in ("bar", "line", "slice")]


def sentences(attribute: Attribute) -> list[str]:
    all_of_it = (attribute.says, attribute.denies, attribute.at_least, attribute.fewer, attribute.asks)
    return [sentence for sentence in all_of_it if sentence]


# The contract


def test_worlds_are_rich():
    for world in WORLDS:
        assert len(world.subjects) >= 7
        assert sum(len(subject.attributes) for subject in world.subjects) >= 53
        for subject in world.subjects:
            keys = [attribute.key for attribute in subject.attributes]
            assert len(keys) == len(set(keys)) >= 6
            assert {attribute.kind for attribute in subject.attributes} >= {"category", "flag"}


def test_every_name_picks_one_subject_and_reveals_nothing_that_is_tested():
    for world in WORLDS[:200]:
        for subject in world.subjects:
            for name in subject.names:
                picked = [other.id for other in world.subjects if vpir.evaluate(name.selector, other.facts)]
                assert picked == [subject.id]
                assert not set(vpir.analyse(name.selector).keys) & {a.key for a in subject.attributes}


def test_subjects_are_related_to_others():
    for world in WORLDS[:200]:
        ids = [subject.id for subject in world.subjects]
        assert len(ids) == len(set(ids))
        for subject in world.subjects:
            assert subject.related and subject.id not in subject.related
            assert set(subject.related) <= set(ids)
            assert len(subject.related) == len(set(subject.related))


def test_grouped_bars_are_related_to_their_series():
    world = next(w for w in WORLDS if w.subjects[0].facts["series"])
    bars = elements(world)
    same = {bar.id for bar in bars[::2]} - {bars[0].id}
    assert same <= set(bars[0].related)


def test_attributes_hold_the_value_and_are_well_formed():
    for world in WORLDS[:200]:
        for subject in world.subjects:
            for attribute in subject.attributes:
                assert subject.facts[attribute.key] in attribute.values
                assert len(set(attribute.values)) == len(attribute.values) >= 2
                assert bool(attribute.at_least) == bool(attribute.fewer) == (attribute.kind == "count")
                assert not attribute.asks or len(attribute.values) >= 4
                if attribute.kind == "flag":
                    assert attribute.values == (False, True)
                if attribute.kind == "count":
                    assert attribute.values == tuple(range(attribute.values[0], attribute.values[-1] + 1))


def test_sentences_read_as_english():
    for world in WORLDS[:60]:
        for subject, name in ((s, name) for s in world.subjects for name in s.names):
            assert name.text.startswith("the ") and "_" not in name.text
            for attribute in subject.attributes:
                for statement in (attribute.says, attribute.denies):
                    assert statement.startswith(("{subject} ", "The title of {subject} "))
                for sentence in sentences(attribute):
                    assert sentence.count("{subject}") == 1
                    asked = sentence == attribute.asks
                    assert sentence.count("{value}") == (not asked and attribute.kind != "flag")
                    assert sentence.endswith("?") == asked
                    for value in attribute.values:
                        read = sentence.format(subject=name.text, value=attribute.words.get(value, value))
                        assert "_" not in read and "  " not in read and not read.endswith(".")
                        assert " 1 " not in read.replace("at 1 pm", "").replace("week 1 ", "")


def test_a_value_and_its_rank_are_never_both_told():
    for world in WORLDS:
        for subject in elements(world):
            keys = {attribute.key for attribute in subject.attributes}
            assert len(keys & {"value", "rank"}) == (subject.facts["part"] != "line")


def test_the_same_seed_gives_the_same_world():
    assert chart.make_world(random.Random(5)) == WORLDS[5]
    assert chart.make_world(random.Random(6)) != WORLDS[5]


# Facts that hang together


def test_ranks_and_positions_agree_with_values_and_order():
    for world in WORLDS:
        subjects = elements(world)
        ordinals = chart.say.ORDINALS
        assert [subject.facts["position"] for subject in subjects] == list(ordinals[: len(subjects)])
        if world.look.kind != "line":
            by_value = sorted(subjects, key=lambda s: -int(s.facts["value"]))
            ranks = [str(subject.facts["rank"]) for subject in by_value]
            middle = [f"{ordinal} highest" for ordinal in ordinals[1 : len(subjects) - 1]]
            assert ranks == ["highest", *middle, "lowest"]
            values = [int(subject.facts["value"]) for subject in by_value]
            assert all(high - low >= 2 for high, low in itertools.pairwise(values))


def test_groups_hold_two_bars_of_one_category():
    for world in WORLDS:
        bars = elements(world)
        if bars[0].facts["series"]:
            for i in range(0, len(bars), 2):
                assert bars[i].facts["label"] == bars[i + 1].facts["label"]
                assert bars[i].facts["group"] == bars[i + 1].facts["group"] == chart.say.ORDINALS[i // 2]


def test_curves_start_end_and_peak_as_told():
    for world in WORLDS:
        for line, curve in zip(elements(world), world.look.curves, strict=world.look.kind == "line"):
            assert (curve[0], curve[-1]) == (line.facts["start"], line.facts["end"])
            below, top = sorted(curve)[-2:]
            assert top - below >= 8
            assert world.look.time.marks[curve.index(top)] == line.facts["peak"]


def test_lines_and_slices_differ_in_colour():
    for world in WORLDS:
        if world.look.kind != "bar":
            colours = [subject.facts["colour"] for subject in elements(world)]
            assert len(colours) == len(set(colours))


@given(st.integers(0, 10**9), st.integers(1, 5), st.integers(1, 5), st.integers(0, 20))
def test_spread_values_keep_their_distance(seed, n, gap, slack):
    values = range(7, 7 + n * gap + slack)
    drawn = chart._spread(random.Random(seed), n, values, gap)
    assert len(drawn) == n and set(drawn) <= set(values)
    assert all(abs(a - b) >= gap for a, b in itertools.combinations(drawn, 2))


# Distributions


def test_every_value_is_equally_likely():
    counts: dict[tuple[str, str, int], Counter[int]] = defaultdict(Counter)
    for world in WORLDS:
        for subject in world.subjects:
            for a in subject.attributes:
                index = a.values.index(subject.facts[a.key])
                counts[str(subject.facts["part"]), a.key, len(a.values)][index] += 1
    assert len(counts) > 50
    for (part, key, n), counter in counts.items():
        total = counter.total()
        expected = total / n
        assert expected > 5, (part, key)
        chi2 = sum((counter[i] - expected) ** 2 / expected for i in range(n))
        assert chi2 < (n - 1) + 4.5 * (2 * (n - 1)) ** 0.5, (part, key, n, counter)


def test_facts_of_a_subject_tell_nothing_about_each_other():
    together: dict[tuple[str, str, str], list[int]] = defaultdict(lambda: [0, 0])
    for world in WORLDS:
        for subject in world.subjects:
            signs = []
            for a in subject.attributes:
                n, index = len(a.values), a.values.index(subject.facts[a.key])
                if n % 2 == 0 or index != n // 2:
                    signs.append((a.key, 1 if index >= n / 2 else -1))
            for (one, a), (two, b) in itertools.combinations(sorted(signs), 2):
                tally = together[str(subject.facts["part"]), one, two]
                tally[0] += a * b
                tally[1] += 1
    assert len(together) > 200
    for pair, (balance, n) in together.items():
        assert n > 100, pair
        assert abs(balance) < 4.5 * n**0.5, (pair, balance, n)


def test_charts_are_varied():
    assert set(Counter(world.look.kind for world in WORLDS)) == {"bar", "line", "pie"}
    assert {world.look.theme.topic for world in WORLDS} == {theme.topic for theme in THEMES}
    assert len(THEMES) >= 8
    bars = [world for world in WORLDS if world.look.kind == "bar"]
    assert {(w.look.horizontal, w.subjects[0].facts["series"] != "") for w in bars} == set(
        itertools.product((False, True), repeat=2)
    )


def test_labels_are_distinct_and_name_no_colour():
    for theme in THEMES:
        assert len(set(theme.labels)) == len(theme.labels) >= 8
        assert not {label.lower() for label in theme.labels} & {*COLOURS, *INKS}


def width(text: str, size: float, face: str) -> float:
    return size * lettering.letter(text, face).width


@pytest.mark.parametrize("family", ["sans", "serif"])
def test_text_fits_its_place(family):
    bold = lettering.face(family, bold=True)
    labels = [label for theme in THEMES for label in theme.labels]
    assert max(width(label, 13, bold) for label in labels) + 8 < 660 / 8
    assert max(width(label, 13, bold) for pair in SERIES for label in pair) + 7 < 660 / 10
    notes = [note for words in NOTES for note in words]
    longest_note = max(width(note, 12, lettering.face(family, italic=True)) for note in notes)
    longest_label = max(width(label, 12.5, bold) for label in labels)
    assert longest_label + 8 + 17 + 4 + longest_note < (800 - 48 - 20) / 5
    titles = [f"{theme.topic} in 2020".upper() for theme in THEMES]
    assert max(width(title, 18, bold) for title in titles) < 0.55 * 800
    assert max(width(f"Source: {source}, page 58", 12.5, bold) for source in SOURCES) < 0.4 * 800
    quantities = [title for theme in THEMES for title in (theme.quantity, theme.category)]
    quantities += [axis.title for axis in TIME_AXES]
    assert max(width(title, 14, bold) for title in quantities) < 160


# The picture


def picture(world: chart.ChartWorld, changed: dict[str, dict] | None = None) -> np.ndarray:
    facts = {subject.id: {**subject.facts, **(changed or {}).get(subject.id, {})} for subject in world.subjects}
    return np.asarray(Image.open(io.BytesIO(chart_draw.draw_chart(facts, world.look))))


def test_draw_writes_the_official_layout(tmp_path):
    world = WORLDS[0]
    assert world.domain == "chart"
    assert world.draw(tmp_path, "c_0001") == "images/chart/c_0001.png"
    with Image.open(tmp_path / "images" / "chart" / "c_0001.png") as image:
        assert (image.format, image.mode, image.size) == ("PNG", "RGB", world.look.size)
        image.load()


def test_drawing_is_a_pure_function_also_in_threads(tmp_path):
    worlds = first_of_each_kind(2)
    alone = [Path(tmp_path, world.draw(tmp_path, f"a{i}")).read_bytes() for i, world in enumerate(worlds)]
    with ThreadPoolExecutor(4) as pool:
        images = pool.map(lambda i: worlds[i % 6].draw(tmp_path, f"b{i}"), range(12))
        together = [Path(tmp_path, image).read_bytes() for image in images]
    assert together == alone * 2


@pytest.mark.parametrize("world", first_of_each_kind(1), ids=lambda world: world.look.kind)
def test_every_fact_changes_the_picture(world):
    """Facts that others settle (ranks, places in an order, peaks) are tested above."""
    before = picture(world)
    for subject in (elements(world)[1], *world.subjects[len(elements(world)) :]):
        for attribute in subject.attributes:
            if attribute.key in ("rank", "position", "group", "peak", "entries"):
                continue
            value = next(value for value in attribute.values if value != subject.facts[attribute.key])
            after = picture(world, {subject.id: {attribute.key: value}})
            changed = int((before != after).any(axis=2).sum())
            assert changed >= 15, (subject.id, attribute.key, changed)


def test_colours_in_the_picture_are_those_of_the_facts():
    for world in first_of_each_kind(4):
        pixels = picture(world).reshape(-1, 3).astype(np.int64) @ (65536, 256, 1)
        used = {subject.facts["colour"] for subject in elements(world)}
        for colour, code in chart_draw._COLOURS.items():
            area = int((pixels == int(code[1:], 16)).sum())
            assert (area > 150) == (colour in used), (world.look.kind, colour, area)


@pytest.mark.parametrize("horizontal", [False, True])
def test_bars_are_as_long_as_their_values(horizontal):
    world = next(w for w in WORLDS if w.look.kind == "bar" and w.look.horizontal == horizontal)
    bars = elements(world)
    plain = {"pattern": "a plain colour", "colour": "pink", "outline": False, "error_bar": False}
    changed = {bar.id: {**plain} for bar in bars}
    spans = []
    for bar in bars:
        shown = picture(world, changed | {bar.id: plain | {"colour": "green"}})
        at = np.argwhere((shown == (0x17, 0x92, 0x3A)).all(axis=2))
        spans.append(np.ptp(at[:, 1 if horizontal else 0]) + 1)
    values = [int(bar.facts["value"]) for bar in bars]
    scale = [span / value for span, value in zip(spans, values, strict=True)]
    assert max(scale) / min(scale) < 1.12  # the axis's line covers a little of each


def test_wedge_covers_its_share_of_the_circle():
    quarter = wedge((0, 0), 100, 0, 90, 180)
    corners = quarter.vertices[:-1]
    x, y = corners[:, 0], corners[:, 1]
    area = abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2
    assert area == pytest.approx(np.pi * 100**2 / 4, rel=1e-3)
    assert x.min() == pytest.approx(0, abs=1e-9) and y.max() == pytest.approx(0, abs=1e-9)


@given(st.lists(st.floats(0, 400), min_size=1, max_size=5))
def test_labels_keep_apart_and_in_the_picture(heights):
    moved = chart_draw._apart(sorted(heights), 50, 20, 380)
    assert len(moved) == len(heights)
    assert all(b - a >= 50 - 1e-9 for a, b in itertools.pairwise(moved))
    assert moved[0] >= 20 and moved[-1] <= 380


def test_lettering_measures_as_pillow_does():
    font = ImageFont.truetype(str(Path(get_data_path(), "fonts/ttf/DejaVuSans-Bold.ttf")), 1000)
    text = "Wm il 7"
    expected = sum(font.getlength(character) for character in text) * 13 / 1000
    assert width(text, 13, lettering.face(bold=True)) == pytest.approx(expected)
    letters = lettering.letter(text, lettering.face(bold=True))
    assert len(letters.vertices) == len(letters.codes)
    assert letters.vertices[:, 0].min() >= 0
    assert 0.9 * letters.width < letters.vertices[:, 0].max() < letters.width


def test_lettering_of_a_blank_is_empty():
    letters = lettering.letter(" ", lettering.face())
    assert letters.vertices.shape == (0, 2) and letters.codes.shape == (0,) and letters.width > 0


@given(arrays(np.uint8, st.tuples(st.integers(1, 9), st.integers(1, 9), st.just(3))))
def test_png_keeps_every_pixel(pixels):
    with Image.open(io.BytesIO(encode_png(pixels))) as image:
        assert image.mode == "RGB"
        assert np.array_equal(np.asarray(image), pixels)
