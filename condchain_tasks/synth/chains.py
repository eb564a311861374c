"""Chains of conditions over a world: the planner, the layers, and their texts.

The construction follows section 3 of the paper (arXiv 2603.12266), with facts that are known in place of a
model that extracts them: a planner extends, finishes or rolls back; a layer is proposed by a relational
strategy and accepted only once its predicates were executed on the subject's facts and the whole chain was
checked for repetition and leaks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from condchain_tasks import vpir
from condchain_tasks.data.identity import MARK
from condchain_tasks.synth import predicates
from condchain_tasks.synth.predicates import Complexity, Node, Pair, Template
from condchain_tasks.synth.world import Attribute, Name, Subject

OPTIONS = 4
"""Options of a question: the right one and three distractors."""

MAX_DEPTH = 26
"""One letter for each question."""

_TRIES_PER_LAYER = 8
_ROLLBACKS_PER_CHAIN = 10

Fact = tuple[str, str]
"""A subject's id and a key: what a chain may use once."""


class ChainError(ValueError):
    """The world has too few unused facts for a chain of the depth asked for."""


@dataclass(frozen=True)
class Question:
    """A multiple-choice question about one fact.

    Attributes:
        subject: The subject's id.
        name: How the chain calls the subject.
        key: The fact asked for.
        text: The question.
        options: Texts of the options, all different.
        right: Index of the right option.
    """

    subject: str
    name: Name
    key: str
    text: str
    options: tuple[str, ...]
    right: int


@dataclass(frozen=True)
class Layer:
    """One condition with the question behind it.

    Attributes:
        subject: Id of the subject that the condition is about.
        name: How the chain calls the subject.
        pair: The condition and its minimal counterfactual.
        question: Asked when the condition fails; in the last layer, when it holds.
    """

    subject: str
    name: Name
    pair: Pair
    question: Question


@dataclass(frozen=True)
class Chain:
    """A true path and a false path that differ in one condition.

    Attributes:
        layers: At least two.
        diverge: Index of the layer whose counterfactual stands in the false path; never the last one.
    """

    layers: tuple[Layer, ...]
    diverge: int

    @property
    def true_path(self) -> tuple[Node, ...]:
        """The condition of each layer, all true."""
        return tuple(layer.pair.true for layer in self.layers)

    @property
    def false_path(self) -> tuple[Node, ...]:
        """The same, one of them replaced by its counterfactual."""
        return tuple(layer.pair.false if k == self.diverge else layer.pair.true for k, layer in enumerate(self.layers))


# --- Building -----------------------------------------------------------------------------------------------


def build_chain(
    rng: Random,
    subjects: Sequence[Subject],
    depth: tuple[int, int] = (2, 6),
    complexity: Complexity | None = None,
) -> Chain:
    """Builds a chain over the subjects of one world.

    Args:
        rng: Source of randomness; the depth is its first draw.
        subjects: All subjects of the world.
        depth: Least and greatest number of conditions; the depths of many chains are uniform between them.
        complexity: Of every condition; None: each is SIMPLE or COMPLEX, half and half.

    Raises:
        ValueError: The depths are not 2 <= least <= greatest <= 26.
        ChainError: The world ran out of unused facts.
    """
    check_depth(depth)
    # To stop at depth d with probability 1 / (greatest - d + 1), the paper's decision in between made
    # uniform, is to draw the final depth beforehand.
    goal = rng.randint(*depth)
    needed = goal * (predicates.fewest_keys(complexity) + 1)
    known = sum(len(subject.attributes) for subject in subjects)
    if needed > known:
        raise ChainError(f"{goal} conditions and questions take at least {needed} facts, the world has {known}")
    layers: list[Layer] = []
    rollbacks = 0
    while len(layers) < goal:
        template = predicates.draw_template(rng, complexity)
        layer = _extend(rng, subjects, layers, template)
        if layer is not None:
            layers.append(layer)
            continue
        rollbacks += 1
        if rollbacks > _ROLLBACKS_PER_CHAIN:
            raise ChainError(f"no chain of {goal} conditions after {rollbacks - 1} rollbacks")
        if len(layers) > 1:
            layers.pop()
    return Chain(tuple(layers), rng.randrange(goal - 1))


