"""Writes a sweep: a configuration for each cell, and the scripts that run them."""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jinja2
import yaml

from condchain_tasks.data.errors import DataError
from condchain_tasks.data.files import beside
from condchain_tasks.sweep.plan import Cell, Launch, Plan, joined, shapes

CELLS = "cells"
"""The folder of the cells' folders."""

CONFIG = "config.yaml"
LAUNCH = "launch.sh"
LOG = "log.txt"
EXIT_CODE = "exit_code"
STARTED = "started"
RESULTS_FILE = "results_file"
LOCK = "lock"
RESULTS = "results"
CACHE = "cache"
"""What is in a cell's folder: the configuration, what runs it, its log, its exit code, where and when it was last
started, which results that left, what it locks as long as it runs, lmms-eval's results, and the replies that it keeps.
No two cells share those: lmms-eval's cache tells replies apart by model, task, prompt and some generation settings, but
not by seed, system instruction or server, and it reads the common file as if no other process wrote to it."""

NO_RESULTS = 70
"""Exit code of a cell that came to its end and left no results: lmms-eval exits with 0 after an error."""

BUDGET_REACHED = 75
"""Exit code of a cell that spent its tokens before it was through."""

_RUNS_ELSEWHERE = 3
_FOLDERS = frozenset({"CONDCHAIN_DATA", "CCRV_DATA", "VREX_DATA", "CONDCHAIN_PROMPTS"})
_CACHES = frozenset({"CONDCHAIN_CACHE", "HF_HOME", "HF_HUB_CACHE", "HF_DATASETS_CACHE"})
_FOLDER = re.compile(r"[\w./+@-]+", re.ASCII)


@dataclass(frozen=True)
class Written:
    """What was written.

    Attributes:
        cells: Number of cells.
        shell: The script that runs them one after another.
        slurm: Array scripts, one for each kind of machine that the plan asks for.
        absent: Folders of data and prompts that the plan names and this machine does not have, with their variables.
    """

    cells: int
    shell: Path
    slurm: tuple[Path, ...]
    absent: tuple[tuple[str, Path], ...]


def write_sweep(plan: Plan, out: Path, source: Path | None = None) -> Written:
    """Writes the files that run a plan.

    `run.sh` runs the cells one after another, `slurm_*.sh` as SLURM arrays; both leave each cell to `cell.sh`, which
    skips it if it is done or runs elsewhere, and keeps its log and its exit code. `cells/NAME/` holds a cell's
    `config.yaml`, for `lmms-eval --config`, and `launch.sh`, which runs it with its environment variables.

    Args:
        plan: The plan.
        out: The folder; if it holds a sweep, its scripts and configurations are replaced, array scripts for machines
            that the plan no longer asks for are removed, and what has run stays.
        source: The plan's file, which is not written over, and which relative paths in the plan go out from; without it
            they go out from the working directory.

    Returns:
        The scripts.

    Raises:
        DataError: The folder holds something else or the plan, or has a name that does not fit into a SLURM script.
        OSError: It cannot be written to.
    """
    out = out.absolute()
    if not _FOLDER.fullmatch(str(out)):
        raise DataError(f"{out}: expected a folder with letters, digits and . / _ + @ - alone in its path.")
    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not (out / CELLS).is_dir())):
        raise DataError(f"{out} is there, and is no folder of a sweep. Name another one.")
    if source and _is_own(source, out):
        raise DataError(f"{source} lies where the sweep's own files are. Move it, or name another folder.")
    start = source.absolute().parent if source else Path.cwd()
    absolute = [_absolute(cell, start) for cell in plan.cells]
    python = _place(plan.python, start) if "/" in plan.python else plan.python
    (out / "slurm").mkdir(parents=True, exist_ok=True)
    for name, cell in zip((cell.name for cell in plan.cells), absolute, strict=True):
        folder = out / CELLS / name
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder / CONFIG, yaml.safe_dump(configuration(cell, out, name), sort_keys=False, allow_unicode=True))
        command = _command(python, cell.model.launch, folder)
        _write(folder / LAUNCH, _render("launch.sh.j2", name=name, env=cell.env, command=command))
    _write(out / "cell.sh", _render("cell.sh.j2", out=out, plan=plan))
    _write(out / "run.sh", _render("run.sh.j2", out=out, cells=plan.cells))
    arrays = []
    for launch, cells in shapes(plan):
        script = out / f"slurm_{launch.shape}.sh"
        values = {"out": out, "name": script.name, "marker": _marker(script)}
        _write(script, _render("slurm.sh.j2", **values, plan=plan, launch=launch, cells=cells))
        arrays.append(script)
    for script in set(out.glob("slurm_*.sh")).difference(arrays):
        if _is_generated(script):
            script.unlink()
    named = {(name, Path(value)) for cell in absolute for name, value in cell.env.items() if name in _FOLDERS}
    absent = tuple(sorted((name, folder) for name, folder in named if not folder.is_dir()))
    return Written(len(plan.cells), out / "run.sh", tuple(arrays), absent)


