"""From runs of the real harness to a page in a real browser: all policies of the simulated model, all three minis."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("lmms_eval")

from chat_server import chat_server
from harness import evaluate
from scene_judge import scene_judge
from typer.testing import CliRunner

from condchain_tasks.cli import app
from condchain_tasks.data.ccrv_tasks import load

RUNS = {
    "oracle": ("condchain_mini", "ccrv_mini", "vrex_mini"),
    "oracle,accuracy=0.7,seed=1": ("condchain_mini", "ccrv_mini", "vrex_mini"),
    "always_continue": ("condchain_mini",),
    "always_stop": ("condchain_mini",),
    "random": ("condchain_mini", "vrex_mini"),
    "violates": ("ccrv_mini",),
    "wrong": ("ccrv_mini",),
    "distracted": ("vrex_mini",),
}
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One run a policy, in lmms-eval's own files."""
    from lmms_eval.loggers import EvaluationTracker

    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch, chat_server(scene_judge(load("ccrv_mini")[0].root)) as server:
        patch.setenv("CCRV_JUDGE", f"facts-{folder.name}")
        patch.setenv("OPENAI_API_URL", server.url)
        for number, (policy, tasks) in enumerate(RUNS.items(), start=10):
            tracker = EvaluationTracker(output_path=str(folder))
            results = evaluate(list(tasks), model_args=f"policy={policy}", evaluation_tracker=tracker)
            samples = results.pop("samples")
            tracker.save_results_aggregated(results=results, samples=samples, datetime_str=f"202601{number}_000000")
            for task, lines in samples.items():
                tracker.save_results_samples(task_name=task, samples=lines)
    yield folder


@pytest.fixture(scope="module")
def page(runs: Path) -> Path:
    done = CliRunner().invoke(app, ["report", str(runs), "--out", str(runs / "report.html")])
    assert done.exit_code == 0, done.output
    assert f"31 evaluations, {len(RUNS)} remarks" in done.output  # of each policy, that it is simulated
    return runs / "report.html"


def test_the_tables_in_markdown_say_what_the_harness_says(runs: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["report", str(runs), "--format", "md", "--out", str(tmp_path / "report.md")])
    assert done.exit_code == 0, done.output
    text = (tmp_path / "report.md").read_text()
    files = [json.loads(path.read_text()) for path in sorted(runs.rglob("*_results.json"))]
    (guess,) = [file for file in files if "accuracy=0.7" in file["config"]["model_args"]]
    for task, metric in (
        ("condchain_chart_mini", "path_f1"),
        ("ccrv_mini", "dcr"),
        ("vrex_planning_mini", "ability"),
    ):
        assert f"{guess['results'][task][f'{metric},none']:.1f}" in text, task


def test_submissions_come_to_the_runs_figures(runs: Path, tmp_path: Path) -> None:
    alone = tmp_path / "alone"
    for path in runs.rglob("20260111_*"):
        (alone / path.parent.name).mkdir(parents=True, exist_ok=True)
        shutil.copy(path, alone / path.parent.name)
    (results,) = [json.loads(path.read_text())["results"] for path in alone.rglob("*_results.json")]
    for benchmark in ("condchain", "ccrv", "vrex"):
        out = tmp_path / f"{benchmark}.json"
        done = CliRunner().invoke(app, ["submit", benchmark, str(alone), "--out", str(out), "--synthetic"])
        assert done.exit_code == 0, done.output
        assert json.loads(out.with_name(f"{benchmark}.json.manifest.json").read_text())
    chains = json.loads((tmp_path / "condchain.json").read_text())
    assert len(chains) == 72
    for domain in ("natural", "chart", "gui"):
        own = [chain for chain in chains if chain["domain"] == domain]
        true, false = (
            100 * sum(chain[f"{path}_path_pred"] == chain[f"{path}_path_gt"] for chain in own) / len(own)
            for path in ("true", "false")
        )
        assert results[f"condchain_{domain}_mini"]["path_f1,none"] == pytest.approx(2 * true * false / (true + false))


@pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium on this machine")
def test_the_page_in_a_browser(page: Path) -> None:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    said: list[str] = []
    asked: list[str] = []
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        tab: Any = browser.new_page()
        tab.on("console", lambda message: said.append(message.text))
        tab.on("pageerror", lambda error: said.append(str(error)))
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto(page.as_uri())
        text = tab.inner_text("body")
        for title in ("MM-CondChain, synthetic data", "CCRV-Bench, synthetic data", "V-REX, synthetic data"):
            assert title in text
        tables = tab.locator("table")
        assert tables.count() > 20
        assert all(tables.nth(number).locator("tbody tr").count() for number in range(tables.count()))
        assert tab.locator("#list [role=option]").count() == 50
        first = tables.nth(0).locator("thead th").nth(1)
        first.locator("button").click()
        assert first.get_attribute("aria-sort") in ("ascending", "descending")
        tab.locator("#list [role=option]").nth(3).click()
        assert tab.locator("#list [aria-selected=true]").count() == 1
        browser.close()
    assert said == []
    pictures = [url for url in asked if url != page.as_uri() and not url.startswith("data:")]
    assert all(url.startswith("file:") and os.environ["CONDCHAIN_CACHE"] in url for url in pictures)
