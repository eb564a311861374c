"""A picture that readers take differently reaches every model in one form, whatever way it goes."""

from __future__ import annotations

import base64
import io
import pickle
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from lmms_eval.protocol import ChatMessages
from PIL import Image, ImageOps
from qwen_vl_utils.vision_process import to_rgb

from condchain_tasks.data.errors import DataError
from condchain_tasks.data.images import FileImage, check_image, look_at

RED, BLUE, WHITE = (254, 0, 0), (0, 0, 254), (255, 255, 255)

Colour = tuple[int, int, int]


def halves(left: object, right: object, mode: str = "RGB", size: tuple[int, int] = (64, 32)) -> Image.Image:
    image = Image.new(mode, size, left)  # type: ignore[arg-type]
    image.paste(right, (size[0] // 2, 0, *size))  # type: ignore[arg-type]
    return image


def with_orientation(value: int) -> Image.Exif:
    exif = Image.Exif()
    exif[0x0112] = value
    return exif


def turned(path: Path) -> None:
    halves(RED, BLUE).save(path, exif=with_orientation(6), quality=95)


def turned_after_the_pixels(path: Path) -> None:
    halves(RED, BLUE).save(path)
    data = path.read_bytes()
    exif = with_orientation(6).tobytes().removeprefix(b"Exif\0\0")
    chunk = struct.pack(">I", len(exif)) + b"eXIf" + exif + struct.pack(">I", zlib.crc32(b"eXIf" + exif))
    path.write_bytes(data[:-12] + chunk + data[-12:])


def grey(path: Path) -> None:
    halves(50, 200, "L").save(path, exif=with_orientation(6), quality=95)


def deep(path: Path) -> None:
    values = np.full((32, 64), 50 * 256, np.uint16)
    values[:, 32:] = 200 * 256 + 9
    Image.fromarray(values).save(path)


def print_colours(path: Path) -> None:
    halves(RED, BLUE).convert("CMYK").save(path, quality=95)


def half_clear(path: Path) -> None:
    halves((*RED, 255), (*BLUE, 0), "RGBA").save(path)


def half_clear_grey(path: Path) -> None:
    halves((50, 255), (0, 0), "LA").save(path)


def half_clear_palette(path: Path) -> None:
    image = halves(0, 1, "P")
    image.putpalette([*RED, *BLUE])
    image.save(path, transparency=1)


def half_clear_by_colour(path: Path) -> None:
    halves(RED, BLUE).save(path, transparency=BLUE)


def animated(path: Path) -> None:
    halves(RED, BLUE).save(path, save_all=True, append_images=[halves(BLUE, RED)], duration=100, lossless=True)


LEFT_RIGHT, TOP_BOTTOM = ((8, 16), (56, 16)), ((16, 8), (16, 56))
ODD = {
    "turned.jpg": (turned, "EXIF orientation", TOP_BOTTOM, RED, BLUE),
    "turned.png": (turned, "EXIF orientation", TOP_BOTTOM, RED, BLUE),
    "turned.webp": (turned, "EXIF orientation", TOP_BOTTOM, RED, BLUE),
    "late.png": (turned_after_the_pixels, "EXIF orientation", TOP_BOTTOM, RED, BLUE),
    "grey.jpg": (grey, "EXIF orientation", TOP_BOTTOM, (50,) * 3, (200,) * 3),
    "deep.png": (deep, "16-bit", LEFT_RIGHT, (50,) * 3, (200,) * 3),
    "print.jpg": (print_colours, "CMYK", LEFT_RIGHT, RED, BLUE),
    "clear.png": (half_clear, "transparent", LEFT_RIGHT, RED, WHITE),
    "clear.webp": (half_clear, "transparent", LEFT_RIGHT, RED, WHITE),
    "clear-grey.png": (half_clear_grey, "transparent", LEFT_RIGHT, (50,) * 3, WHITE),
    "clear-palette.png": (half_clear_palette, "transparent", LEFT_RIGHT, RED, WHITE),
    "clear-colour.png": (half_clear_by_colour, "transparent", LEFT_RIGHT, RED, WHITE),
    "animated.png": (animated, "animated", LEFT_RIGHT, RED, BLUE),
    "animated.webp": (animated, "animated", LEFT_RIGHT, RED, BLUE),
}


def on_black(image: Image.Image) -> Image.Image:
    return Image.alpha_composite(Image.new("RGBA", image.size, "black"), image.convert("RGBA")).convert("RGB")


READERS: dict[str, Callable[[Image.Image], Image.Image]] = {
    "plain": lambda image: image.convert("RGB"),
    "obeys EXIF": lambda image: ImageOps.exif_transpose(image).convert("RGB"),
    "on white": to_rgb,
    "on black": on_black,
    "last frame": lambda image: (image.seek(getattr(image, "n_frames", 1) - 1), image.convert("RGB"))[1],
}


def sent(path: Path, format: str, monkeypatch: pytest.MonkeyPatch) -> Image.Image:
    """The picture as a server gets it from lmms-eval's API backends."""
    monkeypatch.setenv("LMMS_IMAGE_ENCODE_FORMAT", format)
    monkeypatch.setenv("LMMS_IMAGE_JPEG_QUALITY", "95")
    content = [{"type": "image", "url": FileImage(path)}]
    (message,) = ChatMessages(messages=[{"role": "user", "content": content}]).to_openai_messages()
    _, _, data = message["content"][0]["image_url"]["url"].partition(",")
    return Image.open(io.BytesIO(base64.b64decode(data)))


def ways(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Image.Image]]:
    yield "handed over", FileImage(path)
    yield "converted", FileImage(path).convert("RGB")
    for format in ("PNG", "JPEG", "WEBP"):
        yield format, sent(path, format, monkeypatch)


@pytest.mark.parametrize("name", ODD)
def test_every_way_and_every_reader_gives_one_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    write, oddity, places, *colours = ODD[name]
    path = tmp_path / name
    write(path)
    size = (64, 32) if places is LEFT_RIGHT else (32, 64)
    for way, image in ways(path, monkeypatch):
        for reader, read in READERS.items():
            read_ = read(image)
            assert read_.size == size, (way, reader)
            for place, colour in zip(places, colours, strict=True):
                found = np.array(read_.getpixel(place), int)
                assert abs(found - colour).max() <= 6, (way, reader, place)
    assert check_image(path) == size
    (said,) = look_at(path).oddities
    assert oddity in said


def opaque_alpha(path: Path) -> None:
    halves((*RED, 255), (*BLUE, 255), "RGBA").save(path)


def unused_key_colour(path: Path) -> None:
    halves(RED, BLUE).save(path, transparency=(1, 2, 3))


def upright(path: Path) -> None:
    halves(RED, BLUE).save(path, exif=with_orientation(1))


def damaged_exif(path: Path) -> None:
    halves(RED, BLUE).save(path, exif=b"Exif\0\0MM\0*\xff\xff\xff\xff")


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("opaque.png", opaque_alpha),
        ("key.png", unused_key_colour),
        ("upright.png", upright),
        ("upright.jpg", upright),
        ("damaged.jpg", damaged_exif),
        ("damaged.png", damaged_exif),
    ],
)
def test_what_all_readers_take_alike_stays_its_own_bytes(
    tmp_path: Path, name: str, write: Callable[[Path], None]
) -> None:
    path = tmp_path / name
    write(path)
    buffer = io.BytesIO()
    FileImage(path).save(buffer, format="JPEG" if name.endswith("jpg") else "PNG")
    assert buffer.getvalue() == path.read_bytes()
    assert look_at(path).oddities == ()


