"""Text as glyph outlines: many strings, one matplotlib path.

`matplotlib.text.Text` lays out and rasterises every string anew, 2 to 3 ms each. A chart has some forty
strings; their outlines, cached a character at a time and joined to one path a colour, take a few
milliseconds together, and the width of a string is known without a renderer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path as FilePath

import matplotlib
import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath
from numpy.typing import NDArray
from PIL import ImageFont

_UNITS = 1000
_STYLES = {
    "sans": {"regular": "Sans", "bold": "Sans-Bold", "italic": "Sans-Oblique", "both": "Sans-BoldOblique"},
    "serif": {"regular": "Serif", "bold": "Serif-Bold", "italic": "Serif-Italic", "both": "Serif-BoldItalic"},
}


def face(family: str = "sans", bold: bool = False, italic: bool = False) -> str:
    """Names the DejaVu font file (without suffix) of a family ("sans" or "serif") and style."""
    style = "both" if bold and italic else "bold" if bold else "italic" if italic else "regular"
    return f"DejaVu{_STYLES[family][style]}"


@lru_cache(maxsize=1024)
def _glyph(character: str, face: str) -> tuple[NDArray[np.float64], NDArray[np.uint8], float]:
    """Vertices and codes of a character's outline, and its advance, all for a font of size 1."""
    file = FilePath(matplotlib.get_data_path()) / "fonts" / "ttf" / f"{face}.ttf"
    advance = ImageFont.truetype(str(file), _UNITS).getlength(character) / _UNITS
    if character.isspace():
        return np.zeros((0, 2)), np.zeros(0, np.uint8), advance
    path = TextPath((0, 0), character, size=_UNITS, prop=FontProperties(fname=str(file)))
    return np.asarray(path.vertices, float) / _UNITS, np.asarray(path.codes, np.uint8), advance


@dataclass(frozen=True)
class Lettering:
    """A line of text in a font of size 1 that starts at the origin, its baseline on the x axis.

    Attributes:
        vertices: Shape (n, 2); not to be changed, as the lettering of a text is shared.
        codes: Shape (n,), as in a `matplotlib.path.Path`.
        width: Up to where the next character would start.
    """

    vertices: NDArray[np.float64]
    codes: NDArray[np.uint8]
    width: float


@lru_cache(maxsize=1024)
def letter(text: str, face: str) -> Lettering:
    """Sets a text in a face that `face` names."""
    vertices, codes, pen = [np.zeros((0, 2))], [np.zeros(0, np.uint8)], 0.0
    for character in text:
        points, commands, advance = _glyph(character, face)
        vertices.append(points + np.array((pen, 0.0)))
        codes.append(commands)
        pen += advance
    return Lettering(np.concatenate(vertices), np.concatenate(codes), pen)
