"""Submissions, from logs that lmms-eval itself wrote."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("lmms_eval")

import official
import official_ccrv
import official_vrex
from chat_server import Reply, chat_server
from harness import evaluate, figures
from lmms_eval.loggers import EvaluationTracker
from report_runs import DATE as MADE_EARLIER
from report_runs import FAILED, ccrv_line, condchain_lines, prompt, vrex_line, write_run
from report_runs import LATER as MADE_LATER

from condchain_tasks import __version__
from condchain_tasks.data.errors import DataError
from condchain_tasks.data.files import write_aside
from condchain_tasks.report.submit import Submission
from condchain_tasks.report.submit_ccrv import FIELDS as CCRV_FIELDS
from condchain_tasks.report.submit_ccrv import submit_ccrv
from condchain_tasks.report.submit_condchain import official_metrics, submit_condchain
from condchain_tasks.report.submit_vrex import FIELDS as VREX_FIELDS
from condchain_tasks.report.submit_vrex import submit_vrex

DOMAINS = ("natural", "chart", "gui")
DATE = "20260101_000000"
LATER = "20260102_000000"
CHAINS = 7


def logged(out: Path, tasks: list[str], model_args: str, date: str = DATE, **more: Any) -> dict[str, Any]:
    """Evaluates and writes what `lmms-eval --log_samples --output_path OUT` does; returns the results."""
    tracker = EvaluationTracker(output_path=str(out))
    results = evaluate(tasks, model_args=model_args, evaluation_tracker=tracker, datetime_str=date, **more)
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples, datetime_str=date)
    for task in results["configs"]:
        tracker.save_results_samples(task_name=task, samples=samples[task])
    return results


@pytest.fixture(scope="module")
def condchain(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A run of all three domains, seven chains each, right with a probability of 0.6; and its results."""
    root = tmp_path_factory.mktemp("condchain")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONDCHAIN_DATA", str(official.write_dataset(root / "data", CHAINS)))
        return root / "run", logged(root / "run", ["condchain"], "policy=oracle,accuracy=0.6,seed=3")


@pytest.fixture
def run(condchain: tuple[Path, dict[str, Any]], tmp_path: Path) -> Path:
    """A copy of it to change."""
    return Path(shutil.copytree(condchain[0], tmp_path / "run"))


def log_of(run: Path, task: str) -> Path:
    (path,) = run.rglob(f"*_samples_{task}.jsonl")
    return path


