"""CCRV-Bench through the real harness: simulated model, and a judge that computes verdicts from the scenes' facts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("lmms_eval")

from chat_server import ChatServer, Reply, chat_server
from harness import evaluate, figures
from scene_judge import scene_judge
from typer.testing import CliRunner

from condchain_tasks.cli import app
from condchain_tasks.data.ccrv_tasks import MINI_SCENES, load
from condchain_tasks.data.harness import RunNotPossible

BASELINE = MINI_SCENES * 8
CONSTRAINED = BASELINE * 4
VERDICTS = BASELINE + CONSTRAINED + BASELINE  # one a reply on its content, and one a Y3 reply on its constraint


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ChatServer]:
    """The judge, with a cache of its own."""
    root = load("ccrv_mini")[0].root
    monkeypatch.setenv("CCRV_JUDGE", f"facts-{tmp_path.name}")
    with chat_server(scene_judge(root)) as server:
        monkeypatch.setenv("OPENAI_API_URL", server.url)
        yield server


def test_oracle_satisfies_every_constraint_and_is_right(judge: ChatServer) -> None:
    found = figures(evaluate("ccrv_mini", model_args="policy=oracle"), "ccrv_mini")
    for metric in ("l1", "l2", "l3", "dcr", "dcr_base", "csr", "edcr", "csr_raw_pixel"):
        assert found[metric] == 100, metric
    for metric in ("cdi", "ecdi", "no_answer", "failed", "refused", "missing"):
        assert found[metric] == 0, metric
    assert len(judge.requests) == VERDICTS + 1  # and the check before the run


def test_violates_is_right_and_breaks_every_constraint(judge: ChatServer) -> None:
    results = evaluate("ccrv_mini", model_args="policy=violates")
    found = figures(results, "ccrv_mini")
    assert (found["dcr"], found["csr"], found["edcr"], found["cdi"], found["ecdi"]) == (100, 0, 0, 0, 100)
    cells = found["paired_cells"]
    assert {(row["y"], row["csr"]) for row in cells if row["group"] == "cell"} == {
        ("base", None),
        *((f"Y{y}", 0.0) for y in range(1, 5)),
    }
    assert [row["n"] for row in cells if row["group"] == "cell"] == [2 * MINI_SCENES] * 20


def test_wrong_obeys_and_is_wrong(judge: ChatServer) -> None:
    found = figures(evaluate("ccrv_mini", model_args="policy=wrong"), "ccrv_mini")
    assert (found["dcr"], found["csr"], found["edcr"], found["cdi"]) == (0, 100, 0, 0)


def test_cells_tags_and_controls_run(judge: ChatServer) -> None:
    tasks = ["ccrv_x1_mini", "ccrv_base_mini", "ccrv_cot_a_mini", "ccrv_textonly_y1_mini", "ccrv_oracle_y2_mini"]
    results = evaluate(tasks, model_args="policy=oracle")
    cells = {f"ccrv_x1_{y}_mini" for y in ("base", "y1", "y2", "y3", "y4")} | {f"ccrv_x{x}_base_mini" for x in "1234"}
    assert results["results"].keys() >= cells | set(tasks[2:])
    for task in cells | set(tasks[2:]):
        found = figures(results, task)
        assert found["dcr"] == 100, task
        assert ("csr" in found) is ("base" not in task and "cot" not in task)
        assert len(results["samples"][task]) == (2 * MINI_SCENES if task in cells else BASELINE)


def test_accuracy_and_the_log(judge: ChatServer) -> None:
    results = evaluate("ccrv_x2_y3_mini", model_args="policy=oracle,accuracy=0.5,seed=2")
    records = [sample["dcr"] for sample in results["samples"]["ccrv_x2_y3_mini"]]
    right = [record["score"] for record in records]
    assert set(right) == {0.0, 100.0}
    assert figures(results, "ccrv_x2_y3_mini")["dcr"] == sum(right) / len(right)
    record = json.loads(json.dumps(records[0]))
    assert "images" not in record
    assert (record["x"], record["y"], record["setting"]) == ("X2", "Y3", "standard")
    assert record["csr_reason"] == record["dcr_reasoning"] == "Computed from the scene's facts."
    assert all(record[f"rubric_l{layer}"] for layer in (1, 2, 3))
    metadata = results["configs"]["ccrv_x2_y3_mini"]["metadata"]
    assert [prompt["name"] for prompt in metadata["prompts"]] == ["ccrv_constrained_system", "ccrv_constrained"]
    assert metadata["judge"]["model"] == os.environ["CCRV_JUDGE"]
    assert len(metadata["judge"]["prompts"]) == 3
    assert results["usage"]["by_source"]["judge"]["n_api_calls"] == 2 * len(records) + 1


def test_a_second_run_asks_the_judge_nothing(judge: ChatServer) -> None:
    first = evaluate("ccrv_x1_y3_mini", model_args="policy=oracle")
    asked = len(judge.requests)
    assert asked == 2 * 2 * MINI_SCENES + 1
    second = evaluate("ccrv_x1_y3_mini", model_args="policy=oracle")
    assert len(judge.requests) - asked <= 1  # the check
    assert first["results"] == second["results"]


def test_a_judge_of_the_same_name_at_another_address_is_another_judge(
    judge: ChatServer, logged: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    task = "ccrv_x1_base_mini"
    first = evaluate(task)
    with chat_server(scene_judge(load("ccrv_mini")[0].root)) as other:
        monkeypatch.setenv(
            "OPENAI_API_URL", other.url.replace("//", "//user:secret@") + "/chat/completions/?key=secret"
        )
        second = evaluate(task)
        assert len(other.requests) == 2 * MINI_SCENES + 1
        run = logged([task], judge=os.environ["CCRV_JUDGE"])
        assert "No verdict is missing." in judge_run(run)
        monkeypatch.setenv("OPENAI_API_URL", judge.url)
        refused = CliRunner().invoke(app, ["judge", str(run)])
    assert refused.exit_code == 2 and "at another address" in refused.output
    servers = [results["configs"][task]["metadata"]["judge"]["server"] for results in (first, second)]
    assert servers == [judge.url, other.url]
    assert "secret" not in json.dumps(second["configs"], default=str)


def test_without_a_judge_it_is_said_once_and_what_is_empty_is_not_printed(
    judge: ChatServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CCRV_JUDGE", "none")
    for _ in range(2):
        evaluate(["ccrv_x1_mini", "ccrv_mini"])
        out, err = capsys.readouterr()
        assert err.count("Verdicts are missing") == 1
        assert "CSR, constraint satisfaction" in out
        assert "DCR" not in out.partition("Per cent.")[0]
        header = next(line for line in out.splitlines() if "all Y" in line)
        assert [name for name in ("base", "Y1", "Y2", "Y3", "Y4", "all Y") if name in header] == [
            *("Y1", "Y2", "Y4"),
            "all Y",
        ]
        assert "–" not in out
    assert not judge.requests


def test_failed_replies_are_not_judged(judge: ChatServer, warnings: list[str]) -> None:
    with chat_server(lambda _: Reply("", 500)) as model:
        arguments = f"model_version=local,base_url={model.url},api_key=none,num_concurrent=8,max_retries=1"
        results = evaluate("ccrv_x1_y3_mini", model="openai", model_args=arguments)
    found = figures(results, "ccrv_x1_y3_mini")
    assert (found["failed"], found["dcr"], found["csr"], found["edcr"], found["missing"]) == (100, 0, 0, 0, 0)
    assert len(judge.requests) == 1
    assert any("requests failed (" in warning and " errors)." in warning for warning in warnings)


def test_verdicts_that_cannot_be_had_are_missing_and_said_so(
    judge: ChatServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The judge answers malformed about 10 of 20 replies."""
    sound = scene_judge(load("ccrv_mini")[0].root)
    malformed: set[str] = set()

    def answer(request: dict[str, Any]) -> Reply:
        prompt = request["messages"][0]["content"].partition("An earlier answer")[0].strip()
        if "BEGIN reply" in prompt and (prompt in malformed or len(malformed) < 10):
            malformed.add(prompt)
            return Reply("I would rather not say.")
        return sound(request)

    with chat_server(answer) as server:
        monkeypatch.setenv("OPENAI_API_URL", server.url)
        results = evaluate("ccrv_x1_y1_mini", model_args="policy=oracle")
    found = figures(results, "ccrv_x1_y1_mini")
    assert (found["missing"], found["dcr"], found["csr"], found["edcr"]) == (50, 100, 100, 100)
    assert len(server.requests) == 1 + 20 + 10  # one re-ask each
    records = [sample["dcr"] for sample in results["samples"]["ccrv_x1_y1_mini"]]
    assert sum("score" not in record and record["missing"] == ["dcr"] for record in records) == 10
    assert "THESE FIGURES ARE NOT COMPARABLE" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("OPENAI_API_KEY", "", "OPENAI_API_KEY"),
        ("OPENAI_API_URL", "http://127.0.0.1:9/v1", "OPENAI_API_URL"),
        ("API_TYPE", "telepathy", "API_TYPE"),
        ("CCRV_JUDGE_CONCURRENCY", "many", "CCRV_JUDGE_CONCURRENCY"),
    ],
)
def test_a_judge_that_cannot_be_called_stops_the_run_before_any_request(
    judge: ChatServer, monkeypatch: pytest.MonkeyPatch, setting: str, value: str, message: str
) -> None:
    monkeypatch.setenv(setting, value)
    with chat_server(lambda _: Reply("x")) as model, pytest.raises(RunNotPossible, match=message):
        evaluate("ccrv_x1_base_mini", model="openai", model_args=f"model_version=m,base_url={model.url},api_key=none")
    assert not model.requests


