"""A sample log as columns: what is kept of each line, and how a file that nobody vouches for is read.

A log has up to a million lines, most of whose bytes a report does not need. Pydantic parses a line and builds only the
fields that are declared here; they go into arrays, and no record is kept.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from pathlib import Path
from sys import intern
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, TypeAdapter, ValidationError
from typing_extensions import NotRequired, TypedDict

from condchain_tasks.report import runs
from condchain_tasks.scorers.replies import Failure

_CHUNK = 1_000
_MAX_LABEL = 100
_COUNTS = "step_count"
_DTYPES: Mapping[type, type] = {str: np.int32, bool: np.bool_, list: np.bool_, int: np.int64, float: np.float64}

_Row = dict[str, Any]

_COMMON = {
    "key": str,
    "offset": int,
    "failed": bool,
    "failure": str,
    "refused": bool,
    "no_answer": bool,
    "truncated": bool,
    "measured": bool,
}

COLUMNS: Mapping[str, Mapping[str, type]] = {
    "condchain": {
        **_COMMON,
        "pair": str,
        "domain": str,
        "path": str,
        "correct": float,
        "correct_lenient": float,
        "gold": str,
        "gold_true": str,
        "gold_false": str,
        "pred": str,
        "pred_source": str,
        "diverge_layer": int,
        "depth": int,
        "complexity": str,
    },
    "ccrv": {
        **_COMMON,
        "item": str,
        "image": str,
        "x": str,
        "y": str,
        "setting": str,
        "l1": float,
        "l2": float,
        "l3": float,
        "dcr": float,
        "csr": float,
        "csr_raw_pixel": float,
        "missing": bool,
        "cached": int,
        "judge_calls": int,
    },
    "vrex": {
        **_COMMON,
        "id": str,
        "category": str,
        "scenario": str,
        "mode": str,
        "set": str,
        "blind": bool,
        "step": int,
        "length": int,
        "wrong_steps": int,
        "score": float,
        "score_lenient": float,
        "ability": float,
        "ability_lenient": float,
        "compliant": float,
        "step_right": list,
    },
}
"""The columns of each benchmark; strings are categorical. Figures are per cent, not a number where there is none.

`key` is unique in a task; `offset` is where its line begins in the file, in bytes. `failure` is one of
`replies.FAILURES`, "" where no request failed, `UNKNOWN_FAILURE` in logs that do not tell; logs that do not tell of
refusals have none. `truncated` says that a reply was cut off: it opens its reasoning and never closes it, or it is as
long as replies were allowed to be, or one token shorter, as with servers that do not count the last one. `measured`
says that the length is known: it cannot be said of a conversation, whose tokens are logged as one sum. CCRV-Bench's
`item` is that of the baseline question, so a constrained form has the `item` of the question that it is compared with;
`cached` counts verdicts that were there already, and like `judge_calls` it is -1 in logs that do not tell. V-REX's
`wrong_steps` is -1 where there are no intermediate steps; `step_right` (bool) holds the steps that were asked, of all
samples one after the other, and beside it stands `step_start` (int, one more than there are samples): sample i's steps
are `step_right[step_start[i]:step_start[i + 1]]`, and those that were not reached are wrong.
"""


UNKNOWN_FAILURE = "unknown"


@dataclass(frozen=True)
class Fault:
    """A kind of line that was left out.

    Attributes:
        text: What is wrong.
        count: How many there are.
        line: The first one, from 1.
    """

    text: str
    count: int
    line: int


@dataclass(frozen=True)
class Columns:
    """The sound samples of a file.

    Attributes:
        arrays: By name, one entry a sample; codes for strings.
        names: By name of a string column: what its codes mean.
        n: Samples.
        faults: What was left out.
    """

    arrays: dict[str, NDArray[Any]]
    names: dict[str, tuple[str, ...]]
    n: int
    faults: tuple[Fault, ...]

    def strings(self, name: str) -> NDArray[np.object_]:
        """A string column's strings, one a sample."""
        found: NDArray[np.object_] = np.array(self.names[name], dtype=object)[self.arrays[name]]
        return found

    @property
    def unsound(self) -> int:
        """Lines that were to be samples of their own and could not be read."""
        return sum(fault.count for fault in self.faults if fault.text != _TWICE)


