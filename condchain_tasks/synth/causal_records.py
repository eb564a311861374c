"""Records in the official layout of CCRV-Bench, and what is known about each item.

`scene_facts` decides what is asked; everything else follows from the facts, so that `causal_verify` can derive it
anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from pydantic import TypeAdapter

from condchain_tasks.data.ccrv import DIMENSIONS
from condchain_tasks.data.identity import MARK
from condchain_tasks.synth import causal_questions as questions
from condchain_tasks.synth.causal_art import HEIGHT, WIDTH, Box, boxes
from condchain_tasks.synth.causal_graph import RELATIONS, Claim, Edge, Graph
from condchain_tasks.synth.causal_questions import Answer, Ask, Dimension, Layers
from condchain_tasks.synth.causal_scenes import Scene

FACTS = "facts/ccrv.json"
"""Where the facts stand in a dataset's folder."""

FORMS: Mapping[str, str] = {
    "Y1": "Entity symbolization",
    "Y2": "Spatial grounding",
    "Y3": "Factual adversarial",
    "Y4": "Minimalist output",
}
MARGIN = 0.075
"""Of Y2's boxes, on each side."""

MAX_WORDS = 8
"""Y4's limit."""

Json = dict[str, Any]


@dataclass(frozen=True)
class SceneFacts:
    """Everything known about a scene.

    Attributes:
        image_id: A string of digits.
        kind: A key of `causal_kinds.KINDS`.
        stream: Seed of the generator that drew the scene.
        graph: Its things and edges.
        boxes: Of every thing, by its id.
        symbols: "Node_A" and so on, by the thing's id.
        asks: Two for each dimension.
    """

    image_id: str
    kind: str
    stream: str
    graph: Graph
    boxes: dict[str, Box]
    symbols: dict[str, str]
    asks: tuple[Ask, ...]


@dataclass(frozen=True)
class ItemFacts:
    """By what a reply is recognised as right, see `causal_questions.Answer`, and what Y3's premise needs."""

    l1: Layers
    l2: Layers
    l3: Layers
    denies: tuple[str, ...] = ()
    accepts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Facts:
    """What stands in `facts/ccrv.json`; the items by key and form, as in "1000001/X1/0|Y1"."""

    scenes: tuple[SceneFacts, ...]
    items: dict[str, ItemFacts]


_FACTS = TypeAdapter(Facts)


def dump_facts(facts: Facts) -> str:
    """The content of `facts/ccrv.json`."""
    return _FACTS.dump_json(facts).decode() + "\n"


def load_facts(content: bytes) -> Facts:
    """Reads what `dump_facts` gives.

    Raises:
        pydantic.ValidationError: It is no JSON, a field is missing or of the wrong type.
    """
    return _FACTS.validate_json(content)


def scene_facts(scene: Scene, image_id: str, stream: str) -> SceneFacts:
    """Draws what is asked about a scene; the same stream always gives the same."""
    rng = Random(f"{stream}/asks")
    ids = [thing.id for thing in scene.graph.things]
    symbols = {thing: f"Node_{chr(ord('A') + k)}" for k, thing in enumerate(rng.sample(ids, len(ids)))}
    found = boxes(scene.drawing)
    asks = tuple(_asks(scene, rng))
    return SceneFacts(image_id, scene.kind, stream, scene.graph, {one: found[one] for one in ids}, symbols, asks)


# --- what is asked --------------------------------------------------------------------------------------------


def _asks(scene: Scene, rng: Random) -> Iterator[Ask]:
    choices: dict[Dimension, list[_Choice]] = {
        "X1": _edges(scene.graph, rng),
        "X2": _futures(scene.graph, rng),
        "X3": _reasons(scene.graph, rng),
        "X4": _interventions(scene, rng),
    }
    for x, ordered in choices.items():
        for thing, cause, removed in ordered[:2]:
            ask = Ask(x, thing, cause, removed, Claim("", "", thing))
            yield replace(ask, claim=_claim(scene.graph, questions.at_stake(scene.graph, ask), rng))


_Choice = tuple[str, str, str]
"""Thing, cause and what is removed, as in an `Ask`."""


def _shuffled(choices: Sequence[_Choice], rng: Random) -> list[_Choice]:
    return rng.sample(choices, len(choices))


def _edges(graph: Graph, rng: Random) -> list[_Choice]:
    """Edges along which something is held, is driven, or will be; no two of the first ones end at one thing."""
    coming = graph.changes()
    edges = [edge for edge in graph.edges if edge.kind == "hold" or edge.cause in coming]
    return _apart(_shuffled([(edge.effect, edge.cause, "") for edge in edges], rng))


def _apart(choices: list[_Choice]) -> list[_Choice]:
    """The same choices; the second is about another thing than the first, if any is."""
    return sorted(choices, key=lambda choice: choice != choices[0] and choice[0] == choices[0][0])


def _now(edge: Edge) -> bool:
    return RELATIONS[edge.relation].now


