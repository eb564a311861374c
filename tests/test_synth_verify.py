"""The verifier accepts what was made and names every kind of tampering."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from toy_world import make_toy_world

from condchain_tasks import vpir
from condchain_tasks.synth import chains, dataset, predicates, sidecar, worker
from condchain_tasks.synth.chains import Chain, Layer, Question
from condchain_tasks.synth.predicates import Group, Pair
from condchain_tasks.synth.verify import verify_dataset

Json = dict[str, Any]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("verify") / "sound"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker, "make_world", make_toy_world)
        dataset.write_dataset(root, ["natural", "gui"], n=6, seed=11, depth=(3, 4))
    return root


@pytest.fixture
def root(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "copy"))


def lines_of(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines()


def tamper(file: Path, change: Callable[[Json], object]) -> None:
    """Changes the object on the second line."""
    line = lines_of(file)[1]
    content = json.loads(line)
    change(content)
    assert content != json.loads(line)
    put(file, content)


def put(file: Path, content: Json) -> None:
    """Makes an object the second line."""
    lines = lines_of(file)
    lines[1] = json.dumps(content)
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def faults_of(root: Path) -> tuple[str, ...]:
    faults = verify_dataset(root).faults
    assert faults
    return faults


def test_a_sound_dataset(root: Path) -> None:
    report = verify_dataset(root)
    assert report.faults == ()
    assert report.chains == 12
    records = [json.loads(line) for name in ("natural", "gui") for line in lines_of(root / "data" / f"{name}.jsonl")]
    assert report.conditions == sum(record["true_path"]["pseudocode"].count("\nif (") for record in records)


def test_the_facts_survive_the_file(root: Path) -> None:
    for line in lines_of(root / "facts" / "natural.jsonl"):
        facts = sidecar.load(line)
        assert sidecar.dump(facts) == line
        assert sidecar.chain_facts(facts.chain(), facts.id, facts.subjects) == facts


# --- records --------------------------------------------------------------------------------------------------


def set_in(path: str, value: object) -> Callable[[Json], None]:
    def change(content: Json) -> None:
        *parents, last = path.split(".")
        for parent in parents:
            content = content[int(parent)] if isinstance(content, list) else content[parent]
        content[int(last) if isinstance(content, list) else last] = value

    return change


def replace_in(path: str, field: str, old: str, new: str) -> Callable[[Json], None]:
    def change(content: Json) -> None:
        assert old in content[path][field]
        content[path][field] = content[path][field].replace(old, new, 1)

    return change


@pytest.mark.parametrize(
    ("change", "field", "reason"),
    [
        (set_in("true_path.correct_answer", "Z9"), "true_path.correct_answer", "'Z9'"),
        (set_in("false_path.correct_answer", "None"), "false_path.correct_answer", "'None'"),
        (set_in("false_path.diverge_node", "qa_9"), "false_path.diverge_node", "'qa_9'"),
        (set_in("domain", "video"), "domain", "'video'"),
        (set_in("image", "../natural.jsonl"), "image", "expected 'images/natural/natural-0002.jpg'"),
        (set_in("image", "images/natural/natural-0001.jpg"), "image", "expected 'images/natural/natural-0002.jpg'"),
        (set_in("image", "images/natural/a\0b" + "c" * 5_000), "image", "expected 'images/natural/natural-0002.jpg'"),
        (replace_in("true_path", "full_instruction", "(A1) ", "(A2) "), "true_path.full_instruction", "paragraph 2"),
        (replace_in("true_path", "full_instruction", "Step 3", "Step 4"), "true_path.full_instruction", "paragraph 4"),
        (replace_in("true_path", "full_instruction", "\n\n", " "), "true_path.full_instruction", "paragraphs"),
        (replace_in("true_path", "full_instruction", "no option", "A1"), "true_path.full_instruction", "A1 is right"),
        (replace_in("true_path", "pseudocode", "# layer 1: ", "# layer 1: not "), "true_path.pseudocode", "line 1"),
        (replace_in("true_path", "pseudocode", "answer qa_1", "answer qa_2"), "true_path.pseudocode", "line 5"),
        (replace_in("false_path", "pseudocode", "if (", "if not ("), "false_path.pseudocode", "expected one for each"),
        (replace_in("false_path", "pseudocode", "if (", "if (len("), "false_path.pseudocode", "predicate"),
    ],
)
def test_tampered_records(root: Path, change: Callable[[Json], None], field: str, reason: str) -> None:
    tamper(root / "data" / "natural.jsonl", change)
    faults = faults_of(root)
    assert all(fault.startswith("data/natural.jsonl:2: natural-0002: ") for fault in faults)
    assert any(fault.split(": ")[2] == field and reason in fault for fault in faults), faults


def swap_paths(part: str) -> Callable[[Json], None]:
    """The counterfactual of one path stands in the other one too."""

    def change(record: Json) -> None:
        record["false_path"][part] = record["true_path"][part]

    return change


@pytest.mark.parametrize("part", ["pseudocode", "full_instruction"])
def test_paths_that_do_not_differ(root: Path, part: str) -> None:
    tamper(root / "data" / "natural.jsonl", swap_paths(part))
    faults = faults_of(root)
    assert any(f"false_path.{part}: differs from the true path in" in fault and " []" in fault for fault in faults)


def counterfactual_in(path: str, index: int) -> Callable[[Path], None]:
    """The layer's counterfactual replaces its condition in a path's pseudocode."""

    def change(root: Path) -> None:
        facts = sidecar.load(lines_of(root / "facts" / "natural.jsonl")[1])
        layer = facts.layers[(facts.diverge + index) % len(facts.layers)]
        before, after = f"if ({layer.predicate}):", f"if ({layer.counterfactual}):"
        tamper(root / "data" / "natural.jsonl", replace_in(path, "pseudocode", before, after))

    return change


def test_paths_that_differ_in_two_conditions(root: Path) -> None:
    counterfactual_in("false_path", 1)(root)
    faults = faults_of(root)
    assert any("differs from the true path in layers" in fault and "expected exactly one" in fault for fault in faults)


def test_a_true_path_with_a_false_condition(root: Path) -> None:
    counterfactual_in("true_path", 0)(root)
    assert any("true_path: by the facts it is left in layer" in fault for fault in faults_of(root))


# --- facts ----------------------------------------------------------------------------------------------------


def first_subject(facts: Json) -> Json:
    layer = facts["layers"][0]
    (subject,) = (one for one in facts["subjects"] if one["id"] == layer["subject"])
    return subject


def change_a_fact(facts: Json) -> None:
    """A fact becomes another possible one, for which the first condition is false."""
    known = first_subject(facts)["facts"]
    for attribute, value in ((one, value) for one in first_subject(facts)["attributes"] for value in one["values"]):
        if not vpir.evaluate(facts["layers"][0]["predicate"], {**known, attribute["key"]: value}):
            known[attribute["key"]] = value
            return
    raise AssertionError("no single fact makes the condition false")


def impossible_fact(facts: Json) -> None:
    subject = first_subject(facts)
    subject["facts"][subject["attributes"][0]["key"]] = "pink"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (change_a_fact, "is False"),
        (impossible_fact, "expected one of"),
        (set_in("diverge", 3), "diverge"),
        (set_in("layers", []), "layers: 0"),
        (set_in("layers.0.subject", "b99"), "no subject 'b99'"),
        (set_in("layers.1.question.subject", "b99"), "no subject 'b99'"),
        (set_in("layers.0.predicate", "colour.upper()"), "predicate"),
        (set_in("layers.0.clauses.0.text", "box 1 is pink"), "do not follow"),
        (set_in("layers.0.clauses.0.holds", None), "clauses.0.holds"),
        (set_in("layers.0.name.selector", "number == 99"), "alone"),
        (set_in("layers.0.name.selector", "number =="), "number =="),
        (set_in("layers.0.question.text", "Why?"), "question: reads 'Why?'"),
        (set_in("layers.0.question.key", "lid"), "asks"),
        (set_in("id", "natural-0009"), "has no line of this id"),
        (set_in("id", "natural-0001"), "second"),
    ],
)
def test_tampered_facts(root: Path, change: Callable[[Json], None], reason: str) -> None:
    tamper(root / "facts" / "natural.jsonl", change)
    faults = faults_of(root)
    assert all("natural.jsonl:2: " in fault or "natural-0001" in fault for fault in faults)
    assert any(reason in fault for fault in faults), faults


# --- records and facts that agree with one another ------------------------------------------------------------

Change = Callable[[Chain], Chain]


def rewrite(root: Path, change: Change) -> None:
    """Writes a changed chain to both files, so that every text fits."""
    file = root / "facts" / "natural.jsonl"
    facts = sidecar.load(lines_of(file)[1])
    chain = change(facts.chain())
    changed = json.loads(sidecar.dump(sidecar.chain_facts(chain, facts.id, facts.subjects)))
    image = f"images/natural/{facts.id}.jpg"
    record = chains.record(chain, facts.id, "natural", image, facts.subjects)
    assert chain != facts.chain()
    put(file, changed)
    put(root / "data" / "natural.jsonl", record)


def with_layer(chain: Chain, index: int, layer: Layer) -> Chain:
    return replace(chain, layers=(*chain.layers[:index], layer, *chain.layers[index + 1 :]))


def on_question(**fields: Callable[[Question], Any]) -> Change:
    def change(chain: Chain) -> Chain:
        layer = chain.layers[-1]
        question = replace(layer.question, **{name: make(layer.question) for name, make in fields.items()})
        return with_layer(chain, len(chain.layers) - 1, replace(layer, question=question))

    return change


def repeat_a_question(chain: Chain) -> Chain:
    return with_layer(chain, 1, replace(chain.layers[1], question=chain.layers[0].question))


def swap_a_pair(chain: Chain) -> Chain:
    layer = chain.layers[0]
    return with_layer(chain, 0, replace(layer, pair=Pair(layer.pair.false, layer.pair.true)))


def negate_all(chain: Chain) -> Chain:
    """A counterfactual that is false, but with another logic."""
    layer = chain.layers[chain.diverge]
    statements = tuple(predicates.literals(layer.pair.false)) * 2
    pair = replace(layer.pair, false=Group("and", statements))
    return with_layer(chain, chain.diverge, replace(layer, pair=pair))


def rename_everywhere(selector: Callable[[Layer, str], str]) -> Change:
    """The first layer's subject gets another selector wherever it is named."""

    def change(chain: Chain) -> Chain:
        first = chain.layers[0]
        name = replace(first.name, selector=selector(first, first.name.selector))

        def renamed(one: Any) -> Any:
            return replace(one, name=name) if one.subject == first.subject else one

        layers = (replace(renamed(layer), question=renamed(layer.question)) for layer in chain.layers)
        return replace(chain, layers=tuple(layers))

    return change


