"""Single samples for a report's browser: a bounded choice, and what the log says of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from condchain_tasks.data.errors import DataError
from condchain_tasks.data.images import is_picture
from condchain_tasks.data.sources import Source
from condchain_tasks.report.evaluations import Evaluation
from condchain_tasks.report.model import Item
from condchain_tasks.report.runs import BYTE_ORDER_MARK, MAX_LINE_BYTES, read_results
from condchain_tasks.tasks.ccrv.samples import record_of

MAX_ITEMS = 20_000
MAX_TEXT = 4_000
"""Characters of a text in the browser."""

_WRONG, _UNKNOWN, _RIGHT = range(3)


def choose(evaluations: Sequence[Evaluation], most: int = MAX_ITEMS) -> list[NDArray[np.int64]]:
    """Chooses samples: first those that are wrong, then those that lack a verdict, then right ones.

    Where not all can be taken, each stratum (a path, a cell X×Y, a category, of one evaluation) gives as many as any
    other, or all it has, evenly from its beginning to its end.

    Args:
        evaluations: Of any benchmarks.
        most: How many in all.

    Returns:
        For each evaluation the chosen samples' numbers, ascending.
    """
    strata: dict[int, list[tuple[int, NDArray[np.int64]]]] = {_WRONG: [], _UNKNOWN: [], _RIGHT: []}
    for number, one in enumerate(evaluations):
        if one.n:
            stratum, verdict = _stratum(one), _verdict(one)
            for code in np.unique(stratum):
                for level, found in strata.items():
                    members = np.flatnonzero((stratum == code) & (verdict == level))
                    if len(members):
                        found.append((number, members))
    chosen: list[list[NDArray[np.int64]]] = [[np.empty(0, dtype=np.int64)] for _ in evaluations]
    for found in strata.values():
        shares = _shares([len(members) for _, members in found], most)
        most -= sum(shares)
        for (number, members), share in zip(found, shares, strict=True):
            chosen[number].append(members[np.arange(share) * len(members) // max(share, 1)])
    return [np.sort(np.concatenate(parts)) for parts in chosen]


def read_items(evaluations: Sequence[Evaluation], most: int = MAX_ITEMS) -> tuple[tuple[Item, ...], int]:
    """The browser's items.

    Args:
        evaluations: Of any benchmarks; the files of their samples are read once more.
        most: How many in all.

    Returns:
        The items, and how many samples are not among them.

    Raises:
        OSError: A file of samples is gone.
    """
    found: list[Item] = []
    roots: dict[Path, dict[str, Any]] = {}
    for one, places in zip(evaluations, choose(evaluations, most), strict=True):
        if len(places):
            pictures = _Pictures.of(one, roots)
            verdict, keys = _verdict(one), one.strings("key")
            for place, sample, record in _samples(one, places):
                right = {_WRONG: False, _UNKNOWN: None, _RIGHT: True}[int(verdict[place])]
                found.append(_described(_Logged(one, keys[place], right, sample, record, pictures)))
    return tuple(found), sum(one.n for one in evaluations) - len(found)


# --- the choice


def _verdict(one: Evaluation) -> NDArray[np.int64]:
    """Whether each sample is wrong, right, or cannot be said to be either."""
    if one.benchmark == "ccrv":
        dcr, csr = one.columns["dcr"], one.columns["csr"]
        csr = np.where(one.strings("y") == "base", 100.0, csr)
        wrong, right = (dcr < 100) | (csr < 100), (dcr == 100) & (csr == 100)
        return np.where(wrong, _WRONG, np.where(right, _RIGHT, _UNKNOWN))
    score = one.columns["correct" if one.benchmark == "condchain" else "score"]
    return np.where(score > 0, _RIGHT, _WRONG)


def _stratum(one: Evaluation) -> NDArray[np.int64]:
    if one.benchmark == "ccrv":
        codes: NDArray[Any] = one.columns["x"] * len(one.names["y"]) + one.columns["y"]
        return codes
    codes = one.columns["path" if one.benchmark == "condchain" else "category"]
    return codes


def _shares(sizes: Sequence[int], most: int) -> list[int]:
    """Shares of a total, as equal as sizes allow."""
    shares = [0] * len(sizes)
    left = most
    for rank, place in enumerate(sorted(range(len(sizes)), key=lambda place: sizes[place])):
        shares[place] = min(sizes[place], left // (len(sizes) - rank))
        left -= shares[place]
    return shares


# --- the log


@dataclass(frozen=True)
class _Logged:
    """A sample as it was logged.

    Attributes:
        evaluation: What it is a sample of.
        key: Its key.
        right: Whether it counts as right; None if it cannot be said.
        sample: The line of the log.
        record: What the task logged of it.
        pictures: Where its pictures are.
    """

    evaluation: Evaluation
    key: str
    right: bool | None
    sample: Mapping[str, Any]
    record: Mapping[str, Any]
    pictures: _Pictures


def _samples(one: Evaluation, places: NDArray[np.int64]) -> Iterator[tuple[int, Mapping[str, Any], Mapping[str, Any]]]:
    """The chosen samples' numbers, lines and records; without those that are gone since the columns were read."""
    keys = one.strings("key")
    with Path(one.path).open("rb") as file:
        for place in places:
            file.seek(one.columns["offset"][place])
            try:
                sample = json.loads(file.readline(MAX_LINE_BYTES).removeprefix(BYTE_ORDER_MARK))
                record = _record(one.benchmark, sample)
                is_same = _key(one.benchmark, record) == keys[place]
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                continue
            if is_same:
                yield int(place), sample, record


