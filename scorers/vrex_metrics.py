"""V-REX: averages over categories, recovery, accuracy by steps, and what only several models together can tell.

All figures are per cent, over samples of one task. The published average is the mean of the four categories, each with
the same weight, whatever their numbers of samples.
"""

from __future__ import annotations

import math
import reprlib
import statistics
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Literal, TypeVar

from condchain_tasks.scorers.statistics import clustered_standard_error, mean

_T = TypeVar("_T")
_K = TypeVar("_K", bound=Hashable)
Difficulty = Literal["easy", "moderate", "hard"]

CATEGORIES = ("deduction", "guessing", "navigation", "retrieval")
DIFFICULTIES: tuple[Difficulty, ...] = ("easy", "moderate", "hard")

SHARED = 0.75
"""The share of models that have to fail a step for its failure to be shared."""

_HARD_BELOW = 0.5
_MODES = ("planning", "following", "direct")
_SETS = ("standard", "hard")
_MAX_STEPS = 6
_MAX_OPTIONS = 8


@dataclass(frozen=True)
class Step:
    """One step that was asked.

    Attributes:
        gold: Number of the right option, from 0.
        choice: Number of the option that was chosen; None if none could be read or there is no such option.
        compliant: Whether the reply had the form that was asked for.
    """

    gold: int
    choice: int | None
    compliant: bool

    @property
    def right(self) -> bool:
        """Whether the right option was chosen."""
        return self.choice == self.gold


@dataclass(frozen=True)
class Sample:
    """One scored chain, or one scored step of it.

    Attributes:
        id: The chain's; the same in every mode.
        category: One of `CATEGORIES`.
        mode: "planning", "following" or "direct".
        set: "standard" or "hard".
        blind: Whether the picture was withheld.
        step: With a teacher-forced history the step that was asked, from 1; else 0.
        length: Steps of the chain, the final question included.
        score: 100 if the final question (teacher-forced: this step) was answered right, else 0.
        ability: Per cent of the intermediate steps that are right; None if only one step was asked.
        wrong_steps: The number of intermediate steps that are not; None likewise.
        failed: Whether a request failed.
        steps: Those that were asked; fewer than `length` if a request failed.
    """

    id: str
    category: str
    mode: str
    set: str
    blind: bool
    step: int
    length: int
    score: float
    ability: float | None
    wrong_steps: int | None
    failed: bool
    steps: tuple[Step, ...]

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Sample:
        """Reads a record of the sample log.

        Args:
            record: What a task logs for one sample under "final_acc", or under "step_acc" if it is teacher-forced.
                Other fields are ignored.

        Raises:
            ValueError: A field is missing or has no value that it can have.
        """
        try:
            return _read(record)
        except ValueError as error:
            name = reprlib.repr(record.get("id"))
            raise ValueError(f"V-REX record {name}, {error}. Is it from the sample log of a vrex task?") from error

    @property
    def rights(self) -> dict[int, bool]:
        """Whether each step is right, by its number from 1; steps that were not reached are wrong."""
        if self.step:
            return {self.step: self.score > 0}
        if self.mode == "direct":
            return {self.length: self.score > 0}
        pairs = zip_longest(range(1, self.length + 1), self.steps)
        return {number: step is not None and step.right for number, step in pairs}


@dataclass(frozen=True)
class Estimate:
    """A mean.

    Attributes:
        n: Values.
        value: Their mean, per cent; not a number if there are none.
        error: Its standard error; not a number below two values.
    """

    n: int
    value: float
    error: float


@dataclass(frozen=True)
class Row:
    """A mean over the samples that have a number in common.

    Attributes:
        number: Such as that of the step, from 1, or of the wrong steps.
        estimate: The mean.
    """

    number: int
    estimate: Estimate


@dataclass(frozen=True)
class Average:
    """A mean over categories.

    Attributes:
        categories: The mean of each category that has samples, in the order of `CATEGORIES`.
        value: Their mean, per cent; not a number if there are none.
        error: Its standard error; not a number if a category has a single sample.
        missing: Categories without samples. If there are any, the mean is not the published figure.
    """

    categories: Mapping[str, Estimate]
    value: float
    error: float
    missing: tuple[str, ...]


# --- one model


def macro_average(
    values: Sequence[float], categories: Sequence[str], clusters: Sequence[Hashable] | None = None
) -> Average:
    """The mean of the categories' means.

    Args:
        values: One for each sample, per cent.
        categories: Each sample's category.
        clusters: For each value, what it shares with others, such as the chain of a teacher-forced step; if left out,
            values are independent.

    Returns:
        The average. Categories are independent strata: its squared error is the sum of theirs over the square of
        their number.

    Raises:
        ValueError: There are not as many categories, or clusters, as values.
    """
    own = range(len(values)) if clusters is None else clusters
    groups = _grouped(list(zip(values, own, strict=True)), categories)
    means = {name: _estimate(*zip(*groups[name], strict=True)) for name in CATEGORIES if name in groups}
    return Average(
        categories=means,
        value=mean(one.value for one in means.values()),
        error=math.hypot(*(one.error for one in means.values())) / len(means) if means else math.nan,
        missing=tuple(name for name in CATEGORIES if name not in groups),
    )


