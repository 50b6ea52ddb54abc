"""Figures for papers, their colours, and the numbers behind them."""

import csv
import itertools
import os
import re
import xml.etree.ElementTree as ElementTree
from types import MappingProxyType

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.text import Text
from PIL import Image

import setwise as sw
from setwise.policies import NAMES
from setwise.report import styles, writing
from setwise.report.axis import ticks, x_limits, y_limits
from setwise.report.data import write_data
from setwise.report.figures import make_figure, write_figures
from setwise.report.parts import Bar, Bars, Chart, Grid, Link, Series, TextTable
from setwise.report.styles import DASHES, OTHERS, POLICY_STYLES, policy_styles, style_of

MAIN = ["ucb", "kl-ucb", "kl-moss", "ucb-v", "mnl-ucb", "mnl-thompson", "stagewise-elimination", "comb-ucb1", "cucb"]
MAIN += ["thompson", "escb2", "epsilon-greedy", "uniform", "oracle"]
FIGURE_3 = ["ucb", "mnl-ucb", "stagewise-elimination"]
ROUNDS = np.geomspace(1.0, 1e6, 40)

# Machado, Oliveira, Fernandes: A physiologically-based model for simulation of color vision deficiency (2009),
# severity 1, on linear RGB.
SIGHT = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)


def linear(colour):
    parts = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(colour, sight):
    ratio = XYZ @ np.clip(SIGHT[sight] @ linear(colour), 0, 1) / XYZ.sum(axis=1)
    root = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


def distance(first, second, sight):
    return np.linalg.norm(lab(first, sight) - lab(second, sight))


def contrast(first, second):
    dark, light = sorted(XYZ[1] @ linear(colour) + 0.05 for colour in (first, second))
    return light / dark


def test_the_measure_of_colours_knows_black_white_and_red_green():
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert distance("#000000", "#FFFFFF", "normal") == pytest.approx(100, abs=0.1)
    red_and_brown = "#D55E00", "#BE8400"
    assert distance(*red_and_brown, "normal") > 5 * distance(*red_and_brown, "deuteranopia")


def test_every_policy_has_a_style_of_its_own():
    assert set(POLICY_STYLES) == set(NAMES)
    assert len(set(POLICY_STYLES.values())) == len(NAMES)


def test_a_policy_without_a_chosen_style_gets_one_unlike_its_neighbours():
    names = ["new", *(name for known in NAMES for name in (known, f"{known}-new"))]
    styles = policy_styles(names)
    assert {name: styles[name] for name in NAMES} == POLICY_STYLES
    assert len({styles[name] for name in names}) == len(names)
    for first, second in itertools.pairwise(names):
        if {first, second} - set(NAMES):
            assert styles[first].colour != styles[second].colour
    assert styles == policy_styles(names)


@pytest.mark.parametrize("field", ["colour", "dark"])
def test_the_policies_of_the_main_figures_are_told_apart_by_every_eye(field):
    for first, second in itertools.combinations(map(style_of, MAIN), 2):
        colours = getattr(first, field), getattr(second, field)
        assert distance(*colours, "normal") > 20
        assert first.dash != second.dash


@pytest.mark.parametrize("field", ["colour", "dark"])
@pytest.mark.parametrize("sight", SIGHT)
def test_the_three_of_figure_3_differ_by_colour_alone(field, sight):
    for first, second in itertools.combinations(map(style_of, FIGURE_3), 2):
        assert distance(getattr(first, field), getattr(second, field), sight) > 13


@pytest.mark.parametrize("sight", SIGHT)
def test_most_of_the_main_policies_differ_by_colour_to_every_eye(sight):
    pairs = list(itertools.combinations(map(style_of, MAIN), 2))
    close = [pair for pair in pairs if distance(pair[0].colour, pair[1].colour, sight) <= 10]
    assert len(close) <= 4


