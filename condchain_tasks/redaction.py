"""Settings, addresses and texts as they may be written down and printed: without keys, passwords and tokens.

What a run was called with is logged by lmms-eval as it was typed: as one text of arguments, as a mapping, or as JSON
within either. A secret is known by its name (`api_key`), by its place (`user:password@host`, what follows `?` in an
address), or by its form (`sk-...`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl

from condchain_tasks.addresses import public_address

LEFT_OUT = "[left out]"
"""Stands where a secret was."""

_NAMES = (
    r"(?:key|secret|token|password|passwd|passphrase|pwd|credentials?|authorization|auth|bearer|signature|cookies?"
    r"|headers?)"
)
_SECRET = re.compile(rf"{_NAMES}$", re.IGNORECASE)
_ADDRESS_NAME = re.compile(r"(?:url|uri|endpoint|proxy|proxies|host|server|address|api_base)$", re.IGNORECASE)
_ADDRESS = re.compile(r"(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{0,30}://[^\s\"'<>]+", re.IGNORECASE)
_USER = re.compile(r"(?<![^\s/\"'=,@])[^\s/\"'=,:@]{1,200}:[^\s/\"',@]{1,200}@(?=[\w\[])")
_ARGUMENTS = re.compile(r"\s*[\w.-]+=")
_NEXT_ARGUMENT = re.compile(r",(?=\s*[\w.-]+=)")
_NAMED = re.compile(
    rf"(?P<name>{_NAMES}[\"']?\s{{0,9}}[=:]\s{{0,9}})(?P<value>\"[^\"]*\"|'[^']*'|[^\s,&;}})\]]+)", re.IGNORECASE
)
_OPTION = re.compile(rf"(?P<name>(?<!\S)--[\w-]{{0,60}}{_NAMES}\s{{1,9}})(?P<value>\S+)", re.IGNORECASE)
_SCHEME = re.compile(r"\b(?P<name>bearer|basic)\s+[\w.~+/=-]{8,}", re.IGNORECASE)
_FORMS = re.compile(
    r"\b(?:sk-[\w-]{12,}|hf_\w{16,}|gh[pousr]_\w{20,}|AIza[\w-]{30,}|xox[abp]-[\w-]{10,}|AKIA[0-9A-Z]{12,}"
    r"|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)"
)
_MAY_HIDE = frozenset("@?#")  # what a user, a query or a fragment begins or ends with


def is_secret(name: str) -> bool:
    """Whether what stands under a name is not to be shown, such as "api_key" or "HF_TOKEN"."""
    return bool(_SECRET.search(name.strip().strip("\"'")))


def redacted(value: Any) -> Any:
    """A JSON value without secrets.

    Args:
        value: Mappings, lists, texts, numbers. A text may be JSON, arguments (`name=value,name=value`), an address, or
            a message.

    Returns:
        The same with `LEFT_OUT` in their place, and addresses as `addresses.public_address` gives them where they had
        a user, a query or a fragment.

    Raises:
        RecursionError: It is nested too deeply.
    """
    if isinstance(value, dict):
        return {redacted(name): _named(str(name), one, redacted) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [
            LEFT_OUT if before is not None and _is_option(before) else redacted(one)
            for before, one in zip([None, *value], value, strict=False)
        ]
    return redacted_text(value) if isinstance(value, str) else value


def redacted_text(text: str) -> str:
    """A text without secrets; see `redacted`."""
    if not _ARGUMENTS.match(text):
        return _value(text)
    pairs = (part.partition("=") for part in _NEXT_ARGUMENT.split(text))
    return ",".join(f"{name}={_named(name, value, _value)}" for name, _, value in pairs)


def holds_secret(text: str) -> bool:
    """Whether a text holds a user with a password, or something under a secret's name or in a secret's form.

    A query that names none, such as `?api-version=1`, is no secret, though `redacted` leaves it out.
    """
    for address in _ADDRESS.findall(text):
        query = address.partition("?")[2]
        if "@" in address or any(is_secret(name) for name, _ in parse_qsl(query, keep_blank_values=True)):
            return True
    return bool(_USER.search(text)) or redacted_text(_ADDRESS.sub("", text)).count(LEFT_OUT) > text.count(LEFT_OUT)


def _value(text: str) -> str:
    """JSON, or a message."""
    if text.lstrip().startswith(("{", "[")):
        try:
            return json.dumps(redacted(json.loads(text)), ensure_ascii=False)
        except (ValueError, RecursionError):
            pass
    return _message(text)


def _named(name: str, value: Any, otherwise: Callable[[Any], Any]) -> Any:
    """What stands under a name."""
    if is_secret(name):
        return value if value is None or value == "" or isinstance(value, bool) else LEFT_OUT
    if isinstance(value, str) and _ADDRESS_NAME.search(name.strip()) and _MAY_HIDE & set(value):
        return public_address(value) or LEFT_OUT
    return otherwise(value)


def _is_option(word: Any) -> bool:
    return isinstance(word, str) and word.startswith("-") and is_secret(word)


def _message(text: str) -> str:
    text = _ADDRESS.sub(_public, text)
    text = _USER.sub("", text)
    text = _SCHEME.sub(rf"\g<name> {LEFT_OUT}", text)
    for pattern in (_OPTION, _NAMED):
        text = pattern.sub(rf"\g<name>{LEFT_OUT}", text)
    return _FORMS.sub(LEFT_OUT, text)


def _public(found: re.Match[str]) -> str:
    address = found.group()
    return (public_address(address) or LEFT_OUT) if _MAY_HIDE & set(address) else address
