"""A report as one HTML page that needs nothing else: no network, no server, no other file but linked pictures.

The page forbids itself everything by a content security policy: only its own scripts and styles, known by their
hashes, run, and nothing is fetched. Markup is made by jinja2, which escapes all values; what comes from models and data
files into the browser of items travels as JSON in blocks that are not executed, and is shown as text alone.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import jinja2
import markupsafe
from PIL import Image

from condchain_tasks.data.errors import DataError
from condchain_tasks.data.files import write_aside
from condchain_tasks.data.images import check_image
from condchain_tasks.data.sources import Source
from condchain_tasks.progress import track
from condchain_tasks.report.charts import draw
from condchain_tasks.report.model import Cell, Chart, Item, Report, Section, Table, Value
from condchain_tasks.report.plain import NOTHING, flag_marks, interval, is_numeric, number
from condchain_tasks.report.processes import in_processes

MAX_TEXT = 20_000
"""Of longer instructions, replies and details the rest is left out of the page, with a note that says so."""

MAX_SIDE = 768
"""Larger pictures are scaled down to this many pixels before they are embedded."""

MAX_EMBEDDED_BYTES = 200_000_000
"""When embedded pictures have come to this, the others are linked."""

_TEXTS_PER_BLOCK = 1_000
_QUALITY = 80
_FEW_CHARTS = 15  # are drawn before processes have started
_SEVERITIES = ("error", "warning", "note")


def write_page(report: Report, path: Path, folders: Collection[Path] = ()) -> None:
    """Writes a report as a page, piece by piece: it is never in memory as a whole.

    Args:
        report: What to show.
        path: Of the HTML file; replaced if it exists.
        folders: Those whose pictures may be in the page, if items show them: as WebP of at most `MAX_SIDE` pixels and
            `MAX_EMBEDDED_BYTES` in all. Others are linked to where they are on this machine: a log says which picture
            an item shows, and a log may be anybody's.

    Raises:
        OSError: The file cannot be written.
        ValueError: A chart's table is not in its section.
    """
    write_aside(path, _pieces(report, folders), errors="replace", newline="\n")


def render_page(report: Report, folders: Collection[Path] = ()) -> str:
    """The page that `write_page` writes."""
    return "".join(_pieces(report, folders)).encode("utf-8", "replace").decode("utf-8")


def _pieces(report: Report, folders: Collection[Path]) -> Iterator[str]:
    _check(report)
    style, script = _asset("page.css"), _asset("page.js")
    charts = [chart for section in report.sections for chart in section.charts if chart.series]
    drawn = track((in_processes if len(charts) > _FEW_CHARTS else map)(draw, charts), "Drawing charts", len(charts))
    return (
        _environment()
        .get_template("page.html.j2")
        .generate(
            report=report,
            severities=_SEVERITIES,
            style=markupsafe.Markup(style),
            script=markupsafe.Markup(script),
            policy=_policy(script, style),
            items=_Items(report.items, folders),
            drawings={chart.id: markupsafe.Markup(svg) for chart, svg in zip(charts, drawn, strict=True)},
        )
    )


@lru_cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("condchain_tasks.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "json": _json,
        "number": number,
        "interval": interval,
        "marks": flag_marks,
        "sort_value": _sort_value,
    }
    environment.tests |= {"figure": lambda cell: isinstance(cell, Value)}
    environment.globals |= {
        "NOTHING": NOTHING,
        "is_numeric": is_numeric,
        "charts_of": _charts_of,
    }
    return environment


@lru_cache
def _asset(name: str) -> str:
    return (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8")


def _policy(script: str, style: str) -> str:
    parts = {
        "default-src": "'none'",
        "script-src": _source(script),
        "style-src": _source(style),
        "img-src": "data: file:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in parts.items())


def _source(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _json(value: Any) -> markupsafe.Markup:
    """JSON that cannot end the script block it stands in: "<" is written as an escape."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return markupsafe.Markup(text.replace("<", "\\u003c"))


def _sort_value(cell: Cell) -> str:
    """The number that a cell is sorted by; "" if it has none."""
    found = cell.value if isinstance(cell, Value) else cell
    return repr(found) if isinstance(found, (int, float)) and number(found) != NOTHING else ""


def _charts_of(section: Section, table: Table) -> list[Chart]:
    return [chart for chart in section.charts if chart.table == table.id and chart.series]


def _check(report: Report) -> None:
    for section in report.sections:
        tables = {table.id for table in section.tables}
        for chart in section.charts:
            if chart.table not in tables:
                raise ValueError(f"Chart {chart.id!r}: section {section.id!r} has no table {chart.table!r} beside it.")


