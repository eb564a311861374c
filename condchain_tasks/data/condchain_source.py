"""Where MM-CondChain's data is: a folder of the user, the Hub, or made on the spot."""

from __future__ import annotations

import os
from pathlib import Path

from condchain_tasks.data.errors import DataError
from condchain_tasks.data.sources import Source, describe_embedded, embedded, folder_in, named_by

DATA = "CONDCHAIN_DATA"
REVISION = "CONDCHAIN_REVISION"
HUB_DATASET = "Accio-Lab/MM-CondChain"

DOMAINS = ("natural", "chart", "gui")

MINI_CHAINS = 24
"""Chains a domain of the embedded benchmark."""

_MINI_SEED = 20_260_312


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
    if source := named_by(DATA):
        return source
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
    """The embedded benchmark, made at first use and kept in the cache."""
    from condchain_tasks.synth.dataset import write_dataset

    return embedded("condchain", lambda path: write_dataset(path, DOMAINS, n=MINI_CHAINS, seed=_MINI_SEED))


def describe(task: str) -> tuple[str, str]:
    """Says where a task's data comes from, and whether it is there, without fetching or making anything.

    Args:
        task: A task's name.

    Returns:
        Source and state, each a few words. "There" is said of the records; pictures are not looked at.
    """
    if task.endswith("_mini"):
        return describe_embedded("condchain")
    domains = [domain for domain in DOMAINS if domain in task] or DOMAINS
    if folder := folder_in(DATA):
        records = folder / "data"
        missing = [domain for domain in domains if not (records / f"{domain}.jsonl").is_file()]
        return f"{DATA}={os.environ[DATA]}", f"no data/{missing[0]}.jsonl there" if missing else "there"
    from huggingface_hub import constants, try_to_load_from_cache

    revision = os.environ.get(REVISION)
    found = [
        try_to_load_from_cache(HUB_DATASET, f"data/{domain}.jsonl", repo_type="dataset", revision=revision)
        for domain in domains
    ]
    if all(isinstance(path, str) for path in found):
        return f"Hub, {HUB_DATASET}", "there"
    return f"Hub, {HUB_DATASET}", "missing (offline)" if constants.HF_HUB_OFFLINE else "fetched at first use"


def _how_to_get(domain: str, revision: str | None) -> str:
    at = f" at revision {revision}" if revision else ""
    return (
        f"MM-CondChain's {domain} data{at} is not in the Hub's cache and cannot be fetched from the Hub: on a machine "
        f"with network run `hf download {HUB_DATASET} --repo-type dataset --local-dir MM-CondChain` and set "
        f"{DATA} to that folder, or run the embedded condchain_{domain}_mini, which needs neither."
    )
