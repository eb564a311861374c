"""The tasks: one folder a benchmark."""

from __future__ import annotations

import re
from pathlib import Path

_NAME = re.compile(r"^(?:task|group): (\w+)$", re.MULTILINE)


def task_names() -> list[str]:
    """Names of all tasks and groups of this package, sorted."""
    files = Path(__file__).parent.glob("*/*.yaml")
    return sorted(name for file in files for name in _NAME.findall(file.read_text(encoding="utf-8")))
