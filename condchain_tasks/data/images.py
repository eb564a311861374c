"""Pictures that stay files: checked without decoding, sent without encoding.

Exceptions are the few that readers would take differently (see `peculiarities`): every model gets those in one form.
"""

from __future__ import annotations

import hashlib
import io
import os
import threading
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

from cachetools import LRUCache, cached
from PIL import Image, ImagePalette

from condchain_tasks.data.errors import DataError
from condchain_tasks.data.identity import is_marked_picture
from condchain_tasks.data.peculiarities import Peculiarities, peculiarities

MAX_PIXELS = 100_000_000
"""Larger pictures are refused: decoded, one would take 300 MB and more."""

MAX_BYTES = 200_000_000
"""Larger files are refused."""

TRANSCODED_BYTES = 512_000_000
"""How much of what was transcoded is kept in memory."""

_SAME_FORMAT_QUALITY = 95
_FORMATS = ("PNG", "JPEG", "WEBP")
_EXTENSIONS = (".png", ".jpg", ".jpeg", ".webp")
_TAIL = 65_536  # cameras and phones append data after a picture's end, rarely more than this
_PNG_END = b"IEND\xaeB`\x82"
_JPEG_END = b"\xff\xd9"
_JPEG_SCAN = b"\xff\xda"

_State = tuple[str, tuple[int, int], bytes]


@dataclass(frozen=True)
class Picture:
    """What is known of a picture file.

    Attributes:
        width: As it is shown, pixels.
        height: As it is shown, pixels.
        sha256: Of the file's bytes (64 hexadecimal digits).
        oddities: What readers take differently about it, each in words (see `peculiarities`).
        drawn: It says that `condchain synth` drew it.
    """

    width: int
    height: int
    sha256: str
    oddities: tuple[str, ...]
    drawn: bool


def look_at(path: Path) -> Picture:
    """Checks a picture as `check_image` does and reads its bytes; a file that has not changed is looked at once.

    Raises:
        DataError: As `check_image`.
    """
    try:
        return _looked_at(*_identity(str(path)))
    except OSError as error:
        raise DataError(_unreadable(path, error)) from error


def check_image(path: Path) -> tuple[int, int]:
    """Looks at a picture's header and at its end, without decoding it unless it may have transparent parts.

    lmms-eval tells PIL to decode truncated files without complaint, so a cut-off picture is only noticed by its
    missing end marker.

    Args:
        path: The file.

    Returns:
        Width and height in pixels, as the picture is shown.

    Raises:
        DataError: It is no PNG, JPEG or WebP file, cannot be read, is truncated, or is larger than `MAX_PIXELS` or
            `MAX_BYTES`.
    """
    return _checked(path).size


def _checked(path: Path) -> _Header:
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if not size:
                raise DataError(f"{path} is empty. Fetch it again.")
            if size > MAX_BYTES:
                raise DataError(f"{path} has {size:,} bytes; a picture may have {MAX_BYTES:,}.")
            header = _checked_header(path, file)
            file.seek(0)
            start = file.read(12)
            file.seek(max(0, size - _TAIL))
            tail = file.read()
    except OSError as error:
        raise DataError(_unreadable(path, error)) from error
    if not _is_complete(header.format, size, start, tail):
        raise DataError(f"{path} is truncated: its end is missing. Fetch it again.")
    return header


def _checked_header(path: Path, file: BinaryIO) -> _Header:
    try:
        with _open(file) as image:
            width, height = image.size
            if width * height > MAX_PIXELS:
                raise DataError(f"{path} has {width} x {height} pixels; a picture may have {MAX_PIXELS:,}.")
            return _header(image, file)
    except DataError:
        raise
    except Image.DecompressionBombError as error:
        raise DataError(f"{path} is too large a picture: {error}") from error
    except (OSError, SyntaxError, ValueError) as error:  # PIL raises each of them for a damaged header
        raise DataError(f"{path} is no PNG, JPEG or WebP picture. Fetch it again.") from error


def _unreadable(path: Path, error: OSError) -> str:
    return f"{path} cannot be read: {error.strerror}."


