"""What a domain gives to the chain builder: a scene whose every fact is known.

A domain module (`natural`, `chart`, `gui`) has one public function, `make_world(rng) -> World`. Everything
that a condition, a question or a description may say comes from the `Attribute` and `Name` objects of the
world's subjects; the builder (`chains`) knows no domain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

Scalar = str | int | bool
"""A fact's value."""


@dataclass(frozen=True)
class Attribute:
    """One property of a subject that a condition may test or a question may ask for.

    The value must be drawn uniformly from `values`, as independently of the subject's other facts as the
    scene allows: statements that are true and statements that are false then use the same words equally
    often, and the text alone does not tell which is which.

    Attributes:
        key: Name of the fact in `Subject.facts` and in predicates; an identifier.
        kind: "category": one of `values`. "count": `values` are consecutive whole numbers, in order, and may
            be compared. "flag": `values` is `(False, True)`.
        values: What the fact could have been in a scene of this kind, the actual value among them.
        says: Sentence (no full stop) that the fact has a value, with `{subject}` and `{value}`, as in
            "{subject} is {value}". For a flag, the sentence when it is true, with `{subject}` only.
        denies: The same for its opposite: "{subject} is not {value}", "{subject} has no handle".
        at_least: For a count: "{subject} has at least {value} stripes".
        fewer: For a count: "{subject} has fewer than {value} stripes".
        asks: Question that the value answers, "What colour is {subject}?"; empty if it is never asked.
        words: How a value reads in a sentence and in an option; missing values read as `str(value)`.
    """

    key: str
    kind: Literal["category", "count", "flag"]
    values: tuple[Scalar, ...]
    says: str
    denies: str
    at_least: str = ""
    fewer: str = ""
    asks: str = ""
    words: Mapping[Scalar, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Name:
    """A way to refer to a subject.

    Attributes:
        text: A noun phrase that fits into a sentence: "the mug", "the bar for Peru".
        selector: A predicate (see `condchain_tasks.vpir`) over facts, true of this subject and of no other
            subject of the world. Its keys are what the name reveals.
    """

    text: str
    selector: str


@dataclass(frozen=True)
class Subject:
    """A thing in the scene.

    Attributes:
        id: Unique within the world.
        names: At least one; the first is the plainest.
        facts: Everything known about it, among it all keys of `attributes` and all keys that any selector in
            the world uses.
        attributes: At least 5, better 7 or more, none of whose keys occurs in the first name's selector.
        related: Ids of subjects that a chain may go on to (neighbours, the same series, the next screen);
            not empty, without its own id.
    """

    id: str
    names: tuple[Name, ...]
    facts: Mapping[str, Scalar]
    attributes: tuple[Attribute, ...]
    related: tuple[str, ...]


class World(Protocol):
    """A scene: its domain, its subjects, and its picture."""

    @property
    def domain(self) -> str:
        """`natural`, `chart` or `gui`."""

    @property
    def subjects(self) -> tuple[Subject, ...]:
        """At least 4; over all of them at least 45 attributes, so that six complex conditions fit."""

    def draw(self, root: Path, record_id: str) -> str:
        """Draws the picture or the trajectory, in the official layout.

        Args:
            root: The dataset's folder; missing folders are made.
            record_id: Safe as a file name.

        Returns:
            The record's `image`: `images/natural/<id>.jpg`, `images/chart/<id>.png`, or for gui the folder
            `images/gui/<id>` with files `<id>_01.png`, `<id>_02.png`, ...
        """
