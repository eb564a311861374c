"""--use_cache in whole runs: whose replies a run is given."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("lmms_eval")

from chat_server import ChatServer, Reply, chat_server
from harness import evaluate, figures
from PIL import Image

from condchain_tasks.synth.causal import write_dataset

ARGUMENTS = "model_version=local,api_key=none,max_retries=1,num_concurrent=4"


def run(task: str, cache: Path, model: str = "openai", arguments: str = ARGUMENTS, **more: Any) -> dict[str, Any]:
    return evaluate(task, model=model, model_args=arguments, use_cache=str(cache), **more)


@pytest.mark.parametrize("backend", ["openai", "async_openai"])
@pytest.mark.parametrize("task", ["condchain_natural_mini", "vrex_planning_mini"])
def test_two_servers_with_models_of_one_name_share_no_reply(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, backend: str, task: str
) -> None:
    with chat_server(lambda _: Reply("\\boxed{A1}")) as one, chat_server(lambda _: Reply("(B)")) as other:
        sent = []
        for server in (one, other, one, other):
            monkeypatch.setenv("OPENAI_API_BASE", server.url)
            before = len(server.requests)
            results = run(task, tmp_path, backend, limit=4)
            sent.append(len(server.requests) - before)
            assert results["configs"][task]["metadata"]["server"] == server.url
    assert sent[0] >= 4
    assert sent[1] >= 4
    assert sent[2:] == [0, 0]


def test_the_same_texts_over_other_pictures_are_asked_anew(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dataset: Path
) -> None:
    monkeypatch.setenv("CCRV_JUDGE", "none")
    other = tmp_path / "other"
    shutil.copytree(dataset, other)
    for path in (other / "images" / "natural").rglob("*.*"):
        Image.new("RGB", (64, 48), "red").save(path)

    def asked(server: ChatServer, root: Path) -> int:
        monkeypatch.setenv("CONDCHAIN_DATA", str(root))
        before = len(server.requests)
        found = run("condchain_natural", tmp_path / "cache", arguments=f"{ARGUMENTS},base_url={server.url}")
        assert figures(found, "condchain_natural")["failed"] == 0
        return len(server.requests) - before

    with chat_server(lambda _: Reply("\\boxed{A1}")) as server:
        assert [asked(server, root) for root in (dataset, other, dataset)] == [6, 6, 0]


def test_another_judge_and_a_moved_folder_ask_the_model_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    drawn, moved = tmp_path / "drawn", tmp_path / "moved"
    write_dataset(drawn, n=1, seed=3)
    shutil.copytree(drawn, moved)

    def asked(server: ChatServer, root: Path, judge: str) -> int:
        monkeypatch.setenv("CCRV_DATA", str(root))
        monkeypatch.setenv("CCRV_JUDGE", judge)
        before = len(server.requests)
        run("ccrv_x1_y1", tmp_path / "cache", arguments=f"{ARGUMENTS},base_url={server.url}")
        return len(server.requests) - before

    with chat_server(lambda _: Reply("The lamp falls.")) as server:
        first, *others = (asked(server, *pair) for pair in ((drawn, "none"), (drawn, "rules"), (moved, "rules")))
        assert first > 0
        assert others == [0, 0]
