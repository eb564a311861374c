"""What a run would find on this machine: versions, variables, data, caches, the judge, and the harness.

Nothing is fetched, drawn or asked, unless the judge is to be asked. What needs other packages is imported where it is
used, so that a package that is missing or broken is a finding too.
"""

from __future__ import annotations

import difflib
import importlib
import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, entry_points, requires, version
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from packaging.requirements import Requirement

from condchain_tasks import __version__
from condchain_tasks.addresses import public_address
from condchain_tasks.progress import progress
from condchain_tasks.redaction import is_secret, redacted
from condchain_tasks.wording import counted

DISTRIBUTION = "condchain-tasks"
LEAST_PYTHON = (3, 10)
LEAST_FREE_BYTES = 2_000_000_000
"""Below it, a warning: MM-CondChain takes 640 MB, and as much again where pictures are converted."""

State = Literal["ok", "note", "warning", "error"]

SIMULATED = "condchain_sim"
MARK = "_condchain_tasks_"
"""What the names of the attributes begin with that stand on classes of lmms-eval that were patched."""

_SHOWN_VERSIONS = ("lmms-eval", "torch", "transformers", "filelock", "datasets", "accelerate")
_EXTRAS = {
    "qwen-vl-utils": "Qwen-VL models of lmms-eval need it: pip install qwen-vl-utils",
    "decord": "Qwen-VL models of lmms-eval need it: pip install decord",
    "vllm": "needed for --model vllm alone, in an environment of its own",
}

