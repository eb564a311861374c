"""MM-CondChain's replies as arrays, and every figure of them that a report shows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from condchain_tasks.report import estimates
from condchain_tasks.report.estimates import Array, Derived, Flags, Key, harmonic_mean
from condchain_tasks.report.evaluations import Evaluation
from condchain_tasks.report.model import Value

PATHS = ("true", "false")
FINAL_QUESTION = "final question"
EXITS = ("too early", "there, right option", "there, wrong option", "too late", FINAL_QUESTION, "no label")
"""Where a reply leaves the chain, relative to where it should."""

OUTCOMES: Mapping[str, tuple[bool, bool]] = {
    "both right": (True, True),
    "only true path": (True, False),
    "only false path": (False, True),
    "neither": (False, False),
}
"""Of a pair: whether the true path is right, and whether the false one is."""

SOURCES = ("boxed", "label", "none", "failed")
UNKNOWN = "unknown"
FINAL, NONE = -1, 0

_LABEL = re.compile(r"([A-Z])\d+")


@dataclass(frozen=True)
class Replies:
    """Scored replies, one entry each.

    Attributes:
        correct: 0 or 100, by the strict reading.
        lenient: The same by the lenient one.
        is_true: Whether the path is the true one.
        domain: "natural", "chart", "gui" or "gui_chrono".
        pair: Numbers of the pairs, from 0.
        name: The pairs' names, with their domain.
        layer: The layer where the false path stops, from 1; 0 if unknown.
        depth: Conditions; 0 if unknown.
        complexity: "simple", "complex", "mixed" or "unknown".
        exit: The layer whose question was answered, from 1; `FINAL` for the final question, `NONE` for no label.
        should_exit: The same for the right answer; `NONE` if no option is right.
        final: The number of the final question's letter; 0 if the right answer to it is no label.
        source: One of `SOURCES`.
        flags: Why figures of them must be taken with care.
    """

    correct: NDArray[np.float64]
    lenient: NDArray[np.float64]
    is_true: NDArray[np.bool_]
    domain: NDArray[np.object_]
    pair: NDArray[np.int64]
    name: NDArray[np.object_]
    layer: NDArray[np.int64]
    depth: NDArray[np.int64]
    complexity: NDArray[np.object_]
    exit: NDArray[np.int64]
    should_exit: NDArray[np.int64]
    final: NDArray[np.int64]
    source: NDArray[np.object_]
    flags: Flags

    def where(self, chosen: NDArray[Any]) -> Replies:
        """Those that a mask, or a list of places, picks."""
        return replace(self, **{name: getattr(self, name)[chosen] for name in _ARRAYS})

    @property
    def last_layer(self) -> int:
        """The last layer before a final question, and at least the last one where a false path stops."""
        return int(max(self.layer.max(initial=0), self.final.max(initial=1) - 1))

    @cached_property
    def figures(self) -> Mapping[Key, Value]:
        """Every figure that is over replies or pairs, per cent.

        By ("true",) and ("false",) for the accuracies, ("F1",), ("lenient F1",), ("gain",) for the difference of the
        two, ("gained",) for replies that only the lenient reading finds right, ("depth", number), ("complexity", kind),
        ("layer", number), ("outcome", kind), ("exit", path, kind) and ("source", kind).
        """
        on = {"true": self.is_true, "false": ~self.is_true}
        columns: dict[Key, Array] = {}
        derived: dict[Key, Derived] = {}
        for path, mask in on.items():
            columns[path,] = np.where(mask, self.correct, np.nan)
            columns["lenient", path] = np.where(mask, self.lenient, np.nan)
            for kind, exit_mask in zip(EXITS, self._exits(), strict=True):
                columns["exit", path, kind] = np.where(mask, 100.0 * exit_mask, np.nan)
        derived["F1",] = Derived((("true",), ("false",)), harmonic_mean)
        derived["lenient F1",] = Derived((("lenient", "true"), ("lenient", "false")), harmonic_mean)
        four = (("lenient", "true"), ("lenient", "false"), ("true",), ("false",))
        derived["gain",] = Derived(four, _difference_of_path_f1, times=2)
        columns["gained",] = 100.0 * (self.lenient > self.correct)
        for source in SOURCES:
            columns["source", source] = 100.0 * (self.source == source)
        for what, groups in (("depth", _numbers(self.depth)), ("complexity", self.complexity)):
            for group in np.unique(groups):
                for path, mask in on.items():
                    columns[what, group, path] = np.where(mask & (groups == group), self.correct, np.nan)
                derived[what, group] = Derived(((what, group, "true"), (what, group, "false")), harmonic_mean)
        layers = _numbers(self.layer)
        for layer in np.unique(layers):
            columns["layer", layer] = np.where(on["false"] & (layers == layer), self.correct, np.nan)
        columns |= self._outcomes()
        return estimates.estimate_all(columns, self.pair, self.flags, derived)

    @cached_property
    def left(self) -> Mapping[Key, Value]:
        """Where false paths that should be left at a layer are left, per cent.

        By layer and exit: a number, `FINAL_QUESTION` or "no layer".
        """
        exits = {str(layer): self.exit == layer for layer in range(1, self.last_layer + 1)}
        exits[FINAL_QUESTION] = self.exit == FINAL
        exits["no layer"] = (self.exit == NONE) | (self.exit > self.last_layer)
        columns: dict[Key, Array] = {
            (str(layer), name): np.where(~self.is_true & (self.layer == layer), 100.0 * left, np.nan)
            for layer in np.unique(self.layer[~self.is_true & (self.layer > 0)])
            for name, left in exits.items()
        }
        return estimates.estimate_all(columns, self.pair, self.flags) if columns else {}

    def _exits(self) -> tuple[NDArray[np.bool_], ...]:
        """For each of `EXITS`, which replies leave there."""
        there = (self.exit == self.should_exit) & ((self.exit != NONE) | (self.correct > 0))
        final = (self.exit == FINAL) & ~there
        labelled = (self.exit > NONE) & ~there
        last = np.where(self.should_exit == FINAL, self.final, self.should_exit)
        early = labelled & ((last == NONE) | (self.exit < last))
        return (
            early,
            there & (self.correct > 0),
            there & (self.correct == 0),
            labelled & ~early,
            final,
            (self.exit == NONE) & ~there,
        )

    def _outcomes(self) -> dict[Key, Array]:
        """Of each pair of which both paths were answered, at the reply to its true path."""
        of_pair = np.full((2, self.pair.max(initial=-1) + 1), np.nan)
        of_pair[self.is_true.astype(int), self.pair] = self.correct
        on_false, on_true = of_pair[:, self.pair]
        counted = self.is_true & ~np.isnan(on_false)
        return {
            ("outcome", kind): np.where(counted, 100.0 * (((on_true > 0) == t) & ((on_false > 0) == f)), np.nan)
            for kind, (t, f) in OUTCOMES.items()
        }


_ARRAYS = tuple(name for name in Replies.__dataclass_fields__ if name != "flags")


def replies_of(one: Evaluation, domain: str, flags: Flags) -> Replies:
    """An evaluation's replies.

    Args:
        one: Of MM-CondChain.
        domain: "natural", "chart", "gui" or "gui_chrono".
        flags: See `Replies`.
    """
    columns = one.columns
    pairs, codes = np.unique(columns["pair"], return_inverse=True)
    place = domain.removesuffix("_chrono")  # the pairs are the same
    names = np.array([f"{one.data} {place} {one.names['pair'][pair]}" for pair in pairs], dtype=object)
    final = _letters(one, "gold_true")
    given, gold = (
        np.where((letter == final) & (letter > 0), FINAL, letter)
        for letter in (_letters(one, "pred"), _letters(one, "gold"))
    )
    source = one.strings("pred_source")
    source[columns["failed"]] = "failed"
    return Replies(
        correct=columns["correct"],
        lenient=columns["correct_lenient"],
        is_true=one.strings("path") == "true",
        domain=np.full(one.n, domain, dtype=object),
        pair=codes,
        name=names[codes],
        layer=columns["diverge_layer"],
        depth=columns["depth"],
        complexity=one.strings("complexity"),
        exit=given,
        should_exit=gold,
        final=final,
        source=source,
        flags=flags,
    )


def together(parts: Iterable[Replies]) -> Replies:
    """Replies of several domains, at least one; their pairs get new numbers."""
    listed = list(parts)
    starts = np.cumsum([0, *(part.pair.max(initial=-1) + 1 for part in listed)])
    columns = {name: np.concatenate([getattr(part, name) for part in listed]) for name in _ARRAYS}
    columns["pair"] = np.concatenate([part.pair + start for part, start in zip(listed, starts, strict=False)])
    return replace(listed[0], **columns, flags=estimates.joined(part.flags for part in listed))


def aligned(a: Replies, b: Replies) -> tuple[Replies, Replies]:
    """The replies to what both answered, in the same order."""
    keys = [one.name + np.where(one.is_true, " true", " false").astype(object) for one in (a, b)]
    in_a, in_b = estimates.in_common(*keys)
    return a.where(in_a), b.where(in_b)


def rank(group: str) -> tuple[int, int, str]:
    """Sorts groups: numbers in their order, then words, and what is unknown last."""
    if group == UNKNOWN:
        return 2, 0, group
    return (0, int(group), "") if group.isdecimal() else (1, 0, {"simple": "1", "mixed": "2"}.get(group, group))


def groups_of(parts: Iterable[Replies], what: str) -> Sequence[str]:
    """The groups that some replies have figures of, sorted.

    Args:
        parts: The replies.
        what: "depth", "complexity" or "layer".
    """
    return sorted({key[1] for part in parts for key in part.figures if key[0] == what and len(key) == 2}, key=rank)


def _letters(one: Evaluation, column: str) -> NDArray[np.int64]:
    """The number of each label's letter, A = 1; 0 for what is no label."""
    numbers = [ord(match[1]) - ord("A") + 1 if (match := _LABEL.fullmatch(name)) else 0 for name in one.names[column]]
    of_sample: NDArray[np.int64] = np.array(numbers, dtype=np.int64)[one.columns[column]]
    return of_sample


def _numbers(values: NDArray[np.int64]) -> NDArray[np.object_]:
    return np.where(values > 0, values.astype(str).astype(object), UNKNOWN)


def _difference_of_path_f1(means: NDArray[np.float64]) -> NDArray[np.float64]:
    return harmonic_mean(means[:, :2]) - harmonic_mean(means[:, 2:])