def _record(benchmark: str, sample: Mapping[str, Any]) -> Mapping[str, Any]:
    if benchmark == "ccrv":
        found = record_of(sample)
    else:
        names = ("path_f1",) if benchmark == "condchain" else ("final_acc", "step_acc")
        found = next((sample[name] for name in names if name in sample), None)
    if not isinstance(found, dict):
        raise KeyError("record")
    return found


def _key(benchmark: str, record: Mapping[str, Any]) -> str:
    """The same as in the columns."""
    if benchmark == "condchain":
        return f"{record['pair']}/{record['path']}"
    if benchmark == "ccrv":
        return f"{record['key']}/{record['y']}"
    return f"{record['id']}/{record['step']}" if record["step"] else str(record["id"])


# --- pictures


@dataclass(frozen=True)
class _Pictures:
    """A run's pictures, as far as they are on this machine.

    Attributes:
        source: The data that the run says it used; None if it is not here.
    """

    source: Source | None

    @classmethod
    def of(cls, one: Evaluation, results: dict[Path, dict[str, Any]]) -> _Pictures:
        """From the results beside an evaluation's samples; `results` holds those that were read before."""
        samples = Path(one.path)
        path = samples.with_name(samples.name.partition("_samples_")[0] + "_results.json")
        if path not in results:
            try:
                results[path] = read_results(path)
            except DataError:
                results[path] = {}  # a run that did not come to its end; its samples are sound
        try:
            root = Path(results[path]["configs"][one.task]["metadata"]["data"]["root"])
            is_here = root.is_absolute() and root.is_dir()
        except (KeyError, TypeError, ValueError, OSError):
            return cls(None)
        return cls(Source(root, "folder") if is_here else None)

    def first(self, images: object) -> str:
        """The absolute path of a record's first picture; "" if it is not inside the data's folder."""
        name = images[0] if isinstance(images, list) and images else images
        if self.source is None or not isinstance(name, str) or not name or "\0" in name:
            return ""
        relative = PurePosixPath(name)
        if relative.is_absolute() or ".." in relative.parts:
            return ""
        path = self.source.root / relative
        try:
            if path.is_dir():
                path = min((one for one in path.iterdir() if is_picture(one.name)), default=path)
            inside = path.resolve().is_relative_to(self.source.boundary)
            return str(path) if inside and is_picture(path.name) and path.is_file() else ""
        except OSError:
            return ""


# --- what is shown


def _described(one: _Logged) -> Item:
    try:
        return _DESCRIBE[one.evaluation.benchmark](one)
    except (KeyError, TypeError, ValueError, AttributeError):  # a log with fewer fields than are shown here
        return _item(one, {}, ())


