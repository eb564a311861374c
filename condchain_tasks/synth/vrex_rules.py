"""Rules by which the final answer follows from the answers of the steps before it.

A rule reads nothing but the texts of those answers, so it shows that they are enough; it has no result when one
of them is missing or makes no sense.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Annotated, Literal

from pydantic import Field

Answers = Sequence[str | None]
"""The texts of the answers to steps 1 to T-1; None for one that is not known."""

_NUMBER = re.compile(r"-?\d{1,9}")


@dataclass(frozen=True)
class Term:
    """A product of answers, times `factor`.

    Attributes:
        steps: Indices of the answers, from 0; none: the factor alone.
        factor: Any whole number.
    """

    steps: Annotated[tuple[int, ...], Field(max_length=10)]
    factor: int = 1


@dataclass(frozen=True)
class Sum:
    """The answers are numbers, and so is the result: the sum of the terms."""

    terms: tuple[Term, ...]
    rule: Literal["sum"] = "sum"

    def apply(self, answers: Answers) -> str | None:
        total = 0
        for term in self.terms:
            numbers = [number for step in term.steps if (number := _number(answers, step)) is not None]
            if len(numbers) < len(term.steps):
                return None
            total += term.factor * prod(numbers)
        return str(total)


@dataclass(frozen=True)
class Extreme:
    """The answers are numbers; the result is the name whose number is the greatest, or the least, with no tie.

    Attributes:
        names: One for each answer.
        most: Whether the greatest is meant.
    """

    names: tuple[str, ...]
    most: bool
    rule: Literal["extreme"] = "extreme"

    def apply(self, answers: Answers) -> str | None:
        if len(answers) != len(self.names):
            return None
        values = [value for step in range(len(answers)) if (value := _number(answers, step)) is not None]
        if len(values) < len(self.names):
            return None
        best = (max if self.most else min)(values)
        return self.names[values.index(best)] if values.count(best) == 1 else None


@dataclass(frozen=True)
class Spell:
    """The answers, one after the other, are the result."""

    rule: Literal["spell"] = "spell"

    def apply(self, answers: Answers) -> str | None:
        known = [answer for answer in answers if answer is not None]
        return "".join(known) if len(known) == len(answers) else None


@dataclass(frozen=True)
class Compose:
    """Each answer, or the words that stand for it, takes its place in a text.

    Attributes:
        template: Holds "{1}" for the first answer, "{2}" for the second, and so on.
        words: What to write instead of certain answers.
    """

    template: Annotated[str, Field(max_length=200)]
    words: Mapping[str, str]
    rule: Literal["compose"] = "compose"

    def apply(self, answers: Answers) -> str | None:
        text = self.template
        for number, answer in enumerate(answers, 1):
            if answer is not None:
                text = text.replace(f"{{{number}}}", self.words.get(answer, answer))
        return None if "{" in text else text


@dataclass(frozen=True)
class Common:
    """Each answer lists names ("A, B and C"); the result is the one name that all of them share.

    An answer that is not known excludes no name, so there may then be more than one left.
    """

    rule: Literal["common"] = "common"

    def apply(self, answers: Answers) -> str | None:
        lists = [set(re.split(", | and ", answer)) for answer in answers if answer is not None]
        shared = set.intersection(*lists) if lists else set()
        return shared.pop() if len(shared) == 1 else None


@dataclass(frozen=True)
class Path:
    """Each answer says where one leads from a certain place; the result is where one ends that begins at `start`.

    Attributes:
        start: The place at the beginning.
        places: The places that the answers are about, each once; all of them must be passed.
    """

    start: str
    places: tuple[str, ...]
    rule: Literal["path"] = "path"

    def apply(self, answers: Answers) -> str | None:
        leads = dict(zip(self.places, answers, strict=False))
        place: str | None = self.start
        while place in leads:
            place = leads.pop(place)
        return None if leads or len(answers) != len(self.places) else place


Rule = Annotated[Sum | Extreme | Spell | Compose | Common | Path, Field(discriminator="rule")]


def _number(answers: Answers, step: int) -> int | None:
    answer = answers[step] if 0 <= step < len(answers) else None
    return int(answer) if answer is not None and _NUMBER.fullmatch(answer) else None
