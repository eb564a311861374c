"""Scenes with a known causal graph: what follows in a graph, what is said of it, how it is drawn and written."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from PIL import Image

from condchain_tasks.data.ccrv import BASELINE_FILE, CONSTRAINED_FILE, PICTURES, read
from condchain_tasks.data.sources import Source
from condchain_tasks.synth import causal_art, causal_graph, causal_questions, causal_records
from condchain_tasks.synth.causal import write_dataset
from condchain_tasks.synth.causal_art import Drawing, Layer
from condchain_tasks.synth.causal_graph import RELATIONS, Claim, Edge, Event, Graph
from condchain_tasks.synth.causal_kinds import KINDS
from condchain_tasks.synth.causal_questions import Ask, answer, bare, claim_text, symbolized, worded
from condchain_tasks.synth.causal_scenes import NOUNS, thing
from condchain_tasks.synth.natural_pen import box

NO_CLAIM = Claim("", "suspend", "bell")


def graph_of(*, burning: bool) -> Graph:
    """A hook holds a rope, the rope a bell, which would crush a hat; a candle burns at the rope, or is beside it."""
    candle_acts = (Edge("candle", "rope", "burn", "its flame licks at {rope}"),) if burning else ()
    return Graph(
        (
            thing("hook"),
            thing("rope", Event("come down"), stay=Event("stay", "in one piece"), removal="were cut"),
            thing("candle", Event("burn"), active="{candle} is burning at {rope}" if burning else ""),
            thing("bell", Event("fall", "onto {hat}"), colour="red", stay=Event("stay", "up")),
            thing("hat", Event("be crushed"), colour="blue", stay=Event("stay", "whole")),
        ),
        (
            Edge("hook", "rope", "suspend", "{rope} is tied to it"),
            Edge("rope", "bell", "suspend", "its end is tied to {bell}"),
            Edge("bell", "hat", "crush", "{bell} is above {hat}"),
            *candle_acts,
        ),
    )


# --- graphs ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("burning", "removed", "changes"),
    [
        (False, None, set()),
        (False, "hook", {"rope", "bell", "hat"}),
        (False, "rope", {"bell", "hat"}),
        (False, "bell", set()),  # what strikes by falling does nothing by being gone
        (False, "hat", set()),
        (False, "candle", set()),
        (True, None, {"candle", "rope", "bell", "hat"}),
        (True, "candle", set()),
        (True, "rope", {"candle", "bell", "hat"}),
        (True, "bell", {"candle", "rope"}),
        (True, "hook", {"candle", "rope", "bell", "hat"}),
    ],
)
def test_what_changes(burning: bool, removed: str | None, changes: set[str]) -> None:
    assert graph_of(burning=burning).changes(removed) == changes


def test_things_that_hold_each_other() -> None:
    one, two = thing("boulder", Event("drop")), thing("bucket", Event("drop"))
    graph = Graph((one, two), (Edge("boulder", "bucket", "balance", ""), Edge("bucket", "boulder", "balance", "")))
    assert graph.changes() == set()
    assert graph.changes("boulder") == {"bucket"}


def test_paths() -> None:
    graph = graph_of(burning=True)
    assert [edge.effect for edge in graph.path("candle", "hat")] == ["rope", "bell", "hat"]
    assert graph.path("hat", "hook") == ()
    assert graph.path("candle", "hat", first="hold") == ()
    assert [edge.effect for edge in graph.path("rope", "hat", first="hold")] == ["bell", "hat"]


@pytest.mark.parametrize("burning", [False, True])
def test_what_acts(burning: bool) -> None:
    graph = graph_of(burning=burning)
    assert [graph.acts(edge) for edge in graph.edges[:3]] == [True, True, burning]
    assert Claim("", "crush", "hat").holds(graph) is not burning  # "Nothing will strike the hat."


@pytest.mark.parametrize(
    ("claim", "holds"),
    [
        (Claim("rope", "suspend", "bell"), True),
        (Claim("hook", "suspend", "bell"), True),  # through the rope
        (Claim("hat", "suspend", "bell"), False),
        (Claim("bell", "suspend", "rope"), False),
        (Claim("", "suspend", "bell"), False),
        (Claim("", "support", "bell"), True),
        (Claim("", "suspend", "hat"), True),
    ],
)
def test_claims(claim: Claim, holds: bool) -> None:
    assert claim.holds(graph_of(burning=True)) is holds


def test_events() -> None:
    event = Event("fall", "onto {hat}")
    assert (event.base, event.third, event.gerund, event.participle) == (
        "fall onto {hat}",
        "falls onto {hat}",
        "falling onto {hat}",
        "fallen onto {hat}",
    )


# --- answers --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("burning", "ask", "question", "text", "short"),
    [
        (
            False,
            Ask("X1", "bell", "rope", "", NO_CLAIM),
            "What holds up the red bell, and how?",
            "The rope holds up the red bell: its end is tied to the bell, so the bell stays up.",
            "rope keeps bell from falling",
        ),
        (
            True,
            Ask("X1", "bell", "rope", "", NO_CLAIM),
            "What holds up the red bell, and how?",
            "The rope holds up the red bell: its end is tied to the bell, so for now the bell stays up.",
            "rope keeps bell from falling",
        ),
        (
            True,
            Ask("X1", "rope", "candle", "", NO_CLAIM),
            "What will burn through the rope, and how?",
            "The candle will burn through the rope: its flame licks at the rope, so the rope will come down.",
            "candle burns through rope so it comes down",
        ),
        (
            False,
            Ask("X2", "bell", "", "", NO_CLAIM),
            "If nobody interferes, what will happen to the red bell next, and why?",
            "The red bell will stay up. The rope holds up the bell: its end is tied to the bell, and nothing is about "
            "to change that.",
            "rope keeps bell from falling",
        ),
        (
            True,
            Ask("X2", "bell", "", "", NO_CLAIM),
            "If nobody interferes, what will happen to the red bell next, and why?",
            "The candle is burning at the rope. The candle will burn through the rope, so the rope will come down. The "
            "rope will then no longer hold up the red bell, so the bell will fall onto the blue hat.",
            "rope comes down so bell falls",
        ),
        (
            False,
            Ask("X3", "bell", "rope", "", NO_CLAIM),
            "Why has the red bell not fallen onto the blue hat?",
            "The red bell has not fallen onto the blue hat because the rope holds up the bell: its end is tied to the "
            "bell. The hook holds up the rope in turn: the rope is tied to it.",
            "rope keeps bell from falling",
        ),
        (
            True,
            Ask("X3", "rope", "hook", "", NO_CLAIM),
            "Why has the rope not come down yet?",
            "The rope has not come down yet because the hook still holds up the rope: the rope is tied to it.",
            "hook keeps rope from coming down",
        ),
        (
            False,
            Ask("X4", "bell", "", "rope", NO_CLAIM),
            "If the rope were cut, what would happen to the red bell, and why?",
            "The rope would no longer hold up the red bell, so the bell would fall onto the blue hat.",
            "no rope so bell falls",
        ),
        (
            False,
            Ask("X4", "hat", "", "rope", NO_CLAIM),
            "If the rope were cut, what would happen to the blue hat, and why?",
            "The rope would no longer hold up the red bell, so the bell would fall onto the blue hat. The bell would "
            "then strike the hat, so the hat would be crushed.",
            "bell falls so hat is crushed",
        ),
        (
            True,
            Ask("X4", "bell", "", "candle", NO_CLAIM),
            "If the candle were taken away, what would happen to the red bell, and why?",
            "The candle could no longer burn through the rope, so the rope would stay in one piece. The rope would "
            "then still hold up the red bell, so the bell would stay up.",
            "rope stays so bell stays",
        ),
        (
            False,
            Ask("X4", "bell", "", "hat", NO_CLAIM),
            "If the blue hat were taken away, what would happen to the red bell, and why?",
            "The red bell would stay up, for it does not depend on the blue hat. The rope would still hold up the "
            "bell: its end is tied to the bell.",
            "rope keeps bell from falling",
        ),
    ],
)
def test_answers(burning: bool, ask: Ask, question: str, text: str, short: str) -> None:
    graph = graph_of(burning=burning)
    found = answer(graph, ask)
    assert worded(found.question, graph) == question
    assert worded(found.text, graph) == text
    assert bare(found.short, graph) == short


@pytest.mark.parametrize(
    "ask",
    [
        Ask("X1", "bell", "hook", "", NO_CLAIM),  # no such edge
        Ask("X2", "hook", "", "", NO_CLAIM),  # nothing acts on it
        Ask("X4", "bell", "", "rope", NO_CLAIM),  # it changes whether or not
    ],
)
def test_what_the_graph_does_not_answer(ask: Ask) -> None:
    with pytest.raises(ValueError):
        answer(graph_of(burning=True), ask)


def test_what_only_would_be_is_not_said_to_be() -> None:
    ask = Ask("X4", "hat", "", "rope", NO_CLAIM)
    graph = graph_of(burning=False)
    assert causal_questions.rationale(graph, ask) == (
        "What acts on what: {rope} holds up {bell}; {bell} would strike {hat}."
    )
    assert causal_questions.at_stake(graph, ask) == graph.edges[1]


def test_symbols_and_premises() -> None:
    graph, symbols = graph_of(burning=False), {"rope": "Node_B", "bell": "Node_A", "hat": "Node_C"}
    found = answer(graph, Ask("X4", "bell", "", "rope", NO_CLAIM))
    assert symbolized(found.text, symbols) == (
        "Node_B would no longer hold up Node_A, so Node_A would fall onto Node_C."
    )
    assert worded(claim_text(Claim("", "suspend", "bell")), graph) == "Nothing holds up the red bell."
    assert worded(claim_text(Claim("hook", "crush", "hat")), graph) == "The hook will strike the blue hat."


# --- scenes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_scenes(kind: str) -> None:
    for seed in range(6):
        scene = KINDS[kind](Random(seed))
        ids = {one.id for one in scene.graph.things}
        assert len(ids) == len({one.name for one in scene.graph.things}) == len(scene.graph.things) >= 3
        assert len(scene.graph.edges) >= 3
        assert {layer.thing for layer in scene.drawing.layers} - {""} == ids
        before = scene.graph.changes()
        for removed, target in scene.independent:
            assert scene.graph.thing(removed).removal
            assert target not in before | scene.graph.changes(removed)


def test_there_are_many_kinds() -> None:
    assert len(KINDS) >= 10
    relations = {edge.relation for make in KINDS.values() for edge in make(Random(0)).graph.edges}
    assert relations == set(RELATIONS)


def test_terms_of_one_scene_are_told_apart() -> None:
    for make in KINDS.values():
        counts = Counter(term for one in make(Random(1)).graph.things for term in one.terms)
        assert set(counts.values()) == {1}
    assert all(plural != name for name, (plural, _) in NOUNS.items())


def test_no_question_is_asked_twice_and_every_dimension_twice() -> None:
    for kind, make in KINDS.items():
        for seed in range(2):
            facts = causal_records.scene_facts(make(Random(seed)), "1", f"{kind}{seed}")
            assert Counter(ask.x for ask in facts.asks) == {"X1": 2, "X2": 2, "X3": 2, "X4": 2}
            asked = [causal_questions.answer(facts.graph, ask).question for ask in facts.asks]
            assert len(set(asked)) == 8
            assert not any(ask.claim.holds(facts.graph) for ask in facts.asks)


def test_boxes_by_hand() -> None:
    layers = (
        Layer("back", causal_art.strokes((200, 0, 0), 20, ((100, 100), (200, 100)))),
        Layer("front", causal_art.shapes(((0, 0, 200), (box(150, 80, 260, 120),)))),
        Layer("", causal_art.shapes(((0, 200, 0), (box(240, 70, 300, 130),)))),
    )
    found = causal_art.boxes(Drawing("cream room", False, layers))
    # Outlines are 2 pixels wide; what lies in front hides the right end of each.
    assert found["back"] == pytest.approx((98, 88, 148, 112), abs=2)
    assert found["front"] == pytest.approx((148, 78, 238, 122), abs=2)
    mirrored = causal_art.boxes(Drawing("cream room", True, layers))
    left, top, right, bottom = found["front"]
    assert mirrored["front"] == pytest.approx((640 - right, top, 640 - left, bottom), abs=1)


def test_a_hidden_thing_has_no_box() -> None:
    hidden = causal_art.shapes(((0, 0, 200), (box(100, 100, 120, 120),)))
    cover = causal_art.shapes(((0, 200, 0), (box(50, 50, 300, 300),)))
    with pytest.raises(ValueError, match="nothing of 'ball'"):
        causal_art.boxes(Drawing("cream room", False, (Layer("ball", hidden), Layer("wall", cover))))


# --- the dataset ----------------------------------------------------------------------------------------------


def content(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("causal") / "out"
    write_dataset(folder, n=3, seed=4)
    return folder


def test_layout(root: Path) -> None:
    pictures = {f"{PICTURES}/{1_000_001 + k}.jpg" for k in range(3)}
    assert content(root).keys() == {BASELINE_FILE, CONSTRAINED_FILE, "facts/ccrv.json", "synthetic.json"} | pictures
    for picture in pictures:
        with Image.open(root / picture) as image:
            assert (image.format, image.size) == ("JPEG", (640, 480))
    reading = read(Source(root, "folder"))
    assert not reading.faults
    assert not reading.remarks
    assert reading.counts == {"Y1 questions that state the nodes' boxes as xyxy": 24}
    assert Counter((row.x, row.y) for row in reading.rows) == {
        (f"X{x}", y): 6 for x in range(1, 5) for y in ("base", "Y1", "Y2", "Y3", "Y4")
    }


def test_official_fields(root: Path) -> None:
    image: dict[str, Any] = json.loads((root / CONSTRAINED_FILE).read_text(encoding="utf-8"))[0]
    assert image["image_id"] == "1000001"
    assert image["image_path_relative"] == "ICCR/VG_images_test/1000001.jpg"
    assert list(image["questions"]) == ["X1_discovery", "X2_prediction", "X3_diagnosis", "X4_intervention"]
    question = image["questions"]["X3_diagnosis"][1]
    layers = ["L1_perception_check", "L2_interaction_check", "L3_causal_check"]
    assert {"question_text", "ground_truth_answer", "target_object_id", "rationale"} <= question.keys()
    assert list(question["evaluation_rubric"]) == layers
    forms = {form["constraint_id"]: form for form in question["main_set_versions"]}
    assert list(forms) == ["Y1", "Y2", "Y3", "Y4"]
    for form in forms.values():
        assert {"constraint_name", "constrained_question", "adapted_ground_truth"} <= form.keys()
        assert list(form["evaluation_rubric_main_set"]) == layers
    spec = {y: form["constraint_spec"] for y, form in forms.items()}
    node = spec["Y1"]["symbol_map"]["Node_A"]
    left, top, right, bottom = node["bbox_xyxy"]
    assert node["bbox_xywh"] == [left, top, right - left, bottom - top]
    assert node["center_xy"] == [(left + right) / 2, (top + bottom) / 2]
    assert node["true_name"] in spec["Y1"]["forbidden_terms"]
    assert spec["Y2"].keys() == {
        "target_true_name",
        "target_bbox_xywh",
        "target_bbox_xyxy",
        "csr_bbox_margin_fraction",
    }
    assert spec["Y2"]["csr_bbox_margin_fraction"] == 0.075
    assert spec["Y3"]["original_ground_truth"] == question["ground_truth_answer"]
    assert spec["Y4"] == {"allowed_max_words": 8, "forbid_punctuation": True, "forbid_extra_text": True}
    notice, premise, asked = forms["Y3"]["constrained_question"].split("\n")
    assert notice == causal_questions.NOTICE
    assert premise == f"Premise: {spec['Y3']['false_premise']}"
    assert asked == f"Question: {question['question_text']}"
    assert forms["Y4"]["constrained_question"].endswith("in at most 8 words, on one line, without punctuation.")


def test_the_same_again_and_independent_of_n(root: Path, tmp_path: Path) -> None:
    write_dataset(tmp_path / "again", n=3, seed=4)
    write_dataset(tmp_path / "less", n=2, seed=4)
    write_dataset(tmp_path / "other", n=2, seed=5)
    assert content(tmp_path / "again") == content(root)
    for name in (BASELINE_FILE, CONSTRAINED_FILE):
        three, two, other = (
            json.loads((folder / name).read_text(encoding="utf-8"))
            for folder in (root, tmp_path / "less", tmp_path / "other")
        )
        assert three[:2] == two != other
    picture = f"{PICTURES}/1000002.jpg"
    assert (tmp_path / "less" / picture).read_bytes() == (root / picture).read_bytes()


def test_every_kind_occurs_before_one_occurs_again(tmp_path: Path) -> None:
    write_dataset(tmp_path / "out", n=len(KINDS), seed=1)
    images = json.loads((tmp_path / "out" / BASELINE_FILE).read_text(encoding="utf-8"))
    assert sorted(image["primary_cluster"] for image in images) == sorted(KINDS)


def test_contact_sheet(tmp_path: Path) -> None:
    write_dataset(tmp_path / "out", n=1, contact_sheet=True)
    page = (tmp_path / "out" / "contact_sheet" / "ccrv.html").read_text(encoding="utf-8")
    image = json.loads((tmp_path / "out" / CONSTRAINED_FILE).read_text(encoding="utf-8"))[0]
    assert 'src="../VG_images_test/1000001.jpg"' in page
    for questions in image["questions"].values():
        for question in questions:
            assert question["ground_truth_answer"] in page
            assert question["main_set_versions"][2]["constraint_spec"]["false_premise"] in page


def test_refusals(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("")
    with pytest.raises(FileExistsError, match="not an empty folder"):
        write_dataset(tmp_path / "full")
    with pytest.raises(ValueError, match="at least 1 scene"):
        write_dataset(tmp_path / "none", n=0)
    assert [path.name for path in tmp_path.iterdir()] == ["full"]


def test_nothing_is_left_of_a_dataset_that_broke_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(causal_records, "record", fail)
    with pytest.raises(OSError, match="disk is full"):
        write_dataset(tmp_path / "out", n=1)
    assert list(tmp_path.iterdir()) == []


def test_verbs_and_relations_are_used() -> None:
    scenes = [make(Random(seed)) for make in KINDS.values() for seed in range(8)]
    events = {event.verb for scene in scenes for one in scene.graph.things for event in (one.fate, one.stay)}
    assert events == set(causal_graph.VERBS)
