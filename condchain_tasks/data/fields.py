"""Fields of records that nobody vouches for, and what is said of one that is wrong."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator
from pathlib import PurePosixPath

from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from condchain_tasks.redaction import is_secret, redacted

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 80
_MAX_NAME = 200
_COMPLETE = "complete"


def shown(value: object) -> str:
    """A value in a message, at most about 80 characters of it, without keys and passwords."""
    try:
        return _SHORT.repr(redacted(value))
    except RecursionError:
        return "what is nested too deeply"


def not_blank(text: str) -> str:
    """Refuses a text without a character that can be seen."""
    if not text.strip():
        raise PydanticCustomError("blank", "Expected text, found none")
    return text


def whole(text: str) -> str:
    """Refuses half a surrogate, which JSON can write and no encoding can."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise PydanticCustomError("whole", "Expected text without half a surrogate") from None
    return text


def printable(text: str) -> str:
    """Refuses characters that cannot be printed."""
    if not text.isprintable():
        raise PydanticCustomError("printable", "Expected characters that can be printed")
    return text


def inside(path: str) -> str:
    """Refuses a path that leaves the data folder by its own words, or cannot be printed."""
    place = PurePosixPath(path)
    if place.is_absolute() or ".." in place.parts:
        raise PydanticCustomError("path", "Expected a path inside the data folder, without `..`")
    return printable(path)


def complete(message: str) -> PydanticCustomError:
    """An error whose message says already what was found."""
    return PydanticCustomError(_COMPLETE, "{message}", {"message": message})


def faults_of(error: ValidationError, place: str, prefix: str = "") -> Iterator[str]:
    """One message for each thing that is wrong with a record.

    Args:
        error: What pydantic found.
        place: Of the record.
        prefix: Of the fields' names.
    """
    for one in error.errors(include_url=False, include_context=False):
        name = ".".join(part for part in (prefix, *map(str, one["loc"])) if part)[:_MAX_NAME]
        at = f", field {name}" if name else ""
        if one["type"] != "missing" and one["loc"][-1:] != ("[key]",) and any(is_secret(str(p)) for p in one["loc"]):
            yield f"{place}{at}: This value cannot be taken, and is not shown."
            continue
        found = "" if one["type"] in ("missing", _COMPLETE) else f", found {shown(one['input'])}"
        expected = "Expected a JSON object" if one["type"] == "model_type" else one["msg"]
        yield f"{place}{at}: {expected}{found}."
