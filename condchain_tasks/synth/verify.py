"""Checks a dataset against its facts: every predicate is executed and every answer derived anew.

Nothing in the records is taken for granted: what they say is compared with what follows from
`facts/<domain>.jsonl` (see `sidecar`), and the facts are checked for what makes a chain fair: unique subjects,
one right option a question, no fact used twice or given away by a name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from condchain_tasks import vpir
from condchain_tasks.data.images import check_image
from condchain_tasks.data.records import MAX_FILE_BYTES
from condchain_tasks.progress import track
from condchain_tasks.synth import chains, predicates, sidecar
from condchain_tasks.synth.chains import Chain, Layer
from condchain_tasks.synth.predicates import Node
from condchain_tasks.synth.sidecar import ChainFacts
from condchain_tasks.synth.world import Subject

_T = TypeVar("_T")


@dataclass(frozen=True)
class Report:
    """What `verify_dataset` found.

    Attributes:
        chains: Number of chains checked.
        conditions: Number of conditions whose predicates were executed, each as condition and counterfactual.
        faults: One message each, naming file, line, id and field; empty if the dataset is sound.
    """

    chains: int
    conditions: int
    faults: tuple[str, ...]


@dataclass(frozen=True)
class _Path:
    """One path of a record."""

    full_instruction: str
    pseudocode: str
    correct_answer: str


@dataclass(frozen=True)
class _FalsePath(_Path):
    """The path with a counterfactual."""

    diverge_node: str


@dataclass(frozen=True)
class _Record:
    """A line of `data/<domain>.jsonl`."""

    id: str
    domain: str
    image: str
    true_path: _Path
    false_path: _FalsePath


@dataclass(frozen=True)
class _Line(Generic[_T]):
    """A line that could be read."""

    place: str
    content: _T


_RECORD = TypeAdapter(_Record)


def verify_dataset(root: Path) -> Report:
    """Checks every chain of a dataset that `write_dataset` made, whatever was done to it since.

    Args:
        root: The dataset's folder.
    """
    files = sorted((root / "data").glob("*.jsonl"))
    faults = [] if files else [f"{root / 'data'}: no *.jsonl file; expected a dataset in the official layout"]
    checked = conditions = 0
    for file in files:
        domain = file.stem
        records = _read(file, _RECORD.validate_json, faults)
        known = _read(root / "facts" / file.name, sidecar.load, faults)
        by_id = {line.content.id: line for line in known}
        faults += [
            f"{line.place}: {line.content.id}: id: a second line of this id"
            for line in known
            if by_id[line.content.id] is not line
        ]
        seen: set[str] = set()
        for line in track(records, "Checking chains"):
            record = line.content
            facts = by_id.get(record.id)
            if record.id in seen:
                faults.append(f"{line.place}: {record.id}: id: a second record of this id")
            elif facts is None:
                faults.append(f"{line.place}: {record.id}: id: facts/{file.name} has no line of this id")
            else:
                checked += 1
                conditions += len(facts.content.layers)
                found = _chain_faults(root, domain, record, facts.content)
                faults += [f"{line.place}: {record.id}: {fault}" for fault in found]
            seen.add(record.id)
        faults += [
            f"{line.place}: {line.content.id}: id: data/{file.name} has no record of this id"
            for line in known
            if line.content.id not in seen
        ]
    return Report(checked, conditions, tuple(faults))


def _read(file: Path, load: Callable[[bytes], _T], faults: list[str]) -> list[_Line[_T]]:
    """The lines that can be read; what is wrong with the others goes to `faults`."""
    place = f"{file.parent.name}/{file.name}"
    try:
        if file.exists() and not (file.is_file() and file.stat().st_size <= MAX_FILE_BYTES):
            raise OSError(None, f"no regular file, or one of more than {MAX_FILE_BYTES:,} bytes")
        lines = file.read_bytes().splitlines()
    except OSError as error:
        faults.append(f"{place}: cannot be read ({error.strerror}); every data/*.jsonl needs its facts/*.jsonl")
        return []
    read = []
    for number, line in enumerate(lines, 1):
        try:
            if line.strip():
                read.append(_Line(f"{place}:{number}", load(line)))
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(map(str, first["loc"])) or "the line"
            faults.append(f"{place}:{number}: {field}: {first['msg']}")
    return read


def _chain_faults(root: Path, domain: str, record: _Record, facts: ChainFacts) -> Iterator[str]:
    """What is wrong with one chain: `field: what`."""
    if record.domain != domain:
        yield f"domain: is {record.domain!r}, expected {domain!r}"
    yield from _image_faults(root, domain, record)
    gaps = list(_gaps(facts))
    if gaps:
        yield from gaps
        return
    try:
        chain = facts.chain()
        yield from _facts_faults(facts, chain)
    except ValueError as error:
        yield f"facts: {error}"
        return
    yield from _record_faults(record, facts, chain)


def _image_faults(root: Path, domain: str, record: _Record) -> Iterator[str]:
    """The picture has its place by the chain's id, so that no chain shows another's."""
    place = {"natural": f"{record.id}.jpg", "chart": f"{record.id}.png", "gui": record.id}.get(domain)
    expected = f"images/{domain}/{place}"
    if record.image != expected:
        yield f"image: is {record.image!r}, expected {expected!r}"
        return
    path = root / expected
    if not path.exists():
        yield f"image: {expected!r} does not exist"
        return
    try:
        files = sorted(path.iterdir()) if domain == "gui" else [path]
        if not files:
            yield f"image: the folder {expected!r} is empty"
        for file in files:
            check_image(file)
            if not file.resolve().is_relative_to(root.resolve()):
                yield f"image: {file.name!r} leads out of the dataset's folder"
    except (OSError, ValueError) as error:
        yield f"image: {error}"


def _gaps(facts: ChainFacts) -> Iterator[str]:
    """What is missing in the facts, so that nothing can be derived from them."""
    subjects = {subject.id: subject for subject in facts.subjects}
    if len(subjects) < len(facts.subjects):
        yield "facts: subjects: two have the same id"
    if not 2 <= len(facts.layers) <= chains.MAX_DEPTH:
        yield f"facts: layers: {len(facts.layers)}, expected 2 to {chains.MAX_DEPTH}"
    elif not 0 <= facts.diverge < len(facts.layers) - 1:
        yield f"facts: diverge: {facts.diverge}, expected 0 to {len(facts.layers) - 2}, any layer but the last"
    for subject in facts.subjects:
        for attribute in subject.attributes:
            if subject.facts.get(attribute.key) not in attribute.values:
                yield f"facts: {subject.id}.{attribute.key}: expected one of {list(attribute.values)}"
    for k, layer in enumerate(facts.layers, 1):
        for field, one in (("subject", layer.subject), ("question.subject", layer.question.subject)):
            if one not in subjects:
                yield f"facts: layers.{k}.{field}: there is no subject {one!r}"


def _facts_faults(facts: ChainFacts, chain: Chain) -> Iterator[str]:
    """What is unfair or inconsistent in the facts themselves.

    Raises:
        ValueError: A predicate cannot be executed or has no English.
    """
    subjects = {subject.id: subject for subject in facts.subjects}
    derived = sidecar.chain_facts(chain, facts.id, facts.subjects)
    for k, (layer, known, expected) in enumerate(zip(chain.layers, facts.layers, derived.layers, strict=True)):
        field = f"facts: layers.{k + 1}"
        for fault in chains.layer_faults(layer, chain.layers[:k], facts.subjects):
            yield f"{field}: {fault}"
        if known != expected:
            yield f"{field}: its texts and truth values do not follow from its predicates: expected {expected}"
        for fault in _question_faults(layer, subjects[layer.question.subject]):
            yield f"{field}.question: {fault}"


def _question_faults(layer: Layer, subject: Subject) -> Iterator[str]:
    question = layer.question
    attribute = next((one for one in subject.attributes if one.key == question.key), None)
    if attribute is None or not attribute.asks:
        yield f"nothing asks for {subject.id}.{question.key}"
        return
    text = attribute.asks.replace("{subject}", question.name.text)
    if question.text != text:
        yield f"reads {question.text!r}, expected {text!r}"
    words = [predicates.word(attribute, value) for value in attribute.values]
    if not set(question.options) <= set(words):
        yield f"options {list(question.options)} should all be among {words}"
    if len(set(question.options)) < len(question.options):
        yield f"two of the options {list(question.options)} are the same"
    answer = predicates.word(attribute, subject.facts[attribute.key])
    right = [place for place, option in enumerate(question.options) if option == answer]
    if right != [question.right]:
        yield f"the options {list(question.options)} are right at {right}, expected [{question.right}]"


def _record_faults(record: _Record, facts: ChainFacts, chain: Chain) -> Iterator[str]:
    """Where the record differs from what follows from its pseudocode and the facts."""
    stop = f"qa_{chain.diverge + 1}"
    if record.false_path.diverge_node != stop:
        yield f"false_path.diverge_node: is {record.false_path.diverge_node!r}, expected {stop!r}"
    read = []
    for field, path, planned, exit_layer in (
        ("true_path", record.true_path, chain.true_path, len(chain.layers) - 1),
        ("false_path", record.false_path, chain.false_path, chain.diverge),
    ):
        try:
            nodes = _conditions(path.pseudocode, chain.layers)
            conditions = chains.conditions(chain.layers, nodes, facts.subjects)
            left = _exit(nodes, chain.layers, facts.subjects)
        except ValueError as error:
            yield f"{field}.pseudocode: {error}"
            continue
        read.append(nodes)
        for k, (node, expected) in enumerate(zip(nodes, planned, strict=True), 1):
            if node != expected:
                yield f"{field}.pseudocode: layer {k} tests {node}, but the facts file has {expected}"
        yield from (
            f"{field}.pseudocode: {fault}"
            for fault in _text_faults(path.pseudocode, chains.pseudocode(chain.layers, nodes), "\n", "line")
        )
        yield from (
            f"{field}.full_instruction: {fault}"
            for fault in _text_faults(
                path.full_instruction, chains.instruction(chain.layers, conditions), "\n\n", "paragraph"
            )
        )
        if left != exit_layer:
            yield f"{field}: by the facts it {_exit_text(left)}, but it should be left in layer {exit_layer + 1}"
        answer = "None" if left is None else chains.label(left, chain.layers[left].question.right)
        if path.correct_answer != answer:
            yield f"{field}.correct_answer: is {path.correct_answer!r}, but {answer!r} follows from the facts"
    if len(read) == 2:
        yield from _pair_faults(record, *read)


def _conditions(pseudocode: str, layers: Sequence[Layer]) -> tuple[Node, ...]:
    """The conditions of the `if` lines.

    Raises:
        ValueError: There are more or fewer than layers, or one is no condition.
    """
    found = re.findall(r"^if \((.*)\):$", pseudocode, re.MULTILINE)
    if len(found) != len(layers):
        raise ValueError(f"{len(found)} lines 'if (...):', expected one for each of {len(layers)} layers")
    return tuple(map(predicates.parse, found))


def _exit(nodes: Sequence[Node], layers: Sequence[Layer], subjects: Sequence[Subject]) -> int | None:
    """Index of the layer whose question is answered; None if the last condition fails.

    Raises:
        ValueError: A predicate cannot be executed.
    """
    known = {subject.id: subject.facts for subject in subjects}
    for k, (node, layer) in enumerate(zip(nodes, layers, strict=True)):
        if not vpir.evaluate(str(node), known[layer.subject]):
            return k if k < len(layers) - 1 else None
    return len(layers) - 1


def _exit_text(layer: int | None) -> str:
    return "has no right option" if layer is None else f"is left in layer {layer + 1}"


def _text_faults(text: str, expected: str, separator: str, part: str) -> Iterator[str]:
    parts, wanted = text.split(separator), expected.split(separator)
    if len(parts) != len(wanted):
        yield f"has {len(parts)} {part}s, expected {len(wanted)}"
        return
    for number, (one, other) in enumerate(zip(parts, wanted, strict=True), 1):
        if one != other:
            yield f"{part} {number} reads {one!r}, expected {other!r}"


def _pair_faults(record: _Record, true: Sequence[Node], false: Sequence[Node]) -> Iterator[str]:
    """The two paths must differ in one atom of one condition, in pseudocode and in the instruction."""
    differ = [k for k, (one, other) in enumerate(zip(true, false, strict=True), 1) if one != other]
    if len(differ) != 1:
        yield f"false_path.pseudocode: differs from the true path in layers {differ}, expected exactly one"
    for k in differ:
        changed = predicates.changed_atoms(true[k - 1], false[k - 1])
        if changed is None or len(changed) != 1:
            yield f"false_path.pseudocode: layer {k} differs in more than one atom: {true[k - 1]}, {false[k - 1]}"
    paragraphs = zip_longest(
        record.true_path.full_instruction.split("\n\n"), record.false_path.full_instruction.split("\n\n")
    )
    steps = [k for k, (one, other) in enumerate(paragraphs) if one != other]
    if steps != differ:
        yield f"false_path.full_instruction: differs from the true path in steps {steps}, its pseudocode in {differ}"
