"""The report's page as a file: what is in it, what it allows, and that no text in it works as markup."""

import base64
import hashlib
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from PIL import Image
from report_samples import HOSTILE, LIMITED, OTHER_PROMPT, hostile, small

from condchain_tasks.report import page
from condchain_tasks.report.charts import draw
from condchain_tasks.report.model import Chart, Item, Report, Section, Series, Table, Value
from condchain_tasks.report.page import outside, render_page, write_page

VOID = {"meta", "link", "input", "br", "img"}


class Parsed(HTMLParser):
    """All elements with their attributes, and the text within them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, dict[str, str | None], str]] = []
        self._open: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append((tag, dict(attrs)))

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self._open.pop()[0] == tag

    def handle_data(self, data):
        if self._open:
            self.texts.append((*self._open[-1], data))

    def text(self, **wanted: str) -> str:
        """The text right in the elements that have these attributes."""
        return "".join(
            data for _, attrs, data in self.texts if all(attrs.get(name) == value for name, value in wanted.items())
        )

    def json(self, name: str):
        return json.loads(self.text(id=name))


@pytest.fixture(scope="module")
def small_report(tmp_path_factory):
    return small(tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="module")
def small_text(small_report):
    return render_page(small_report)


@pytest.fixture(scope="module")
def small_page(small_text):
    return Parsed(small_text)


@pytest.fixture(scope="module")
def hostile_page():
    return Parsed(render_page(hostile()))


def with_table(*cells, **fields):
    table = Table("t", "A table", ("Model", *(f"C{place}" for place in range(len(cells)))), (("m", *cells),), **fields)
    return Report("R", sections=(Section("s", "S", tables=(table,)),))


def with_items(*items):
    return Report("R", items=items)


def item(**fields):
    return Item(
        **{
            "model": "m",
            "task": "t",
            "key": "k",
            "right": True,
            "tags": {},
            "image": "",
            "instruction": "i",
            "reply": "r",
        }
        | fields
    )


def cells(report):
    """The visible and the spoken text of each figure's cell."""
    found = re.findall(r"<td[^>]*>(.*?)</td>", render_page(report), re.DOTALL)
    return [" ".join(re.sub(r"<[^>]+>", "", cell).split()) for cell in found]


def test_the_parts_stand_in_order(small_page):
    ids = [attrs.get("id") for tag, attrs in small_page.elements if tag == "section"]
    assert ids == ["health", "section-condchain", "section-ccrv", "section-vrex", "items", "provenance"]


def test_parts_without_content_are_left_out():
    ids = [attrs.get("id") for tag, attrs in Parsed(render_page(Report("R"))).elements if tag == "section"]
    assert ids == ["health"]


@pytest.mark.parametrize("which", ["small_page", "hostile_page"])
def test_only_the_pages_own_script_and_style_are_allowed(which, request):
    parsed = request.getfixturevalue(which)
    (policy,) = [
        attrs["content"] for _, attrs in parsed.elements if attrs.get("http-equiv") == "Content-Security-Policy"
    ]
    allowed = dict(part.split(" ", 1) for part in policy.split("; "))
    scripts = [attrs for tag, attrs in parsed.elements if tag == "script" and "type" not in attrs]
    (script,) = [data for tag, attrs, data in parsed.texts if tag == "script" and "type" not in attrs]
    (style,) = [data for tag, _, data in parsed.texts if tag == "style"]

    def source(text):
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    assert allowed["default-src"] == "'none'"
    assert allowed["script-src"] == source(script) and scripts == [{}]
    assert allowed["style-src"] == source(style)
    assert allowed["img-src"] == "data: file:"
    assert {attrs["type"] for tag, attrs in parsed.elements if tag == "script" and "type" in attrs} == {
        "application/json"
    }


@pytest.mark.parametrize("which", ["small_page", "hostile_page"])
def test_nothing_is_fetched_and_nothing_runs_from_attributes(which, request):
    for tag, attrs in request.getfixturevalue(which).elements:
        assert tag not in {"img", "iframe", "object", "embed", "base", "form", "b"}
        for name, value in attrs.items():
            assert not name.startswith("on") and name not in {"src", "srcdoc", "style"}
            if name in {"href", "xlink:href"}:
                assert value == "data:," if tag == "link" else value.startswith("#")