def _futures(graph: Graph, rng: Random) -> list[_Choice]:
    """Something that will change first, and something that will stay next, if there is both."""
    coming = graph.changes()
    targets = [thing.id for thing in graph.things if graph.into(thing.id) and not thing.active]
    change = [one for one in targets if one in coming and not any(_now(edge) for edge in graph.into(one))]
    stay = [one for one in targets if one not in coming and any(edge.kind == "hold" for edge in graph.into(one))]
    going = [one for one in targets if one in coming and one not in change]
    change, stay, going = (rng.sample(some, len(some)) for some in (change, stay, going))
    ordered = [*change[:1], *stay[:1], *change[1:], *stay[1:], *going]
    return [(one, "", "") for one in ordered]


def _reasons(graph: Graph, rng: Random) -> list[_Choice]:
    """The first edge into each thing that acts while one looks; before others those whose cause has one of its own."""
    edges = {edge.effect: edge for edge in reversed(graph.edges) if edge.kind == "hold" or _now(edge)}
    choices = _shuffled([(edge.effect, edge.cause, "") for edge in edges.values()], rng)
    return sorted(choices, key=lambda choice: not graph.into(choice[1]))


def _interventions(scene: Scene, rng: Random) -> list[_Choice]:
    """What differs by an intervention first; then another intervention, now and then one that changes nothing."""
    graph = scene.graph
    before = graph.changes()
    matters = [
        (target.id, "", gone.id)
        for gone in graph.things
        for target in graph.things
        if gone.removal and target is not gone and graph.into(target.id)
        and (target.id in before) != (target.id in graph.changes(gone.id))
    ]  # fmt: skip
    matters = _shuffled(matters, rng)
    idle = _shuffled([(target, "", gone) for gone, target in scene.independent], rng)
    first = matters[:1]
    others = sorted(matters[1:], key=lambda choice: choice[2] == first[0][2])
    return [*first, *(idle[:1] if rng.random() < 0.4 else ()), *others, *idle]


def _claim(graph: Graph, edge: Edge, rng: Random) -> Claim:
    """That nothing does what the edge's cause does, or that something does it that has no part in it."""
    others = [
        thing.id
        for thing in graph.things
        if thing.id not in (edge.cause, edge.effect) and not graph.path(thing.id, edge.effect)
    ]
    if others and RELATIONS[edge.relation].common and rng.random() < 0.6:
        return Claim(rng.choice(others), edge.relation, edge.effect)
    return Claim("", edge.relation, edge.effect)


# --- records --------------------------------------------------------------------------------------------------


def record(facts: SceneFacts, constrained: bool) -> Json:
    """An image's record of the baseline file, or of the file with the constrained forms."""
    names = {x: name for name, x in DIMENSIONS.items()}
    found: dict[str, list[Json]] = {name: [] for name in DIMENSIONS}
    for ask in facts.asks:
        one = question(facts, ask)
        if constrained:
            one["main_set_versions"] = [form(facts, ask, y) for y in FORMS]
        found[names[ask.x]].append(one)
    return {
        "image_id": facts.image_id,
        "image_path_relative": f"ICCR/VG_images_test/{facts.image_id}.jpg",
        "primary_cluster": facts.kind,
        MARK: True,
        "questions": found,
    }


def object_id(facts: SceneFacts, thing: str) -> int:
    """Unique among all things of all images."""
    return 100 * int(facts.image_id) + [one.id for one in facts.graph.things].index(thing)


def question(facts: SceneFacts, ask: Ask) -> Json:
    """The fields of a baseline question."""
    graph, answer = facts.graph, questions.answer(facts.graph, ask)
    return {
        "question_text": questions.worded(answer.question, graph),
        "ground_truth_answer": questions.worded(answer.text, graph),
        "target_object_id": object_id(facts, ask.point),
        "rationale": questions.worded(questions.rationale(graph, ask), graph),
        "evaluation_rubric": _rubric([questions.worded(line, graph) for line in answer.rubric]),
    }


def _rubric(lines: Sequence[str]) -> Json:
    return dict(zip(("L1_perception_check", "L2_interaction_check", "L3_causal_check"), lines, strict=True))


def form(facts: SceneFacts, ask: Ask, y: str) -> Json:
    """One of a question's constrained forms."""
    graph, answer = facts.graph, questions.answer(facts.graph, ask)
    make = {"Y1": _symbolized, "Y2": _grounded, "Y3": _adversarial, "Y4": _minimalist}[y]
    asked, adapted, spec = make(facts, ask, answer)
    rubric = answer.rubric
    lines = [
        questions.symbolized(line, facts.symbols) if y == "Y1" else questions.worded(line, graph) for line in rubric
    ]
    return {
        "constraint_id": y,
        "constraint_name": FORMS[y],
        "constrained_question": asked,
        "adapted_ground_truth": adapted,
        "evaluation_rubric_main_set": _rubric(lines),
        "constraint_spec": spec,
    }


def _numbers(numbers: Sequence[float]) -> str:
    return f"[{', '.join(map(str, numbers))}]"


def _xywh(found: Box) -> list[int]:
    left, top, right, bottom = found
    return [left, top, right - left, bottom - top]


