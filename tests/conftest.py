"""What every test shares: no network, and a cache of its own."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

# What a developer's shell has set is not what is tested; it goes before the harness or the Hub's client read it, once.
_OURS = ("CONDCHAIN_", "CCRV_", "VREX_", "LMMS_", "OPENAI_", "AZURE_", "HF_DATASETS_", "LLM_JUDGE")
_OTHERS = {
    "API_TYPE",
    "API_VERSION",
    "RANK",
    "WORLD_SIZE",
    "LOCAL_RANK",
    "FORCE_COLOR",
    "NO_COLOR",
    "COLUMNS",
    "PYTHONIOENCODING",
}
_PROXIES = {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"}  # the servers of the tests are on this machine
for _name in list(os.environ):
    if _name.startswith(_OURS) or _name.upper() in _OTHERS | _PROXIES:
        del os.environ[_name]
os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", TRANSFORMERS_OFFLINE="1", OPENAI_API_KEY="not-a-key")


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
