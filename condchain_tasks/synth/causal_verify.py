"""Checks a dataset of causal scenes against its facts and its pictures.

Nothing in the records is taken for granted: they are read as a run reads them, compared with what follows from
`facts/ccrv.json`, and put to the rules by which replies are scored. The facts themselves are compared with the
pictures, and their graphs with the scenes that the pictures show.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from pydantic import ValidationError

from condchain_tasks.data.ccrv import BASELINE_FILE, CONSTRAINED_FILE, PICTURES, SETTINGS, Row, read
from condchain_tasks.data.errors import DataError
from condchain_tasks.data.prepared import check_inside
from condchain_tasks.data.records import MAX_FILE_BYTES, read_entries
from condchain_tasks.data.sources import Source
from condchain_tasks.models.sim_ccrv import DENIAL, NOTHING_RIGHT
from condchain_tasks.progress import track
from condchain_tasks.scorers.ccrv import Check, check_grounding, check_minimalist, check_symbolization
from condchain_tasks.synth import causal_questions as questions
from condchain_tasks.synth import causal_records as records
from condchain_tasks.synth.causal_art import HEIGHT, WIDTH, Drawing
from condchain_tasks.synth.causal_graph import RELATIONS, Graph
from condchain_tasks.synth.causal_kinds import KINDS
from condchain_tasks.synth.causal_pictures import picture_faults
from condchain_tasks.synth.causal_questions import Ask, Layers
from condchain_tasks.synth.causal_records import FACTS, Facts, ItemFacts, SceneFacts
from condchain_tasks.synth.causal_scenes import Scene

_MAX_TOLD = 300  # characters of a value
_MAX_DIFFERENCES = 5  # told of one record


@dataclass(frozen=True)
class Report:
    """What `verify_dataset` found.

    Attributes:
        scenes: Number of scenes checked.
        items: Number of items checked, baseline questions and constrained forms.
        faults: One message each, naming the item or the field; empty if the dataset is sound.
    """

    scenes: int
    items: int
    faults: tuple[str, ...]


def verify_dataset(root: Path) -> Report:
    """Checks every scene and every item of a dataset that `write_dataset` made, whatever was done to it since.

    Args:
        root: The dataset's folder.
    """
    try:
        facts = _facts(root)
        reading = read(Source(root.absolute(), "folder"))
        files = {name: _records(root / name) for name in (BASELINE_FILE, CONSTRAINED_FILE)}
    except DataError as error:
        return Report(0, 0, (str(error),))
    faults = list(reading.faults)
    faults += [f"{place}: {kind}" for kind, places in reading.remarks.items() for place in places]
    rows = {(row.key, row.y): row for row in reading.rows}
    faults += _set_faults(facts, rows.keys(), files)
    known = [scene for scene in facts.scenes if scene.kind in KINDS]
    for scene in track(known, "Checking scenes"):
        drawn = KINDS[scene.kind](Random(scene.stream))
        found = list(_gaps(scene, drawn)) or [
            *_scene_faults(root, scene, drawn.drawing, files, facts.items),
            *_item_faults(scene, rows, facts.items),
        ]
        faults += [f"image {scene.image_id}: {fault}" for fault in found]
    return Report(len(known), len(rows), tuple(faults))


def _facts(root: Path) -> Facts:
    path = root / FACTS
    try:
        check_inside(path, root.resolve())
        if not path.is_file() or path.stat().st_size > MAX_FILE_BYTES:
            raise DataError(f"{path} is no regular file of at most {MAX_FILE_BYTES:,} bytes.")
        return records.load_facts(path.read_bytes())
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "the file"
        raise DataError(f"{path}: {field[:200]}: {first['msg']}.") from error


def _records(path: Path) -> dict[str, dict[str, Any]]:
    return {str(entry.value.get("image_id")): entry.value for entry in read_entries(path) if entry.value}


# --- the set --------------------------------------------------------------------------------------------------


def _set_faults(
    facts: Facts, found: Iterable[tuple[str, str]], files: Mapping[str, Mapping[str, Any]]
) -> Iterator[str]:
    """What is wrong with the keys of scenes and items."""
    for image_id, times in Counter(scene.image_id for scene in facts.scenes).items():
        if times > 1:
            yield f"{FACTS}: {times} scenes have the image id {image_id!r}"
    for scene in facts.scenes:
        if scene.kind not in KINDS:
            yield f"{FACTS}: image {scene.image_id}: kind is {scene.kind!r}, expected one of {', '.join(KINDS)}"
    keys = [records.key(scene, place) for scene in facts.scenes for place in range(len(scene.asks))]
    expected = {(key, y) for key in keys for y in SETTINGS}
    for key, y in sorted(expected - set(found)):
        yield f"{key}, {y}: there is no such item in the records"
    for key, y in sorted(set(found) - expected):
        yield f"{key}, {y}: {FACTS} does not ask this"
    for name in sorted({f"{key}|{y}" for key, y in expected} ^ facts.items.keys()):
        yield f"{FACTS}: items: {name!r} is missing, or belongs to no item"
    for name, content in files.items():
        for image_id in sorted(content.keys() ^ {scene.image_id for scene in facts.scenes}):
            yield f"image {image_id}: it is not in both {name} and {FACTS}"


# --- scenes ---------------------------------------------------------------------------------------------------


def _gaps(scene: SceneFacts, drawn: Scene) -> Iterator[str]:
    """What is wrong with the facts, so that nothing can be derived from them."""
    ids = {thing.id for thing in drawn.graph.things}
    if not scene.image_id.isdecimal():
        yield "image_id: expected digits"
    if scene.graph != drawn.graph:
        yield "graph: it is not that of the scene which the picture shows"
    if set(scene.boxes) != ids or set(scene.symbols) != ids:
        yield "boxes, symbols: expected one of each thing"
    for thing, (left, top, right, bottom) in scene.boxes.items():
        if not (0 <= left < right <= WIDTH and 0 <= top < bottom <= HEIGHT):
            yield f"the box of {thing!r} is {[left, top, right, bottom]}, expected one inside the picture"
    if len(set(scene.symbols.values())) < len(scene.symbols):
        yield "symbols: two things have the same one"
    for ask in scene.asks:
        claim = ask.claim
        if {ask.thing, claim.effect} - ids or {ask.cause, ask.removed, claim.cause} - {"", *ids}:
            yield f"asks: {ask.x} about {ask.thing!r}: expected known things"
        elif claim.relation not in RELATIONS:
            yield f"asks: {ask.x} about {ask.thing!r}: claim.relation is {claim.relation!r}, which is not known"


def _scene_faults(
    root: Path,
    scene: SceneFacts,
    drawing: Drawing,
    files: Mapping[str, Mapping[str, Any]],
    known: Mapping[str, ItemFacts],
) -> Iterator[str]:
    """What is wrong with a picture, its boxes, its records and what is known about its items."""
    path = root / PICTURES / f"{scene.image_id}.jpg"
    try:
        yield from picture_faults(path, drawing, scene.boxes)
    except OSError as error:
        yield f"the picture {path} cannot be decoded: {error}"
    try:
        for name, constrained in ((BASELINE_FILE, False), (CONSTRAINED_FILE, True)):
            expected = json.loads(json.dumps(records.record(scene, constrained)))
            differences = list(_differences(expected, files[name].get(scene.image_id)))
            yield from (f"{name}: {difference}" for difference in differences[:_MAX_DIFFERENCES])
        for name, item in records.items(scene).items():
            if name in known and known[name] != item:
                yield f"{FACTS}: items.{name}: is {_told(known[name])}, but {_told(item)} follows from the facts"
    except ValueError as error:
        yield f"asks: {error}"


def _differences(expected: Any, found: Any, place: str = "") -> Iterator[str]:
    """Where a record is not what follows from the facts."""
    if isinstance(expected, dict) and isinstance(found, dict) and expected.keys() == found.keys():
        for name in expected:
            yield from _differences(expected[name], found[name], f"{place}.{name}".lstrip("."))
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for index, (one, other) in enumerate(zip(expected, found, strict=True)):
            yield from _differences(one, other, f"{place}.{index}")
    elif expected != found:
        yield f"{place or 'the record'}: is {_told(found)}, but {_told(expected)} follows from the facts"


def _told(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _MAX_TOLD else f"{text[:_MAX_TOLD]}..."


# --- items ----------------------------------------------------------------------------------------------------


def _item_faults(
    scene: SceneFacts, rows: Mapping[tuple[str, str], Row], known: Mapping[str, ItemFacts]
) -> Iterator[str]:
    """What is wrong with the items of a scene, each by itself."""
    asked = Counter(ask.x for ask in scene.asks)
    if asked != Counter({f"X{x}": 2 for x in range(1, 5)}):
        yield f"asks: {dict(asked)}, expected two for each dimension"
    texts = Counter(rows[key, "base"].question for key, y in rows if y == "base" and key in _keys(scene))
    for text, times in texts.items():
        if times > 1:
            yield f"the question {text!r} is asked {times} times"
    for place, ask in enumerate(scene.asks):
        key = records.key(scene, place)
        for y in SETTINGS:
            row, item = rows.get((key, y)), known.get(f"{key}|{y}")
            if row and item:
                yield from (f"{key}, {y}: {fault}" for fault in _row_faults(scene, ask, row, item))


def _keys(scene: SceneFacts) -> set[str]:
    return {records.key(scene, place) for place in range(len(scene.asks))}


def _row_faults(scene: SceneFacts, ask: Ask, row: Row, item: ItemFacts) -> Iterator[str]:
    if row.y == "base":
        yield from _outcome_faults(scene, ask, row)
    right = {"the reference": row.reference} | ({"the adapted answer": row.adapted} if row.y != "base" else {})
    for name, layer in (("l1", item.l1), ("l2", item.l2), ("l3", item.l3)):
        for what, text in right.items():
            if not holds(layer, text):
                yield f"{name}: none of its phrases occurs in {what}, {text!r}"
        if holds(layer, "nothing" if row.y == "Y4" else f"{DENIAL} {NOTHING_RIGHT}"):
            yield f"{name}: its phrases occur in a reply that says nothing"
    if row.y == "Y1":
        yield from _symbol_faults(scene, row)
    elif row.y == "Y2":
        yield from _grounding_faults(row)
    elif row.y == "Y3":
        yield from _premise_faults(scene, ask, row, item)
    elif row.y == "Y4":
        check = check_minimalist(row.adapted, row.max_words, row.single_line, row.forbid_punctuation)
        yield from _unless_passed("the adapted answer", check)
        if check_minimalist(row.reference, row.max_words, row.single_line, row.forbid_punctuation).passed:
            yield "the reference keeps to the limit, so that the limit asks for nothing"


def holds(layer: Layers, text: str) -> bool:
    """Whether from each inner tuple at least one phrase occurs in a text, as whole words in any case."""
    return all(any(_occurs(phrase, text) for phrase in phrases) for phrases in layer) and bool(layer)


def _occurs(phrase: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(phrase.lower())}(?!\w)", text.lower()) is not None


def _unless_passed(what: str, check: Check) -> Iterator[str]:
    if not check.passed:
        yield f"{what} does not satisfy the constraint: {check.reason}"


def _outcome_faults(scene: SceneFacts, ask: Ask, row: Row) -> Iterator[str]:
    """The answer has to tell what the graph yields: a thing's fate if it changes, else that it stays as it is."""
    graph, thing = scene.graph, scene.graph.thing(ask.thing)
    if ask.cause:
        edges = [edge for edge in graph.into(ask.thing) if edge.cause == ask.cause]
        changes = bool(edges) and edges[0].kind == "drive"
    else:
        changes = ask.thing in graph.changes(ask.removed or None)
    expected, other = (thing.fate, thing.stay) if changes else (thing.stay, thing.fate)
    told = [_plain(text, graph) for text in (expected.base, expected.third, expected.gerund)]
    if not changes:
        told.append(_plain(f"not {thing.fate.participle}", graph))
    opposite = [_plain(f"{{{ask.thing}}} {modal} {other.base}", graph) for modal in ("will", "would")]
    reference = row.reference
    for one in graph.things:
        reference = reference.replace(f"the {one.colour} {one.name}", f"the {one.name}")
    if not any(_occurs(text, reference) for text in told):
        yield f"the reference {reference!r} does not tell what the graph yields, {told[0]!r}"
    if any(_occurs(text, reference) for text in opposite):
        yield f"the reference {reference!r} tells the opposite of what the graph yields, {told[0]!r}"


