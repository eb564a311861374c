"""Where a command may write: not over what it reads, nor over a log or results of lmms-eval."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from condchain_tasks.data.errors import DataError
from condchain_tasks.report.runs import is_log

_MAX_LINKS = 40  # as many as Linux follows


def check_output(path: Path, inputs: Iterable[Path] = (), ending: str = "") -> None:
    """Makes sure that a file can be written without harm, wherever links lead.

    Args:
        path: The file.
        inputs: Files that the command reads.
        ending: What the file's name has to end in, such as ".json", in any case; "" for any. A pipe or a device, such
            as /dev/stdout, has what name it likes.

    Raises:
        DataError: It is an input, has the name of a log or of results of lmms-eval, or ends in something else.
    """
    for place in _followed(path):
        if is_log(place):
            raise DataError(
                f"{path}: expected another name, since logs and results of lmms-eval are called like {place.name}. "
                "Nothing was written."
            )
    if path.exists() and (same := next((one for one in inputs if one.exists() and path.samefile(one)), None)):
        raise DataError(f"{path} is what is read{'' if same == path else f' as {same}'}. Nothing was written.")
    is_stream = path.exists() and not path.is_file() and not path.is_dir()
    if not is_stream and not path.name.lower().endswith(ending):
        raise DataError(f"{path}: expected a name that ends in {ending}. Nothing was written.")


def _followed(path: Path) -> Iterator[Path]:
    """A path, and each that it leads to as a link."""
    yield path
    for _ in range(_MAX_LINKS):
        if not path.is_symlink():
            return
        path = path.parent / path.readlink()
        yield path
