"""Submissions, from logs that lmms-eval itself wrote."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable
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

from condchain_tasks import __version__
from condchain_tasks.data.errors import DataError
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


def refused(submit: Callable[..., Submission], run: Path, *sentences: str) -> None:
    """Nothing is written, and the message says why."""
    out = run.parent / "refused" / "file.json"
    out.parent.mkdir()
    with pytest.raises(DataError) as caught:
        submit(run, out)
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
    done = submit_condchain(run, tmp_path / "submission.json")
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
    assert done.remarks[0] == "The data has 7 natural chains; the official one has 398."


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
    done = submit_condchain(run, tmp_path / "submission.json")
    assert done.manifest == tmp_path / "submission.json.manifest.json"
    assert sorted(path.name for path in tmp_path.iterdir()) == [done.file.name, done.manifest.name]
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
    done = submit_condchain(run, tmp_path / "file.json", incomplete=True)
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
    done = submit_condchain(run, tmp_path / "file.json", incomplete=True)
    assert done.metrics["condchain_gui"]["chains"] == CHAINS - 2


def test_a_limited_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONDCHAIN_DATA", str(official.write_dataset(tmp_path / "data")))
    logged(tmp_path / "run", ["condchain_chart"], "policy=oracle", limit=4)
    refused(submit_condchain, tmp_path / "run", "condchain_chart ran with --limit 4", "6 samples; 2 of doc_id (4, 5)")


def test_failed_requests_are_wrong_even_where_none_is_right(run: Path, tmp_path: Path) -> None:
    def fail(lines: list[dict[str, Any]]) -> None:
        lines[0]["path_f1"] |= {"gold": "None", "pred": "None", "failed": True}

    edited(log_of(run, "condchain_natural"), fail)
    refused(submit_condchain, run, "1 requests of condchain_natural failed or came back empty: run it again")
    done = submit_condchain(run, tmp_path / "file.json", incomplete=True)
    item = json.loads(done.file.read_text(encoding="utf-8"))[0]
    assert (item["true_path_pred"], item["true_path_gt"]) == ("", "None")


def change_results(run: Path, **config: Any) -> None:
    (path,) = run.rglob("*_results.json")
    results = json.loads(path.read_text(encoding="utf-8"))
    results["config"] |= config
    path.write_text(json.dumps(results), encoding="utf-8")


def test_runs_that_do_not_belong_together(run: Path) -> None:
    other = Path(shutil.copytree(run, run / "other"))
    change_results(other, model_args="policy=random")
    refused(submit_condchain, run, "holds runs of 2 models", "condchain_sim (policy=random) in ")


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
    assert submit_condchain(run, tmp_path / "a.json").items == 3 * CHAINS
    manifest = json.loads((tmp_path / "a.json.manifest.json").read_text(encoding="utf-8"))
    assert {task["date"] for task in manifest["tasks"].values()} == {LATER}


def test_the_embedded_twin_stands_aside_and_says_what_it_is(run: Path, tmp_path: Path) -> None:
    twin = Path(shutil.copytree(run, tmp_path / "twin"))
    for domain in DOMAINS:
        renamed(log_of(twin, f"condchain_{domain}"), ".jsonl", "_mini.jsonl")
    (path,) = twin.rglob("*_results.json")
    path.write_text(re.sub(r'"condchain_(natural|chart|gui)"', r'"condchain_\1_mini"', path.read_text()))
    done = submit_condchain(twin, tmp_path / "file.json")
    assert done.remarks == ("It is of the embedded twin, whose figures do not belong on the benchmark's leaderboard.",)
    shutil.copytree(twin, run / "twin")
    assert "twin" not in "".join(submit_condchain(run, tmp_path / "file.json").remarks)


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
        "doc_id 1, field path_f1.id: Field required. Is it the log of a condchain task?",
    ),
    "another domain": (
        lambda run: edited(log_of(run, "condchain_gui"), lambda lines: lines[1]["path_f1"].update(domain="chart")),
        "doc_id 1, field path_f1.domain: expected gui, found chart",
    ),
    "another prediction than was scored": (
        lambda run: edited(log_of(run, "condchain_gui"), lambda lines: [x["path_f1"].update(pred="Z9") for x in lines]),
        "Do the two belong together?",
    ),
    "a cut line": (
        lambda run: log_of(run, "condchain_gui").write_text('{"doc_id": 0, "pa'),
        "line 1: is no JSON",
    ),
    "no results": (lambda run: next(run.rglob("*_results.json")).unlink(), "the run did not come to its end"),
    "no samples": (lambda run: [path.unlink() for path in run.rglob("*.jsonl")], "holds no samples of a run"),
    "samples of something else": (
        lambda run: [renamed(path, "condchain_", "x_") for path in run.rglob("*.jsonl")],
        "holds samples of other tasks only",
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
    done = submit_ccrv(tmp_path / "run", tmp_path / "verdicts.json")
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
    assert done.remarks == ("The data has 80 items; the official one has 4,000.",)


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
    done = submit_ccrv(tmp_path / "run", tmp_path / "file.json", incomplete=True)
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
    done = submit_vrex(run, tmp_path / "choices.json")
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
    before = submit_vrex(run, tmp_path / "file.json", incomplete=True)

    def fail(lines: list[dict[str, Any]]) -> None:
        for line in lines:
            line["final_acc"]["failed"] = True
            line["final_acc"]["steps"][-1]["choice"] = None

    edited(log_of(run, "vrex_planning"), fail)
    refused(submit_vrex, run, "There is no run of vrex_following.", "12 requests of vrex_planning failed")
    done = submit_vrex(run, tmp_path / "file.json", incomplete=True)
    items = [item for item in json.loads(done.file.read_text(encoding="utf-8")) if item["failed"]]
    assert [(item["mode"], item["set"], item["final_choice"]) for item in items] == [
        ("planning", "standard", None)
    ] * 12
    assert done.metrics["vrex_planning"]["final_acc"] == 0
    assert done.metrics["vrex_planning"]["ability"] == before.metrics["vrex_planning"]["ability"]
    assert done.metrics["vrex_direct"] == before.metrics["vrex_direct"]
