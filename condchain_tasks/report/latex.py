"""A report's tables for papers: one table a claim, narrow, the best figures in bold, every text escaped."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from condchain_tasks.report.model import Cell, Report, Section, Table, Value
from condchain_tasks.report.plain import NOTHING, flag_marks, interval, is_numeric, number, one_line

MAX_ROWS = 40
"""Of longer tables each domain or mode, which the second column names, becomes a table of its own."""

_CLAIMS: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "condchain-leaderboard": (
        ("path F1", ("average", "natural F1", "chart F1", "gui F1")),
        (
            "accuracy by path",
            ("natural true", "natural false", "chart true", "chart false", "gui true", "gui false"),
        ),
    ),
    "ccrv-overview": (
        ("baseline", ("baseline l1'", "baseline l2'", "baseline l3'", "baseline DCR, all")),
        ("under constraints", ("l1'", "l2'", "l3'", "DCR")),
        ("constraints kept", ("CSR", "eDCR", "DCR if kept")),
        ("cost of constraints", ("baseline DCR", "CDI", "eCDI")),
    ),
    "ccrv-by-x": (
        ("cost of constraints", ("baseline DCR", "DCR", "CDI")),
        ("constraints kept", ("CSR", "eDCR", "eCDI")),
    ),
    "ccrv-by-y": (
        ("cost of constraints", ("baseline DCR", "DCR", "CDI")),
        ("constraints kept", ("CSR", "CSR, pixels only", "eDCR", "DCR if kept", "eCDI")),
    ),
    "vrex-leaderboard": (
        ("abilities", ("planning ability", "following ability", "following / planning")),
        ("final question", ("direct accuracy", "planning accuracy", "following accuracy")),
    ),
}
"""By a table's id without "-mini": captions and columns of the tables that it becomes beside those of text."""

_RANKED = {
    "condchain": ("leaderboard", "depth", "layer", "complexity"),
    "ccrv": ("overview", "by-x", "by-y", "dcr", "csr", "edcr", "ecdi"),
    "vrex": ("leaderboard", "ability", "accuracy", "gain", "recovery", "wrong-steps", "steps"),
}
_LOW_IS_GOOD = frozenset({"CDI", "eCDI"})
_LOW_TABLES = frozenset({"ccrv-ecdi"})

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    "-": r"{-}",  # two would be a dash
    "[": r"{[}",  # after a line's end it would be an optional argument
    "*": r"{*}",
    "−": "$-$",
    "–": r"\textendash{}",
    "…": r"\ldots{}",
    "×": r"$\times$",
    "Δ": r"$\Delta$",
    "≥": r"$\ge$",
    "≤": r"$\le$",
}


def to_latex(report: Report, intervals: bool = False) -> str:
    r"""Writes a report's tables as floats, to be read by `\input`.

    They need the package booktabs, and no engine but one that reads UTF-8. Names in scripts that the document's font
    lacks need XeLaTeX or LuaLaTeX and a font that has them. A wide table becomes one a claim, such as path F1, and
    accuracy by path; the label is `tab:` and the table's id, with a number behind it where there are several. In what
    ranks models, the best figure of a column is bold, and all that are printed the same; one that is flagged never is.

    Args:
        report: What to write.
        intervals: Whether figures have their 95 % intervals beside them.

    Returns:
        The text.
    """
    parts = [f"% {one_line(report.title)}", r"% \usepackage{booktabs}"]
    for section in report.sections:
        parts.append(f"% {one_line(section.title)}")
        for table in section.tables:
            claims = [claim for one in _claims(table) for claim in _shortened(one)]
            numbered = len(claims) > 1
            parts += [
                _float(section, claim, f"{table.id}-{place}" if numbered else table.id, intervals)
                for place, claim in enumerate(claims, start=1)
            ]
    return "\n\n".join(parts) + "\n"


@dataclass(frozen=True)
class _Claim:
    """A table of a paper: what of a report's table it shows."""

    table: Table
    caption: str
    best: frozenset[tuple[int, int]]


def _claims(table: Table) -> Iterator[_Claim]:
    best = _best(table)
    texts = [place for place in range(len(table.columns)) if place == 0 or not is_numeric(table, place)]
    left = [place for place in range(len(table.columns)) if place not in texts]
    listed = []
    for caption, names in _CLAIMS.get(table.id.replace("-mini", ""), ()):
        places = [place for place in range(len(table.columns)) if table.columns[place] in names]
        listed.append((caption, places))
        left = [place for place in left if place not in places]
    if not listed or left:
        listed.append(("", left))
    for caption, places in listed:
        shown = sorted({*places, *(place for place in texts if table.columns[place] not in _claimed(table))})
        if places or not caption:
            yield _columns(table, shown, caption, best)


def _claimed(table: Table) -> set[str]:
    return {name for _, names in _CLAIMS.get(table.id.replace("-mini", ""), ()) for name in names}


def _columns(table: Table, places: Sequence[int], caption: str, best: frozenset[tuple[int, int]]) -> _Claim:
    """Some columns, without rows that have nothing in them."""
    kept = [
        number
        for number, row in enumerate(table.rows)
        if any(not isinstance(row[place], str) and _is_there(row[place]) for place in places)
        or all(isinstance(row[place], str) for place in places)
    ]
    return _rows(table, places, kept, caption, best)


