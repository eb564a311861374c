"""The command `condchain`: thin, everything it does is a function elsewhere."""

from __future__ import annotations

import enum
import shlex
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from rich.table import Column, Table
from typer.core import TyperCommand, TyperGroup

from condchain_tasks import __version__
from condchain_tasks.terminal import STDOUT, stdout_for_json, take_any_text, write_json
from condchain_tasks.terminal import err as _err
from condchain_tasks.terminal import out as _out
from condchain_tasks.wording import counted

if TYPE_CHECKING:
    from condchain_tasks.report.selection import Selection
    from condchain_tasks.report.submit import Submission
    from condchain_tasks.rescore import Written

_HELP = (
    "Tasks, data and embedded benchmarks of multi-step visual reasoning for lmms-eval. lmms-eval runs the tasks. "
    "Its model condchain_sim, which comes with them, is no model: it looks the answers up, to prove a set-up and to "
    "measure chance, and its figures are no results."
)


class _Commands(TyperGroup):
    """Prints on any terminal, its help too."""

    def main(self, *arguments: Any, **more: Any) -> Any:
        take_any_text()
        return super().main(*arguments, **more)


app = typer.Typer(
    cls=_Commands,
    help=_HELP,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_SETUP, _BENCHMARKS, _RESULTS = "Before a run", "Benchmarks", "After a run"


def _examples(*commands: str) -> str:
    """What stands below a command's help: a line for each."""
    return "\n\n".join(("Example:" if len(commands) == 1 else "Examples:", *commands))


data_app = typer.Typer(
    help="Look at a benchmark's data.",
    no_args_is_help=True,
    epilog=_examples("condchain data check condchain /data/MM-CondChain"),
)
synth_app = typer.Typer(
    help="Make an embedded benchmark of any size, in the official layout.",
    no_args_is_help=True,
    epilog=_examples("condchain synth condchain --n 100 --out drawn", "condchain verify drawn"),
)
vrex_app = typer.Typer(
    help="V-REX across models.", no_args_is_help=True, epilog=_examples("condchain vrex compare results/")
)
audit_app = typer.Typer(
    help="Let people check the judge of a ccrv run.",
    no_args_is_help=True,
    epilog=_examples(
        "condchain audit sample results/ --n 280 --out audit", "condchain audit score a.csv b.csv --key audit/key.json"
    ),
)
submit_app = typer.Typer(
    help="Write a run as the file that a leaderboard takes.",
    no_args_is_help=True,
    epilog=_examples("condchain submit condchain results/model --out condchain.json"),
)


class _WritesByDefault(TyperGroup):
    """`condchain sweep plan.yaml` writes the sweep; only what is named is something else."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            args = ["write", *args]
        return super().parse_args(ctx, args)


class _FolderMayBeLeftOut(TyperCommand):
    """`--with-images` stands alone, or before a folder."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        spread = []
        for word, following in zip(args, [*args[1:], "-"], strict=True):
            spread += [word, ""] if word == "--with-images" and following.startswith("-") else [word]
        return super().parse_args(ctx, spread)


sweep_app = typer.Typer(
    cls=_WritesByDefault,
    help="Write what SLURM, a shell and lmms-eval run for a grid of models, tasks and settings. No scheduler: "
    "`condchain sweep plan.yaml` writes, `condchain sweep status plan.yaml` tells how far it is.",
    no_args_is_help=True,
    epilog=_examples("condchain sweep examples/sweeps/trial.yaml --out sweeps/trial"),
)
app.add_typer(data_app, name="data", rich_help_panel=_SETUP)
app.add_typer(sweep_app, name="sweep", rich_help_panel=_SETUP)
app.add_typer(synth_app, name="synth", rich_help_panel=_BENCHMARKS)
app.add_typer(audit_app, name="audit", rich_help_panel=_RESULTS)
app.add_typer(submit_app, name="submit", rich_help_panel=_RESULTS)
app.add_typer(vrex_app, name="vrex", rich_help_panel=_RESULTS)


def _print_version(wanted: bool) -> None:
    if wanted:
        _out.print(f"condchain-tasks {__version__}")
        raise typer.Exit


@app.callback(
    epilog=_examples("condchain doctor", 'condchain tasks "ccrv_x1*"', "condchain report results/ --out report.html")
)
def _start(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Nothing is common to the commands."""


def _json_file(context: typer.Context, file: Path | None) -> Path | None:
    """Refuses what could be a run's own file; where JSON goes to stdout, all else goes to stderr."""
    if file and file != STDOUT:
        _check_json(file, ())
    if file == STDOUT:
        context.with_resource(stdout_for_json())
    return file


JsonOption = Annotated[
    Path | None,
    typer.Option(
        "--json", callback=_json_file, help="Write it as JSON too, to this file; -: to stdout, and the rest to stderr."
    ),
]


RunOption = Annotated[
    str | None,
    typer.Option("--run", help="Which run: its date, as in its files' names, or its label, as reports print it."),
]


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


@app.command(
    rich_help_panel=_SETUP,
    epilog=_examples("condchain tasks", 'condchain tasks "vrex_*_mini"', "condchain tasks --tag ccrv_y1 --json -"),
)
def tasks(
    pattern: Annotated[
        str, typer.Argument(help="Only names like this, with * and ?; without them, names that hold this text.")
    ] = "*",
    tag: Annotated[str | None, typer.Option(help="Only tasks with this tag, such as ccrv_y1.")] = None,
    benchmark: Annotated[Benchmark | None, typer.Option(help="Only this benchmark's.")] = None,
    json_file: JsonOption = None,
) -> None:
    """List tasks: how large each is, where its data comes from, and whether that data is there."""
    from condchain_tasks.tasks.listing import listed

    found = listed(pattern, tag, benchmark.value if benchmark else None)
    if not found:
        _fail("no task is like that: `condchain tasks` lists all.")
    table = Table(
        *("task", Column("samples", justify="right"), Column("requests", justify="right"), "tags", "state"),
        Column("data", overflow="fold"),
        box=None,
        pad_edge=False,
    )
    for one in found:
        tags = ", ".join(one.tags) or ("group" if one.members else "")
        table.add_row(one.name, _count(one.samples), _count(one.requests), tags, one.state, one.source)
    _out.print(table)
    _out.print("Sizes are those of the published benchmarks; `condchain data check` counts what a folder holds.")
    _out.print("In V-REX every step of a chain is a request: 2 to 6 a sample.")
    _out.print("Run one: lmms-eval --model MODEL --model_args ... --tasks TASK")
    _write_json(json_file, found)


def _count(count: int | None) -> str:
    return "?" if count is None else f"{count:,}"


@app.command(
    rich_help_panel=_SETUP, epilog=_examples("condchain doctor", "condchain doctor --judge --json doctor.json")
)
def doctor(
    ask_judge: Annotated[
        bool, typer.Option("--judge", help="Ask the judge of ccrv tasks one tiny question, which may cost money.")
    ] = False,
    json_file: JsonOption = None,
) -> None:
    """Look at versions, variables, data, caches, judge and lmms-eval. Exit code 1 if something cannot work."""
    from condchain_tasks.doctor import examine

    findings = examine(ask_judge)
    table = Table("", "what", Column("found", overflow="fold"), box=None, pad_edge=False, show_header=False)
    for section in dict.fromkeys(one.section for one in findings):
        table.add_row("", section.upper(), "")
        for one in findings:
            if one.section == section:
                state = "" if one.state == "ok" else one.state.upper()
                table.add_row(state, f"  {one.name}", "\n".join(filter(None, (one.found, one.advice))))
    _out.print(table)
    errors = sum(one.state == "error" for one in findings)
    warnings = sum(one.state == "warning" for one in findings)
    _out.print(f"{counted(errors, 'error')}, {counted(warnings, 'warning')}")
    _write_json(json_file, findings)
    raise typer.Exit(1 if errors else 0)


@data_app.command(epilog=_examples("condchain data check condchain", "condchain data check vrex /data/vrex"))
def check(
    benchmark: Benchmark,
    folder: Annotated[Path | None, typer.Argument(help="The data; left out, what a run would use.")] = None,
    json_file: JsonOption = None,
) -> None:
    """Read a benchmark's data as a run would; list every fault and every oddity. Exit code 1 if there is a fault."""
    from dataclasses import asdict

    from condchain_tasks.data.benchmarks import BENCHMARKS
    from condchain_tasks.data.identity import origin
    from condchain_tasks.data.sources import known_folders

    data = BENCHMARKS[benchmark.value]
    found: dict[str, object] = {}
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
        holds = data.count(reading)
        size = data.size(reading)
        found[part] = {
            "holds": holds,
            "sha256": reading.sha256,
            "synthetic": reading.drawn,
            "largest": asdict(size),
            "faults": reading.faults,
            "oddities": reading.remarks,
        }
        for kind, places in reading.remarks.items():
            for place in places:
                _out.print(f"ODDITY {kind}: {place}")
        oddities = ", ".join(f"{kind}: {len(places):,}" for kind, places in reading.remarks.items()) or "no oddities"
        _out.print(f"{part}: {holds}, {counted(len(reading.faults), 'fault')}; {oddities}")
        if reading.rows:
            key = benchmark.value if part == benchmark.value else f"{benchmark.value}/{part}"
            _out.print(f"{part}: content {reading.sha256}, {origin(key, reading.sha256, reading.drawn)}")
            _out.print(f"{part}: largest request: {size}")
            for refusal in size.refusals():
                _out.print(f"NOTE   {part}: {refusal}.")
    for fault in faults:
        _err.print(f"FAULT  {fault}")
    used = [folder] if folder else known_folders()
    _write_json(json_file, {"parts": found, "faults": list(faults)}, (path for one in used for path in one.rglob("*")))
    raise typer.Exit(1 if faults else 0)


@app.command(rich_help_panel=_RESULTS, epilog=_examples("condchain judge results/", "condchain judge results/ --again"))
def judge(
    runs: Annotated[list[Path], typer.Argument(help="Folders of --output_path, files of samples or of results.")],
    again: Annotated[bool, typer.Option("--again", help="Judge anew what another judge has judged.")] = False,
    run: RunOption = None,
    json_file: JsonOption = None,
) -> None:
    """Add the verdicts that ccrv runs lack, from their sample logs and without inference. The old files stay."""
    from condchain_tasks.data.harness import RunNotPossible
    from condchain_tasks.tasks.ccrv.rejudge import rejudge

    try:
        done = rejudge(runs, again, run)
    except (ValueError, OSError, RunNotPossible) as error:
        _fail(str(error))
    _tell(done.selection)
    if not done.judged:
        _out.print("No verdict is missing.")
    for judged in done.judged:
        lack = "lacks" if judged.missing == 1 else "lack"
        asked = counted(judged.asked, "sample")
        _out.print(f"{asked} judged, {judged.missing:,} still {lack} a verdict: {judged.written.path}")
        _print_figures(judged.written)
    _write_json(json_file, done.judged)


@app.command(
    rich_help_panel=_RESULTS,
    epilog=_examples("condchain score results/", "condchain score results/ --run 20260101_120000"),
)
def score(
    runs: Annotated[list[Path], typer.Argument(help="Folders of --output_path, files of samples or of results.")],
    run: RunOption = None,
    json_file: JsonOption = None,
) -> None:
    """Score logged replies by today's rules: of --predict_only runs and of old ones. The old files stay."""
    from condchain_tasks.score import score as score_runs

    try:
        done = score_runs(runs, run)
    except (ValueError, OSError) as error:
        _fail(str(error))
    for remark in done.remarks:
        _err.print(f"NOTE  {remark}")
    for path, reason in done.passed_over:
        _err.print(f"PASSED OVER  {path}: {reason}")
    for written in done.written:
        _out.print(f"{counted(len(written.tasks), 'task')} scored: {written.path}")
        _print_figures(written)
    _write_json(json_file, done)


def _print_figures(written: Written) -> None:
    """What a run's tasks come to now, one table a task."""
    from condchain_tasks.report.settings import Results

    for name in written.tasks:
        table = Table("metric", Column("value", justify="right"), Column("stderr", justify="right"), title=name)
        figures = written.results["results"][name]
        for metric, value in sorted(figures.items()):
            metric, _, kind = metric.partition(",")
            if kind and not metric.startswith("paired_") and "_stderr" not in metric:
                table.add_row(metric, _number(value), _number(figures.get(f"{metric}_stderr_clustered,{kind}")))
        _out.print(table)
    try:
        said = Results(written.path)
        _tell_simulated(said.simulated(name) for name in written.tasks)
    except ValueError as error:  # the run's own metadata, which the new file takes over, is damaged
        _err.print(f"NOTE  {error}")


def _tell_simulated(found: Iterable[tuple[str, ...]]) -> None:
    """Says once what stood in for a model or a judge."""
    for sentence in dict.fromkeys(sentence for sentences in found for sentence in sentences):
        _err.print(f"NOTE  {sentence}")


@app.command(
    cls=_FolderMayBeLeftOut,
    rich_help_panel=_RESULTS,
    epilog=_examples("condchain report results/ --out report.html", "condchain report a/ b/ --format latex"),
)
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
    run: RunOption = None,
    intervals: Annotated[
        bool, typer.Option("--intervals", help="Put intervals beside the figures of LaTeX, as other formats have them.")
    ] = False,
    with_images: Annotated[
        list[str] | None,
        typer.Option(
            "--with-images",
            metavar="[FOLDER]",
            help="Put the items' pictures into the page: those in this folder (repeat it), in what CONDCHAIN_DATA, "
            "CCRV_DATA and VREX_DATA name, and in the embedded benchmarks; without a folder, in the latter alone.",
        ),
    ] = None,
) -> None:
    """Make one page of any number of runs. Exit code 1 if no run could be read."""
    from condchain_tasks.data.files import write_aside
    from condchain_tasks.report.build import build
    from condchain_tasks.report.evaluations import read_runs
    from condchain_tasks.report.latex import to_latex
    from condchain_tasks.report.outputs import check_output
    from condchain_tasks.report.page import outside, write_page
    from condchain_tasks.report.plain import to_csv, to_markdown
    from condchain_tasks.report.runs import logs_of

    form, out = _form_and_file(form, out)
    if intervals and form is not Format.latex:
        _fail("--intervals is for --format latex: in other formats figures have their intervals anyway.")
    try:
        check_output(out, logs_of(runs), _SUFFIXES[form])
        found = read_runs(runs, run)
        for problem in found.problems:
            if problem.severity == "error":
                _err.print(f"LEFT OUT  {problem.where}: {problem.text}")
        if not found.evaluations:
            for problem in found.problems:
                if problem.severity != "error":
                    _err.print(f"{problem.severity.upper()}  {problem.where}: {problem.text}")
            _err.print("condchain: no run of this package's tasks could be read.")
            raise typer.Exit(1)
        made = build(found, with_items=form is Format.html, compared=compare or ())
        for problem in made.problems[: len(made.problems) - len(found.problems)]:
            _err.print(f"ERROR  {problem.where}: {problem.text}")
        out.parent.mkdir(parents=True, exist_ok=True)
        if form is Format.html:
            folders = _folders_of_pictures(with_images)
            write_page(made, out, folders)
            if with_images and (linked := outside(made.items, folders)):
                pictures = counted(len(linked), "picture is", "pictures are")
                _err.print(f"NOTE  {pictures} linked only, such as {linked[0]}: name the folder behind --with-images.")
        elif form is Format.csv:
            to_csv(made, out)
        else:
            write_aside(out, to_markdown(made) if form is Format.md else to_latex(made, intervals), errors="replace")
    except (ValueError, OSError) as error:
        _fail(str(error))
    evaluations, remarks = counted(len(found.evaluations), "evaluation"), counted(len(made.problems), "remark")
    passed_over = f"; {counted(len(found.passed_over), 'log')} passed over, which it lists" if found.passed_over else ""
    _out.print(f"Wrote {out}: {evaluations}, {remarks} on their health{passed_over}.")


def _tell(selection: Selection) -> None:
    """Says what was chosen against: what is no run, what is wrong with logs, and which do not count."""
    for problem in selection.problems:
        _err.print(f"{problem.severity.upper()}  {problem.where}: {problem.text}")
    for one in selection.passed_over:
        _err.print(f"PASSED OVER  {one.path}: {one.reason}.")


def _folders_of_pictures(named: list[str] | None) -> list[Path]:
    """The folders whose pictures may be in a page; none if none are wanted."""
    from condchain_tasks.data.sources import known_folders

    if not named:
        return []
    folders = [Path(folder) for folder in named if folder]
    if lacking := next((folder for folder in folders if not folder.is_dir()), None):
        _fail(f"--with-images {lacking}: there is no such folder.")
    return [*folders, *known_folders()]


def _form_and_file(form: Format | None, out: Path | None) -> tuple[Format, Path]:
    """What to write, and where; each says the other if it is left out."""
    if out and not form:
        form = _ENDINGS.get(out.suffix.lower())
        if not form and not out.is_dir():
            _fail(f"--out {out}: expected a name that ends in .html, .md or .tex, or a folder and --format csv.")
    form = form or Format.html
    out = out or Path("report").with_suffix(_SUFFIXES[form])
    if form is not Format.csv and out.is_dir():
        _fail(f"--out {out} is a folder: name a file in it, such as {out / 'report'}{_SUFFIXES[form]}.")
    if form is Format.csv and (out.suffix.lower() in (".csv", *_ENDINGS) or (out.exists() and not out.is_dir())):
        _fail(f"--out {out} is a file: csv needs a folder, for a file for each table.")
    return form, out


_SUFFIXES = {Format.html: ".html", Format.md: ".md", Format.csv: "", Format.latex: ".tex"}
_ENDINGS = {suffix: form for form, suffix in _SUFFIXES.items() if suffix}
_RunArgument = Annotated[
    Path,
    typer.Argument(metavar="RUN", help="The folder of --output_path of one model, or a file of results or samples."),
]
_ChoiceOption = Annotated[
    str | None,
    typer.Option(help="Which run, by its date or its label in the report; left out, the newest that is whole."),
]
_SyntheticOption = Annotated[
    bool, typer.Option("--synthetic", help="Write it although the data was drawn or the model or judge is simulated.")
]
_OutOption = Annotated[Path, typer.Option(help="The file to write; a manifest is written beside it.")]
_IncompleteOption = Annotated[bool, typer.Option("--incomplete", help="Write it although something is missing.")]


@submit_app.command("condchain", epilog=_examples("condchain submit condchain results/model --out condchain.json"))
def submit_condchain(
    path: _RunArgument,
    out: _OutOption,
    run: _ChoiceOption = None,
    incomplete: _IncompleteOption = False,
    synthetic: _SyntheticOption = False,
    json_file: JsonOption = None,
) -> None:
    """Write the official result format of MM-CondChain, and print what its scorer will compute from it."""
    from condchain_tasks.report import submit_condchain as benchmark

    options: dict[str, Any] = {"run": run, "incomplete": incomplete, "synthetic": synthetic}
    _submit(lambda: benchmark.submit_condchain(path, out, **options), out, json_file)


@submit_app.command("ccrv", epilog=_examples("condchain submit ccrv results/model --out ccrv.json"))
def submit_ccrv(
    path: _RunArgument,
    out: _OutOption,
    run: _ChoiceOption = None,
    incomplete: _IncompleteOption = False,
    synthetic: _SyntheticOption = False,
    json_file: JsonOption = None,
) -> None:
    """Write the verdicts on every item of CCRV-Bench, and print what they come to."""
    from condchain_tasks.report import submit_ccrv as benchmark

    options: dict[str, Any] = {"run": run, "incomplete": incomplete, "synthetic": synthetic}
    _submit(lambda: benchmark.submit_ccrv(path, out, **options), out, json_file)


@submit_app.command("vrex", epilog=_examples("condchain submit vrex results/model --out vrex.json"))
def submit_vrex(
    path: _RunArgument,
    out: _OutOption,
    run: _ChoiceOption = None,
    incomplete: _IncompleteOption = False,
    synthetic: _SyntheticOption = False,
    json_file: JsonOption = None,
) -> None:
    """Write the choices in every chain of V-REX, and print what they come to."""
    from condchain_tasks.report import submit_vrex as benchmark

    options: dict[str, Any] = {"run": run, "incomplete": incomplete, "synthetic": synthetic}
    _submit(lambda: benchmark.submit_vrex(path, out, **options), out, json_file)


def _submit(write: Callable[[], Submission], out: Path, json_file: Path | None) -> None:
    from condchain_tasks.report.submit import MANIFEST_SUFFIX

    if json_file and json_file.resolve() in (out.resolve(), out.resolve().with_name(out.name + MANIFEST_SUFFIX)):
        _fail(f"--json {json_file} is the submission or its manifest: name another file.")
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
    _out.print(f"Wrote {counted(done.items, 'entry', 'entries')} to {done.file}, and {done.manifest.name} beside it.")
    _write_json(json_file, done)


_PlanArgument = Annotated[Path, typer.Argument(help="The plan; see examples/sweeps.")]
_SweepOption = Annotated[Path | None, typer.Option("--out", help="Its folder; left out, beside the plan, by its name.")]


@sweep_app.command("write", epilog=_examples("condchain sweep examples/sweeps/trial.yaml --out sweeps/trial"))
def sweep_write(plan: _PlanArgument, out: _SweepOption = None) -> None:
    """Write the scripts and configurations of a sweep; the same plan gives the same files."""
    from condchain_tasks.sweep.names import check_names
    from condchain_tasks.sweep.plan import read_plan
    from condchain_tasks.sweep.write import write_sweep

    try:
        what = read_plan(plan)
        check_names(what, plan)
        written = write_sweep(what, out or plan.with_suffix(""), plan)
    except (ValueError, OSError) as error:
        _fail(str(error))
    _out.print(f"{counted(written.cells, 'cell')}. On this machine: bash {written.shell}")
    for script in written.slurm:
        _out.print(f"With SLURM: sbatch {script}")
    for variable, folder in written.absent:
        _err.print(f"Warning: {variable} names {folder}, which is no folder on this machine.")
    status = ["condchain", "sweep", "status", str(plan), *(["--out", str(out)] if out else [])]
    _out.print(f"How far it is: {shlex.join(status)}")


@sweep_app.command("status", epilog=_examples("condchain sweep status examples/sweeps/trial.yaml --out sweeps/trial"))
def sweep_status(plan: _PlanArgument, out: _SweepOption = None, json_file: JsonOption = None) -> None:
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
    _write_json(json_file, cells, [plan])
    raise typer.Exit(1 if counts["failed"] else 0)


@audit_app.command("sample", epilog=_examples("condchain audit sample results/ --n 280 --out audit"))
def audit_sample(
    runs: Annotated[list[Path], typer.Argument(help="Folders of --output_path, or files of results or samples.")],
    out: Annotated[Path, typer.Option(help="Folder for sheet.csv, for the annotators, and key.json, not for them.")],
    n: Annotated[int, typer.Option(min=1, help="Replies, spread evenly over runs and cells.")] = 280,
    seed: Annotated[int, typer.Option(help="The same seed draws the same replies.")] = 0,
    run: RunOption = None,
) -> None:
    """Draw replies for people to judge: a sheet that shows neither the model nor the judge's verdict, and its key."""
    from condchain_tasks.report.audit_sample import draw, write
    from condchain_tasks.report.selection import select

    try:
        selection = select(runs, benchmark="ccrv", run=run)
        _tell(selection)
        _tell_simulated(one.log.simulated for one in selection.chosen)
        audit = draw(selection, n, seed)
        write(audit, out)
    except (ValueError, OSError) as error:
        _fail(str(error))
    replies = counted(len(audit.items), "reply", "replies")
    left_out = f"{audit.missing:,} without a verdict, {audit.failed:,} failed, {audit.controls:,} of controls"
    _out.print(f"{replies} in {out / 'sheet.csv'}; left out: {left_out}.")
    _out.print(f"Give each annotator a copy, and keep {out / 'key.json'}.")


@audit_app.command("score", epilog=_examples("condchain audit score a.csv b.csv --key audit/key.json"))
def audit_score(
    sheets: Annotated[list[Path], typer.Argument(help="One filled copy of sheet.csv for each annotator.")],
    key: Annotated[Path, typer.Option(help="The key.json that was written with the sheet.")],
    json_file: JsonOption = None,
) -> None:
    """Compare annotators with each other and with the judge."""
    from condchain_tasks.report.audit_score import score
    from condchain_tasks.report.audit_tables import render

    try:
        agreement = score(sheets, key)
    except (ValueError, OSError) as error:
        _fail(str(error))
    for table in render(agreement):
        _out.print(table)
    _write_json(json_file, agreement, [*sheets, key])


@vrex_app.command("compare", epilog=_examples("condchain vrex compare results/ --json compared.json"))
def vrex_compare(
    runs: Annotated[list[Path], typer.Argument(help="Folders of --output_path, or files of results or samples.")],
    run: RunOption = None,
    json_file: JsonOption = None,
) -> None:
    """Compare models: abilities, gains, difficulty, shared failures, each beside the published figure."""
    from condchain_tasks.report.runs import logs_of
    from condchain_tasks.report.selection import select
    from condchain_tasks.report.vrex_compare import compare, render

    try:
        selection = select(runs, benchmark="vrex", run=run)
        _tell(selection)
        comparison = compare(selection)
    except (ValueError, OSError) as error:
        _fail(str(error))
    for table in render(comparison):
        _out.print(table)
    _write_json(json_file, comparison, logs_of(runs))


@synth_app.command(
    "condchain", epilog=_examples("condchain synth condchain --domain gui --n 50 --depth 2:6 --seed 7 --out drawn")
)
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
    _out.print(f"Wrote {counted(n, 'chain')} a domain to {out}. Next: condchain verify {out}")


@synth_app.command("ccrv", epilog=_examples("condchain synth ccrv --n 20 --seed 7 --out drawn --contact-sheet"))
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
    _out.print(f"Wrote {counted(n, 'scene')} to {out}. Next: condchain verify {out}")


@synth_app.command("vrex", epilog=_examples("condchain synth vrex --n 100 --seed 7 --out drawn"))
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
    _out.print(f"Wrote {counted(n, 'chain')} to {out}. Next: condchain verify {out}")


@app.command(rich_help_panel=_BENCHMARKS, epilog=_examples("condchain verify drawn"))
def verify(
    folder: Annotated[Path, typer.Argument(help="What `condchain synth` wrote.")], json_file: JsonOption = None
) -> None:
    """Check an embedded benchmark against its own facts, derived anew. Exit code 1 on faults."""
    faults, checked = _verified(folder)
    for fault in faults:
        _err.print(f"FAULT  {fault}")
    _out.print(f"{checked} checked, {counted(len(faults), 'fault')}")
    _write_json(json_file, {"folder": folder, "checked": checked, "faults": faults}, folder.rglob("*"))
    raise typer.Exit(1 if faults else 0)


def _verified(folder: Path) -> tuple[tuple[str, ...], str]:
    """Faults, and what was checked, in words."""
    if (folder / "facts" / "ccrv.json").is_file():
        from condchain_tasks.synth import causal_verify

        causal = causal_verify.verify_dataset(folder)
        return causal.faults, f"{counted(causal.scenes, 'scene')} with {counted(causal.items, 'item')}"
    if (folder / "facts" / "vrex.json").is_file():
        from condchain_tasks.synth import vrex_verify

        chains = vrex_verify.verify_dataset(folder)
        return chains.faults, f"{counted(chains.chains, 'chain')} with {counted(chains.steps, 'step')}"
    if not (folder / "facts").is_dir():
        return (f"{folder} is no embedded benchmark: `condchain synth` writes a folder facts into it.",), "nothing"
    from condchain_tasks.synth.verify import verify_dataset

    report = verify_dataset(folder)
    return report.faults, counted(report.chains, "chain")


def _number(value: object) -> str:
    """A count as it is, a figure with four digits."""
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4f}" if isinstance(value, float) else "N/A"


def _write_json(file: Path | None, value: object, read: Iterable[Path] = ()) -> None:
    """Writes JSON if it is wanted, and not over what was read."""
    if file:
        try:
            if file != STDOUT:
                _check_json(file, read)
            write_json(file, value)
        except OSError as error:
            _fail(str(error))


def _check_json(file: Path, read: Iterable[Path]) -> None:
    from condchain_tasks.report.outputs import check_output

    try:
        check_output(file, read, ".json")
    except ValueError as error:
        _fail(f"--json {error}")


def _fail(message: str) -> NoReturn:
    _err.print(f"condchain: {message}")
    raise typer.Exit(2)
