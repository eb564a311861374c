"""Pages that show each picture beside everything that the dataset says of it, for a person to check."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import matplotlib
from PIL import Image, ImageDraw, ImageFont

from condchain_tasks.progress import track
from condchain_tasks.synth import sidecar
from condchain_tasks.synth.sidecar import ChainFacts

_PAGE_WIDTH, _PAGE_HEIGHT = 2000, 2600
_MARGIN = 24
_PICTURES_IN_ROW = 6
_PICTURE_HEIGHT = 900
_LINE_HEIGHT = 27
_COLUMNS = 2
_CHARACTERS = 80
_TRUE, _FALSE, _PLAIN = "#0b6b2c", "#b3261e", "#202020"

Line = tuple[str, str]
"""Text and colour."""


def write_contact_sheets(root: Path, domain: str) -> None:
    """Writes `contact_sheet/<domain>_<page>.png` for a dataset with facts.

    Each chain has a panel: its picture, or the screens of its trajectory, above its statements. Green ones must be
    true of the picture and red ones false; a question stands with its right answer.

    Args:
        root: The dataset's folder.
        domain: One whose records and facts are there.
    """
    folder = root / "contact_sheet"
    folder.mkdir(exist_ok=True)
    for number, page in enumerate(_pages(track(_panels(root, domain), "Contact sheets")), 1):
        page.save(folder / f"{domain}_{number:03d}.png")


def _pages(panels: Iterator[Image.Image]) -> Iterator[Image.Image]:
    waiting: list[Image.Image] = []
    for panel in panels:
        if waiting and sum(one.height for one in waiting) + panel.height > _PAGE_HEIGHT:
            yield _stacked(waiting)
            waiting = []
        waiting.append(panel)
    yield _stacked(waiting)


def _stacked(panels: list[Image.Image]) -> Image.Image:
    page = Image.new("RGB", (_PAGE_WIDTH, sum(panel.height for panel in panels)), "white")
    top = 0
    for panel in panels:
        page.paste(panel, (0, top))
        top += panel.height
    return page


def _panels(root: Path, domain: str) -> Iterator[Image.Image]:
    with (
        (root / "data" / f"{domain}.jsonl").open(encoding="utf-8") as records,
        (root / "facts" / f"{domain}.jsonl").open(encoding="utf-8") as facts,
    ):
        for record, known in zip(records, facts, strict=True):
            yield _panel(_pictures(root / json.loads(record)["image"]), sidecar.load(known))


def _pictures(path: Path) -> list[Image.Image]:
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return [Image.open(file).convert("RGB") for file in files]


def _panel(pictures: list[Image.Image], facts: ChainFacts) -> Image.Image:
    shown = _grid(pictures)
    lines = [line for text, colour in _statements(facts) for line in _wrapped(text, colour)]
    rows = -(-len(lines) // _COLUMNS)
    panel = Image.new("RGB", (_PAGE_WIDTH, shown.height + rows * _LINE_HEIGHT + _MARGIN), "white")
    panel.paste(shown, (0, 0))
    draw = ImageDraw.Draw(panel)
    for place, (text, colour) in enumerate(lines):
        column, row = divmod(place, rows)
        position = (_MARGIN + column * _PAGE_WIDTH // _COLUMNS, shown.height + row * _LINE_HEIGHT)
        draw.text(position, text, fill=colour, font=_font())
    draw.line([(0, panel.height - 1), (_PAGE_WIDTH, panel.height - 1)], fill=_PLAIN, width=2)
    return panel


def _grid(pictures: list[Image.Image]) -> Image.Image:
    """The pictures in rows, each under its number."""
    in_row = min(len(pictures), _PICTURES_IN_ROW)
    room = _PAGE_WIDTH // in_row - 2 * _MARGIN
    scale = min(
        room / max(picture.width for picture in pictures),
        _PICTURE_HEIGHT / max(picture.height for picture in pictures),
    )
    row_height = round(scale * max(picture.height for picture in pictures)) + _LINE_HEIGHT + _MARGIN
    grid = Image.new("RGB", (_PAGE_WIDTH, row_height * -(-len(pictures) // in_row)), "white")
    draw = ImageDraw.Draw(grid)
    for place, picture in enumerate(pictures):
        row, column = divmod(place, in_row)
        left, top = _MARGIN + column * _PAGE_WIDTH // in_row, row * row_height
        draw.text((left, top), f"Image {place + 1}", fill=_PLAIN, font=_font())
        size = (round(picture.width * scale), round(picture.height * scale))
        grid.paste(picture.resize(size, Image.Resampling.LANCZOS), (left, top + _LINE_HEIGHT))
    return grid


def _statements(facts: ChainFacts) -> Iterator[Line]:
    yield f"{facts.id}: green is true of the picture, red is false.", _PLAIN
    for k, layer in enumerate(facts.layers, 1):
        yield f"{k}. {layer.name.text}", _PLAIN
        for clause in (*layer.clauses, layer.changed):
            yield f"    {clause.text}", _TRUE if clause.holds else _FALSE
        yield f"    {layer.question.text} {layer.question.options[layer.question.right]}", _TRUE


def _wrapped(text: str, colour: str) -> Iterator[Line]:
    for line in textwrap.wrap(text, _CHARACTERS, subsequent_indent="        "):
        yield line, colour


@lru_cache(maxsize=1)
def _font() -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(Path(matplotlib.get_data_path(), "fonts", "ttf", "DejaVuSans.ttf"), 21)
