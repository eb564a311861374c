"""Checks the embedded V-REX benchmark against its facts: every query is executed and every rule applied anew.

Nothing in the records is taken for granted: answers, options and pictures are compared with what follows from
`facts/vrex.json`, and the chains are checked for what makes them fair.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from PIL import Image, ImageChops
from pydantic import Field, TypeAdapter, ValidationError

from condchain_tasks.data.errors import DataError
from condchain_tasks.data.images import check_image
from condchain_tasks.data.records import MAX_FILE_BYTES, read_entries
from condchain_tasks.progress import track
from condchain_tasks.synth import vrex_facts
from condchain_tasks.synth.vrex_facts import SampleFacts
from condchain_tasks.synth.vrex_kinds import KINDS
from condchain_tasks.synth.vrex_options import normalised
from condchain_tasks.synth.vrex_queries import text_of
from condchain_tasks.synth.vrex_records import HARD, STANDARD

_FACTS = "facts/vrex.json"
_STEPS = (2, 6)
_OPTIONS = (2, 6)


@dataclass(frozen=True)
class Report:
    """What `verify_dataset` found.

    Attributes:
        chains: Number of chains checked.
        steps: Number of their steps, the final ones included.
        faults: One message each, naming file, line, id and field; empty if the dataset is sound.
    """

    chains: int
    steps: int
    faults: tuple[str, ...]


_Text = Annotated[str, Field(max_length=1000)]


@dataclass(frozen=True)
class _Candidate:
    question: _Text
    answer: _Text
    source: _Text


@dataclass(frozen=True)
class _Step:
    question: _Text
    answer: _Text
    options: tuple[_Candidate, ...] | tuple[_Text, ...]
    gold: Annotated[int, Field(strict=True)]


@dataclass(frozen=True)
class _Record:
    id: Annotated[str, Field(pattern=r"^[\w-]{1,100}$")]
    image: str
    category: str
    scenario: str
    final_question: str
    steps: tuple[_Step, ...]
    set: Literal["standard", "hard"] = "standard"


@dataclass(frozen=True)
class _Line:
    """A record and where it stands."""

    place: str
    record: _Record


_RECORD = TypeAdapter(_Record)


def verify_dataset(root: Path) -> Report:
    """Checks every chain of a dataset that `vrex.write_dataset` made, whatever was done to it since.

    Args:
        root: The dataset's folder.
    """
    faults: list[str] = []
    known = _facts(root, faults)
    planning, following, hard = (_lines(root, name, faults) for name in ("planning", "following", "planning_hard"))
    checked = steps = 0
    for sample_id in track(dict.fromkeys((*planning, *following, *hard, *known)), "Checking chains"):
        parts = {"data/planning.jsonl": planning, "data/following.jsonl": following, "data/planning_hard.jsonl": hard}
        missing = [name for name, lines in parts.items() if sample_id not in lines]
        missing += [_FACTS] * (sample_id not in known)
        if missing:
            faults.append(f"{sample_id}: id: missing in {', '.join(missing)}, but there elsewhere")
            continue
        checked += 1
        steps += len(following[sample_id].record.steps)
        lines = (planning[sample_id], following[sample_id], hard[sample_id])
        faults += _sample_faults(root, lines, known[sample_id])
    if not (checked or faults):
        faults.append("data/planning.jsonl: has no record; expected at least one")
    return Report(checked, steps, tuple(faults))


def _facts(root: Path, faults: list[str]) -> Mapping[str, SampleFacts]:
    file = root / _FACTS
    try:
        if file.stat().st_size > MAX_FILE_BYTES:
            raise OSError(None, f"it has more than {MAX_FILE_BYTES:,} bytes")
        return vrex_facts.load(file.read_bytes()).samples
    except OSError as error:
        faults.append(f"{_FACTS}: cannot be read ({error.strerror}); a dataset made by `condchain synth vrex` has it")
    except ValidationError as error:
        faults.append(f"{_FACTS}: {_first(error)}")
    return {}


def _first(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc'])) or 'the record'}: {first['msg']}"


def _lines(root: Path, name: str, faults: list[str]) -> dict[str, _Line]:
    """The records that can be read, by id; what is wrong with the others goes to `faults`."""
    file = f"data/{name}.jsonl"
    found: dict[str, _Line] = {}
    try:
        for entry in read_entries(root / file):
            place = f"{file}:{entry.number}"
            if entry.value is None:
                faults.append(f"{place}: {entry.fault}")
                continue
            try:
                record = _RECORD.validate_python(entry.value)
            except ValidationError as error:
                faults.append(f"{place}: {_first(error)}")
                continue
            if record.id in found:
                faults.append(f"{place}: {record.id}: id: a second record of this id")
            found.setdefault(record.id, _Line(place, record))
    except DataError as error:
        faults.append(f"{file}: {error}")
    return found


def _sample_faults(root: Path, lines: tuple[_Line, _Line, _Line], facts: SampleFacts) -> Iterator[str]:
    """What is wrong with one chain, with the place of each fault."""
    planning, following, hard = (line.record for line in lines)
    for line in lines:
        yield from (f"{line.place}: {line.record.id}: {fault}" for fault in _head_faults(line.record, facts))
    yield from (f"{lines[0].place}: {planning.id}: image: {fault}" for fault in _image_faults(root, planning, facts))
    lengths = {len(record.steps) for record in (planning, following, hard)}
    if len(lengths) > 1 or not _STEPS[0] <= min(lengths) <= _STEPS[1]:
        expected = f"the same number in all, {_STEPS[0]} to {_STEPS[1]}"
        yield f"{planning.id}: steps: {sorted(lengths)} in the three files of records, expected {expected}"
        return
    for line, count, distracting in (
        (lines[0], STANDARD, facts.distracting),
        (lines[2], HARD, facts.distracting_hard),
    ):
        found = _planning_faults(line.record, following, count, distracting, facts)
        yield from (f"{line.place}: {planning.id}: {fault}" for fault in found)
    yield from (f"{lines[1].place}: {planning.id}: {fault}" for fault in _following_faults(following, facts))
    yield from (f"{_FACTS}: {planning.id}: {fault}" for fault in _distracting_faults(planning, hard, facts))
    yield from (f"{lines[1].place}: {planning.id}: {fault}" for fault in _rule_faults(following, facts))


def _head_faults(record: _Record, facts: SampleFacts) -> Iterator[str]:
    kind = KINDS.get(facts.scene.kind)
    if kind is not None:
        for field, value, expected in (
            ("category", record.category, kind.category),
            ("scenario", record.scenario, kind.scenario),
        ):
            if value != expected:
                yield f"{field}: is {value!r}, expected {expected!r} for a scene of kind {kind.name}"
    if record.image != f"images/{record.id}.png":
        yield f"image: is {record.image!r}, expected 'images/{record.id}.png'"


def _image_faults(root: Path, record: _Record, facts: SampleFacts) -> Iterator[str]:
    """The picture must be the scene's, pixel by pixel."""
    kind = KINDS.get(facts.scene.kind)
    if kind is None:
        yield f"{_FACTS} has a scene of kind {facts.scene.kind!r}, expected one of {', '.join(KINDS)}"
        return
    path = root / "images" / f"{record.id}.png"
    if not path.resolve().is_relative_to((root / "images").resolve()):
        yield f"{path.name!r} leads out of the folder images"
        return
    try:
        check_image(path)
        with Image.open(path) as picture:
            shown = picture.convert("RGB")
    except (OSError, ValueError, SyntaxError) as error:
        yield f"cannot be used: {error}"
        return
    try:
        drawn = kind.draw(facts.scene)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        yield f"the scene in {_FACTS} cannot be drawn: {type(error).__name__}: {error}"
        return
    if shown.size != drawn.size or ImageChops.difference(shown, drawn).getbbox():
        yield f"{path.name} is not the picture that follows from its scene in {_FACTS}"


