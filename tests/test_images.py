"""A picture that remembers its file, and checks without decoding."""

from __future__ import annotations

import copy
import io
import pickle
import struct
import threading
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

from condchain_tasks.data import images
from condchain_tasks.data.errors import DataError
from condchain_tasks.data.images import FileImage, check_image

NAMES = ("rgb.png", "rgb.jpg", "palette.png", "rgba.png", "grey.png", "rgb.webp")


@pytest.fixture(params=NAMES)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A picture file of each kind."""
    name: str = request.param
    noise = Image.effect_noise((64, 48), 50)
    picture = {
        "rgb": noise.convert("RGB"),
        "palette": noise.convert("RGB").quantize(16),
        "rgba": noise.convert("RGBA"),
        "grey": noise,
    }[name.partition(".")[0]]
    picture.save(tmp_path / name)
    return tmp_path / name


def saved(image: Image.Image, format: str | None, **params: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, format=format, **params)
    return buffer.getvalue()


def test_own_format_gives_the_files_bytes_without_decoding(path: Path) -> None:
    image = FileImage(path)
    assert saved(image, image.format) == path.read_bytes()
    assert saved(image, str(image.format).lower(), quality=85) == path.read_bytes()
    assert image._im is None


def test_saving_to_a_path(path: Path, tmp_path: Path) -> None:
    target = tmp_path / f"copy{path.suffix}"
    FileImage(path).save(target)
    assert target.read_bytes() == path.read_bytes()


def test_still_own_bytes_after_decoding(path: Path) -> None:
    image = FileImage(path)
    image.load()
    assert saved(image, image.format) == path.read_bytes()


def test_behaves_as_the_picture_that_pil_opens(path: Path) -> None:
    opened = Image.open(path)
    assert isinstance(FileImage(path), Image.Image)
    assert (FileImage(path).size, FileImage(path).mode, FileImage(path).format) == (
        opened.size,
        opened.mode,
        opened.format,
    )
    assert FileImage(path).tobytes() == opened.tobytes()
    assert np.array_equal(np.asarray(FileImage(path)), np.asarray(opened))
    for mode in ("RGB", "L", opened.mode):
        assert FileImage(path).convert(mode).tobytes() == opened.convert(mode).tobytes()
    assert FileImage(path).resize((9, 7)).tobytes() == opened.resize((9, 7)).tobytes()
    assert FileImage(path).crop((3, 4, 20, 30)).tobytes() == opened.crop((3, 4, 20, 30)).tobytes()
    assert FileImage(path).getpixel((5, 6)) == opened.getpixel((5, 6))
    assert FileImage(path).rotate(90).tobytes() == opened.rotate(90).tobytes()


@pytest.mark.parametrize("clone", [copy.copy, copy.deepcopy, lambda i: pickle.loads(pickle.dumps(i)), Image.Image.copy])
@pytest.mark.parametrize("decoded", [False, True])
def test_clones(path: Path, clone: object, decoded: bool) -> None:
    image = FileImage(path)
    if decoded:
        image.load()
    twin = clone(image)  # type: ignore[operator]
    assert twin.tobytes() == Image.open(path).tobytes()
    assert twin.size == image.size


def test_a_pickle_does_without_the_file(path: Path) -> None:
    expected, data = Image.open(path).tobytes(), pickle.dumps(FileImage(path))
    path.unlink()
    assert pickle.loads(data).tobytes() == expected


def _draw(image: Image.Image) -> None:
    ImageDraw.Draw(image).rectangle((0, 0, 9, 9), fill=0)


def _pixel_access(image: Image.Image) -> None:
    access = image.load()
    first = access[0, 0]
    access[0, 0] = (first + 8) % 16 if isinstance(first, int) else tuple(255 - band for band in first)


def _paste(image: Image.Image) -> None:
    image.paste(0, (0, 0, 20, 20))


def _thumbnail(image: Image.Image) -> None:
    image.thumbnail((20, 20))


def _put_data(image: Image.Image) -> None:
    pixels = np.asarray(image).reshape(64 * 48, -1) // 2
    image.putdata([tuple(map(int, p)) if len(p) > 1 else int(p[0]) for p in pixels])


def _put_alpha(image: Image.Image) -> None:
    image.paste(0, (0, 0, 64, 48)) if image.mode == "P" else image.putalpha(100)  # PIL writes no palette with alpha


@pytest.mark.parametrize("change", [_draw, _pixel_access, _paste, _thumbnail, _put_data, _put_alpha])
def test_a_changed_picture_is_encoded_anew(path: Path, change: Callable[[Image.Image], None]) -> None:
    image, normal = FileImage(path), Image.open(path)
    normal.load()
    change(image)
    change(normal)
    data = saved(image, "PNG")
    assert data != path.read_bytes()
    assert Image.open(io.BytesIO(data)).convert("RGBA").tobytes() == normal.convert("RGBA").tobytes()
    assert pickle.loads(pickle.dumps(image)).tobytes() == normal.tobytes()


def test_a_changed_palette_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "palette.png"
    Image.effect_noise((64, 48), 50).convert("RGB").quantize(16).save(path)
    image = FileImage(path)
    image.putpalette([9, 99, 199] * 16)
    assert Image.open(io.BytesIO(saved(image, "PNG"))).convert("RGB").getpixel((3, 3)) == (9, 99, 199)


def test_other_options_are_honoured(path: Path) -> None:
    assert saved(FileImage(path).convert("RGB"), "PNG", compress_level=0) != path.read_bytes()


def test_a_transcode_happens_once_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "picture.jpg"
    Image.effect_noise((64, 48), 50).convert("RGB").save(path)
    encoded: list[str] = []
    save = Image.Image.save
    monkeypatch.setattr(
        Image.Image, "save", lambda self, fp, format=None, **p: (encoded.append(format), save(self, fp, format, **p))[1]
    )
    results: list[bytes] = []
    threads = [threading.Thread(target=lambda: results.append(saved(FileImage(path), "PNG"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert encoded == ["PNG"]
    assert len(set(results)) == 1
    assert Image.open(io.BytesIO(results[0])).tobytes() == Image.open(path).tobytes()


def test_a_file_that_changed_is_transcoded_anew(tmp_path: Path) -> None:
    path = tmp_path / "picture.jpg"
    Image.new("RGB", (64, 48), "red").save(path)
    red = saved(FileImage(path), "PNG")
    Image.new("RGB", (65, 48), "blue").save(path)
    assert saved(FileImage(path), "PNG") != red


def test_what_is_kept_is_bounded() -> None:
    cache = images._transcode.cache
    assert cache.maxsize == images.TRANSCODED_BYTES
    cache["a"] = b"x" * 10
    assert cache.currsize >= 10
    del cache["a"]


def test_decoding_from_many_threads(path: Path) -> None:
    image = FileImage(path)
    expected, found = Image.open(path).tobytes(), []
    threads = [threading.Thread(target=lambda: found.append(image.tobytes())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 8


def test_check_gives_the_size(path: Path) -> None:
    assert check_image(path) == (64, 48)


@pytest.mark.parametrize("cut", [1, 20, 500])
def test_a_truncated_picture_is_noticed(path: Path, cut: int) -> None:
    path.write_bytes(path.read_bytes()[:-cut])
    with pytest.raises(DataError, match=r"truncated|no PNG"):
        check_image(path)


def test_data_after_the_end_is_no_fault(tmp_path: Path) -> None:
    for name in ("picture.png", "picture.jpg"):
        path = tmp_path / name
        Image.new("RGB", (8, 8)).save(path)
        path.write_bytes(path.read_bytes() + b"camera notes" * 100)
        assert check_image(path) == (8, 8)


def test_a_thumbnails_end_is_not_the_pictures(tmp_path: Path) -> None:
    thumbnail = saved(Image.new("RGB", (8, 8)), "JPEG")
    whole = saved(Image.effect_noise((64, 48), 50), "JPEG")
    segment = b"Exif\0\0" + thumbnail
    path = tmp_path / "picture.jpg"
    data = whole[:2] + b"\xff\xe1" + struct.pack(">H", len(segment) + 2) + segment + whole[2:]
    path.write_bytes(data)
    check_image(path)
    path.write_bytes(data[:-2])
    with pytest.raises(DataError, match="truncated"):
        check_image(path)


def test_a_decompression_bomb_is_refused_unopened(tmp_path: Path) -> None:
    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    chunk = struct.pack(">I", len(header)) + b"IHDR" + header + struct.pack(">I", zlib.crc32(b"IHDR" + header))
    path = tmp_path / "bomb.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk + b"\0\0\0\0IEND\xaeB`\x82")
    with pytest.raises(DataError, match=r"bomb\.png"):
        check_image(path)


def test_large_by_our_own_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "large.png"
    Image.new("L", (101, 100)).save(path)
    monkeypatch.setattr(images, "MAX_PIXELS", 10_000)
    with pytest.raises(DataError, match="101 x 100"):
        check_image(path)
    monkeypatch.setattr(images, "MAX_BYTES", 10)
    with pytest.raises(DataError, match="bytes"):
        check_image(path)


def test_a_damaged_header_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "damaged.png"
    Image.new("RGB", (8, 8)).save(path)
    data = bytearray(path.read_bytes())
    data[37:41] = b"\xff" * 4  # the type of the second chunk
    path.write_bytes(data)
    with pytest.raises(DataError, match=r"damaged\.png is no PNG"):
        check_image(path)


def test_cmyk_is_sent_as_png_in_rgb(tmp_path: Path) -> None:
    path = tmp_path / "print.jpg"
    Image.new("CMYK", (8, 8), (0, 255, 255, 0)).save(path)
    with Image.open(io.BytesIO(saved(FileImage(path), "PNG"))) as sent:
        assert (sent.mode, sent.getpixel((3, 3))) == ("RGB", Image.open(path).convert("RGB").getpixel((3, 3)))


def test_a_jpeg_with_a_second_picture_is_a_jpeg(tmp_path: Path) -> None:
    path = tmp_path / "phone.jpg"
    first = Image.new("RGB", (16, 16), "red")
    first.save(path, format="MPO", save_all=True, append_images=[Image.new("RGB", (16, 16), "blue")])
    assert check_image(path) == (16, 16)
    assert saved(FileImage(path), "JPEG") == path.read_bytes()


@pytest.mark.parametrize("content", [b"", b"not a picture", b"GIF89a" + b"\0" * 50, b"<svg/>"])
def test_what_is_no_picture(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "thing.png"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"thing\.png is (empty|no PNG)"):
        check_image(path)
