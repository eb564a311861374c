"""What lmms-eval leaves of a run: one file of results, and with `--log_samples` one file of samples for each task."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from condchain_tasks.data.errors import DataError

MAX_LINE_BYTES = 50_000_000
"""Of one sample; a longer line is left out."""

MAX_FILES = 200_000
"""Below a folder that is named; a folder of runs has a few hundred."""

JUDGED = "-judged-"
"""In the date of what `condchain judge` wrote: behind the date of the run, and before when it was judged."""

SCORED = "-scored-"
"""The same of what `condchain score` wrote."""

_LATER = re.compile(rf"(?P<run>.+?)(?:{JUDGED}|{SCORED})(?P<made>.+)")
_SAMPLES = re.compile(r"(?P<date>.+?)_samples_(?P<task>\w+)\.jsonl")
_MAX_RESULTS_BYTES = 200_000_000
_SKIPPED_BYTES = 1_000_000  # of a line that is too long, at a time


@dataclass(frozen=True)
class SampleFile:
    """The samples of one task in one run.

    Attributes:
        path: The JSON lines.
        date: The run's, as lmms-eval writes it into file names.
        task: The task's name.
    """

    path: Path
    date: str
    task: str

    @property
    def results(self) -> Path:
        """Where the run's results are, if it came to an end."""
        return self.path.with_name(f"{self.date}_results.json")

    @property
    def run(self) -> tuple[Path, str]:
        """What identifies the run, whether it was judged or scored later or not: the folder and the run's own date."""
        return self.path.parent, self.order[0]

    @property
    def order(self) -> tuple[str, str]:
        """By what the newer of two files of a model is found: the run's date, and when it was judged or scored.

        The second is "" for the run's own files.
        """
        later = _LATER.fullmatch(self.date)
        return (later["run"], later["made"]) if later else (self.date, "")

    @property
    def is_left(self) -> bool:
        """Whether it was left by a judging or scoring that was killed before it wrote its results, its last file."""
        return bool(self.order[1]) and not self.results.is_file()

    @property
    def model(self) -> str:
        """The folder that lmms-eval names after the model."""
        return self.path.parent.name


@dataclass(frozen=True)
class Below:
    """What is below a folder, at any depth.

    Attributes:
        files: Sorted.
        unreadable: Folders that cannot be listed, and why.
        outside: Links to folders outside, which were not followed, and where they lead.
    """

    files: tuple[Path, ...]
    unreadable: tuple[tuple[Path, str], ...]
    outside: tuple[tuple[Path, Path], ...]


def below(folder: Path) -> Below:
    """Lists a folder; one to which several ways lead is listed once.

    Links to folders are followed as long as they stay in the folder that was named, wherever that lies: a link to `/`
    would have the whole machine searched. Links to files are followed.

    Raises:
        DataError: There are more than `MAX_FILES` files.
    """
    files: list[Path] = []
    errors: list[OSError] = []
    outside: list[tuple[Path, Path]] = []
    seen: set[Path] = set()
    root = folder.resolve()
    for place, folders, names in os.walk(folder, onerror=errors.append, followlinks=True):
        real = Path(os.path.realpath(place))
        if not real.is_relative_to(root):
            outside.append((Path(place), real))
        if real in seen or not real.is_relative_to(root):
            folders.clear()
            continue
        seen.add(real)
        folders.sort()
        files += [Path(place, name) for name in names]
        if len(files) > MAX_FILES:
            raise DataError(f"{folder} holds more than {MAX_FILES:,} files: name the folder of the runs.")
    unreadable = [(Path(str(error.filename)), error.strerror or str(error)) for error in errors]
    return Below(tuple(sorted(files)), tuple(unreadable), tuple(outside))


def results_files(run: Path) -> list[Path]:
    """Finds the results of runs, whether they have samples or not.

    Args:
        run: A folder, such as that of `--output_path`, or one file of results.

    Returns:
        All files of results below it; none if there are none.
    """
    return results_among([run] if run.is_file() else below(run).files)


def samples_among(paths: Iterable[Path]) -> list[SampleFile]:
    """Those of some files that hold samples, the newest run of a model last."""
    found = [
        SampleFile(path, match["date"], match["task"])
        for path in paths
        if (match := _SAMPLES.fullmatch(path.name)) and path.is_file()
    ]
    return sorted(found, key=lambda file: (file.path.parent, file.order, file.task))