@lru_cache(maxsize=65_536)  # the pictures of a benchmark, which several tasks of a run read
def _looked_at(path: str, mtime_ns: int, ctime_ns: int, size: int) -> Picture:
    header = _checked(Path(path))
    digest = hashlib.sha256()
    with Path(path).open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return Picture(*header.size, digest.hexdigest(), header.peculiarities.oddities(), header.drawn)


def is_picture(name: str) -> bool:
    """Whether a file's name is that of a picture."""
    # Names that start with a dot are what file systems leave behind ("._screen.png").
    return name.lower().endswith(_EXTENSIONS) and not name.startswith(".")


def pictures_under(folder: Path, boundary: Path) -> Iterator[Path]:
    """All pictures below a folder, also through links to folders within a boundary; each folder is read once.

    Args:
        folder: The folder; there may be none.
        boundary: A folder without links in its path.
    """
    visited = set()
    for parent, folders, names in os.walk(folder, followlinks=True):
        real = os.path.realpath(parent)
        if real in visited or not Path(real).is_relative_to(boundary):
            folders.clear()
            continue
        visited.add(real)
        yield from (Path(parent, name) for name in names if is_picture(name))


@dataclass(frozen=True)
class _Header:
    """What is known of a picture before it is decoded: of the form that is shown, except for the format."""

    mode: str
    size: tuple[int, int]
    format: str
    format_description: str | None
    info: dict[Any, Any]
    palette: ImagePalette.ImagePalette | None
    peculiarities: Peculiarities
    drawn: bool


def _open(file: str | BinaryIO) -> Image.Image:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        return Image.open(file, formats=_FORMATS)


def _header(image: Image.Image, file: BinaryIO) -> _Header:
    found = peculiarities(image, file)
    return _Header(
        "RGB" if found else image.mode,
        found.size(*image.size),
        "JPEG" if image.format == "MPO" else str(image.format),  # a JPEG with more pictures behind the first
        image.format_description,
        {} if found else dict(image.info),
        None if found else image.palette,
        found,
        is_marked_picture(image.info),
    )


def _read_header(file: BinaryIO) -> _Header:
    with _open(file) as image:
        return _header(image, file)


def _identity(path: str) -> tuple[str, int, int, int]:
    """A file's path, times of change and size: the same again only for the same content."""
    stat = Path(path).stat()
    return path, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size


@lru_cache(maxsize=1024)  # the two paths of a chain, and many questions about one picture, come one after the other
def _known_header(path: str, mtime_ns: int, ctime_ns: int, size: int) -> _Header:
    with Path(path).open("rb") as file:
        return _read_header(file)


def _is_complete(encoding: str, size: int, start: bytes, tail: bytes) -> bool:
    if encoding == "PNG":
        return _PNG_END in tail
    if encoding == "WEBP":
        return size >= 8 + int.from_bytes(start[4:8], "little")
    # The end of an embedded thumbnail comes before the start of the picture's own scan.
    return tail.rfind(_JPEG_END) > tail.rfind(_JPEG_SCAN)


