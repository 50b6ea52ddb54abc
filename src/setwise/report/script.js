// Draws the page's charts with uPlot, and makes their legends and axes answer to the reader.
(() => {
  "use strict";

  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const charts = [];
  let printing = false;

  const PRINTED = { panel: 330, whole: 660 }; // how wide charts are on paper, in pixels of the screen
  const zoom = () => (printing ? 3 : 1); // paper shows finer lines than a screen
  const colour = (series) => (dark.matches && !printing ? series.dark : series.colour);
  const paint = (name) => getComputedStyle(root).getPropertyValue(name).trim();

  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  function button(text, attributes, act) {
    const made = element("button", { type: "button", ...attributes }, ...[text].flat());
    made.addEventListener("click", act);
    return made;
  }

  // Curves and bands

  const drawable = ({ log }, series, order) =>
    series.y[order] !== null && (!log.y || series.y[order] > 0) && (!log.x || series.x[order] > 0);

  // uPlot wants one row of places: a curve is undefined where it has no point, and null where it has a gap.
  function aligned(chart, shown) {
    const places = new Set((shown.length ? shown : chart.data.series).flatMap(({ x }) => x));
    const x = [...places].filter((value) => !chart.log.x || value > 0).sort((a, b) => a - b);
    const order = new Map(x.map((value, index) => [value, index]));
    const rows = shown.map((series) => {
      const row = new Array(x.length).fill(undefined);
      series.x.forEach((value, index) => {
        if (order.has(value)) row[order.get(value)] = drawable(chart, series, index) ? series.y[index] : null;
      });
      return row;
    });
    return [x, ...rows];
  }

  // The ends of a band on the canvas; on a logarithmic axis one that reaches 0 leaves through the bottom.
  function bounds(chart, plot, series, order) {
    const low = series.low[order] ?? null, high = series.high[order] ?? null;
    if (low === null || high === null || !drawable(chart, series, order)) return null;
    const height = (value) => plot.valToPos(chart.log.y ? Math.max(value, plot.scales.y.min / 10) : value, "y", true);
    return { x: plot.valToPos(series.x[order], "x", true), low: height(low), high: height(high) };
  }

  function drawBands(chart, plot, shown) {
    const { ctx: pen, bbox: box } = plot;
    pen.save();
    pen.beginPath();
    pen.rect(box.left, box.top, box.width, box.height);
    pen.clip();
    for (const series of shown) {
      if (!series.low || !series.high || series.kind === "guide") continue;
      pen.fillStyle = pen.strokeStyle = colour(series);
      const ends = series.x.map((_, order) => bounds(chart, plot, series, order));
      (series.kind === "points" ? drawWhiskers : drawBand)(pen, ends);
    }
    pen.restore();
  }

  function drawBand(pen, ends) {
    pen.globalAlpha = 0.16;
    let run = [];
    for (const end of [...ends, null]) {
      if (end) {
        run.push(end);
        continue;
      }
      pen.beginPath();
      run.forEach(({ x, high }) => pen.lineTo(x, high));
      run.reverse().forEach(({ x, low }) => pen.lineTo(x, low));
      pen.fill();
      run = [];
    }
  }

  function drawWhiskers(pen, ends) {
    const unit = zoom() * devicePixelRatio;
    pen.globalAlpha = 0.7;
    pen.lineWidth = 1.25 * unit;
    pen.beginPath();
    for (const { x, low, high } of ends.filter(Boolean)) {
      pen.moveTo(x, low);
      pen.lineTo(x, high);
      for (const y of [low, high]) {
        pen.moveTo(x - 3 * unit, y);
        pen.lineTo(x + 3 * unit, y);
      }
    }
    pen.stroke();
  }

  function curve(series) {
    const width = series.width * zoom();
    const ink = colour(series);
    const lone = series.y.filter((value) => value !== null).length < 2;
    return {
      stroke: ink, width, cap: "butt",
      dash: series.dash.map((length) => length * width * devicePixelRatio),
      points: { show: series.kind === "points" || lone, size: 7 * zoom(), width: 0, fill: ink, stroke: ink },
    };
  }

  function axis(chart, name, length) {
    const upright = name === "y", log = chart.log[name];
    const font = `${12 * zoom()}px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif`;
    const lines = { stroke: paint("--grid"), width: zoom() };
    const pencil = document.createElement("canvas").getContext("2d");
    pencil.font = font;
    const widest = (texts) => Math.max(18 * zoom(), ...texts.map((text) => pencil.measureText(text).width));
    const places = !upright && chart.places.length <= 12 ? chart.places : null;
    return {
      font, stroke: paint("--soft"), gap: 4 * zoom(), grid: lines, ticks: { ...lines, size: 5 * zoom() },
      splits: (_, __, low, high) => axes.ticks(low, high, log, length / (upright ? 34 : 58) / zoom(), places),
      filter: (_, ticks) => ticks, // uPlot would leave out some of a logarithmic axis
      values: (_, ticks) => axes.labels(ticks, log),
      size: (_, texts) => (upright ? 12 * zoom() + widest(texts ?? []) : 28 * zoom()),
    };
  }

  function draw(chart) {
    const room = chart.box.clientWidth;
    if (!room || chart.box.closest("details:not([open])")) return; // drawn when the fold opens
    chart.plot?.destroy();
    chart.room = room;
    const width = printing ? zoom() * PRINTED[chart.size] : room;
    const height = Math.round(Math.min(400 * zoom(), Math.max(230, width * (chart.size === "panel" ? 0.6 : 0.5))));
    // The thickest first, so that it lies under the others.
    const shown = chart.data.series.filter(({ hidden }) => !hidden).sort((a, b) => b.width - a.width);
    const ranges = { x: axes.across(chart.data.series, chart.log.x), y: axes.upright(chart.data.series, chart.log.y) };
    const scale = (name) => ({ time: false, distr: chart.log[name] ? 3 : 1, range: () => ranges[name] });
    chart.row = aligned(chart, shown);
    chart.plot = new uPlot({
      width, height, padding: [10 * zoom(), 22 * zoom(), 0, 0], legend: { show: false },
      cursor: {
        y: false, drag: { x: false, y: false }, points: { size: 8, width: 0 },
        dataIdx: (_, __, nearest) => snapped(chart, nearest),
      },
      scales: { x: scale("x"), y: scale("y") },
      axes: [axis(chart, "x", width - 70 * zoom()), axis(chart, "y", height - 50 * zoom())],
      series: [{}, ...shown.map(curve)],
      hooks: {
        drawAxes: [(plot) => drawBands(chart, plot, shown)],
        setCursor: [({ cursor }) => tell(chart, cursor.idx == null ? null : chart.row[0][snapped(chart, cursor.idx)])],
      },
    }, chart.row, chart.box);
    tell(chart, null);
  }

  // Drawing waits for the next frame, and happens once however much has changed.
  const waiting = new Set();
  function later(chart) {
    if (!waiting.size) {
      requestAnimationFrame(() => {
        const now = [...waiting];
        waiting.clear();
        now.forEach(draw);
      });
    }
    waiting.add(chart);
  }

  // The place of a curve nearest to the pointer: guides may have others.
  function snapped(chart, nearest) {
    const x = chart.row[0];
    for (let away = 0; away < x.length; away++) {
      for (const index of [nearest - away, nearest + away]) if (chart.places.includes(x[index])) return index;
    }
    return nearest;
  }

  // Legends

  // What a curve says at a place: its own point, or between two of its points what the line shows there.
  function reading(chart, series, x) {
    const order = x === null ? series.x.length - 1 : series.x.findIndex((value) => value >= x);
    const own = (values, index = order) => values?.[index] ?? null;
    if (order < 0 || own(series.y) === null) return null;
    if (x === null || series.x[order] === x) return { y: own(series.y), low: own(series.low), high: own(series.high), sign: "" };
    if (order === 0 || series.kind === "points" || own(series.y, order - 1) === null) return null;
    const scale = chart.log.x ? Math.log : Number;
    const share = (scale(x) - scale(series.x[order - 1])) / (scale(series.x[order]) - scale(series.x[order - 1]));
    const between = (values) => {
      const from = own(values, order - 1), to = own(values);
      if (from === null || to === null) return null;
      return chart.log.y && from > 0 && to > 0 ? from * (to / from) ** share : from + (to - from) * share;
    };
    return { y: between(series.y), low: between(series.low), high: between(series.high), sign: "≈ " };
  }

  // Fill the legend's numbers: at a place, or at the end of each curve.
  function tell(chart, x) {
    const at = x ?? chart.end;
    chart.where.textContent = at === null ? "at the end of each curve" : `${chart.data.x_label}: ${axes.place(at)}`;
    for (const series of chart.data.series) {
      const read = series.hidden ? null : reading(chart, series, at);
      const like = read && (read.y || read.high || 0);
      const banded = read && read.low !== null && read.high !== null && series.kind !== "guide";
      series.value.textContent = read ? read.sign + axes.amount(read.y, like) : series.hidden ? "" : "–";
      series.interval.textContent = banded ? `(${axes.amount(read.low, like)} to ${axes.amount(read.high, like)})` : "";
    }
  }

  function swatch({ colour: light, dark: night, dash, width, kind }) {
    const mark = kind === "points" ? '<circle cx="17" cy="5" r="3.5" fill="currentColor"/>' : "";
    const dashes = dash.map((length) => length * width).join(" ");
    const made = element("span", { class: "swatch", style: `--light:${light};--dark:${night}`, "aria-hidden": "true" });
    made.innerHTML =
      '<svg viewBox="0 0 34 10" width="34" height="10"><line x2="34" y1="5" y2="5" stroke="currentColor" ' +
      `stroke-width="${width}" stroke-dasharray="${dashes}"/>${mark}</svg>`;
    return made;
  }

  function hide(chart, series, hidden) {
    series.hidden = hidden;
    series.button.setAttribute("aria-pressed", String(!hidden));
    later(chart);
  }

  function legend(chart) {
    chart.where = element("span");
    const entries = chart.data.series.map((series) => {
      const toggle = () => {
        hide(chart, series, !series.hidden);
        everywhere.tell();
      };
      series.button = button([swatch(series), element("span", {}, series.label)], { class: "key", "aria-pressed": "true" }, toggle);
      series.value = element("span", { class: "value" });
      series.interval = element("span", { class: "interval" });
      return element("li", {}, series.button, series.value, series.interval);
    });
    const banded = chart.data.series.some(({ low, kind }) => low && kind !== "guide");
    const head = element("p", {}, chart.where, element("span", {}, chart.data.y_label));
    return element("div", { class: banded ? "legend" : "legend bare" }, head, element("ul", {}, ...entries));
  }

  // Controls

  const positive = (data, name) => data.series.some((series) => series[name].some((value) => value > 0));

  function axisSwitch(chart, name) {
    const choice = (text, log) =>
      button(text, { "aria-pressed": String(chart.log[name] === log) }, (event) => {
        chart.log[name] = log;
        for (const other of group.querySelectorAll("button")) other.setAttribute("aria-pressed", String(other === event.currentTarget));
        later(chart);
      });
    const label = `${name} axis: ${chart.data[`${name}_label`]}`;
    const group = element("span", { class: `switch ${name}`, role: "group", "aria-label": label, title: label });
    group.append(element("span", {}, name), choice("log", true), choice("linear", false));
    group.querySelector("button").disabled = !positive(chart.data, name);
    return group;
  }

  // Arrow keys move along the curves, as the pointer does.
  function step(chart, event) {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by || !chart.plot) return;
    event.preventDefault();
    const x = chart.row[0].filter((value) => chart.places.includes(value));
    chart.step = Math.min(x.length - 1, Math.max(0, (chart.step ?? x.length) + by));
    chart.plot.setCursor({ left: chart.plot.valToPos(x[chart.step], "x"), top: 10 });
  }

  function build(figure) {
    const data = JSON.parse(figure.querySelector("script").textContent);
    for (const series of data.series) series.x = data.places[series.at];
    const curves = data.series.some(({ kind }) => kind !== "guide") ? data.series.filter(({ kind }) => kind !== "guide") : data.series;
    const ends = new Set(curves.filter(({ x }) => x.length).map(({ x }) => x.at(-1)));
    const what = `${data.title}: ${data.y_label} against ${data.x_label}; the legend has the numbers, arrow keys move along`;
    const chart = {
      data,
      box: element("div", { class: "plot", role: "group", "aria-roledescription": "chart", tabindex: "0", "aria-label": what }),
      log: { x: data.x_log && positive(data, "x"), y: data.y_log && positive(data, "y") },
      size: figure.closest(".grid > figure:not(:only-child)") ? "panel" : "whole",
      places: [...new Set(curves.flatMap(({ x }) => x))].sort((a, b) => a - b),
      end: ends.size === 1 ? [...ends][0] : null,
    };
    chart.box.addEventListener("keydown", (event) => step(chart, event));
    // Moving along the curves is read out; what a pointer finds is not.
    const values = legend(chart);
    chart.box.addEventListener("focus", () => values.setAttribute("aria-live", "polite"));
    chart.box.addEventListener("blur", () => {
      values.removeAttribute("aria-live");
      chart.plot?.setCursor({ left: -10, top: -10 });
    });
    const switches = element("span", { class: "switches" }, axisSwitch(chart, "x"), axisSwitch(chart, "y"));
    const above = element("div", { class: "controls" }, element("span", { class: "axis-label" }, data.y_label), switches);
    const below = element("div", { class: "axis-label below" }, data.x_label);
    const drawing = figure.querySelector(".drawing");
    drawing.append(element("div", { class: "canvas" }, above, chart.box, below), values);
    drawing.classList.toggle("many", data.series.length > 15);
    charts.push(chart);
  }

  // One row of buttons for the policies of all charts.
  const everywhere = {
    policies: [],
    of(style) {
      return charts.flatMap((chart) => chart.data.series.filter((series) => series.style === style).map((series) => [chart, series]));
    },
    set(policies, hidden) {
      for (const { style } of policies) {
        for (const [chart, series] of this.of(style)) if (!!series.hidden !== hidden) hide(chart, series, hidden);
      }
      this.tell();
    },
    tell() {
      for (const { button: key, style } of this.policies) {
        const hidden = new Set(this.of(style).map(([, series]) => !!series.hidden));
        key.setAttribute("aria-pressed", hidden.size > 1 ? "mixed" : String(!hidden.has(true)));
      }
    },
    build(policies) {
      if (policies.length < 2) return;
      this.policies = policies;
      for (const policy of policies) {
        const content = [swatch(policy), element("span", {}, policy.label)];
        policy.button = button(content, { class: "key" }, () => this.set([policy], policy.button.getAttribute("aria-pressed") === "true"));
      }
      const show = button("Show all", {}, () => this.set(policies, false));
      const none = button("Hide all", {}, () => this.set(policies, true));
      const keys = element("div", { class: "keys" }, show, none, ...policies.map((policy) => policy.button));
      const fold = element("details", {}, element("summary", {}, "Policies in all charts"), keys);
      const top = element("a", { href: "#top" }, "Top of the page");
      document.querySelector("main").before(element("div", { class: "everywhere" }, fold, top));
      this.tell();
    },
  };

  const rooms = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const chart = charts.find(({ box }) => box === target);
      if (target.clientWidth && target.clientWidth !== chart.room) later(chart);
    }
  });

  // A link may lead into a closed fold.
  function reveal() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const folds = [...document.querySelectorAll("details:not([open])")].filter((fold) => fold.contains(target));
    for (const fold of folds) fold.open = true;
    if (folds.length) target.scrollIntoView();
  }

  // Paper is light, and shows what is folded away.
  let opened = [];
  function print(now) {
    printing = now;
    root.classList.toggle("printing", now);
    if (now) opened = [...document.querySelectorAll("main details:not([open])")];
    for (const fold of opened) fold.open = now;
    charts.forEach(draw);
  }

  document.querySelectorAll("figure.chart").forEach(build);
  everywhere.build(JSON.parse(document.getElementById("policies").textContent));
  for (const chart of charts) {
    draw(chart); // at once, so that a link into the page finds everything in its place
    rooms.observe(chart.box);
  }
  dark.addEventListener("change", () => charts.forEach(draw));
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  addEventListener("hashchange", reveal);
  reveal();
})();