def _plain(template: str, graph: Graph) -> str:
    """A phrase without colours."""
    return questions.bare(template.replace("{", "the {"), graph)


def _symbol_faults(scene: SceneFacts, row: Row) -> Iterator[str]:
    forbidden = {term.lower() for term in row.forbidden_terms}
    texts = " ".join((row.base_question, row.reference, row.rationale, row.rubric_l1, row.rubric_l2, row.rubric_l3))
    for thing in scene.graph.things:
        lacking = [
            term
            for term in thing.terms
            if term.lower() not in forbidden and (term in (thing.name, thing.plural) or _occurs(term, texts))
        ]
        yield from (f"forbidden_terms: {term!r}, for {thing.id!r}, is missing" for term in lacking)
    yield from _unless_passed("the question", check_symbolization(row.question, row.forbidden_terms))
    yield from _unless_passed("the adapted answer", check_symbolization(row.adapted, row.forbidden_terms))
    if check_symbolization(row.reference, row.forbidden_terms).passed:
        yield "the reference names none of the things, so that the terms forbid nothing"


def _grounding_faults(row: Row) -> Iterator[str]:
    x, y = records.centre(row.bbox_xyxy)
    size = (row.width, row.height)
    reply = f"Coordinate: {x:g}, {y:g}\nExplanation: {row.reference}"
    for what, text in (("the box's centre with the reference", reply), ("the adapted answer", row.adapted)):
        check = check_grounding(text, row.bbox_xyxy, size, row.margin)
        yield from _unless_passed(what, check)
        if check.passed and not check.passed_raw_pixel:
            yield f"{what} is accepted, but not as pixels"


def _premise_faults(scene: SceneFacts, ask: Ask, row: Row, item: ItemFacts) -> Iterator[str]:
    premise = json.loads(row.spec).get("false_premise")
    if premise != questions.worded(questions.claim_text(ask.claim), scene.graph):
        yield f"false_premise: {premise!r} is not the claim of the facts, {ask.claim}"
    if ask.claim.holds(scene.graph):
        yield f"false_premise: {premise!r} is true: the graph says so"
    if not isinstance(premise, str) or premise not in row.question:
        yield "false_premise: the question does not state it"
    if not any(_occurs(phrase, row.adapted) for phrase in item.denies):
        yield "denies: none of the phrases occurs in the adapted answer"
    believer = f"Since {premise}, this follows. {row.reference}"
    if any(_occurs(phrase, believer) for phrase in item.denies):
        yield "denies: a phrase occurs in a reply that takes the premise for true"
    if not any(_occurs(phrase, believer) for phrase in item.accepts):
        yield "accepts: none of the phrases occurs in a reply that takes the premise for true"
    for phrase in item.accepts:
        if _occurs(phrase, row.adapted):
            yield f"accepts: {phrase!r} occurs in the adapted answer"