def first_key(layer: Layer) -> str:
    return next(iter(predicates.atoms(layer.pair.true))).key


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (on_question(right=lambda question: (question.right + 1) % 4), "are right at"),
        (on_question(options=lambda question: (question.options[question.right],) * 4), "are the same"),
        (on_question(options=lambda question: tuple(reversed(question.options))), "are right at"),
        (on_question(options=lambda question: ("pink", "pale", "grey", "grim")), "should all be among"),
        (repeat_a_question, "is used twice"),
        (swap_a_pair, "is False"),
        (negate_all, "exactly one atom"),
        (rename_everywhere(lambda layer, selector: "number > 0"), "alone"),
        (rename_everywhere(lambda layer, selector: f"({selector}) is ({first_key(layer)} == 1 or True)"), "give away"),
        (lambda chain: replace(chain, diverge=len(chain.layers) - 1), "any layer but the last"),
    ],
)  # fmt: skip
def test_consistent_tampering(root: Path, change: Change, reason: str) -> None:
    rewrite(root, change)
    faults = faults_of(root)
    assert all(fault.startswith("data/natural.jsonl:2: natural-0002: ") for fault in faults)
    assert any(reason in fault for fault in faults), faults


# --- files ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "the line"),
        ("[]", "the line"),
        ("\ufeff{}", "the line"),
        ('{"id": 5}', "id"),
        ('{"id": "natural-0003", "domain": "natural"}', "image"),
    ],
)
@pytest.mark.parametrize("folder", ["data", "facts"])
def test_malformed_lines(root: Path, folder: str, line: str, reason: str) -> None:
    file = root / folder / "natural.jsonl"
    lines = lines_of(file)
    lines[2] = line
    file.write_text("\n".join(lines), encoding="utf-8")
    faults = faults_of(root)
    reason = {"image": "subjects"}.get(reason, reason) if folder == "facts" else reason
    assert any(fault.startswith(f"{folder}/natural.jsonl:3: {reason}") for fault in faults), faults
    assert any("of this id" in fault and "natural-0003" in fault for fault in faults), faults


