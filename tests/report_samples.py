"""Reports made by hand: a small one with everything, one with hostile texts, one with as many items as there may be."""

from __future__ import annotations

import random
from pathlib import Path

from PIL import Image, ImageDraw

from condchain_tasks.report.model import Chart, Item, Problem, Report, Section, Series, Table, Value

HOSTILE = (
    "<script>document.title = 'owned'</script>",
    "</script><script>document.title = 'owned'</script>",
    "<!--<script>",
    "<img src=x onerror=\"document.title='owned'\">",
    '"><svg onload="document.title=\'owned\'">',
    "{{ 7 * 7 }} {% raw %}",
    "<a href='javascript:document.title=1'>go</a>",
    '=HYPERLINK("http://example.org")',
    "a|b `c` [d](http://example.org) \\input{secret} $x_1^2$ 100 % & # ~",
    "\u202eright to left\u2066 \ud800 \x00 \x1b[31m",
    "$\\unicode{x}$ %{x} <b>bold</b>",
)
LIMITED = "Of 120 samples, as --limit was given."
OTHER_PROMPT = "The prompt differs from that of the other rows."


def small(folder: Path) -> Report:
    """A report of three sections, all kinds of charts, published rows, flags, problems and a few items.

    Args:
        folder: Where a picture is made for the items.
    """
    picture = folder / "scene.png"
    image = Image.new("RGB", (1200, 800), "#dfe7f2")
    ImageDraw.Draw(image).ellipse((300, 200, 800, 600), fill="#3f6fb5")
    image.save(picture)
    return Report(
        title="Two models on three benchmarks",
        problems=(
            Problem("error", "runs/b/1_samples_condchain_gui.jsonl", "Line 310 is cut off; the task is left out."),
            Problem(
                "warning", "tiny-vl, condchain_chart", "12 replies were cut off; they could move F1 by 2.1 points."
            ),
            Problem("warning", "tiny-vl, ccrv", "4 verdicts are missing."),
            Problem("note", "runs/a", "An older run of large-vl is not shown."),
        ),
        sections=(_condchain(), _ccrv(), _vrex()),
        items=tuple(_items(200, str(picture))),
        left_out_items=1_234,
        provenance=(
            Table(
                "runs",
                "Runs",
                ("Model", "Task", "Run", "Data"),
                (
                    ("large-vl", "condchain", "runs/a/large-vl/20260101_samples_condchain_natural.jsonl", "9f2c" * 16),
                    ("tiny-vl", "condchain", "runs/b/tiny-vl/20260102_samples_condchain_natural.jsonl", "9f2c" * 16),
                ),
            ),
        ),
    )


def hostile() -> Report:
    """A report in which every text attacks a format, by `HOSTILE`."""
    texts = HOSTILE
    value = Value(50.0, 40.0, 60.0, 10, texts)
    table = Table(
        "hostile",
        texts[0],
        (texts[1], texts[2], texts[9]),
        tuple((text, value, text) for text in texts),
        frozenset({0}),
        texts,
    )
    series = tuple(Series(text, (1.0, 2.0), (3.0, 4.0), text=(text, text)) for text in texts)
    bars = Series(texts[6], texts, (1.0,) * len(texts), text=texts)
    some = texts[:4]
    cells = Series(texts[3], some, some, ((1.0,) * 4,) * 4, text=some)
    lines, regions = ((0.0, 0.0, 5.0, 5.0, texts[6]),), ((1.0, 2.0, texts[3]),)
    charts = (
        Chart("scatter", texts[4], "scatter", series, texts[0], texts[6], "hostile", lines, regions),
        Chart("bars", texts[3], "bar", (bars,), "x", "y", "hostile"),
        Chart("heat", texts[5], "heatmap", (cells, cells), texts[0], texts[3], "hostile"),
    )
    items = tuple(
        Item(
            text,
            text,
            text,
            (True, False, None)[place % 3],
            {texts[0]: text, "path": "false", "__proto__": text, "constructor": "x"},
            ("", "//elsewhere/share/a.png", "/nowhere/<b>.png")[place % 3],
            text,
            text,
            ((text, text),),
        )
        for place, text in enumerate(texts)
    )
    problems = tuple(Problem("error", text, text) for text in texts)
    provenance = (Table("where", texts[0], (texts[1],), tuple((text,) for text in texts)),)
    return Report(texts[0], problems, (Section("hostile", texts[1], texts, (table,), charts),), items, 0, provenance)


