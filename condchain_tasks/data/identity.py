"""Which data it is: a benchmark's released files, drawn scenes, or neither that is known."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

RELEASED: Mapping[str, Mapping[str, str]] = {
    "condchain/natural": {},
    "condchain/chart": {},
    "condchain/gui": {},
    "ccrv": {},
    "vrex": {},
}
"""For each part of a benchmark the releases of its files: content hash, as in `Reading.sha256` -> name.

Nobody has computed one from the released files yet, so no data is called official. Counts prove nothing: drawn data of
any size can be made.
"""

MARK = "synthetic"
"""A field that every drawn record has, with the value true. Official readers ignore fields that they do not know."""

MARK_FILE = "synthetic.json"
"""Beside the data of a drawn dataset; says what made it."""

PICTURE_MARK = "Drawn by condchain synth"
"""The comment of every drawn picture, PNG or JPEG."""


def is_released(part: str, sha256: str) -> bool:
    """Whether content is known to be that of released files.

    Args:
        part: A key of `RELEASED`.
        sha256: Of the content.
    """
    return sha256 in RELEASED[part]


def origin(part: str, sha256: str, drawn: bool) -> str:
    """What is known of where content comes from, in words.

    Args:
        part: A key of `RELEASED`.
        sha256: Of the content.
        drawn: It says that `condchain synth` made it.
    """
    if drawn:
        return "drawn by condchain synth, so not the benchmark's own"
    if name := RELEASED[part].get(sha256):
        return f"released as {name}"
    return "not verified, since it is none of the released contents that this version knows"


def is_drawn(root: Path) -> bool:
    """Whether a dataset's folder says by its facts, or by its mark, that `condchain synth` made it."""
    return (root / MARK_FILE).is_file() or (root / "facts").is_dir()


def is_marked(record: Mapping[str, Any]) -> bool:
    """Whether a record says that it is drawn; the mark stays with it wherever it is copied."""
    return bool(record.get(MARK))


def is_marked_picture(info: Mapping[Any, Any]) -> bool:
    """Whether a picture's header, as PIL gives it, says that it is drawn."""
    return PICTURE_MARK in (info.get("Comment"), bytes(info.get("comment", b"")).decode("latin-1"))


def write_mark(root: Path, made_with: Mapping[str, Any]) -> None:
    """Marks a dataset's folder as drawn.

    Args:
        root: The folder.
        made_with: The arguments that its content follows from.
    """
    content = {MARK: True, "made_by": "condchain synth", **made_with}
    (root / MARK_FILE).write_text(json.dumps(content) + "\n", encoding="utf-8", newline="\n")


def content_hash(records: Iterable[str], pictures: Iterable[tuple[str, str]]) -> str:
    """Of a dataset's content, wherever it lies.

    Args:
        records: Each as text that tells all that is used of it.
        pictures: Name, relative to the dataset's root, and SHA-256 of each one's bytes.

    Returns:
        16 hexadecimal digits.
    """
    digest = hashlib.sha256()
    for text in records:
        digest.update(b"%d %s" % (len(encoded := text.encode()), encoded))
    for name, sha256 in pictures:
        digest.update(json.dumps([name, sha256]).encode())
    return digest.hexdigest()[:16]