def linearised_macro_average(values: Sequence[float], categories: Sequence[str]) -> list[float]:
    """Splits the average over categories into one term for each sample, so that a standard error can be had for it.

    With n samples, K categories, and in a sample's category n_k samples of mean m_k, the term of a value x is
    average + sqrt(n (n - 1) / (n_k (n_k - 1))) / K · (x - m_k). The terms' mean is the average, and their plain
    standard error is that of a mean over independent strata, 1/K · sqrt(Σ s_k² / n_k).

    Args:
        values: One for each sample, per cent.
        categories: Each sample's category.

    Returns:
        One term for each sample, per cent. A category of one sample adds nothing to the error, which is too small
        then.

    Raises:
        ValueError: There are not as many categories as values.
    """
    groups = _grouped(values, categories)
    means: dict[str, float] = {name: mean(group) for name, group in groups.items()}
    average: float = mean(means.values())
    n = len(values)

    def term(value: float, name: str) -> float:
        size = len(groups[name])
        scale = math.sqrt(n * (n - 1) / (size * (size - 1))) if size > 1 else 0.0
        return average + scale / len(groups) * (value - means[name])

    return [term(value, name) for value, name in zip(values, categories, strict=True)]


def recovery(samples: Iterable[Sample]) -> Estimate:
    """Right final answers among the samples with at least one wrong intermediate step."""
    return _estimate([sample.score for sample in samples if sample.wrong_steps])


def accuracy_by_wrong_steps(samples: Iterable[Sample]) -> list[Row]:
    """Accuracy on the final question, by the number of wrong intermediate steps; samples of one step have none."""
    return _rows((one.wrong_steps, one.score, one.id) for one in samples if one.wrong_steps is not None)


def accuracy_by_length(samples: Iterable[Sample]) -> list[Row]:
    """Accuracy on the final question (teacher-forced: on all steps), by the length of the chain."""
    return _rows((one.length, one.score, one.id) for one in samples)


def accuracy_by_step(samples: Iterable[Sample]) -> list[Row]:
    """Accuracy at each step, by its number from 1.

    In a chain an error is carried on; with a teacher-forced history each step shows its own difficulty. Late steps are
    those of long chains alone.
    """
    return _rows((number, 100.0 * right, one.id) for one in samples for number, right in one.rights.items())


def gain(acc: float, acc_direct: float) -> float:
    """The relative gain over the final question alone, per cent.

    Args:
        acc: Accuracy on the final question after planning or following.
        acc_direct: The same for the final question alone.

    Returns:
        (acc - acc_direct) / acc_direct, per cent; not a number if acc_direct is 0.
    """
    return 100 * (acc - acc_direct) / acc_direct if acc_direct else math.nan


def format_compliance(samples: Iterable[Sample]) -> Estimate:
    """The replies that had the form that was asked for; the replies of a chain are not independent."""
    replies = [(100.0 * step.compliant, sample.id) for sample in samples for step in sample.steps]
    return _estimate([value for value, _ in replies], [chain for _, chain in replies])


# --- several models


def difficulties(models: Mapping[str, Iterable[Sample]]) -> dict[str, Difficulty]:
    """How difficult samples are for a set of models.

    Easy: every model is right at every step. Hard: some step is wrong for every model, or less than half of all steps
    of all models are right. Else moderate. The final question is a step like the others.

    Args:
        models: Each model's samples of one task.

    Returns:
        For each sample that all models have, by id.

    Raises:
        ValueError: A model has a sample twice.
    """
    found: dict[str, Difficulty] = {}
    for name, by_step in _in_common(models).items():
        if all(map(all, by_step.values())):
            found[name] = "easy"
        elif not all(map(any, by_step.values())) or mean(map(mean, by_step.values())) < _HARD_BELOW:
            found[name] = "hard"
        else:
            found[name] = "moderate"
    return found


def shared_failures(models: Mapping[str, Iterable[Sample]]) -> list[Row]:
    """How often a failure is shared: the steps that at least 75 per cent of the models fail, by step number.

    Args:
        models: Each model's samples of one task.

    Returns:
        For each step number, of the samples that all models have, the share of such steps.

    Raises:
        ValueError: A model has a sample twice.
    """
    return _rows(
        (number, 100.0 * (1 - mean(rights) >= SHARED), name)
        for name, by_step in _in_common(models).items()
        for number, rights in by_step.items()
    )