@pytest.mark.parametrize(("orientation", "corner"), [(1, 0), (2, 1), (3, 3), (4, 2), (5, 0), (6, 1), (7, 3), (8, 2)])
def test_every_orientation_is_turned_as_viewers_do(tmp_path: Path, orientation: int, corner: int) -> None:
    """The picture's first corner is shown top left (0), top right (1), bottom left (2) or bottom right (3)."""
    image = Image.new("L", (64, 32))
    image.paste(255, (0, 0, 16, 16))
    image.save(tmp_path / "a.png", exif=with_orientation(orientation))
    shown = np.asarray(FileImage(tmp_path / "a.png").convert("L"))
    ends = [shown[0, 0], shown[0, -1], shown[-1, 0], shown[-1, -1]]
    assert ends == [255 * (place == corner) for place in range(4)]
    assert shown.shape == ((64, 32) if orientation >= 5 else (32, 64))


def test_a_turned_picture_survives_a_pickle(tmp_path: Path) -> None:
    turned(tmp_path / "a.jpg")
    data = pickle.dumps(FileImage(tmp_path / "a.jpg"))
    (tmp_path / "a.jpg").unlink()
    assert pickle.loads(data).convert("RGB").size == (32, 64)


def test_an_unreadable_picture_says_why(tmp_path: Path) -> None:
    (tmp_path / "a.png").symlink_to("a.png")
    with pytest.raises(DataError, match=r"a\.png cannot be read: Too many levels of symbolic links"):
        check_image(tmp_path / "a.png")