def read_columns(path: Path, benchmark: str, max_tokens: int | None = None) -> Columns:
    """Reads a sample log, line by line in bounded memory, however long it is.

    Args:
        path: The file.
        benchmark: "condchain", "ccrv" or "vrex".
        max_tokens: The most tokens that a reply could have; None if unknown.

    Returns:
        What is sound in it. Of a document that is there twice the first counts.

    Raises:
        OSError: The file cannot be read.
    """
    parse, to_row = _READERS[benchmark]
    build, faults = _Builder(COLUMNS[benchmark]), _Faults()
    documents: set[int | str] = set()
    keys: set[str] = set()
    for number, offset, line in runs.read_lines(path):
        if line is None:
            faults.add(f"longer than {runs.MAX_LINE_BYTES:,} bytes", number)
            continue
        try:
            sample = parse(line, strict=True)
            row = to_row(sample, max_tokens)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False, include_context=False)[0]
            if first["type"] == "json_invalid":
                faults.add("no JSON, or cut off", number)
            else:
                field = ".".join(part for part in first["loc"] if isinstance(part, str))
                faults.add(f"field {field}: {first['msg']}" if field else first["msg"], number)
            continue
        except _RecordError as error:
            faults.add(str(error), number)
            continue
        document = sample.get("doc_id", row["key"])
        if document in documents or row["key"] in keys:
            faults.add(_TWICE, number)
            continue
        documents.add(document)
        keys.add(row["key"])
        row["offset"] = offset
        build.add(row)
    return build.columns(faults.found())


_TWICE = "the document is there twice, and the first counts"


class _Faults:
    def __init__(self) -> None:
        self._lines: dict[str, list[int]] = {}

    def add(self, text: str, line: int) -> None:
        self._lines.setdefault(text, [line, 0])[1] += 1

    def found(self) -> tuple[Fault, ...]:
        return tuple(Fault(text, count, line) for text, (line, count) in self._lines.items())


class _Codes(dict[str, int]):
    """A number for each string, in the order in which they come."""

    def __missing__(self, value: str) -> int:
        return self.setdefault(value, len(self))


class _Builder:
    """Rows in, arrays out; rows become arrays in chunks, so that few of them are held at a time."""

    def __init__(self, types: Mapping[str, type]) -> None:
        self._types = types
        self._rows: list[_Row] = []
        self._parts: defaultdict[str, list[NDArray[Any]]] = defaultdict(list)
        self._codes = {name: _Codes() for name, of in types.items() if of is str}
        self._n = 0

    def add(self, row: _Row) -> None:
        self._rows.append(row)
        if len(self._rows) == _CHUNK:
            self._flush()

    def columns(self, faults: tuple[Fault, ...]) -> Columns:
        self._flush()
        arrays = {name: np.concatenate(parts) for name, parts in self._parts.items()}
        if _COUNTS in arrays:
            arrays["step_start"] = np.concatenate([[0], np.cumsum(arrays.pop(_COUNTS))])
        names = {name: tuple(map(intern, codes)) for name, codes in self._codes.items()}
        return Columns(arrays, names, self._n, faults)

    def _flush(self) -> None:
        rows, self._rows = self._rows, []
        self._n += len(rows)
        for name, of in self._types.items():
            values = [*map(itemgetter(name), rows)]
            if of is str:
                values = [*map(self._codes[name].__getitem__, values)]
            elif of is list:
                self._parts[_COUNTS].append(np.array(list(map(len, values)), dtype=np.int64))
                values = list(chain.from_iterable(values))
            self._parts[name].append(np.array(values, dtype=_DTYPES[of]))


# --- lines of the log


class _RecordError(ValueError):
    """A record that is valid JSON and not what its task logs."""


_Name = Annotated[str, Field(max_length=2_000)]
_Score = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]
_Number = Annotated[int, Field(ge=0, le=1_000_000)]
_Layer = Annotated[int, Field(ge=0, le=26)]  # they have letters
_Binary = Literal[0, 1]


class _Tokens(TypedDict):
    output_tokens: NotRequired[int | None]


class _Line(TypedDict):
    doc_id: NotRequired[int | str]
    token_counts: NotRequired[list[_Tokens | None] | None]


class _State(TypedDict):
    failed: bool
    no_answer: bool
    failure: NotRequired[Failure | None]
    refused: NotRequired[bool]
    truncated: NotRequired[bool]


class _CondchainRecord(_State):
    pair: _Name
    domain: _Name
    path: Literal["true", "false"]
    score: _Score
    gold: _Name
    gold_true: _Name
    gold_false: _Name
    pred: str
    pred_source: _Name
    diverge_layer: _Layer
    depth: _Layer
    complexity: Literal["simple", "complex", "mixed", "unknown"]


class _Lenient(TypedDict):
    score: _Score


class _CondchainLine(_Line):
    path_f1: _CondchainRecord
    path_f1_lenient: _Lenient


class _CcrvRecord(TypedDict, total=False):
    # The task of all items logs a baseline item's record under `dcr_base` and under `dcr` its picture alone, and the
    # other way round for constrained items: all fields may be missing here, and which of the two is whole shows later.
    key: _Name
    image: _Name
    x: Literal["X1", "X2", "X3", "X4"]
    y: Literal["base", "Y1", "Y2", "Y3", "Y4"]
    setting: _Name
    l1: _Binary | None
    l2: _Binary | None
    l3: _Binary | None
    score: _Score
    csr: _Binary | None
    csr_raw_pixel: _Binary | None
    missing: list[_Name]
    cached: Annotated[list[_Name], Field(max_length=10)]
    judge_calls: _Number
    failed: bool
    no_answer: bool
    failure: Failure | None
    refused: bool
    truncated: bool


