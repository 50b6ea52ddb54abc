"""The page in a real browser: charts are drawn, respond to the reader, and fit the screen; and its text."""

import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import chromium
from setwise.report.page import page_html, write_page
from setwise.report.parts import Bar, Bars, Chart, Details, Grid, Link, Page, Section, Series, Text, TextTable
from setwise.report.styles import style_of

NASTY = "a < b & \"c\" </script><script>window.broken = true</script><img src=x onerror='window.broken = true'>"
needs_browser = pytest.mark.skipif(bool(chromium.missing()), reason=str(chromium.missing()))


def curve(label, slope, style, horizon=1000.0, **other):
    x = np.geomspace(1.0, horizon, 40)
    return Series(label, x, slope * x, 0.7 * slope * x, 1.3 * slope * x, style, **other)


def sample():
    """A page with every kind of part."""
    linear = {"x_log": False, "y_log": False}
    straight = Chart("straight", "Straight", "rounds", "regret", [curve("Algorithm 1", 1.0, "ucb")], "95 %", **linear)
    panels = [
        Chart(f"panel-{number}", f"World {number}", "rounds", "regret",
              [curve("Algorithm 1", 1.0, "ucb"), curve("E-E MNL-bandit", 2.0, "mnl-ucb")], "95 %")
        for number in (1, 2)
    ]  # fmt: skip
    three = Series("ends late", np.array([1.0, 10.0, 100.0]), np.array([1.0, 973.7, 5000.0]),
                   np.array([0.5, 958.0, 4000.0]), np.array([2.0, 989.4, 6000.0]), "ucb")  # fmt: skip
    early = Series("ends early", np.array([1.0, 2.0]), np.array([50.0, 60.0]), style="kl-ucb")
    bound = Series("bound", np.array([1.0, 100.0]), np.array([0.0, 198.0]), style="bound", kind="guide")
    readings = Chart("readings", "Readings", "rounds", "regret", [three, early, bound])
    broken = np.array([0.0, 1.0, 10.0, 0.0, 10.0, np.nan, -1.0])
    gaps = Series("broken", np.array([0.0, 1.0, 2.0, 4.0, 8.0, 12.0, 16.0]), broken, 0.0 * broken, 2.0 * broken, "ucb")
    points = Series("camera", np.array([4.0, 0.5, 1.0]), np.array([9.0, 5.0, 6.0]), np.array([8.0, 4.0, 5.0]),
                    np.array([10.0, 6.0, 7.0]), "ucb", "points")  # fmt: skip
    wide = TextTable("wide", "A wide table", ["policy", *(f"a world with number {n}" for n in range(9))],
                 [["ucb", *["973.7 (958.0 to 989.4)"] * 8, Link("its curves", "folded")]])  # fmt: skip
    bars = [Bar("Nikon", 0.5, "best"), Bar("Canon", 0.25)]
    return Page(
        "A page",
        ["What is first."],
        [
            Section("charts", "Charts", [Text(NASTY), straight, Grid("panels", "Panels", panels, "Worlds."), readings]),
            Section("odd", "Odd charts", [
                Chart("gaps", "Gaps", "rounds", "regret", [gaps], "95 %", **linear),
                Chart("points", "Points", "alpha", "regret", [points], "95 %"),
                Chart("rho", "Rho", "rounds", "bound", [curve("arm", 1.0, "arm 1"), curve("rho(t)", 1.1, "rho")]),
                Chart("empty", "Empty", "rounds", "regret", []),
            ]),
            Section("tables", "Tables", [
                wide,
                TextTable("narrow", "A narrow table", ["what", "number", "where"],
                      [[NASTY, "1,000", Link("there", "panel-2")], ["b", "-", Link("nowhere", "missing")]]),
                Bars("bars", "Bars", [("one set", bars), ("another", bars)], "A caption.", "probability"),
                Details("More", [Text("Folded away."),
                              Chart("folded", "Folded", "rounds", "regret", [curve(NASTY, 1.0, "ucb")])]),
            ]),
        ],
        [("seed", "0")],
    )  # fmt: skip


FILES = {"panels": [("SVG", "figures/panels.svg"), ("CSV", "data/panels.csv")], "wide": [("CSV", "data/wide.csv")]}
DRAWN = ["straight", "panel-1", "panel-2", "readings", "gaps", "points"]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("page") / "index.html")
    write_page(sample(), path, FILES)
    return path