@pytest.mark.parametrize("field", ["colour", "dark"])
def test_policies_that_need_no_assumption_are_told_from_those_beside_them_by_every_eye(field):
    beside = ["ucb", "kl-ucb", "thompson", "uniform", "kl-moss", "mnl-ucb", "mnl-thompson"]
    four = ["robust-ucb", "set-thompson", "set-ucb", "set-kl-ucb"]
    for first, second in itertools.combinations(map(style_of, four + beside), 2):
        assert first.dash != second.dash
    for name in four:
        for other in four + beside:
            if other != name:
                colours = getattr(style_of(name), field), getattr(style_of(other), field)
                assert distance(*colours, "normal") > 20
                assert all(distance(*colours, sight) > 8 for sight in SIGHT)


def test_lines_stand_out_from_either_background():
    for name, style in {**POLICY_STYLES, **OTHERS}.items():
        assert contrast(style.dark, "#16181D") >= 3
        assert contrast(style.colour, "#FFFFFF") >= 3 or name == "rho"


def test_a_variant_has_the_colour_of_its_policy_and_other_dashes():
    for variant in ("ucb:alpha=0.5", "ucb:alpha=4", "mnl-ucb:cap=no", "stagewise-elimination:bernstein=yes"):
        base = style_of(variant.partition(":")[0])
        assert style_of(variant)[:2] == base[:2]
        assert style_of(variant).dash in set(DASHES.values()) - {base.dash}
    name = "stagewise-elimination"
    four = [name, f"{name}:bernstein=yes", f"{name}:cumulative=yes", f"{name}:cumulative=yes,bernstein=yes"]
    assert len({style_of(variant) for variant in four}) == 4
    assert style_of(four[3]) == style_of(f"{name}:bernstein=yes,cumulative=yes")


def test_an_unknown_style_is_the_same_in_every_process():
    assert style_of("my.module.Policy") == ("#8A5A2E", "#C08C58", (1.0, 1.0, 1.0, 3.4))
    assert len({style_of(f"policy {number}") for number in range(20)}) > 15


def curves(policies):
    found = []
    for number, name in enumerate(policies):
        y = (number + 1) * 10 * np.log(ROUNDS)  # 0 at the first point
        found.append(Series(f"policy {name}", ROUNDS, y, 0.8 * y - 5, 1.2 * y + 5, name))
    found.append(Series("bound", ROUNDS, np.minimum(ROUNDS, 900 * np.log(ROUNDS)), style="bound", kind="guide"))
    found.append(Series("slope", ROUNDS, 3 * np.log(ROUNDS), style="lower-bound", kind="guide"))
    return found


def chart(name="chart", policies=FIGURE_3, log=True, title="Random weak optimal set consistency: n = 10, k = 5"):
    band = "95 % confidence interval of the mean"
    return Chart(name, title, "round", "cumulative regret", curves(policies), band, log, log)


def index_chart():
    falling = [Series(f"arm {arm}", ROUNDS, 0.3 + (arm + 1) / np.sqrt(ROUNDS), style=f"arm {arm}") for arm in range(6)]
    rho = Series("rho(t)", ROUNDS, 0.3 + 2 / np.sqrt(ROUNDS), style="rho")
    return Chart("index", "Indices", "round", "upper confidence bound", [rho, *falling], y_log=True)


def sweep():
    alphas = np.array([0.1, 0.5, 1.0, 4.0])
    own = [
        Series(world, alphas, 1e5 * alphas, 9e4 * alphas, 2e5 * alphas, world, "points") for world in ("mnl", "camera")
    ]
    label = "regret after 1,000,000 rounds, in a world of 20 arms"
    return Chart("sweep", "Regret against alpha", "alpha", label, own, "95 % interval")


