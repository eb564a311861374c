"""Work that is spread over the machine's processors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from joblib import Parallel, cpu_count, delayed
from joblib.externals.loky.process_executor import TerminatedWorkerError

from condchain_tasks.data.errors import DataError

_MOST = 8
"""More processes gain little, and each takes some 150 MB."""

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def in_processes(work: Callable[[_Item], _Result], items: Sequence[_Item]) -> Iterator[_Result]:
    """Does one thing with many items, in as many processes as there are processors that this one may use.

    They stay for further calls and end with this process. Starting them takes about a second.

    Args:
        work: A function of a module, without effects.
        items: What it is given, one at a time.

    Yields:
        What it returns, in their order, as soon as it is there.

    Raises:
        DataError: A process was killed.
    """
    try:
        workers = Parallel(n_jobs=min(_MOST, cpu_count()), return_as="generator")
        yield from workers(delayed(work)(item) for item in items)
    except TerminatedWorkerError as error:
        raise DataError("A process of the report was killed: is there too little memory? Name fewer runs.") from error
