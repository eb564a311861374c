"""Draws replies for people to judge, and writes them down without what would sway them."""

from __future__ import annotations

import csv
import random
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from condchain_tasks.data.errors import DataError
from condchain_tasks.report.audit import ID, KEY, KEY_FILE, SHEET, VERDICTS, Binary, Dimension, Judged, Setting
from condchain_tasks.report.runs import reply_of
from condchain_tasks.report.selection import Chosen, Selection
from condchain_tasks.scorers.replies import encodable
from condchain_tasks.tasks.ccrv.samples import record_of

MAX_CELL = 16_000
"""Characters of a text on a sheet. A spreadsheet's cell takes 32,767 UTF-16 code units."""

_SHOWN = {
    "image": "image",
    "dimension": "x",
    "constraint": "y",
    "constraint spec": "spec",
    "question": "question",
    "reference": "reference",
    "adapted reference": "adapted",
    "rationale": "rationale",
    "rubric L1": "rubric_l1",
    "rubric L2": "rubric_l2",
    "rubric L3": "rubric_l3",
}
"""From the sheet's columns to the record's fields; the reply follows them."""

_REPLY = "reply"
_NOTE = "note"
_STANDARD = "standard"
_FORMULA = re.compile(r"\t|\s*[=+\-@＝＋－＠]")
_MAX_QUOTED = 80


@dataclass(frozen=True)
class AuditItem:
    """A reply that was drawn.

    Attributes:
        id: Its name on the sheet and in the key; it tells nothing of the reply.
        shown: What annotators see, by column.
        judged: What they do not.
    """

    id: str
    shown: Mapping[str, str]
    judged: Judged


@dataclass(frozen=True)
class Audit:
    """A sample for annotators.

    Attributes:
        items: In the order of the sheet, which is random.
        missing: Replies that could not be drawn, since the judge's verdict on them is missing.
        failed: Replies that could not be drawn, since the request failed.
        controls: Replies to controls, such as those without a picture: the sample is of the benchmark proper.
    """

    items: tuple[AuditItem, ...]
    missing: int
    failed: int
    controls: int


def draw(selection: Selection, n: int, seed: int) -> Audit:
    """Draws a stratified sample of judged replies.

    The strata are the cells X×Y, the baseline's included, of each model and setting. Each gives as many replies as any
    other, or one more; one that has too few gives all it has. Of several replies of a model to one item, in two tasks
    of the same settings, the newest counts.

    Args:
        selection: Of CCRV-Bench.
        n: Replies to draw, at least 1.
        seed: Of the same selection, the same seed draws the same replies in the same order.

    Returns:
        The sample.

    Raises:
        DataError: There are no samples, or not `n` replies with a verdict, or a record is not what the task logs.
    """
    if not selection.chosen:
        raise selection.nothing_of("CCRV-Bench", "ccrv")
    replies = _newest(selection)
    fates = Counter(reply.fate for reply in replies)
    if not 1 <= n <= fates["judged"]:
        wanted = (
            f"expected n between 1 and {fates['judged']:,}, the number of replies with a verdict on all three layers, "
            f"found {n:,}."
            if fates["judged"]
            else "no reply has a verdict on all three layers, so there is none to audit."
        )
        raise DataError(
            f"{', '.join(map(str, selection.paths))}: {wanted} Besides, {fates['missing']:,} lack it "
            f"(`condchain judge` adds it), {fates['failed']:,} requests failed, and "
            f"{fates['control']:,} replies are to controls."
        )
    chosen = _stratified([reply for reply in replies if reply.fate == "judged"], n, random.Random(seed))
    digits = max(3, len(str(n)))
    items = (AuditItem(f"a{number:0{digits}}", reply.shown, reply.judged) for number, reply in enumerate(chosen, 1))
    return Audit(tuple(items), fates["missing"], fates["failed"], fates["control"])


def write(audit: Audit, folder: Path) -> None:
    """Writes `sheet.csv`, of which each annotator gets a copy, and `key.json`, which none must see.

    The sheet is UTF-8 with a byte order mark, by which spreadsheets know it. A text that they would take for a
    formula begins with an apostrophe, control characters are removed, and of texts beyond `MAX_CELL` characters the
    middle is left out, with a note that says so.

    Args:
        audit: The sample.
        folder: Made if it does not exist.

    Raises:
        DataError: A sheet or a key is there already.
        OSError: The folder cannot be written to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for path in (folder / SHEET, folder / KEY):
        if path.exists():
            raise DataError(f"{path} exists, and somebody may be at work with it. Name another folder.")
    with (folder / KEY).open("xb") as file:
        file.write(KEY_FILE.dump_json({item.id: item.judged for item in audit.items}, indent=1))
    with (folder / SHEET).open("x", encoding="utf-8-sig", newline="") as sheet:
        writer = csv.DictWriter(sheet, [ID, *_SHOWN, _REPLY, *VERDICTS, _NOTE])
        writer.writeheader()
        for item in audit.items:
            writer.writerow({ID: item.id} | {column: _cell(text) for column, text in item.shown.items()})


@dataclass(frozen=True)
class _Record:
    """What is needed of a sample's record."""

    key: str
    x: Dimension
    y: Setting
    setting: str
    image: str
    question: str
    reference: str
    adapted: str
    rationale: str
    spec: str
    rubric_l1: str
    rubric_l2: str
    rubric_l3: str
    r1: Binary | None
    r2: Binary | None
    r3: Binary | None
    csr: Binary | None
    failed: bool


