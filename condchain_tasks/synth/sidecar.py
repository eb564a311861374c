"""The facts beside a dataset: `facts/<domain>.jsonl`, one line for each chain of `data/<domain>.jsonl`.

They hold all that `verify` needs to derive every answer anew: the facts of every subject of the scene, how
the chain names its subjects, the sentences of the attributes that it uses, its predicates and its questions.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pydantic import TypeAdapter

from condchain_tasks import vpir
from condchain_tasks.synth import predicates
from condchain_tasks.synth.chains import Chain, Layer, Question, facts_of
from condchain_tasks.synth.predicates import Atom, Not, Pair
from condchain_tasks.synth.world import Attribute, Name, Scalar, Subject


@dataclass(frozen=True)
class Clause:
    """One statement of a condition: its predicate, its English, and whether it holds."""

    predicate: str
    text: str
    holds: bool


@dataclass(frozen=True)
class LayerFacts:
    """A layer in plain text.

    Attributes:
        subject: Id of the subject that the condition is about.
        name: How the chain calls the subject.
        predicate: The condition of the true path.
        counterfactual: Its minimal change that makes it false.
        clauses: The statements of `predicate`, from left to right.
        changed: The one statement of `counterfactual` that is another one.
        question: The question behind the condition.
    """

    subject: str
    name: Name
    predicate: str
    counterfactual: str
    clauses: tuple[Clause, ...]
    changed: Clause
    question: Question


@dataclass(frozen=True)
class ChainFacts:
    """Everything known about a chain.

    Attributes:
        id: The record's id.
        subjects: Every subject of the scene, with those attributes only that the chain uses.
        layers: One for each condition.
        diverge: Index, from 0, of the layer whose counterfactual stands in the false path.
    """

    id: str
    subjects: tuple[Subject, ...]
    layers: tuple[LayerFacts, ...]
    diverge: int

    def chain(self) -> Chain:
        """The chain.

        Raises:
            ValueError: A predicate has a part that conditions do not have.
        """
        layers = (
            Layer(
                layer.subject,
                layer.name,
                Pair(predicates.parse(layer.predicate), predicates.parse(layer.counterfactual)),
                layer.question,
            )
            for layer in self.layers
        )
        return Chain(tuple(layers), self.diverge)


_CHAIN_FACTS = TypeAdapter(ChainFacts)


def chain_facts(chain: Chain, record_id: str, subjects: Sequence[Subject]) -> ChainFacts:
    """Everything known about a chain over the subjects of a world.

    Raises:
        ValueError: A condition and its counterfactual have the same statements.
        PredicateError: A predicate cannot be executed on the subject's facts.
    """
    by_id = {subject.id: subject for subject in subjects}
    used = {fact for layer in chain.layers for fact in facts_of(layer)}
    trimmed = (
        replace(
            subject,
            attributes=tuple(
                _spelled_out(attribute) for attribute in subject.attributes if (subject.id, attribute.key) in used
            ),
        )
        for subject in subjects
    )
    layers = tuple(_layer_facts(layer, by_id[layer.subject]) for layer in chain.layers)
    return ChainFacts(record_id, tuple(trimmed), layers, chain.diverge)


def _spelled_out(attribute: Attribute) -> Attribute:
    return replace(attribute, words={value: predicates.word(attribute, value) for value in attribute.values})


def _layer_facts(layer: Layer, subject: Subject) -> LayerFacts:
    attributes = {attribute.key: attribute for attribute in subject.attributes}

    def clause(literal: Atom | Not) -> Clause:
        text = predicates.clause(literal, attributes, layer.name.text)
        return Clause(str(literal), text, vpir.evaluate(str(literal), subject.facts))

    before = tuple(predicates.literals(layer.pair.true))
    changed = [literal for literal in predicates.literals(layer.pair.false) if literal not in before]
    if not changed:
        raise ValueError(f"the condition {layer.pair.true} and its counterfactual have the same statements")
    return LayerFacts(
        layer.subject,
        layer.name,
        str(layer.pair.true),
        str(layer.pair.false),
        tuple(map(clause, before)),
        clause(changed[0]),
        layer.question,
    )


def dump(facts: ChainFacts) -> str:
    """One line of `facts/<domain>.jsonl`, without its end."""
    return _CHAIN_FACTS.dump_json(facts).decode()


def load(line: str | bytes) -> ChainFacts:
    """Reads what `dump` gives.

    Raises:
        pydantic.ValidationError: The line is no JSON, a field is missing or of the wrong type.
    """
    facts = _CHAIN_FACTS.validate_json(line)
    return replace(facts, subjects=tuple(map(_with_typed_words, facts.subjects)))


def _with_typed_words(subject: Subject) -> Subject:
    """JSON made strings of the values that are the keys of `words`."""

    attributes = (
        replace(
            attribute,
            words={value: attribute.words.get(_json_key(value), str(value)) for value in attribute.values},
        )
        for attribute in subject.attributes
    )
    return replace(subject, attributes=tuple(attributes))


def _json_key(value: Scalar) -> str:
    return value if isinstance(value, str) else json.dumps(value)
