"""The tasks through a local vision-language model: real weights (random ones), processor, batches, generation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("lmms_eval")
pytest.importorskip("decord", reason="lmms-eval's Qwen-VL models import it: pip install '.[qwen]'")

from harness import evaluate, figures
from test_harness_api import REASONING
from tiny_model import make_tiny_qwen


@pytest.fixture(scope="module")
def model_args(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = make_tiny_qwen(tmp_path_factory.mktemp("model") / "qwen")
    return f"pretrained={folder},device_map=cpu,attn_implementation=sdpa"


def run(task: str, model_args: str, **more: Any) -> dict[str, Any]:
    return evaluate(
        task,
        model="qwen2_5_vl",
        model_args=model_args,
        device="cpu",
        batch_size=2,
        gen_kwargs="max_new_tokens=8",
        **more,
    )


@pytest.mark.parametrize("force_simple", [False, True])
@pytest.mark.parametrize("task", ["condchain_gui", "condchain_natural"])
def test_a_local_model_runs(dataset: Path, model_args: str, task: str, force_simple: bool) -> None:
    results = run(task, model_args, force_simple=force_simple, limit=4)
    assert results["config"]["model_backend"].endswith("(simple)" if force_simple else "(chat)")
    found = figures(results, task)
    assert found["failed"] == 0
    assert 0 <= found["true_acc"] <= 100
    replies = [sample["resps"][0][0] for sample in results["samples"][task]]
    assert all(isinstance(reply, str) and reply for reply in replies)


@pytest.mark.parametrize("force_simple", [False, True])
def test_reasoning_over_paragraphs_reaches_the_scorer(
    dataset: Path, model_args: str, force_simple: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The backend's own handling of `until` sees what a trained model would have written."""
    from transformers import Qwen2_5_VLProcessor

    monkeypatch.setattr(Qwen2_5_VLProcessor, "batch_decode", lambda self, ids, **_: [REASONING] * len(ids))
    results = run("condchain_chart", model_args, force_simple=force_simple, limit=2)
    sample = results["samples"]["condchain_chart"][0]
    assert sample["filtered_resps"] == [REASONING]
    assert (sample["path_f1"]["pred"], sample["path_f1"]["score"]) == ("B2", 100)


@pytest.mark.parametrize(
    "token", ["<|image_pad|>", "<|vision_start|><|image_pad|><|vision_end|>", "<|im_end|>", "<image>"]
)
@pytest.mark.parametrize("model", ["qwen2_5_vl", "condchain_sim"])
def test_a_models_own_token_in_the_data_is_warned_of_and_ends_no_run(
    dataset: Path, model_args: str, warnings: list[str], model: str, token: str
) -> None:
    records = dataset / "data" / "chart.jsonl"
    records.write_text(records.read_text().replace("Chain 0.", f"Chain 0. {token} Go."))
    if model == "qwen2_5_vl":
        results = run("condchain_chart", model_args, limit=2)
    else:
        results = evaluate("condchain_chart", model=model, model_args="policy=oracle", limit=2)
    assert figures(results, "condchain_chart")["failed"] == 0
    assert any("texts with a special token of some model" in warning for warning in warnings)
