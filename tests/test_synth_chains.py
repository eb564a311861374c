"""Conditions and chains: logic, English, exchangeability, construction, and the files of a dataset."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from toy_world import ATTRIBUTES, make_toy_world

from condchain_tasks import vpir
from condchain_tasks.synth import chains, dataset, predicates, worker
from condchain_tasks.synth.chains import Chain, ChainError, Layer, Question
from condchain_tasks.synth.predicates import Atom, Group, Node, Not, Pair, Slot, Template, parse
from condchain_tasks.synth.world import Name

BY_KEY = {attribute.key: attribute for attribute in ATTRIBUTES}
ALL_TEMPLATES = [
    (complexity, template)
    for complexity, families in predicates.TEMPLATES.items()
    for templates in families.values()
    for template in templates
]


# --- predicates ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("complexity", "template"), ALL_TEMPLATES, ids=lambda one: str(getattr(one, "logic", one)))
def test_templates_are_what_they_claim(complexity: str, template: Template) -> None:
    analysis = vpir.analyse(str(template.logic))
    assert (analysis.family, analysis.complexity) == (template.family, complexity)
    assert [slot.key for slot in template.slots] == list("ABCDEF")[: len(template.slots)]
    assert {flipped for _, flipped in template.flips} == set(analysis.keys)


def test_the_papers_templates_are_among_them() -> None:
    logics = {template.logic for _, template in ALL_TEMPLATES}
    assert logics >= {
        parse("(A and B) and ((C and D) or (E and F))"),
        parse("((A and B) or C) and (D and not E)"),
        parse("(A or B) and (C and not D)"),
        parse("((A and B) or (C and D)) and E"),
    }


def test_families_have_the_papers_shares() -> None:
    rng = Random("families")
    drawn = Counter(predicates.draw_template(rng, None).family for _ in range(20_000))
    for family, weight in predicates.FAMILY_WEIGHTS.items():
        assert drawn[family] / 200 == pytest.approx(weight, abs=1.2)


def test_flips_by_hand() -> None:
    flips = Template("mixed without negation", parse("A and (B or C)")).flips
    found = sorted((*truth.values(), flipped) for truth, flipped in flips)
    assert found == [
        (True, False, True, "A"),
        (True, False, True, "C"),
        (True, True, False, "A"),
        (True, True, False, "B"),
        (True, True, True, "A"),
    ]


values = st.sampled_from(["red", "it's", 'say "so"', "naïve", 3, 0, -2])
leaves = st.one_of(
    st.builds(Atom, st.sampled_from("abc"), st.sampled_from(["==", ">=", "<"]), values),
    st.builds(Atom, st.sampled_from("abc"), st.just("is"), st.booleans()),
    st.builds(Atom, st.sampled_from("abc"), st.just("in"), st.tuples(values, values)),
)


def groups_of(parts: st.SearchStrategy[Node]) -> st.SearchStrategy[Group]:
    return st.builds(Group, st.sampled_from(["and", "or"]), st.lists(parts, min_size=2, max_size=3).map(tuple))


@settings(max_examples=50, deadline=None)
@given(st.recursive(st.one_of(leaves, st.builds(Not, leaves)), groups_of, max_leaves=12))
def test_parse_reads_what_str_writes(node: Node) -> None:
    assert parse(str(node)) == node


@pytest.mark.parametrize(
    "text", ["", "a ==", "a.b", "a == b", "1 == a", "len(a) == 1", "a in (1, 2, 3)", "not not a", "a != 1", "a < 1 < 2"]
)
def test_parse_refuses_what_conditions_do_not_have(text: str) -> None:
    with pytest.raises(ValueError):
        parse(text)


def test_changed_atoms() -> None:
    before = parse('(a == "x" or b >= 2) and not (c == 1)')
    assert predicates.changed_atoms(before, parse('(a == "x" or b < 2) and not (c == 1)')) == (
        (Atom("b", ">=", 2), Atom("b", "<", 2)),
    )
    assert predicates.changed_atoms(before, before) == ()
    assert predicates.changed_atoms(before, parse('(a == "x" and b >= 2) and not (c == 1)')) is None
    assert predicates.changed_atoms(before, parse('(d == "x" or b >= 2) and not (c == 1)')) is None


# --- English ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("predicate", "english"),
    [
        ('colour == "red" and lid is False', "Box 1 is red but box 1 has no lid"),
        ("lid is False and not (dots == 3)", "Box 1 has no lid and box 1 does not have three dots"),
        ('colour in ("red", "blue") and dots >= 4', "Box 1 is red or blue and box 1 has at least four dots"),
        ("dots < 3 or not (lines == 2)", "Either box 1 has fewer than three dots or box 1 does not have 2 lines"),
        (
            "lid is True and lines < 3 and open is True",
            "Box 1 has a lid, box 1 has fewer than 3 lines and box 1 stands open",
        ),
        (
            'lid is True and (dots == 2 or shape == "oval")',
            "Box 1 has a lid, and either box 1 has exactly two dots or box 1 is oval",
        ),
        (
            '(lid is True and dots == 2) or shape == "oval"',
            "Either box 1 has a lid and box 1 has exactly two dots, or box 1 is oval",
        ),
        (
            '(lid is True or dots == 2) and shape == "oval"',
            "Either box 1 has a lid or box 1 has exactly two dots; and also box 1 is oval",
        ),
        ('not (lid is True and shape == "oval")', "It is not true that both box 1 has a lid and box 1 is oval"),
        (
            '((lid is True and open is True) or shape == "oval") and (dots >= 3 and not (colour == "red"))',
            "Either box 1 has a lid and box 1 stands open, or box 1 is oval; and also "
            "box 1 has at least three dots but box 1 is not red",
        ),
    ],
)  # fmt: skip
def test_english_by_hand(predicate: str, english: str) -> None:
    assert predicates.render(parse(predicate), BY_KEY, "box 1") == english


def test_but_stands_before_a_denial_only() -> None:
    shut = BY_KEY | {"open": replace(BY_KEY["open"], denies="{subject} is shut")}
    node = parse('colour == "red" and open is False')
    assert predicates.render(node, BY_KEY, "box 1") == "Box 1 is red but box 1 does not stand open"
    assert predicates.render(node, shut, "box 1") == "Box 1 is red and box 1 is shut"


def read_english(text: str) -> Node:
    """A reader that knows the rule and nothing of the tree; clauses become atoms `x == clause`."""
    text = text[0].lower() + text[1:]
    if text.startswith("it is not true that "):
        part = read_english(text.removeprefix("it is not true that ").removeprefix("both "))
        assert isinstance(part, Group)
        return Not(part)
    for separators in (r"; and also |; or else ", r", and |, or ", r" and | but | or |, "):
        words = re.findall(separators, text)
        if words:
            connective = "or" if words[-1].strip(" ,;").startswith("or") else "and"
            if connective == "or":
                text = text.removeprefix("either ")
            return Group(connective, tuple(map(read_english, re.split(separators, text))))
    positive = text.replace(" is not ", " is ")
    atom = Atom("x", "==", positive)
    return atom if text == positive else Not(atom)


clauses = st.integers(0, 9).map(lambda k: Atom(f"k{k}", "==", "v"))
literals = st.one_of(clauses, st.builds(Not, clauses))
flat = groups_of(literals)
nested = groups_of(st.one_of(literals, flat))
trees = st.one_of(literals, groups_of(st.one_of(literals, flat, nested)))
ANY_KEY = {
    f"k{k}": replace(BY_KEY["colour"], values=("v",), says=f"{{subject}} is c{k}", denies=f"{{subject}} is not c{k}")
    for k in range(10)
}


@settings(max_examples=100, deadline=None)
@given(st.one_of(trees, st.builds(Not, st.one_of(flat, nested))))
def test_a_reader_recovers_the_tree_from_the_english(node: Node) -> None:
    english = predicates.render(node, ANY_KEY, "it")
    clauses_for_atoms = {f"k{k}": Atom("x", "==", f"it is c{k}") for k in range(10)}
    assert read_english(english) == predicates.substitute(node, clauses_for_atoms)


@pytest.mark.parametrize(
    "predicate",
    ["size == 3", "lid == 1", 'colour >= 3', 'colour == "pink"', "dots is True", "not (lid is True)",
     "((((lid is True and open is True) or dots == 2) and lines == 2) or dots == 3) and dots == 4",
     "dots == 2 and not (lid is True and open is True)"],
)  # fmt: skip
def test_no_english_for_what_no_sentence_says(predicate: str) -> None:
    with pytest.raises(ValueError):
        predicates.render(parse(predicate), BY_KEY, "box 1")


# --- exchangeability ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("attribute", ATTRIBUTES, ids=lambda attribute: attribute.key)
@pytest.mark.parametrize(("negated", "lists"), [(False, True), (False, False), (True, False)])
def test_true_and_false_texts_are_exchangeable(attribute, negated: bool, lists: bool) -> None:
    rng = Random(f"{attribute.key}/{negated}/{lists}")
    drawn: Counter[tuple[Atom, Atom]] = Counter()
    for actual in attribute.values * (24_000 // len(attribute.values)):
        drawn[predicates.draw_atoms(rng, attribute, actual, Slot("A", negated, lists))] += 1
    for (first, second), count in drawn.items():
        mirrored = drawn[second, first]
        assert abs(count - mirrored) <= 5 * (count + mirrored) ** 0.5, f"{first} | {second}"


@pytest.mark.parametrize("attribute", ATTRIBUTES, ids=lambda attribute: attribute.key)
def test_drawn_atoms_are_true_and_false_and_have_english(attribute) -> None:
    rng = Random("atoms")
    for actual, negated in product(attribute.values, (False, True)):
        for _ in range(50):
            pair = predicates.draw_atoms(rng, attribute, actual, Slot("A", negated, not negated))
            facts = {attribute.key: actual}
            assert [vpir.evaluate(str(atom), facts) for atom in pair] == [True, False]
            texts = {predicates.clause(atom, BY_KEY, "box 1") for atom in pair}
            assert len(texts) == 2
            assert all(text.count("box 1") == 1 for text in texts)


# --- chains -------------------------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["simple", "complex", None]), st.integers(2, 6), st.integers(0, 4))
def test_chains_keep_their_promises(seed: int, complexity, least: int, more: int) -> None:
    subjects = make_toy_world("natural", Random(f"world {seed}"), boxes=12).subjects
    by_id = {subject.id: subject for subject in subjects}
    depth = (least, min(6, least + more))
    chain = chains.build_chain(Random(f"chain {seed}"), subjects, depth, complexity)

    assert depth[0] <= len(chain.layers) <= depth[1]
    assert 0 <= chain.diverge < len(chain.layers) - 1
    used = []
    names = {}
    for layer in chain.layers:
        facts = by_id[layer.subject].facts
        assert vpir.evaluate(str(layer.pair.true), facts)
        assert not vpir.evaluate(str(layer.pair.false), facts)
        changed = predicates.changed_atoms(layer.pair.true, layer.pair.false)
        assert changed is not None and len(changed) == 1
        analysis = vpir.analyse(str(layer.pair.true))
        assert analysis.complexity in ([complexity] if complexity else ["simple", "complex"])
        used += [(layer.subject, key) for key in analysis.keys]

        question = layer.question
        used.append((question.subject, question.key))
        attribute = BY_KEY[question.key]
        answer = predicates.word(attribute, by_id[question.subject].facts[question.key])
        assert question.options[question.right] == answer
        assert len(set(question.options)) == chains.OPTIONS
        for one in (layer, question):
            assert names.setdefault(one.subject, one.name) == one.name
            assert [s.id for s in subjects if vpir.evaluate(one.name.selector, s.facts)] == [one.subject]
    assert len(set(used)) == len(used)
    for subject, name in names.items():
        neighbour = re.search(r"right of box (\d+)", name.text)
        if neighbour:
            keys = {key for one, key in used if one == subject}
            assert not keys & {key for one, key in used if one == f"b{neighbour[1]}"}


def test_depth_and_divergence_are_uniform() -> None:
    subjects = make_toy_world("natural", Random("uniform"), boxes=8).subjects
    built = [chains.build_chain(Random(f"uniform {k}"), subjects, (2, 4), "simple") for k in range(240)]
    depths = Counter(len(chain.layers) for chain in built)
    assert set(depths) == {2, 3, 4}
    assert all(abs(count - 80) < 30 for count in depths.values())
    stops = Counter(chain.diverge for chain in built if len(chain.layers) == 4)
    assert all(abs(stops[k] - depths[4] / 3) < 20 for k in range(3))
    places = Counter(layer.question.right for chain in built for layer in chain.layers)
    assert all(abs(places[k] / places.total() - 0.25) < 0.05 for k in range(4))


def test_dead_ends_are_rolled_back() -> None:
    """Three boxes have attributes for one COMPLEX condition each; b3 leads nowhere else, so b1, b2, b3 it is."""
    b1, b2, b3 = make_toy_world("natural", Random("dead end"), boxes=3).subjects
    plain = [replace(subject, names=subject.names[:1]) for subject in (b1, b2, b3)]
    related = (("b2", "b3"), ("b1", "b3"), ("b3",))
    subjects = [replace(subject, related=ids) for subject, ids in zip(plain, related, strict=True)]
    orders = set()
    for k in range(40):
        try:
            chain = chains.build_chain(Random(f"dead end {k}"), subjects, (3, 3), "complex")
        except ChainError:
            continue
        orders.add(tuple(layer.subject for layer in chain.layers))
    assert orders == {("b1", "b2", "b3"), ("b2", "b1", "b3")}


def test_too_small_a_world_is_an_error() -> None:
    subjects = make_toy_world("natural", Random("small"), boxes=2).subjects
    with pytest.raises(ChainError, match="6 conditions and questions take at least 30 facts, the world has 14"):
        chains.build_chain(Random(0), subjects, (6, 6), "complex")
    # Enough facts in all, but the boxes are related in pairs, and a box has facts for one COMPLEX condition only.
    subjects = make_toy_world("natural", Random("pairs"), boxes=4).subjects
    pairs = [replace(one, related=(other,)) for one, other in zip(subjects, ("b2", "b1", "b4", "b3"), strict=True)]
    with pytest.raises(ChainError, match="3 conditions after 10 rollbacks"):
        chains.build_chain(Random(0), pairs, (3, 3), "complex")


@pytest.mark.parametrize("depth", [(1, 2), (0, 0), (3, 2), (2, 27)])
def test_impossible_depths_are_refused(depth: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="depth"):
        chains.build_chain(Random(0), make_toy_world("natural", Random(0)).subjects, depth)


def test_what_names_give_away() -> None:
    subjects = make_toy_world("natural", Random(0), boxes=3).subjects
    plain, relation = subjects[1].names
    used = {("b1", "colour"), ("b2", "lid"), ("b3", "dots")}
    assert chains.given_away({"b2": plain}, used, subjects) == {("b2", "number")}
    assert chains.given_away({"b2": relation}, used, subjects) == {
        ("b2", "left"),
        ("b1", "left"),
        ("b2", "colour"),
        ("b1", "lid"),
    }


@pytest.fixture
def hand_made() -> tuple[Chain, tuple]:
    subjects = make_toy_world("natural", Random(0), boxes=2).subjects
    known = ({"colour": "red", "lid": True, "dots": 3, "shape": "oval"}, {"colour": "blue", "dots": 4, "letter": "C"})
    subjects = tuple(
        replace(subject, facts={**subject.facts, **facts}) for subject, facts in zip(subjects, known, strict=True)
    )
    one, two = subjects[0].names[0], subjects[1].names[0]
    layers = (
        Layer(
            "b1",
            one,
            Pair(parse('lid is True and not (colour == "blue")'), parse('lid is True and not (colour == "red")')),
            Question("b1", one, "dots", "How many dots does box 1 have?", ("two", "three", "five", "six"), 1),
        ),
        Layer(
            "b2",
            two,
            Pair(parse('dots >= 4 or colour == "red"'), parse('dots < 4 or colour == "red"')),
            Question("b2", two, "letter", "Which letter does box 2 bear?", ("A", "B", "E", "C"), 3),
        ),
    )
    return Chain(layers, 0), subjects


def test_record_by_hand(hand_made) -> None:
    chain, subjects = hand_made
    record = chains.record(chain, "natural-0001", "natural", "images/natural/natural-0001.jpg", subjects)
    assert record == {
        "id": "natural-0001",
        "domain": "natural",
        "synthetic": True,
        "image": "images/natural/natural-0001.jpg",
        "true_path": {
            "full_instruction": (
                "Work through these steps in order, beginning with step 1.\n\n"
                "Step 1: Check this condition. Box 1 has a lid but box 1 is not blue. If it holds, go on to step 2. "
                "If it does not, stop here and answer this question: How many dots does box 1 have? "
                "(A1) two, (A2) three, (A3) five, (A4) six.\n\n"
                "Step 2: Check this condition. Either box 2 has at least four dots or box 2 is red. If it holds, "
                "answer this question: Which letter does box 2 bear? (B1) A, (B2) B, (B3) E, (B4) C. "
                "If it does not, no option is right."
            ),
            "pseudocode": (
                "# layer 1: box 1\n"
                'if (lid is True and not (colour == "blue")):\n    go on to layer 2\nelse:\n    answer qa_1\n'
                "# layer 2: box 2\n"
                'if (dots >= 4 or colour == "red"):\n    answer qa_2\nelse:\n    no option is right'
            ),
            "correct_answer": "B4",
        },
        "false_path": {
            "diverge_node": "qa_1",
            "full_instruction": record["true_path"]["full_instruction"].replace("not blue", "not red"),
            "pseudocode": record["true_path"]["pseudocode"].replace('"blue"', '"red"'),
            "correct_answer": "A2",
        },
    }


def rename(layer: Layer, name: Name) -> Layer:
    return replace(layer, name=name, question=replace(layer.question, name=name))


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda layer: replace(layer, pair=Pair(layer.pair.false, layer.pair.true)), "is False"),
        (lambda layer: replace(layer, pair=Pair(layer.pair.true, parse("dots < 4 or colour == 'green'"))), "one atom"),
        (lambda layer: replace(layer, name=Name("a box", "number > 0")), "alone"),
        (lambda layer: rename(layer, Name("box 2", "number == 2 and dots > 0")), "give away b2.dots"),
        (lambda layer: replace(layer, question=replace(layer.question, key="dots")), "b2.dots is used twice"),
        (lambda layer: replace(layer, question=replace(layer.question, name=Name("it", "left == 1"))), "is called"),
    ],
)  # fmt: skip
def test_layer_faults(hand_made, change, fault: str) -> None:
    chain, subjects = hand_made
    first, second = chain.layers
    assert chains.layer_faults(second, [first], subjects) == []
    assert any(fault in found for found in chains.layer_faults(change(second), [first], subjects))


# --- datasets -----------------------------------------------------------------------------------------------


@pytest.fixture
def toy_domains(monkeypatch) -> None:
    monkeypatch.setattr(worker, "make_world", make_toy_world)


def contents(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_a_dataset_has_the_official_layout(tmp_path: Path, toy_domains) -> None:
    dataset.write_dataset(tmp_path / "out", ["natural", "gui"], n=3, seed=1)
    found = contents(tmp_path / "out")
    assert sorted(found) == sorted(
        [f"{folder}/{domain}.jsonl" for folder in ("data", "facts") for domain in ("natural", "gui")]
        + [f"images/natural/natural-000{k}.jpg" for k in (1, 2, 3)]
        + [f"images/gui/gui-000{k}/gui-000{k}_01.png" for k in (1, 2, 3)]
        + ["synthetic.json"]
    )
    records = [json.loads(line) for line in found["data/gui.jsonl"].decode().splitlines()]
    assert [record["id"] for record in records] == ["gui-0001", "gui-0002", "gui-0003"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_chain_does_not_depend_on_how_many_there_are(tmp_path: Path, toy_domains) -> None:
    dataset.write_dataset(tmp_path / "few", ["natural"], n=2, seed=1)
    dataset.write_dataset(tmp_path / "many", ["chart", "natural"], n=4, seed=1)
    few, many = contents(tmp_path / "few"), contents(tmp_path / "many")
    assert many["data/natural.jsonl"].startswith(few["data/natural.jsonl"])
    assert many["facts/natural.jsonl"].startswith(few["facts/natural.jsonl"])
    dataset.write_dataset(tmp_path / "other", ["natural"], n=2, seed=2)
    assert contents(tmp_path / "other")["data/natural.jsonl"] != few["data/natural.jsonl"]


def test_any_number_of_processes_writes_the_same_bytes(tmp_path: Path) -> None:
    dataset.write_dataset(tmp_path / "one", ["natural"], n=5, seed=3, workers=1)
    dataset.write_dataset(tmp_path / "two", ["natural"], n=5, seed=3, workers=2)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_errors_of_processes_reach_the_caller(tmp_path: Path) -> None:
    with pytest.raises(ChainError, match=r"natural-000[12]: none of 20 scenes"):
        dataset.write_dataset(tmp_path / "out", ["natural"], 2, 0, depth=(26, 26), complexity="complex", workers=2)
    assert list(tmp_path.iterdir()) == []


def test_contact_sheets_show_every_statement(tmp_path: Path) -> None:
    dataset.write_dataset(tmp_path / "out", ["natural"], n=2, seed=5, contact_sheet=True)
    pages = sorted((tmp_path / "out" / "contact_sheet").iterdir())
    assert pages[0].name == "natural_001.png"
    with Image.open(pages[0]) as page:
        assert page.width == 2000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"domains": ["natural", "video"]}, "natural, chart, gui"),
        ({"domains": []}, "natural, chart, gui"),
        ({"domains": ["gui", "gui"]}, "each once"),
        ({"n": 0}, "at least 1"),
        ({"depth": (1, 3)}, "depth 1:3"),
    ],
)
def test_bad_arguments(tmp_path: Path, arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dataset.write_dataset(**{"out": tmp_path / "out", "domains": ["natural"], "n": 1, "seed": 0} | arguments)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten(tmp_path: Path, toy_domains) -> None:
    (tmp_path / "out").mkdir()
    dataset.write_dataset(tmp_path / "out", ["natural"], n=1, seed=0)
    before = contents(tmp_path)
    with pytest.raises(FileExistsError, match="not an empty folder"):
        dataset.write_dataset(tmp_path / "out", ["natural"], n=1, seed=1)
    assert contents(tmp_path) == before