class FileImage(Image.Image):
    """A PIL image that remembers its file.

    Saved unmodified in the file's own format it hands out the file's bytes (whatever `quality` was asked for);
    saved unmodified in another format it is encoded once a file, and the result is kept for the next request. A
    picture that readers take differently (see `peculiarities`) never leaves as its file: it is decoded to the form
    that every model gets, and encoded. In everything else it is a normal PIL image, decoded when its pixels are first
    needed. Safe to use from threads.
    """

    def __init__(self, path: str | Path, data: bytes | None = None) -> None:
        """Reads the header.

        Args:
            path: The file.
            data: The file's bytes, if they are at hand; the file is then not read.

        Raises:
            OSError: The file cannot be read, or is no picture.
        """
        super().__init__()
        self.filename = str(path)
        self._data = data
        self._lock = threading.RLock()
        header = _known_header(*_identity(self.filename)) if data is None else _read_header(io.BytesIO(data))
        self._mode, self._size, self.format = header.mode, header.size, header.format
        self.format_description = header.format_description
        self.info = dict(header.info)
        self.palette = header.palette.copy() if header.palette else None
        self._peculiarities = header.peculiarities
        self._file_palette = _raw_palette(self)

    def encoded(self) -> bytes:
        """The file's bytes."""
        return Path(self.filename).read_bytes() if self._data is None else self._data

    @property
    def im(self) -> Any:  # PIL's methods, and other libraries, take the pixels from here
        self._decode()
        return Image.Image.im.fget(self)  # type: ignore[attr-defined]

    @im.setter
    def im(self, im: Any) -> None:
        self._im = im

    def load(self) -> Any:
        """Decodes the picture, if that has not been done, and gives access to its pixels."""
        self._decode()
        return super().load()

    def save(self, fp: Any, format: str | None = None, **params: Any) -> None:
        """Saves the picture, as `PIL.Image.Image.save` does."""
        wanted = _format_name(fp, format)
        if wanted not in _FORMATS or params.keys() - {"quality"} or not self._is_unmodified():
            super().save(fp, format, **params)
        elif wanted == self.format and not self._peculiarities:
            _write(fp, self.encoded())
        else:
            _write(fp, _transcode(self, wanted, params.get("quality")))

    def copy(self) -> Image.Image:
        """A copy; one that remembers the file too, as long as nothing was decoded."""
        return self._twin() if self._im is None else super().copy()

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Image.Image:
        return self.copy()

    def convert(self, mode: str | None = None, *args: Any, **kwargs: Any) -> Image.Image:
        """Converts the picture, as `PIL.Image.Image.convert` does; to its own mode that is a copy."""
        if mode == self.mode and mode != "P" and not args and not kwargs:
            return self.copy()
        return super().convert(mode, *args, **kwargs)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        if self._is_unmodified():
            return FileImage, (self.filename, self.encoded())
        return _restore, (super().copy().__getstate__(),)

    def _open(self) -> Image.Image:
        return _open(self.filename if self._data is None else io.BytesIO(self._data))

    def _twin(self) -> FileImage:
        return FileImage(self.filename, self._data)

    def _decode(self) -> None:
        if self._im is not None:
            return
        with self._lock:
            if self._im is None:
                with self._open() as image:
                    image.load()
                    shown = self._peculiarities.shown(image) if self._peculiarities else image
                    self.info = {**shown.info, **self.info}  # some chunks come after the pixels
                    self._im = shown.im

    def _is_unmodified(self) -> bool:
        if self._im is None:
            return _raw_palette(self) == self._file_palette
        # Pixels can be changed in many ways, some of them outside PIL's methods: compare instead of keeping watch.
        return _state(super().copy()) == _state(self._twin())


def _state(image: Image.Image) -> _State:
    return image.mode, image.size, image.tobytes() + bytes(image.getpalette() or b"")


def _raw_palette(image: Image.Image) -> bytes:
    return bytes(image.palette.palette or b"") if image.palette else b""


def _restore(state: Any) -> Image.Image:
    image = Image.Image()
    image.__setstate__(state)
    return image


def _format_name(fp: Any, format: str | None) -> str:
    if format is None:
        extension = Path(os.fspath(fp)).suffix.lower() if isinstance(fp, (str, os.PathLike)) else ""
        format = Image.registered_extensions().get(extension, "")
    return "JPEG" if format.upper() == "JPG" else format.upper()


def _write(fp: Any, data: bytes) -> None:
    if isinstance(fp, (str, os.PathLike)):
        Path(fp).write_bytes(data)
    else:
        fp.write(data)


def _transcode_key(image: FileImage, format: str, quality: int | None) -> tuple[Any, ...]:
    return (*((image._data,) if image._data is not None else _identity(image.filename)), format, quality)


# With a condition, a second thread that wants the same picture waits for the first instead of encoding it too.
@cached(LRUCache(TRANSCODED_BYTES, getsizeof=len), key=_transcode_key, condition=threading.Condition())
def _transcode(image: FileImage, format: str, quality: int | None) -> bytes:
    buffer = io.BytesIO()
    plain = image._twin()
    plain.load()
    if format == plain.format:
        quality = _SAME_FORMAT_QUALITY  # as near to the file as can be
    Image.Image.save(plain, buffer, format, **({} if quality is None else {"quality": quality}))
    return buffer.getvalue()