def test_an_unknown_judge_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CCRV_JUDGE", "no-such-model")
    with chat_server(lambda _: Reply("", 404)) as server:
        monkeypatch.setenv("OPENAI_API_URL", server.url)
        with pytest.raises(RunNotPossible, match=r"no-such-model.*CCRV_JUDGE"):
            evaluate("ccrv_x1_base_mini")


def run_cli(*command: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, env=os.environ | env, capture_output=True, text=True, timeout=300)


def harness(*arguments: str, output: Path) -> list[str]:
    return [
        *("lmms_eval", "--model", "condchain_sim", "--batch_size", "1", "--log_samples"),
        *("--output_path", str(output), *arguments),
    ]


def saved(output: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The newest results and samples of a run of ccrv_mini."""
    results, samples = (
        max(output.rglob(pattern), key=lambda path: path.stat().st_mtime_ns)
        for pattern in ("*_results.json", "*_samples_ccrv_mini.jsonl")
    )
    return json.loads(results.read_text()), [json.loads(line) for line in samples.read_text().splitlines()]


def told(samples: list[dict[str, Any]]) -> tuple[int, int]:
    """What the log says that the judge took: verdicts from the cache, and calls. Takes it out of the samples."""
    records = [sample[name] for sample in samples for name in ("dcr", "dcr_base") if "key" in sample[name]]
    assert len(records) == len(samples)
    return sum(len(one.pop("cached")) for one in records), sum(one.pop("judge_calls") for one in records)


def test_two_ranks_give_what_one_gives(judge: ChatServer, tmp_path: Path) -> None:
    ranks = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2", "-m"]
    arguments = ("--model_args", "policy=violates,accuracy=0.8", "--tasks", "ccrv_mini")
    two = run_cli(*ranks, *harness(*arguments, output=tmp_path / "two"), ACCELERATE_USE_CPU="true")
    assert two.returncode == 0, two.stderr[-2000:]
    asked = len(judge.requests)
    assert asked == VERDICTS + 1
    one = evaluate("ccrv_mini", model_args="policy=violates,accuracy=0.8")
    assert len(judge.requests) - asked <= 1
    results, samples = saved(tmp_path / "two")
    assert told(samples) == (0, VERDICTS)
    assert told(one["samples"]["ccrv_mini"]) == (VERDICTS, 0)
    expected = {sample["doc_id"]: sample for sample in one["samples"]["ccrv_mini"]}
    assert {sample["doc_id"] for sample in samples} == expected.keys()
    for sample in samples:
        assert sample["cdi"] == expected[sample["doc_id"]]["cdi"]
        assert sample["dcr"] == expected[sample["doc_id"]]["dcr"]
    for metric, value in one["results"]["ccrv_mini"].items():
        if metric.endswith(",none") and "paired" not in metric and isinstance(value, float):
            assert results["results"]["ccrv_mini"][metric] == pytest.approx(value), metric


def test_judged_later_gives_the_same_figures(judge: ChatServer, tmp_path: Path) -> None:
    arguments = ("--model_args", "policy=violates,accuracy=0.8", "--tasks", "ccrv_mini")
    command = [sys.executable, "-m", *harness(*arguments, output=tmp_path / "run")]
    assert run_cli(*command, CCRV_JUDGE="none").returncode == 0
    assert not judge.requests
    before = {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()}
    done = CliRunner().invoke(app, ["judge", str(tmp_path / "run")])
    assert done.exit_code == 0, done.output
    assert len(judge.requests) == VERDICTS + 1
    assert {path: path.read_bytes() for path in before} == before
    results, samples = saved(tmp_path / "run")
    at_once = evaluate("ccrv_mini", model_args="policy=violates,accuracy=0.8")
    for metric, value in at_once["results"]["ccrv_mini"].items():
        if metric not in ("alias", "samples"):
            assert results["results"]["ccrv_mini"][metric] == (
                pytest.approx(value) if isinstance(value, float) else value
            ), metric
    expected = {sample["doc_id"]: sample["cdi"] for sample in at_once["samples"]["ccrv_mini"]}
    assert {sample["doc_id"]: sample["cdi"] for sample in samples} == expected
    assert results["configs"]["ccrv_mini"]["metadata"]["judge"]["model"] == os.environ["CCRV_JUDGE"]
    again = CliRunner().invoke(app, ["judge", str(tmp_path / "run")])
    assert "No verdict is missing." in again.output


def test_killed_while_judging_and_started_again_it_asks_for_the_rest(tmp_path: Path) -> None:
    """Each verdict takes 20 ms, four at a time: the run is killed once 100 of 480 were asked for."""
    sound = scene_judge(load("ccrv_mini")[0].root)

    def answer(request: dict[str, Any]) -> Reply:
        return Reply(sound(request).text, delay_s=0.02)

    arguments = ("--model_args", "policy=oracle", "--tasks", "ccrv_mini")
    command = [sys.executable, "-m", *harness(*arguments, output=tmp_path / "run")]
    with chat_server(answer) as server:
        env = {
            "OPENAI_API_URL": server.url,
            "CCRV_JUDGE": f"killed-{tmp_path.name}",
            "CCRV_JUDGE_CONCURRENCY": "4",
        }
        process = subprocess.Popen(command, env=os.environ | env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while len(server.requests) < 100:
            assert process.poll() is None
            time.sleep(0.01)
        process.kill()
        process.wait()
        asked = len(server.requests)
        assert asked < VERDICTS
        done = run_cli(*command, **env)
        assert done.returncode == 0, done.stderr[-2000:]
        # Both runs check the judge; what was in flight at the kill is asked again.
        assert VERDICTS + 2 <= len(server.requests) <= VERDICTS + 2 + 4
        answered_twice = len(server.requests) - VERDICTS - 2
    results, samples = saved(tmp_path / "run")
    cached, calls = told(samples)
    assert cached + calls == VERDICTS
    assert asked - 1 - answered_twice <= cached <= asked - 1
    assert results["results"]["ccrv_mini"]["dcr,none"] == 100
    assert results["results"]["ccrv_mini"]["missing,none"] == 0


@pytest.fixture
def logged(judge: ChatServer, tmp_path: Path) -> Callable[..., Path]:
    """Writes a run of tasks without a judge, in lmms-eval's own files."""

    def write(tasks: list[str], date: str = "20260101_000000", **arguments: Any) -> Path:
        from lmms_eval.loggers import EvaluationTracker

        model = os.environ.pop("CCRV_JUDGE")
        os.environ["CCRV_JUDGE"] = arguments.pop("judge", "none")
        tracker = EvaluationTracker(output_path=str(tmp_path / "runs"))
        results = evaluate(tasks, evaluation_tracker=tracker, **{"model_args": "policy=oracle", **arguments})
        samples = results.pop("samples")
        tracker.save_results_aggregated(results=results, samples=samples, datetime_str=date)
        for task in tasks:
            tracker.save_results_samples(task_name=task, samples=samples[task])
        os.environ["CCRV_JUDGE"] = model
        return tmp_path / "runs"

    return write


def judge_run(run: Path, *options: str) -> str:
    done = CliRunner().invoke(app, ["judge", str(run), *options])
    assert done.exit_code == 0, done.output
    return done.output


def test_judging_one_file_hides_no_other_task_and_every_run_is_judged(
    judge: ChatServer, logged: Callable[..., Path]
) -> None:
    run = logged(["ccrv_x1_base_mini", "ccrv_x1_y1_mini"])
    logged(["ccrv_x2_y1_mini"], date="20260102_000000")
    (one,) = run.rglob("*_samples_ccrv_x1_y1_mini.jsonl")
    assert "20 samples judged" in judge_run(one)
    asked = len(judge.requests)
    output = judge_run(run)
    assert output.count("20 samples judged, 0 still lack a verdict") == 2
    assert len(judge.requests) - asked in (40, 41)  # the verdicts that were there are kept
    assert "No verdict is missing." in judge_run(run)
    first = json.loads(max(run.rglob("20260101*-judged-*_results.json")).read_text())
    for task in ("ccrv_x1_base_mini", "ccrv_x1_y1_mini"):
        assert first["results"][task]["dcr,none"] == 100
        assert first["configs"][task]["metadata"]["judge"]["model"] == os.environ["CCRV_JUDGE"]


def test_another_judges_verdicts_are_not_mixed_in_and_its_failures_leave_nothing_of_the_old_scores(
    judge: ChatServer, logged: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = logged(["ccrv_x1_y1_mini"])
    judge_run(run)
    monkeypatch.setenv("CCRV_JUDGE", "another")
    refused = CliRunner().invoke(app, ["judge", str(run)])
    assert refused.exit_code == 2
    assert "was judged by facts-" in refused.output and "--again" in refused.output

    def answer(request: dict[str, Any]) -> Reply:
        asked = "BEGIN reply" in request["messages"][0]["content"]
        return Reply("no verdict" if asked else '{"reasoning": "", "csr": 1}')

    with chat_server(answer) as other:
        monkeypatch.setenv("OPENAI_API_URL", other.url)
        assert "20 samples judged, 20 still lack a verdict" in judge_run(run, "--again")
    results = json.loads(max(run.rglob("*-judged-*_results.json"), key=lambda p: p.stat().st_mtime_ns).read_text())
    found = results["results"]["ccrv_x1_y1_mini"]
    assert [found[f"{metric},none"] for metric in ("l1", "dcr", "edcr")] == [None] * 3
    assert (found["csr,none"], found["missing,none"]) == (100, 100)


def test_a_log_that_was_cut_short_is_not_judged(judge: ChatServer, logged: Callable[..., Path]) -> None:
    run = logged(["ccrv_x1_y1_mini"])
    (log,) = run.rglob("*_samples_*.jsonl")
    log.write_text("".join(log.read_text().splitlines(keepends=True)[:7]))
    done = CliRunner().invoke(app, ["judge", str(run)])
    assert done.exit_code == 2
    assert "has 7 of 20 samples: the log was cut short" in done.output
    assert not judge.requests


def test_judging_that_was_killed_before_its_results_is_done_again(
    judge: ChatServer, logged: Callable[..., Path]
) -> None:
    run = logged(["ccrv_x1_y1_mini"])
    judge_run(run)
    (results,) = run.rglob("*-judged-*_results.json")
    results.unlink()
    asked = len(judge.requests)
    assert "20 samples judged, 0 still lack" in judge_run(run)
    assert len(judge.requests) == asked  # all of it was in the cache


def test_half_characters_in_a_reply_do_not_cut_the_log_short(judge: ChatServer, logged: Callable[..., Path]) -> None:
    with chat_server(lambda _: Reply("\ud800 The lamp hangs.")) as model:
        arguments = f"model_version=local,base_url={model.url},api_key=none,num_concurrent=1,max_retries=1"
        run = logged(["ccrv_x1_y1_mini"], model="openai", model_args=arguments)
    (log,) = run.rglob("*_samples_*.jsonl")
    assert len(log.read_text().splitlines()) == 20
    assert json.loads(log.read_text().splitlines()[0])["filtered_resps"] == "? The lamp hangs."


def test_a_judges_folder_that_cannot_be_used_ends_the_run_with_a_sentence(
    judge: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load("ccrv_mini")
    monkeypatch.setattr("condchain_tasks.judging.cache.cache_root", lambda: tmp_path / "cache")
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "judge").write_text("a file where a folder should be")
    with pytest.raises(RunNotPossible, match="cannot be used"):
        evaluate("ccrv_x1_y1_mini")
