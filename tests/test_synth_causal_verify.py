"""The verifier accepts what was made and names every kind of tampering with pictures, records and facts."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw

from condchain_tasks.data.ccrv import BASELINE_FILE, CONSTRAINED_FILE, DIMENSIONS, PICTURES
from condchain_tasks.synth.causal import write_dataset
from condchain_tasks.synth.causal_kinds import KINDS
from condchain_tasks.synth.causal_verify import holds, verify_dataset

Json = dict[str, Any]

FACTS = "facts/ccrv.json"
NAMES = {x: name for name, x in DIMENSIONS.items()}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("verify") / "sound"
    write_dataset(root, n=1, seed=0)
    return root


@pytest.fixture
def root(sound: Path, tmp_path: Path) -> Path:
    """A dataset of one scene."""
    return Path(shutil.copytree(sound, tmp_path / "copy"))


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    """A dataset of two scenes."""
    write_dataset(tmp_path / "pair", n=2, seed=0)
    return tmp_path / "pair"


def load(root: Path, name: str) -> Any:
    return json.loads((root / name).read_text(encoding="utf-8"))


def change(root: Path, name: str, how: Callable[[Any], object]) -> None:
    content = load(root, name)
    how(content)
    assert content != load(root, name)
    (root / name).write_text(json.dumps(content), encoding="utf-8")


def faults_of(root: Path) -> tuple[str, ...]:
    faults = verify_dataset(root).faults
    assert faults
    return faults


def expect(root: Path, *parts: str) -> None:
    """Some fault has all of the parts."""
    faults = faults_of(root)
    assert any(all(part in fault for part in parts) for fault in faults), faults


def question_of(content: Any, x: str, index: int = 0) -> Json:
    """A question of the first image, which has to be an image with that dimension."""
    question: Json = content[0]["questions"][NAMES[x]][index]
    return question


def form_of(content: Any, x: str, y: str) -> Json:
    form: Json = question_of(content, x)["main_set_versions"][int(y[1]) - 1]
    return form


@pytest.mark.parametrize("seed", range(2))
def test_sound_datasets(seed: int, tmp_path: Path) -> None:
    write_dataset(tmp_path / "out", n=len(KINDS), seed=seed)
    report = verify_dataset(tmp_path / "out")
    assert report.faults == ()
    assert (report.scenes, report.items) == (len(KINDS), len(KINDS) * 40)


def test_another_writer_of_json(root: Path) -> None:
    for name in (BASELINE_FILE, CONSTRAINED_FILE, FACTS):
        (root / name).write_text(json.dumps(load(root, name)), encoding="utf-8")
    assert verify_dataset(root).faults == ()


# --- pictures and boxes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", [-6, 6])
def test_boxes_that_are_not_where_their_things_are(root: Path, by: int) -> None:
    moved = dict(zip(list(load(root, FACTS)["scenes"][0]["boxes"])[:4], range(4), strict=False))

    def move(facts: Json) -> None:
        for thing, side in moved.items():
            facts["scenes"][0]["boxes"][thing][side] += by

    change(root, FACTS, move)
    told = [fault for fault in faults_of(root) if "but the thing is seen in" in fault]
    assert len(moved) == 4
    for thing in moved:
        assert sum(fault.startswith(f"image 1000001: the box of {thing!r} is") for fault in told) == 1


def test_a_box_outside_the_picture(root: Path) -> None:
    change(root, FACTS, lambda facts: facts["scenes"][0]["boxes"].update({first_thing(facts): [-5, 10, 60, 90]}))
    expect(root, "image 1000001", "expected one inside the picture")


def first_thing(facts: Json) -> str:
    thing: str = facts["scenes"][0]["graph"]["things"][0]["id"]
    return thing


def test_a_box_that_differs_between_facts_and_records(root: Path) -> None:
    def move(records: Any) -> None:
        form_of(records, "X1", "Y2")["constraint_spec"]["target_bbox_xyxy"][0] += 1

    change(root, CONSTRAINED_FILE, move)
    expect(root, "X1_discovery.0.main_set_versions.1.constraint_spec.target_bbox_xyxy.0", "follows from the facts")


def test_a_picture_of_another_scene(pair: Path) -> None:
    shutil.copy(pair / PICTURES / "1000002.jpg", pair / PICTURES / "1000001.jpg")
    expect(pair, "image 1000001", "does not show the scene")


def test_something_painted_over(root: Path) -> None:
    path = root / PICTURES / "1000001.jpg"
    with Image.open(path) as image:
        picture = image.convert("RGB")
    ImageDraw.Draw(picture).rectangle((300, 200, 340, 240), fill="black")
    picture.save(path, quality=92)
    expect(root, "image 1000001", "does not show the scene")


def test_a_picture_of_another_size(root: Path) -> None:
    Image.new("RGB", (320, 240)).save(root / PICTURES / "1000001.jpg")
    expect(root, "image 1000001", "has 320 x 240 pixels, expected 640 x 480")


def test_a_picture_that_ends_early(root: Path) -> None:
    path = root / PICTURES / "1000001.jpg"
    path.write_bytes(path.read_bytes()[:9_000])
    expect(root, "1000001.jpg", "truncated")


def test_a_picture_that_is_missing(root: Path) -> None:
    (root / PICTURES / "1000001.jpg").unlink()
    expect(root, "1000001.jpg", "does not exist")


# --- the set --------------------------------------------------------------------------------------------------


def test_a_form_that_is_missing(root: Path) -> None:
    change(root, CONSTRAINED_FILE, lambda records: question_of(records, "X2")["main_set_versions"].pop(2))
    expect(root, "1000001/X2/0, Y3: there is no such item")


def test_a_question_that_is_missing(root: Path) -> None:
    change(root, BASELINE_FILE, lambda records: records[0]["questions"]["X4_intervention"].pop())
    expect(root, "1000001/X4/1, base: there is no such item")


def test_an_item_that_occurs_twice(root: Path) -> None:
    change(root, CONSTRAINED_FILE, lambda records: records.append(records[0]))
    expect(root, "occurs twice")


def test_a_question_that_is_asked_twice(root: Path) -> None:
    for name in (BASELINE_FILE, CONSTRAINED_FILE):
        change(root, name, lambda records: question_of(records, "X1").update(question_text=asked(records)))
    expect(root, "is asked 2 times")


def asked(records: Any) -> str:
    text: str = question_of(records, "X1", 1)["question_text"]
    return text


def test_an_image_without_facts(pair: Path) -> None:
    change(pair, FACTS, lambda facts: facts["scenes"].pop())
    expect(pair, "1000002/X1/0, base", "does not ask this")
    expect(pair, "image 1000002: it is not in both")


def test_two_scenes_of_one_image(pair: Path) -> None:
    change(pair, FACTS, lambda facts: facts["scenes"][1].update(image_id="1000001"))
    expect(pair, "2 scenes have the image id '1000001'")


def test_items_without_facts(root: Path) -> None:
    change(root, FACTS, lambda facts: facts["items"].pop("1000001/X1/0|Y2"))
    expect(root, "'1000001/X1/0|Y2' is missing")


def test_a_kind_that_is_not_known(root: Path) -> None:
    change(root, FACTS, lambda facts: facts["scenes"][0].update(kind="magic"))
    expect(root, "kind is 'magic', expected one of")


# --- answers and the graph ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [BASELINE_FILE, CONSTRAINED_FILE])
def test_fields_that_do_not_follow_from_the_facts(root: Path, name: str) -> None:
    def alter(records: Any) -> None:
        question = question_of(records, "X3", 1)
        for field in ("question_text", "ground_truth_answer", "rationale"):
            question[field] += " Or not."
        question["target_object_id"] += 1
        question["evaluation_rubric"]["L2_interaction_check"] += " Or not."

    change(root, name, alter)
    place = f"{name}: questions.X3_diagnosis.1"
    faults = faults_of(root)
    rubric = "evaluation_rubric.L2_interaction_check"
    for field in ("question_text", "ground_truth_answer", "rationale", "target_object_id", rubric):
        assert sum(f"{place}.{field}: is" in fault for fault in faults) == 1


def test_forms_that_do_not_follow_from_the_facts(root: Path) -> None:
    def alter(records: Any) -> None:
        for y in ("Y1", "Y2", "Y3", "Y4"):
            form_of(records, "X4", y)["constraint_name"] = "Something else"

    change(root, CONSTRAINED_FILE, alter)
    faults = faults_of(root)
    for place in range(4):
        field = f"questions.X4_intervention.0.main_set_versions.{place}.constraint_name"
        assert sum(field in fault for fault in faults) == 1


def test_a_reference_with_another_outcome(root: Path) -> None:
    def reverse(records: Any) -> None:
        question_of(records, "X4").update(ground_truth_answer="It would turn into gold.")

    for name in (BASELINE_FILE, CONSTRAINED_FILE):
        change(root, name, reverse)
    expect(root, "1000001/X4/0, base", "does not tell what the graph yields")
    expect(root, "1000001/X4/0, base", "l3: none of its phrases occurs in the reference")


def test_a_reference_that_tells_the_opposite_too(root: Path) -> None:
    facts = load(root, FACTS)["scenes"][0]
    ask = next(ask for ask in facts["asks"] if ask["x"] == "X4")
    thing = next(one for one in facts["graph"]["things"] if one["id"] == ask["thing"])
    events = {bare(thing, "fate"), bare(thing, "stay")}

    def reverse(records: Any) -> None:
        question = question_of(records, "X4")
        (other,) = (event for event in events if event not in plain(question["ground_truth_answer"], facts))
        question["ground_truth_answer"] += f" The {thing['name']} would {other}."

    for name in (BASELINE_FILE, CONSTRAINED_FILE):
        change(root, name, reverse)
    expect(root, "1000001/X4/0, base", "tells the opposite of what the graph yields")


def bare(thing: Json, event: str) -> str:
    return f"{thing[event]['verb']} {thing[event]['tail']}".strip()


def plain(text: str, facts: Json) -> str:
    for thing in facts["graph"]["things"]:
        text = text.replace(f"{thing['colour']} {thing['name']}", thing["name"])
    return text


def test_an_edge_that_the_picture_does_not_show(root: Path) -> None:
    change(root, FACTS, lambda facts: facts["scenes"][0]["graph"]["edges"].pop())
    expect(root, "image 1000001: graph", "not that of the scene")


@pytest.mark.parametrize(
    ("where", "value", "reason"),
    [
        (("graph", "edges", 0, "relation"), "loves", "not that of the scene"),
        (("graph", "things", 0, "fate", "verb"), "evaporate", "not that of the scene"),
        (("graph", "things", 0, "fate", "tail"), "onto {ghost}", "not that of the scene"),
        (("symbols",), {"rope": "Node_A"}, "expected one of each thing"),
        (("stream",), "another", "not that of the scene"),
        (("asks", 0, "thing"), "ghost", "expected known things"),
        (("asks", 0, "claim", "relation"), "loves", "which is not known"),
        (("image_id",), "one", "expected digits"),
    ],
)
def test_facts_from_which_nothing_follows(root: Path, where: tuple[Any, ...], value: Any, reason: str) -> None:
    def put(facts: Json) -> None:
        at: Any = facts["scenes"][0]
        for step in where[:-1]:
            at = at[step]
        at[where[-1]] = value

    change(root, FACTS, put)
    expect(root, reason)


def test_an_ask_that_the_graph_does_not_answer(root: Path) -> None:
    def put(facts: Json) -> None:
        ask = facts["scenes"][0]["asks"][0]
        ask.update(cause=ask["thing"])

    change(root, FACTS, put)
    expect(root, "image 1000001: asks: there is no edge from")


def test_an_intervention_without_a_removal(root: Path) -> None:
    change(root, FACTS, lambda facts: facts["scenes"][0]["asks"][6].update(removed=""))
    expect(root, "image 1000001: asks: there is no thing")


def test_three_questions_of_one_dimension(root: Path) -> None:
    change(root, FACTS, lambda facts: facts["scenes"][0]["asks"][7].update(x="X2"))
    expect(root, "asks: {'X1': 2, 'X2': 3", "expected two for each dimension")


# --- constraints ----------------------------------------------------------------------------------------------


def test_a_plural_that_is_not_forbidden(root: Path) -> None:
    plural = load(root, FACTS)["scenes"][0]["graph"]["things"][0]["plural"]

    def allow(records: Any) -> None:
        form_of(records, "X1", "Y1")["constraint_spec"]["forbidden_terms"].remove(plural)

    change(root, CONSTRAINED_FILE, allow)
    expect(root, "1000001/X1/0, Y1: forbidden_terms", repr(plural), "is missing")


def test_a_synonym_that_a_text_uses_and_that_is_not_forbidden(root: Path) -> None:
    thing = next(one for one in load(root, FACTS)["scenes"][0]["graph"]["things"] if one["synonyms"])
    synonym = thing["synonyms"][0]

    def allow(records: Any) -> None:
        form_of(records, "X1", "Y1")["constraint_spec"]["forbidden_terms"].remove(synonym)
        question_of(records, "X1")["rationale"] += f" That is the {synonym}."

    change(root, CONSTRAINED_FILE, allow)
    expect(root, "1000001/X1/0, Y1: forbidden_terms", repr(synonym), "is missing")


@pytest.mark.parametrize(
    ("field", "what"), [("constrained_question", "question"), ("adapted_ground_truth", "adapted answer")]
)
def test_a_name_where_symbols_are_asked_for(root: Path, field: str, what: str) -> None:
    name = load(root, FACTS)["scenes"][0]["graph"]["things"][0]["name"]

    def tell(records: Any) -> None:
        form_of(records, "X2", "Y1")[field] += f" I mean the {name}."

    change(root, CONSTRAINED_FILE, tell)
    expect(root, f"1000001/X2/0, Y1: the {what} does not satisfy the constraint", name)


def test_a_coordinate_outside_the_box(root: Path) -> None:
    def move(records: Any) -> None:
        form = form_of(records, "X1", "Y2")
        form["adapted_ground_truth"] = "Coordinate: -50, -50\n" + form["adapted_ground_truth"].split("\n")[1]

    change(root, CONSTRAINED_FILE, move)
    expect(root, "1000001/X1/0, Y2: the adapted answer does not satisfy the constraint")


def test_a_short_answer_that_is_long(root: Path) -> None:
    long = "one two three four five six seven eight nine"
    change(root, CONSTRAINED_FILE, lambda records: form_of(records, "X1", "Y4").update(adapted_ground_truth=long))
    expect(root, "1000001/X1/0, Y4: the adapted answer does not satisfy the constraint")


def test_a_limit_that_asks_for_nothing(root: Path) -> None:
    def loosen(records: Any) -> None:
        form_of(records, "X1", "Y4")["constraint_spec"].update(allowed_max_words=500, forbid_punctuation=False)

    change(root, CONSTRAINED_FILE, loosen)
    expect(root, "1000001/X1/0, Y4", "the limit asks for nothing")


def test_a_premise_that_is_true(root: Path) -> None:
    def affirm(facts: Json) -> None:
        ask = facts["scenes"][0]["asks"][0]
        edges = facts["scenes"][0]["graph"]["edges"]
        edge = next(edge for edge in edges if (edge["cause"], edge["effect"]) == (ask["cause"], ask["thing"]))
        ask["claim"] = {name: edge[name] for name in ("cause", "relation", "effect")}

    change(root, FACTS, affirm)
    expect(root, "1000001/X1/0, Y3: false_premise", "is true: the graph says so")


def test_a_premise_that_is_not_the_claim(root: Path) -> None:
    def replace(records: Any) -> None:
        form_of(records, "X1", "Y3")["constraint_spec"]["false_premise"] = "The moon is square."

    change(root, CONSTRAINED_FILE, replace)
    expect(root, "1000001/X1/0, Y3: false_premise: 'The moon is square.' is not the claim")
    expect(root, "1000001/X1/0, Y3: false_premise: the question does not state it")


# --- phrases --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("phrase", "reason"),
    [
        ("xylophone", "none of its phrases occurs in the reference"),
        ("nothing", "its phrases occur in a reply that says nothing"),
    ],
)
def test_phrases_that_do_not_tell_right_from_wrong(root: Path, phrase: str, reason: str) -> None:
    def replace(facts: Json) -> None:
        for y in ("base", "Y1", "Y2", "Y3", "Y4"):
            facts["items"][f"1000001/X1/1|{y}"].update({layer: [[phrase]] for layer in ("l1", "l2", "l3")})

    change(root, FACTS, replace)
    faults = faults_of(root)
    for y in ("base", "Y1", "Y2", "Y3", "Y4"):
        for layer in ("l1", "l2", "l3"):
            assert sum(f"1000001/X1/1, {y}: {layer}: {reason}" in fault for fault in faults) == 1


@pytest.mark.parametrize(
    ("field", "phrase", "reason"),
    [
        ("denies", "nonsense", "denies: none of the phrases occurs in the adapted answer"),
        ("denies", "the", "denies: a phrase occurs in a reply that takes the premise for true"),
        ("accepts", "the premise is false", "accepts: 'the premise is false' occurs in the adapted answer"),
        ("accepts", "nonsense", "accepts: none of the phrases occurs in a reply that takes the premise for true"),
    ],
)
def test_phrases_about_the_premise(root: Path, field: str, phrase: str, reason: str) -> None:
    change(root, FACTS, lambda facts: facts["items"]["1000001/X3/0|Y3"].update({field: [phrase]}))
    expect(root, "1000001/X3/0, Y3", reason)


def test_a_phrase_that_does_not_follow_from_the_facts(root: Path) -> None:
    change(root, FACTS, lambda facts: facts["items"]["1000001/X2/1|Y2"]["l3"][0].append("and so on"))
    expect(root, "items.1000001/X2/1|Y2: is", "follows from the facts")


def test_layers() -> None:
    layer = (("rope", "cord"), ("holds up",))
    assert holds(layer, "The Cord HOLDS UP the bell.")
    assert not holds(layer, "The rope holds the bell up.")
    assert not holds(layer, "ropes: it holds up")
    assert not holds((), "anything")


# --- files ----------------------------------------------------------------------------------------------------


def test_files_that_cannot_be_read(root: Path) -> None:
    for name in (BASELINE_FILE, CONSTRAINED_FILE, FACTS):
        original = (root / name).read_bytes()
        for text in ("[]", "{", "\x00", '{"scenes": 3}'):
            (root / name).write_text(text, encoding="utf-8")
            expect(root, Path(name).name)
        (root / name).unlink()
        expect(root, Path(name).name)
        (root / name).write_bytes(original)


def test_a_field_of_the_facts_that_is_missing(root: Path) -> None:
    change(root, FACTS, lambda facts: facts["scenes"][0].pop("boxes"))
    expect(root, "ccrv.json: scenes.0.boxes: Field required")


def test_facts_that_lead_out_of_the_folder(root: Path, sound: Path) -> None:
    (root / FACTS).unlink()
    (root / FACTS).symlink_to(sound / FACTS)
    expect(root, "leads out of the data folder")


def test_no_dataset(tmp_path: Path) -> None:
    report = verify_dataset(tmp_path)
    assert (report.scenes, report.items, len(report.faults)) == (0, 0, 1)