def _rows(
    table: Table, places: Sequence[int], kept: Sequence[int], caption: str, best: frozenset[tuple[int, int]]
) -> _Claim:
    made = replace(
        table,
        columns=tuple(table.columns[place] for place in places),
        rows=tuple(tuple(table.rows[number][place] for place in places) for number in kept),
        published=frozenset(at for at, number in enumerate(kept) if number in table.published),
    )
    marked = ((at, to) for at, number in enumerate(kept) for to, place in enumerate(places) if (number, place) in best)
    return _Claim(made, caption, frozenset(marked))


def _shortened(claim: _Claim) -> Iterator[_Claim]:
    """A long table by what its second column names."""
    table = claim.table
    if len(table.rows) <= MAX_ROWS or len(table.columns) < 3 or is_numeric(table, 1):
        yield claim
        return
    places = [place for place in range(len(table.columns)) if place != 1]
    for name in dict.fromkeys(row[1] for row in table.rows):
        kept = [number for number, row in enumerate(table.rows) if row[1] == name]
        caption = ", ".join(part for part in (claim.caption, str(name)) if part)
        yield _rows(table, places, kept, caption, claim.best)


def _is_there(cell: Cell) -> bool:
    return cell is not None and not (isinstance(cell, Value) and number(cell.value) == NOTHING)


def _best(table: Table) -> frozenset[tuple[int, int]]:
    """Rows and columns of the best figures, among rows that say the same but for the first column."""
    name = table.id.replace("-mini", "")
    benchmark, _, what = name.partition("-")
    if what not in _RANKED.get(benchmark, ()):
        return frozenset()
    groups: defaultdict[tuple[Cell, ...], list[int]] = defaultdict(list)
    for at, row in enumerate(table.rows):
        groups[tuple(cell for cell in row[1:] if isinstance(cell, str))].append(at)
    found = set()
    for members in groups.values():
        for place, column in enumerate(table.columns):
            values = {
                at: float(number(value).replace("−", "-")) for at in members if (value := _sound(table, at, place))
            }
            if len(values) > 1:
                low = column in _LOW_IS_GOOD or name in _LOW_TABLES
                first = min(values.values()) if low else max(values.values())
                found |= {(at, place) for at, value in values.items() if value == first}
    return frozenset(found)


def _sound(table: Table, row: int, place: int) -> float | None:
    cell = table.rows[row][place]
    return cell.value if isinstance(cell, Value) and not cell.flags and number(cell.value) != NOTHING else None


def _float(section: Section, claim: _Claim, name: str, intervals: bool) -> str:
    table, marks = claim.table, flag_marks(claim.table)
    form = "".join("r" if is_numeric(table, place) else "l" for place in range(len(table.columns)))
    caption = f"{section.title}: {table.title}" + (f" ({claim.caption})" if claim.caption else "")
    body = []
    for at, row in enumerate(table.rows):
        if at and (at in table.published) != (at - 1 in table.published):
            body.append(r"\midrule")
        cells = [_cell(cell, marks, intervals, (at, place) in claim.best) for place, cell in enumerate(row)]
        cells[0] += r"\textsuperscript{\dag}" if at in table.published else ""
        body.append(f"{' & '.join(cells)} \\\\")
    notes = [*map(_escaped, table.notes), *(f"({mark}) {_escaped(flag)}" for flag, mark in marks.items())]
    notes += [r"\dag{} As published."] if table.published else []
    notes += [r"In brackets: 95\,\% intervals."] if intervals and any(map(_has_interval, _values(table))) else []
    notes += [_of_n(table)] if any(value.n is not None for value in _values(table)) else []
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_escaped(caption)}}}",
        rf"\label{{tab:{''.join(c for c in name if c.isascii() and (c.isalnum() or c == '-'))}}}",
        rf"\begin{{tabular}}{{{form}}}",
        r"\toprule",
        f"{' & '.join(map(_escaped, table.columns))} \\\\",
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
        *(rf"\par\footnotesize {note}" for note in notes),
        r"\end{table}",
    ]
    return "\n".join(lines)


def _values(table: Table) -> Iterator[Value]:
    return (cell for row in table.rows for cell in row if isinstance(cell, Value))


def _has_interval(value: Value) -> bool:
    return bool(interval(value.low, value.high))


def _of_n(table: Table) -> str:
    """What figures are averages over; in the cells it would take more room than they do."""
    sizes = sorted({value.n for value in _values(table) if value.n is not None})
    return f"n = {sizes[0]:,}." if len(sizes) == 1 else f"n = {sizes[0]:,} to {sizes[-1]:,}, by row and column."


def _cell(cell: Cell, marks: dict[str, str], intervals: bool, best: bool) -> str:
    if cell is None:
        return _escaped(NOTHING)
    if isinstance(cell, int):
        return f"{cell:,}"
    if isinstance(cell, str):
        return _escaped(cell)
    text = _escaped(number(cell.value))
    text = rf"\textbf{{{text}}}" if best else text
    if text != _escaped(NOTHING) and intervals and _has_interval(cell):
        text += rf" {{\scriptsize {_escaped(interval(cell.low, cell.high))}}}"
    flags = ", ".join(marks[flag] for flag in cell.flags)
    return text + (rf"\textsuperscript{{{flags}}}" if flags else "")


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(c, c) for c in one_line(text))
