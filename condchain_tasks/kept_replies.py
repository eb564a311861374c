"""Replies on the disk: what lmms-eval's response cache keeps outlives full disks, damaged files and killed runs.

One file that cannot be read, or one byte that cannot be written, ends lmms-eval's run, with the replies that it was
given. What a broken run has stored is never looked at again, and a lock that it leaves behind holds up all later ones.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import socket
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from filelock import FileLock
from loguru import logger

from condchain_tasks.data.harness import RunNotPossible

_SAID = "_condchain_tasks_said"
_FOLDER = "_condchain_tasks_folder"
_STALE_S = 600.0  # a merge takes seconds
_MEMORY = Path("/dev/shm")
_INSERT = "INSERT OR IGNORE INTO responses VALUES (?, ?, ?, ?, ?, ?, ?, ?)"


def keep_replies_whatever_happens(response_cache: Any) -> None:
    """Wraps the methods of lmms-eval's `ResponseCache` that touch the disk.

    Args:
        response_cache: The class.

    Raises:
        AttributeError: It has other methods.
    """
    create: Callable[..., Any] = response_cache.create
    log: Callable[..., None] = response_cache._log_to_audit
    store: Callable[..., None] = response_cache._store
    finalize: Callable[..., None] = response_cache.finalize

    def create_with_leftovers(cls: type[Any], /, cache_root: str, **kwargs: Any) -> Any:
        root = Path(cache_root).parent if cache_root.endswith(".db") else Path(cache_root)
        try:
            _take_over(response_cache, root, root)
            return create(str(root), **kwargs)
        except (sqlite3.Error, OSError) as error:
            logger.warning(
                "The replies of this run are not kept: {} cannot be written ({}). Those that it has are used.",
                root,
                error,
            )
        try:
            folder = tempfile.TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None, prefix="condchain-replies-")
            _take_over(response_cache, root, Path(folder.name))
            cache = create(folder.name, **kwargs)
        except (sqlite3.Error, OSError) as error:
            raise RunNotPossible(f"--use_cache {cache_root} cannot be used ({error}). Leave it out.") from error
        setattr(cache, _FOLDER, folder)  # it is there as long as the cache is
        return cache

    @functools.wraps(log)
    def log_or_go_on(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            log(self, *args, **kwargs)
        except OSError as error:
            _say_once(self, error)

    @functools.wraps(store)
    def store_or_go_on(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            store(self, *args, **kwargs)
        except (sqlite3.Error, OSError) as error:
            with suppress(sqlite3.Error):
                self.db.rollback()
            _say_once(self, error)

    @functools.wraps(finalize)
    def finalize_or_go_on(self: Any, **kwargs: Any) -> None:
        try:
            if self._cache_root and self._global_rank == 0:
                _break_dead_lock(Path(self._cache_root))
            finalize(self, **kwargs)
        except (sqlite3.Error, OSError) as error:
            _say_once(self, error)

    response_cache.create = classmethod(create_with_leftovers)
    response_cache._log_to_audit = log_or_go_on
    response_cache._store = store_or_go_on
    response_cache.finalize = finalize_or_go_on


def _say_once(cache: Any, error: Exception) -> None:
    if not getattr(cache, _SAID, False):
        setattr(cache, _SAID, True)
        logger.warning(
            "Replies cannot be written to {} ({}). The run goes on with them in memory; the next run asks again for "
            "those that are missing there.",
            cache._cache_root or cache.db_path,
            error,
        )


def _take_over(response_cache: Any, root: Path, target: Path) -> None:
    """Puts the replies that runs have stored below `root` where the cache looks for them, below `target`.

    A run that goes on beside this one keeps its own; taking over what it has so far does it no harm.

    Raises:
        OSError: `target` cannot be written.
        sqlite3.Error: Likewise.
    """
    kept = sorted(root.glob("runs/*/rank_*.db"))
    if target != root and (root / "cache.db").exists():
        kept.insert(0, root / "cache.db")
    target.mkdir(parents=True, exist_ok=True)
    with FileLock(target / "leftovers.lock"):  # ranks start together
        cache = target / "cache.db"
        _set_aside_if_damaged(cache)
        for shard in kept:
            if (error := _why_unreadable(shard)) is None:
                response_cache.merge_shards([str(shard)], str(cache))
                continue
            found = _take_over_log(response_cache, shard.with_suffix(".audit.jsonl"), cache)
            logger.warning(
                "{} cannot be read ({}); {} of its replies are taken from the log beside it.", shard, error, found
            )
            if type(error) is sqlite3.DatabaseError and target == root:
                # A run that is started under the same number again, as SLURM does, would stop at it.
                shard.replace(shard.with_name(f"{shard.name}.damaged"))


def _set_aside_if_damaged(cache: Path) -> None:
    if not cache.exists() or type(error := _why_unreadable(cache)) is not sqlite3.DatabaseError:
        return
    aside = cache.with_name("cache.db.damaged")
    cache.replace(aside)
    for rest in ("-wal", "-shm"):
        cache.with_name(cache.name + rest).unlink(missing_ok=True)
    logger.warning(
        "{} is damaged ({}) and now called {}: it is made anew from what the runs have stored.",
        cache,
        error,
        aside.name,
    )


def _why_unreadable(database: Path) -> Exception | None:
    """The error at which reading all replies of a database ends; None if there is none.

    It is a plain `sqlite3.DatabaseError` if the file is damaged, and one of its subclasses if it is empty or in use.
    """
    try:
        with closing(sqlite3.connect(database, timeout=30)) as db:
            for _ in db.execute("SELECT cache_key, response FROM responses"):
                pass
            db.execute("SELECT key, value FROM meta").fetchall()
    except sqlite3.Error as error:
        return error
    return None


def _take_over_log(response_cache: Any, log: Path, cache: Path) -> int:
    """Puts the replies of a run's log into the cache, and gives their number."""
    rows = list(_rows(log))
    response_cache.merge_shards([], str(cache))  # makes the tables
    with closing(sqlite3.connect(cache, timeout=30)) as db, db:
        db.executemany(_INSERT, rows)
    return len(rows)


def _rows(log: Path) -> Iterator[tuple[Any, ...]]:
    if not log.is_file():
        return
    with log.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                entry = json.loads(line)
                if entry["cache_key"] and entry["deterministic"]:
                    names = ("cache_key", "request_type", "task_name", "doc_id", "idx", "gen_kwargs", "response")
                    yield (*(entry[name] for name in names), entry["created_at"])
            except (ValueError, KeyError, TypeError):
                continue  # a line that was cut off as the run was killed


def _break_dead_lock(root: Path) -> None:
    """Removes lmms-eval's lock of a merge if the process that holds it is gone: no one else ever will."""
    lock = root / "runs" / ".merge.lock"
    with FileLock(root / "leftovers.lock"):  # of two runs that find it dead, the second sees the first one's own
        if lock.is_dir() and _is_dead(lock):
            logger.warning("{} is left over from a run that was killed, and is removed.", lock)
            shutil.rmtree(lock, ignore_errors=True)


def _is_dead(lock: Path) -> bool:
    age = time.time() - lock.stat().st_mtime
    try:
        owner = json.loads((lock / "owner.json").read_text(encoding="utf-8"))
        if owner["hostname"] == socket.gethostname():
            os.kill(int(owner["pid"]), 0)
    except ProcessLookupError:
        return True
    except (OSError, ValueError, KeyError, TypeError):
        pass  # killed before it wrote who it is, or another user's
    return age > _STALE_S