@dataclass
class _Numbering:
    """Distinct values, numbered in the order in which they first came."""

    numbers: dict[Any, int] = field(default_factory=dict)

    def number(self, value: Any) -> int:
        return self.numbers.setdefault(value, len(self.numbers))


class _Items:
    """The data of the browser of items: columns of numbers, and the texts and pictures that they stand for.

    Texts that are the same (an instruction that all models got) are in the page once. They are in blocks, which the
    page reads when it needs them.
    """

    def __init__(self, items: Iterable[Item], folders: Collection[Path]) -> None:
        self._boundaries = _boundaries(folders)
        self._texts = _Numbering()
        self._models = _Numbering()
        self._tasks = _Numbering()
        self._images = _Numbering()
        self._tags: dict[str, _Numbering] = {}
        self._rows: list[list[Any]] = []
        for item in items:
            self._add(item)

    def _add(self, item: Item) -> None:
        tags = {name: self._tags.setdefault(name, _Numbering()).number(value) for name, value in item.tags.items()}
        texts = [item.instruction, item.reply, *(text for detail in item.details for text in detail)]
        self._rows.append(
            [
                self._models.number(item.model),
                self._tasks.number(item.task),
                _bounded(item.key),
                item.right,
                self._images.number(item.image) if item.image else -1,
                tags,
                [self._texts.number(_bounded(text)) for text in texts],
            ]
        )

    @property
    def index(self) -> dict[str, Any]:
        """Everything but the texts and the embedded pictures."""
        names = list(self._tags)
        return {
            "models": list(self._models.numbers),
            "tasks": list(self._tasks.numbers),
            "tags": {name: list(numbering.numbers) for name, numbering in self._tags.items()},
            "images": [_link(path) for path in self._images.numbers],
            "textsPerBlock": _TEXTS_PER_BLOCK,
            "rows": [[*row[:5], [row[5].get(name, -1) for name in names], row[6]] for row in self._rows],
        }

    def text_blocks(self) -> Iterator[list[str]]:
        """All texts by their numbers, in lists of `_TEXTS_PER_BLOCK`."""
        texts = iter(self._texts.numbers)
        while block := list(islice(texts, _TEXTS_PER_BLOCK)):
            yield block

    def pictures(self) -> Iterator[tuple[int, str]]:
        """Numbers and data URIs of the pictures that are to be embedded; of those that cannot be read, nothing."""
        left = MAX_EMBEDDED_BYTES
        for path, place in self._images.numbers.items():
            uri = _embedded(Path(os.path.realpath(path))) if left > 0 and _is_inside(path, self._boundaries) else ""
            if uri:
                left -= len(uri)
                yield place, uri


def outside(items: Iterable[Item], folders: Collection[Path]) -> tuple[str, ...]:
    """The pictures of items that lie in none of some folders, each once."""
    boundaries = _boundaries(folders)
    return tuple(
        path for path in dict.fromkeys(item.image for item in items) if path and not _is_inside(path, boundaries)
    )


def _boundaries(folders: Collection[Path]) -> tuple[Path, ...]:
    return tuple(Source(folder, "folder").boundary for folder in folders)


def _is_inside(path: str, boundaries: Collection[Path]) -> bool:
    """Whether a picture is in one of some folders, wherever links lead."""
    real = Path(os.path.realpath(path))
    return any(real.is_relative_to(boundary) for boundary in boundaries)


def _bounded(text: str) -> str:
    more = len(text) - MAX_TEXT
    return f"{text[:MAX_TEXT]}\n[{more:,} more characters are left out here]" if more > 0 else text


def _link(path: str) -> dict[str, str]:
    """Where a picture is. A network share is named, not linked: to look at an item must not call another machine."""
    local = Path(path).is_absolute() and not path.startswith(("//", "\\\\"))
    return {"path": path, "uri": Path(path).as_uri() if local else ""}


def _embedded(path: Path) -> str:
    """A picture as a data URI; "" if it cannot be read, whatever the reason: the page then says where it should be."""
    try:
        check_image(path)
        with Image.open(path) as image:
            image.draft("RGB", (MAX_SIDE, MAX_SIDE))
            small = image.convert("RGBA" if image.has_transparency_data else "RGB")
    except (DataError, OSError, SyntaxError, ValueError):
        return ""
    small.thumbnail((MAX_SIDE, MAX_SIDE))
    buffer = io.BytesIO()
    small.save(buffer, "WEBP", quality=_QUALITY)
    return f"data:image/webp;base64,{base64.b64encode(buffer.getvalue()).decode()}"