def centre(found: Sequence[float]) -> tuple[float, float]:
    """The middle of a box."""
    left, top, right, bottom = found
    return (left + right) / 2, (top + bottom) / 2


def _symbolized(facts: SceneFacts, ask: Ask, answer: Answer) -> tuple[str, str, Json]:
    graph = facts.graph
    nodes = sorted(facts.symbols.items(), key=lambda pair: pair[1])
    legend = "\n".join(f"{symbol} (box xyxy: {_numbers(facts.boxes[one])})" for one, symbol in nodes)
    asked = (
        "Some things in this picture have symbols. Call them by their symbols alone, and do not name any of them.\n"
        f"{legend}\nQuestion: {questions.symbolized(answer.question, facts.symbols)}"
    )
    terms = [term for one, _ in nodes for term in graph.thing(one).terms]
    spec = {
        "forbidden_terms": list(dict.fromkeys(terms)),
        "symbol_map": {
            symbol: {
                "object_id": object_id(facts, one),
                "true_name": graph.thing(one).name,
                "bbox_xywh": _xywh(facts.boxes[one]),
                "bbox_xyxy": list(facts.boxes[one]),
                "center_xy": list(centre(facts.boxes[one])),
            }
            for one, symbol in nodes
        },
    }
    return asked, questions.symbolized(answer.text, facts.symbols), spec


def _grounded(facts: SceneFacts, ask: Ask, answer: Answer) -> tuple[str, str, Json]:
    graph, found = facts.graph, facts.boxes[ask.point]
    what = "the thing that is the direct cause" if ask.cause else questions.worded(f"{{{ask.point}}}", graph).lower()
    asked = (
        f"{questions.worded(answer.question, graph)}\n"
        "Answer in two lines. The first one is 'Coordinate: x, y', a point in pixels from the picture's top left "
        f"corner that lies on {what}; the picture is {WIDTH} pixels wide and {HEIGHT} pixels high. "
        "The second one begins with 'Explanation:' and answers the question."
    )
    x, y = centre(found)
    spec = {
        "target_true_name": graph.thing(ask.point).name,
        "target_bbox_xywh": _xywh(found),
        "target_bbox_xyxy": list(found),
        "csr_bbox_margin_fraction": MARGIN,
    }
    return asked, f"Coordinate: {x:g}, {y:g}\nExplanation: {questions.worded(answer.text, graph)}", spec


def _adversarial(facts: SceneFacts, ask: Ask, answer: Answer) -> tuple[str, str, Json]:
    graph = facts.graph
    premise = questions.worded(questions.claim_text(ask.claim), graph)
    text = questions.worded(answer.text, graph)
    asked = f"{questions.NOTICE}\nPremise: {premise}\nQuestion: {questions.worded(answer.question, graph)}"
    truth = questions.says(questions.at_stake(graph, ask))
    spec = {
        "false_premise": premise,
        "original_ground_truth": text,
        "expected_behavior": "Says that the premise is false, and answers from what the picture shows.",
    }
    return asked, questions.worded(f"The premise is false: in the picture, {truth}. {answer.text}", graph), spec


def _minimalist(facts: SceneFacts, ask: Ask, answer: Answer) -> tuple[str, str, Json]:
    graph = facts.graph
    asked = (
        f"{questions.worded(answer.question, graph)} Say what acts on what, and the result. "
        f"Answer in at most {MAX_WORDS} words, on one line, without punctuation."
    )
    spec = {"allowed_max_words": MAX_WORDS, "forbid_punctuation": True, "forbid_extra_text": True}
    return asked, questions.bare(answer.short, graph), spec


# --- what is known about the items ----------------------------------------------------------------------------


def key(facts: SceneFacts, place: int) -> str:
    """ "1000001/X1/0" for the ask at a place."""
    ask = facts.asks[place]
    index = sum(other.x == ask.x for other in facts.asks[:place])
    return f"{facts.image_id}/{ask.x}/{index}"


def items(facts: SceneFacts) -> dict[str, ItemFacts]:
    """Baseline questions and their constrained forms, by key and form: "1000001/X1/0|Y1"."""
    known: dict[str, ItemFacts] = {}
    for place, ask in enumerate(facts.asks):
        answer = questions.answer(facts.graph, ask)
        plain = ItemFacts(_things(facts, answer.named), (answer.mechanism,), (answer.outcome,))
        short = ItemFacts(_things(facts, answer.short_named), (answer.short_mechanism,), (answer.outcome,))
        denied = ItemFacts(plain.l1, plain.l2, plain.l3, questions.DENIES, questions.ACCEPTS)
        by_form = {"base": plain, "Y1": plain, "Y2": plain, "Y3": denied, "Y4": short}
        known |= {f"{key(facts, place)}|{y}": one for y, one in by_form.items()}
    return known


def _things(facts: SceneFacts, ids: Sequence[str]) -> Layers:
    return tuple((*facts.graph.thing(one).terms, facts.symbols[one].lower()) for one in ids)


def dump(content: object) -> str:
    """JSON as the official files have it."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