_FOLDERS = ("CONDCHAIN_DATA", "CCRV_DATA", "VREX_DATA")
_OWN = (
    *_FOLDERS,
    "CONDCHAIN_REVISION",
    "CONDCHAIN_CACHE",
    "CONDCHAIN_PROMPTS",
    "CONDCHAIN_PATCHES",
    "CCRV_JUDGE",
    "CCRV_JUDGE_CONCURRENCY",
)
_OTHERS = (
    "API_TYPE",
    "API_VERSION",
    "OPENAI_API_KEY",
    "OPENAI_API_BASE",
    "OPENAI_API_URL",
    "OPENAI_ORG_ID",
    "OPENAI_PROJECT_ID",
    "AZURE_API_KEY",
    "AZURE_ENDPOINT",
    "AWS_REGION",
    "AWS_BEARER_TOKEN_BEDROCK",
    "LLM_JUDGE_URL",
    "LMMS_IMAGE_ENCODE_FORMAT",
    "LMMS_IMAGE_JPEG_QUALITY",
    "LMMS_EVAL_PLUGINS",
    "LMMS_EVAL_DATASETS_CACHE",
    "HF_HOME",
    "HF_HUB_CACHE",
    "HF_DATASETS_CACHE",
    "HF_ENDPOINT",
    "HF_HUB_OFFLINE",
    "HF_DATASETS_OFFLINE",
    "TRANSFORMERS_OFFLINE",
    "HF_TOKEN",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "CUDA_VISIBLE_DEVICES",
    "WORLD_SIZE",
    "RANK",
)
_PREFIX = re.compile(r"(?:CONDCHAIN|CCRV|VREX)_\w+")


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        section: What it belongs to, such as "versions".
        name: What was looked at.
        found: What there is, without secrets.
        state: "error": a run cannot start, or none that uses it. "warning": it can, and it may go wrong. "note": what
            one may want to know.
        advice: What to do; "" where nothing is to be done.
    """

    section: str
    name: str
    found: str
    state: State = "ok"
    advice: str = ""


def examine(ask_judge: bool = False) -> list[Finding]:
    """Looks at everything.

    Args:
        ask_judge: Whether to ask the judge one tiny question.

    Returns:
        What was found, by section.
    """
    parts: dict[str, Callable[[], Iterator[Finding]]] = {
        "versions": _versions,
        "lmms-eval": _harness,
        "variables": _variables,
        "data": _data,
        "caches": _caches,
        "judge": lambda: _judge(ask_judge),
    }
    found: list[Finding] = []
    for section, part in parts.items():
        try:
            found += part()
        except Exception as error:  # a package can be broken in every way
            said = f"{type(error).__name__}: {str(error)[:300]}"
            found.append(Finding(section, "looking at it", said, "error", "Install what it lacks, or all anew."))
    return found


# --- versions


def _versions() -> Iterator[Finding]:
    is_old = sys.version_info < LEAST_PYTHON
    advice = f"Make an environment with Python {'.'.join(map(str, LEAST_PYTHON))} or newer." if is_old else ""
    found = f"{platform.python_version()}, {sys.executable}"
    yield Finding("versions", "python", found, "error" if is_old else "ok", advice)
    try:
        installed, needed = version(DISTRIBUTION), [Requirement(one) for one in requires(DISTRIBUTION) or ()]
    except PackageNotFoundError:
        yield Finding("versions", DISTRIBUTION, "not installed", "error", "Install it: pip install .")
        return
    place = Path(__file__).parent
    if installed == __version__:
        yield Finding("versions", DISTRIBUTION, f"{installed}, {place}")
    else:
        advice = "Two copies are mixed up: install it anew, and start from another folder."
        yield Finding("versions", DISTRIBUTION, f"{installed} installed, {__version__} in {place}", "error", advice)
    for requirement in needed:
        if requirement.marker is None or requirement.marker.evaluate():
            finding = _required(requirement)
            if finding.state != "ok" or finding.name in _SHOWN_VERSIONS:
                yield finding
    for name, need in _EXTRAS.items():
        if _version(name) is None:
            yield Finding("versions", name, "not installed", "note", need)


def _required(requirement: Requirement) -> Finding:
    name, needed = requirement.name, f"{requirement.name}{requirement.specifier}"
    installed = _version(name)
    if installed is None:
        return Finding("versions", name, "not installed", "error", f"pip install '{needed}'")
    if not requirement.specifier.contains(installed, prereleases=True):
        found = f"{installed}, but {requirement.specifier} is needed"
        return Finding("versions", name, found, "error", f"pip install '{needed}'")
    return Finding("versions", name, installed)


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


# --- the harness


def _harness() -> Iterator[Finding]:
    found = [one for one in entry_points(group="lmms_eval.models") if one.value.startswith("condchain_tasks.")]
    if not found:
        advice = "lmms-eval does not know the tasks: install this package anew, pip install ."
        yield Finding("lmms-eval", "entry point", "not found", "error", advice)
        return
    yield Finding("lmms-eval", "entry point", f"{found[0].name} = {found[0].value}")
    try:
        with progress("Loading lmms-eval"):
            models = importlib.import_module("lmms_eval.models").list_available_models()  # loads the entry points
            importlib.import_module("lmms_eval.tasks")
    except SystemExit as ended:  # by this package, with a sentence that says what to do
        yield Finding("lmms-eval", "entry point", "ends every run", "error", str(ended))
        return
    except Exception as error:  # whatever is wrong with any of its hundred dependencies
        said = f"{type(error).__name__}: {str(error)[:300]}"
        yield Finding(
            "lmms-eval", "import", said, "error", "No run can start: install this package anew, pip install ."
        )
        return
    if SIMULATED in models:
        yield Finding("lmms-eval", "models", f"{len(models)}, with {SIMULATED}")
    else:
        advice = "The entry point failed; the tasks are there with --include_path alone. Install this package anew."
        yield Finding("lmms-eval", "models", f"{len(models)}, without {SIMULATED}", "error", advice)
    patches = sorted(_patches())
    is_off = os.environ.get("CONDCHAIN_PATCHES") == "off"
    advice = "CONDCHAIN_PATCHES=off: the README says what is lost." if is_off else ""
    yield Finding("lmms-eval", "patched", ", ".join(patches) or "nothing", "warning" if is_off else "ok", advice)


def _patches() -> Iterator[str]:
    """Classes of lmms-eval that carry this package's marks, with what the marks are called."""
    for name, module in list(sys.modules.items()):
        if name.startswith("lmms_eval."):
            for one in vars(module).values():
                if isinstance(one, type) and one.__module__ == name:
                    marks = [mark.removeprefix(MARK) for mark in vars(one) if mark.startswith(MARK)]
                    yield from (f"{one.__name__} ({mark.replace('_', ' ')})" for mark in marks)


