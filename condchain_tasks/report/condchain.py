"""MM-CondChain in the report: who is right on both paths, where chains are left too late, and what stands in print."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from condchain_tasks.report import condchain_published as published
from condchain_tasks.report import estimates, families, intervals
from condchain_tasks.report.condchain_published import AVERAGE, PublishedModel
from condchain_tasks.report.condchain_replies import (
    EXITS,
    FINAL_QUESTION,
    OUTCOMES,
    PATHS,
    SOURCES,
    Replies,
    aligned,
    groups_of,
    rank,
    replies_of,
    together,
)
from condchain_tasks.report.estimates import Difference, Drawn
from condchain_tasks.report.evaluations import Evaluation, apart
from condchain_tasks.report.model import Cell, Chart, Section, Series, Table, Value

DOMAINS = ("natural", "chart", "gui")

_CHRONOLOGICAL = "gui_chrono"
_ALL = "all"
_TASK = re.compile(r"condchain_(natural|chart|gui|gui_chrono)(?:_mini)?")
_SAMPLING = "The published models ran at their providers' default sampling."
_PRINTED = (
    "The published rows are of the domain natural; in them depth 6, and complex, are that domain's path F1 in the "
    "paper's main table."
)
_SYNTHETIC = "The data is synthetic, drawn by this package: the figures are not those of MM-CondChain."
_NOTES = (
    "Path F1 is the harmonic mean of the accuracies on true and on false paths, by the official (strict) reading; a "
    "failed request counts as wrong.",
    "The domain all holds the replies of every domain together, each with the same weight.",
    f"Intervals are 95 % bootstrap intervals over pairs. {intervals.WITHOUT}",
)


def sections(evaluations: Sequence[Evaluation], compared: Collection[str] = ()) -> list[Section]:
    """The benchmark's sections.

    Args:
        evaluations: Of any benchmarks.
        compared: Labels, families or models that were named to be compared.

    Returns:
        One section for MM-CondChain itself and one for synthetic data, as far as there are runs of them.
    """
    by_extent = ((synthetic, chosen, _runs(chosen)) for synthetic, chosen in apart("condchain", evaluations))
    return [
        _section(runs, families.members(chosen, compared), synthetic) for synthetic, chosen, runs in by_extent if runs
    ]


@dataclass(frozen=True)
class _Run:
    """One label's replies, by domain."""

    label: str
    is_partial: bool
    domains: Mapping[str, Replies]

    @cached_property
    def parts(self) -> dict[str, Replies]:
        """Each of the three domains that ran, and all of them together if there are several."""
        parts = {domain: self.domains[domain] for domain in DOMAINS if domain in self.domains}
        return parts | ({_ALL: together(parts.values())} if len(parts) > 1 else {})

    @property
    def widest(self) -> str:
        """The part that has all replies but those to screenshots in the other order."""
        return next(reversed(self.parts), "")

    @cached_property
    def figures(self) -> dict[str, Value]:
        """Those of the leaderboard."""
        found: dict[str, Value] = {}
        for domain in DOMAINS:
            if domain in self.domains:
                of_domain = self.domains[domain].figures
                found |= {f"{domain} {name}": of_domain[name,] for name in ("true", "false", "F1")}
        if all(domain in self.domains for domain in DOMAINS):
            every = self.parts[_ALL]
            found[AVERAGE] = estimates.macro_path_f1(
                every.correct, every.is_true, every.domain, every.pair, every.flags
            )
        return found


def _runs(evaluations: Sequence[Evaluation]) -> list[_Run]:
    flags, partial = estimates.flags_by_task(evaluations), estimates.partial_labels(evaluations)
    found: dict[str, _Run] = {}
    for one in evaluations:
        if (match := _TASK.fullmatch(one.task)) and one.n:
            run = found.setdefault(one.label, _Run(one.label, one.label in partial, {}))
            replies = replies_of(one, match[1], flags[one.task][one.label])
            found[one.label] = replace(run, domains={**run.domains, match[1]: replies})
    return sorted(
        found.values(), key=lambda run: (run.is_partial, estimates.order(run.figures.get(AVERAGE)), run.label)
    )