_RECORD = TypeAdapter(_Record)


@dataclass(frozen=True)
class _Reply:
    """One reply of a sample log."""

    source: Chosen
    record: _Record
    text: str

    @property
    def fate(self) -> Literal["control", "failed", "missing", "judged"]:
        """Whether it can be drawn, and if not, why."""
        if self.record.setting != _STANDARD:
            return "control"
        if self.record.failed:
            return "failed"
        return "missing" if None in (self.record.r1, self.record.r2, self.record.r3) else "judged"

    @property
    def shown(self) -> dict[str, str]:
        """The sheet's columns."""
        return {column: getattr(self.record, field) for column, field in _SHOWN.items()} | {_REPLY: self.text}

    @property
    def judged(self) -> Judged:
        """The key's entry; only a reply that was judged has one."""
        one = self.record
        assert one.r1 is not None and one.r2 is not None and one.r3 is not None
        run = encodable(str(self.source.log.file.path))  # a folder's name need not be text
        return Judged(encodable(self.source.label), run, one.key, one.x, one.y, one.r1, one.r2, one.r3, one.csr)


def _newest(selection: Selection) -> list[_Reply]:
    """The newest reply of each model to each item, in an order that does not depend on how files are laid out."""
    found: dict[tuple[str, str, str, str, str], _Reply] = {}
    for chosen in sorted(selection.chosen, key=lambda one: (one.log.file.order, one.log.file.path)):
        for reply in _replies(chosen):
            record = reply.record
            found[chosen.label, chosen.data, record.setting, record.y, record.key] = reply
    return [found[name] for name in sorted(found)]


def _replies(chosen: Chosen) -> Iterator[_Reply]:
    for number, sample in enumerate(chosen.samples(), start=1):
        found = record_of(sample)
        if found is None:
            continue
        place = f"{chosen.log.file.path}, sample {number}, key {str(found['key'])[:_MAX_QUOTED]!r}"
        record = _validated(found, place)
        yield _Reply(chosen, record, "" if record.failed else reply_of(sample, place))


def _validated(record: Mapping[str, Any], place: str) -> _Record:
    try:
        return _RECORD.validate_python(record)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        found = "" if first["type"] == "missing" else f", found {str(first['input'])[:_MAX_QUOTED]!r}"
        raise DataError(
            f"{place}, field {first['loc'][0]}: {first['msg']}{found}. Was the sample logged by a ccrv task?"
        ) from error


def _stratified(replies: Sequence[_Reply], n: int, rng: random.Random) -> list[_Reply]:
    """Takes one reply from each stratum, again and again until there are `n`; shuffled."""
    strata: defaultdict[tuple[str, str, str], list[_Reply]] = defaultdict(list)
    for reply in replies:
        strata[reply.source.label, reply.record.x, reply.record.y].append(reply)
    for stratum in strata.values():
        rng.shuffle(stratum)
    rounds = zip_longest(*(strata[name] for name in _spread(strata, rng)))
    chosen = list(islice((reply for one in rounds for reply in one if reply is not None), n))
    rng.shuffle(chosen)
    return chosen


def _spread(strata: Collection[tuple[str, str, str]], rng: random.Random) -> list[tuple[str, str, str]]:
    """An order of the strata whose beginnings have all cells, and all models, about equally often."""
    models = sorted({model for model, _, _ in strata})
    cells = sorted({(x, y) for _, x, y in strata})
    rng.shuffle(models)
    rng.shuffle(cells)
    order = (
        (models[(shift + place) % len(models)], x, y)
        for shift in range(len(models))
        for place, (x, y) in enumerate(cells)
    )
    return [name for name in order if name in strata]


def _cell(text: str) -> str:
    """A text that a spreadsheet shows as it is, and neither runs nor cuts."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").encode("utf-8", "replace").decode("utf-8")
    text = "".join(c for c in text if c in "\t\n" or unicodedata.category(c) != "Cc")
    left_out = len(text) - MAX_CELL
    if left_out > 0:
        half = MAX_CELL // 2
        text = f"{text[:half]}\n[{left_out:,} characters are left out here]\n{text[-half:]}"
    return f"'{text}" if _FORMULA.match(text) else text
