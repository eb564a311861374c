"""The tasks through lmms-eval's API models, against a server that keeps what it receives."""

from __future__ import annotations

import io
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

pytest.importorskip("lmms_eval")

from chat_server import Reply, chat_server
from harness import evaluate, figures

BACKENDS = ["openai", "async_openai"]

REASONING = (
    "First, the mug is red.\n\nSecond, it is large.\n\n\\boxed{A1} would be rash.\n\nSo the answer is \\boxed{B2}."
)


def arguments(url: str, backend: str, **more: Any) -> str:
    """Model arguments that fail fast."""
    settings = {"model_version": "local", "base_url": url, "api_key": "x", "timeout": 1, "max_retries": 2}
    settings |= {"retry_backoff_s": 0} | ({"num_concurrent": 4} if backend == "openai" else {"num_cpus": 4}) | more
    return ",".join(f"{key}={value}" for key, value in settings.items())


@pytest.mark.parametrize("backend", BACKENDS)
def test_gui_turn_numbers_interleave_with_the_files_bytes(dataset: Path, backend: str) -> None:
    with chat_server(lambda _: Reply()) as server:
        evaluate("condchain_gui", model=backend, model_args=arguments(server.url, backend))
        assert len(server.requests) == 6
        seen = Counter()
        for number, request in enumerate(server.requests):
            *numbered, text = server.parts(number)
            name = f"gui{text.partition('Chain ')[2][0]}"
            files = sorted((dataset / "images/gui" / name).iterdir())
            assert numbered == [
                part for index, file in enumerate(files, start=1) for part in (f"Image {index}:", file.read_bytes())
            ]
            assert r"\boxed{letter-number}" in text
            assert request["max_tokens"] == 16384
            assert request["temperature"] == 0
            seen[name] += 1
        assert seen == {"gui0": 2, "gui1": 2, "gui2": 2}


