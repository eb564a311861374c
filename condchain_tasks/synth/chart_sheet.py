"""A matplotlib figure in pixel coordinates, drawn by Agg.

The charts put matplotlib's artists (patches with hatches, lines with markers, paths) straight on a figure.
An `Axes` would cost 10 ms to create and 50 ms to draw with its ticks, for places that a chart with known
facts has to settle itself.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.transforms import IdentityTransform
from numpy.typing import NDArray
from PIL import Image

from condchain_tasks.synth.lettering import face, letter
from condchain_tasks.synth.png import encode_png

_DPI = 72  # one point is one pixel
_CAP_HEIGHT = 0.73  # of the font size, in all DejaVu faces


@dataclass(frozen=True)
class Box:
    """A rectangle in pixels, from its lower left corner."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def top(self) -> float:
        return self.y + self.height

    def grown(self, by: float) -> Box:
        return Box(self.x - by, self.y - by, self.width + 2 * by, self.height + 2 * by)

    def path(self) -> Path:
        x, y, right, top = self.x, self.y, self.right, self.top
        codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]
        return Path([(x, y), (right, y), (right, top), (x, top), (x, y)], codes)


class Sheet:
    """A figure to draw on; the origin is the lower left corner, later things cover earlier ones.

    Text lies over everything else. Strokes of the same colour and width that follow one another, and all
    text of one colour, become one path each: matplotlib's time goes by the number of artists.
    """

    def __init__(self, size: tuple[int, int], background: str, family: str) -> None:
        """Opens a sheet of `size` (width, height) pixels; `family` is "sans" or "serif"."""
        self.width, self.height = size
        self._family = family
        self._figure = Figure((self.width / _DPI, self.height / _DPI), dpi=_DPI, facecolor=background)
        self._canvas = FigureCanvasAgg(self._figure)
        self._strokes: dict[tuple[str, float], list[Path]] = defaultdict(list)
        self._letters: dict[str, list[tuple[NDArray[np.float64], NDArray[np.uint8]]]] = defaultdict(list)

    def _flush_strokes(self) -> None:
        for (colour, thickness), paths in self._strokes.items():
            joined = Path(
                np.concatenate([path.vertices for path in paths]),
                np.concatenate([path.codes for path in paths]),
            )
            self._put(PathPatch(joined, fill=False, edgecolor=colour, linewidth=thickness, joinstyle="miter"))
        self._strokes.clear()

    def _add(self, artist: Artist) -> None:
        self._flush_strokes()
        self._put(artist)

    def _put(self, artist: Artist) -> None:
        artist.set_transform(IdentityTransform())
        artist.set_zorder(len(self._figure.artists))
        self._figure.add_artist(artist)

    def fill(self, path: Path, colour: str, hatch: str = "", hatch_colour: str = "white") -> None:
        """Fills a path, over it the hatch in matplotlib's notation."""
        self._add(PathPatch(path, facecolor=colour, edgecolor=hatch_colour, linewidth=0, hatch=hatch or None))

    def stroke(self, path: Path, colour: str, width: float) -> None:
        """Draws the outline of a path."""
        self._strokes[colour, width].append(path)

    def panel(self, box: Box, colour: str, edge: str = "none") -> None:
        """A filled rectangle, with an edge if one is named."""
        self._add(PathPatch(box.path(), facecolor=colour, edgecolor=edge, linewidth=1.5))

    def segments(self, ends: Iterable[tuple[float, float, float, float]], colour: str, width: float) -> None:
        """Straight lines from (x0, y0) to (x1, y1) each."""
        for x0, y0, x1, y1 in ends:
            self.stroke(Path([(x0, y0), (x1, y1)], [Path.MOVETO, Path.LINETO]), colour, width)

    def line(self, points: Sequence[tuple[float, float]], **style: Any) -> None:
        """A `matplotlib.lines.Line2D` through the points."""
        self._add(Line2D(*zip(*points, strict=True), **style))

    def marks(self, points: Sequence[tuple[float, float]], marker: str, size: float, face: str, edge: str) -> None:
        """The same marker at every point."""
        if points:
            self.line(points, linestyle="none", marker=marker, markersize=size, mfc=face, mec=edge, mew=1.2)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: float,
        *,
        colour: str = "black",
        bold: bool = False,
        italic: bool = False,
        align: Literal["left", "centre", "right"] = "centre",
        upright: bool = True,
        family: str = "",
    ) -> Box:
        """Writes a line of text whose capitals are centred on height y.

        Args:
            x: Where it starts, has its middle, or ends, as `align` says.
            y: Middle of its capitals. Text that is not upright reads upwards; x and y change their parts.
            text: Without line breaks.
            size: Font size in pixels.
            colour: A matplotlib colour.
            bold: Bold type.
            italic: Italics.
            align: See x.
            upright: False turns the text by a quarter to the left.
            family: "sans" or "serif"; empty takes the sheet's.

        Returns:
            The space that it takes, descenders included.
        """
        letters = letter(text, face(family or self._family, bold, italic))
        length = size * letters.width
        shift = {"left": 0.0, "centre": length / 2, "right": length}[align]
        cap = size * _CAP_HEIGHT
        descent = size * 0.24
        if upright:
            vertices = letters.vertices * size + (x - shift, y - cap / 2)
            box = Box(x - shift, y - cap / 2 - descent, length, cap + descent)
        else:
            vertices = letters.vertices[:, ::-1] * (-size, size) + (x + cap / 2, y - shift)
            box = Box(x - cap / 2, y - shift, cap + descent, length)
        self._letters[colour].append((vertices, letters.codes))
        return box

    def png(self) -> bytes:
        """Draws everything and encodes it."""
        self._flush_strokes()
        for colour, letters in self._letters.items():
            vertices, codes = (np.concatenate(parts) for parts in zip(*letters, strict=True))
            self._add(PathPatch(Path(vertices, codes), facecolor=colour, linewidth=0, snap=False))
        self._canvas.draw()  # type: ignore[no-untyped-call]
        pixels = self._canvas.buffer_rgba()  # type: ignore[no-untyped-call]
        picture = Image.frombuffer("RGBA", (self.width, self.height), pixels, "raw", "RGBA", 0, 1)
        return encode_png(np.asarray(picture.convert("RGB")))


def wedge(centre: tuple[float, float], radius: float, hole: float, start: float, end: float) -> Path:
    """A slice of a pie, or of a ring.

    Args:
        centre: Middle of the circle.
        radius: Outer radius.
        hole: Inner radius; 0 for a whole slice.
        start: Angle clockwise from twelve o'clock, in degrees.
        end: The same, larger than start.
    """
    angles = np.radians(np.linspace(start, end, max(2, math.ceil((end - start) / 3) + 1)))  # a point every 3 degrees
    rim = np.stack([np.sin(angles), np.cos(angles)], axis=1)
    inner = hole * rim[::-1] if hole else np.zeros((1, 2))
    points = np.concatenate([radius * rim, inner, radius * rim[:1]]) + centre
    codes = np.full(len(points), Path.LINETO, np.uint8)
    codes[0], codes[-1] = Path.MOVETO, Path.CLOSEPOLY
    return Path(points, codes)