@pytest.fixture(scope="module")
def window():
    with chromium.Chromium() as window:
        yield window


@pytest.fixture
def page(window, path):
    window.open(path)
    yield window
    assert window.console_errors == []
    assert window.requests == [Path(path).as_uri()], "it asks for nothing but itself"


def rgb(colour):
    return [int(colour[place : place + 2], 16) for place in (1, 3, 5)]


def shade(colour, share=0.16):
    """What a band of that colour looks like on white."""
    return [round(share * part + (1 - share) * 255) for part in rgb(colour)]


def count(page, name, colour, off=2):
    """How many pixels of a chart have a colour."""
    return page.evaluate(f"""(() => {{
        const canvas = document.querySelector("#{name} canvas"), [r, g, b] = {json.dumps(colour)};
        if (!canvas) return 0;
        const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        let found = 0;
        for (let i = 0; i < data.length; i += 4)
            found += data[i + 3] > 0 && Math.abs(flat(i) - r) <= {off} && Math.abs(flat(i + 1) - g) <= {off}
                && Math.abs(flat(i + 2) - b) <= {off};
        return found;
        function flat(at) {{ const a = data[at - at % 4 + 3] / 255; return a * data[at] + (1 - a) * 255 }}
    }})()""")


def height_at(page, name, colour, share):
    """How high a line is, from 0 at the bottom of the axes to 1 at the top, at a share of their width."""
    return page.evaluate(f"""(() => {{
        const canvas = document.querySelector("#{name} canvas").getBoundingClientRect();
        const pen = document.querySelector("#{name} canvas").getContext("2d"), [r, g, b] = {json.dumps(rgb(colour))};
        const box = document.querySelector("#{name} .u-over").getBoundingClientRect();
        const x = Math.round(box.left - canvas.left + {share} * box.width), rows = [];
        const data = pen.getImageData(x, 0, 1, Math.round(canvas.height)).data;
        for (let i = 0; i < data.length; i += 4)
            if (Math.hypot(data[i] - r, data[i + 1] - g, data[i + 2] - b) < 40 && data[i + 3] > 200) rows.push(i / 4);
        const middle = rows.reduce((a, b) => a + b, 0) / rows.length;
        return rows.length ? 1 - (middle - (box.top - canvas.top)) / box.height : null;
    }})()""")


def text(page, selector):
    return page.evaluate(f"document.querySelector({json.dumps(selector)}).textContent")


def texts(page, selector):
    return page.evaluate(f"[...document.querySelectorAll({json.dumps(selector)})].map(found => found.textContent)")


BLUE, ORANGE = style_of("ucb").colour, style_of("mnl-ucb").colour


@needs_browser
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (1280, True), (400, False)])
def test_every_chart_is_drawn_and_the_console_is_silent(window, path, width, dark):
    window.open(path, width, dark)
    ink = style_of("ucb").dark if dark else BLUE
    for name in DRAWN:
        assert count(window, name, rgb(ink)) > 20, name
    assert count(window, "rho", rgb(style_of("rho").dark if dark else style_of("rho").colour)) > 20
    assert window.console_errors == []
    assert window.evaluate("window.broken") is None


@needs_browser
def test_the_legend_hides_a_line_with_its_band_and_shows_it_again(page):
    key = "#panel-1 .legend li:nth-child(2) button"
    assert count(page, "panel-1", rgb(ORANGE)) > 20 and count(page, "panel-1", shade(ORANGE)) > 20
    page.click(key)
    assert page.evaluate(f"document.querySelector('{key}').getAttribute('aria-pressed')") == "false"
    assert count(page, "panel-1", rgb(ORANGE), 20) == 0 and count(page, "panel-1", shade(ORANGE)) == 0
    assert count(page, "panel-1", rgb(BLUE)) > 20
    page.evaluate(f"document.querySelector('{key}').focus()")
    page.press(" ")
    assert page.evaluate(f"document.querySelector('{key}').getAttribute('aria-pressed')") == "true"
    assert count(page, "panel-1", rgb(ORANGE)) > 20 and count(page, "panel-1", shade(ORANGE)) > 20