def check_depth(depth: tuple[int, int]) -> None:
    """Raises ValueError unless 2 <= least <= greatest <= 26."""
    least, greatest = depth
    if not 2 <= least <= greatest <= MAX_DEPTH:
        raise ValueError(
            f"depth {least}:{greatest}: expected the least and the greatest number of conditions, "
            f"2 <= least <= greatest <= {MAX_DEPTH}, as in 2:6"
        )


def _extend(rng: Random, subjects: Sequence[Subject], layers: Sequence[Layer], template: Template) -> Layer | None:
    for _ in range(_TRIES_PER_LAYER):
        subject = _next_subject(rng, subjects, layers)
        layer = _propose(rng, subjects, layers, subject, template)
        if layer is not None and not layer_faults(layer, layers, subjects):
            return layer
    return None


def _next_subject(rng: Random, subjects: Sequence[Subject], layers: Sequence[Layer]) -> Subject:
    """Any subject for the seed layer; then Deepening, or Transition twice as often, to a new one if it can."""
    if not layers:
        return rng.choice(subjects)
    by_id = {subject.id: subject for subject in subjects}
    newest = by_id[layers[-1].subject]
    if rng.random() < 1 / 3:
        return newest
    visited = {layer.subject for layer in layers}
    new = [subject for subject in newest.related if subject not in visited]
    return by_id[rng.choice(new or newest.related)]


def _propose(
    rng: Random,
    subjects: Sequence[Subject],
    layers: Sequence[Layer],
    subject: Subject,
    template: Template,
) -> Layer | None:
    """A layer about the subject, or None where it has too few unused facts left."""
    used = frozenset(fact for layer in layers for fact in facts_of(layer))
    ledger = _Ledger(subjects, names_of(layers), used).calling(rng, subject)
    if ledger is None:
        return None
    attributes = _fill_slots(rng, template, ledger.free(subject))
    if attributes is None:
        return None
    pair = predicates.draw_pair(rng, template, attributes, subject.facts)
    ledger = ledger.using((subject.id, attribute.key) for attribute in attributes)
    others = [other for other in rng.sample(subjects, len(subjects)) if other is not subject]
    for one in (subject, *others):
        question = _question(rng, ledger, one)
        if question:
            return Layer(subject.id, ledger.names[subject.id], pair, question)
    return None


@dataclass(frozen=True)
class _Ledger:
    """What a chain has named and used so far.

    Attributes:
        subjects: All subjects of the world.
        names: How the chain calls each subject that it speaks of.
        used: What it tests and asks for.
    """

    subjects: Sequence[Subject]
    names: Mapping[str, Name]
    used: frozenset[Fact]

    def calling(self, rng: Random, subject: Subject) -> _Ledger | None:
        """With a name for the subject that gives away nothing used; None where it has no such name.

        The first name, the plainest, is taken more often than the others.
        """
        if subject.id in self.names:
            return self
        names = rng.sample(subject.names, len(subject.names))
        for name in (subject.names[0], *names) if rng.random() < 0.5 else names:
            ledger = replace(self, names={**self.names, subject.id: name})
            if not given_away(ledger.names, self.used, self.subjects) & self.used:
                return ledger
        return None

    def using(self, facts: Iterable[Fact]) -> _Ledger:
        """With more facts used."""
        return replace(self, used=self.used | set(facts))

    def free(self, subject: Subject) -> list[Attribute]:
        """The subject's attributes that the chain neither uses nor gives away."""
        taken = self.used | given_away(self.names, self.used, self.subjects)
        return [attribute for attribute in subject.attributes if (subject.id, attribute.key) not in taken]


def facts_of(layer: Layer) -> tuple[Fact, ...]:
    """What the layer's condition tests, then what its question asks for."""
    tested = tuple((layer.subject, atom.key) for atom in predicates.atoms(layer.pair.true))
    return (*tested, (layer.question.subject, layer.question.key))


