"""What every test shares: no network, and a cache of its own."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

# Before anything imports the harness or the Hub's client, which read them once.
os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", TRANSFORMERS_OFFLINE="1")
os.environ.setdefault("OPENAI_API_KEY", "not-a-key")
for _name in ("CONDCHAIN_DATA", "CONDCHAIN_PROMPTS", "CONDCHAIN_REVISION"):
    os.environ.pop(_name, None)


_root = tempfile.TemporaryDirectory(prefix="condchain-tests-")
os.environ["CONDCHAIN_CACHE"] = str(Path(_root.name) / "condchain")
os.environ["HF_HOME"] = str(Path(_root.name) / "hf")


@pytest.fixture
def warnings() -> Iterator[list[str]]:
    """What is logged as a warning."""
    from loguru import logger

    found: list[str] = []
    handler = logger.add(lambda message: found.append(str(message)), level="WARNING", format="{message}")
    yield found
    logger.remove(handler)


@pytest.fixture
def dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three chains a domain in the official layout, named by CONDCHAIN_DATA."""
    from official import write_dataset

    root = write_dataset(tmp_path / "data")
    monkeypatch.setenv("CONDCHAIN_DATA", str(root))
    return root