@needs_browser
def test_a_policy_can_be_hidden_in_all_charts_at_once(page):
    assert texts(page, ".everywhere .key") == ["Algorithm 1", "E-E MNL-bandit"]
    page.click("#panel-1 .legend li:nth-child(2) button")
    assert page.evaluate("document.querySelectorAll('.everywhere .key')[1].getAttribute('aria-pressed')") == "mixed"
    page.click("#panel-1 .legend li:nth-child(2) button")
    page.click(".everywhere summary")
    page.click(".everywhere .key:last-child")
    for name in ("panel-1", "panel-2"):
        assert count(page, name, rgb(ORANGE), 20) == 0
        assert count(page, name, rgb(BLUE)) > 20


@needs_browser
def test_axes_change_between_linear_and_logarithmic(page):
    # Regret of x after x rounds, from 1 to 1,000: a straight line if both axes are alike.
    assert height_at(page, "straight", BLUE, 0.5) == pytest.approx(0.5 * 1000 / 1340, abs=0.03)
    page.click("#straight .switch.x button:first-of-type")
    assert height_at(page, "straight", BLUE, 0.5) == pytest.approx(1000**0.5 / 1340, abs=0.03)
    assert page.evaluate("document.querySelector('#straight .switch.x button').getAttribute('aria-pressed')") == "true"
    page.click("#straight .switch.y button:first-of-type")
    assert height_at(page, "straight", BLUE, 0.5) == pytest.approx(0.5, abs=0.04)
    page.click("#straight .switch.x button:last-of-type")
    assert height_at(page, "straight", BLUE, 0.5) == pytest.approx(np.log(500.5) / np.log(1000), abs=0.05)


@needs_browser
def test_zeros_and_negative_values_leave_gaps_on_logarithmic_axes(page):
    page.click("#gaps .switch.x button:first-of-type")
    assert height_at(page, "gaps", BLUE, 0.3) is not None  # between 2 and 4, on the way down from 10 to 0
    page.click("#gaps .switch.y button:first-of-type")
    assert height_at(page, "gaps", BLUE, 0.1) > 0.1
    assert height_at(page, "gaps", BLUE, 0.3) is None
    assert height_at(page, "gaps", BLUE, 0.7) is None
    assert count(page, "gaps", shade(BLUE)) > 20


@needs_browser
def test_hovering_tells_value_and_interval_at_the_nearest_round(page):
    assert text(page, "#readings .legend p span") == "at the end of each curve"
    page.hover(*page.middle("#readings .u-over"))
    assert text(page, "#readings .legend p span") == "rounds: 10"
    # The second curve ends before; the guide has no point there, and its line is at (10 - 1) / 99 * 198 by x on a
    # linear axis, and half way on the logarithmic one.
    assert texts(page, "#readings .value") == ["973.7", "\u2013", "≈ 99.00"]
    assert texts(page, "#readings .interval") == ["(958.0 to 989.4)", "", ""]
    page.click("#readings .switch.x button:last-of-type")
    x, y = page.middle("#readings .u-over")
    page.hover(x - 0.42 * page.evaluate("document.querySelector('#readings .u-over').clientWidth"), y)
    assert texts(page, "#readings .value") == ["973.7", "\u2013", "≈ 18.00"]


@needs_browser
def test_arrow_keys_move_along_the_curves(page):
    page.evaluate("document.querySelector('#readings .plot').focus()")
    page.press("ArrowLeft")
    page.press("ArrowLeft")
    assert text(page, "#readings .legend p span") == "rounds: 10"
    assert texts(page, "#readings .value")[0] == "973.7"


@needs_browser
def test_a_chart_is_a_labelled_group_whose_numbers_are_read_out_while_it_has_the_focus(page):
    box = "document.querySelector('#readings .plot')"
    live = "document.querySelector('#readings .legend').getAttribute('aria-live')"
    assert page.evaluate(f"{box}.getAttribute('role')") == "group"
    assert page.evaluate(f"{box}.getAttribute('aria-label')").startswith("Readings: regret against rounds")
    assert page.evaluate(live) is None
    page.evaluate(f"{box}.focus()")
    assert page.evaluate(live) == "polite"
    page.evaluate(f"{box}.blur()")
    assert page.evaluate(live) is None