class _CcrvLine(_Line):
    dcr: _CcrvRecord
    dcr_base: NotRequired[_CcrvRecord]


class _VrexStep(TypedDict):
    gold: _Number
    choice: _Number | None


class _VrexRecord(_State):
    id: _Name
    category: Literal["deduction", "guessing", "navigation", "retrieval"]
    scenario: _Name
    mode: Literal["planning", "following", "direct"]
    set: _Name
    blind: bool
    step: _Number
    length: Annotated[int, Field(ge=1, le=100)]
    wrong_steps: _Number | None
    score: _Score
    score_lenient: _Score
    ability: _Score | None
    ability_lenient: NotRequired[_Score | None]
    compliant: _Score
    steps: Annotated[list[_VrexStep], Field(max_length=100)]


class _VrexLine(_Line):
    final_acc: NotRequired[_VrexRecord]
    step_acc: NotRequired[_VrexRecord]


def _condchain_row(line: _CondchainLine, max_tokens: int | None) -> _Row:
    record = line["path_f1"]
    return {
        **record,
        "key": f"{record['pair']}/{record['path']}",
        **_state(record, line, max_tokens),
        "correct": record["score"],
        "correct_lenient": line["path_f1_lenient"]["score"],
        "pred": record["pred"][:_MAX_LABEL],
    }


def _ccrv_row(line: _CcrvLine, max_tokens: int | None) -> _Row:
    record = line["dcr"] if "key" in line["dcr"] else line.get("dcr_base", line["dcr"])
    try:
        return {
            "key": f"{record['key']}/{record['y']}",
            "failed": record["failed"],
            "no_answer": record["no_answer"],
            **_state(record, line, max_tokens),
            "item": record["key"],
            "image": record["image"],
            "x": record["x"],
            "y": record["y"],
            "setting": record["setting"],
            "l1": _per_cent(record["l1"]),
            "l2": _per_cent(record["l2"]),
            "l3": _per_cent(record["l3"]),
            "dcr": record.get("score", math.nan),
            "csr": _per_cent(record["csr"]),
            "csr_raw_pixel": _per_cent(record["csr_raw_pixel"]),
            "missing": bool(record["missing"]),
            "cached": len(record["cached"]) if "cached" in record else -1,
            "judge_calls": record.get("judge_calls", -1),
        }
    except KeyError as error:
        raise _RecordError(f"expected a field {error} under dcr or dcr_base") from error


def _vrex_row(line: _VrexLine, max_tokens: int | None) -> _Row:
    record = line.get("final_acc") or line.get("step_acc")
    if record is None:
        raise _RecordError("expected a record under final_acc or step_acc")
    is_chain = record["mode"] != "direct" and not record["step"]
    asked, right = record["length"] if is_chain else 1, [step["choice"] == step["gold"] for step in record["steps"]]
    if len(right) > asked:
        raise _RecordError("expected no more steps than were asked")
    return {
        **record,
        "key": f"{record['id']}/{record['step']}" if record["step"] else record["id"],
        **_state(record, line, max_tokens if asked == 1 else None),
        "wrong_steps": -1 if record["wrong_steps"] is None else record["wrong_steps"],
        "ability": _or_nan(record["ability"]),
        "ability_lenient": _or_nan(record.get("ability_lenient")),
        "step_right": right + [False] * (asked - len(right)),
    }


def _state(record: Mapping[str, Any], line: _Line, max_tokens: int | None) -> _Row:
    """The columns `failure`, `refused`, `truncated` and `measured`."""
    tokens: list[int] = []
    if max_tokens is not None:
        counts = line.get("token_counts") or ()
        tokens = [written for one in counts if one and (written := one.get("output_tokens"))]
    is_at_end = max_tokens is not None and any(written >= max_tokens - 1 for written in tokens)
    return {
        "failure": (record.get("failure") or UNKNOWN_FAILURE) if record["failed"] else "",
        "refused": record.get("refused", False),
        "truncated": record.get("truncated", False) or is_at_end,
        "measured": bool(tokens),
    }


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value


def _per_cent(value: int | None) -> float:
    return math.nan if value is None else 100.0 * value


_READERS: Mapping[str, tuple[Callable[..., Any], Callable[[Any, int | None], _Row]]] = {
    "condchain": (TypeAdapter(_CondchainLine).validate_json, _condchain_row),
    "ccrv": (TypeAdapter(_CcrvLine).validate_json, _ccrv_row),
    "vrex": (TypeAdapter(_VrexLine).validate_json, _vrex_row),
}
