"""CCRV-Bench on backends: what a server receives, what a real local model receives, what odd replies come to."""

from __future__ import annotations

import base64
import json
import math
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("lmms_eval")

import official_ccrv
from chat_server import Reply, chat_server
from harness import evaluate, figures

from condchain_tasks.data import images
from condchain_tasks.data.harness import RunNotPossible
from condchain_tasks.prompts import render


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two pictures in the official layout, named by CCRV_DATA; no judge."""
    root = official_ccrv.write_dataset(tmp_path / "ccrv")
    monkeypatch.setenv("CCRV_DATA", str(root))
    monkeypatch.setenv("CCRV_JUDGE", "none")
    monkeypatch.setenv("LMMS_IMAGE_ENCODE_FORMAT", "JPEG")
    return root


def arguments(url: str) -> str:
    return f"model_version=local,base_url={url},api_key=none,num_concurrent=8,timeout=30,max_retries=1"


def turns(request: dict[str, Any]) -> list[tuple[str, list[str | bytes]]]:
    """A request's turns: who speaks, and texts as they are and pictures as bytes."""

    def part(value: dict[str, Any]) -> str | bytes:
        if value["type"] == "text":
            return str(value["text"])
        return base64.b64decode(value["image_url"]["url"].partition(",")[2])

    return [
        (turn["role"], [turn["content"]] if isinstance(turn["content"], str) else [part(p) for p in turn["content"]])
        for turn in request["messages"]
    ]


@pytest.mark.parametrize("backend", ["openai", "async_openai"])
def test_a_system_turn_then_the_question_then_the_files_bytes(data: Path, backend: str) -> None:
    with chat_server(lambda _: Reply("The shelf carries it.")) as server:
        evaluate(["ccrv_x1_base", "ccrv_x1_y1"], model=backend, model_args=arguments(server.url))
    received = [turns(request) for request in server.requests]
    assert len(received) == 8
    pictures = {path.stem: path.read_bytes() for path in (data / "VG_images_test").iterdir()}
    baseline = official_ccrv.question(40, "X1_discovery", 0)["question_text"]
    assert [
        ("system", [render("ccrv_baseline_system")]),
        ("user", [render("ccrv_baseline", question=baseline), pictures["40"]]),
    ] in received
    constrained = official_ccrv.forms("X1_discovery", 1)[0]["constrained_question"]
    assert [
        ("system", [render("ccrv_constrained_system")]),
        ("user", [constrained, pictures["39"]]),
    ] in received


def test_controls_show_what_they_are_to_show(data: Path) -> None:
    seen: dict[str, list[list[tuple[str, list[str | bytes]]]]] = {}
    tasks = [
        f"ccrv_{control}"
        for control in ("textonly", "textonly_y1", "oracle_textonly_y1", "oracle_y1", "oracle_y2", "oracle_y4")
    ]
    for task in [*tasks, "ccrv_cot_a", "ccrv_cot_b"]:
        with chat_server(lambda _: Reply("The shelf carries it.")) as server:
            evaluate(task, model="openai", model_args=arguments(server.url), limit=1)
        seen[task] = [turns(request) for request in server.requests]
    users = {task: received[0][1][1] for task, received in seen.items()}
    assert {task for task, parts in users.items() if len(parts) == 1} == {
        "ccrv_textonly",
        "ccrv_textonly_y1",
        "ccrv_oracle_textonly_y1",
    }
    form = {
        name: official_ccrv.forms("X1_discovery", 0)[number] for number, name in enumerate(("y1", "y2", "y3", "y4"))
    }
    known = official_ccrv.question(40, "X1_discovery", 0)
    assert users["ccrv_textonly_y1"] == [form["y1"]["constrained_question"]]
    for name in ("y1", "y2", "y4"):
        text = users[f"ccrv_oracle_{name}"][0]
        assert isinstance(text, str)
        assert text.startswith(form[name]["constrained_question"])
        told = form[name]["adapted_ground_truth"] if name == "y1" else known["ground_truth_answer"]
        assert told in text
    assert users["ccrv_oracle_textonly_y1"] == users["ccrv_oracle_y1"][:1]
    for name in ("cot_a", "cot_b"):
        assert users[f"ccrv_{name}"][0] == render(f"ccrv_{name}", question=known["question_text"])


