"""Checks pictures of causal scenes as they were written: what they show, and where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from pathlib import Path

from PIL import Image, ImageChops

from condchain_tasks.synth.causal_art import HEIGHT, WIDTH, Box, Drawing, draw

TOLERANCE = 3
"""Pixels by which a box may be off on each side: JPEG blurs edges, and a thing may look like what is behind it."""

_COARSE = 4
_SAME = 40
"""Levels by which two coarse pictures may differ anywhere and be the same one; JPEG makes less."""

_CLEAR = 40
"""A pixel shows a thing if it is by more levels nearer to the drawing with the thing than to the one without it."""


def picture_faults(path: Path, drawing: Drawing, boxes: Mapping[str, Box]) -> Iterator[str]:
    """What is wrong with a picture and with the boxes of its things.

    A thing is where the picture differs from a drawing of the scene without it; a box has to be the smallest one
    around that place, up to `TOLERANCE`.

    Args:
        path: The picture.
        drawing: What it should show.
        boxes: Of every thing.

    Raises:
        OSError: It cannot be decoded.
    """
    with Image.open(path) as image:
        if image.size != (WIDTH, HEIGHT):
            yield f"it has {image.width} x {image.height} pixels, expected {WIDTH} x {HEIGHT}"
            return
        shown = image.convert("RGB")
    expected = draw(drawing)
    if _place(_difference(shown.reduce(_COARSE), expected.reduce(_COARSE)), _SAME):
        yield "it does not show the scene that the facts name"
        return
    noise = _difference(shown, expected)
    for thing, box in boxes.items():
        apart = ImageChops.subtract(_difference(shown, draw(drawing, without=thing)), noise)
        seen = _place(apart, _CLEAR)
        if seen is None or any(abs(a - b) > TOLERANCE for a, b in zip(seen, box, strict=True)):
            where = f"in {list(seen)}" if seen else "nowhere"
            yield f"the box of {thing!r} is {list(box)}, but the thing is seen {where}"


def _difference(one: Image.Image, other: Image.Image) -> Image.Image:
    """The largest difference of a channel, for every pixel."""
    return reduce(ImageChops.lighter, ImageChops.difference(one, other).split())


def _place(difference: Image.Image, levels: int) -> Box | None:
    """The smallest box around all that differs by more than some levels."""
    return difference.point([0] * (levels + 1) + [255] * (255 - levels)).getbbox()