def edited(path: Path, edit: Callable[[list[dict[str, Any]]], Any]) -> None:
    """Changes a log."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    edit(lines)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def refused(submit: Callable[..., Submission], path: Path, *sentences: str, **options: Any) -> None:
    """Nothing is written, and the message says why."""
    out = path.parent / "refused" / "file.json"
    out.parent.mkdir()
    with pytest.raises(DataError) as caught:
        submit(path, out, **{"synthetic": True, **options})
    for sentence in sentences:
        assert sentence in str(caught.value)
    assert not list(out.parent.iterdir())


def scored(items: list[dict[str, str]]) -> dict[str, float]:
    """The official rules, written down a second time: exact comparison, harmonic mean of two accuracies."""
    true, false = (
        100 * sum(item[f"{path}_path_pred"] == item[f"{path}_path_gt"] for item in items) / len(items)
        for path in ("true", "false")
    )
    return {"true_acc": true, "false_acc": false, "path_f1": 2 * true * false / (true + false) if true + false else 0.0}


def renamed(path: Path, old: str, new: str) -> None:
    path.rename(path.with_name(path.name.replace(old, new)))


# --- MM-CondChain


def test_the_official_format_and_the_official_figures(condchain: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    run, results = condchain
    done = submit_condchain(run, tmp_path / "submission.json", synthetic=True)
    items = json.loads(done.file.read_text(encoding="utf-8"))
    assert [(item["domain"], item["id"]) for item in items] == [
        (domain, f"{domain}-{number}") for domain in DOMAINS for number in range(CHAINS)
    ]
    assert {tuple(item) for item in items} == {
        ("id", "domain", "true_path_pred", "true_path_gt", "false_path_pred", "false_path_gt")
    }
    for domain in DOMAINS:
        own = figures(results, f"condchain_{domain}")
        expected = scored([item for item in items if item["domain"] == domain])
        assert 0 < expected["path_f1"] < 100
        for metric, value in expected.items():
            assert done.metrics[f"condchain_{domain}"][metric] == value
            assert own[metric] == pytest.approx(value, abs=1e-12)
    average = figures(results, "condchain")
    assert done.metrics["average"]["path_f1"] == pytest.approx(average["path_f1"], abs=1e-12)
    assert done.metrics["overall"] == {"chains": 3 * CHAINS, **scored(items)}
    assert (done.items, done.gaps) == (3 * CHAINS, ())
    digests = sorted(results["configs"][f"condchain_{domain}"]["metadata"]["data"]["sha256"] for domain in DOMAINS)
    assert done.remarks == (
        "The model condchain_sim is simulated: its figures are no results.",
        f"The data is not verified: that it (SHA-256 {', '.join(digests)}) is the released one is not known.",
        "The data has 7 natural chains; the official one has 398.",
        "The data has 7 chart chains; the official one has 200.",
        "The data has 7 gui chains; the official one has 377.",
    )


def test_hand_worked_figures(tmp_path: Path) -> None:
    def item(domain: str, true: str, false: str) -> dict[str, str]:
        return {
            "id": "x",
            "domain": domain,
            "true_path_pred": true,
            "true_path_gt": "C1",
            "false_path_pred": false,
            "false_path_gt": "A1",
        }

    items = [item("natural", "C1", "A1"), item("natural", "C1", "a1"), item("natural", "None", "A1")]
    items += [item("chart", "C1", "C1"), item("gui", "C1", "A1")]
    path = tmp_path / "file.json"
    path.write_text(json.dumps(items))
    metrics = official_metrics(path)
    # natural: 2 of 3 and 2 of 3; chart: 1 of 1 and 0 of 1; gui: all.
    assert [metrics[f"condchain_{domain}"]["path_f1"] for domain in DOMAINS] == [pytest.approx(200 / 3), 0.0, 100.0]
    assert metrics["average"]["path_f1"] == pytest.approx((200 / 3 + 100) / 3)
    assert metrics["overall"]["path_f1"] == pytest.approx(2 * 80 * 60 / 140)
    path.write_text(json.dumps(items[:3]))
    assert "average" not in official_metrics(path)


@pytest.mark.parametrize("text", ["{}", "[1]", "[", '[{"domain": "gui"}]'])
def test_files_without_figures(text: str, tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_text(text)
    with pytest.raises(DataError, match=re.escape(str(path))):
        official_metrics(path)


def test_the_manifest(condchain: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    run, results = condchain
    done = submit_condchain(run, tmp_path / "submission.json", synthetic=True)
    assert done.manifest == tmp_path / "submission.json.manifest.json"
    names = [".submission.json.lock", done.file.name, done.manifest.name]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    manifest = json.loads(done.manifest.read_text(encoding="utf-8"))
    assert manifest["sha256"] == hashlib.sha256(done.file.read_bytes()).hexdigest()
    assert manifest["complete"] is True
    assert manifest["model"] == {
        "backend": "condchain_sim",
        "args": "policy=oracle,accuracy=0.6,seed=3",
        "name": results["model_name"],
    }
    assert manifest["counts"]["items"] == 3 * CHAINS
    assert manifest["counts"]["gui_chains"] == CHAINS
    assert manifest["metrics"] == done.metrics
    assert manifest["versions"]["condchain_tasks"] == __version__
    assert manifest["judge"] is None
    gui = manifest["tasks"]["condchain_gui"]
    metadata = results["configs"]["condchain_gui"]["metadata"]
    assert gui["prompts"] == [metadata["prompt"]]
    assert gui["data"]["sha256"] == metadata["data"]["sha256"]
    assert gui["samples_sha256"] == hashlib.sha256(log_of(run, "condchain_gui").read_bytes()).hexdigest()
    assert str(tmp_path.parent) not in done.manifest.read_text(encoding="utf-8")  # nobody's folders


def test_a_missing_domain(run: Path, tmp_path: Path) -> None:
    log_of(run, "condchain_chart").unlink()
    refused(submit_condchain, run, "The run is incomplete: There is no run of condchain_chart.")
    done = submit_condchain(run, tmp_path / "file.json", incomplete=True, synthetic=True)
    assert (done.items, done.gaps) == (2 * CHAINS, ("There is no run of condchain_chart.",))
    assert "average" not in done.metrics
    manifest = json.loads(done.manifest.read_text(encoding="utf-8"))
    assert (manifest["complete"], manifest["gaps"]) == (False, list(done.gaps))


def test_missing_samples_are_named_and_a_chain_without_a_path_is_left_out(run: Path, tmp_path: Path) -> None:
    edited(log_of(run, "condchain_gui"), lambda lines: lines.__delitem__(slice(3, 6)))
    refused(
        submit_condchain,
        run,
        "condchain_gui has 14 samples; 3 of doc_id (3, 4, 5) are missing.",
        "1 of the chains of condchain_gui (gui-1) are without one of their paths.",
    )
    done = submit_condchain(run, tmp_path / "file.json", incomplete=True, synthetic=True)
    assert done.metrics["condchain_gui"]["chains"] == CHAINS - 2


def test_a_limited_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONDCHAIN_DATA", str(official.write_dataset(tmp_path / "data")))
    logged(tmp_path / "run", ["condchain_chart"], "policy=oracle", limit=4)
    refused(submit_condchain, tmp_path / "run", "condchain_chart ran with --limit 4", "6 samples; 2 of doc_id (4, 5)")


def test_failed_requests_are_wrong_even_where_none_is_right(run: Path, tmp_path: Path) -> None:
    def fail(lines: list[dict[str, Any]]) -> None:
        lines[0]["path_f1"] |= {"gold": "None", "pred": "None", "failed": True}

    edited(log_of(run, "condchain_natural"), fail)
    refused(submit_condchain, run, "1 request of condchain_natural failed or came back empty: run it again")
    done = submit_condchain(run, tmp_path / "file.json", incomplete=True, synthetic=True)
    item = json.loads(done.file.read_text(encoding="utf-8"))[0]
    assert (item["true_path_pred"], item["true_path_gt"]) == ("", "None")


def change_results(run: Path, **config: Any) -> None:
    (path,) = run.rglob("*_results.json")
    results = json.loads(path.read_text(encoding="utf-8"))
    results["config"] |= config
    path.write_text(json.dumps(results), encoding="utf-8")


def test_of_several_settings_the_newest_whole_run_counts_unless_another_is_named(run: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(run, run / "other"))
    for path in sorted(other.iterdir()):
        renamed(path, DATE, LATER)
    change_results(other, model_args="policy=random")
    done = submit_condchain(run, tmp_path / "a.json", synthetic=True)
    manifest = json.loads(done.manifest.read_text(encoding="utf-8"))
    assert {task["date"] for task in manifest["tasks"].values()} == {LATER}
    assert [remark for remark in done.remarks if "passed over" in remark] == [
        f"condchain_{domain} of {DATE} is passed over: condchain_sim (policy=random) counts; --run chooses another."
        for domain in ("chart", "gui", "natural")
    ]
    for name in (DATE, "condchain_sim (accuracy=0.6, policy=oracle, seed=3)"):
        done = submit_condchain(run, tmp_path / "b.json", run=name, synthetic=True)
        assert json.loads(done.manifest.read_text())["model"]["args"] == "policy=oracle,accuracy=0.6,seed=3"
    refused(submit_condchain, run, "No run is called 'nobody'. There are: condchain_sim (", run="nobody")
    log_of(other, "condchain_gui").unlink()  # not whole any more, so the older run counts
    log = log_of(other, "condchain_chart")
    log.write_text("".join(log.read_text(encoding="utf-8").splitlines(keepends=True)[:-2]), encoding="utf-8")
    done = submit_condchain(run, tmp_path / "c.json", synthetic=True)
    assert {task["date"] for task in json.loads(done.manifest.read_text())["tasks"].values()} == {DATE}


def test_models_are_told_apart(tmp_path: Path) -> None:
    for model in ("m", "n"):
        for domain in DOMAINS:
            write_run(tmp_path / "run", model, f"condchain_{domain}", condchain_lines("11", domain))
    refused(submit_condchain, tmp_path / "run", "There are runs of 2 models: name the folder of one, or choose", "m; n")
    done = submit_condchain(tmp_path / "run", tmp_path / "file.json", run="n")
    assert json.loads(done.manifest.read_text())["model"]["name"] == "n"


def test_a_file_of_results_stands_for_its_run(tmp_path: Path) -> None:
    for date in (MADE_EARLIER, MADE_LATER):
        for domain in DOMAINS:
            write_run(tmp_path / "run", "m", f"condchain_{domain}", condchain_lines("11", domain), date=date)
    (results,) = (tmp_path / "run").rglob(f"{MADE_EARLIER}_results.json")
    done = submit_condchain(results, tmp_path / "file.json")
    tasks = json.loads(done.manifest.read_text())["tasks"]
    assert ({task["date"] for task in tasks.values()}, len(tasks)) == ({MADE_EARLIER}, 3)


def test_settings_that_do_not_belong_together(run: Path) -> None:
    other = Path(shutil.copytree(run, run / "later"))
    for path in sorted(other.iterdir()):
        renamed(path, DATE, LATER)
    log_of(other, "condchain_gui").unlink()
    change_results(other, gen_kwargs="temperature=1")
    refused(submit_condchain, run, "differ in their gen_kwargs", "temperature=1")


def test_the_newest_counts(run: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(run, run / "later"))
    for path in sorted(other.iterdir()):
        renamed(path, DATE, LATER)
    assert submit_condchain(run, tmp_path / "a.json", synthetic=True).items == 3 * CHAINS
    manifest = json.loads((tmp_path / "a.json.manifest.json").read_text(encoding="utf-8"))
    assert {task["date"] for task in manifest["tasks"].values()} == {LATER}


def test_the_embedded_twin_stands_aside_and_says_what_it_is(run: Path, tmp_path: Path) -> None:
    twin = Path(shutil.copytree(run, tmp_path / "twin"))
    for domain in DOMAINS:
        renamed(log_of(twin, f"condchain_{domain}"), ".jsonl", "_mini.jsonl")
    (path,) = twin.rglob("*_results.json")
    path.write_text(re.sub(r'"condchain_(natural|chart|gui)"', r'"condchain_\1_mini"', path.read_text()))
    done = submit_condchain(twin, tmp_path / "file.json", synthetic=True)
    assert done.remarks[0] == (
        "The data of condchain_chart_mini, condchain_gui_mini, condchain_natural_mini is synthetic, drawn by this "
        "package: its figures are not the benchmark's."
    )
    assert json.loads(done.manifest.read_text())["data"] == "synthetic"
    shutil.copytree(twin, run / "twin")
    done = submit_condchain(run, tmp_path / "file.json", synthetic=True)
    assert json.loads(done.manifest.read_text())["data"] == "not verified"
    assert any("_mini of " in remark and "is passed over" in remark for remark in done.remarks)


BROKEN: dict[str, tuple[Callable[[Path], Any], str]] = {
    "a sample twice": (
        lambda run: edited(log_of(run, "condchain_gui"), lambda lines: lines.append(lines[0])),
        "doc_id 0 occurs twice",
    ),
    "a path twice": (
        lambda run: edited(log_of(run, "condchain_gui"), lambda lines: lines[1].update(path_f1=lines[0]["path_f1"])),
        "doc_id 1: the true path of chain 'gui-0' occurs twice",
    ),
    "no doc_id": (
        lambda run: edited(log_of(run, "condchain_gui"), lambda lines: lines[1].update(doc_id="1")),
        "sample 2, field doc_id: expected a whole number, found '1'",
    ),
    "no record": (
        lambda run: edited(log_of(run, "condchain_gui"), lambda lines: lines[1].pop("path_f1")),
        "doc_id 1, field path_f1.failed: Field required. Is it the log of a condchain task?",
    ),
    "another domain": (
        lambda run: edited(log_of(run, "condchain_gui"), lambda lines: lines[1]["path_f1"].update(domain="chart")),
        "Holds samples of another task; it is left out: domain 'chart', expected gui.",
    ),
    "another prediction than was scored": (
        lambda run: edited(log_of(run, "condchain_gui"), lambda lines: [x["path_f1"].update(pred="Z9") for x in lines]),
        "Do the two belong together?",
    ),
    "a cut line": (
        lambda run: log_of(run, "condchain_gui").write_text('{"doc_id": 0, "pa'),
        "Line 1 is left out: no JSON, or cut off.",
    ),
    "no results": (lambda run: next(run.rglob("*_results.json")).unlink(), "the run did not come to its end"),
    "no samples": (lambda run: [path.unlink() for path in run.rglob("*.jsonl")], "Has results and no samples"),
    "samples of something else": (
        lambda run: [renamed(path, "condchain_", "x_") for path in run.rglob("*.jsonl")],
        "Samples of tasks of others are left out: x_chart, x_gui, x_natural.",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_runs_are_refused(case: str, run: Path) -> None:
    breaks, sentence = BROKEN[case]
    breaks(run)
    refused(submit_condchain, run, sentence)


# --- CCRV-Bench


def judge(request: dict[str, Any]) -> Reply:
    """Verdicts that differ from reply to reply, and are the same each time."""
    bits = hashlib.sha256(request["messages"][0]["content"].encode()).digest()
    verdict = {"reasoning": "as it is", "r1": 1, "r2": bits[1] % 2, "r3": bits[2] % 2, "csr": bits[3] % 2}
    return Reply(
        json.dumps({name: value for name, value in verdict.items() if name in ("reasoning", *wanted(request))})
    )


def wanted(request: dict[str, Any]) -> tuple[str, ...]:
    return ("csr",) if "rubric_l1" not in request["messages"][0]["content"] else ("r1", "r2", "r3")


def test_ccrv_verdicts_and_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CCRV_DATA", str(official_ccrv.write_dataset(tmp_path / "data")))
    monkeypatch.setenv("CCRV_JUDGE", "local-judge")
    monkeypatch.setenv("CONDCHAIN_CACHE", str(tmp_path / "cache"))
    with chat_server(judge) as server:
        monkeypatch.setenv("OPENAI_API_URL", server.url)
        results = logged(tmp_path / "run", ["ccrv"], "policy=oracle,accuracy=0.5")
    done = submit_ccrv(tmp_path / "run", tmp_path / "verdicts.json", synthetic=True)
    items = json.loads(done.file.read_text(encoding="utf-8"))
    assert len(items) == done.items == 2 * 8 * 5
    assert set(items[0]) == {name.strip() for names in CCRV_FIELDS for name in names.split(",")}
    assert {(i["image_id"], i["dimension"], i["question_index"], i["constraint_id"]) for i in items} == {
        (image, x, index, y)
        for image in (40, 39)
        for x in official_ccrv.DIMENSIONS
        for index in (0, 1)
        for y in (None, "Y1", "Y2", "Y3", "Y4")
    }
    for item in items:
        r1, r2, r3 = item["r1"], item["r2"], item["r3"]
        assert (item["l1"], item["l2"], item["l3"]) == (r1, r1 & r2, r1 & r2 & r3)
        assert item["dcr"] == pytest.approx((r1 + (r1 & r2) + (r1 & r2 & r3)) / 3)
        assert (item["csr"] is None) is (item["constraint_id"] is None)
    own = figures(results, "ccrv")
    for metric in ("l1", "l2", "l3", "dcr", "csr", "edcr", "cdi", "ecdi", "csr_raw_pixel"):
        assert done.metrics["ccrv"][metric] == pytest.approx(own[metric], abs=1e-12), metric
    base = [item["dcr"] for item in items if item["constraint_id"] is None]
    assert done.metrics["base"]["dcr"] == pytest.approx(100 * sum(base) / len(base))
    manifest = json.loads(done.manifest.read_text(encoding="utf-8"))
    assert manifest["judge"]["model"] == "local-judge"
    assert manifest["fields"] == CCRV_FIELDS
    assert done.remarks[0] == "The model condchain_sim is simulated: its figures are no results."
    assert done.remarks[1].startswith("The data is not verified")
    assert done.remarks[2:] == ("The data has 80 items; the official one has 4,000.",)


def test_ccrv_without_verdicts_and_without_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CCRV_DATA", str(official_ccrv.write_dataset(tmp_path / "data", 1)))
    monkeypatch.setenv("CCRV_JUDGE", "none")
    logged(tmp_path / "run", ["ccrv_x1_base", "ccrv_x1_y3"], "policy=oracle")
    refused(
        submit_ccrv,
        tmp_path / "run",
        "There is no run of ccrv, and 18 of its 20 cells (ccrv_x1_y1, ccrv_x1_y2, ",
        "2 items of ccrv_x1_y3 lack a verdict: `condchain judge` adds it.",
    )
    done = submit_ccrv(tmp_path / "run", tmp_path / "file.json", incomplete=True, synthetic=True)
    items = json.loads(done.file.read_text(encoding="utf-8"))
    assert [(item["constraint_id"], item["dcr"], item["csr"]) for item in items] == [
        (None, None, None),
        (None, None, None),
        ("Y3", None, None),
        ("Y3", None, None),
    ]
    assert (done.metrics["ccrv"]["dcr"], done.metrics["ccrv"]["missing"]) == (None, 2)


# --- V-REX


@pytest.fixture(scope="module")
def vrex(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A run of all modes, twelve samples each; and its results."""
    root = tmp_path_factory.mktemp("vrex")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VREX_DATA", str(official_vrex.write_dataset(root / "data", 12)))
        tasks = ["vrex", "vrex_planning_hard"]
        return root / "run", logged(root / "run", tasks, "policy=oracle,accuracy=0.6,seed=1")