def large(n: int = 20_000) -> Report:
    """A report of thirty models with `n` items of about 1,600 characters, most of them in instructions."""
    rng = random.Random(0)
    return Report(
        "Thirty models",
        sections=(_condchain(30), _ccrv(30), _vrex()),
        items=tuple(_items(n, "", 30, " ".join(rng.choices(_WORDS, k=180)))),
    )


_WORDS = ("if", "the", "red", "square", "left", "of", "button", "axis", "then", "otherwise", "look", "at", "number")


def _items(n: int, picture: str, models: int = 2, filler: str = "") -> list[Item]:
    rng = random.Random(1)
    items = []
    for place in range(n):
        sample, model = divmod(place, models)
        right = rng.random() < 0.6
        domain = ("natural", "chart", "gui")[sample % 3]
        reply = f"{' '.join(rng.choices(_WORDS, k=60))}\nThe answer is \\boxed{{{'AB'[right]}1}}."
        items.append(
            Item(
                f"model-{model:02}" if models > 2 else ("large-vl", "tiny-vl")[model],
                f"condchain_{domain}",
                f"{domain}-{sample:05}/{'true' if sample % 2 else 'false'}",
                None if place % 50 == 49 else right,
                {"path": "true" if sample % 2 else "false"} | ({"screen": "dark"} if domain == "gui" else {}),
                picture,
                f"Sample {sample}. If the circle is blue, look at the axis, otherwise stop. {filler}",
                reply,
                (("Gold", "B1"), ("Read", f"{'AB'[right]}1 (boxed)"), ("Diverges at layer", str(1 + sample % 4))),
            )
        )
    return items


def _value(rng: random.Random, flags: tuple[str, ...] = ()) -> Value:
    value = rng.uniform(20, 90)
    return Value(value, value - 3.1, value + 3.2, 975, flags)


def _condchain(models: int = 2) -> Section:
    rng = random.Random(2)
    names = [f"model-{place:02}" for place in range(models)] if models > 2 else ["large-vl", "tiny-vl"]
    rows = [
        (name, *(_value(rng, (LIMITED, OTHER_PROMPT)[: place % 3]) for _ in range(4)), None)
        for place, name in enumerate(names)
    ]
    rows += [
        (
            "A published model with a very long name-72B-Instruct",
            *(Value(one) for one in (60.4, 38.0, 53.0, 50.5)),
            12,
        ),
        ("Another one", Value(55.0), Value(40.2), Value(None), Value(47.1), 3),
    ]
    leaderboard = Table(
        "condchain-leaderboard",
        "Path F1 by domain",
        ("Model", "Natural", "Chart", "GUI", "Average", "Rank"),
        tuple(rows),
        frozenset({models, models + 1}),
        ("Averages are macro averages over the domains.",),
    )
    points = [(rng.uniform(30, 95), rng.uniform(20, 90)) for _ in names]
    balance = Table(
        "condchain-balance",
        "Accuracy on true and on false paths",
        ("Model", "True", "False"),
        tuple((name, Value(x, n=975), Value(y, y - 3, y + 3, 975)) for name, (x, y) in zip(names, points, strict=True)),
    )
    scatter = Chart(
        "condchain-balance",
        "True against false paths",
        "scatter",
        (
            Series(
                "Runs",
                tuple(x for x, _ in points),
                tuple(y for _, y in points),
                low=tuple(y - 3 for _, y in points),
                high=tuple(y + 3 for _, y in points),
                text=tuple(names),
            ),
            Series("Models of the paper", (88.0, 61.5, 72.0), (41.0, 55.0, 33.3), published=True),
        ),
        "Accuracy on true paths (%)",
        "Accuracy on false paths (%)",
        "condchain-balance",
        ((0.0, 0.0, 100.0, 100.0, "balance"),),
        ((85.0, 8.0, "goes on too readily"), (14.0, 92.0, "stops too readily")),
    )
    depths = (2.0, 3.0, 4.0, 5.0, 6.0)
    curves = [(name, [_value(rng) for _ in depths]) for name in names[:6]]
    by_depth = Table(
        "condchain-depth",
        "Path F1 by depth",
        ("Model", *(f"Depth {depth:.0f}" for depth in depths)),
        tuple((name, *values) for name, values in curves),
    )
    lines = Chart(
        "condchain-depth",
        "Path F1 by depth",
        "line",
        (
            *(Series(name, depths, tuple(value.value for value in values)) for name, values in curves),
            Series("Paper", depths, (70.0, 62.0, None, 50.0, 41.0), published=True),
        ),
        "Depth of the chain (layers)",
        "Path F1 (%)",
        "condchain-depth",
    )
    notes = ("Each pair has a path on which all conditions hold and one on which one fails.",)
    return Section("condchain", "MM-CondChain", notes, (leaderboard, balance, by_depth), (scatter, lines))


