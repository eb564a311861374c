"""Damage to files of records, drawn by hypothesis."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st


def damage(data: st.DataObject, records: list[Any], junk: st.SearchStrategy[Any]) -> None:
    """Replaces one to three values anywhere in the records, or takes them out, in place."""
    for _ in range(data.draw(st.integers(1, 3))):
        value: Any = records
        while True:
            steps = list(value) if isinstance(value, dict) else list(range(len(value)))
            if not steps:
                break
            step = data.draw(st.sampled_from(steps))
            if isinstance(value[step], (dict, list)) and data.draw(st.integers(0, 4)):
                value = value[step]
                continue
            if data.draw(st.integers(0, 3)):
                value[step] = data.draw(junk)
            else:
                del value[step]
            break


def damaged_bytes(data: st.DataObject, content: bytes) -> bytes:
    """The content with up to three of its bytes replaced by others, at one to three places."""
    damaged = bytearray(content)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(damaged) - 1))
        damaged[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    return bytes(damaged)
