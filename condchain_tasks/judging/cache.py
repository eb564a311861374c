"""Verdicts on disk, so that none is paid for twice.

Each process appends to a file of its own, one line a verdict, and reads the files of all. A process that is killed
leaves at most half a line behind, which nobody takes for a verdict.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import socket
import threading
from pathlib import Path
from typing import Annotated

from filelock import FileLock, Timeout
from loguru import logger
from pydantic import BaseModel, StringConstraints, ValidationError
from pydantic_core import PydanticSerializationError

from condchain_tasks.data.cache import CACHE, cache_root
from condchain_tasks.data.errors import DataError
from condchain_tasks.judging.verdicts import CsrVerdict, DcrVerdict, Kind, Verdict

_MAX_SEGMENTS = 64
_MAX_LINE_BYTES = 100_000


class _Entry(BaseModel):
    key: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    verdict: DcrVerdict | CsrVerdict


class _SegmentLock(FileLock):
    """Held by a segment's writer as long as it lives.

    A class of its own, since lmms-eval makes every plain FileLock re-entrant across its process's objects.
    """


def judge_folder(model: str, server: str) -> Path:
    """Where the verdicts of a judge are: two servers may have different models of one name.

    Args:
        model: The judge's name, whatever characters are in it.
        server: Its address, without secrets.

    Raises:
        DataError: The cache folder cannot be used.
    """
    safe = re.sub(r"[^A-Za-z0-9._-]+", "_", model).strip(".")[:60]
    return cache_root() / "judge" / f"{safe}-{hashlib.sha256(json.dumps([model, server]).encode()).hexdigest()[:8]}"


class VerdictCache:
    """The verdicts of one judge.

    Attributes:
        damaged: Lines of the folder's files that hold no verdict (a last line cut short by a kill is none of them).
    """

    def __init__(self, folder: Path) -> None:
        """Reads what there is; beyond 64 files, those that nobody writes to any more become one.

        Args:
            folder: Made if it is not there.

        Raises:
            DataError: The folder cannot be read or written.
        """
        self._folder = folder
        self._verdicts: dict[tuple[str, Kind], Verdict] = {}
        self._opening = threading.Lock()
        self._segment: int | None = None
        self._writable = True
        self.damaged = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with FileLock(folder / "lock"):  # a file is gone once it was folded: nobody reads while another folds
                segments = sorted(folder.glob("*.jsonl"))
                for segment in segments:
                    found, damaged = _read(segment)
                    self._verdicts |= found
                    self.damaged += damaged
                if len(segments) > _MAX_SEGMENTS:
                    self._fold(segments)
        except OSError as error:
            raise DataError(
                f"The judge's verdicts in {folder} cannot be used: {error}. Mend it or set {CACHE}."
            ) from error
        if self.damaged:
            logger.warning("{} damaged lines in the judge's verdicts in {} are ignored.", self.damaged, folder)

    def get(self, key: str, kind: Kind) -> Verdict | None:
        """The verdict on what has this key, or None."""
        return self._verdicts.get((key, kind))

    def put(self, key: str, kind: Kind, verdict: Verdict) -> None:
        """Keeps a verdict; it is on disk when this returns, even if the process is killed then.

        One that cannot be written, as to a full disk, is one warning: it and all others are then kept in memory.
        """
        self._verdicts[key, kind] = verdict
        with self._opening:
            if not self._writable:
                return
            try:
                line = _line(key, verdict)
                if self._segment is None:
                    self._segment = self._open_segment()
                if os.write(self._segment, line) < len(line):
                    raise OSError("the disk is full")
            except (OSError, PydanticSerializationError) as error:
                self._writable = False
                logger.warning("The judge's verdicts cannot be kept in {}: {}.", self._folder, error)

    def _open_segment(self) -> int:
        host = re.sub(r"[^A-Za-z0-9-]+", "_", socket.gethostname())[:40]
        path = self._folder / f"{host}-{os.getpid()}-{secrets.token_hex(4)}.jsonl"
        self._lock = _SegmentLock(_lock_of(path), thread_local=False)
        self._lock.acquire()
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o666)

    def _fold(self, segments: list[Path]) -> None:
        for left in self._folder.glob("*.tmp"):  # by a process that was killed
            left.unlink()
        ended = [segment for segment in segments if _is_ended(segment)]
        kept: dict[tuple[str, Kind], Verdict] = {}
        for segment in ended:  # again: a writer may have gone on until it ended
            kept |= _read(segment)[0]
        aside = self._folder / f"folded-{secrets.token_hex(4)}.tmp"
        aside.write_bytes(b"".join(_line(key, verdict) for (key, _), verdict in kept.items()))
        aside.rename(aside.with_suffix(".jsonl"))
        for segment in ended:
            segment.unlink()
            _lock_of(segment).unlink(missing_ok=True)


def _lock_of(segment: Path) -> Path:
    return segment.with_suffix(".lock")


def _is_ended(segment: Path) -> bool:
    """Whether nobody will write to a segment any more: its writer locked it before it was there, and is gone."""
    lock = _SegmentLock(_lock_of(segment), thread_local=False)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        return False
    lock.release()
    return True


def _line(key: str, verdict: Verdict) -> bytes:
    return _Entry(key=key, verdict=verdict).model_dump_json().encode() + b"\n"


def _read(segment: Path) -> tuple[dict[tuple[str, Kind], Verdict], int]:
    """The verdicts of a segment, and the number of its lines that hold none."""
    found: dict[tuple[str, Kind], Verdict] = {}
    damaged = 0
    with segment.open("rb") as file:
        while line := file.readline(_MAX_LINE_BYTES):
            try:
                entry = _Entry.model_validate_json(line)
            except ValidationError:
                is_cut_short = len(line) < _MAX_LINE_BYTES and not line.endswith(b"\n")
                damaged += not is_cut_short
            else:
                found[entry.key, "dcr" if isinstance(entry.verdict, DcrVerdict) else "csr"] = entry.verdict
    return found, damaged
