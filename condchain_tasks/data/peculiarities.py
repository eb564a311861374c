"""What of a picture some readers take otherwise than others, and the one form in which every model gets it."""

from __future__ import annotations

import struct
import warnings
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
from PIL import ExifTags, Image

_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_SIDEWAYS = (5, 6, 7, 8)
_MAX_CHUNKS = 100_000


@dataclass(frozen=True)
class Peculiarities:
    """What readers of a picture's file do not agree on.

    Attributes:
        orientation: By EXIF, 1 to 8; some readers turn the picture by it, others do not.
        transparent: Parts can be seen through; readers put white or black behind them, or show what they hide.
        deep: Grey of 16 bits; some readers take all but the darkest for white.
        cmyk: Colours for print, which readers convert in different ways.
        animated: Readers take the first frame, all of them, or refuse the file.
    """

    orientation: int = 1
    transparent: bool = False
    deep: bool = False
    cmyk: bool = False
    animated: bool = False

    def __bool__(self) -> bool:
        return self != Peculiarities()

    def oddities(self) -> tuple[str, ...]:
        """What is said of each, with how the picture is shown."""
        said = {
            "pictures with an EXIF orientation, which are shown upright": self.orientation != 1,
            "pictures with transparent parts, which are shown on white": self.transparent,
            "pictures of 16-bit grey, which are shown with 8 bits": self.deep,
            "pictures in CMYK, which are shown in RGB": self.cmyk,
            "animated pictures, whose first frame is shown": self.animated,
        }
        return tuple(kind for kind, holds in said.items() if holds)

    def size(self, width: int, height: int) -> tuple[int, int]:
        """Width and height as the picture is shown, from those in its file."""
        return (height, width) if self.orientation in _SIDEWAYS else (width, height)

    def shown(self, image: Image.Image) -> Image.Image:
        """A decoded picture as every model gets it, in RGB; nothing is left that a reader could take otherwise."""
        profile = image.info.get("icc_profile") if image.mode in ("RGB", "RGBA", "P") else None
        if self.deep:
            image = Image.fromarray(np.clip(np.asarray(image) >> 8, 0, 255).astype(np.uint8))
        if self.transparent:
            rgba = image.convert("RGBA")
            image = Image.alpha_composite(Image.new("RGBA", rgba.size, "white"), rgba)
        if image.mode != "RGB":
            image = image.convert("RGB")
        if self.orientation in _TURNS:
            image = image.transpose(_TURNS[self.orientation])
        image.info = {"icc_profile": profile} if profile else {}
        return image


def peculiarities(image: Image.Image, file: BinaryIO) -> Peculiarities:
    """Looks for them.

    Args:
        image: As `Image.open` gives it; it is decoded only if it may have transparent parts.
        file: Its file; the position in it is as before.

    Raises:
        OSError: It had to be decoded, and cannot be.
    """
    deep = image.mode.startswith("I")
    return Peculiarities(
        orientation=_orientation(image, file),
        deep=deep,
        cmyk=image.mode == "CMYK",
        animated=image.format in ("PNG", "WEBP") and getattr(image, "is_animated", False),
        transparent=not deep and image.has_transparency_data and _lets_through(image),
    )


def _lets_through(image: Image.Image) -> bool:
    alpha = image if image.mode in ("RGBA", "LA") else image.convert("RGBA")
    least, _ = alpha.getchannel("A").getextrema()
    return int(least) < 255  # type: ignore[arg-type]  # of one band it is a number


def _orientation(image: Image.Image, file: BinaryIO) -> int:
    if image.format == "PNG" and "exif" not in image.info and (exif := _late_exif(file)):
        image.info["exif"] = exif
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # Not the PNG class's own method, which decodes the picture to see what comes after its pixels.
            value = Image.Image.getexif(image).get(ExifTags.Base.Orientation, 1)
    except Exception:  # of damaged EXIF data PIL raises nearly anything, and other readers ignore it
        return 1
    return value if value in _TURNS else 1


def _late_exif(file: BinaryIO) -> bytes:
    """EXIF data of a PNG wherever it stands; some programs write it after the pixels."""
    place = file.tell()
    try:
        file.seek(8)
        for _ in range(_MAX_CHUNKS):
            start = file.read(8)
            if len(start) < 8:
                break
            length, kind = struct.unpack(">I4s", start)
            if kind == b"eXIf":
                return file.read(length)
            file.seek(length + 4, 1)
    finally:
        file.seek(place)
    return b""