@needs_browser
@pytest.mark.parametrize(
    ("ticks", "log", "labels"),
    [
        ([10_000, 100_000], True, ["10⁴", "10⁵"]),
        ([20_000, 100_000], True, ["2\u00d710⁴", "10⁵"]),
        ([1_000, 10_000], True, ["1,000", "10,000"]),
        ([1, 10, 100], True, ["10⁰", "10¹", "10²"]),
        ([0.1, 0.5, 1, 4], True, ["0.1", "0.5", "1", "4"]),
        ([12_345, 100_000], True, ["12,345", "100,000"]),
        ([0, 50_000, 100_000], False, ["0", "50,000", "100,000"]),
        ([0, 500_000, 1_000_000], False, ["0", "5\u00d710⁵", "10⁶"]),
        ([0, 0.0002, 0.0004], False, ["0", "2\u00d710⁻⁴", "4\u00d710⁻⁴"]),
        ([0, 0.0005, 0.001], False, ["0", "0.0005", "0.001"]),
    ],
)
def test_the_numbers_of_an_axis_are_written_alike(page, ticks, log, labels):
    assert page.evaluate(f"axes.labels({json.dumps(ticks)}, {json.dumps(log)})") == labels


@needs_browser
def test_a_chart_in_a_fold_is_drawn_when_the_fold_opens(page):
    assert count(page, "folded", rgb(BLUE)) == 0
    page.click("main summary")
    assert count(page, "folded", rgb(BLUE)) > 20
    assert text(page, "#folded .legend .key") == NASTY


@needs_browser
def test_a_link_leads_into_a_closed_fold(page):
    page.evaluate("document.querySelector('a[href=\"#folded\"]').click()")
    page.settle()
    assert page.evaluate("document.querySelector('main details').open")
    assert count(page, "folded", rgb(BLUE)) > 20


@needs_browser
def test_nothing_is_wider_than_the_screen(page, path):
    for width in (700, 400, 320):
        page.open(path, width)
        page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true })")
        page.settle()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        box = page.evaluate("(box => [box.scrollWidth, box.clientWidth])(document.querySelector('#wide .wide'))")
        assert box[0] > box[1] + 100
        assert page.evaluate("document.querySelector('#straight canvas').clientWidth") > 0.7 * width


@needs_browser
def test_charts_follow_the_width_of_the_window(page):
    columns = (
        "new Set([...document.querySelectorAll('.grid > figure')].map(box => box.getBoundingClientRect().left)).size"
    )
    assert page.evaluate(columns) == 2
    page.resize(400)
    assert page.evaluate(columns) == 1
    assert page.evaluate("document.querySelector('#straight canvas').getBoundingClientRect().width") < 400
    assert count(page, "straight", rgb(BLUE)) > 20


@needs_browser
def test_colours_follow_the_readers_preference_while_the_page_is_open(page):
    background = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(background) == "rgb(255, 255, 255)"
    page.prefer(dark=True)
    assert max(map(int, re.findall(r"\d+", page.evaluate(background)))) < 50
    assert count(page, "straight", rgb(style_of("ucb").dark)) > 20
    assert count(page, "straight", rgb(BLUE)) == 0