def test_jpeg_is_sent_as_the_same_pixels_in_png_and_as_its_own_bytes_if_asked(
    dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = dataset / "images/natural/natural0.jpg"
    for encoding in ("PNG", "JPEG"):
        monkeypatch.setenv("LMMS_IMAGE_ENCODE_FORMAT", encoding)
        with chat_server(lambda _: Reply()) as server:
            evaluate("condchain_natural", model="openai", model_args=arguments(server.url, "openai"), limit=2)
            for number in range(2):
                picture, text = server.parts(number)
                assert isinstance(picture, bytes)
                assert isinstance(text, str)
                if encoding == "JPEG":
                    assert picture == file.read_bytes()
                else:
                    assert picture.startswith(b"\x89PNG")
                    assert Image.open(io.BytesIO(picture)).tobytes() == Image.open(file).tobytes()


@pytest.mark.parametrize("backend", BACKENDS)
def test_failures_are_counted_and_warned_of_and_sent_again(
    dataset: Path, tmp_path: Path, warnings: list[str], backend: str
) -> None:
    """Of six requests one gets 429, one times out, one comes back empty; the others are right."""
    # lmms-eval's openai model ignores its timeout, so there a gateway's timeout stands in for the client's own.
    late = Reply(status=504) if backend == "openai" else Reply(delay_s=1.5)
    failing = {"Chain 0": Reply(status=429), "Chain 1": late, "Chain 2": Reply(text="")}

    def answer(request: dict[str, Any]) -> Reply:
        text = request["messages"][0]["content"][-1]["text"]
        chain = text[text.index("Chain ") :][:7]
        on_true_path = "blue" not in text
        if on_true_path and chain in failing:
            return failing[chain]
        return Reply("\\boxed{A1}")  # right on every false path

    with chat_server(answer) as server:
        settings: dict[str, Any] = {"model": backend, "model_args": arguments(server.url, backend)}
        settings["use_cache"] = str(tmp_path / "cache")
        results = evaluate("condchain_chart", **settings)
        found = figures(results, "condchain_chart")
        assert found["failed"] == 50
        assert found["no_answer"] == 0
        assert (found["true_acc"], found["false_acc"], found["path_f1"]) == (0, 100, 0)
        records = [sample["path_f1"] for sample in results["samples"]["condchain_chart"]]
        assert [record["failed"] for record in records] == [True, False] * 3
        assert [record["pred"] for record in records] == ["None", "A1"] * 3
        (told,) = [line for line in warnings if "not comparable" in line]
        assert told.startswith("3 of 6 requests failed (2 errors, 1 empty).")

        failing.clear()
        server.requests.clear()
        again = figures(evaluate("condchain_chart", **settings), "condchain_chart")
        assert again["failed"] == 0
        assert len(server.requests) == 3  # only what had failed


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_second_run_with_the_cache_sends_nothing(dataset: Path, tmp_path: Path, backend: str) -> None:
    with chat_server(lambda _: Reply("\\boxed{A1}")) as server:
        settings: dict[str, Any] = {"model": backend, "model_args": arguments(server.url, backend)}
        settings["use_cache"] = str(tmp_path / "cache")
        first = evaluate("condchain_natural", **settings)
        assert len(server.requests) == 6
        second = evaluate("condchain_natural", **settings)
        assert len(server.requests) == 6
    assert second["results"] == first["results"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_reasoning_over_paragraphs_reaches_the_scorer(dataset: Path, backend: str) -> None:
    with chat_server(lambda _: Reply(REASONING)) as server:
        results = evaluate("condchain_chart", model=backend, model_args=arguments(server.url, backend), limit=2)
        sample = results["samples"]["condchain_chart"][0]
        assert sample["filtered_resps"] == [REASONING]
        assert (sample["path_f1"]["pred"], sample["path_f1"]["score"]) == ("B2", 100)
        assert all("stop" not in request for request in server.requests)


def test_thinking_is_left_out_of_the_reading(dataset: Path) -> None:
    with chat_server(lambda _: Reply("<think>\\boxed{A1}</think>I cannot tell.")) as server:
        settings: dict[str, Any] = {"model": "openai", "model_args": arguments(server.url, "openai"), "limit": 2}
        found = evaluate("condchain_chart", cli_args=_CliArgs(), **settings)
        assert figures(found, "condchain_chart")["no_answer"] == 100


class _CliArgs:
    """What the command line sets unless it is told otherwise."""

    reasoning_tags = '[["<think>", "</think>"], ["<analysis>", "</analysis>"]]'
    process_with_media = False
    agentic_trace_mode = "basic"


def test_replies_of_every_kind_never_stop_a_run(dataset: Path) -> None:
    replies = iter(["", None, "x" * 1_000_000, "\x00\x01\ufffd" * 50, "答案是 A1。", "\\boxed{" * 1000])
    lock = threading.Lock()

    def answer(_: dict[str, Any]) -> Reply:
        with lock:
            return Reply(next(replies))

    with chat_server(answer) as server:
        model_args = arguments(server.url, "openai", max_retries=1, num_concurrent=1)
        found = figures(evaluate("condchain_chart", model="openai", model_args=model_args), "condchain_chart")
    assert found["failed"] == pytest.approx(100 * 2 / 6)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("encoding", ["PNG", "JPEG"])
def test_a_turned_photograph_is_sent_upright_and_without_its_tag(
    dataset: Path, monkeypatch: pytest.MonkeyPatch, warnings: list[str], backend: str, encoding: str
) -> None:
    """Its file has the left half red and says that it is to be turned clockwise: the top half is red then."""
    exif = Image.Exif()
    exif[0x0112] = 6
    picture = Image.new("RGB", (64, 32), (0, 0, 255))
    picture.paste((255, 0, 0), (0, 0, 32, 32))
    picture.save(dataset / "images/natural/natural0.jpg", exif=exif, quality=95)
    monkeypatch.setenv("LMMS_IMAGE_ENCODE_FORMAT", encoding)
    with chat_server(lambda _: Reply()) as server:
        evaluate("condchain_natural", model=backend, model_args=arguments(server.url, backend), limit=2)
        for number in range(2):
            data, _ = server.parts(number)
            with Image.open(io.BytesIO(data)) as sent:
                assert (sent.format, sent.size, dict(sent.getexif())) == (encoding, (32, 64), {})
                assert sent.convert("RGB").getpixel((16, 8))[0] > 240
                assert sent.convert("RGB").getpixel((16, 56))[2] > 240
    assert any("1 pictures with an EXIF orientation" in warning for warning in warnings)