def _condchain(one: _Logged) -> Item:
    record = one.record
    details = (
        ("answer", f"{record['pred']} (read from: {record['pred_source']})"),
        ("right answer", record["gold"]),
        ("lenient reading", record["pred_lenient"]),
        ("path", f"{record['path']}; the false path diverges at layer {record['diverge_layer'] or '?'}"),
        ("right on the true path", record["gold_true"]),
        ("right on the false path", record["gold_false"]),
        ("conditions", f"{record['depth'] or '?'}, {record['complexity']}"),
        ("pictures", record.get("frames", 1)),
    )
    tags = {
        "domain": record["domain"],
        "path": record["path"],
        "diverges at": f"layer {record['diverge_layer'] or '?'}",
        "read from": "failed" if record["failed"] else record["pred_source"],
    }
    return _item(one, tags, details)


def _ccrv(one: _Logged) -> Item:
    record = one.record
    verdicts = (f"{name}: {record[name]}" for name in ("r1", "r2", "r3") if record.get(name) is not None)
    details = (
        ("constraint", record["spec"]),
        ("reference", record["reference"]),
        ("reference under the constraint", record["adapted"]),
        ("rationale", record["rationale"]),
        *((f"rubric L{layer}", record[f"rubric_l{layer}"]) for layer in (1, 2, 3)),
        ("judge's verdict", ", ".join(verdicts) or "missing"),
        ("judge's reason", record["dcr_reasoning"]),
        ("DCR, %", "missing" if record.get("score") is None else f"{record['score']:.1f}"),
        ("constraint kept", {0: "no", 1: "yes"}.get(record["csr"], "–")),
        ("why", record["csr_reason"]),
        ("coordinates read as", record.get("csr_reading") or ""),
    )
    tags = {
        "cell": f"{record['x']} {record['y']}",
        "dimension": record["x"],
        "constraint": record["y"],
        "control": record["setting"],
        "constraint kept": {0: "no", 1: "yes"}.get(record["csr"], "unknown"),
    }
    return _item(one, tags, details)


def _vrex(one: _Logged) -> Item:
    record = one.record
    details = [("final question", record["final_question"])]
    for number, step in enumerate(record["steps"], start=record["step"] or 1):
        marks = {step["gold"]: "  ← right"}
        marks[step["choice"]] = f"  ← chosen{marks.get(step['choice'], '')}"
        listed = "\n".join(
            f"{_letter(place)} {option}{marks.get(place, '')}" for place, option in enumerate(step["options"])
        )
        unread = "" if step["choice"] is not None else "\n(no choice could be read)"
        details.append((f"step {number}", f"{step['question']}\n{listed}{unread}\nrule: {step['rule'] or 'none'}"))
    tags = {
        "category": record["category"],
        "scenario": record["scenario"],
        "mode": record["mode"],
        "wrong steps": "–" if record["wrong_steps"] is None else str(record["wrong_steps"]),
    }
    return _item(one, tags, details)


_DESCRIBE: Mapping[str, Callable[[_Logged], Item]] = {"condchain": _condchain, "ccrv": _ccrv, "vrex": _vrex}


def _item(one: _Logged, tags: Mapping[str, object], details: Iterable[tuple[str, object]]) -> Item:
    return Item(
        model=one.evaluation.label,
        task=one.evaluation.task,
        key=one.key,
        right=one.right,
        tags={name: _short(value) for name, value in tags.items()},
        image=one.pictures.first(one.record.get("image")),
        instruction=_short(_instruction(one)),
        reply=_short(_replies(one.sample.get("filtered_resps"))),
        details=tuple((name, _short(value)) for name, value in details if value not in ("", None)),
    )


def _instruction(one: _Logged) -> object:
    """What the model saw. Of a conversation the log has the turns with the right history, which it did not see."""
    is_conversation = isinstance(one.sample.get("filtered_resps"), list) and len(one.sample["filtered_resps"]) > 1
    return one.record.get("final_question", "") if is_conversation else one.sample.get("input", "")


def _replies(found: object) -> str:
    """The reply; of a conversation all replies, numbered."""
    if not isinstance(found, list):
        return str(found)
    if len(found) == 1:
        return str(found[0])
    return "\n\n".join(f"[{number}] {reply}" for number, reply in enumerate(found, start=1))


def _letter(place: int) -> str:
    return f"({chr(ord('A') + place)})" if place < 26 else f"({place + 1})"


def _short(value: object) -> str:
    """A text of bounded length; of a longer one the middle is left out."""
    text = str(value)
    left_out = len(text) - MAX_TEXT
    if left_out <= 0:
        return text
    half = MAX_TEXT // 2
    return f"{text[:half]}\n[{left_out:,} characters are left out here]\n{text[-half:]}"
