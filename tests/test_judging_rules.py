"""`CCRV_JUDGE=rules`: verdicts computed from the facts of drawn scenes, offline, marked as simulated."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("lmms_eval")

import official_ccrv
from chat_server import Reply, chat_server
from harness import evaluate, figures
from logged_runs import edit, figures_of, lines_of, the_log, write_run
from typer.testing import CliRunner

from condchain_tasks.cli import app
from condchain_tasks.data.harness import RunNotPossible
from condchain_tasks.judging.rules import content, premise
from condchain_tasks.synth.causal import write_dataset
from condchain_tasks.synth.causal_records import ItemFacts

LAMP = ItemFacts(
    l1=(("lamp", "node_a"), ("hook",)),
    l2=(("hangs on", "is held by"),),
    l3=(("does not fall", "stays"),),
    denies=("is false",),
    accepts=("since nothing holds",),
)


@pytest.fixture(autouse=True)
def rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CCRV_JUDGE", "Rules")
    for name in ("OPENAI_API_KEY", "OPENAI_API_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ("The lamp hangs on the hook, so it stays.", (1, 1, 1)),
        ("NODE_A IS HELD BY the hook and does not fall.", (1, 1, 1)),
        ("The lamp is held by a nail, so it stays.", (0, 1, 1)),
        ("The lamps hang on hooks.", (0, 0, 0)),
        ("", (0, 0, 0)),
    ],
)
def test_each_layer_is_looked_for_by_itself_in_whole_words(reply: str, verdict: tuple[int, int, int]) -> None:
    found = content(LAMP, reply)
    assert (found.r1, found.r2, found.r3) == verdict


@pytest.mark.parametrize(
    ("reply", "csr"),
    [
        ("The premise is false: the hook holds the lamp.", 1),
        ("The hook holds the lamp.", 0),
        ("Since nothing holds the lamp, it falls.", 0),
        ("The premise is false, but since nothing holds the lamp it falls.", 0),
    ],
)
def test_a_premise_is_to_be_denied_and_not_gone_on_from(reply: str, csr: int) -> None:
    assert premise(LAMP, reply).csr == csr


@pytest.mark.parametrize(
    ("policy", "dcr", "csr", "edcr", "cdi", "ecdi"),
    [("oracle", 100, 100, 100, 0, 0), ("violates", 100, 0, 0, 0, 100), ("wrong", 0, 100, 0, 0, 0)],
)
def test_the_embedded_benchmark_has_all_its_figures_offline(
    policy: str, dcr: int, csr: int, edcr: int, cdi: int, ecdi: int, capsys: pytest.CaptureFixture[str]
) -> None:
    results = evaluate("ccrv_mini", model_args=f"policy={policy}")
    found = figures(results, "ccrv_mini")
    assert [found[name] for name in ("dcr", "csr", "edcr", "cdi", "ecdi")] == [dcr, csr, edcr, cdi, ecdi]
    assert (found["missing"], found["failed"]) == (0, 0)
    assert results["configs"]["ccrv_mini"]["metadata"]["judge"] == {
        "model": "rules",
        "temperature": None,
        "server": "",
        "simulated": True,
        "prompts": [],
    }
    assert capsys.readouterr().err.count("Simulated verdicts") == 1


def test_failed_requests_are_failed_and_not_judged() -> None:
    with chat_server(lambda _: Reply("", 500)) as model:
        arguments = f"model_version=local,base_url={model.url},api_key=none,num_concurrent=8,max_retries=1"
        found = figures(evaluate("ccrv_x1_y3_mini", model="openai", model_args=arguments), "ccrv_x1_y3_mini")
    assert (found["failed"], found["dcr"], found["csr"], found["missing"]) == (100, 0, 0, 0)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("drawn") / "ccrv"
    write_dataset(folder, n=2, seed=11)
    return folder


def test_drawn_data_of_ones_own_is_judged_too_and_not_taken_for_the_embedded_items(
    drawn: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have scenes of the same names."""
    monkeypatch.setenv("CCRV_DATA", str(drawn))
    results = evaluate(["ccrv_x1_y3", "ccrv_x1_y3_mini", "ccrv_textonly"], model_args="policy=oracle")
    for task, samples in (("ccrv_x1_y3", 4), ("ccrv_x1_y3_mini", 20), ("ccrv_textonly", 16)):
        assert figures(results, task)["dcr"] == 100, task
        assert len(results["samples"][task]) == samples


@pytest.mark.parametrize("damage", ["official", "no facts", "other facts"])
def test_data_without_facts_is_refused_before_any_request(
    drawn: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    if damage == "official":
        root = official_ccrv.write_dataset(tmp_path / "ccrv")
    else:
        root = Path(shutil.copytree(drawn, tmp_path / "drawn"))
        path = root / "facts" / "ccrv.json"
        facts = json.loads(path.read_text())
        facts["items"].popitem()
        path.write_text(json.dumps(facts))
        if damage == "no facts":
            path.unlink()
    monkeypatch.setenv("CCRV_DATA", str(root))
    with chat_server(lambda _: Reply("x")) as model:
        arguments = f"model_version=m,base_url={model.url},api_key=none"
        with pytest.raises(RunNotPossible, match=r"^ccrv: .*condchain synth ccrv") as caught:
            evaluate("ccrv", model="openai", model_args=arguments)
    assert "\n" not in str(caught.value)
    assert not model.requests


def test_runs_without_verdicts_are_judged_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = "ccrv_x1_y3_mini"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CCRV_JUDGE", "none")
        write_run(tmp_path, [task], model_args="policy=oracle")

    def fail_first(number: int, line: dict[str, Any]) -> None:
        if number == 0:
            line["dcr"] |= {"failed": True, "csr": 0}

    edit(the_log(tmp_path, task), fail_first)
    done = CliRunner().invoke(app, ["judge", str(tmp_path)])
    assert done.exit_code == 0, done.output
    for sentence in ("The model condchain_sim is simulated", "The judge rules is simulated"):
        assert done.output.count(f"NOTE  {sentence}: its ") == 1
    found = figures_of(tmp_path, task)
    assert (found["dcr"], found["csr"], found["failed"], found["missing"]) == (95, 95, 5, 0)
    assert [line["dcr"]["cached"] for line in lines_of(the_log(tmp_path, task))] == [[]] + [["csr", "dcr"]] * 19
    monkeypatch.setenv("CCRV_JUDGE", "a-model")
    refused = CliRunner().invoke(app, ["judge", str(tmp_path)])
    assert refused.exit_code == 2
    assert "was judged by rules" in refused.output
