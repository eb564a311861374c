"""Where a benchmark's data is: a folder of the user, the Hub, or made on the spot."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from loguru import logger

from condchain_tasks.data.cache import cache_root, made_once
from condchain_tasks.data.errors import DataError

DATA = "CONDCHAIN_DATA"
REVISION = "CONDCHAIN_REVISION"
HUB_DATASET = "Accio-Lab/MM-CondChain"

DOMAINS = ("natural", "chart", "gui")

MINI_CHAINS = 24
"""Chains a domain of the embedded benchmark."""

_MINI_SEED = 20_260_312
_PACKAGE = Path(__file__).parents[1]


@dataclass(frozen=True)
class Source:
    """A dataset in the official layout.

    Attributes:
        root: Its folder.
        kind: "folder" (named by the user), "hub" or "mini".
        revision: What identifies its version: the Hub's commit, or the embedded benchmark's own hash; empty for a
            folder, whose content has a hash of its own (see `condchain.prepare`).
    """

    root: Path
    kind: Literal["folder", "hub", "mini"]
    revision: str = ""

    @property
    def boundary(self) -> Path:
        """The folder that no file may lie outside of, wherever links lead.

        A Hub cache keeps the files beside the snapshot and links to them.
        """
        root = self.root.resolve()
        repository = root.parent.parent
        is_snapshot = root.parent.name == "snapshots" and (repository / "blobs").is_dir()
        return repository if is_snapshot else root


def official(domain: str) -> Source:
    """MM-CondChain's data: the folder that `CONDCHAIN_DATA` names, else a snapshot from the Hub.

    Only the domain's own files are fetched. `HF_HOME`, `HF_HUB_OFFLINE` and `HF_ENDPOINT` are honoured, and
    `CONDCHAIN_REVISION` names a revision other than the newest.

    Args:
        domain: One of `DOMAINS`.

    Returns:
        The source.

    Raises:
        DataError: The folder does not exist, or neither the Hub nor its cache has the files.
    """
    if folder := os.environ.get(DATA):
        root = Path(folder).expanduser().absolute()
        if not root.is_dir():
            raise DataError(f"{DATA} names {root}, which is no folder. Correct it, or unset it to use the Hub.")
        return Source(root, "folder")
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    revision = os.environ.get(REVISION) or None
    try:
        root = Path(
            snapshot_download(
                HUB_DATASET,
                repo_type="dataset",
                revision=revision,
                allow_patterns=[f"data/{domain}.jsonl", f"images/{domain}/**"],
            )
        )
    except LocalEntryNotFoundError as error:
        raise DataError(_how_to_get(domain, revision)) from error
    except Exception as error:  # the client lets the errors of its HTTP library, of JSON and of the disk through
        raise DataError(f"{_how_to_get(domain, revision)} ({type(error).__name__}: {str(error)[:200]})") from error
    if not (root / "data" / f"{domain}.jsonl").is_file():
        raise DataError(_how_to_get(domain, revision))
    return Source(root, "hub", root.name)


def mini() -> Source:
    """The embedded benchmark, made at first use and kept in the cache.

    Returns:
        The source; its revision changes with the code that makes it.
    """
    from condchain_tasks.synth.dataset import write_dataset

    def make(path: Path) -> None:
        logger.info("Drawing the embedded benchmark, once, into {}.", root)
        write_dataset(path, DOMAINS, n=MINI_CHAINS, seed=_MINI_SEED)

    root = _mini_root()
    return Source(made_once(root, make), "mini", root.name)


def describe(task: str) -> tuple[str, str]:
    """Says where a task's data comes from, and whether it is there, without fetching or making anything.

    Args:
        task: A task's name.

    Returns:
        Source and state, each a few words. "There" is said of the records; pictures are not looked at.
    """
    if task.endswith("_mini"):
        return "embedded", "there" if _mini_root().exists() else "made at first use"
    domains = [domain for domain in DOMAINS if domain in task] or DOMAINS
    if folder := os.environ.get(DATA):
        records = Path(folder).expanduser() / "data"
        missing = [domain for domain in domains if not (records / f"{domain}.jsonl").is_file()]
        return f"{DATA}={folder}", f"no data/{missing[0]}.jsonl there" if missing else "there"
    from huggingface_hub import constants, try_to_load_from_cache

    revision = os.environ.get(REVISION)
    found = [
        try_to_load_from_cache(HUB_DATASET, f"data/{domain}.jsonl", repo_type="dataset", revision=revision)
        for domain in domains
    ]
    if all(isinstance(path, str) for path in found):
        return f"Hub, {HUB_DATASET}", "there"
    return f"Hub, {HUB_DATASET}", "missing (offline)" if constants.HF_HUB_OFFLINE else "fetched at first use"


def _mini_root() -> Path:
    digest = hashlib.sha256()
    for path in [*sorted((_PACKAGE / "synth").glob("*.py")), _PACKAGE / "vpir.py"]:
        digest.update(path.read_bytes())
    return cache_root() / "mini" / digest.hexdigest()[:16]


def _how_to_get(domain: str, revision: str | None) -> str:
    at = f" at revision {revision}" if revision else ""
    return (
        f"MM-CondChain's {domain} data{at} is not in the Hub's cache and cannot be fetched from the Hub: on a machine "
        f"with network run `hf download {HUB_DATASET} --repo-type dataset --local-dir MM-CondChain` and set "
        f"{DATA} to that folder, or run the embedded condchain_{domain}_mini, which needs neither."
    )
