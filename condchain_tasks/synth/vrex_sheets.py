"""Pages that show each picture beside every question about it and the true answers, for a person to check."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from condchain_tasks.progress import track
from condchain_tasks.synth.png import encode_png
from condchain_tasks.synth.vrex_pen import GREY, INK, WHITE, Sheet
from condchain_tasks.synth.vrex_records import Json

_PANEL = (1900, 820)
_PICTURE = (880, 740)
_ON_PAGE = 3
_LINE = 21
_SIZE = 14
_CHARACTERS = 112
_TRUE, _DISTRACTING = "#0b6b2c", "#9a5b00"

_Line = tuple[str, str]
"""Text and colour."""


def write_contact_sheets(root: Path) -> None:
    """Writes `contact_sheet/vrex_<page>.png` for a dataset with facts.

    Each chain has a panel: its picture beside the candidates of every planning step with their answers (the right one
    green, the distracting chain's brown), and below each the answers to choose from in following.

    Args:
        root: The dataset's folder.
    """
    folder = root / "contact_sheet"
    folder.mkdir(exist_ok=True)
    panels = list(track(_panels(root), "Contact sheets"))
    for page, first in enumerate(range(0, len(panels), _ON_PAGE), 1):
        shown = panels[first : first + _ON_PAGE]
        sheet = Image.new("RGB", (_PANEL[0], _PANEL[1] * len(shown)), WHITE)
        for k, panel in enumerate(shown):
            sheet.paste(panel, (0, k * _PANEL[1]))
        (folder / f"vrex_{page:03d}.png").write_bytes(encode_png(np.asarray(sheet)))


def _panels(root: Path) -> Iterator[Image.Image]:
    facts = json.loads((root / "facts" / "vrex.json").read_bytes())["samples"]
    names = ("planning", "following")
    files = [(root / "data" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines() for name in names]
    for planning, following in zip(*(map(json.loads, lines) for lines in files), strict=True):
        with Image.open(root / planning["image"]) as picture:
            shown = picture.convert("RGB")
        yield _panel(shown, list(_lines(planning, following, facts[planning["id"]]["distracting"])))


def _panel(picture: Image.Image, lines: list[_Line]) -> Image.Image:
    sheet = Sheet(*_PANEL, WHITE)
    for k, (text, ink) in enumerate(lines):
        sheet.text((_PICTURE[0] + 40, 24 + k * _LINE), text, _SIZE, ink, to="lm")
    sheet.line([(0, _PANEL[1] - 2), (_PANEL[0], _PANEL[1] - 2)], GREY)
    panel = sheet.finish()
    picture.thumbnail(_PICTURE)
    panel.paste(picture, (20, 20))
    return panel


def _lines(planning: Json, following: Json, distracting: list[int]) -> Iterator[_Line]:
    yield from _wrapped(f"{planning['id']}: {planning['final_question']}", INK)
    for number, (pick, answer) in enumerate(zip(planning["steps"], following["steps"], strict=True), 1):
        if number < len(planning["steps"]):
            for k, option in enumerate(pick["options"]):
                ink = _TRUE if k == pick["gold"] else _DISTRACTING if k == distracting[number - 1] else GREY
                yield from _wrapped(f"{number}{'abcdef'[k]} {option['question']} — {option['answer']}", ink)
        yield from _wrapped(f"{number}  {' | '.join(answer['options'])}  → {answer['answer']}", INK)


def _wrapped(text: str, ink: str) -> Iterator[_Line]:
    for line in textwrap.wrap(text, _CHARACTERS, subsequent_indent="        "):
        yield line, ink
