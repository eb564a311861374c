"""The facts beside the embedded V-REX benchmark: `facts/vrex.json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import TypeAdapter

from condchain_tasks.synth.vrex_queries import Query, Scene
from condchain_tasks.synth.vrex_records import Sample
from condchain_tasks.synth.vrex_rules import Rule


@dataclass(frozen=True)
class SampleFacts:
    """Everything known about a chain.

    Attributes:
        scene: The picture's facts.
        rule: How the final answer follows from the answers before it.
        queries: For each question of the records what it asks.
        distracting: For each planning step the index of the option that comes from the distracting chain.
        distracting_hard: The same in the hard set.
    """

    scene: Scene
    rule: Rule
    queries: Mapping[str, Query]
    distracting: tuple[int, ...]
    distracting_hard: tuple[int, ...]


@dataclass(frozen=True)
class Facts:
    """The content of the file: facts by the id of the sample."""

    samples: Mapping[str, SampleFacts]


_FACTS = TypeAdapter(Facts)


def facts_of(sample: Sample) -> SampleFacts:
    """The facts of a chain."""
    return SampleFacts(sample.scene, sample.rule, sample.queries, sample.distracting, sample.distracting_hard)


def dump(facts: Facts) -> bytes:
    """The file's content."""
    return _FACTS.dump_json(facts, indent=1) + b"\n"


def load(data: bytes) -> Facts:
    """Reads the file's content.

    Raises:
        pydantic.ValidationError: It is no such file.
    """
    return _FACTS.validate_json(data)