def _absolute(cell: Cell, start: Path) -> Cell:
    """A cell whose relative paths go out from a folder. Its name is that of what stands in the plan."""

    def is_path(name: str, value: object) -> bool:
        return isinstance(value, str) and (name in _FOLDERS | _CACHES or value.startswith(("./", "../", "~/")))

    env = {name: _place(value, start) if is_path(name, value) else value for name, value in cell.env.items()}
    args = {name: _place(value, start) if is_path("", value) else value for name, value in cell.model.args.items()}
    for name, value in args.items():
        # What is taken of a plan was looked at before its paths were.
        if value != cell.model.args[name] and not _FOLDER.fullmatch(value):
            raise DataError(f"{value}: expected a path with letters, digits and . / _ + @ - alone, for {name}.")
    return replace(cell, env=env, model=cell.model.model_copy(update={"args": args}))


def _place(path: str, start: Path) -> str:
    return os.path.normpath(start / Path(path).expanduser())


def _is_own(file: Path, out: Path) -> bool:
    """Whether a file has the place of one that a sweep in a folder writes."""
    real, folder = file.resolve(), out.resolve()
    if not real.is_relative_to(folder):
        return False
    first = Path(real.relative_to(folder).parts[0])
    return first.name == CELLS or first.suffix == ".sh"


def configuration(cell: Cell, out: Path, name: str | None = None) -> dict[str, Any]:
    """A cell as lmms-eval's `--config` takes it.

    Args:
        cell: The cell.
        out: The sweep's folder, absolute.
        name: Of the cell's folder, if it is not the cell's own name.

    Returns:
        The names and values of command-line options, and `env`.
    """
    setting, seed = cell.setting, cell.setting.seed
    optional = {
        "gen_kwargs": joined(setting.gen_kwargs) or None,
        "limit": setting.limit,
        "seed": None if seed is None else [seed] * 4,
        "system_instruction": setting.system_instruction,
        "max_tokens": setting.max_tokens,
    }
    return {
        "model": cell.model.model,
        "model_args": joined(cell.model.args),
        "tasks": cell.task,
        "batch_size": cell.model.batch_size,
        **{name: value for name, value in optional.items() if value is not None},
        "log_samples": True,
        "output_path": str(out / CELLS / (name or cell.name) / RESULTS),
        "use_cache": str(out / CELLS / (name or cell.name) / CACHE),
        **({"env": dict(cell.env)} if cell.env else {}),
    }


def _command(python: str, launch: Launch, folder: Path) -> str:
    evaluation = ["-m", "lmms_eval", "--config", str(folder / CONFIG)]
    if launch.machines == launch.processes == 1:
        return shlex.join([python, *evaluation])
    options = [
        *("--num_machines", str(launch.machines)),
        *("--num_processes", str(launch.machines * launch.processes)),
        *("--mixed_precision", "no", "--dynamo_backend", "no"),
    ]
    if launch.machines > 1:
        # Known on each machine only once SLURM has started the job there.
        places = '--machine_rank "$SLURM_NODEID" --main_process_ip "$MASTER_ADDR" --main_process_port "$MASTER_PORT"'
    else:
        places = "--main_process_port 0"  # any that is free: cells may share a machine
    accelerate = shlex.join([python, "-m", "accelerate.commands.launch", *options])
    return f"{accelerate} {places} {shlex.join(evaluation)}"


def _marker(script: Path) -> str:
    """A line that a copy under another name does not have for its own."""
    return f"# Written by condchain sweep as {script.name}, which goes when the plan asks for other machines."


def _is_generated(script: Path) -> bool:
    if script.is_symlink() or not script.is_file():
        return False
    with script.open("rb") as file:
        return _marker(script).encode() in file.read(1_000).splitlines()


def _render(template: str, **values: Any) -> str:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("condchain_tasks.sweep"),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # nothing here is HTML; everything goes through the filter q
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["q"] = lambda value: shlex.quote(str(value))
    codes = {"no_results": NO_RESULTS, "budget_reached": BUDGET_REACHED, "runs_elsewhere": _RUNS_ELSEWHERE}
    return environment.get_template(template).render(**values, **codes)


def _write(path: Path, text: str) -> None:
    # A shell reads its script as it goes: one that runs keeps the file that it was started with.
    with beside(path) as aside:
        aside.write_text(text, encoding="utf-8")
        if path.suffix == ".sh":
            aside.chmod(0o755)
        aside.replace(path)
