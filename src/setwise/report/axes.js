// Where the axes of a chart begin and end, which numbers stand at them, and how numbers are written.
const axes = (() => {
  "use strict";

  const DECADES = 8; // of a logarithmic axis, at most: below that is rounding, not data
  // A bound far from the curves would flatten them: how many times as high or as low as they are an axis may reach.
  const ROOM = { band: 1.6, over: 1e4, under: 10, linear: 1.15 };
  const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

  function scientific(value, digits) {
    const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
    const raised = [...String(Number(exponent))].map((sign) => (sign === "-" ? "⁻" : SUPERSCRIPTS[sign])).join("");
    const front = String(Number(mantissa)).replace("-", "−");
    return (front === "1" ? "" : front === "−1" ? "−" : front + "×") + "10" + raised;
  }

  const plain = (value, options) => value.toLocaleString("en", options).replace("-", "−");

  // To four digits of the number it stands beside.
  function amount(value, like = value) {
    const size = Math.abs(like);
    if (size >= 1e7 || (size > 0 && size < 1e-3)) return value === 0 ? "0" : scientific(value, 4);
    const places = size === 0 ? 1 : Math.max(0, 3 - Math.floor(Math.log10(size)));
    return plain(value, { minimumFractionDigits: places, maximumFractionDigits: places });
  }

  // A place on the horizontal axis: rounds in full, other numbers to six digits.
  const place = (value) => plain(value, { maximumSignificantDigits: Number.isInteger(value) ? 15 : 6 });

  // All in full or all as multiples of powers of ten: one axis does not mix 10,000 and 10⁵.
  function labels(ticks, log) {
    const powers = log && ticks.length > 2 && ticks.every((value) => value.toExponential().startsWith("1e"));
    const sizes = ticks.map(Math.abs), largest = Math.max(0, ...sizes);
    const short = ticks.every((value) => Number(value.toPrecision(3)) === value);
    const far = largest >= (log ? 1e5 : 1e6) || (log ? sizes : [largest]).some((size) => size > 0 && size < 1e-3);
    if (powers || (far && short)) return ticks.map((value) => (value === 0 ? "0" : scientific(value, 3)));
    return ticks.map((value) => plain(value, { maximumSignificantDigits: Number.isInteger(value) ? 15 : 6 }));
  }

  function extent(values, log) {
    let low = Infinity, high = -Infinity;
    for (const value of values) {
      if (value === null || (log && value <= 0)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
    return low <= high ? [low, high] : log ? [1, 10] : [0, 1];
  }

  function widened([low, high], log, share) {
    if (log) {
      const factor = low === high ? 2 : (high / low) ** share;
      return [low / factor, high * factor];
    }
    const more = low === high ? Math.abs(low) / 2 || 1 : (high - low) * share;
    return [low - more, high + more];
  }

  // From the first point to the last, whatever is hidden, so that the curves stay where they are.
  function across(series, log) {
    const ends = extent(series.flatMap(({ x }) => x), log);
    return ends[0] === ends[1] || series.some(({ kind }) => kind === "points") ? widened(ends, log, 0.04) : ends;
  }

  // Around the curves that are shown, and their bands and guides as far as these do not make the curves small.
  function upright(series, log) {
    const shown = series.some(({ hidden }) => !hidden) ? series.filter(({ hidden }) => !hidden) : series;
    const guides = shown.filter(({ kind }) => kind === "guide");
    const curves = guides.length < shown.length ? shown.filter(({ kind }) => kind !== "guide") : guides;
    const [low, high] = extent(curves.flatMap(({ y }) => y), log);
    let [bottom, top] = [log ? low : Math.min(low, 0), high];
    const include = (values, over, under) => {
      const [from, to] = extent([low, high, ...values], log);
      bottom = Math.min(bottom, log ? Math.max(from, low / under) : Math.max(from, low >= 0 ? 0 : high - over * (high - low)));
      top = Math.max(top, Math.min(to, log || low >= 0 ? high * over : low + over * (high - low)));
    };
    include(curves.flatMap((one) => [...(one.low ?? []), ...(one.high ?? [])]), ROOM.band, ROOM.band);
    include(guides.flatMap(({ y }) => y), log ? ROOM.over : ROOM.linear, ROOM.under);
    if (log) return widened([Math.max(bottom, top / 10 ** DECADES), top], true, 0.03);
    const [under, over] = widened([bottom, top], false, 0.04);
    return [bottom < 0 ? under : bottom, over];
  }

  // Powers of ten, as many as there is room for.
  function powers(first, last, room) {
    const step = Math.ceil((last - first + 1) / Math.max(2, room));
    const found = [];
    for (let exponent = Math.ceil(first / step) * step; exponent <= last; exponent += step) found.push(Number(`1e${exponent}`));
    return found;
  }

  function logarithmicTicks(low, high, room) {
    const first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high) + 1e-9);
    if (last - first >= 2) return powers(first, last, room);
    const between = (...mantissas) => {
      const exponents = [first - 1, first, first + 1];
      const found = exponents.flatMap((exponent) => mantissas.map((mantissa) => Number(`${mantissa}e${exponent}`)));
      return found.filter((value) => value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9));
    };
    const choices = [between(1, 2, 3, 4, 5, 6, 7, 8, 9), between(1, 2, 3, 5, 7), between(1, 2, 5), between(1, 3), between(1)];
    const fitting = choices.find((found) => found.length <= Math.max(2, Math.min(room, 6)));
    return fitting && fitting.length > 1 ? fitting : evenTicks(low, high, Math.min(room, 5));
  }

  function evenTicks(low, high, room) {
    const least = (high - low) / Math.max(2, room);
    const power = 10 ** Math.floor(Math.log10(least));
    const step = [1, 2, 5, 10].find((digit) => digit * power >= least * (1 - 1e-9)) * power;
    const found = [];
    for (let count = Math.ceil(low / step - 1e-9); count * step <= high + step * 1e-9; count++) found.push(Number((count * step).toPrecision(12)));
    return found;
  }

  // Where there are only some places, these are the ticks; those too close to the one before are left out.
  function placeTicks(places, low, high, log, room) {
    const scale = log ? Math.log : Number;
    const found = [];
    for (const value of places) {
      if (log && value <= 0) continue;
      const distance = found.length ? (scale(value) - scale(found.at(-1))) / (scale(high) - scale(low)) : 1;
      if (distance * room >= 1) found.push(value);
    }
    return found;
  }

  // room: how many labels fit side by side; places: all there are, if they are few
  function ticks(low, high, log, room, places) {
    if (places) return placeTicks(places, low, high, log, room);
    return (log ? logarithmicTicks : evenTicks)(low, high, room);
  }

  return { across, amount, labels, place, ticks, upright };
})();
