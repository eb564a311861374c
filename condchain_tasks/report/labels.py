"""Names that tell the runs of one model apart: what differs between them, and nothing else."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from condchain_tasks.report.settings import Settings

_MAX_VALUE = 60
_MAX_LABEL = 200
_SEEDS = ("--seed", "seed")
_REQUESTS = "requests"


@dataclass(frozen=True)
class Named:
    """What a label is made of.

    Attributes:
        model: The model's whole name.
        scope: The benchmark, and whether the data is synthetic: labels are compared within it.
        task: The task's name.
        date: The run's.
        settings: Of this task.
        prompts: Hashes by name, of all the run's prompts of the benchmark.
        data: Hashes by name of the data, of all the run's tasks of the benchmark.
        requests: Hashes of what is sent, by task, of all these tasks.
    """

    model: str
    scope: tuple[str, bool]
    task: str
    date: str
    settings: Settings
    prompts: Mapping[str, str]
    data: Mapping[str, str]
    requests: Mapping[str, str]


def short_names(models: Iterable[str]) -> dict[str, str]:
    """Names for models: the last two parts of a path, or all of it where that would be the name of two.

    Args:
        models: Whole names.

    Returns:
        By whole name.
    """
    whole = set(models)
    short = {model: "/".join(model.rstrip("/").split("/")[-2:]) for model in whole}
    counts = Counter(short.values())
    return {model: name if counts[name] == 1 else model for model, name in short.items()}


class Label(NamedTuple):
    """How a run is called.

    Attributes:
        name: Its own name.
        family: The name without its seeds: runs that share it differ by their seeds alone.
    """

    name: str
    family: str

    def with_end(self, text: str) -> Label:
        """The same with more behind it."""
        return Label(self.name + text, self.family + text)


def make_labels(runs: Sequence[Named]) -> list[Label]:
    """Labels, of which no task has one name twice.

    The model's arguments are compared over all its runs, generation settings, judge, prompts and data over those of one
    benchmark; prompts and data by name, since its tasks have different ones by design. Thus a run has one label in all
    tasks of a benchmark, and tasks with different settings never share one.

    Args:
        runs: One for each evaluation.

    Returns:
        In their order: the model's short name, and in parentheses what differs.
    """
    short = short_names(one.model for one in runs)
    models: defaultdict[str, list[Named]] = defaultdict(list)
    families: defaultdict[_Family, list[Named]] = defaultdict(list)
    for one in runs:
        if one.settings.is_known:
            models[one.model].append(one)
            families[one.model, one.scope].append(one)
    arguments = {model: _differing([plain(one.settings.arguments) for one in of]) for model, of in models.items()}
    told = {family: _told(of, arguments[family[0]]) for family, of in families.items()}
    labels = [_label(short[one.model], one, told.get((one.model, one.scope))) for one in runs]
    # Values that were cut, or a model that is called like another with its settings: one name for two.
    identities = [_identity(one, told.get((one.model, one.scope))) for one in runs]
    bearers: defaultdict[str, set[str]] = defaultdict(set)
    for label, identity in zip(labels, identities, strict=True):
        bearers[label.name].add(identity)
    labels = [
        label if len(bearers[label.name]) == 1 else label.with_end(f" #{identity}")
        for label, identity in zip(labels, identities, strict=True)
    ]
    counts = Counter((one.task, label.name) for one, label in zip(runs, labels, strict=True))
    labels = [
        label if counts[one.task, label.name] == 1 else label.with_end(f", run {one.date}")
        for one, label in zip(runs, labels, strict=True)
    ]
    seen: Counter[tuple[str, str]] = Counter()
    for place, (one, label) in enumerate(zip(runs, labels, strict=True)):
        seen[one.task, label.name] += 1
        if (number := seen[one.task, label.name]) > 1:
            labels[place] = label.with_end(f" ({number})")
    return labels


def plain(values: str) -> dict[str, str]:
    """Settings that are kept as JSON, each as a short text.

    Args:
        values: See `Settings`; "" for none.
    """
    loaded = json.loads(values or "{}")
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in loaded.items()}


_Family = tuple[str, tuple[str, bool]]  # a model's whole name, and a benchmark


class _Told(NamedTuple):
    """What tells the runs of a family apart: settings, and the prompts, data and tasks whose hashes differ."""

    settings: set[str]
    prompts: set[str]
    data: set[str]
    requests: set[str]


def _told(family: Sequence[Named], arguments: set[str]) -> _Told:
    hashes = ([one.prompts for one in family], [one.data for one in family], [one.requests for one in family])
    told = _Told(arguments, *map(_in_conflict, hashes))
    facets = [_facets(one, told) for one in family]
    differing = arguments | _differing(facets)
    # What is sent differs wherever a prompt does, and need not be told twice.
    rest = differing - {_REQUESTS}
    told_by_rest = defaultdict(set)
    for facet in facets:
        told_by_rest[tuple(facet.get(name) for name in sorted(rest))].add(facet.get(_REQUESTS))
    is_needed = any(len(values) > 1 for values in told_by_rest.values())
    return told._replace(settings=differing if is_needed else rest)


def _label(model: str, one: Named, told: _Told | None) -> Label:
    if told is None:  # nobody's settings are known
        return Label(model, model)
    if not one.settings.is_known:
        return Label(*2 * [f"{model} (settings unknown)"])
    facets = _telling(one, told)
    rest = {name: value for name, value in facets.items() if name not in _SEEDS}
    return Label(*(_with_facets(model, listed) for listed in (facets, rest)))


def _identity(one: Named, told: _Told | None) -> str:
    """Six digits that stand for the model, and for all that tells its runs apart, at its whole length."""
    facets = _telling(one, told) if told and one.settings.is_known else None
    return hashlib.sha256(json.dumps([one.model, facets], sort_keys=True).encode()).hexdigest()[:6]


def _telling(one: Named, told: _Told) -> dict[str, str]:
    """What tells a run from its family, at its whole length."""
    return {name: value for name, value in _facets(one, told).items() if name in told.settings}


def _with_facets(model: str, facets: Mapping[str, str]) -> str:
    listed = ", ".join(f"{name}={value[:_MAX_VALUE]}" for name, value in facets.items())
    return f"{model} ({listed[:_MAX_LABEL]})" if listed else model


def _facets(one: Named, told: _Told) -> dict[str, str]:
    """What may tell a run from others, by name; what is empty is left out."""
    found = {**plain(one.settings.generation), **plain(one.settings.arguments), "judge": one.settings.judge}
    found |= {f"judge {name}": value for name, value in plain(one.settings.judge_settings).items()}
    found["server"] = one.settings.server
    found[_REQUESTS] = _digest(one.requests, told.requests)
    found["prompts"] = _digest(one.prompts, told.prompts)
    found["data"] = _digest(one.data, told.data)
    return {name: value for name, value in found.items() if value}


def _differing(facets: Sequence[Mapping[str, str]]) -> set[str]:
    """Names whose values are not the same everywhere, or that are not everywhere."""
    names = {name for facet in facets for name in facet}
    return {name for name in names if len({facet.get(name) for facet in facets}) > 1}


def _in_conflict(hashes: Sequence[Mapping[str, str]]) -> set[str]:
    """Names that have two values."""
    names = {name for one in hashes for name in one}
    return {name for name in names if len({one[name] for one in hashes if name in one}) > 1}


def _digest(hashes: Mapping[str, str], names: set[str]) -> str:
    """Eight digits for those hashes that have a say: the hash itself if there is one, else a hash of them."""
    listed = sorted((name, digest) for name, digest in hashes.items() if name in names)
    if len(listed) < 2:
        return "".join(digest[:8] for _, digest in listed)
    return hashlib.sha256(json.dumps(listed).encode()).hexdigest()[:8]