def test_vrex_choices_and_figures(vrex: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    run, results = vrex
    done = submit_vrex(run, tmp_path / "choices.json", synthetic=True)
    items = json.loads(done.file.read_text(encoding="utf-8"))
    assert set(items[0]) == set(VREX_FIELDS)
    tasks = {"vrex_planning", "vrex_planning_hard", "vrex_following", "vrex_direct"}
    assert done.metrics.keys() == tasks
    assert done.items == 4 * 12
    for task in tasks:
        own = figures(results, task)
        for metric, value in done.metrics[task].items():
            if metric != "samples" and value is not None:
                assert value == pytest.approx(own[metric], abs=1e-9), (task, metric)
    assert 0 < (done.metrics["vrex_planning"]["ability"] or 0) < 100
    (first,) = [i for i in items if (i["id"], i["mode"], i["set"]) == ("s0", "planning", "standard")]
    gold = [step["gold"] for step in official_vrex.planning(0)["steps"]]
    assert [*first["gold"], first["final_gold"]] == ["ABCDEFGH"[index] for index in gold]
    assert len(first["choices"]) == len(first["gold"])


def test_vrex_without_a_mode_and_with_failures(vrex: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    run = Path(shutil.copytree(vrex[0], tmp_path / "run"))
    log_of(run, "vrex_following").unlink()
    before = submit_vrex(run, tmp_path / "file.json", incomplete=True, synthetic=True)

    def fail(lines: list[dict[str, Any]]) -> None:
        for line in lines:
            line["final_acc"]["failed"] = True
            line["final_acc"]["steps"][-1]["choice"] = None

    edited(log_of(run, "vrex_planning"), fail)
    refused(submit_vrex, run, "There is no run of vrex_following.", "12 requests of vrex_planning failed")
    done = submit_vrex(run, tmp_path / "file.json", incomplete=True, synthetic=True)
    items = [item for item in json.loads(done.file.read_text(encoding="utf-8")) if item["failed"]]
    assert [(item["mode"], item["set"], item["final_choice"]) for item in items] == [
        ("planning", "standard", None)
    ] * 12
    assert done.metrics["vrex_planning"]["final_acc"] == 0
    assert done.metrics["vrex_planning"]["ability"] == before.metrics["vrex_planning"]["ability"]
    assert done.metrics["vrex_direct"] == before.metrics["vrex_direct"]


# --- parts that are no parts of one run, from logs made by hand

CELLS = [(x, y) for x in ("X1", "X2", "X3", "X4") for y in ("base", "Y1", "Y2", "Y3", "Y4")]


def write_condchain(root: Path, **changed: Any) -> None:
    """A whole run of MM-CondChain, two chains a domain; the last domain's results differ by what is given."""
    for domain in DOMAINS:
        # Results of one date are one file: another date for what is to differ.
        more: dict[str, Any] = {"date": MADE_LATER, **changed} if domain == "gui" else {}
        write_run(root, "m", f"condchain_{domain}", condchain_lines("1101", domain), **more)


def write_ccrv(root: Path, **changed: Any) -> None:
    """A whole run of CCRV-Bench's cells, four items each; the last cell's results differ by what is given."""
    for x, y in CELLS:
        lines = numbered([ccrv_line(number, y=y, x=x) for number in range(4)])
        last = {"date": MADE_LATER, **changed} if (x, y) == CELLS[-1] else {}
        write_run(root, "m", f"ccrv_{x}_{y}".lower(), lines, **last)


def write_vrex(root: Path, **lines: Any) -> None:
    """A whole run of V-REX, four samples a mode, unless other lines are given for a mode."""
    for mode in ("planning", "following", "direct"):
        of_mode = lines.get(mode) or [vrex_line(number, "110", mode) for number in range(4)]
        write_run(root, "m", f"vrex_{mode}", of_mode)


def numbered(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**line, "doc_id": number} for number, line in enumerate(lines)]


def test_runs_made_by_hand_are_whole(tmp_path: Path) -> None:
    write_condchain(tmp_path / "condchain" / "run")
    write_ccrv(tmp_path / "ccrv" / "run")
    write_vrex(tmp_path / "vrex" / "run")
    assert submit_condchain(tmp_path / "condchain" / "run", tmp_path / "condchain.json").items == 3 * 2
    done = submit_ccrv(tmp_path / "ccrv" / "run", tmp_path / "ccrv.json")
    assert (done.items, done.metrics["ccrv"]["n"], done.metrics["ccrv_x2_y1"]["n"]) == (80, 64, 4)
    assert submit_vrex(tmp_path / "vrex" / "run", tmp_path / "vrex.json").items == 3 * 4


def changed_record(line: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {**line, "final_acc": {**line["final_acc"], **changes}}


FOREIGN_VREX: dict[str, tuple[list[dict[str, Any]], str]] = {
    "another mode": (
        [vrex_line(number, "110", "planning") for number in range(4)],
        "left out: mode 'planning', expected following.",
    ),
    "another set": (
        [changed_record(vrex_line(number, "110"), set="hard") for number in range(4)],
        "left out: set 'hard', expected standard.",
    ),
    "no picture": (
        [changed_record(vrex_line(number, "110"), blind=number == 1) for number in range(4)],
        "doc_id 1, field final_acc.blind: expected False in vrex_following, found True.",
    ),
    "samples twice": (
        numbered([vrex_line(number, right) for right in ("111", "000") for number in range(4)]),
        "doc_id 4: the sample 'v0' occurs twice.",
    ),
}


@pytest.mark.parametrize("case", FOREIGN_VREX)
def test_vrex_records_of_something_else(case: str, tmp_path: Path) -> None:
    lines, sentence = FOREIGN_VREX[case]
    write_vrex(tmp_path / "run", following=lines)
    refused(submit_vrex, tmp_path / "run", sentence)


FOREIGN_CCRV: dict[str, tuple[list[dict[str, Any]], str]] = {
    "another dimension": (
        numbered([ccrv_line(number, x="X2") for number in range(4)]),
        "left out: x 'X2', expected X1.",
    ),
    "another constraint": (
        numbered([ccrv_line(number, y="Y1") for number in range(4)]),
        "left out: y 'Y1', expected base.",
    ),
    "another setting": (
        [{**line, "dcr_base": {**line["dcr_base"], "setting": "cot_a"}, "dcr": {}} for line in [ccrv_line(0)]],
        "left out: setting 'cot_a', expected standard.",
    ),
    "an item twice": (
        numbered([ccrv_line(0), ccrv_line(0, (0, 0, 0))]),
        "doc_id 1: the item '1000/X1/0' base occurs twice.",
    ),
    "an item twice under two keys": (
        numbered(
            [
                ccrv_line(0),
                *[{**line, "dcr_base": {**line["dcr_base"], "key": "1000/X1/00"}} for line in [ccrv_line(0)]],
            ]
        ),
        "doc_id 1: the item '1000/X1/00' base occurs twice.",
    ),
}


@pytest.mark.parametrize("case", FOREIGN_CCRV)
def test_ccrv_records_of_something_else(case: str, tmp_path: Path) -> None:
    lines, sentence = FOREIGN_CCRV[case]
    for x, y in CELLS[1:]:
        write_run(tmp_path / "run", "m", f"ccrv_{x}_{y}".lower(), numbered([ccrv_line(0, y=y, x=x)]))
    write_run(tmp_path / "run", "m", "ccrv_x1_base", lines)
    refused(submit_ccrv, tmp_path / "run", sentence)


def test_a_cell_whose_results_say_something_else(tmp_path: Path) -> None:
    write_ccrv(tmp_path / "run", results={"ccrv_x4_y4": {"l1,none": 12.5}})
    refused(submit_ccrv, tmp_path / "run", "gives a l1 of 100.000000, and", "says 12.5. Do the two belong together?")


def test_a_task_without_samples(tmp_path: Path) -> None:
    write_vrex(tmp_path / "run")
    write_run(tmp_path / "run", "m", "vrex_planning_hard", [])
    refused(submit_vrex, tmp_path / "run", "_samples_vrex_planning_hard.jsonl: Holds no sound sample; it is left out.")


GREEDY = {"until": [], "max_new_tokens": 16384, "temperature": 0, "do_sample": False}
OTHER_RUNS: dict[str, tuple[dict[str, Any], str]] = {
    "temperature": (
        {"generation": {**GREEDY, "temperature": 1}},
        "(temperature=1) counts",
    ),
    "length": ({"generation": {**GREEDY, "max_new_tokens": 64}}, "(max_new_tokens=64) counts"),
    "a setting more": ({"generation": {**GREEDY, "top_p": 0.9}}, "(top_p=0.9) counts"),
    "version": (
        {"metadata": {"condchain_tasks": "0.2.0"}},
        "differ in their condchain_tasks version: '0.1.0' and '0.2",
    ),
    "harness": ({"metadata": {"lmms_eval": "0.7.3"}}, "differ in their lmms_eval version: None and '0.7.3'."),
    "harness's commit": (
        {"lmms_eval_version": "0.7.3@1"},
        "differ in their lmms_eval_version: 'unknown@unknown' and '0.7.3@1'",
    ),
    "system": ({"system_instruction_sha": "1a"}, "(--system_instruction=1a) counts"),
    "template": ({"chat_template_sha": "1a"}, "differ in their chat_template_sha: None and '1a'."),
    "seed": ({"config": {"fewshot_seed": 7}}, "(--seed=[0, 1234, 1234, 7]) counts"),
}


@pytest.mark.parametrize("case", OTHER_RUNS)
def test_parts_of_other_runs(case: str, tmp_path: Path) -> None:
    changes, sentence = OTHER_RUNS[case]
    write_condchain(tmp_path / "run", **changes)
    refused(submit_condchain, tmp_path / "run", sentence)


BASE_JUDGE = prompt("ccrv_judge_baseline")
OTHER_JUDGES: dict[str, tuple[dict[str, Any], str]] = {
    "its prompt": (
        {"judge": {"model": "gpt-5.1", "prompts": [prompt("ccrv_judge_baseline", "another")]}},
        "(prompts=",
    ),
    "its temperature": (
        {"judge": {"model": "gpt-5.1", "temperature": 1, "prompts": [BASE_JUDGE]}},
        "(judge temperature=1) counts",
    ),
    "its name": (
        {"judge": {"model": "other", "prompts": [BASE_JUDGE]}},
        "(judge=other) counts",
    ),
    "the model's prompt": ({"prompts": [prompt("ccrv_constrained", "another")]}, "(prompts="),
}


@pytest.mark.parametrize("case", OTHER_JUDGES)
def test_cells_that_were_judged_otherwise(case: str, tmp_path: Path) -> None:
    metadata, sentence = OTHER_JUDGES[case]
    write_ccrv(tmp_path / "run", metadata=metadata)
    refused(submit_ccrv, tmp_path / "run", sentence)


def test_zero_written_otherwise_is_the_same_setting(tmp_path: Path) -> None:
    write_condchain(tmp_path / "run", generation=GREEDY)  # 0 here, 0.0 in the others
    assert submit_condchain(tmp_path / "run", tmp_path / "file.json").items == 3 * 2


def test_results_that_promise_very_many_samples(tmp_path: Path) -> None:
    write_condchain(tmp_path / "run", expected=400_000_000)
    tracemalloc.start()
    try:
        refused(
            submit_condchain,
            tmp_path / "run",
            "condchain_gui has 400,000,000 samples; 399,999,996 of doc_id (4, 5, 6, 7, 8, ...) are missing.",
        )
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("size", [-1, True, 10**400, "4"], ids=["negative", "true", "vast", "text"])
def test_results_that_promise_no_number_of_samples(size: Any, tmp_path: Path) -> None:
    write_condchain(tmp_path / "run", expected=size)
    refused(submit_condchain, tmp_path / "run", "The run is incomplete: ", "condchain_gui")


def test_more_samples_than_the_results_say(tmp_path: Path) -> None:
    write_condchain(tmp_path / "run", expected=2)
    refused(submit_condchain, tmp_path / "run", "doc_id 3: ", "says that condchain_gui has 2 samples.")


@pytest.mark.parametrize(
    "figure", [10**400, -(10**400), math.nan, math.inf, 0, True], ids=["vast", "-vast", "nan", "inf", "zero", "true"]
)
def test_figures_that_are_none(figure: float, tmp_path: Path) -> None:
    write_condchain(tmp_path / "run", results={"condchain_gui": {"path_f1,none": figure}})
    # True paths: one of two is right; false paths: both. The harmonic mean of 50 and 100 is 200 / 3.
    refused(submit_condchain, tmp_path / "run", "gives a path_f1 of 66.666667, and", "Do the two belong together?")


def test_a_score_that_contradicts_what_was_read_does_not_count(tmp_path: Path) -> None:
    write_condchain(tmp_path / "run")
    # Of the true paths one of two was wrong; now one of the false ones is read as wrong too: 50 and 50.
    edited(log_of(tmp_path / "run", "condchain_gui"), lambda lines: lines[3]["path_f1"].update(pred="B2", score=100.0))
    assert submit_condchain(tmp_path / "run", tmp_path / "file.json").metrics["condchain_gui"]["path_f1"] == 50.0


def test_settings_that_are_nested_deeply(tmp_path: Path) -> None:
    write_condchain(tmp_path / "run")
    for path in (tmp_path / "run").rglob("*_results.json"):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace('"gen_kwargs": ""', f'"gen_kwargs": {"[" * 5000}{"]" * 5000}'), encoding="utf-8")
    refused(submit_condchain, tmp_path / "run", "_results.json")


def test_half_a_character_in_a_reply(tmp_path: Path) -> None:
    reply = "It rolls \ud83d off."
    write_run(tmp_path / "run", "m", "ccrv_x1_base", numbered([ccrv_line(0), ccrv_line(1)]))
    edited(log_of(tmp_path / "run", "ccrv_x1_base"), lambda lines: lines[0].update(filtered_resps=reply))
    done = submit_ccrv(tmp_path / "run", tmp_path / "file.json", incomplete=True)
    assert json.loads(done.file.read_text(encoding="utf-8"))[0]["answer"] == reply


SECRET = "s3cretS3cret"
CALLED = {
    "text": f"model=m,base_url=http://user:{SECRET}@host:8000/v1?key={SECRET},api_key={SECRET},seed=1",
    "mapping": {"model": "m", "base_url": f"http://user:{SECRET}@host:8000/v1", "headers": {"X": SECRET}, "seed": 1},
    "JSON": json.dumps({"model": "m", "base_url": f"http://user:{SECRET}@host:8000/v1", "token": SECRET, "seed": 1}),
    "JSON in text": "model=m,seed=1,extra=" + json.dumps({"api_key": SECRET, "url": f"http://host:8000/?k={SECRET}"}),
}


@pytest.mark.parametrize("form", CALLED)
def test_a_manifest_holds_no_secret(form: str, tmp_path: Path) -> None:
    judge = {"model": "j", "server": f"https://u:{SECRET}@judge/v1?key={SECRET}", "extra": [{"token": SECRET}]}
    data = {"source": f"https://u:{SECRET}@mirror/data", "revision": "main", "sha256": "1", "api_key": SECRET}
    for domain in DOMAINS:
        write_run(
            tmp_path / "run",
            "m",
            f"condchain_{domain}",
            condchain_lines("11", domain),
            metadata={"judge": judge, "data": data},
            config={"model_args": CALLED[form], "gen_kwargs": f"temperature=0,auth_token={SECRET}"},
        )
    done = submit_condchain(tmp_path / "run", tmp_path / "s.json")
    text = done.manifest.read_text(encoding="utf-8")
    assert SECRET not in text
    manifest = json.loads(text)
    assert "host:8000" in json.dumps(manifest["model"]["args"]) and "seed" in json.dumps(manifest["model"]["args"])
    assert manifest["judge"]["server"] == "https://judge/v1"
    assert manifest["tasks"]["condchain_gui"]["data"]["source"] == "https://mirror/data"


def test_no_message_holds_a_secret(tmp_path: Path) -> None:
    for domain in DOMAINS:
        limit = {"limit": {"api_key": SECRET}}
        write_run(tmp_path / "odd", "m", f"condchain_{domain}", condchain_lines("11", domain), config=limit)
    with pytest.raises(DataError, match="ran with --limit") as caught:
        submit_condchain(tmp_path / "odd", tmp_path / "s.json")
    assert SECRET not in str(caught.value)
    write_condchain(tmp_path / "run", config={"model_args": f"pretrained=m,base_url=http://u:{SECRET}@h/v1"})
    with pytest.raises(DataError) as caught:
        submit_condchain(tmp_path / "run", tmp_path / "s.json")
    assert SECRET not in str(caught.value)
    for domain in DOMAINS:
        generation = {**GREEDY, "api_key": f"{SECRET}{domain}"}
        write_run(tmp_path / "other", "m", f"condchain_{domain}", condchain_lines("11", domain), generation=generation)
    with pytest.raises(DataError, match="differ in their generation setting api_key") as caught:
        submit_condchain(tmp_path / "other", tmp_path / "s.json")
    assert SECRET not in str(caught.value)


# --- what the data, the model, the judge and the replies are


def of_kind(root: Path, **data: Any) -> Path:
    """A whole run of MM-CondChain on data of which something is known, or nothing."""
    for domain in DOMAINS:
        metadata = {"data": {"source": "folder", "sha256": f"{domain}5a", **data}}
        write_run(root, "m", f"condchain_{domain}", condchain_lines("1101", domain), metadata=metadata)
    return root


def test_drawn_data_is_refused_wherever_it_lies_unless_asked_for(tmp_path: Path) -> None:
    run = of_kind(tmp_path / "run", synthetic=True, official=False)
    sentence = "The data of condchain_chart, condchain_gui, condchain_natural is synthetic, drawn by this package"
    refused(submit_condchain, run, sentence, "--synthetic writes the file all the same.", synthetic=False)
    done = submit_condchain(run, tmp_path / "s.json", synthetic=True)
    manifest = json.loads(done.manifest.read_text())
    assert (manifest["data"], manifest["complete"]) == ("synthetic", True)
    assert manifest["remarks"][0].startswith(sentence)


def test_one_drawn_domain_among_others_is_enough(tmp_path: Path) -> None:
    of_kind(tmp_path / "run", synthetic=False, official=True)
    for path in (tmp_path / "run").rglob("*_results.json"):
        results = json.loads(path.read_text())
        results["configs"]["condchain_gui"]["metadata"]["data"] |= {"synthetic": True, "official": False}
        path.write_text(json.dumps(results))
    refused(submit_condchain, tmp_path / "run", "There is no run of condchain_gui.", synthetic=False)


@pytest.mark.parametrize(
    ("data", "identity"),
    [({"official": True}, "official"), ({"official": False}, "not verified"), ({}, "not verified")],
    ids=["known", "unknown", "not said"],
)
def test_a_manifest_says_whether_the_data_is_known(data: dict[str, Any], identity: str, tmp_path: Path) -> None:
    done = submit_condchain(of_kind(tmp_path / "run", **data), tmp_path / "s.json")
    manifest = json.loads(done.manifest.read_text())
    assert (manifest["data"], manifest["complete"]) == (identity, True)
    assert {task["data_is"] for task in manifest["tasks"].values()} == {identity}
    unverified = (
        "The data is not verified: that it (SHA-256 chart5a, gui5a, natural5a) is the released one is not known."
    )
    assert (unverified in manifest["remarks"]) is (identity == "not verified")
    assert list(done.remarks) == manifest["remarks"]


def test_the_right_number_of_items_is_no_identity(tmp_path: Path) -> None:
    lines = [ccrv_line(number, y=y, x=x) for x, y in CELLS for number in range(200)]
    write_run(tmp_path / "run", "m", "ccrv", numbered(lines))
    done = submit_ccrv(tmp_path / "run", tmp_path / "v.json")
    manifest = json.loads(done.manifest.read_text())
    assert (manifest["counts"]["items"], manifest["complete"], manifest["data"]) == (4_000, True, "not verified")
    assert [remark[:27] for remark in manifest["remarks"]] == ["The data is not verified: t"]


@pytest.mark.parametrize("what", ["model", "judge", "model without metadata"])
def test_what_is_simulated_is_refused_unless_asked_for(what: str, tmp_path: Path) -> None:
    judge = {"model": "rules", "simulated": True, "prompts": [BASE_JUDGE]}
    metadata = {"model": {"simulated": True}, "judge": {"judge": judge}}.get(what, {})
    more = {"config": {"model": "condchain_sim"}} if what == "model without metadata" else {}
    lines = [ccrv_line(number, y=y, x=x) for x, y in CELLS for number in range(4)]
    write_run(tmp_path / "run", "m", "ccrv", numbered(lines), metadata=metadata, **more)
    sentence = {
        "model": "The model qwen2_5_vl is simulated: its figures are no results.",
        "judge": "The judge rules is simulated: its verdicts are no results.",
        "model without metadata": "The model condchain_sim is simulated: its figures are no results.",
    }[what]
    refused(submit_ccrv, tmp_path / "run", sentence, synthetic=False)
    done = submit_ccrv(tmp_path / "run", tmp_path / "v.json", synthetic=True)
    assert json.loads(done.manifest.read_text())["simulated"] == [sentence]


def test_a_failed_request_of_ccrv_has_no_answer(tmp_path: Path) -> None:
    lines = [ccrv_line(number, y=y, x=x) for x, y in CELLS for number in range(4)]
    for line, reply, kind in zip(lines, ("None", None, [], FAILED), ("error", "empty", "not_text", None), strict=False):
        line["filtered_resps"] = reply
        line["dcr_base"] |= {"failed": True, "failure": kind, "r1": 0, "r2": 0, "r3": 0, "l1": 0, "l2": 0, "l3": 0}
        line["dcr_base"] |= {"score": 0.0}
    lines[4]["filtered_resps"] = "None"  # a reply, and a short one
    write_run(tmp_path / "run", "m", "ccrv", numbered(lines))
    refused(submit_ccrv, tmp_path / "run", "4 requests of ccrv failed or came back empty")
    done = submit_ccrv(tmp_path / "run", tmp_path / "v.json", incomplete=True)
    entries = json.loads(done.file.read_text())
    assert [(entry["answer"], entry["failed"], entry["failure"], entry["dcr"]) for entry in entries[:5]] == [
        (None, True, "error", 0.0),
        (None, True, "empty", 0.0),
        (None, True, "not_text", 0.0),
        (None, True, None, 0.0),
        ("None", False, None, 1.0),
    ]
    counts = json.loads(done.manifest.read_text())["counts"]
    assert counts["failed"] == {"empty": 1, "error": 1, "not_text": 1, "unknown": 1}
    # Of 16 baseline items of three layers, four are wrong in all.
    assert (done.metrics["base"]["failed"], done.metrics["base"]["dcr"]) == (4, 75.0)


def test_refusals_do_not_keep_a_run_from_being_whole_and_are_counted(tmp_path: Path) -> None:
    write_condchain(tmp_path / "run")

    def refuse(lines: list[dict[str, Any]]) -> None:
        lines[0]["path_f1"] |= {"failed": True, "failure": "content_filter", "refused": True, "pred": "F1"}
        lines[1]["path_f1"] |= {"refused": True, "pred": "None"}
        lines[3]["path_f1"] |= {"truncated": True, "pred": "None"}

    edited(log_of(tmp_path / "run", "condchain_gui"), refuse)
    done = submit_condchain(tmp_path / "run", tmp_path / "s.json")
    gui = [item for item in json.loads(done.file.read_text()) if item["domain"] == "gui"]
    # A failed request is wrong whatever was read from it; words of refusal are scored as what they are.
    assert [(item["true_path_pred"], item["false_path_pred"]) for item in gui] == [("", "None"), ("B2", "None")]
    manifest = json.loads(done.manifest.read_text())
    expected = {"failed": {"content_filter": 1}, "refused": 2, "truncated": 1}
    assert manifest["tasks"]["condchain_gui"]["replies"] == expected
    assert {name: manifest["counts"][name] for name in expected} == expected
    assert manifest["tasks"]["condchain_chart"]["replies"] == {"failed": {}, "refused": 0, "truncated": 0}
    assert manifest["complete"] is True
    for remark in (
        "1 request got no reply, since the provider refused: wrong, whatever is right.",
        "2 requests refused, by the model or its provider.",
        "1 reply cut off within the reasoning.",
    ):
        assert remark in manifest["remarks"]


# --- files


def test_many_that_write_one_file_at_once(tmp_path: Path) -> None:
    """Whoever was last, the manifest is that of the file."""
    for model, pattern in (("a", "1111"), ("b", "0000")):
        for domain in DOMAINS:
            write_run(tmp_path / model, model, f"condchain_{domain}", condchain_lines(pattern, domain))
    out = tmp_path / "out" / "s.json"
    out.parent.mkdir()
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from condchain_tasks.report.submit_condchain import submit_condchain\n"
        "for turn in range(40):\n"
        "    submit_condchain(Path(sys.argv[1]), Path(sys.argv[2]))\n"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", script, str(tmp_path / model), str(out)], stderr=subprocess.PIPE)
        for model in ("a", "b")
    ]
    assert [(writer.communicate(timeout=60)[1], writer.returncode) for writer in writers] == [(b"", 0)] * 2
    manifest = json.loads(out.with_name("s.json.manifest.json").read_text(encoding="utf-8"))
    assert manifest["sha256"] == hashlib.sha256(out.read_bytes()).hexdigest()
    assert sorted(path.name for path in out.parent.iterdir()) == [".s.json.lock", "s.json", "s.json.manifest.json"]


