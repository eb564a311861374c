"""`condchain score`: logged replies, scored by today's rules in new files beside the old ones."""

from __future__ import annotations

import itertools
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("lmms_eval")

import official
from chat_server import Reply, chat_server
from damage import damage
from logged_runs import edit, figures_of, lines_of, the_log, write_run
from scene_judge import scene_judge
from typer.testing import CliRunner

from condchain_tasks.cli import app
from condchain_tasks.data.ccrv_tasks import load
from condchain_tasks.data.harness import provenance
from condchain_tasks.report.selection import select

TASKS = [
    "condchain_mini",
    "ccrv_mini",
    "ccrv_x1_y3_mini",
    "vrex_planning_mini",
    "vrex_direct_mini",
    "vrex_planning_tf_mini",
]
DOMAINS = ["condchain_natural_mini", "condchain_chart_mini", "condchain_gui_mini"]
PREMISE = "ccrv_x1_y3_mini"
ARGUMENTS = {"model_args": "policy=oracle,accuracy=0.7,seed=3", "limit": 10}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The same run, once scored and once with replies alone."""
    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CCRV_JUDGE", "rules")
        write_run(folder / "scored", TASKS, **ARGUMENTS)
        patch.setenv("CCRV_JUDGE", "none")
        write_run(folder / "replies", TASKS, predict_only=True, **ARGUMENTS)
    return folder / "scored", folder / "replies"


@pytest.fixture
def scored(runs: tuple[Path, Path], tmp_path: Path) -> Path:
    return Path(shutil.copytree(runs[0], tmp_path / "scored"))


@pytest.fixture
def replies(runs: tuple[Path, Path], tmp_path: Path) -> Path:
    return Path(shutil.copytree(runs[1], tmp_path / "replies"))


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CCRV_JUDGE", "none")


def run_score(*arguments: object) -> str:
    done = CliRunner().invoke(app, ["score", *map(str, arguments)])
    assert done.exit_code == 0, done.output
    return done.output


def refused(*arguments: object) -> str:
    done = CliRunner().invoke(app, ["score", *map(str, arguments)])
    assert done.exit_code == 2, done.output
    return done.output


def metadata_of(folder: Path, task: str) -> dict[str, Any]:
    newest = max(folder.rglob("*_results.json"), key=lambda path: path.stat().st_mtime_ns)
    return dict(json.loads(newest.read_text())["configs"][task]["metadata"])


def test_replies_alone_come_to_what_the_run_comes_to(
    scored: Path, replies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tasks of all three benchmarks, and the mean of a group."""
    monkeypatch.setenv("CCRV_JUDGE", "rules")
    before = {path: path.read_bytes() for path in replies.rglob("*") if path.is_file()}
    output = run_score(replies)
    assert output.count("NOTE  The judge rules is simulated: its verdicts are no results.") == 1
    assert output.count("NOTE  The model condchain_sim is simulated: its figures are no results.") == 1
    assert {path: path.read_bytes() for path in before} == before
    tasks = [*DOMAINS, *TASKS]
    for task in tasks:
        expected = figures_of(scored, task)
        found = figures_of(replies, task)
        assert found.keys() == expected.keys(), task
        for metric, value in expected.items():
            assert found[metric] == (pytest.approx(value) if isinstance(value, float) else value), (task, metric)
    assert 0 < figures_of(replies, "condchain_mini")["path_f1"] < 100
    for task in tasks[1:3] + TASKS[1:]:
        for one, other in zip(lines_of(the_log(scored, task)), lines_of(the_log(replies, task)), strict=True):
            other.pop("bypass", None)
            assert one == other, task
    assert metadata_of(replies, PREMISE)["judge"]["simulated"] is True


def test_requests_that_failed_without_scores_are_failed_with_them(tmp_path: Path) -> None:
    """Every second reply has no content: nothing in the log says so but its text."""
    count = itertools.count()
    with chat_server(lambda _: Reply(None if next(count) % 2 else "\\boxed{A1}")) as model:
        arguments = f"model_version=m,base_url={model.url},api_key=none,num_concurrent=1,max_retries=1"
        write_run(tmp_path, DOMAINS[:1], model="openai", model_args=arguments, limit=8, predict_only=True)
    run_score(tmp_path)
    assert figures_of(tmp_path, DOMAINS[0])["failed"] == 50
    records = [line["path_f1"] for line in lines_of(the_log(tmp_path, DOMAINS[0]))]
    assert {record["failure"] for record in records} == {None, "empty"}