@pytest.mark.parametrize("which", ["small_page", "hostile_page"])
def test_ids_are_unique_and_what_refers_to_them_finds_them(which, request):
    elements = request.getfixturevalue(which).elements
    ids = [attrs["id"] for _, attrs in elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    for _, attrs in elements:
        links = [attrs[name][1:] for name in ("href", "xlink:href") if attrs.get(name, "").startswith("#")]
        labels = [part for name in ("aria-labelledby", "aria-describedby") for part in attrs.get(name, "").split()]
        assert {*links, *labels} <= {*ids}


def test_hostile_texts_are_texts(hostile_page):
    texts = " ".join(data for tag, _, data in hostile_page.texts if tag not in ("script", "style"))
    for text in HOSTILE:
        assert text.encode("utf-8", "replace").decode() in texts.replace("\ufffd", "\x00")
    assert "49" not in hostile_page.text(**{"class": "where"})


def test_hostile_items_come_out_as_they_went_in(hostile_page):
    index = hostile_page.json("item-index")
    texts = hostile_page.json("item-texts-0")
    shown = [text.encode("utf-8", "replace").decode() for text in HOSTILE]
    assert index["models"] == index["tasks"] == texts == shown
    assert [row[6] for row in index["rows"]] == [[place] * 4 for place in range(len(HOSTILE))]
    assert sorted(index["tags"]) == sorted({HOSTILE[0], "path", "__proto__", "constructor"})
    assert "<" not in hostile_page.text(type="application/json")


@given(st.text(max_size=60))
@settings(max_examples=40, deadline=None)
def test_any_reply_survives_the_page(text):
    blocks = re.search(r'id="item-texts-0">(.*?)</script>', render_page(with_items(item(instruction="i", reply=text))))
    assert json.loads(blocks[1]) == list(dict.fromkeys(["i", text.encode("utf-8", "replace").decode()]))


def test_figures_have_one_decimal_their_interval_and_n():
    value = Value(57.349, 54.06, 60.2, 1487)
    report = with_table(value, Value(57.349), Value(None, n=0), None, 12345, "text", Value(-0.04), Value(-3.25, -4, -1))
    assert cells(report) == [
        "57.3 [54.1, 60.2], 95 % interval 54.1 to 60.2 , n=1,487",
        "57.3",
        "–",
        "–",
        "12,345",
        "text",
        "0.0",
        "−3.2 [−4.0, −1.0], 95 % interval −4.0 to −1.0",
    ]


def test_flags_are_a_mark_beside_the_figure_and_a_list_below(small_page):
    marks = [attrs for tag, attrs in small_page.elements if tag == "button" and attrs.get("class") == "mark"]
    assert {mark["aria-describedby"] for mark in marks} == {"flag-condchain-leaderboard-a"}
    assert small_page.text(id="flag-condchain-leaderboard-a") == LIMITED
    both = Parsed(render_page(with_table(Value(1, flags=(LIMITED,)), Value(2, flags=(OTHER_PROMPT, LIMITED)))))
    marks = [attrs for tag, attrs in both.elements if tag == "button" and attrs.get("class") == "mark"]
    assert [mark["aria-label"] for mark in marks] == ["Caution a", "Caution b, a"]
    assert both.text(id="flag-t-b") == OTHER_PROMPT


def test_published_rows_say_so():
    report = with_table(Value(1), published=frozenset({0}))
    assert '<span class="badge">published</span></th>' in render_page(report)
    assert '<span class="badge">published</span></th>' not in render_page(with_table(Value(1)))


def test_problems_are_counted_by_severity(small_page):
    assert [data for _, attrs, data in small_page.texts if attrs.get("class") == "severity"] == [
        "error",
        "warnings",
        "note",
    ]
    order = [attrs["class"] for tag, attrs in small_page.elements if tag == "details"]
    assert order == ["problems error", "problems warning", "problems note"]


def test_every_chart_stands_beside_its_table(small_page, small_report):
    ids = [attrs["id"] for _, attrs in small_page.elements if "id" in attrs]
    charts = [chart for section in small_report.sections for chart in section.charts]
    assert len(charts) == 4
    for chart in charts:
        assert ids.index(f"chart-{chart.id}") < ids.index(f"table-{chart.table}")


def test_charts_drawn_in_processes_are_the_same(monkeypatch, small_report):
    here = render_page(small_report)
    monkeypatch.setattr(page, "_FEW_CHARTS", 0)
    assert render_page(small_report) == here


def test_a_chart_without_its_table_is_refused(small_report):
    section = replace(small_report.sections[0], tables=())
    with pytest.raises(ValueError, match="Chart 'condchain-balance': section 'condchain' has no table"):
        render_page(Report("R", sections=(section,)))


def test_equal_texts_are_in_the_page_once():
    text = "Look at the circle."
    parsed = Parsed(render_page(with_items(*(item(model=name, instruction=text, reply="A1") for name in "abc"))))
    assert parsed.json("item-texts-0") == [text, "A1"]
    assert [row[6] for row in parsed.json("item-index")["rows"]] == [[0, 1]] * 3


def test_texts_come_in_blocks(monkeypatch):
    monkeypatch.setattr(page, "_TEXTS_PER_BLOCK", 2)
    parsed = Parsed(render_page(with_items(item(instruction="i", reply="r", details=(("Gold", "A1"), ("Read", "r"))))))
    assert [parsed.json(f"item-texts-{place}") for place in range(3)] == [["i", "r"], ["Gold", "A1"], ["Read"]]
    assert parsed.json("item-index")["textsPerBlock"] == 2


def test_long_texts_are_cut_and_say_so():
    (_, text) = Parsed(render_page(with_items(item(instruction="i", reply="x" * 25_000)))).json("item-texts-0")
    assert text == "x" * 20_000 + "\n[5,000 more characters are left out here]"


def test_tags_that_an_item_lacks_are_nobodys():
    parsed = Parsed(render_page(with_items(item(tags={"path": "true"}), item(tags={"cell": "X1"}), item())))
    index = parsed.json("item-index")
    assert index["tags"] == {"path": ["true"], "cell": ["X1"]}
    assert [row[5] for row in index["rows"]] == [[0, -1], [-1, 0], [-1, -1]]


def test_pictures_are_linked_unless_they_are_on_another_machine(tmp_path):
    paths = [str(tmp_path / "a b#1.png"), "//elsewhere/share/a.png", "\\\\elsewhere\\a.png", "relative.png"]
    parsed = Parsed(render_page(with_items(*(item(image=path) for path in paths))))
    images = parsed.json("item-index")["images"]
    assert [image["path"] for image in images] == paths
    assert [image["uri"] for image in images] == [(tmp_path / "a b#1.png").as_uri(), "", "", ""]
    assert "item-picture" not in [attrs.get("id", "") for _, attrs in parsed.elements]


def test_embedded_pictures_are_small_and_in_the_page_once(tmp_path):
    Image.new("RGB", (2000, 500), "navy").save(tmp_path / "a.png")
    (tmp_path / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    paths = [str(tmp_path / name) for name in ("a.png", "broken.png", "missing.png", "a.png")]
    parsed = Parsed(render_page(with_items(*(item(image=path) for path in paths)), folders=[tmp_path]))
    assert [attrs["id"] for _, attrs in parsed.elements if attrs.get("id", "").startswith("item-picture")] == [
        "item-picture-0"
    ]
    head, _, data = parsed.text(id="item-picture-0").partition(",")
    assert head == "data:image/webp;base64"
    with Image.open(io.BytesIO(base64.b64decode(data))) as image:
        assert image.size == (768, 192)
    assert [row[4] for row in parsed.json("item-index")["rows"]] == [0, 1, 2, 0]


def test_only_pictures_of_folders_that_were_named_are_embedded(tmp_path):
    data, other = tmp_path / "data", tmp_path / "data-of-others"
    for folder in (data, other):
        folder.mkdir()
        Image.new("RGB", (20, 20), "navy").save(folder / "a.png")
    (data / "link.png").symlink_to(other / "a.png")
    (tmp_path / "alias").symlink_to(data)
    paths = [
        str(data / "a.png"),
        str(other / "a.png"),
        str(data / "link.png"),
        str(data / ".." / "data-of-others" / "a.png"),
        str(tmp_path / "alias" / "a.png"),
    ]
    items = [item(image=path) for path in paths]
    for folders, embedded in (
        ([], []),
        ([data], [0, 4]),
        ([tmp_path / "alias"], [0, 4]),
        ([data, other], [0, 1, 2, 3, 4]),
    ):
        parsed = Parsed(render_page(with_items(*items), folders))
        ids = [attrs["id"] for _, attrs in parsed.elements if attrs.get("id", "").startswith("item-picture")]
        assert ids == [f"item-picture-{place}" for place in embedded]
        assert outside(items, folders) == tuple(path for place, path in enumerate(paths) if place not in embedded)


def test_pictures_of_a_hub_s_snapshot_are_links_that_stay_in_its_cache(tmp_path):
    snapshot, blob = tmp_path / "snapshots" / "1a", tmp_path / "blobs" / "5b"
    snapshot.mkdir(parents=True)
    blob.parent.mkdir()
    Image.new("RGB", (20, 20)).save(blob, "PNG")
    (snapshot / "a.png").symlink_to(blob)
    text = render_page(with_items(item(image=str(snapshot / "a.png"))), [snapshot])
    assert text.count('id="item-picture-') == 1


def test_embedded_pictures_are_bounded_in_all(tmp_path, monkeypatch):
    monkeypatch.setattr(page, "MAX_EMBEDDED_BYTES", 10)
    for name in "ab":
        Image.new("RGB", (20, 20)).save(tmp_path / f"{name}.png")
    text = render_page(with_items(*(item(image=str(tmp_path / f"{name}.png")) for name in "ab")), folders=[tmp_path])
    assert text.count('id="item-picture-') == 1


def test_the_file_is_the_page_and_the_same_each_time(small_report, small_text, tmp_path):
    write_page(small_report, tmp_path / "report.html")
    assert (tmp_path / "report.html").read_bytes().decode() == small_text


def test_lone_surrogates_do_not_stop_the_file(tmp_path):
    report = replace(with_items(item(reply="a\ud800b")), title="c\ud800d")
    write_page(report, tmp_path / "report.html")
    assert (tmp_path / "report.html").read_bytes().decode() == render_page(report)
    assert "<h1>c?d</h1>" in render_page(report)


def tips(chart):
    return [node.get("data-tip") for node in ElementTree.fromstring(draw(chart)).iter() if node.get("data-tip")]


def chart(kind, *series, **fields):
    return Chart(
        **{"id": "c", "title": "T", "x_title": "Depth", "y_title": "F1 (%)", "table": "t"} | fields,
        kind=kind,
        series=series,
    )


def test_points_tell_their_values():
    one = Series("m", (2.0, 3.0, 4.5), (50.06, None, 61.0), low=(48.0, None, None), high=(52.04, None, None))
    assert tips(chart("line", one)) == ["m\nDepth: 2\nF1 (%): 50.1 [48.0, 52.0]", "m\nDepth: 4.5\nF1 (%): 61.0"]


def test_text_of_a_point_comes_first():
    one = Series("Runs", ("a", "b"), (1.0, 2.0), text=("first", ""))
    assert tips(chart("scatter", one)) == ["first\nRuns\nDepth: a\nF1 (%): 1.0", "Runs\nDepth: b\nF1 (%): 2.0"]
    assert tips(chart("bar", one)) == tips(chart("scatter", one))


def test_cells_of_a_heat_map_tell_their_values():
    one = Series("DCR", ("Y1", "Y2"), ("X1", "X2"), ((1.0, None), (30.0, 40.0)))
    found = tips(chart("heatmap", one, x_title="Y", y_title="X"))
    assert found == [
        f"X: {x}\nY: {y}\nDCR: {v}"
        for x, y, v in zip(("X1", "X1", "X2", "X2"), ("Y1", "Y2") * 2, ("1.0", "–", "30.0", "40.0"), strict=True)
    ]


def test_published_series_differ_by_more_than_their_colour():
    for kind in ("scatter", "line", "bar"):
        mine, paper = (draw(chart(kind, Series("m", ("a",), (1.0,), published=flag))) for flag in (False, True))
        assert re.sub(r"series-\d", "", mine) != re.sub(r"series-\d", "", paper)
    both = draw(chart("scatter", Series("m", ("a",), (1.0,)), Series("p", ("a",), (1.0,), published=True)))
    assert "p (published)" in both and "m (published)" not in both


RUNS = [f"condchain_sim (accuracy={share}, model=mm-condchain-7b, policy=oracle, seed=3)" for share in (0.5, 0.7)]


def shown(chart):
    return [
        "".join(node.itertext()) for node in ElementTree.fromstring(draw(chart)).iter() if node.tag.endswith("text")
    ]


def looks(chart):
    """How each mark is painted, by its id: its fill, or the colours and paths of its hatch."""
    root = ElementTree.fromstring(draw(chart))
    patterns = {
        f"url(#{node.get('id')})": tuple(
            (part.get("d", ""), part.get("fill"), part.get("stroke")) for part in node.iter()
        )
        for node in root.iter()
        if node.tag.endswith("pattern")
    }
    return {
        group.get("id"): [patterns.get(node.get("fill"), node.get("fill")) for node in group.iter() if node.get("fill")]
        for group in root.iter()
        if group.get("data-tip") or group.get("id") == "chart-c-legend_1"
    }


@pytest.mark.parametrize("kind", ["scatter", "line", "bar", "heatmap"])
def test_names_of_series_stay_different_when_they_are_shortened(kind):
    def texts(*names):
        cells = (("y",), ((1.0,),)) if kind == "heatmap" else ((1.0,),)
        return [text for text in shown(chart(kind, *(Series(name, ("a",), *cells) for name in names))) if "im" in text]

    assert texts(*RUNS) == ["condchain_sim …accuracy=0.5, …", "condchain_sim …accuracy=0.7, …"]
    seeds = [run.replace("seed=3", f"seed={seed}") for run in RUNS for seed in (3, 4)]
    assert texts(*seeds) == [
        f"condchain_sim …accuracy={share}, …seed={seed})" for share in (0.5, 0.7) for seed in (3, 4)
    ]
    one_word = [f"sim{'x' * 30}{letter}{'x' * 30}" for letter in "abc"]
    alike = f"sim{'x' * 17}…{'x' * 20}"
    assert texts(*one_word) == [alike, f"{alike} #2", f"{alike} #3"]
    assert texts(RUNS[0], "sim") == ["condchain_sim (accur…licy=oracle, seed=3)", "sim"]


def test_names_of_categories_stay_different_when_they_are_shortened():
    runs = tuple(run.replace("seed=3", f"seed={seed}") for run in RUNS for seed in (3, 4))
    wanted = [f"co…m …accuracy={share}, …seed={seed})" for share in (0.5, 0.7) for seed in (3, 4)]
    assert wanted == [text for text in shown(chart("bar", Series("m", runs, (1.0,) * 4))) if "seed" in text]
    cells = Series("m", runs, runs, ((1.0,) * 4,) * 4)
    assert wanted * 2 == [text for text in shown(chart("heatmap", cells)) if "seed" in text]


WORDS = st.lists(st.sampled_from(["a" * 20, "b" * 20, " (b", " a …", " #2"]), min_size=3, max_size=6)


@given(st.lists(WORDS.map("".join).map(str.strip), min_size=2, max_size=12, unique=True))
@example([f"{'a' * 20}{middle}{'a' * 20}" for middle in "xyz"])
@settings(max_examples=15, deadline=None)
def test_no_two_categories_look_the_same(names):
    texts = shown(chart("heatmap", Series("", (1.0,), tuple(names), ((None,),) * len(names)), x_title="", y_title=""))
    labels = [text for text in texts if text not in ("1.0", "–")]
    assert len(labels) == len(names) == len(set(labels))


def test_bars_whose_colour_comes_again_are_hatched():
    series = [Series(f"m{place}", ("a",), (1.0,), published=place > 11) for place in range(14)]
    found = looks(chart("bar", *series))
    legend = found.pop("chart-c-legend_1")
    bars = [fill for (fill,) in found.values()]
    assert len(bars) == 14 == len(set(bars))
    assert bars[:8] == [f"var(--series-{place})" for place in range(8)]
    assert [look for look in legend if look in bars] == bars


def test_equal_values_of_a_heat_map_have_equal_colours():
    low, high = (
        Series(name, ("a", "b"), ("y",), (values,)) for name, values in (("m", (0.0, 50.0)), ("n", (50.0, 80.0)))
    )
    drawn = chart("heatmap", low, high)
    found = looks(drawn)
    keys = [fill for fill in found.pop("chart-c-legend_1") if fill.startswith("#")]
    least, middle, same, greatest = (fill for (fill,) in found.values())
    assert middle == same and len({least, middle, greatest}) == 3
    assert (keys[0], keys[-1]) == (least, greatest)
    assert [text for text in shown(drawn) if "." in text][4:] == ["0.0", "20.0", "40.0", "60.0", "80.0"]


def test_a_heat_map_of_one_value_or_none_has_a_scale_of_as_many():
    one, none = (shown(chart("heatmap", Series("m", ("a",), ("y",), ((value,),)))) for value in (7.0, None))
    assert one.count("7.0") == 2 and "0.0" not in none


def test_numbers_of_a_heat_map_can_be_read_on_their_cells():
    def luminance(color):
        shares = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    values = tuple(float(value) for value in range(101))
    root = ElementTree.fromstring(draw(chart("heatmap", Series("m", values, ("y",), (values,)))))
    grounds = [node.find(".//*[@fill]").get("fill") for node in root.iter() if node.get("data-tip")]
    fills = [node.get("fill", "#000000") for node in root.iter() if node.tag.endswith("text")]
    inks = [fill for fill in fills if fill.startswith("#")]
    assert len(grounds) == len(inks) == 101
    for ground, ink in zip(grounds, inks, strict=True):
        dark, bright = sorted((luminance(ground), luminance(ink)))
        assert (bright + 0.05) / (dark + 0.05) >= 4.5


def test_colours_follow_the_theme():
    one = Series("m", (1.0,), (1.0,), low=(0.5,), high=(1.5,), published=True)
    for kind in ("scatter", "line", "bar"):
        text = draw(chart(kind, one, one, lines=((0, 0, 1, 1, "line"),), regions=((0, 1, "corner"),)))
        assert not re.findall(r'(?:fill|stroke|color)="#\w+"', text)
        style = (page.Path(page.__file__).parent / "templates" / "page.css").read_text(encoding="utf-8")
        assert all(f"{name}: light-dark(" in style for name in set(re.findall(r"var\((--[\w-]+)\)", text)))


@given(st.text(max_size=50), st.sampled_from(("scatter", "line", "bar", "heatmap")))
@settings(max_examples=8, deadline=None)
def test_no_text_breaks_a_chart(text, kind):
    z = ((1.0,),) if kind == "heatmap" else ()
    one = Series(text, (text,), (text if z else 1.0,), z, text=(text,))
    titles = {"x_title": text, "y_title": text, "lines": ((0, 0, 1, 1, text),), "regions": ((0, 1, text),)}
    root = ElementTree.fromstring(draw(chart(kind, one, one, **titles)))
    assert {node.tag.rpartition("}")[2] for node in root.iter()} <= {
        "svg",
        "g",
        "defs",
        "path",
        "use",
        "text",
        "tspan",
        "clipPath",
        "rect",
        "pattern",
    }
