"""`condchain audit` on damaged logs, sheets and keys: figures or a sentence, never a traceback."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("lmms_eval")

from damage import damage, damaged_bytes
from logged_runs import lines_of, the_log, write_run
from typer.testing import CliRunner

from condchain_tasks.cli import app

TASK = "ccrv_x1_y3_mini"
JUNK = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 10**6), st.floats(), st.text(max_size=5), st.just([]), st.just({})
)
MANY = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty judged samples."""
    folder = tmp_path_factory.mktemp("run")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CCRV_JUDGE", "rules")
        write_run(folder, [TASK], model_args="policy=oracle,accuracy=0.5")
    return folder


@pytest.fixture(scope="module")
def audit(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sheet, filled by one annotator, and its key."""
    folder = tmp_path_factory.mktemp("audit") / "audit"
    done = CliRunner().invoke(app, ["audit", "sample", str(run), "--n", "6", "--out", str(folder)])
    assert done.exit_code == 0, done.output
    with (folder / "sheet.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    with (folder / "anna.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows({**row, "L1": "1", "L2": "1", "L3": "0", "CSR": "1"} for row in rows)
    return folder


def is_met(*arguments: object) -> None:
    done = CliRunner().invoke(app, ["audit", *map(str, arguments)])
    assert done.exit_code in (0, 2), done.output
    assert done.exception is None or isinstance(done.exception, SystemExit), repr(done.exception)
    if done.exit_code == 2:
        last = done.output.splitlines()[-1]
        assert last.startswith("condchain: ") and len(last) < 3_000


@MANY
@given(data=st.data())
def test_a_damaged_log_is_drawn_from_or_met_with_a_sentence(
    run: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    source = the_log(run, TASK)
    (results,) = run.rglob("*_results.json")
    folder = tmp_path_factory.mktemp("damaged")
    content: list[Any] = [json.loads(results.read_text()), lines_of(source)[:6]]
    content[0]["n-samples"][TASK] = {"original": 6, "effective": 6}
    damage(data, content, JUNK)
    said, lines = (*content, None, None)[:2]
    if said is not None:
        (folder / results.name).write_text(json.dumps(said))
    listed = lines if isinstance(lines, list) else [lines]
    (folder / source.name).write_text("".join(json.dumps(line) + "\n" for line in listed))
    is_met("sample", folder, "--n", 2, "--out", folder / "audit")


@MANY
@given(data=st.data())
def test_a_damaged_key_is_met_with_a_sentence(
    audit: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    content = [json.loads((audit / "key.json").read_text())]
    damage(data, content, JUNK)
    key = tmp_path_factory.mktemp("damaged") / "key.json"
    key.write_text(json.dumps(content[0] if content else None))
    is_met("score", audit / "anna.csv", "--key", key)


@MANY
@given(data=st.data())
def test_a_damaged_sheet_is_met_with_a_sentence(
    audit: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    sheet = tmp_path_factory.mktemp("damaged") / "anna.csv"
    sheet.write_bytes(damaged_bytes(data, (audit / "anna.csv").read_bytes()))
    is_met("score", sheet, "--key", audit / "key.json")
