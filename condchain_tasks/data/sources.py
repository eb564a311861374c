"""Where a benchmark's data is: a folder of the user, the Hub, or made on the spot."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from loguru import logger

from condchain_tasks.data.cache import cache_root, made_once
from condchain_tasks.data.errors import DataError

VARIABLES = ("CONDCHAIN_DATA", "CCRV_DATA", "VREX_DATA")
"""What names a folder of the user with a benchmark's data."""

_PACKAGE = Path(__file__).parents[1]


@dataclass(frozen=True)
class Source:
    """A dataset in the official layout.

    Attributes:
        root: Its folder.
        kind: "folder" (named by the user), "hub" or "mini".
        revision: What identifies its version: the Hub's commit, or the embedded benchmark's own hash; empty for a
            folder, whose content has a hash of its own (see `prepared.prepare`).
    """

    root: Path
    kind: Literal["folder", "hub", "mini"]
    revision: str = ""

    @property
    def boundary(self) -> Path:
        """The folder that no file may lie outside of, wherever links lead.

        A Hub cache keeps the files beside the snapshot and links to them.
        """
        root = Path(os.path.realpath(self.root))
        repository = root.parent.parent
        is_snapshot = root.parent.name == "snapshots" and (repository / "blobs").is_dir()
        return repository if is_snapshot else root


def folder_in(variable: str) -> Path | None:
    """The path that an environment variable holds, or None if it is not set; `~` is a home folder, if there is one."""
    folder = os.environ.get(variable)
    return Path(os.path.expanduser(folder)) if folder else None  # noqa: PTH111  # Path's own raises for ~nobody


def named_by(variable: str) -> Source | None:
    """The folder that an environment variable names, or None if it is not set.

    Raises:
        DataError: It names no folder.
    """
    folder = folder_in(variable)
    if folder is None:
        return None
    root = folder.absolute()
    if not root.is_dir():
        raise DataError(f"{variable} names {root}, which is no folder. Correct it, or unset it.")
    return Source(root, "folder")


def embedded(benchmark: str, write: Callable[[Path], None]) -> Source:
    """An embedded benchmark, made at first use and kept in the cache.

    Args:
        benchmark: Its name.
        write: Writes it as the folder that it is given.

    Returns:
        The source; its revision changes with the code that makes it.
    """

    def make(path: Path) -> None:
        logger.info("Drawing the embedded benchmark {}, once, into {}.", benchmark, root)
        write(path)

    root = _embedded_root(benchmark)
    return Source(made_once(root, make), "mini", root.name)


def known_folders() -> list[Path]:
    """Folders of data that the user's variables name, and that of the embedded benchmarks, as far as they are there."""
    named = [os.environ[name] for name in VARIABLES if os.environ.get(name)]
    folders = [*(Path(one).expanduser().absolute() for one in named), cache_root() / "mini"]
    return [folder for folder in folders if folder.is_dir()]


def describe_embedded(benchmark: str) -> tuple[str, str]:
    """Source and state of an embedded benchmark, each a few words, without making anything."""
    return "embedded", "there" if _embedded_root(benchmark).exists() else "made at first use"


def _embedded_root(benchmark: str) -> Path:
    digest = hashlib.sha256()
    for path in [*sorted((_PACKAGE / "synth").glob("*.py")), _PACKAGE / "vpir.py"]:
        digest.update(path.read_bytes())
    return cache_root() / "mini" / benchmark / digest.hexdigest()[:16]