def names_of(layers: Sequence[Layer]) -> dict[str, Name]:
    """How the chain calls each subject, by the subject's id."""
    return {one.subject: one.name for layer in layers for one in (layer, layer.question)}


def given_away(names: Mapping[str, Name], used: Set[Fact], subjects: Sequence[Subject]) -> set[Fact]:
    """What a chain may not test or ask for since its own words tell it.

    A name tells the facts that its selector uses. One that mentions another subject ("the thing in the same
    column as the drum") is a relation: it tells the same of that subject, and what the chain says of the one may
    then tell the same fact of the other.

    Args:
        names: How the chain calls each subject.
        used: What it tests and asks for.
        subjects: All subjects of the world.
    """
    found: set[Fact] = set()
    for subject, name in names.items():
        both = (subject, *_mentioned(subject, name, subjects))
        found |= {(one, key) for one in both for key in vpir.analyse(name.selector).keys}
        found |= {(one, key) for one in both for other, key in used if other in both and other != one}
    return found


def _mentioned(subject: str, name: Name, subjects: Sequence[Subject]) -> list[str]:
    return [
        other.id
        for other in subjects
        if other.id != subject
        and any(one.text in name.text and re.search(rf"\b{re.escape(one.text)}\b", name.text) for one in other.names)
    ]


def _fill_slots(rng: Random, template: Template, free: Sequence[Attribute]) -> list[Attribute] | None:
    """A random attribute for each slot, flags not behind a `not`; None where there are too few."""
    pool = rng.sample(free, len(free))
    chosen = {}
    for slot in sorted(template.slots, key=lambda slot: not slot.negated):
        fitting = [attribute for attribute in pool if not (slot.negated and attribute.kind == "flag")]
        if not fitting:
            return None
        chosen[slot.key] = fitting[0]
        pool.remove(fitting[0])
    return [chosen[slot.key] for slot in template.slots]


def _question(rng: Random, ledger: _Ledger, subject: Subject) -> Question | None:
    """A question about the subject, or None where no unused fact of it can be asked for."""
    extended = ledger.calling(rng, subject)
    if extended is None:
        return None
    askable = [attribute for attribute in extended.free(subject) if attribute.asks and len(attribute.values) >= OPTIONS]
    if not askable:
        return None
    name = extended.names[subject.id]
    attribute = rng.choice(askable)
    actual = subject.facts[attribute.key]
    distractors = rng.sample([value for value in attribute.values if value != actual], OPTIONS - 1)
    right = rng.randrange(OPTIONS)
    options = [predicates.word(attribute, value) for value in distractors]
    options.insert(right, predicates.word(attribute, actual))
    text = attribute.asks.replace("{subject}", name.text)
    return Question(subject.id, name, attribute.key, text, tuple(options), right)


# --- Checking -----------------------------------------------------------------------------------------------


def layer_faults(layer: Layer, before: Sequence[Layer], subjects: Sequence[Subject]) -> list[str]:
    """Why a layer may not follow the layers before it; empty if it may.

    The subjects must be uniquely named, the condition true and its counterfactual false by execution, the two
    one atom apart, and the chain free of repeated and of revealed facts.
    """
    by_id = {subject.id: subject for subject in subjects}
    faults = []
    for subject, name in dict.fromkeys((one.subject, one.name) for one in (layer, layer.question)):
        found = [other.id for other in subjects if vpir.evaluate(name.selector, other.facts)]
        if found != [subject]:
            faults.append(f"{name.text!r} should name {subject!r} alone, but it names {found}")
    facts = by_id[layer.subject].facts
    faults += [
        f"{'condition' if expected else 'counterfactual'} {predicate} is {not expected}"
        for predicate, expected in ((layer.pair.true, True), (layer.pair.false, False))
        if vpir.evaluate(str(predicate), facts) is not expected
    ]
    changed = predicates.changed_atoms(layer.pair.true, layer.pair.false)
    if changed is None or len(changed) != 1:
        faults.append("condition and counterfactual should differ in exactly one atom")
    layers = (*before, layer)
    used = [fact for one in layers for fact in facts_of(one)]
    names = names_of(layers)
    repeated = {fact for fact in used if used.count(fact) > 1}
    faults += [f"{subject}.{key} is used twice" for subject, key in sorted(repeated)]
    faults += [
        f"the names give away {subject}.{key}, which the chain uses"
        for subject, key in sorted(given_away(names, set(used), subjects) & set(used))
    ]
    faults += [
        f"{one.subject} is called {one.name.text!r} and {names[one.subject].text!r}"
        for each in layers
        for one in (each, each.question)
        if one.name != names[one.subject]
    ]
    return faults


