"""The verifier of the embedded V-REX benchmark accepts what was made and names every kind of tampering."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw

from condchain_tasks.synth.vrex import write_dataset
from condchain_tasks.synth.vrex_verify import Report, verify_dataset

Json = dict[str, Any]

LINE = 4
"""The record that is tampered with: of `COUNTING`, steps 1 to T-1 before the final one."""

PLANNING, FOLLOWING, HARD = "data/planning.jsonl", "data/following.jsonl", "data/planning_hard.jsonl"
FACTS = "facts/vrex.json"


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("vrex_verify") / "sound"
    write_dataset(out, n=4, seed=1)
    return out


@pytest.fixture
def root(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "copy"))


@pytest.mark.parametrize("seed", [0, 7])
def test_sound_datasets(tmp_path: Path, seed: int) -> None:
    write_dataset(tmp_path / "out", n=24, seed=seed)
    lines = (tmp_path / "out" / FOLLOWING).read_text(encoding="utf-8").splitlines()
    steps = sum(len(json.loads(line)["steps"]) for line in lines)
    assert verify_dataset(tmp_path / "out") == Report(chains=24, steps=steps, faults=())


def change(root: Path, file: str, edit: Callable[[Json], object]) -> None:
    """Edits the last record of a file."""
    lines = (root / file).read_text(encoding="utf-8").splitlines()
    record = json.loads(lines[-1])
    edit(record)
    assert record != json.loads(lines[-1])
    (root / file).write_text("\n".join([*lines[:-1], json.dumps(record)]) + "\n", encoding="utf-8")


def change_facts(root: Path, edit: Callable[[Json], object]) -> None:
    """Edits the facts of the last record."""
    facts = json.loads((root / FACTS).read_bytes())
    edit(facts["samples"][sample_id(root)])
    (root / FACTS).write_text(json.dumps(facts), encoding="utf-8")


def last(root: Path, file: str = PLANNING) -> Json:
    record: Json = json.loads((root / file).read_text(encoding="utf-8").splitlines()[-1])
    return record


def sample_id(root: Path) -> str:
    return str(last(root)["id"])


def assert_fault(root: Path, *parts: str) -> None:
    """Some fault has all the parts."""
    faults = verify_dataset(root).faults
    assert any(all(part in fault for part in parts) for fault in faults), faults


# --- records --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", [PLANNING, HARD])
def test_false_answer_of_a_distractor(root: Path, file: str) -> None:
    step = last(root, file)["steps"][0]
    wrong = (step["gold"] + 1) % len(step["options"])
    change(root, file, lambda record: record["steps"][0]["options"][wrong].update(answer="plainly wrong"))
    assert_fault(root, f"{file}:{LINE}: {sample_id(root)}: steps.1: options.{wrong}: answer: is 'plainly wrong'")


def test_false_answer_of_a_step_in_every_file(root: Path) -> None:
    def edit(record: Json) -> None:
        step = record["steps"][0]
        step["answer"] = "99"
        option = step["options"][step["gold"]]
        step["options"][step["gold"]] = {**option, "answer": "99"} if isinstance(option, dict) else "99"

    for file in (PLANNING, FOLLOWING, HARD):
        change(root, file, edit)
    for file in (PLANNING, FOLLOWING, HARD):
        assert_fault(root, f"{file}:{LINE}", "steps.1", "answer: is '99'", "follows from the facts")
    assert_fault(root, "the rule 'sum' makes")


def test_a_distractor_of_the_gold_chain(root: Path) -> None:
    other = last(root, FOLLOWING)["steps"][1]

    def edit(record: Json) -> None:
        step = record["steps"][0]
        place = next(k for k in range(4) if k != step["gold"])
        step["options"][place].update(question=other["question"].upper(), answer=other["answer"])

    change(root, PLANNING, edit)
    assert_fault(root, f"{PLANNING}:{LINE}", "steps.1", "belongs to the gold chain")


def test_an_option_that_says_it_comes_from_elsewhere(root: Path) -> None:
    gold = last(root)["steps"][0]["gold"]
    change(root, PLANNING, lambda record: record["steps"][0]["options"][gold].update(source="distractor"))
    assert_fault(root, f"{PLANNING}:{LINE}", f"options.{gold}.source: is 'distractor', expected 'gold'")


def test_options_that_repeat(root: Path) -> None:
    def edit(record: Json) -> None:
        options, gold = record["steps"][0]["options"], record["steps"][0]["gold"]
        one, other = [k for k in range(4) if k != gold][:2]
        options[one] = {**options[other], "question": f" {options[other]['question'].lower()} "}

    change(root, PLANNING, edit)
    assert_fault(root, f"{PLANNING}:{LINE}", "steps.1: options: 2 of them read")


def test_answers_that_repeat(root: Path) -> None:
    def edit(record: Json) -> None:
        options, gold = record["steps"][0]["options"], record["steps"][0]["gold"]
        options[gold - 1] = options[gold] + "."

    change(root, FOLLOWING, edit)
    assert_fault(root, f"{FOLLOWING}:{LINE}", "steps.1: options: 2 of them read")


@pytest.mark.parametrize("file", [PLANNING, FOLLOWING, HARD])
@pytest.mark.parametrize("step", [0, -1])
@pytest.mark.parametrize("shift", [1, 100, -100])
def test_gold_at_a_wrong_place(root: Path, file: str, step: int, shift: int) -> None:
    def edit(record: Json) -> None:
        record["steps"][step]["gold"] = record["steps"][step]["gold"] + shift

    change(root, file, edit)
    number = len(last(root)["steps"]) if step else 1
    assert_fault(root, f"{file}:{LINE}: {sample_id(root)}: steps.{number}: gold: is ")


def test_final_answer_missing_among_the_options(root: Path) -> None:
    def edit(record: Json) -> None:
        step = record["steps"][-1]
        step["options"][step["gold"]] = "1000"

    change(root, FOLLOWING, edit)
    assert_fault(root, f"{FOLLOWING}:{LINE}", "gold: is", "stands at []")


def test_other_final_step(root: Path) -> None:
    change(root, PLANNING, lambda record: record["steps"][-1]["options"].reverse())
    assert_fault(root, f"{PLANNING}:{LINE}", "differs from the final step in data/following.jsonl")


def test_an_unknown_question(root: Path) -> None:
    change(root, FOLLOWING, lambda record: record["steps"][0].update(question="How old is the cat?"))
    assert_fault(root, f"{FOLLOWING}:{LINE}", f"{FACTS} has no query for 'How old is the cat?'")
    assert_fault(root, f"{PLANNING}:{LINE}", "steps.1: question or answer differs from data/following.jsonl")


def test_the_same_question_twice(root: Path) -> None:
    change(root, FOLLOWING, lambda record: record["steps"].__setitem__(1, record["steps"][0]))
    assert_fault(root, f"{FOLLOWING}:{LINE}", "steps: 2 of them ask")


@pytest.mark.parametrize(("field", "value"), [("category", "guessing"), ("scenario", "gui"), ("image", "images/x.png")])
def test_wrong_heads(root: Path, field: str, value: str) -> None:
    change(root, HARD, lambda record: record.update({field: value}))
    assert_fault(root, f"{HARD}:{LINE}", f"{field}: is {value!r}, expected")


@pytest.mark.parametrize(("file", "value"), [(PLANNING, "hard"), (FOLLOWING, "hard"), (HARD, "standard")])
def test_wrong_set(root: Path, file: str, value: str) -> None:
    change(root, file, lambda record: record.update(set=value))
    assert_fault(root, f"{file}:{LINE}", f"set: is {value!r}, expected")


def test_other_final_question(root: Path) -> None:
    change(root, PLANNING, lambda record: record.update(final_question="Why?"))
    assert_fault(root, f"{PLANNING}:{LINE}", "final_question: differs")


def test_final_question_that_is_not_the_final_step(root: Path) -> None:
    for file in (PLANNING, FOLLOWING, HARD):
        change(root, file, lambda record: record.update(final_question="Why?"))
    assert_fault(root, f"{FOLLOWING}:{LINE}", "question: differs from final_question")


def test_too_few_candidates(root: Path) -> None:
    change(root, HARD, lambda record: record["steps"][0]["options"].pop())
    assert_fault(root, f"{HARD}:{LINE}", "steps.1: options: expected 8 questions with their answers")


def test_questions_in_place_of_answers(root: Path) -> None:
    change(
        root,
        FOLLOWING,
        lambda record: record["steps"][0].update(options=[{"question": "?", "answer": "!", "source": ""}]),
    )
    assert_fault(root, f"{FOLLOWING}:{LINE}", "steps.1: options: expected 2 to 6 texts")


def test_different_numbers_of_steps(root: Path) -> None:
    change(root, FOLLOWING, lambda record: record["steps"].pop(0))
    assert_fault(root, sample_id(root), "steps: ", "expected the same number in all, 2 to 6")


def test_a_single_step(root: Path) -> None:
    for file in (PLANNING, FOLLOWING, HARD):
        change(root, file, lambda record: record.update(steps=record["steps"][-1:]))
    assert_fault(root, "steps: [1] in the three files of records")


@pytest.mark.parametrize(("field", "value"), [("id", "../x"), ("steps", 3), ("final_question", None), ("image", [])])
def test_malformed_records(root: Path, field: str, value: object) -> None:
    change(root, PLANNING, lambda record: record.update({field: value}))
    assert_fault(root, f"{PLANNING}:{LINE}: {field}: ")


def test_no_json(root: Path) -> None:
    with (root / PLANNING).open("a", encoding="utf-8") as file:
        file.write("{\n")
    assert_fault(root, f"{PLANNING}:{LINE + 1}: is no JSON")


def test_an_id_twice(root: Path) -> None:
    with (root / PLANNING).open("a", encoding="utf-8") as file:
        file.write(json.dumps(last(root)) + "\n")
    assert_fault(root, f"{PLANNING}:{LINE + 1}: {sample_id(root)}: id: a second record of this id")


@pytest.mark.parametrize("file", [PLANNING, FOLLOWING, HARD])
def test_a_record_missing_in_one_file(root: Path, file: str) -> None:
    missing = sample_id(root)
    lines = (root / file).read_text(encoding="utf-8").splitlines()
    (root / file).write_text("\n".join(lines[:-1]) + "\n", encoding="utf-8")
    assert f"{missing}: id: missing in {file}, but there elsewhere" in verify_dataset(root).faults


@pytest.mark.parametrize("file", [PLANNING, FOLLOWING, HARD, FACTS])
def test_a_file_missing(root: Path, file: str) -> None:
    (root / file).unlink()
    assert_fault(root, f"{file}: ")
    assert verify_dataset(root).chains == 0


def test_an_empty_dataset(root: Path) -> None:
    for file in (PLANNING, FOLLOWING, HARD):
        (root / file).write_text("")
    (root / FACTS).write_text('{"samples": {}}')
    assert_fault(root, "has no record; expected at least one")


# --- pictures -------------------------------------------------------------------------------------------------


def picture(root: Path) -> Path:
    return root / "images" / f"{sample_id(root)}.png"


def test_a_picture_missing(root: Path) -> None:
    picture(root).unlink()
    assert_fault(root, f"{sample_id(root)}: image: cannot be used")


def test_a_picture_cut_off(root: Path) -> None:
    picture(root).write_bytes(picture(root).read_bytes()[:-2000])
    assert_fault(root, f"{sample_id(root)}: image: cannot be used")


def test_a_picture_with_one_spot_changed(root: Path) -> None:
    with Image.open(picture(root)) as image:
        changed = image.convert("RGB")
    ImageDraw.Draw(changed).point((5, 5), "#010203")
    changed.save(picture(root))
    assert_fault(root, f"{sample_id(root)}: image: ", "is not the picture that follows from its scene")


def test_a_picture_of_another_chain(root: Path) -> None:
    other = next(path for path in (root / "images").iterdir() if path != picture(root))
    shutil.copy(other, picture(root))
    assert_fault(root, "is not the picture that follows from its scene")


def test_a_picture_outside_the_folder(root: Path) -> None:
    outside = root.parent / "outside.png"
    picture(root).rename(outside)
    picture(root).symlink_to(outside)
    assert_fault(root, "leads out of the folder images")


# --- facts ----------------------------------------------------------------------------------------------------


def test_a_thing_more(root: Path) -> None:
    counted = last(root, FOLLOWING)["steps"][0]["question"]

    def edit(facts: Json) -> None:
        things, where = facts["scene"]["tables"]["things"], facts["queries"][counted]["where"]
        things.append(next(row for row in things if row["thing"] == where["thing"]))

    change_facts(root, edit)
    assert_fault(root, f"{FOLLOWING}:{LINE}", f"steps.1: answer: is {last(root, FOLLOWING)['steps'][0]['answer']!r}")


def test_a_thing_moved(root: Path) -> None:
    change_facts(root, lambda facts: facts["scene"]["tables"]["things"][0].update(shift=33))
    (fault,) = verify_dataset(root).faults
    assert fault.endswith(f"{sample_id(root)}.png is not the picture that follows from its scene in {FACTS}")


def test_a_changed_query(root: Path) -> None:
    question = last(root, FOLLOWING)["steps"][0]["question"]
    query = {"op": "total", "table": "things", "where": {}, "column": "shift"}
    change_facts(root, lambda facts: facts["queries"].update({question: query}))
    assert_fault(root, f"{FOLLOWING}:{LINE}", "steps.1: answer: is", "follows from the facts")


def test_a_query_that_fails(root: Path) -> None:
    question = last(root, FOLLOWING)["steps"][0]["question"]
    change_facts(root, lambda facts: facts["queries"].update({question: {"op": "count", "table": "none", "where": {}}}))
    assert_fault(root, "the query of", "fails")


def test_a_changed_rule(root: Path) -> None:
    change_facts(root, lambda facts: facts["rule"]["terms"].append({"steps": [], "factor": 1}))
    assert_fault(root, f"{FOLLOWING}:{LINE}", "the rule 'sum' makes")


def test_a_rule_that_leaves_a_step_out(root: Path) -> None:
    change_facts(root, lambda facts: facts["rule"].update(terms=[{"steps": [0], "factor": 1}]))
    assert_fault(root, f"{FOLLOWING}:{LINE}", "steps.2: the final answer follows without this step")


@pytest.mark.parametrize("key", ["distracting", "distracting_hard"])
@pytest.mark.parametrize("place", ["gold", "outside"])
def test_a_distracting_option_that_is_none(root: Path, key: str, place: str) -> None:
    file = PLANNING if key == "distracting" else HARD
    wrong = last(root, file)["steps"][0]["gold"] if place == "gold" else 50
    change_facts(root, lambda facts: facts[key].__setitem__(0, wrong))
    assert_fault(root, f"{file}:{LINE}", f"says that option {wrong} comes from the distracting chain")


def test_too_few_distracting_options(root: Path) -> None:
    change_facts(root, lambda facts: facts["distracting"].pop())
    assert_fault(root, f"{PLANNING}:{LINE}", "indices of distracting options, expected one a planning step")


def test_a_distracting_chain_that_differs_between_the_sets(root: Path) -> None:
    step = last(root)["steps"][0]

    def edit(facts: Json) -> None:
        other = next(k for k in range(4) if k not in (step["gold"], facts["distracting"][0]))
        facts["distracting"][0] = other

    change_facts(root, edit)
    assert_fault(root, FACTS, "distracting_hard: leads to other questions than distracting")


def test_an_unknown_kind_of_scene(root: Path) -> None:
    change_facts(root, lambda facts: facts["scene"].update(kind="sculpture"))
    assert_fault(root, "has a scene of kind 'sculpture', expected one of")


def test_a_scene_that_cannot_be_drawn(root: Path) -> None:
    change_facts(root, lambda facts: facts["scene"]["tables"].pop("prices"))
    assert_fault(root, "cannot be drawn")


@pytest.mark.parametrize(
    "rule", [{"rule": "sum", "terms": [{"steps": [0] * 11}]}, {"rule": "guess"}, {"rule": "path", "start": 3}]
)
def test_malformed_facts(root: Path, rule: Json) -> None:
    change_facts(root, lambda facts: facts.update(rule=rule))
    assert_fault(root, f"{FACTS}: samples.{sample_id(root)}.rule")