def _section(runs: Sequence[_Run], members: Mapping[str, families.Member], synthetic: bool) -> Section:
    prefix = "condchain-mini" if synthetic else "condchain"
    shown = {run.label: members[run.label] for run in runs}  # in the order of the leaderboard
    paired = families.pairs(shown)
    compared = _comparisons({run.label: run for run in runs}, paired)
    drawn = [
        _leaderboard(prefix, runs, () if synthetic else published.main_results()),
        _by_depth(prefix, runs, () if synthetic else published.by_depth()),
        _by_layer(prefix, runs),
        _by_complexity(prefix, runs, () if synthetic else published.by_complexity()),
        _outcomes(prefix, runs),
        _exits(prefix, runs),
        _confusion(prefix, runs),
        _readings(prefix, runs),
        _sources(prefix, runs),
        _frame_orders(prefix, runs),
        (families.differences(f"{prefix}-differences", "Differences in path F1, points", compared, shown), ()),
        (families.spread(f"{prefix}-spread", "Runs of one model: spread of path F1", _path_f1(runs), members), ()),
    ]
    return estimates.section(
        prefix,
        "MM-CondChain, synthetic data" if synthetic else "MM-CondChain",
        (_SYNTHETIC,) * synthetic + _NOTES + families.not_compared(compared, paired),
        drawn,
    )


# --- leaderboard


def _leaderboard(prefix: str, runs: Sequence[_Run], papers: Sequence[PublishedModel]) -> Drawn:
    names = [AVERAGE] + [f"{domain} {measure}" for domain in DOMAINS for measure in ("true", "false", "F1")]
    partial = {run.label for run in runs if run.is_partial}
    rows: list[tuple[str, bool, dict[str, Value]]] = [(run.label, False, run.figures) for run in runs]
    rows += [(one.model, True, {name: Value(value) for name, value in one.figures.items()}) for one in papers]
    rows = [row for row in rows if row[1] or row[2]]
    rows.sort(key=lambda row: (not row[1] and row[0] in partial, estimates.order(row[2].get(AVERAGE))))
    identity = f"{prefix}-leaderboard"
    table = Table(
        id=identity,
        title="Leaderboard: average path F1, and accuracy on true and on false paths, %",
        columns=("model", *names),
        rows=tuple((name, *(figures.get(column) for column in names)) for name, _, figures in rows),
        published=frozenset(number for number, row in enumerate(rows) if row[1]),
        notes=("The average is over the three domains, each with the same weight; without one of them there is none.",)
        + (("Partial runs come last.",) if partial else ())
        + ((_SAMPLING,) if papers else ()),
    )
    return table, tuple(
        Chart(
            id=f"{identity}-{domain}",
            title=f"{domain}: accuracy on false paths against accuracy on true paths",
            kind="scatter",
            series=estimates.scatters(
                (name, paper, figures[f"{domain} true"], figures[f"{domain} false"])
                for name, paper, figures in rows
                if f"{domain} true" in figures
            ),
            x_title="accuracy on true paths, %",
            y_title="accuracy on false paths, %",
            table=identity,
            lines=((0, 0, 100, 100, "balance"),),
            regions=((82, 4, "goes on too readily"), (18, 96, "stops too readily")),
        )
        for domain in DOMAINS
        if any(not paper and f"{domain} true" in figures for _, paper, figures in rows)
    )


# --- by depth, layer, complexity


def _by_depth(prefix: str, runs: Sequence[_Run], papers: Sequence[PublishedModel]) -> Drawn:
    title = "Path F1 by depth (number of conditions), %"
    return _grouped(f"{prefix}-depth", title, "conditions", runs, "depth", papers)


def _by_complexity(prefix: str, runs: Sequence[_Run], papers: Sequence[PublishedModel]) -> Drawn:
    title = "Path F1 by complexity of the predicates, %"
    return _grouped(f"{prefix}-complexity", title, "complexity", runs, "complexity", papers)


def _by_layer(prefix: str, runs: Sequence[_Run]) -> Drawn:
    title = "Accuracy on false paths by the layer where they diverge, %"
    return _grouped(f"{prefix}-layer", title, "layer", runs, "layer")