# --- Texts --------------------------------------------------------------------------------------------------


def label(layer: int, option: int) -> str:
    """The label of an option: a letter for the layer, a number for the place; both count from 0 here."""
    return f"{chr(ord('A') + layer)}{option + 1}"


def conditions(layers: Sequence[Layer], path: Sequence[Node], subjects: Sequence[Subject]) -> list[str]:
    """The English of each condition of a path."""
    attributes = {subject.id: {attribute.key: attribute for attribute in subject.attributes} for subject in subjects}
    return [
        predicates.render(node, attributes[layer.subject], layer.name.text)
        for layer, node in zip(layers, path, strict=True)
    ]


def instruction(layers: Sequence[Layer], conditions: Sequence[str]) -> str:
    """The instruction: one paragraph a step, each a condition and the question behind it."""
    steps = [
        f"Step {k}: {_step(k, len(layers), condition, ask(k - 1, layer.question))}"
        for k, (layer, condition) in enumerate(zip(layers, conditions, strict=True), 1)
    ]
    return "\n\n".join(["Work through these steps in order, beginning with step 1.", *steps])


def _step(k: int, depth: int, condition: str, question: str) -> str:
    if k < depth:
        return (
            f"Check this condition. {condition}. If it holds, go on to step {k + 1}. "
            f"If it does not, stop here and answer this question: {question}"
        )
    return (
        f"Check this condition. {condition}. If it holds, answer this question: {question} "
        "If it does not, no option is right."
    )


def ask(layer: int, question: Question) -> str:
    """A question with its labelled options; `layer` counts from 0."""
    options = (f"({label(layer, place)}) {text}" for place, text in enumerate(question.options))
    return f"{question.text} {', '.join(options)}."


def pseudocode(layers: Sequence[Layer], path: Sequence[Node]) -> str:
    """The same as one `if` a layer, its predicate in the VPIR language."""
    lines = []
    for k, (layer, node) in enumerate(zip(layers, path, strict=True), 1):
        holds, fails = (
            (f"go on to layer {k + 1}", f"answer qa_{k}")
            if k < len(layers)
            else (f"answer qa_{k}", "no option is right")
        )
        lines += [f"# layer {k}: {layer.name.text}", f"if ({node}):", f"    {holds}", "else:", f"    {fails}"]
    return "\n".join(lines)


def record(chain: Chain, record_id: str, domain: str, image: str, subjects: Sequence[Subject]) -> dict[str, Any]:
    """The chain as a record of the official layout."""

    def texts(path: Sequence[Node]) -> dict[str, str]:
        return {
            "full_instruction": instruction(chain.layers, conditions(chain.layers, path, subjects)),
            "pseudocode": pseudocode(chain.layers, path),
        }

    last, stop = len(chain.layers) - 1, chain.diverge
    return {
        "id": record_id,
        "domain": domain,
        MARK: True,
        "image": image,
        "true_path": {
            **texts(chain.true_path),
            "correct_answer": label(last, chain.layers[last].question.right),
        },
        "false_path": {
            "diverge_node": f"qa_{stop + 1}",
            **texts(chain.false_path),
            "correct_answer": label(stop, chain.layers[stop].question.right),
        },
    }
