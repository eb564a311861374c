"""The embedded V-REX benchmark: its layout, its fairness, and pictures that show every fact."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import ImageChops

from condchain_tasks.synth.vrex import make_samples, write_dataset
from condchain_tasks.synth.vrex_kinds import CATEGORIES, KINDS
from condchain_tasks.synth.vrex_options import draw_numbers, draw_options, normalised, shared_words
from condchain_tasks.synth.vrex_queries import (
    Alike,
    Best,
    Cell,
    Count,
    Derived,
    Guided,
    Listed,
    Lookup,
    Next,
    Query,
    QueryError,
    Route,
    Scene,
    Total,
    Value,
    text_of,
)
from condchain_tasks.synth.vrex_records import Sample
from condchain_tasks.synth.vrex_rules import Common, Compose, Extreme, Rule, Spell, Sum, Term
from condchain_tasks.synth.vrex_rules import Path as PathRule

Json = dict[str, Any]

FILES = ("planning", "following", "planning_hard")
SCENARIOS = {
    "deduction": {"flowchart", "pattern"},
    "guessing": {"location", "responsibility", "time"},
    "navigation": {"map", "gui"},
    "retrieval": {"counting", "word puzzle"},
}


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    return make_samples(400, seed=3)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("vrex") / "twin"
    write_dataset(out, n=13, seed=5)
    return out


def records(root: Path, name: str) -> list[Json]:
    return [json.loads(line) for line in (root / "data" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


# --- layout ---------------------------------------------------------------------------------------------------


def test_layout(root: Path) -> None:
    assert {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()} == {
        *(f"data/{name}.jsonl" for name in FILES),
        *(record["image"] for record in records(root, "planning")),
        "facts/vrex.json",
        "synthetic.json",
    }
    planning, following, hard = (records(root, name) for name in FILES)
    assert [record["category"] for record in planning] == [CATEGORIES[k % 4] for k in range(13)]
    assert len({record["id"] for record in planning}) == 13
    assert all("set" not in record for record in planning + following)
    assert {record["set"] for record in hard} == {"hard"}
    facts = json.loads((root / "facts" / "vrex.json").read_bytes())["samples"]
    assert list(facts) == [record["id"] for record in planning]
    for standard, answers, harder in zip(planning, following, hard, strict=True):
        for key in ("id", "image", "category", "scenario", "final_question"):
            assert standard[key] == answers[key] == harder[key]
        last = standard["steps"][-1]
        assert last == answers["steps"][-1] == harder["steps"][-1]
        assert last["question"] == standard["final_question"]
        known = facts[standard["id"]]
        for record, count, distracting in ((standard, 4, "distracting"), (harder, 8, "distracting_hard")):
            assert len(known[distracting]) == len(record["steps"]) - 1
            for step, other, same in zip(record["steps"], known[distracting], answers["steps"], strict=False):
                assert len(step["options"]) == count
                right = {"question": step["question"], "answer": step["answer"], "source": "gold"}
                assert step["options"][step["gold"]] == right
                assert step["options"][other]["source"] == "distracting"
                assert (same["question"], same["answer"]) == (step["question"], step["answer"])
                assert other != step["gold"] and other in range(count)
        for step in answers["steps"]:
            assert 2 <= len(step["options"]) <= 6
            assert step["options"][step["gold"]] == step["answer"]


def test_same_arguments_same_bytes(root: Path, tmp_path: Path) -> None:
    write_dataset(tmp_path / "again", n=13, seed=5)
    for path in root.rglob("*"):
        if path.is_file():
            assert (tmp_path / "again" / path.relative_to(root)).read_bytes() == path.read_bytes(), path


def test_a_chain_depends_on_number_and_seed_alone(root: Path, tmp_path: Path) -> None:
    write_dataset(tmp_path / "fewer", n=4, seed=5)
    for name in FILES:
        assert records(tmp_path / "fewer", name) == records(root, name)[:4]
    for path in (tmp_path / "fewer" / "images").iterdir():
        assert path.read_bytes() == (root / "images" / path.name).read_bytes()
    assert make_samples(4, seed=6)[0].planning != make_samples(4, seed=5)[0].planning


def test_a_folder_in_use_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("kept")
    with pytest.raises(FileExistsError, match="not an empty folder"):
        write_dataset(tmp_path, n=1)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("n", [0, -1])
def test_no_chain_is_an_error(tmp_path: Path, n: int) -> None:
    with pytest.raises(ValueError, match=f"n is {n}"):
        write_dataset(tmp_path / "out", n=n)
    assert not list(tmp_path.iterdir())


def test_nothing_is_left_of_a_dataset_that_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> bytes:
        raise OSError("disk full")

    monkeypatch.setattr("condchain_tasks.synth.vrex.encode_png", fail)
    with pytest.raises(OSError, match="disk full"):
        write_dataset(tmp_path / "out", n=1)
    assert not list(tmp_path.iterdir())


def test_contact_sheets_show_every_chain(tmp_path: Path) -> None:
    write_dataset(tmp_path / "out", n=4, contact_sheet=True)
    assert len(list((tmp_path / "out" / "contact_sheet").glob("vrex_*.png"))) == 2  # three chains on the first page


# --- fairness -------------------------------------------------------------------------------------------------


def test_categories_scenarios_and_lengths(samples: list[Sample]) -> None:
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for sample in samples:
        found[sample.planning["category"]][sample.planning["scenario"]] += 1
    assert {category: set(counts) for category, counts in found.items()} == SCENARIOS
    for counts in found.values():
        assert counts.total() == 100
        assert max(counts.values()) - min(counts.values()) <= 1
    lengths = Counter(len(sample.planning["steps"]) for sample in samples)
    assert set(lengths) == {2, 3, 4, 5, 6}
    assert mean(lengths.elements()) == pytest.approx(3.6, abs=0.2)
    for kind in KINDS.values():
        possible = {len(s.planning["steps"]) for s in samples if s.scene.kind == kind.name}
        assert min(possible) == kind.lengths[0] and max(possible) <= kind.lengths[1]


def steps_of(samples: list[Sample], which: str) -> list[tuple[list[str], int, str]]:
    """Options, index of the right one, and the question that they belong to."""
    if which == "following":
        steps = [step for sample in samples for step in sample.following["steps"]]
        return [(step["options"], step["gold"], step["question"]) for step in steps]
    found = []
    for sample in samples:
        record = sample.planning if which == "planning" else sample.hard
        for step in record["steps"][:-1]:
            found.append(([one["question"] for one in step["options"]], step["gold"], record["final_question"]))
    return found


def advantage(steps: list[tuple[list[str], int, str]], score: Callable[[str, str], float]) -> float:
    """How much oftener than chance the option of the highest score is right; ties are split."""
    gains = []
    for options, gold, question in steps:
        scores = [score(option, question) for option in options]
        best = [k for k, one in enumerate(scores) if one == max(scores)]
        gains.append((gold in best) / len(best) - 1 / len(options))
    return mean(gains)


@pytest.mark.parametrize("which", ["planning", "hard", "following"])
@pytest.mark.parametrize(
    "score",
    [
        lambda option, _: len(option),
        lambda option, _: -len(option),
        shared_words,
        lambda option, question: shared_words(option, question) / len(option.split()),
    ],
    ids=["longest", "shortest", "most shared words", "greatest share of shared words"],
)
def test_no_surface_gives_the_right_option_away(
    samples: list[Sample], which: str, score: Callable[[str, str], float]
) -> None:
    assert advantage(steps_of(samples, which), score) <= 0.10


@pytest.mark.parametrize("which", ["planning", "hard", "following"])
def test_every_place_is_right_equally_often(samples: list[Sample], which: str) -> None:
    steps = steps_of(samples, which)
    for place in range(max(len(options) for options, _, _ in steps)):
        there = [(gold == place) - 1 / len(options) for options, gold, _ in steps if place < len(options)]
        assert abs(mean(there)) <= 0.05, place


def test_right_numbers_have_every_rank(samples: list[Sample]) -> None:
    ranks: Counter[int] = Counter()
    for options, gold, _ in steps_of(samples, "following"):
        if all(option.isdecimal() for option in options):
            ranks[sorted(map(int, options)).index(int(options[gold]))] += 1
    assert set(ranks) == {0, 1, 2, 3}
    assert all(abs(count / ranks.total() - 1 / 4) < 0.08 for count in ranks.values())


def test_distracting_questions_differ_from_all_others(samples: list[Sample]) -> None:
    for sample in samples:
        golds = {normalised(step["question"]) for step in sample.following["steps"]}
        chain = []
        for step, place in zip(sample.planning["steps"], sample.distracting, strict=False):
            chain.append(normalised(step["options"][place]["question"]))
        assert len(set(chain)) == len(chain)
        assert not golds & set(chain)


@given(st.integers(0, 300), st.integers(2, 6), st.integers(0, 2**32))
def test_numbers(gold: int, count: int, seed: int) -> None:
    options = draw_numbers(random.Random(seed), gold, count)
    numbers = [int(text) for text in options.texts]
    assert numbers[options.gold] == gold
    assert len(set(numbers)) == count
    assert min(numbers) >= 0


@given(
    st.text(min_size=1, max_size=20),
    st.lists(st.text(max_size=20), max_size=12),
    st.integers(2, 6),
    st.integers(0, 2**32),
)
def test_options_differ(gold: str, pool: list[str], count: int, seed: int) -> None:
    options = draw_options(random.Random(seed), gold, (), pool, count, "Which one?")
    assert options.texts[options.gold] == gold
    assert len(options.texts) <= count
    assert len(set(options.texts)) == len(options.texts)
    assert sum(normalised(text) == normalised(gold) for text in options.texts) == 1


# --- queries and rules ----------------------------------------------------------------------------------------

SCENE = Scene(
    "toy",
    {
        "things": (
            {"name": "cup", "colour": "red", "price": 3},
            {"name": "hat", "colour": "blue", "price": 5},
            {"name": "bell", "colour": "red", "price": 2},
        ),
        "photo": ({"colour": "red"},),
        "arrows": (
            {"from": "A", "label": "yes", "to": "B"},
            {"from": "A", "label": "no", "to": "C"},
            {"from": "B", "label": "no", "to": "C"},
        ),
        "cards": ({"who": "Eva", "at": "A", "label": "yes"}, {"who": "Eva", "at": "B", "label": "no"}),
        "tiles": tuple(
            {"shape": shape, "dots": dots, "size": size}
            for shape, dots, size in zip("xyzxyz", (9, 7, 5, 3, 1, -1), (1, 2, 4, 8, 16, 32), strict=True)
        ),
    },
)


@pytest.mark.parametrize(
    ("query", "result"),
    [
        (Lookup("things", {"name": "hat"}, "price"), 5),
        (Count("things", {"colour": "red"}), 2),
        (Count("things", {"colour": "green"}), 0),
        (Total("things", {"colour": "red"}, "price"), 5),
        (Listed("things", {"colour": "red"}, "name"), ("cup", "bell")),
        (Best("things", {}, "price", True, "name"), "hat"),
        (Best("things", {"colour": "red"}, "price", False, "name"), "bell"),
        (Alike("things", "photo", ("colour",), "name"), ("cup", "bell")),
        (Route("arrows", "A", ("yes", "no")), "C"),
        (Guided("arrows", "cards", "Eva", "A", 1), "B"),
        (Guided("arrows", "cards", "Eva", "A", 0), "C"),
        (Next("tiles", {}, "shape"), "x"),
        (Next("tiles", {}, "dots"), -3),
        (Derived(Sum((Term((0, 1), 2), Term((), 1))), (Count("things", {}), Count("photo", {}))), "7"),
    ],
)
def test_queries(query: Query, result: Value) -> None:
    assert query.result(SCENE) == result


@pytest.mark.parametrize(
    "query",
    [
        Lookup("things", {"colour": "red"}, "price"),
        Lookup("things", {"name": "hat"}, "weight"),
        Lookup("nothing", {}, "price"),
        Count("things", {"weight": 3}),
        Total("things", {}, "name"),
        Listed("things", {}, "weight"),
        Best("things", {"colour": "green"}, "price", True, "name"),
        Route("arrows", "B", ("yes",)),
        Guided("arrows", "cards", "Ben", "A", 0),
        Next("tiles", {}, "size"),
        Next("tiles", {}, "weight"),
        Derived(Spell(), (Lookup("things", {}, "name"),)),
    ],
)
def test_queries_without_a_result(query: Query) -> None:
    with pytest.raises(QueryError):
        query.result(SCENE)


def test_names_are_listed_in_english() -> None:
    assert [text_of(names) for names in ((), ("A",), ("A", "B"), ("A", "B", "C"))] == [
        "none",
        "A",
        "A and B",
        "A, B and C",
    ]
    assert text_of(7) == "7"


@pytest.mark.parametrize(
    ("rule", "answers", "result"),
    [
        (Sum((Term((0, 1)), Term((2,), -1), Term((), 10))), ["3", "4", "5"], "17"),
        (Extreme(("x", "y", "z"), True), ["3", "9", "5"], "y"),
        (Extreme(("x", "y", "z"), False), ["3", "9", "5"], "x"),
        (Spell(), ["S", "U", "N"], "SUN"),
        (Compose("{2}, {1}", {"moon": "by night"}), ["moon", "Monday"], "Monday, by night"),
        (Common(), ["A, B and C", "B and D", "A and B"], "B"),
        (PathRule("A", ("B", "A")), ["C", "B"], "C"),
    ],
)
def test_rules_need_every_answer(rule: Rule, answers: list[str], result: str) -> None:
    assert rule.apply(answers) == result
    if isinstance(rule, Common):  # an answer may narrow the names down no further, as the last one here
        assert rule.apply([None, answers[1], None]) is None
        return
    for k in range(len(answers)):
        assert rule.apply([*answers[:k], None, *answers[k + 1 :]]) is None


@pytest.mark.parametrize(
    ("rule", "answers"),
    [
        (Sum((Term((0,)),)), ["three"]),
        (Sum((Term((1,)),)), ["3"]),
        (Extreme(("x", "y"), True), ["3", "3"]),
        (Extreme(("x", "y"), True), ["3"]),
        (Common(), ["A and B", "A and B"]),
        (Common(), ["A", "B"]),
        (Common(), []),
        (PathRule("A", ("A", "B")), ["C", "D"]),
        (PathRule("A", ("A",)), ["B", "C"]),
    ],
)
def test_rules_without_a_result(rule: Rule, answers: list[str]) -> None:
    assert rule.apply(answers) is None


# --- pictures -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KINDS)
def test_every_fact_is_visible(samples: list[Sample], name: str) -> None:
    """Whatever cell of the tables is given another value of its column, the picture changes."""
    kind = KINDS[name]
    scenes = [sample.scene for sample in samples if sample.scene.kind == name]
    values: dict[tuple[str, str], set[Cell]] = defaultdict(set)
    for scene in scenes:
        for table, rows in scene.tables.items():
            for row in rows:
                for column, cell in row.items():
                    values[table, column].add(cell)
    scene = scenes[0]
    drawn = kind.draw(scene)
    rng = random.Random(0)
    tried = drawable = 0
    for table, rows in scene.tables.items():
        for column in rows[0]:
            at = rng.randrange(len(rows))
            if column not in rows[at]:
                continue
            other = rng.choice(sorted(values[table, column] - {rows[at][column]}, key=str))
            changed = (*rows[:at], {**rows[at], column: other}, *rows[at + 1 :])
            tried += 1
            try:
                redrawn = kind.draw(replace(scene, tables={**scene.tables, table: changed}))
            except (LookupError, ValueError):
                continue  # no picture at all: the change broke what hangs together, such as a name used twice
            drawable += 1
            assert ImageChops.difference(drawn, redrawn).getbbox(), (table, column, rows[at], other)
    assert drawable >= tried / 3


@pytest.mark.parametrize("name", KINDS)
def test_pictures_are_of_moderate_size(samples: list[Sample], name: str) -> None:
    picture = KINDS[name].draw(next(sample.scene for sample in samples if sample.scene.kind == name))
    assert picture.mode == "RGB"
    assert 800 <= picture.width <= 1100 and 400 <= picture.height <= 800