GRID = Grid("grid", "Four worlds", [chart(f"panel-{number}", MAIN[:10], number % 2 == 0) for number in range(4)])
BARS = Bars(
    "bars",
    "Four sets",
    [
        (
            "Nikon, Canon, Sony: 0.90",
            [Bar("Nikon", 0.35, "best"), Bar("Canon", 0.3, "best"), Bar("Sony", 0.25, "best")],
        ),
        ("Digital Camera ahead", [Bar("Digital Camera", 0.83), Bar("Keyboard", 0.01), Bar("Shoes", 0.01)]),
        ("a third", [Bar("Nikon", 0.35, "best"), Bar("Digital Camera", 0.49), Bar("Shoes", 0.01)]),
        ("a fourth, with a title so long that it takes more than one line of its cell", [Bar("Nikon", 0.35, "best")]),
    ],
    value_label="probability of being chosen",
)


def uneven():
    """Panels that need very different room at their left."""
    title = "a title that takes one full line of its panel and then goes on with another"
    tall = [Series("curve", ROUNDS, 1e6 * np.log(ROUNDS))]
    flat = [Series("curve", ROUNDS, np.log(ROUNDS) / 14)]
    return Grid("uneven", "", [Chart(f"u{n}", title, "round", "y", flat if n % 3 else tall) for n in range(6)])


PARTS = [chart(), chart("linear", MAIN, log=False), index_chart(), sweep(), GRID, uneven(), BARS]


WIDTHS = pytest.mark.parametrize("width", [3.35, 6.9])


def texts_of(figure):
    """The texts that are drawn, each with its box in pixels."""
    figure.draw_without_rendering()
    drawn = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text()]
    ticks = {label for axes in figure.axes for axis in (axes.xaxis, axes.yaxis) for label in axis.get_ticklabels()}
    hidden = {
        tick.label2 for axes in figure.axes for axis in (axes.xaxis, axes.yaxis) for tick in axis.get_major_ticks()
    }
    assert ticks & set(drawn)
    return [(text, text.get_window_extent()) for text in drawn if text not in hidden]


def overlap(one, other):
    """The size of what two boxes share, in pixels."""
    across = min(one.x1, other.x1) - max(one.x0, other.x0)
    along = min(one.y1, other.y1) - max(one.y0, other.y0)
    return max(0.0, min(across, along))


@WIDTHS
@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_no_text_is_cut_off_or_runs_into_another(part, width):
    figure = make_figure(part, width)
    assert figure.get_figwidth() == width
    assert figure.get_figheight() < 9
    texts = texts_of(figure)
    assert len(texts) > 10
    for text, box in texts:
        assert 7 <= text.get_fontsize() <= 9
        assert box.x0 >= 0 and box.y0 >= 0, text
        assert box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1, text
    for (first, one), (second, other) in itertools.combinations(texts, 2):
        assert not overlap(one, other), f"{first} {second}"


@WIDTHS
@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_axes_have_most_of_the_room_and_share_it_evenly(part, width):
    figure = make_figure(part, width)
    boxes = [axes.get_window_extent() for axes in figure.axes]
    for one, other in itertools.combinations(boxes, 2):
        assert not overlap(one, other)
        assert (one.width, one.height) == pytest.approx((other.width, other.height), rel=0.02)
    columns = len({round(box.x0) for box in boxes})
    assert columns * boxes[0].width > 0.5 * figure.bbox.width
    assert boxes[0].height > 0.3 * figure.dpi


@WIDTHS
@pytest.mark.parametrize("part", PARTS[:-1], ids=lambda part: part.name)
def test_the_legend_is_below_the_axes_and_has_each_curve_once(part, width):
    figure = make_figure(part, width)
    figure.draw_without_rendering()
    charts = part.charts if isinstance(part, Grid) else [part]
    (legend,) = figure.legends
    labels = [text.get_text() for text in legend.get_texts()]
    assert labels == list(dict.fromkeys(series.label for chart in charts for series in chart.series))
    assert [len(axes.lines) for axes in figure.axes] == [len(chart.series) for chart in charts]
    assert all(not overlap(legend.get_window_extent(), axes.get_tightbbox()) for axes in figure.axes)
    assert legend.get_window_extent().y1 < min(axes.get_window_extent().y0 for axes in figure.axes)
    note = legend.get_title().get_text().replace("\n", " ")
    assert note == ("Bars: " * (part.name == "sweep") or "Shaded: ") + charts[0].band if charts[0].band else not note