def test_the_manifest_is_put_in_place_after_the_file_and_both_under_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_condchain(tmp_path / "run")
    done: list[str] = []
    rename = Path.replace

    def replace(path: Path, target: Path) -> Path:
        lock = tmp_path / ".s.json.lock"
        probe = "import filelock, sys; filelock.FileLock(sys.argv[1]).acquire(timeout=0)"
        held = subprocess.run([sys.executable, "-c", probe, str(lock)], capture_output=True).returncode != 0
        done.append(f"{target.name} {'locked' if held else 'free'}")
        return rename(path, target)

    monkeypatch.setattr(Path, "replace", replace)
    submit_condchain(tmp_path / "run", tmp_path / "s.json")
    assert done == ["s.json locked", "s.json.manifest.json locked"]


def test_what_is_no_regular_file_is_not_replaced(tmp_path: Path) -> None:
    write_condchain(tmp_path / "run")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for name in ("pipe", "link", "run"):
        with pytest.raises(DataError, match="is no regular file"):
            submit_condchain(tmp_path / "run", tmp_path / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "pipe", "run"]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    write_condchain(tmp_path / "run")
    with pytest.raises(FileNotFoundError) as caught:
        submit_condchain(tmp_path / "run", tmp_path / "none" / "s.json")
    assert str(caught.value).endswith(f"'{tmp_path}/none/s.json'")


def test_a_text_is_seen_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    write_aside(path, "first\r\n", newline="\n")
    mask = os.umask(0)
    os.umask(mask)
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"first\r\n", 0o666 & ~mask)

    def parts() -> Iterator[str]:
        yield "second"
        assert path.read_bytes() == b"first\r\n"
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        write_aside(path, parts())
    assert (path.read_bytes(), list(tmp_path.iterdir())) == (b"first\r\n", [path])
    write_aside(path, ("a", "\ud83d", "\n"), encoding="utf-8-sig", errors="replace", newline="\r\n")
    assert path.read_bytes() == b"\xef\xbb\xbfa?\r\n"


def test_a_link_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "page.html")
    write_aside(tmp_path / "link", "text")
    assert ((tmp_path / "link").is_symlink(), (tmp_path / "page.html").read_text()) == (True, "text")
