"""The folder of a drawn dataset: seen whole or not at all, and marked as drawn."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from condchain_tasks.data.identity import write_mark

_PART = ".part"


@contextmanager
def new_folder(out: Path, made_with: Mapping[str, Any]) -> Iterator[Path]:
    """A folder to fill, which gets its name at the end.

    Its name until then is one that no other process has or had: what a killed one left is in nobody's way. It stands
    beside `out`, or in it where that is a mounted volume, which cannot be replaced.

    Args:
        out: A folder that does not exist or is empty.
        made_with: The arguments that the dataset follows from.

    Yields:
        The folder; after an exception it is removed.

    Raises:
        FileExistsError: `out` is not empty.
    """
    out = Path(os.path.realpath(out))
    if out.exists() and (not out.is_dir() or any(not _is_left(path) for path in out.iterdir())):
        raise FileExistsError(f"{out} exists and is not an empty folder: name another one, or remove it first")
    is_volume = os.path.ismount(out)
    aside = (out if is_volume else out.parent) / f".{out.name[:40]}-{secrets.token_hex(8)}{_PART}"
    aside.mkdir(parents=True)
    try:
        yield aside
        write_mark(aside, made_with)
        if is_volume:
            for path in aside.iterdir():
                path.rename(out / path.name)
        else:
            aside.replace(out)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _is_left(path: Path) -> bool:
    return path.name.startswith(".") and path.name.endswith(_PART) and os.path.ismount(path.parent)
