"""What was prepared once, for all ranks and all later runs."""

from __future__ import annotations

import glob
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import platformdirs
from filelock import FileLock

from condchain_tasks.data.errors import DataError

CACHE = "CONDCHAIN_CACHE"


def cache_root() -> Path:
    """The cache folder: `CONDCHAIN_CACHE`, else the user's cache folder on this system.

    Raises:
        DataError: `datasets`, which reads from it, would take its name for a pattern.
    """
    root = Path(os.environ.get(CACHE) or platformdirs.user_cache_dir("condchain-tasks")).expanduser().absolute()
    if set("*?[]") & set(str(root)) or "::" in str(root):
        raise DataError(f"The cache folder {root} has one of * ? [ ] :: in its name. Set {CACHE} to one without.")
    return root


def made_once(path: Path, make: Callable[[Path], None]) -> Path:
    """Makes a file or a folder unless it is there.

    However many processes ask at the same time, one makes it and the others wait. What is seen under `path` is
    always whole: it is made under a temporary name beside it and then renamed.

    Args:
        path: Where it is wanted.
        make: Makes it at the path that it is given.

    Returns:
        `path`.

    Raises:
        DataError: It cannot be written, as on a full disk.
    """
    if path.exists():
        return path
    try:
        _make_once(path, make)
    except (OSError, NotImplementedError) as error:  # the latter: a file system without locks
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise DataError(
            f"{path} cannot be written: {reason}. Make room, or set {CACHE} to a folder that can be written to."
        ) from error
    return path


def _make_once(path: Path, make: Callable[[Path], None]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{path}.lock"):
        if path.exists():
            return
        for left in path.parent.glob(f".{glob.escape(path.name)}-*"):  # by a process that was killed
            shutil.rmtree(left, ignore_errors=True)
        aside = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}-"))
        try:
            make(aside / path.name)
            (aside / path.name).rename(path)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
