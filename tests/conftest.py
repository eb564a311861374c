"""What every test shares: no network, and a cache of its own."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

# Before anything imports the harness or the Hub's client, which read them once.
os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", TRANSFORMERS_OFFLINE="1")
os.environ.setdefault("OPENAI_API_KEY", "not-a-key")
for _name in ("CONDCHAIN_DATA", "CONDCHAIN_PROMPTS", "CONDCHAIN_REVISION"):
    os.environ.pop(_name, None)


@pytest.fixture(scope="session", autouse=True)
def _caches(tmp_path_factory: pytest.TempPathFactory, worker_id: str = "") -> None:
    root = Path(tempfile.gettempdir()) / f"condchain-tests-{os.getpid()}"
    del tmp_path_factory
    os.environ["CONDCHAIN_CACHE"] = str(root / "condchain")
    os.environ["HF_HOME"] = str(root / "hf")


@pytest.fixture
def dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three chains a domain in the official layout, named by CONDCHAIN_DATA."""
    from official import write_dataset

    root = write_dataset(tmp_path / "data")
    monkeypatch.setenv("CONDCHAIN_DATA", str(root))
    return root
