"""The prompts: plain jinja2 templates, found by name, each of them replaceable by the user.

A template is `NAME.j2` in this folder. A file of the same name in the folder that the environment variable
`CONDCHAIN_PROMPTS` names takes its place. `fingerprint` goes into every result, so that figures from different
wordings are never taken for comparable ones.
"""

from __future__ import annotations

import hashlib
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

import jinja2
import jinja2.sandbox

OVERRIDES = "CONDCHAIN_PROMPTS"

_HERE = Path(__file__).parent
_MAX_BYTES = 1_000_000


class PromptError(ValueError):
    """A prompt that cannot be used: what is wrong, in which file, and what to do."""


def render(name: str, **values: str) -> str:
    """Fills in a template.

    Args:
        name: The template's file name without `.j2`, such as "condchain".
        **values: The template's variables. They are data: nothing in them is read as template syntax.

    Returns:
        The prompt, without blank space at either end.

    Raises:
        PromptError: The template cannot be read, or does not work with these variables.
    """
    path, _, template = _load(name, os.environ.get(OVERRIDES, ""))
    try:
        return template.render(values).strip()
    except Exception as error:  # a template can do arithmetic, and fail in every way that Python can
        raise PromptError(
            f"{path}: {error}. The template may use: {', '.join(sorted(values)) or 'no variables'}."
        ) from error


def fingerprint(name: str) -> dict[str, str]:
    """What identifies a prompt in a result.

    Args:
        name: The template's file name without `.j2`.

    Returns:
        `name`, `sha256` of the template's text (16 hexadecimal digits), and `origin`: "package" or "user".

    Raises:
        PromptError: The template cannot be read.
    """
    path, digest, _ = _load(name, os.environ.get(OVERRIDES, ""))
    return {"name": name, "sha256": digest, "origin": "package" if path.parent == _HERE else "user"}


@lru_cache(maxsize=64)
def _load(name: str, overrides: str) -> tuple[Path, str, jinja2.Template]:
    path = _find(name, overrides)
    try:
        raw = path.read_bytes()
        if len(raw) > _MAX_BYTES:
            raise PromptError(f"{path} has {len(raw)} bytes; a prompt has at most {_MAX_BYTES}.")
        # A template from a user's folder may have come from anywhere: it gets text to fill in, and nothing else.
        environment = jinja2.sandbox.SandboxedEnvironment(undefined=jinja2.StrictUndefined, autoescape=False)
        template: Any = environment.from_string(raw.decode("utf-8-sig"))
    except (OSError, UnicodeDecodeError, jinja2.TemplateError) as error:
        raise PromptError(f"{path} cannot be used as a prompt: {error}.") from error
    return path, hashlib.sha256(raw).hexdigest()[:16], template


def _find(name: str, overrides: str) -> Path:
    packaged = _HERE / f"{name}.j2"
    if not overrides:
        return packaged
    folder = Path(overrides).expanduser()
    if not folder.is_dir():
        raise PromptError(f"{OVERRIDES} names {overrides}, which is no folder. Correct it or unset it.")
    own = {path.stem: path for path in folder.glob("*.j2")}
    known = {path.stem for path in _HERE.glob("*.j2")}
    if not own or own.keys() - known:
        # A misspelt name would leave the packaged wording in place while its user believes otherwise.
        raise PromptError(
            f"{OVERRIDES} names {overrides}, which holds "
            f"{', '.join(sorted(f'{name}.j2' for name in own.keys() - known)) or 'no *.j2 file'}; "
            f"a prompt is replaced by a file named {', '.join(f'{name}.j2' for name in sorted(known))}."
        )
    return own.get(name, packaged)