def test_bytes_that_are_no_text(root: Path) -> None:
    (root / "data" / "natural.jsonl").write_bytes(b"\xff\xfe\x00\n")
    assert faults_of(root)[0].startswith("data/natural.jsonl:1: the line: ")


def test_a_record_twice(root: Path) -> None:
    file = root / "data" / "natural.jsonl"
    file.write_text(file.read_text() + lines_of(file)[0])
    assert faults_of(root) == ("data/natural.jsonl:7: natural-0001: id: a second record of this id",)


def test_a_record_less(root: Path) -> None:
    file = root / "data" / "natural.jsonl"
    file.write_text("\n".join(lines_of(file)[1:]))
    assert faults_of(root) == ("facts/natural.jsonl:1: natural-0001: id: data/natural.jsonl has no record of this id",)


def test_no_facts(root: Path) -> None:
    (root / "facts" / "gui.jsonl").unlink()
    assert any(fault.startswith("facts/gui.jsonl: cannot be read") for fault in faults_of(root))


def test_no_dataset(tmp_path: Path) -> None:
    report = verify_dataset(tmp_path / "nowhere")
    assert report.chains == 0
    assert "official layout" in report.faults[0]


def test_an_empty_trajectory(root: Path) -> None:
    (root / "images/gui/gui-0002/gui-0002_01.png").unlink()
    assert faults_of(root) == ("data/gui.jsonl:2: gui-0002: image: the folder 'images/gui/gui-0002' is empty",)


def test_a_missing_picture(root: Path) -> None:
    (root / "images/natural/natural-0002.jpg").unlink()
    expected = "data/natural.jsonl:2: natural-0002: image: 'images/natural/natural-0002.jpg' does not exist"
    assert faults_of(root) == (expected,)


def test_a_picture_that_is_none(root: Path) -> None:
    (root / "images/natural/natural-0002.jpg").write_text("no picture")
    (fault,) = faults_of(root)
    assert "natural-0002: image: " in fault
    assert "is no PNG, JPEG or WebP picture" in fault


def test_a_file_that_is_no_file(root: Path) -> None:
    path = root / "facts" / "gui.jsonl"
    path.unlink()
    os.mkfifo(path)
    assert any("facts/gui.jsonl: cannot be read (no regular file" in fault for fault in faults_of(root))
