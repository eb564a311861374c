"""Writes chains in the official layout of MM-CondChain, with the facts beside them.

OUT/data/<domain>.jsonl      one record a chain
OUT/images/<domain>/...      pictures; for gui a folder for each trajectory
OUT/facts/<domain>.jsonl     what is known about each chain (see `sidecar`)
OUT/synthetic.json           says that all this is drawn, and by which arguments
OUT/contact_sheet/           on request: pictures beside what is said of them, for a person to check
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from condchain_tasks.data.condchain_source import DOMAINS
from condchain_tasks.progress import Progress, progress
from condchain_tasks.synth import contact_sheets, worker
from condchain_tasks.synth.chains import ChainError, check_depth
from condchain_tasks.synth.folders import new_folder
from condchain_tasks.synth.predicates import Complexity
from condchain_tasks.synth.worker import Job, Made, make_share

_POLL_SECONDS = 0.02
_DRAWING = "Drawing chains"

_ALONE = 30
"""Up to so many chains, starting processes takes longer than they save."""


def write_dataset(
    out: Path,
    domains: Sequence[str],
    n: int,
    seed: int,
    depth: tuple[int, int] = (2, 6),
    complexity: Complexity | None = None,
    contact_sheet: bool = False,
    workers: int | None = None,
) -> None:
    """Makes a dataset of chains with pictures.

    The bytes of every file depend on the arguments alone, not on `workers`; a chain depends on its domain, its
    number, the seed, the depths and the complexity, not on `n`. The folder appears only once it is complete.

    Args:
        out: A folder that does not exist or is empty.
        domains: Some of `data.condchain_source.DOMAINS`.
        n: Chains for each domain.
        seed: Other seeds give other scenes and other chains.
        depth: Least and greatest number of conditions; depths are uniform between them.
        complexity: Of every condition; None: each is SIMPLE or COMPLEX, half and half.
        contact_sheet: Also make pages that show each picture beside every statement about it.
        workers: Processes; None: one for each usable core, or none for a small dataset.

    Raises:
        FileExistsError: `out` is not empty.
        ValueError: An unknown domain, no chain asked for, or depths out of range.
        ChainError: The scenes are too small for chains of that depth.
    """
    job = _job(domains, n, seed, depth, complexity)
    if workers is None:
        workers = 1 if len(job.domains) * n <= _ALONE else usable_cores()
    with new_folder(out, {"benchmark": "condchain", **asdict(job)}) as aside:
        made = _alone(aside, job) if workers == 1 else _run(aside, job, workers)
        _write_lines(aside, job, made)
        if contact_sheet:
            for domain in job.domains:
                contact_sheets.write_contact_sheets(aside, domain)


def _job(domains: Sequence[str], n: int, seed: int, depth: tuple[int, int], complexity: Complexity | None) -> Job:
    unknown = sorted(set(domains) - set(DOMAINS))
    if unknown or not domains or len(set(domains)) < len(domains):
        raise ValueError(f"domains {', '.join(domains) or '(none)'}: expected some of {', '.join(DOMAINS)}, each once")
    if n < 1:
        raise ValueError(f"n is {n}: expected at least 1 chain for each domain")
    check_depth(depth)
    return Job(tuple(domains), n, seed, depth, complexity)


def usable_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _write_lines(root: Path, job: Job, made: Iterator[Made]) -> None:
    for folder in ("data", "facts"):
        (root / folder).mkdir()
    for domain in job.domains:
        with (
            (root / "data" / f"{domain}.jsonl").open("w", encoding="utf-8", newline="\n") as records,
            (root / "facts" / f"{domain}.jsonl").open("w", encoding="utf-8", newline="\n") as facts,
        ):
            for one in islice(made, job.n):
                records.write(one.record + "\n")
                facts.write(one.facts + "\n")


def _alone(root: Path, job: Job) -> Iterator[Made]:
    """All chains in the job's order, made by this process."""
    with progress(_DRAWING, len(job.domains) * job.n) as shown:
        for made in make_share(root, job, 0, 1):
            shown.advance()
            yield made


def _run(root: Path, job: Job, workers: int) -> Iterator[Made]:
    """All chains in the job's order, made by several processes that write into files, not to wait for a reader."""
    command = [sys.executable, "-m", "condchain_tasks.synth.worker", str(root), json.dumps(asdict(job))]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path or str(Path.cwd()) for path in sys.path)}
    with ExitStack() as stack:
        files = [stack.enter_context(TemporaryFile("w+", encoding="utf-8")) for _ in range(workers)]
        processes = []
        try:
            for share, file in enumerate(files):
                arguments = [*command, str(share), str(workers)]
                processes.append(subprocess.Popen(arguments, env=environment, stdout=file, stderr=subprocess.PIPE))
            with progress(_DRAWING, len(job.domains) * job.n) as shown:
                failed = _first_failure(processes, files, shown)
        finally:
            said = [_end(process) for process in processes]
        for file in files:
            file.seek(0)
        if failed is not None:
            raise _error(files[failed].readlines(), processes[failed].returncode, said[failed])
        for file in islice(cycle(files), len(job.domains) * job.n):
            yield Made(**json.loads(file.readline()))


def _first_failure(
    processes: Sequence[subprocess.Popen[bytes]], files: Sequence[IO[str]], shown: Progress
) -> int | None:
    """Waits until all have ended well, or for the first that has not, and gives its index."""
    read = [0] * len(files)
    while True:
        statuses = [process.poll() for process in processes]
        for index, file in enumerate(files):
            # A process writes where the file stands for both; `pread` leaves it there.
            while block := os.pread(file.fileno(), 1 << 20, read[index]):
                read[index] += len(block)
                shown.advance(block.count(b"\n"))
        for index, status in enumerate(statuses):
            if status:
                return index
        if None not in statuses:
            return None
        time.sleep(_POLL_SECONDS)


def _end(process: subprocess.Popen[bytes]) -> str:
    """Ends a process, and gives the last line of what it said: of a traceback, the error."""
    process.kill()
    _, said = process.communicate()
    return (said.decode("utf-8", "replace").strip().splitlines() or [""])[-1]


def _error(lines: Sequence[str], status: int, said: str) -> Exception:
    if status == worker.CHAIN_ERROR:
        return ChainError(json.loads(lines[-1])["error"])
    return OSError(f"a process that makes chains ended with status {status}: {said}")
