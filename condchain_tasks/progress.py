"""How far a piece of work is, on stderr: a bar on a terminal, else plain lines once it takes longer.

Where work is spread over processes, the one that waits for them advances.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

QUIET_SECONDS = 2.0
"""Where no terminal is, what takes no longer says nothing."""

LINE_SECONDS = 10.0
"""Where no terminal is, the time from one line to the next."""

_Item = TypeVar("_Item")

_BAR_SECONDS = 0.1

_displays: list[Bars] = []  # the one in use, if any: what runs within it adds a bar to it
_choosing_display = threading.Lock()


class Progress:
    """How far a piece of work is; any thread may advance it."""

    def __init__(self, total: int | None) -> None:
        self.done = 0
        self.total = total
        self._lock = threading.Lock()

    def advance(self, by: int = 1) -> None:
        """So many more are done."""
        with self._lock:
            self.done += by


def track(items: Iterable[_Item], what: str, total: int | None = None) -> Iterator[_Item]:
    """Hands on items, and shows how many of them the caller is through with.

    Args:
        items: Anything.
        what: What is done, such as "Reading runs".
        total: Number of items; left out, as many as `items` says it has.
    """
    if total is None and isinstance(items, Sized):
        total = len(items)
    with progress(what, total) as shown:
        for item in items:
            yield item
            shown.advance()


@contextlib.contextmanager
def progress(what: str, total: int | None = None) -> Iterator[Progress]:
    """Shows how far the work within is.

    Args:
        what: What is done, such as "Reading runs".
        total: How many steps it has, if that is known.

    Yields:
        What to advance after each step.
    """
    moving = Progress(total)
    with _bar(what, moving) if _on_terminal() else _lines(what, moving):
        yield moving


def _on_terminal() -> bool:
    """Whether stderr is a terminal on which lines can be drawn anew, whatever the environment claims."""
    try:
        return sys.stderr.isatty() and not Console(stderr=True).is_dumb_terminal
    except (AttributeError, ValueError):  # there is none, or it is closed
        return False


@contextlib.contextmanager
def _bar(what: str, moving: Progress) -> Iterator[None]:
    with _display() as bars:
        task = bars.add_task(what, total=moving.total)

        def show() -> None:
            bars.update(task, completed=moving.done, total=moving.total, refresh=True)

        try:
            with _repeated(show, first=0.0, then=_BAR_SECONDS):
                yield
        finally:
            bars.remove_task(task)


@contextlib.contextmanager
def _display() -> Iterator[Bars]:
    """The display in use, or a new one: a terminal has room for one."""
    with _choosing_display:
        outermost = not _displays
        if outermost:
            _displays.append(_new_display())
            _displays[0].start()
        bars = _displays[0]
    try:
        yield bars
    finally:
        if outermost:
            with _choosing_display:
                _displays.clear()
            bars.stop()


def _new_display() -> Bars:
    return Bars(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        auto_refresh=False,
        transient=True,
        redirect_stdout=sys.stdout is not None and sys.stdout.isatty(),
    )


@contextlib.contextmanager
def _lines(what: str, moving: Progress) -> Iterator[None]:
    def show() -> None:
        of = "" if moving.total is None else f" of {moving.total:,}"
        print(f"{what}: {moving.done:,}{of}" if moving.done or of else f"{what} ...", file=sys.stderr)

    with _repeated(show, QUIET_SECONDS, LINE_SECONDS):
        yield


@contextlib.contextmanager
def _repeated(show: Callable[[], None], first: float, then: float) -> Iterator[None]:
    """Calls `show` in a thread after so many seconds and again after so many more, until the end of the block."""
    ended = threading.Event()

    def repeat() -> None:
        pause = first
        while not ended.wait(pause):
            pause = then
            try:
                show()
            except (AttributeError, OSError, ValueError):  # stderr is gone: the work matters, not its display
                return

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
