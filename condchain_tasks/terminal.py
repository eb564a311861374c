"""What the command `condchain` prints: tables and sentences on any terminal, or JSON for other programs."""

from __future__ import annotations

import codecs
import contextlib
import io
import json
import math
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TextIO

import typer
from rich.console import Console

from condchain_tasks.data.files import write_aside

STDOUT = Path("-")
"""Where JSON goes that another program reads; what is for people then goes to stderr."""

_kept: list[TextIO] = []
_OTHERWISE = "condchain-otherwise"
_TYPEWRITTEN = {"–": "-", "−": "-", "…": "...", "’": "'", "±": "+-", "×": "x", "·": "*", "≥": ">=", "≤": "<=", "�": "?"}
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Terminal(Console):
    """What is printed came from files too: control characters in it do not reach the terminal."""

    def print(self, *objects: Any, **more: Any) -> None:
        shown = (_CONTROLS.sub("�", one) if isinstance(one, str) else one for one in objects)
        try:
            super().print(*shown, **more)
        except OSError as error:  # such as a full disk behind a redirection
            with contextlib.suppress(OSError):
                sys.stderr.write(f"condchain: cannot write: {error.strerror}.\n")
            raise typer.Exit(1) from error


# Where no terminal is, nothing is wrapped: one message is one line.
out = Terminal(width=None if sys.stdout.isatty() else 1_000, soft_wrap=True, highlight=False, markup=False)
err = Terminal(stderr=True, soft_wrap=True, highlight=False, markup=False)


def take_any_text() -> None:
    """Makes stdout and stderr write what their encoding lacks in another way, instead of failing."""
    codecs.register_error(_OTHERWISE, _otherwise)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_OTHERWISE)


def _otherwise(error: UnicodeError) -> tuple[str | bytes, int]:
    """What is written instead of characters that an encoding lacks.

    Names of files are bytes; those that Python could not read as text are written as they were, if they are text to
    others. Typographic characters have likes on a typewriter. Anything else is escaped: `\\u03ba`.
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    with contextlib.suppress(UnicodeError):
        read = lacking.encode("ascii", "surrogateescape")
        if read.decode().isprintable():
            return read, error.end
    written = (_TYPEWRITTEN.get(one) or one.encode("ascii", "backslashreplace").decode() for one in lacking)
    return "".join(written), error.end


@contextlib.contextmanager
def stdout_for_json() -> Iterator[None]:
    """Keeps stdout for `write_json`: what else is printed goes to stderr, the messages of other packages too."""
    _kept.append(sys.stdout)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        _kept.pop()


def write_json(file: Path, value: object) -> None:
    """Writes a value as JSON.

    Args:
        file: Where to; "-": stdout.
        value: As for `plain`.

    Raises:
        OSError: The file cannot be written.
    """
    text = json.dumps(plain(value), indent=2, allow_nan=False) + "\n"
    if file == STDOUT:
        (_kept[-1] if _kept else sys.stdout).write(text)
    else:
        write_aside(file, text)


def plain(value: object) -> Any:
    """A value as JSON has it: no classes, no tuples, and null for a number that is not finite.

    Args:
        value: Made of dataclasses, named tuples, other collections, texts and numbers; of anything else its text.
    """
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        value = value._asdict()
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(one) for one in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)