def _grouped(
    identity: str,
    title: str,
    x_title: str,
    runs: Sequence[_Run],
    what: str,
    papers: Sequence[PublishedModel] = (),
) -> Drawn:
    """A row for each run and domain, a column for each group of replies."""
    parts = [(run.label, domain, replies) for run in runs for domain, replies in run.parts.items()]
    groups = {*groups_of((replies for *_, replies in parts), what), *(name for one in papers for name in one.figures)}
    order = sorted(groups, key=rank)
    rows = [(label, domain, [one.figures.get((what, group)) for group in order]) for label, domain, one in parts]
    printed = [(one.model, "natural", estimates.printed(one.figures, order)) for one in papers]
    cells = [(label, domain, *values) for label, domain, values in (*rows, *printed)]
    table = Table(
        id=identity,
        title=title,
        columns=("model", "domain", *order),
        rows=tuple(cells),
        published=estimates.last(rows, printed),
        notes=(_PRINTED,) if printed else (),
    )
    domains = [domain for _, domain, _ in rows]
    shown = "natural" if printed and "natural" in domains else _ALL if _ALL in domains else "".join(domains[:1])
    series = [
        estimates.points(label, order, values, published=of is printed)
        for of in (rows, printed)
        for label, domain, values in of
        if domain == shown
    ]
    named = f"{title.removesuffix(', %')}, {shown}"
    return table, (Chart(f"{identity}-chart", named, "line", tuple(series), x_title, "%", identity),)


# --- pairs and exits


def _outcomes(prefix: str, runs: Sequence[_Run]) -> Drawn:
    """How often both paths of a pair are right, one of them, or neither."""
    identity, title = f"{prefix}-outcomes", "Pairs by which of their two paths is right, %"
    rows: list[tuple[Cell, ...]] = [
        (run.label, domain, replies.figures["outcome", "neither"].n, *_of(replies, "outcome", OUTCOMES))
        for run in runs
        for domain, replies in run.parts.items()
    ]
    whole = {run.label: run.parts[run.widest].figures for run in runs if run.parts}
    series = [estimates.points(kind, whole, [of["outcome", kind] for of in whole.values()]) for kind in OUTCOMES]
    table = Table(identity, title, ("model", "domain", "pairs", *OUTCOMES), tuple(rows))
    return table, (Chart(f"{identity}-chart", title, "bar", tuple(series), "model", "%", identity),)


def _exits(prefix: str, runs: Sequence[_Run]) -> Drawn:
    """Where replies leave the chain, relative to where they should."""
    rows: list[tuple[Cell, ...]] = []
    series = []
    for run in runs:
        for domain, replies in run.parts.items():
            for path in PATHS:
                shares: list[Value | None] = [replies.figures["exit", path, kind] for kind in EXITS]
                if path == "true":  # the final question is where the chain should be left
                    shares[EXITS.index(FINAL_QUESTION)] = None
                elif domain == run.widest:
                    series.append(estimates.points(run.label, EXITS, shares))
                rows.append((run.label, domain, path, *shares))
    identity = f"{prefix}-exits"
    table = Table(
        id=identity,
        title="Where replies leave the chain, %",
        columns=("model", "domain", "path", *EXITS),
        rows=tuple(rows),
        notes=(
            "On a false path, the column final question is the share of chains that are gone through to their end "
            "although a condition fails: the model goes on too readily.",
            "A reply's letter names the layer whose question it answers, A the first.",
        ),
    )
    title = "Where replies leave the chain on false paths"
    return table, (Chart(f"{identity}-chart", title, "bar", tuple(series), "exit", "% of false paths", identity),)


def _confusion(prefix: str, runs: Sequence[_Run]) -> Drawn:
    """Where false paths should be left, against where they were."""
    whole = {run.label: run.parts[run.widest] for run in runs if run.parts}
    last = max((replies.last_layer for replies in whole.values()), default=0)
    exits = (*(str(layer) for layer in range(1, last + 1)), FINAL_QUESTION, "no layer")
    columns = tuple(f"layer {name}" if name.isdecimal() else name for name in exits)
    rows: list[tuple[Cell, ...]] = []
    series = []
    for label, replies in whole.items():
        layers = [str(layer) for layer in range(1, last + 1) if (str(layer), FINAL_QUESTION) in replies.left]
        shares = [[replies.left.get((layer, name)) for name in exits] for layer in layers]
        named = tuple(f"layer {layer}" for layer in layers)
        rows += [(label, layer, *of_layer) for layer, of_layer in zip(named, shares, strict=True)]
        z = tuple(tuple(None if one is None else one.value for one in of_layer) for of_layer in shares)
        series.append(Series(label, columns, named, z))
    identity = f"{prefix}-confusion"
    title = "False paths: where the chain should be left, against where it was left, %"
    table = Table(
        id=identity,
        title=title,
        columns=("model", "should be left at", *columns),
        rows=tuple(rows),
        notes=("All domains together. Each row adds up to 100.",),
    )
    chart = Chart(f"{identity}-chart", title, "heatmap", tuple(series), "left at", "should be left at", identity)
    return table, (chart,)