def _ccrv(models: int = 2) -> Section:
    rng = random.Random(3)
    rows, columns = ("X1", "X2", "X3", "X4"), ("baseline", "Y1", "Y2", "Y3", "Y4")
    grids = {
        name: [[None if (x, y) == (1, 0) else _value(rng) for x in range(5)] for y in range(4)]
        for name in ("DCR", "CSR")
    }
    table = Table(
        "ccrv-cells",
        "DCR and CSR by cell",
        ("Cell", *(f"{name}, {column}" for name in grids for column in columns)),
        tuple((row, *grids["DCR"][place], *grids["CSR"][place]) for place, row in enumerate(rows)),
    )
    chart = Chart(
        "ccrv-cells",
        "Dimensions against constraints: large-vl",
        "heatmap",
        tuple(
            Series(name, columns, rows, tuple(tuple(one and one.value for one in row) for row in grid))
            for name, grid in grids.items()
        ),
        "Constraint",
        "Causal dimension",
        "ccrv-cells",
    )
    health = Table(
        "ccrv-judge",
        "The judge",
        ("Model", "Calls", "Missing", "From the cache"),
        tuple((f"model-{place:02}", 16_000 - place, place, 0) for place in range(models)),
        notes=("Verdicts of one judge; no person has checked them.",),
    )
    return Section("ccrv", "CCRV-Bench", (), (table, health), (chart,))


def _vrex() -> Section:
    kinds = ("deduction", "guessing", "navigation", "retrieval")
    figures = {"large-vl": (61.0, 48.5, 39.9, 70.2), "tiny-vl": (30.3, 28.0, 31.1, 44.0)}
    paper = (75.0, 52.0, 58.8, 80.1)
    table = Table(
        "vrex-category",
        "Planning by category",
        ("Model", *kinds),
        (
            *((name, *(Value(one, one - 4, one + 4, 180) for one in values)) for name, values in figures.items()),
            ("A published model", *(Value(one) for one in paper)),
        ),
        frozenset({2}),
    )
    chart = Chart(
        "vrex-category",
        "Planning by category",
        "bar",
        (
            *(
                Series(name, kinds, values, (), tuple(one - 4 for one in values), tuple(one + 4 for one in values))
                for name, values in figures.items()
            ),
            Series("A published model", kinds, paper, published=True),
        ),
        "Category",
        "Ability (%)",
        "vrex-category",
    )
    return Section("vrex", "V-REX", (), (table,), (chart,))