def correlation(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Pearson's correlation across models, such as of ability with accuracy on the final question alone.

    Returns:
        In -1..1; not a number below three models, of which two always lie on a line, or if all have the same value.

    Raises:
        ValueError: The two are not equally long.
    """
    if len(xs) != len(ys):
        raise ValueError(f"Each model has one value of both kinds: found {len(xs)} and {len(ys)}.")
    if len(xs) < 3 or len(set(xs)) == 1 or len(set(ys)) == 1:
        return math.nan
    return statistics.correlation(xs, ys)


def following_to_planning(following: float, planning: float) -> float:
    """The ratio of the two abilities; not a number if the ability to plan is 0."""
    return following / planning if planning else math.nan


def _in_common(models: Mapping[str, Iterable[Sample]]) -> dict[str, dict[int, list[bool]]]:
    """For each sample that all models have, by id and step number, whether each model is right."""
    answers = [_by_sample(samples) for samples in models.values()]
    return {
        name: {number: [answer[name][number] for answer in answers] for number in by_step}
        for name, by_step in (answers[0].items() if answers else ())
        if all(answer.get(name, {}).keys() == by_step.keys() for answer in answers)
    }


def _by_sample(samples: Iterable[Sample]) -> dict[str, dict[int, bool]]:
    found: dict[str, dict[int, bool]] = {}
    for sample in samples:
        by_step = found.setdefault(sample.id, {})
        if not by_step.keys().isdisjoint(sample.rights):
            raise ValueError(f"A model has the V-REX sample {reprlib.repr(sample.id)} twice. Are two runs together?")
        by_step.update(sample.rights)
    return found


# --- means


def _grouped(values: Sequence[_T], groups: Sequence[_K]) -> dict[_K, list[_T]]:
    found: defaultdict[_K, list[_T]] = defaultdict(list)
    for value, group in zip(values, groups, strict=True):
        found[group].append(value)
    return found


def _rows(values: Iterable[tuple[int, float, str]]) -> list[Row]:
    """A row for each number, from numbers, values and the samples that they are of."""
    listed = list(values)
    groups = _grouped([(value, name) for _, value, name in listed], [number for number, _, _ in listed])
    return [Row(number, _estimate(*zip(*groups[number], strict=True))) for number in sorted(groups)]


def _estimate(values: Sequence[float], clusters: Sequence[Hashable] | None = None) -> Estimate:
    own = range(len(values)) if clusters is None else clusters
    return Estimate(len(values), mean(values), clustered_standard_error(values, own))


# --- records


def _read(record: Mapping[str, Any]) -> Sample:
    length = _whole(record, "length", 2, _MAX_STEPS)
    mode = _one_of(record, "mode", _MODES)
    step = _whole(record, "step", 0, length)
    failed = _one_of(record, "failed", (False, True))
    chained = mode != "direct" and not step
    return Sample(
        id=_text(record, "id"),
        category=_one_of(record, "category", CATEGORIES),
        mode=mode,
        set=_one_of(record, "set", _SETS),
        blind=_one_of(record, "blind", (False, True)),
        step=step,
        length=length,
        score=_one_of(record, "score", (0.0, 100.0)),
        ability=_per_cent(record, "ability") if chained else None,
        wrong_steps=_whole(record, "wrong_steps", 0, length - 1) if chained else None,
        failed=failed,
        steps=_steps(record, length if chained else 1, failed),
    )


def _steps(record: Mapping[str, Any], asked: int, failed: bool) -> tuple[Step, ...]:
    steps = _value(record, "steps")
    if not isinstance(steps, list) or len(steps) > asked or (len(steps) < asked and not failed):
        raise _fault("steps", f"a list of {asked}", steps)
    return tuple(_step(number, step) for number, step in enumerate(steps, start=1))


def _step(number: int, step: object) -> Step:
    if not isinstance(step, Mapping):
        raise _fault(f"steps, step {number}", "an object", step)
    try:
        return Step(
            gold=_whole(step, "gold", 0, _MAX_OPTIONS - 1),
            choice=None if _value(step, "choice") is None else _whole(step, "choice", 0, _MAX_OPTIONS - 1),
            compliant=_one_of(step, "compliant", (False, True)),
        )
    except ValueError as error:
        raise ValueError(f"step {number}, {error}") from error


def _text(record: Mapping[str, Any], field: str) -> str:
    value = _value(record, field)
    if not isinstance(value, str):
        raise _fault(field, "text", value)
    return value


def _one_of(record: Mapping[str, Any], field: str, choices: Sequence[_T]) -> _T:
    value = _value(record, field)
    if value not in choices:
        raise _fault(field, f"one of {', '.join(map(repr, choices))}", value)
    return choices[choices.index(value)]


def _whole(record: Mapping[str, Any], field: str, low: int, high: int) -> int:
    value = _value(record, field)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise _fault(field, f"a whole number in {low}..{high}", value)
    return value


def _per_cent(record: Mapping[str, Any], field: str) -> float:
    value = _value(record, field)
    if not isinstance(value, int | float) or not 0 <= value <= 100:
        raise _fault(field, "a number in 0..100", value)
    return float(value)


def _value(record: Mapping[str, Any], field: str) -> Any:
    if field not in record:
        raise ValueError(f"field {field} is missing")
    return record[field]


def _fault(field: str, expected: str, found: object) -> ValueError:
    return ValueError(f"field {field}: expected {expected}, found {reprlib.repr(found)}")