def test_replies_without_scores_are_an_error_until_they_are_scored(replies: Path) -> None:
    before = select([replies], benchmark="condchain")
    assert before.chosen == ()
    told = {problem.text for problem in before.problems if problem.severity != "note"}
    assert told == {"Holds replies without scores, of a run with --predict_only: `condchain score` scores them."}

    run_score(replies)
    after = select([replies], benchmark="condchain")
    assert {one.log.file.task for one in after.chosen} == set(DOMAINS)
    assert after.problems == ()
    assert {one.reason for one in after.passed_over} == {"it was scored anew later"}


def test_newer_replies_without_scores_do_not_hide_an_older_run(scored: Path) -> None:
    write_run(scored, DOMAINS[:1], date="20260102_000000", predict_only=True, **ARGUMENTS)
    found = select([scored], benchmark="condchain")
    assert (DOMAINS[0], "20260101_000000") in {(one.log.file.task, one.log.file.date) for one in found.chosen}
    assert [(one.date, one.reason) for one in found.passed_over] == [("20260102_000000", "its replies are not scored")]
    assert [problem.severity for problem in found.problems] == ["error"]


def test_an_old_run_is_scored_by_todays_rules(scored: Path) -> None:
    """The log says of every answer that it is wrong and unread, as an older rule may have found."""

    def change(_: int, line: dict[str, Any]) -> None:
        line["path_f1"] |= {"score": 0.0, "pred": "", "pred_source": "none", "no_answer": True}

    right = figures_of(scored, DOMAINS[0])["path_f1"]
    edit(the_log(scored, DOMAINS[0]), change)
    run_score(the_log(scored, DOMAINS[0]))
    assert figures_of(scored, DOMAINS[0])["path_f1"] == right
    assert {line["path_f1"]["pred_source"] for line in lines_of(the_log(scored, DOMAINS[0]))} == {"boxed"}
    # A mean of two old domains and a new one would be nobody's.
    assert figures_of(scored, "condchain_mini") == {}


@pytest.mark.parametrize(
    ("task", "metric", "record", "text"),
    [
        ("condchain_natural_mini", "path_f1_lenient", "path_f1", "None"),
        ("condchain_natural_mini", "path_f1_lenient", "path_f1", None),
        ("vrex_direct_mini", "final_acc", "final_acc", None),
        ("vrex_planning_mini", "final_acc", "final_acc", None),
        ("vrex_planning_tf_mini", "step_acc", "step_acc", None),
        (PREMISE, "dcr", "dcr", None),
    ],
)
def test_a_failed_request_stays_failed_whatever_its_logged_text_looks_like(
    scored: Path, task: str, metric: str, record: str, text: str | None
) -> None:
    """All ten failed; their texts are right answers, or None."""

    def change(_: int, line: dict[str, Any]) -> None:
        line[record] |= {"failed": True}
        if text:
            line["filtered_resps"] = text

    edit(the_log(scored, task), change)
    run_score(the_log(scored, task))
    found = figures_of(scored, task)
    assert (found["failed"], found[metric]) == (100, 0)
    assert all(line[record]["failed"] for line in lines_of(the_log(scored, task)))