# --- variables


def _variables() -> Iterator[Finding]:
    files = dict(_env_files())
    for name in dict.fromkeys((*sorted(_OWN), *_OTHERS)):
        if value := os.environ.get(name):
            yield Finding("variables", name, f"{_shown(name, value)} (environment)", *_wrong(name))
            continue
        for path, values in files.items():
            if value := values.get(name):
                found = f"{_shown(name, value)} ({path}, which lmms-eval reads)"
                yield Finding("variables", name, found, "note" if name in _OWN else "ok")
                break
    for name in sorted(os.environ):
        if _PREFIX.fullmatch(name) and name not in _OWN:
            likes = difflib.get_close_matches(name, _OWN, 1)
            advice = f"Is {likes[0]} meant?" if likes else f"There are {', '.join(sorted(_OWN))}."
            yield Finding("variables", name, "nobody reads it", "warning", advice)


def _shown(name: str, value: str) -> str:
    return "set" if is_secret(name) else str(redacted({name: value})[name])


def _wrong(name: str) -> tuple[State, str]:
    """What is wrong with a variable that is set."""
    from condchain_tasks import prompts
    from condchain_tasks.data import cache
    from condchain_tasks.judging import settings

    try:
        if name in _FOLDERS and not Path(os.environ[name]).expanduser().is_dir():
            return "error", f"It names no folder: correct it, or unset {name}."
        if name == prompts.OVERRIDES:
            for file in sorted(Path(prompts.__file__).parent.glob("*.j2")):
                prompts.fingerprint(file.stem)
        if name in (settings.JUDGE, settings.CONCURRENCY, settings.API_TYPE):
            settings.from_environment()
        if name == cache.CACHE:
            cache.cache_root()
    except (OSError, ValueError) as error:
        return "error", str(error)
    return "ok", ""


def _env_files() -> Iterator[tuple[Path, dict[str, str | None]]]:
    """Files of variables that lmms-eval reads: one here for its judges, and one at or above it for its models."""
    harness = find_spec("lmms_eval") if "lmms_eval" in sys.modules or _version("lmms-eval") else None
    above = Path(harness.origin).resolve().parents if harness and harness.origin else ()
    candidates = [folder / ".env" for folder in (Path.cwd(), *above)]
    if find_spec("dotenv") and (files := [path for path in dict.fromkeys(candidates) if path.is_file()]):
        from dotenv import dotenv_values

        for path in files:
            yield path, dotenv_values(path, interpolate=False)


# --- data and caches


def _data() -> Iterator[Finding]:
    from condchain_tasks.data import condchain_source
    from condchain_tasks.data.benchmarks import BENCHMARKS
    from condchain_tasks.data.errors import DataError

    tasks = [f"condchain_{domain}" for domain in condchain_source.DOMAINS]
    tasks += ["ccrv", "vrex", "condchain_mini", "ccrv_mini", "vrex_mini"]
    for task in tasks:
        try:
            source, state = BENCHMARKS[task.partition("_")[0]].describe(task)
        except (DataError, OSError) as error:
            yield Finding("data", task, "", "error", str(error))
            continue
        usable = state == "there" or state.endswith("at first use")
        named = any(source.startswith(f"{name}=") for name in _FOLDERS)
        advice = "" if usable else "`condchain data check` lists what is wrong." if named else _HOW[task.split("_")[0]]
        yield Finding("data", task, f"{state}: {source}", "ok" if usable else "error" if named else "note", advice)