# --- readings


def _readings(prefix: str, runs: Sequence[_Run]) -> Drawn:
    shown = {
        "F1": "strict",
        "lenient F1": "lenient",
        "gain": "lenient - strict",
        "gained": "replies right by the lenient only",
    }
    rows: list[tuple[Cell, ...]] = [
        (run.label, domain, *(replies.figures[name,] for name in shown))
        for run in runs
        for domain, replies in run.parts.items()
    ]
    table = Table(
        id=f"{prefix}-readings",
        title="Strict and lenient reading: path F1, %",
        columns=("model", "domain", *shown.values()),
        rows=tuple(rows),
        notes=("Leaderboards use the strict reading; the lenient one also accepts \\boxed{f1} or \\boxed{F-1}.",),
    )
    return table, ()


def _sources(prefix: str, runs: Sequence[_Run]) -> Drawn:
    rows: list[tuple[Cell, ...]] = [
        (run.label, domain, *_of(replies, "source", SOURCES)) for run in runs for domain, replies in run.parts.items()
    ]
    table = Table(
        id=f"{prefix}-sources",
        title="What answers were read from, % of the replies",
        columns=("model", "domain", "box", "label in the text", "no answer", "request failed"),
        rows=tuple(rows),
    )
    return table, ()


def _frame_orders(prefix: str, runs: Sequence[_Run]) -> Drawn:
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        if _CHRONOLOGICAL in run.domains:
            by_time, by_name = run.domains[_CHRONOLOGICAL], run.domains.get("gui")
            figures = [by_time.figures[name,] for name in ("true", "false", "F1")]
            usual = change = None
            if by_name is not None:
                usual, change = by_name.figures["F1",], _difference(*aligned(by_time, by_name)).value
            rows.append((run.label, usual, *figures, change))
    columns = ("model", "by file name: F1", "by time: true", "by time: false", "by time: F1", "by time - by file name")
    table = Table(
        id=f"{prefix}-frames",
        title="gui: order of the screenshots, %",
        columns=columns,
        rows=tuple(rows),
        notes=("The published protocol orders screenshots by file name; only that counts for the leaderboard.",),
    )
    return table, ()


def _of(replies: Replies, what: str, kinds: Iterable[str]) -> list[Value]:
    return [replies.figures[what, kind] for kind in kinds]


# --- comparisons


def _comparisons(runs: Mapping[str, _Run], pairs: Iterable[tuple[str, str]]) -> list[families.Comparison]:
    found = []
    for a, b in pairs:
        both = [d for d in DOMAINS if d in runs[a].domains and d in runs[b].domains]
        common = {domain: aligned(runs[a].domains[domain], runs[b].domains[domain]) for domain in both}
        common = {domain: one for domain, one in common.items() if len(one[0].correct)}
        found += [families.Comparison(a, b, f"{domain} F1", _difference(*one)) for domain, one in common.items()]
        if len(common) == len(DOMAINS):
            one, other = (together(pair[place] for pair in common.values()) for place in (0, 1))
            average = intervals.compare_macro_path_f1(one.correct, other.correct, one.is_true, one.domain, one.pair)
            flags = estimates.joined((one.flags, other.flags))
            found.append(families.Comparison(a, b, f"{AVERAGE} F1", estimates.difference(average, flags)))
    return found


def _path_f1(runs: Sequence[_Run]) -> dict[str, dict[str, Value]]:
    """By label and domain."""
    return {run.label: {k: v for k, v in run.figures.items() if k.endswith((" F1", AVERAGE))} for run in runs}


def _difference(a: Replies, b: Replies) -> Difference:
    """Of path F1, on the same replies in the same order."""
    compared = intervals.compare_path_f1(a.correct, b.correct, a.is_true, a.pair)
    return estimates.difference(compared, estimates.joined((a.flags, b.flags)))