@needs_browser
def test_paper_is_light_and_shows_what_is_folded_away(window, path, tmp_path):
    window.open(path, dark=True)
    window.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert window.evaluate("document.querySelector('main details').open")
    for name in [*DRAWN, "folded"]:
        assert count(window, name, rgb(BLUE)) > 20
    window.evaluate("dispatchEvent(new Event('afterprint'))")
    assert not window.evaluate("document.querySelector('main details').open")
    window.print_pdf(tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
    assert window.console_errors == []


@needs_browser
def test_pages_of_paper_split_no_heading_chart_or_table_of_facts(page):
    page.show_on("print")
    rule = "getComputedStyle(document.querySelector('{}')).{}"
    for selector in ("h1", "h2", "h3", "h4", "summary", "figcaption", ".bars caption", ".about", ".chart"):
        assert page.evaluate(rule.format(selector, "breakInside")) == "avoid", selector
    for selector in ("h1", "h2", "h3", "h4", "main summary"):
        assert page.evaluate(rule.format(selector, "breakAfter")) == "avoid", selector
    assert page.evaluate(rule.format(".grid", "breakInside")) == "auto"


@needs_browser
def test_texts_are_shown_as_they_were_written(page):
    assert page.evaluate("window.broken") is None
    assert text(page, "#charts > p") == NASTY
    assert text(page, "#narrow td") == NASTY
    assert page.evaluate("document.images.length") == 0
    assert texts(page, ".contents li") == ["Charts", "Odd charts", "Tables", "How this was made"]
    assert texts(page, ".about tr > *") == ["seed", "0"]


@needs_browser
def test_bars_are_as_long_as_their_values(page):
    lengths = page.evaluate("[...document.querySelectorAll('.bar')].map(bar => bar.getBoundingClientRect().width)")
    assert lengths[1] == pytest.approx(lengths[0] / 2, rel=0.01)
    assert texts(page, "#bars tr")[:2] == ["Nikon0.5", "Canon0.25"]


class Elements(HTMLParser):
    """The elements of a page with their attributes."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))


def test_the_page_needs_nothing_but_itself():
    page = page_html(sample(), FILES)
    for tag, attributes in Elements(page).found:
        assert tag not in {"link", "img", "iframe", "object", "embed", "base"}
        assert "src" not in attributes
        if "href" in attributes:
            assert tag == "a" and re.match(r"#|figures/|data/", attributes["href"])
    assert "url(" not in page and "@import" not in page


def test_files_are_offered_below_their_part():
    page = page_html(sample(), FILES)
    below = page.index('id="panels"'), page.index("figures/panels.svg"), page.index("data/panels.csv")
    assert list(below) == sorted(below) and below[-1] < page.index('id="readings"')
    assert "<noscript>" in page


def test_links_lead_only_to_what_is_on_the_page():
    page = page_html(sample(), {})
    assert '<a href="#panel-2">there</a>' in page
    assert '<td class="short">nowhere</td>' in page


def test_columns_of_numbers_are_set_to_the_right():
    page = page_html(sample(), {})
    assert '<th scope="col" class="number">number</th>' in page
    assert '<td class="number">1,000</td>' in page and '<td class="number">-</td>' in page
    assert '<td class="number">973.7 (958.0 to 989.4)</td>' in page


def test_whole_powers_are_raised_in_texts_and_legends():
    chart = Chart("c", "c", "T^0.5", "R", [Series("k^2 log T", np.ones(1), np.ones(1))])
    page = page_html(Page("", [], [Section("s", "up to 10^6", [Text("10^-3 and n^1.5"), chart])]), {})
    assert "up to 10⁶</h2>" in page and "<p>10⁻³ and n^1.5</p>" in page
    assert charts_in(page)[0]["series"][0]["label"] == "k² log T" and charts_in(page)[0]["x_label"] == "T^0.5"


def charts_in(page):
    return [json.loads(found) for found in re.findall(r'<script type="application/json">(.*?)</script>', page)]


def test_curves_are_thinned_and_numbers_rounded():
    x = np.arange(1_000_001.0, 1_001_001.0)
    chart = Chart(
        "thick", "Thick", "rounds", "regret", [Series("a", x, x / 3.0), Series("b", x, np.full(1000, np.nan))]
    )
    (data,) = charts_in(page_html(Page("", [], [Section("s", "S", [chart])]), {}))
    assert len(data["places"]) == 1
    (places,) = data["places"]
    assert len(places) == 150 and (places[0], places[-1]) == (1_000_001, 1_001_000)
    assert data["series"][0]["y"][0] == 333334
    assert set(data["series"][1]["y"]) == {None}


def test_points_are_put_in_order():
    data = next(chart for chart in charts_in(page_html(sample(), {})) if chart["title"] == "Points")
    assert data["places"] == [[0.5, 1, 4]]
    assert data["series"][0]["y"] == [5, 6, 9]


def test_the_same_page_has_the_same_bytes(tmp_path):
    for name in ("one.html", "two.html"):
        write_page(sample(), str(tmp_path / name), FILES)
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


def test_a_page_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "new folder" / "index.html"
    write_page(sample(), str(path), {})
    before = path.read_bytes()

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="No space left"):
        write_page(Page("Another", [], []), str(path), {})
    monkeypatch.undo()
    with pytest.raises(TypeError, match="'a string' is not a part"):
        write_page(Page("Another", [], [Section("s", "S", ["a string"])]), str(path), {})
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == ["index.html"]