def _answer_faults(question: str, answer: str, facts: SampleFacts) -> Iterator[str]:
    """An answer must be what the question's query finds in the scene."""
    query = facts.queries.get(question)
    if query is None:
        yield f"question: {_FACTS} has no query for {question!r}"
        return
    try:
        expected = text_of(query.result(facts.scene))
    except ValueError as error:
        yield f"question: the query of {question!r} fails: {error}"
        return
    if answer != expected:
        yield f"answer: is {answer!r} to {question!r}, but {expected!r} follows from the facts"


def _options_faults(step: _Step) -> Iterator[str]:
    """Answers to choose from: distinct, and exactly one of them, at `gold`, is right."""
    texts = [option for option in step.options if isinstance(option, str)]
    if len(texts) < len(step.options) or not _OPTIONS[0] <= len(texts) <= _OPTIONS[1]:
        yield f"options: expected {_OPTIONS[0]} to {_OPTIONS[1]} texts"
        return
    yield from _repeats(texts)
    right = [place for place, text in enumerate(texts) if normalised(text) == normalised(step.answer)]
    if right != [step.gold] or texts[step.gold] != step.answer:
        yield f"gold: is {step.gold}, but the answer {step.answer!r} stands at {right} of {texts}"


def _repeats(texts: Sequence[str]) -> Iterator[str]:
    for text, count in Counter(map(normalised, texts)).items():
        if count > 1:
            yield f"options: {count} of them read {text!r}"