def test_verdicts_in_the_log_stay_whoever_is_the_judge_now(scored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = figures_of(scored, PREMISE)
    monkeypatch.setenv("CCRV_JUDGE", "somebody-else")
    run_score(the_log(scored, PREMISE))
    found = figures_of(scored, PREMISE)
    assert (found["dcr"], found["csr"], found["missing"]) == (expected["dcr"], expected["csr"], 0)
    assert metadata_of(scored, PREMISE)["judge"]["model"] == "rules"


def test_verdicts_on_disk_are_taken_and_nobody_is_asked(
    replies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CCRV_JUDGE", f"facts-{tmp_path.name}")
    log = the_log(replies, PREMISE)
    with chat_server(scene_judge(load("ccrv_mini")[0].root)) as judge:
        monkeypatch.setenv("OPENAI_API_URL", judge.url)
        run_score(log)
        assert figures_of(replies, PREMISE)["missing"] == 100
        assert metadata_of(replies, PREMISE)["judge"]["model"] == "none"
        assert not judge.requests
        judged = CliRunner().invoke(app, ["judge", str(the_log(replies, PREMISE))])
        assert judged.exit_code == 0, judged.output
        asked = len(judge.requests)
        run_score(log)
        assert len(judge.requests) == asked == 21
    found = figures_of(replies, PREMISE)
    assert (found["missing"], found["failed"]) == (0, 0)
    assert metadata_of(replies, PREMISE)["judge"]["model"] == os.environ["CCRV_JUDGE"]


def test_replies_without_scores_are_scored_before_they_are_judged(
    replies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CCRV_JUDGE", "rules")
    done = CliRunner().invoke(app, ["judge", str(the_log(replies, PREMISE))])
    assert done.exit_code == 2
    assert "condchain score" in done.output


def test_other_data_than_the_runs_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = official.write_dataset(tmp_path / "data")
    monkeypatch.setenv("CONDCHAIN_DATA", str(root))
    write_run(tmp_path / "run", ["condchain_natural"], model_args="policy=oracle", predict_only=True)
    moved = Path(shutil.move(root, tmp_path / "moved"))
    monkeypatch.setenv("CONDCHAIN_DATA", str(moved))
    run_score(tmp_path / "run")
    assert figures_of(tmp_path / "run", "condchain_natural")["path_f1"] == 100
    (records,) = (moved / "data").glob("*natural*.jsonl")
    records.write_text(records.read_text().replace("A1", "A9"))
    output = refused(tmp_path / "run")
    assert "Set CONDCHAIN_DATA to the run's data" in output and str(moved) in output


def test_a_version_that_hashes_data_otherwise_is_told_by_what_was_sent(scored: Path) -> None:
    (results,) = scored.rglob("*_results.json")
    said = json.loads(results.read_text())
    said["configs"][DOMAINS[0]]["metadata"]["data"]["sha256"] = "0123456789abcdef"
    results.write_text(json.dumps(said))
    log = the_log(scored, DOMAINS[0])
    run_score(log)
    assert metadata_of(scored, DOMAINS[0])["data"]["sha256"] == provenance(DOMAINS[0])["sha256"]
    edit(log, lambda number, line: line.update(input=f"{number} was sent"))
    assert "install the run's" in refused(log)


def test_the_newest_whole_run_counts_and_the_others_are_said(runs: tuple[Path, Path], tmp_path: Path) -> None:
    task = "vrex_direct_mini"
    folder = tmp_path / "results" / "model"
    folder.mkdir(parents=True)
    source = the_log(runs[1], task)
    for date in ("20260101_000000", "20260102_000000", "20260103_000000"):
        shutil.copy(source, folder / f"{date}_samples_{task}.jsonl")
        shutil.copy(source.with_name("20260101_000000_results.json"), folder / f"{date}_results.json")
    cut = folder / f"20260103_000000_samples_{task}.jsonl"
    cut.write_text("".join(cut.read_text().splitlines(keepends=True)[:3]))
    output = run_score(folder.parent)
    assert "20260102_000000-scored-" in output
    assert "20260103_000000_samples" in output and "has 3 of 10 samples" in output
    assert output.count("PASSED OVER") == 2
    assert "20260101_000000-scored-" in run_score(folder.parent, "--run", "20260101_000000")
    assert "20260101_000000-scored-" in run_score(folder / "20260101_000000_results.json")
    assert "No run is called 'yesterday'. There are: 20260103_000000" in refused(folder.parent, "--run", "yesterday")


JUNK = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 10**6), st.floats(), st.text(max_size=5), st.just([]), st.just({})
)


@pytest.mark.parametrize("part", ["results", "configs", "higher_is_better", "groups"])
def test_a_part_of_the_results_that_is_no_mapping_is_met_with_a_sentence(
    runs: tuple[Path, Path], tmp_path: Path, part: str
) -> None:
    source = the_log(runs[0], DOMAINS[0], newest=False)
    results = source.with_name("20260101_000000_results.json")
    said = json.loads(results.read_text()) | {part: None}
    (tmp_path / results.name).write_text(json.dumps(said))
    (tmp_path / source.name).write_bytes(source.read_bytes())
    done = CliRunner().invoke(app, ["score", str(tmp_path)])
    assert done.exit_code == 2, done.output
    assert done.output.startswith("condchain: ") and done.output.count("\n") == 1
    assert part in done.output or results.name in done.output


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_log_is_scored_or_met_with_a_sentence(
    runs: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    task = data.draw(st.sampled_from([*DOMAINS[:1], *TASKS[1:]]))
    source = the_log(data.draw(st.sampled_from(runs)), task, newest=False)
    folder = tmp_path_factory.mktemp("damaged")
    said = json.loads(source.with_name("20260101_000000_results.json").read_text())
    said["n-samples"][task]["effective"] = 4
    content = [said, lines_of(source)[:4]]
    damage(data, content, JUNK)
    said, lines = (*content, None, None)[:2]
    if said is not None:
        (folder / "20260101_000000_results.json").write_text(json.dumps(said))
    listed = lines if isinstance(lines, list) else [lines]
    (folder / source.name).write_text("".join(json.dumps(line) + "\n" for line in listed))
    done = CliRunner().invoke(app, ["score", str(folder)])
    assert done.exit_code in (0, 2), done.output
    assert done.exception is None or isinstance(done.exception, SystemExit), repr(done.exception)
    if done.exit_code == 2:
        assert done.output.startswith("condchain: ") and done.output.count("\n") == 1