def results_among(paths: Iterable[Path]) -> list[Path]:
    """Those of some files that hold results."""
    return [path for path in paths if path.name.endswith("_results.json") and path.is_file()]


def is_log(path: Path) -> bool:
    """Whether a file's name is one that lmms-eval gives to samples or to results."""
    return bool(_SAMPLES.fullmatch(path.name)) or path.name.endswith("_results.json")


def logs_of(paths: Iterable[Path]) -> Iterator[Path]:
    """Files of samples and of results, those below folders too; what is no folder is given as it is."""
    for path in paths:
        if path.is_dir():
            yield from filter(is_log, below(path).files)
        else:
            yield path


def read_lines(path: Path) -> Iterator[tuple[int, int, bytes | None]]:
    """The lines of a sample log, in bounded memory whatever is in it.

    Yields:
        Number, from 1, where the line begins, in bytes, and the line, if it is not blank; None instead of one that is
        longer than `MAX_LINE_BYTES`, which is skipped in pieces.

    Raises:
        OSError: The file cannot be read.
    """
    with path.open("rb") as file:
        number = offset = 0
        while line := file.readline(MAX_LINE_BYTES + 1):
            number += 1
            start, offset = offset, offset + len(line)
            if len(line) > MAX_LINE_BYTES:
                while line and not line.endswith(b"\n"):
                    line = file.readline(_SKIPPED_BYTES)
                    offset += len(line)
                yield number, start, None
            elif not line.isspace():
                yield number, start, line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line


BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_samples(file: SampleFile) -> Iterator[dict[str, Any]]:
    """The samples, in order.

    Raises:
        DataError: A line is no JSON object, as after a run that was killed while it wrote, or longer than
            `MAX_LINE_BYTES`.
        OSError: The file cannot be read.
    """
    for number, _, line in read_lines(file.path):
        place = f"{file.path}, line {number}"
        if line is None:
            raise DataError(f"{place}: has more than {MAX_LINE_BYTES:,} bytes.")
        yield parse_sample(line, place)


def parse_sample(line: bytes, place: str) -> dict[str, Any]:
    """One line of a sample log.

    Args:
        line: The line.
        place: Where it stands, for the message.

    Raises:
        DataError: It is no JSON object.
    """
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{place}: is no JSON: {error}. Was the run killed while it wrote?") from error
    if not isinstance(value, dict):
        raise DataError(f"{place}: expected a JSON object, found {type(value).__name__}.")
    return value


def reply_of(sample: dict[str, Any], place: str) -> str:
    """The one reply of a sample.

    Args:
        sample: A line of the sample log.
        place: Where it stands, for the message.

    Raises:
        DataError: There is none, or there are several.
    """
    reply = sample.get("filtered_resps")
    reply = reply[0] if isinstance(reply, list) and len(reply) == 1 else reply
    if not isinstance(reply, str):
        raise DataError(f"{place}, field filtered_resps: expected one text, found {str(reply)[:80]!r}.")
    return reply


def expected_samples(results: dict[str, Any], task: str) -> int | None:
    """How many samples a task's log has if it is whole; None if the results do not say.

    Args:
        results: Of the run.
        task: The task's name.
    """
    sizes = results.get("n-samples", {}).get(task, {})
    whole, effective = sizes.get("original"), sizes.get("effective")
    if not isinstance(whole, int) or not isinstance(effective, int):
        return None
    offset = results.get("config", {}).get("offset")
    return min(effective, whole - (offset if isinstance(offset, int) else 0))


def read_results(path: Path) -> dict[str, Any]:
    """The results of a run.

    Raises:
        DataError: There is no such file, it is no regular one, or it holds no JSON object.
    """
    if path.exists() and not path.is_file():  # a pipe would be waited for without end
        raise DataError(f"{path} holds no results: it is no file.")
    try:
        if path.stat().st_size > _MAX_RESULTS_BYTES:
            raise DataError(f"{path} has more than {_MAX_RESULTS_BYTES:,} bytes; that is no file of results.")
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise DataError(f"{path} does not exist: the run did not come to its end.") from error
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path} holds no results: {error}.") from error
    if not isinstance(value, dict):
        raise DataError(f"{path} holds no results: expected a JSON object.")
    return value
