"""The command `condchain`: thin, everything it does is a function elsewhere."""

from __future__ import annotations

import contextlib
import enum
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.table import Column, Table
from typer.core import TyperGroup

if TYPE_CHECKING:
    from condchain_tasks.report.submit import Submission

app = typer.Typer(
    help="Tasks, data and embedded benchmarks of multi-step visual reasoning for lmms-eval. lmms-eval runs the tasks. "
    "Its model condchain_sim, which comes with them, is no model: it looks the answers up, to prove a set-up and to "
    "measure chance, and its figures are no results.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
data_app = typer.Typer(help="Look at a benchmark's data.", no_args_is_help=True)
synth_app = typer.Typer(help="Make an embedded benchmark of any size, in the official layout.", no_args_is_help=True)
app.add_typer(data_app, name="data")
vrex_app = typer.Typer(help="V-REX across models.", no_args_is_help=True)
audit_app = typer.Typer(help="Let people check the judge of a ccrv run.", no_args_is_help=True)
app.add_typer(synth_app, name="synth")
submit_app = typer.Typer(help="Write a run as the file that a leaderboard takes.", no_args_is_help=True)


class _WritesByDefault(TyperGroup):
    """`condchain sweep plan.yaml` writes the sweep; only what is named is something else."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            args = ["write", *args]
        return super().parse_args(ctx, args)


sweep_app = typer.Typer(
    cls=_WritesByDefault,
    help="Write what SLURM, a shell and lmms-eval run for a grid of models, tasks and settings. No scheduler: "
    "`condchain sweep plan.yaml` writes, `condchain sweep status plan.yaml` tells how far it is.",
    no_args_is_help=True,
)
app.add_typer(audit_app, name="audit")
app.add_typer(submit_app, name="submit")
app.add_typer(sweep_app, name="sweep")
app.add_typer(vrex_app, name="vrex")

# Where no terminal is, nothing is wrapped: one message is one line.


class _Terminal(Console):
    """What is printed came from files too: control characters in it do not reach the terminal."""

    def print(self, *objects: Any, **more: Any) -> None:
        shown = (_CONTROLS.sub("�", one) if isinstance(one, str) else one for one in objects)
        try:
            super().print(*shown, **more)
        except OSError as error:  # such as a full disk behind a redirection
            with contextlib.suppress(OSError):
                sys.stderr.write(f"condchain: cannot write: {error.strerror}.\n")
            raise typer.Exit(1) from error


_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_out = _Terminal(width=None if sys.stdout.isatty() else 1_000, soft_wrap=True, highlight=False, markup=False)
_err = _Terminal(stderr=True, soft_wrap=True, highlight=False, markup=False)


class Benchmark(str, enum.Enum):
    """A benchmark of this package."""

    condchain = "condchain"
    ccrv = "ccrv"
    vrex = "vrex"


class Format(str, enum.Enum):
    """What a report is written as."""

    html = "html"
    md = "md"
    csv = "csv"
    latex = "latex"


class Domain(str, enum.Enum):
    """A domain of MM-CondChain."""

    natural = "natural"
    chart = "chart"
    gui = "gui"


class Complexity(str, enum.Enum):
    """A complexity of predicates."""

    simple = "simple"
    complex = "complex"


@app.command()
def tasks() -> None:
    """List every task, where its data comes from, and whether that data is there."""
    from condchain_tasks.data.benchmarks import benchmark_of
    from condchain_tasks.tasks import task_names

    table = Table("task", "state", Column("data", overflow="fold"), box=None, pad_edge=False)
    for name in task_names():
        source, state = benchmark_of(name)[1].describe(name)
        table.add_row(name, state, source)
    _out.print(table)
    _out.print("Run one: lmms-eval --model MODEL --model_args ... --tasks TASK")


@data_app.command()
def check(
    benchmark: Benchmark,
    folder: Annotated[Path | None, typer.Argument(help="The data; left out, what a run would use.")] = None,
) -> None:
    """Read a benchmark's data as a run would; list every fault and every oddity. Exit code 1 if there is a fault."""
    from condchain_tasks.data.benchmarks import BENCHMARKS

    data = BENCHMARKS[benchmark.value]
    faults: dict[str, None] = {}  # in order, each once: a wrong CONDCHAIN_DATA is the same fault in every domain
    try:
        parts = list(data.parts(folder))
    except ValueError as error:
        _fail(str(error))
    for part, read in parts:
        try:
            reading = read()
        except (OSError, ValueError) as error:
            faults[str(error)] = None
            continue
        faults |= dict.fromkeys(reading.faults)
        for kind, places in reading.remarks.items():
            for place in places:
                _out.print(f"ODDITY {kind}: {place}")
        oddities = ", ".join(f"{len(places)} {kind}" for kind, places in reading.remarks.items()) or "no oddities"
        _out.print(f"{part}: {data.count(reading)}, {len(reading.faults)} faults; {oddities}")
    for fault in faults:
        _err.print(f"FAULT  {fault}")
    raise typer.Exit(1 if faults else 0)


@app.command()
def judge(
    run: Annotated[Path, typer.Argument(help="The folder of --output_path, or one file of samples.")],
    again: Annotated[bool, typer.Option("--again", help="Judge anew what another judge has judged.")] = False,
) -> None:
    """Add the verdicts that ccrv runs lack, from their sample logs and without inference. The old files stay."""
    from condchain_tasks.data.harness import RunNotPossible
    from condchain_tasks.tasks.ccrv.rejudge import rejudge

    try:
        done = rejudge(run, again)
    except (ValueError, OSError, RunNotPossible) as error:
        _fail(str(error))
    if not done:
        _out.print("No verdict is missing.")
    for judged in done:
        _out.print(f"{judged.asked} samples judged, {judged.missing} still lack a verdict: {judged.results}")
        for name in judged.value["judged"]["tasks"]:
            table = Table("metric", Column("value", justify="right"), Column("stderr", justify="right"), title=name)
            for metric, value in sorted(judged.value["results"][name].items()):
                metric, _, kind = metric.partition(",")
                if kind and not metric.startswith("paired_") and "_stderr" not in metric:
                    stderr = judged.value["results"][name].get(f"{metric}_stderr_clustered,{kind}")
                    table.add_row(metric, _number(value), _number(stderr))
            _out.print(table)


@app.command()
def report(
    runs: Annotated[
        list[Path], typer.Argument(help="Folders of --output_path, at any depth, of any models.", readable=False)
    ],
    out: Annotated[
        Path | None, typer.Option(help="The file to write, for csv a folder; report.html and so on, if left out.")
    ] = None,
    form: Annotated[
        Format | None,
        typer.Option("--format", help="html is one page that needs no network. Left out, it is as --out ends."),
    ] = None,
    compare: Annotated[
        list[str] | None,
        typer.Option(help="A model, or a run's label in the report: show differences among those named. Repeat it."),
    ] = None,
    with_images: Annotated[bool, typer.Option("--with-images", help="Put the items' pictures into the page.")] = False,
) -> None:
    """Make one page of any number of runs. Exit code 1 if no run could be read."""
    from condchain_tasks.data.files import write_aside
    from condchain_tasks.report.build import build
    from condchain_tasks.report.evaluations import read_runs
    from condchain_tasks.report.page import write_page
    from condchain_tasks.report.plain import to_csv, to_latex, to_markdown

    form, out = _form_and_file(form, out)
    try:
        found = read_runs(runs)
        for problem in found.problems:
            if problem.severity == "error":
                _err.print(f"LEFT OUT  {problem.where}: {problem.text}")
        if not found.evaluations:
            _err.print("condchain: no run of this package's tasks could be read.")
            raise typer.Exit(1)
        made = build(found, with_items=form is Format.html, compared=compare or ())
        out.parent.mkdir(parents=True, exist_ok=True)
        if form is Format.html:
            write_page(made, out, with_images)
        elif form is Format.csv:
            to_csv(made, out)
        else:
            write_aside(out, to_markdown(made) if form is Format.md else to_latex(made), errors="replace")
    except (ValueError, OSError) as error:
        _fail(str(error))
    _out.print(f"Wrote {out}: {len(found.evaluations)} evaluations, {len(found.problems)} remarks on their health.")


def _form_and_file(form: Format | None, out: Path | None) -> tuple[Format, Path]:
    """What to write, and where; each says the other if it is left out."""
    ending = next((one for one, suffix in _SUFFIXES.items() if out and suffix and out.suffix == suffix), None)
    if form and ending and form is not ending:
        _fail(f"--out {out} ends as {ending.value} does, and --format is {form.value}: leave one of them out.")
    form = form or ending or Format.html
    out = out or Path("report").with_suffix(_SUFFIXES[form])
    if form is not Format.csv and out.is_dir():
        _fail(f"--out {out} is a folder: name a file in it, such as {out / 'report'}{_SUFFIXES[form]}.")
    if form is Format.csv and out.exists() and not out.is_dir():
        _fail(f"--out {out} is a file: csv needs a folder, for a file for each table.")
    return form, out


_SUFFIXES = {Format.html: ".html", Format.md: ".md", Format.csv: "", Format.latex: ".tex"}
_RunArgument = Annotated[Path, typer.Argument(help="The folder of --output_path of one model.")]
_OutOption = Annotated[Path, typer.Option(help="The file to write; a manifest is written beside it.")]
_IncompleteOption = Annotated[bool, typer.Option("--incomplete", help="Write it although something is missing.")]


@submit_app.command("condchain")
def submit_condchain(run: _RunArgument, out: _OutOption, incomplete: _IncompleteOption = False) -> None:
    """Write the official result format of MM-CondChain, and print what its scorer will compute from it."""
    from condchain_tasks.report import submit_condchain as benchmark

    _submit(lambda: benchmark.submit_condchain(run, out, incomplete=incomplete))


@submit_app.command("ccrv")
def submit_ccrv(run: _RunArgument, out: _OutOption, incomplete: _IncompleteOption = False) -> None:
    """Write the verdicts on every item of CCRV-Bench, and print what they come to."""
    from condchain_tasks.report import submit_ccrv as benchmark

    _submit(lambda: benchmark.submit_ccrv(run, out, incomplete=incomplete))


@submit_app.command("vrex")
def submit_vrex(run: _RunArgument, out: _OutOption, incomplete: _IncompleteOption = False) -> None:
    """Write the choices in every chain of V-REX, and print what they come to."""
    from condchain_tasks.report import submit_vrex as benchmark

    _submit(lambda: benchmark.submit_vrex(run, out, incomplete=incomplete))


def _submit(write: Callable[[], Submission]) -> None:
    try:
        done = write()
    except (ValueError, OSError) as error:
        _fail(str(error))
    for remark in (*done.gaps, *done.remarks):
        _err.print(f"NOTE  {remark}")
    columns = list(dict.fromkeys(column for row in done.metrics.values() for column in row))
    table = Table("", *(Column(column, justify="right") for column in columns))
    for name, row in done.metrics.items():
        table.add_row(name, *(_number(row.get(column)) for column in columns))
    _out.print(table)
    _out.print(f"Wrote {done.items} entries to {done.file}, and {done.manifest.name} beside it.")


_PlanArgument = Annotated[Path, typer.Argument(help="The plan; see examples/sweeps.")]
_SweepOption = Annotated[Path | None, typer.Option("--out", help="Its folder; left out, beside the plan, by its name.")]


@sweep_app.command("write")
def sweep_write(plan: _PlanArgument, out: _SweepOption = None) -> None:
    """Write the scripts and configurations of a sweep; the same plan gives the same files."""
    from condchain_tasks.sweep.plan import read_plan
    from condchain_tasks.sweep.write import write_sweep

    try:
        written = write_sweep(read_plan(plan), out or plan.with_suffix(""))
    except (ValueError, OSError) as error:
        _fail(str(error))
    _out.print(f"{written.cells} cells. On this machine: bash {written.shell}")
    for script in written.slurm:
        _out.print(f"With SLURM: sbatch {script}")
    status = ["condchain", "sweep", "status", str(plan), *(["--out", str(out)] if out else [])]
    _out.print(f"How far it is: {shlex.join(status)}")


@sweep_app.command("status")
def sweep_status(plan: _PlanArgument, out: _SweepOption = None) -> None:
    """Show what of a sweep is done, running, failed or missing. Exit code 1 if a cell has failed."""
    from condchain_tasks.sweep.plan import read_plan
    from condchain_tasks.sweep.status import status

    try:
        cells = status(read_plan(plan), out or plan.with_suffix(""))
    except (ValueError, OSError) as error:
        _fail(str(error))
    table = Table("state", "model", "task", "setting", Column("detail", overflow="fold"))
    for cell in cells:
        table.add_row(cell.state, cell.model, cell.task, cell.setting, cell.detail)
    _out.print(table)
    counts = {state: sum(cell.state == state for cell in cells) for state in ("done", "running", "failed", "missing")}
    _out.print(", ".join(f"{count} {state}" for state, count in counts.items()))
    raise typer.Exit(1 if counts["failed"] else 0)


@audit_app.command("sample")
def audit_sample(
    run: Annotated[Path, typer.Argument(help="The folder of --output_path, or one file of samples.")],
    out: Annotated[Path, typer.Option(help="Folder for sheet.csv, for the annotators, and key.json, not for them.")],
    n: Annotated[int, typer.Option(min=1, help="Replies, spread evenly over models and cells.")] = 280,
    seed: Annotated[int, typer.Option(help="The same seed draws the same replies.")] = 0,
) -> None:
    """Draw replies for people to judge: a sheet that shows neither the model nor the judge's verdict, and its key."""
    from condchain_tasks.report.audit_sample import draw, write

    try:
        audit = draw(run, n, seed)
        write(audit, out)
    except (ValueError, OSError) as error:
        _fail(str(error))
    _out.print(
        f"{len(audit.items)} replies in {out / 'sheet.csv'}; left out: {audit.missing} without a verdict, "
        f"{audit.failed} failed, {audit.controls} of controls. Give each annotator a copy, and keep {out / 'key.json'}."
    )


@audit_app.command("score")
def audit_score(
    sheets: Annotated[list[Path], typer.Argument(help="One filled copy of sheet.csv for each annotator.")],
    key: Annotated[Path, typer.Option(help="The key.json that was written with the sheet.")],
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures here too.")] = None,
) -> None:
    """Compare annotators with each other and with the judge."""
    import json
    from dataclasses import asdict

    from condchain_tasks.report.audit_score import score
    from condchain_tasks.report.audit_tables import render

    try:
        agreement = score(sheets, key)
        if json_file:
            json_file.write_text(json.dumps(asdict(agreement), indent=2, allow_nan=False), encoding="utf-8")
    except (ValueError, OSError) as error:
        _fail(str(error))
    for table in render(agreement):
        _out.print(table)


@vrex_app.command("compare")
def vrex_compare(
    runs: Annotated[list[Path], typer.Argument(help="Folders of --output_path; of each model the newest run counts.")],
) -> None:
    """Compare models: abilities, gains, difficulty, shared failures, each beside the published figure."""
    from condchain_tasks.report.vrex_compare import compare, render

    try:
        comparison = compare(runs)
    except (ValueError, OSError) as error:
        _fail(str(error))
    for table in render(comparison):
        _out.print(table)


@synth_app.command("condchain")
def synth_condchain(
    out: Annotated[Path, typer.Option(help="Folder to write; must not exist or be empty.")],
    n: Annotated[int, typer.Option(min=1, help="Chains a domain.")] = 24,
    seed: Annotated[int, typer.Option(help="The same seed gives the same chains.")] = 0,
    domain: Annotated[list[Domain] | None, typer.Option(help="May be repeated; left out, all three.")] = None,
    depth: Annotated[str, typer.Option(help="Conditions a chain: MIN:MAX or one number, within 2 to 26.")] = "2:6",
    complexity: Annotated[Complexity | None, typer.Option(help="Of the predicates; left out, half and half.")] = None,
    contact_sheet: Annotated[bool, typer.Option("--contact-sheet", help="Pictures beside their facts.")] = False,
) -> None:
    """Draw scenes, build chains of conditions over their facts, and write them like MM-CondChain's own data."""
    from condchain_tasks.synth.dataset import write_dataset

    low, _, high = depth.partition(":")
    try:
        limits = int(low), int(high or low)
    except ValueError:
        _fail(f"--depth {depth}: expected MIN:MAX or one number, such as 2:6.")
    try:
        write_dataset(
            out,
            [d.value for d in domain or Domain],
            n=n,
            seed=seed,
            depth=limits,
            complexity=complexity.value if complexity else None,
            contact_sheet=contact_sheet,
        )
    except (ValueError, OSError) as error:
        _fail(str(error))
    _out.print(f"Wrote {n} chains a domain to {out}. Next: condchain verify {out}")


@synth_app.command("ccrv")
def synth_ccrv(
    out: Annotated[Path, typer.Option(help="Folder to write; must not exist or be empty.")],
    n: Annotated[int, typer.Option(min=1, max=10_000, help="Scenes, each of 8 questions in 5 forms.")] = 10,
    seed: Annotated[int, typer.Option(help="The same seed gives the same scenes.")] = 0,
    contact_sheet: Annotated[bool, typer.Option("--contact-sheet", help="Pictures beside their items.")] = False,
) -> None:
    """Draw scenes with known causes, and write questions about them like CCRV-Bench's own data."""
    from condchain_tasks.synth.causal import write_dataset

    try:
        write_dataset(out, n=n, seed=seed, contact_sheet=contact_sheet)
    except (ValueError, OSError) as error:
        _fail(str(error))
    _out.print(f"Wrote {n} scenes to {out}. Next: condchain verify {out}")


@synth_app.command("vrex")
def synth_vrex(
    out: Annotated[Path, typer.Option(help="Folder to write; must not exist or be empty.")],
    n: Annotated[int, typer.Option(min=1, max=10_000, help="Chains, evenly over the four categories.")] = 40,
    seed: Annotated[int, typer.Option(help="The same seed gives the same chains.")] = 0,
    contact_sheet: Annotated[bool, typer.Option("--contact-sheet", help="Pictures beside their chains.")] = False,
) -> None:
    """Draw scenes and write chains of questions about them, in the layout that the vrex tasks read."""
    from condchain_tasks.synth.vrex import write_dataset

    try:
        write_dataset(out, n=n, seed=seed, contact_sheet=contact_sheet)
    except (ValueError, OSError) as error:
        _fail(str(error))
    _out.print(f"Wrote {n} chains to {out}. Next: condchain verify {out}")


@app.command()
def verify(folder: Annotated[Path, typer.Argument(help="What `condchain synth` wrote.")]) -> None:
    """Check an embedded benchmark against its own facts, derived anew. Exit code 1 on faults."""
    faults, checked = _verified(folder)
    for fault in faults:
        _err.print(f"FAULT  {fault}")
    _out.print(f"{checked} checked, {len(faults)} faults")
    raise typer.Exit(1 if faults else 0)


def _verified(folder: Path) -> tuple[tuple[str, ...], str]:
    """Faults, and what was checked, in words."""
    if (folder / "facts" / "ccrv.json").is_file():
        from condchain_tasks.synth import causal_verify

        causal = causal_verify.verify_dataset(folder)
        return causal.faults, f"{causal.scenes} scenes with {causal.items} items"
    if (folder / "facts" / "vrex.json").is_file():
        from condchain_tasks.synth import vrex_verify

        chains = vrex_verify.verify_dataset(folder)
        return chains.faults, f"{chains.chains} chains with {chains.steps} steps"
    if not (folder / "facts").is_dir():
        return (f"{folder} is no embedded benchmark: `condchain synth` writes a folder facts into it.",), "nothing"
    from condchain_tasks.synth.verify import verify_dataset

    report = verify_dataset(folder)
    return report.faults, f"{report.chains} chains"


def _number(value: object) -> str:
    return f"{value:.4f}" if isinstance(value, (int, float)) else "N/A"


def _fail(message: str) -> NoReturn:
    _err.print(f"condchain: {message}")
    raise typer.Exit(2)