def _planning_faults(
    record: _Record, following: _Record, count: int, distracting: Sequence[int], facts: SampleFacts
) -> Iterator[str]:
    expected = "hard" if count == HARD else "standard"
    if record.set != expected:
        yield f"set: is {record.set!r}, expected {expected!r}"
    if record.final_question != following.final_question:
        yield "final_question: differs from the one in data/following.jsonl"
    golds = {normalised(step.question) for step in following.steps}
    if len(distracting) != len(record.steps) - 1:
        yield f"steps: {_FACTS} has {len(distracting)} indices of distracting options, expected one a planning step"
        return
    for number, (step, same, other) in enumerate(
        zip(record.steps, following.steps, (*distracting, None), strict=True), 1
    ):
        field = f"steps.{number}"
        if (step.question, step.answer) != (same.question, same.answer):
            yield f"{field}: question or answer differs from data/following.jsonl"
        found = _options_faults(step) if other is None else _candidates_faults(step, count, other, golds, facts)
        yield from (f"{field}: {fault}" for fault in found)
    if record.steps[-1] != following.steps[-1]:
        yield f"steps.{len(record.steps)}: differs from the final step in data/following.jsonl"


def _candidates_faults(step: _Step, count: int, distracting: int, golds: set[str], facts: SampleFacts) -> Iterator[str]:
    """Questions to choose from: distinct, each with its true answer, and none but the right one of the gold chain."""
    candidates = [option for option in step.options if isinstance(option, _Candidate)]
    if len(candidates) < len(step.options) or len(candidates) != count:
        yield f"options: expected {count} questions with their answers"
        return
    yield from _repeats([candidate.question for candidate in candidates])
    right = [k for k, one in enumerate(candidates) if normalised(one.question) == normalised(step.question)]
    if right != [step.gold]:
        yield f"gold: is {step.gold}, but the question stands at {right}"
    for k, candidate in enumerate(candidates):
        yield from (f"options.{k}: {fault}" for fault in _answer_faults(candidate.question, candidate.answer, facts))
        expected = "gold" if k == step.gold else "distracting" if k == distracting else "distractor"
        if candidate.source != expected:
            yield f"options.{k}.source: is {candidate.source!r}, expected {expected!r}"
        if k not in right and normalised(candidate.question) in golds:
            yield f"options.{k}: {candidate.question!r} belongs to the gold chain"
    if not 0 <= distracting < count or distracting in right:
        yield f"options: {_FACTS} says that option {distracting} comes from the distracting chain"


def _following_faults(record: _Record, facts: SampleFacts) -> Iterator[str]:
    if record.set != "standard":
        yield f"set: is {record.set!r}, expected 'standard'"
    if record.steps[-1].question != record.final_question:
        yield f"steps.{len(record.steps)}: question: differs from final_question"
    for text, count in Counter(normalised(step.question) for step in record.steps).items():
        if count > 1:
            yield f"steps: {count} of them ask {text!r}"
    for number, step in enumerate(record.steps, 1):
        for fault in (*_options_faults(step), *_answer_faults(step.question, step.answer, facts)):
            yield f"steps.{number}: {fault}"


def _distracting_faults(planning: _Record, hard: _Record, facts: SampleFacts) -> Iterator[str]:
    """The distracting chain must be one: the same questions in both sets, none of them twice."""
    chains = []
    for record, places in ((planning, facts.distracting), (hard, facts.distracting_hard)):
        options = [step.options[place : place + 1] for step, place in zip(record.steps, places, strict=False)]
        chains.append([option.question for (option,) in filter(None, options) if isinstance(option, _Candidate)])
    if chains[0] != chains[1]:
        yield "distracting_hard: leads to other questions than distracting"
    if len(set(chains[0])) < len(chains[0]):
        yield "distracting: leads to the same question twice"


def _rule_faults(record: _Record, facts: SampleFacts) -> Iterator[str]:
    """The answers before the final one must determine it, all of them together and no fewer."""
    answers: list[str | None] = [step.answer for step in record.steps[:-1]]
    final = record.steps[-1].answer
    try:
        found = facts.rule.apply(answers)
        if found != final:
            yield f"steps: the rule {facts.rule.rule!r} makes {found!r} of the answers, but the final one is {final!r}"
        for k in range(len(answers)):
            if facts.rule.apply([*answers[:k], None, *answers[k + 1 :]]) is not None:
                yield f"steps.{k + 1}: the final answer follows without this step"
    except ValueError as error:
        yield f"steps: the rule {facts.rule.rule!r} cannot be applied: {error}"
