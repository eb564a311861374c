"""Writing files that others may read, or write, at the same time."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def beside(path: Path) -> Iterator[Path]:
    """A name that nobody else uses, in the folder of a file, for what is to be renamed to it.

    Args:
        path: The file.

    Yields:
        The name. What stands there at the end is removed.

    Raises:
        OSError: As it was raised inside; one that names the temporary file names `path` instead.
    """
    aside = path.with_name(f".{path.name[:40]}-{secrets.token_hex(8)}.part")
    try:
        yield aside
    except OSError as error:
        if str(error.filename) == str(aside):
            error.filename = str(path)
        raise
    finally:
        aside.unlink(missing_ok=True)


def write_aside(
    path: Path,
    text: str | Iterable[str],
    *,
    encoding: str = "utf-8",
    errors: str = "strict",
    newline: str | None = None,
) -> None:
    """Writes a text file that is seen whole or not at all: under a temporary name beside it, which is then renamed.

    Args:
        path: The file; one that is there is replaced. A link, a pipe or a device is written to as it is: /dev/stdout
            stays what it is.
        text: The text, or its parts.
        encoding: As for `open`.
        errors: As for `open`.
        newline: As for `open`.

    Raises:
        OSError: It cannot be written; what was there before is still there.
    """
    parts = [text] if isinstance(text, str) else text
    if path.is_symlink() or (path.exists() and not path.is_file()):
        with path.open("w", encoding=encoding, errors=errors, newline=newline) as stream:
            stream.writelines(parts)
        return
    with beside(path) as aside:
        with aside.open("x", encoding=encoding, errors=errors, newline=newline) as file:
            file.writelines(parts)
        aside.replace(path)