_HOW = {
    "condchain": "The README's section on data tells how to get it; condchain_mini needs none.",
    "ccrv": "The README's section on CCRV-Bench tells how to get it; ccrv_mini needs none.",
    "vrex": "The README's section on V-REX tells how to lay it out; vrex_mini needs none.",
}


def _caches() -> Iterator[Finding]:
    from huggingface_hub import constants

    from condchain_tasks.data import cache
    from condchain_tasks.data.errors import DataError

    try:
        yield _folder("of this package", cache.cache_root(), f"set {cache.CACHE} to a folder that is")
    except DataError as error:
        yield Finding("caches", "of this package", "", "error", str(error))
    datasets = os.environ.get("HF_DATASETS_CACHE") or Path(constants.HF_HOME) / "datasets"
    yield _folder("of datasets", Path(datasets), "set HF_DATASETS_CACHE to a folder that is")
    hub = _folder("of the Hub", Path(constants.HF_HUB_CACHE), "set HF_HOME to a folder that is, to fetch anything")
    yield hub if hub.state != "error" else Finding(hub.section, hub.name, hub.found, "warning", hub.advice)


def _folder(name: str, path: Path, otherwise: str) -> Finding:
    """A cache: where it is, how large, and whether it can grow."""
    path = path.expanduser().absolute()
    above = next((one for one in (path, *path.parents) if one.exists()), Path("/"))
    try:
        free = shutil.disk_usage(above).free
        size = _size(path) if path.exists() else None
    except OSError as error:
        return Finding("caches", name, f"{path}: {error.strerror}", "error", f"It cannot be read: {otherwise}.")
    found = f"{path}, {'not there yet' if size is None else size}, {_bytes(free)} free"
    if not _writable(above):
        return Finding("caches", name, f"{found}, not writable", "error", f"It is not writable: {otherwise}.")
    if free < LEAST_FREE_BYTES:
        return Finding("caches", name, found, "warning", "There is little room left.")
    return Finding("caches", name, found)


_MOST_FILES = 20_000  # counting more of them takes longer than one likes to wait


def _size(path: Path) -> str:
    files = total = 0
    for folder, _, names in os.walk(path):
        for name in names:
            if files == _MOST_FILES:
                return f"more than {_bytes(total)} in more than {files:,} files"
            files += 1
            total += Path(folder, name).lstat().st_size
    return f"{_bytes(total)} in {counted(files, 'file')}"


def _bytes(count: int) -> str:
    return f"{count / 1e9:,.1f} GB" if count >= 1e9 else f"{count / 1e6:,.1f} MB"


def _writable(folder: Path) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


# --- the judge


def _judge(ask: bool) -> Iterator[Finding]:
    from condchain_tasks.data.errors import DataError
    from condchain_tasks.judging.endpoints import VARIABLES
    from condchain_tasks.judging.judge import Judge
    from condchain_tasks.judging.settings import JUDGE, RULES, from_environment, judge_name

    try:
        settings = from_environment()
    except DataError as error:
        yield Finding("judge", JUDGE, "cannot be used", "error", str(error))
        return
    if settings is None:
        name = judge_name()
        what = "drawn scenes are judged by their facts" if name == RULES else "ccrv tasks give the rule-based CSR alone"
        yield Finding("judge", name, f"{JUDGE}={name}: {what}", "note")
        return
    variables = VARIABLES[settings.api_type]
    found = f"{settings.api_type}, {public_address(variables.address()) or variables.address() or 'no address'}"
    if absent := variables.absent():
        advice = f"ccrv tasks need it: set {' and '.join(absent)}, or {JUDGE}=none."
        yield Finding("judge", settings.model, found, "error" if ask else "warning", advice)
    elif not ask:
        yield Finding("judge", settings.model, found, "note", "`condchain doctor --judge` asks it for a word.")
    else:
        try:
            Judge(settings).check()
            yield Finding("judge", settings.model, f"{found}: it answers")
        except DataError as error:
            yield Finding("judge", settings.model, found, "error", str(error))