@pytest.mark.parametrize("part", [chart("all", MAIN), index_chart()], ids=lambda part: part.name)
def test_curves_and_legend_have_the_style_of_what_they_show(part):
    figure = make_figure(part, 6.9)
    for lines in (figure.axes[0].lines, figure.legends[0].get_lines()):
        assert len(lines) == len(part.series)
        for line, series in zip(lines, part.series, strict=True):
            style = style_of(series.style)
            assert to_hex(line.get_color()).upper() == style.colour.upper()
            width = line.get_linewidth()
            if style.dash:
                assert line._dash_pattern[1] == pytest.approx([length * width for length in style.dash])
            assert (width > 3) == (series.style == "rho")
            assert (width < 1) == (series.kind == "guide")


def test_whole_powers_are_raised_in_figures():
    series = [Series("B^2 log T, n^1.5", np.arange(1.0, 3.0), np.arange(1.0, 3.0), style="bound", kind="guide")]
    figure = make_figure(Chart("c", "up to 10^6", "T^-1", "k^2 regret", series), 6.9)
    texts = {text.get_text() for text in figure.findobj(Text)}
    assert {"B² log T, n^1.5", "up to 10⁶", "T⁻¹", "k² regret"} <= texts


@WIDTHS
def test_bars_are_as_long_as_their_values_and_coloured_by_their_style(width):
    figure = make_figure(BARS, width)
    figure.draw_without_rendering()
    drawn = [bar for axes in figure.axes for bar in axes.patches]
    bars = [bar for _, group in BARS.groups for bar in group]
    assert len(drawn) == len(bars)
    for one, bar in zip(drawn, bars, strict=True):
        ratio = one.get_window_extent().width / drawn[0].get_window_extent().width
        assert ratio == pytest.approx(bar.value / bars[0].value, abs=0.01)
        assert to_hex(one.get_facecolor()).upper() == style_of(bar.style or "other").colour


def test_what_a_logarithmic_axis_cannot_show_is_left_out():
    y = np.array([0.0, 1.0, 10.0, -3.0, 100.0, np.nan])
    low = np.array([-1.0, 0.0, 5.0, -9.0, 50.0, np.nan])
    series = Series("curve", np.array([0.0, 1.0, 10.0, 100.0, 1000.0, 10000.0]), y, low, 2 * np.abs(y), "ucb")
    figure = make_figure(Chart("c", "", "x", "y", [series], y_log=True), 3.35)
    (axes,) = figure.axes
    (line,) = axes.lines
    assert np.isfinite(line.get_ydata()).tolist() == [False, True, True, False, True, False]
    (band,) = axes.collections
    bottom = min(path.vertices[:, 1].min() for path in band.get_paths())
    assert bottom == pytest.approx(axes.get_ylim()[0])
    assert axes.get_xscale() == axes.get_yscale() == "log"


def test_a_bound_far_above_does_not_flatten_the_curves():
    x = np.array([1.0, 10.0, 100.0])
    own = Series("curve", x, np.array([1.0, 2.0, 3.0]))
    far = Series("bound", x, np.array([1.0, 50.0, 1e6]), style="bound", kind="guide")
    assert 3 < y_limits(Chart("c", "", "x", "y", [own, far]))[1] < 4
    assert y_limits(Chart("c", "", "x", "y", [own, far], y_log=True))[1] > 1e4