def test_each_picture_is_encoded_once(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """80 requests on two JPEG pictures, sent as PNG."""
    monkeypatch.setenv("LMMS_IMAGE_ENCODE_FORMAT", "PNG")
    encoded = []
    save = images.Image.Image.save
    monkeypatch.setattr(
        images.Image.Image, "save", lambda self, *args, **kwargs: (encoded.append(1), save(self, *args, **kwargs))[1]
    )
    images._transcode.cache.clear()
    with chat_server(lambda _: Reply("The shelf carries it.")) as server:
        evaluate("ccrv", model="openai", model_args=arguments(server.url))
    assert len(server.requests) == 80
    assert len(encoded) == 2


def test_requests_of_one_picture_follow_each_other(data: Path) -> None:
    samples = evaluate("ccrv")["samples"]["ccrv"]
    records = [sample.get("dcr") if "key" in sample["dcr"] else sample["dcr_base"] for sample in samples]
    assert [record["image_id"] for record in records] == ["40"] * 40 + ["39"] * 40
    assert [(r["x"], r["key"][-1], r["y"]) for r in records[:7]] == [
        ("X1", "0", "base"),
        *(("X1", "0", f"Y{y}") for y in range(1, 5)),
        ("X1", "1", "base"),
        ("X1", "1", "Y1"),
    ]


ODD = {
    "": "failed",
    "?!…": "punctuation",
    "x" * 1_000_000: "long",
    "Coordinate: １２, ２３\nExplanation: The shelf carries the weight of the cup.": "full-width digits",
    "\u200fالرف يحمل الكوب": "right-to-left",
    "Coordinate: 31, 23\nCoordinate: 1, 1\nExplanation: The shelf carries the cup's weight.": "two lines",
    "Coordinate: thirty, twenty\nExplanation: The shelf carries the cup's weight.": "in words",
    "[LMMS_EVAL_REQUEST_FAILED after 3 retries] H100": "marker",
}


def test_odd_replies_never_stop_a_run_and_get_the_rules_verdict(data: Path) -> None:
    texts = list(ODD)
    with chat_server(lambda _: Reply(texts[(len(server.requests) - 1) % len(texts)])) as server:
        results = evaluate("ccrv_y2", model="openai", model_args=arguments(server.url).replace("=8", "=1"))
    samples = [s for name in (f"ccrv_x{x}_y2" for x in range(1, 5)) for s in results["samples"][name]]
    assert len(samples) == 16
    by_reply: dict[str, set[tuple[int, bool, bool]]] = {}
    for sample in samples:
        record = sample["dcr"]
        reply = sample["filtered_resps"][0]
        kind = {"empty": "failed", "error": "marker"}[record["failure"]] if record["failed"] else ODD[reply]
        by_reply.setdefault(kind, set()).add((record["csr"], record["failed"], record["no_answer"]))
        assert len(record["csr_reason"]) < 400
    assert by_reply == {
        "failed": {(0, True, False)},
        "punctuation": {(0, False, True)},
        "long": {(0, False, False)},
        "full-width digits": {(1, False, False)},
        "right-to-left": {(0, False, False)},
        "two lines": {(1, False, False)},
        "in words": {(0, False, False)},
        "marker": {(0, True, False)},
    }


def test_without_a_judge_the_rules_speak_and_the_rest_is_missing(data: Path) -> None:
    found = figures(evaluate("ccrv", model_args="policy=oracle"), "ccrv")
    assert (found["csr"], found["failed"]) == (100, 0)
    assert found["missing"] == 100
    assert [found[metric] for metric in ("l1", "l2", "l3", "dcr", "dcr_base", "edcr", "cdi", "ecdi")] == [None] * 8
    overall = next(row for row in found["paired_cells"] if row["group"] == "overall")
    assert (overall["n"], overall["missing"], overall["dcr"], overall["csr"]) == (64, 64, None, 100.0)


def test_standard_errors_are_clustered_by_picture(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Y4's rule over 4 items of each of two pictures: right on one picture, wrong on the other."""

    def answer(request: dict[str, Any]) -> Reply:
        picture = turns(request)[1][1][1]
        return Reply(
            "shelf" if picture == (data / "VG_images_test" / "40.jpg").read_bytes() else "far too long a reply, this"
        )

    with chat_server(answer) as server:
        results = evaluate("ccrv_x1_y4", model="openai", model_args=arguments(server.url))
    found = figures(results, "ccrv_x1_y4")
    assert found["csr"] == 50
    # Four values of 100, 100, 0, 0 in two clusters: SE² = var/n + cross/n² = 3333.3/4 + 2·2·2500/16 (see lmms-eval).
    assert found["csr_stderr_clustered"] == pytest.approx(math.sqrt(10_000 / 3 / 4 + 4 * 2_500 / 16))


def test_no_data_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CCRV_DATA", raising=False)
    with pytest.raises(RunNotPossible, match=r"ccrv: CCRV-Bench is not on the Hub\. Clone .* and set CCRV_DATA"):
        evaluate("ccrv")


def test_a_fault_ends_the_run_before_any_request(data: Path) -> None:
    path = data / official_ccrv.CONSTRAINED
    entries = json.loads(path.read_text())
    entries[1]["questions"]["X2_prediction"][1]["main_set_versions"][3]["constraint_spec"]["allowed_max_words"] = 0
    path.write_text(json.dumps(entries))
    with (
        chat_server(lambda _: Reply("x")) as server,
        pytest.raises(RunNotPossible, match=r"ccrv_x1_base: .*39.*X2.*1.*Y4.*allowed_max_words"),
    ):
        evaluate("ccrv_x1_base", model="openai", model_args=arguments(server.url))
    assert not server.requests