@pytest.mark.parametrize(
    ("ends", "log", "room", "labels"),
    [
        ((1.0, 1e6), True, 9, ["10⁰", "10¹", "10²", "10³", "10⁴", "10⁵", "10⁶"]),
        ((0.003, 40.0), True, 3, ["10⁻²", "10¹"]),
        ((0.1, 4.0), True, 9, ["0.1", "0.2", "0.5", "1", "2"]),
        ((0.24, 0.75), True, 6, ["0.3", "0.4", "0.5", "0.7"]),
        ((9.7e3, 1.03e5), True, 9, ["10⁴", "2 · 10⁴", "5 · 10⁴", "10⁵"]),
        ((1.1e3, 9.1e4), True, 9, ["2,000", "5,000", "10,000", "20,000", "50,000"]),
        ((1.01, 1.09), True, 5, ["1.02", "1.04", "1.06", "1.08"]),
        ((0.0, 1436.0), False, 6, ["0", "250", "500", "750", "1,000", "1,250"]),
        ((-0.3, 0.3), False, 5, ["-0.2", "0", "0.2"]),
        ((0.0, 4e7), False, 5, ["0", "10⁷", "2 · 10⁷", "3 · 10⁷", "4 · 10⁷"]),
        ((0.0, 4e-5), False, 3, ["0", "2 · 10⁻⁵", "4 · 10⁻⁵"]),
    ],
)
def test_ticks_stand_at_round_numbers(ends, log, room, labels):
    values, found = ticks(*ends, log, room)
    assert found == labels
    assert all(ends[0] <= value <= ends[1] * (1 + 1e-9) for value in values)


@pytest.mark.parametrize("values", [[], [np.nan], [5.0], [0.0, 0.0]])
@pytest.mark.parametrize("log", [True, False])
def test_a_curve_without_extent_still_has_axes(values, log):
    numbers = np.array(values)
    flat = Chart("c", "", "x", "y", [Series("curve", numbers, numbers)], x_log=log, y_log=log)
    for low, high in (x_limits(flat), y_limits(flat)):
        assert low < high
        assert len(ticks(low, high, log, 4)[0]) >= 2


@pytest.mark.parametrize("part", [sweep(), BARS], ids=lambda part: part.name)
def test_the_six_files_have_the_widths_of_columns(part, tmp_path):
    files = write_figures(part, str(tmp_path / "figures"))
    assert [label for label, _ in files] == [
        f"{ending}, {words}" for words in ("one column", "two columns") for ending in ("SVG", "PDF", "PNG")
    ]
    assert sorted(os.listdir(tmp_path / "figures")) == sorted(file for _, file in files)
    for size, width in (("1col", 3.35), ("2col", 6.9)):
        path = tmp_path / "figures" / f"{part.name}-{size}"
        height = make_figure(part, width).get_figheight()
        root = ElementTree.parse(path.with_suffix(".svg")).getroot()
        assert [float(root.get(side).removesuffix("pt")) for side in ("width", "height")] == pytest.approx(
            [72 * width, 72 * height]
        )
        pdf = path.with_suffix(".pdf").read_bytes()
        box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", pdf)
        assert [float(side) for side in box.groups()] == pytest.approx([72 * width, 72 * height], abs=0.01)
        assert b"/FontFile2" in pdf and b"/Type3" not in pdf
        with Image.open(path.with_suffix(".png")) as picture:
            assert picture.size == (round(300 * width), round(300 * height))
            assert picture.info["dpi"] == pytest.approx((300, 300), abs=0.1)


def test_a_second_drawing_has_the_same_bytes(tmp_path):
    for folder in ("first", "second"):
        for part in (chart(), BARS) if folder == "first" else (BARS, chart()):
            write_figures(part, str(tmp_path / folder))
            write_data(part, str(tmp_path / folder))
    names = sorted(os.listdir(tmp_path / "first"))
    assert len(names) == 14
    for name in names:
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes(), name


def test_the_users_own_settings_of_matplotlib_do_not_count(tmp_path):
    write_figures(sweep(), str(tmp_path / "plain"), ["1col"])
    with matplotlib.rc_context({"axes.facecolor": "red", "lines.markersize": 20, "savefig.bbox": "tight"}):
        write_figures(sweep(), str(tmp_path / "own"), ["1col"])
        assert matplotlib.rcParams["axes.facecolor"] == "red"
    for path in (tmp_path / "plain").iterdir():
        assert path.read_bytes() == (tmp_path / "own" / path.name).read_bytes()


def test_another_colour_or_setting_draws_all_figures_again(tmp_path, monkeypatch):
    def digest():
        return writing.drawing_digest.__wrapped__()

    before = digest()
    other = MappingProxyType({**POLICY_STYLES, "ucb": style_of("cucb")})
    with monkeypatch.context() as patch:
        patch.setattr(styles, "POLICY_STYLES", other)
        assert digest() != before
    assert digest() == before
    sheet = tmp_path / "other.mplstyle"
    sheet.write_text("grid.color: red")
    monkeypatch.setattr(writing, "style_sheet", lambda: str(sheet))
    assert digest() != before


def test_a_failed_write_leaves_the_older_file(tmp_path, monkeypatch):
    write_data(BARS, str(tmp_path))
    before = (tmp_path / "bars.csv").read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    other = Bars("bars", "", [("group", [Bar("arm", 1.0)])])
    with pytest.raises(OSError, match="No space") as caught:
        write_data(other, str(tmp_path))
    assert caught.value.filename.endswith("bars.csv")
    with pytest.raises(OSError, match="No space"):
        write_figures(other, str(tmp_path), formats=("svg",))
    assert os.listdir(tmp_path) == ["bars.csv"]
    assert (tmp_path / "bars.csv").read_bytes() == before


def test_another_format_is_refused(tmp_path):
    with pytest.raises(sw.InputError, match="'gif' is not a format of figures; there are svg, pdf, png"):
        write_figures(BARS, str(tmp_path), formats=("svg", "gif"))
    assert os.listdir(tmp_path) == []


def read(folder, name):
    raw = (folder / name).read_bytes()
    assert b"\r" not in raw
    return list(csv.reader(raw.decode().splitlines()))


def test_the_csv_of_a_chart_has_every_number_of_its_series(tmp_path):
    part = chart()
    assert write_data(part, str(tmp_path)) == ("CSV", "chart.csv")
    head, *rows = read(tmp_path, "chart.csv")
    assert head == ["series", "round", "cumulative regret", "low", "high"]
    assert len(rows) == sum(len(series.x) for series in part.series)
    for series in part.series:
        own = [row[1:] for row in rows if row[0] == series.label]
        for column, values in enumerate((series.x, series.y, series.low, series.high)):
            written = [row[column] for row in own]
            assert written == [""] * len(own) if values is None else list(map(float, written)) == values.tolist()


def test_the_csv_of_a_grid_names_the_chart(tmp_path):
    write_data(GRID, str(tmp_path))
    head, *rows = read(tmp_path, "grid.csv")
    assert head == ["chart", "series", "round", "cumulative regret", "low", "high"]
    assert list(dict.fromkeys(row[0] for row in rows)) == [f"panel-{number}" for number in range(4)]
    write_data(Grid("mixed", "", [chart(), sweep()]), str(tmp_path))
    assert read(tmp_path, "mixed.csv")[0] == ["chart", "series", "x", "y", "low", "high"]


def test_the_csv_of_bars_and_tables_has_their_cells(tmp_path):
    write_data(BARS, str(tmp_path))
    assert read(tmp_path, "bars.csv")[:2] == [
        ["group", "label", "probability of being chosen"],
        ["Nikon, Canon, Sony: 0.90", "Nikon", "0.35"],
    ]
    rows = [[Link("UCB", "figure-3"), "12.5, at most"], ["KL-UCB", 3]]
    write_data(TextTable("table", "", ["policy", "regret"], rows), str(tmp_path))
    assert read(tmp_path, "table.csv") == [["policy", "regret"], ["UCB", "12.5, at most"], ["KL-UCB", "3"]]
