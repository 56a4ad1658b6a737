// The page: the state is one cut and one prevalence; every number and every mark follows from the two.

const MEASURES = D.measures.map((row) => ({ ...Object.fromEntries(D.keys.map((key, i) => [key, row[i]])), ...row[D.keys.length] }));
const BY_NAME = new Map(MEASURES.map((row) => [row.name, row]));
const CUTS = D.cuts ? D.cuts.tp.length : 0;
const USUAL = ["precision", "recall", "f1", "ac_score"];
let view = D.view;
const START = { cut: D.cuts ? D.cut : null, stop: D.stop };
const state = { ...START, chosen: USUAL.filter((name) => BY_NAME.has(name)) };
if (!state.chosen.length) state.chosen = MEASURES.filter((row) => bounded(row)).slice(0, 4).map((row) => row.name);
const rows = new Map();
let resting = 0, hover = null;

function bounded(row) { return row.range[0] !== null && row.range[1] !== null && (row.ranks ? row.at : FORMULAS[row.name]); }

// ---------------------------------------------------------------- the state, and the table it stands for

// What is left of a class is taken from its last running sum, so that nothing is left where all is flagged.
const cutAt = (i) => {
  const { tp, fp } = D.cuts, last = CUTS - 1;
  return [tp[i], tp[last] - tp[i], fp[i], fp[last] - fp[i]];
};
const thresholdAt = (i) => (i === null ? null : D.cuts.threshold[i] === null ? Infinity : D.cuts.threshold[i]);
const cellsAt = (cut) => (cut === null || !CUTS ? view.cells : cutAt(cut));
const shareAt = (stop) => (D.stops[stop] === view.share || !possible() ? null : D.stops[stop]);
const possible = () => view.share > 0 && view.share < 1;
const weighed = (cells, share) => (share === null ? cells : reweighed(cells, share));
const isStart = () => view === D.view && state.cut === START.cut && state.stop === START.stop;

function valueAt(row, cells, stop) {
  if (!row.ranks) return FORMULAS[row.name] ? valueOf(row.name, cells) : isStart() ? row.value : NaN;
  if (row.at === undefined) return row.value;
  if (row.at === null) return stop === START.stop ? row.value : NaN;
  return row.at[stop];
}

function whyAt(row, cells, stop) {
  if (!row.ranks) return FORMULAS[row.name] ? reasonOf(row.name, cells) : row.why || "computed in Python only";
  if (row.at === null && stop !== START.stop) return `known at a prevalence of ${percent(D.stops[START.stop])} only`;
  return (row.whys && row.whys[stop]) || row.why || "undefined";
}

function chanceAt(row, cells, stop) {
  if (isStart()) return row.chance;
  if (row.ranks) return row.guesses ? row.guesses[row.guesses.length === 1 ? 0 : stop] : row.at === null && stop !== START.stop ? NaN : row.chance;
  return FORMULAS[row.name] ? chanceOf(row, cells) : NaN;
}

// ---------------------------------------------------------------- the rows of the measures

// A value's place in its range from 0 to 1; an end that is never reached is drawn as far as the bar goes.
function placed(row, v) {
  const [low, high] = row.range;
  if (low !== null && high !== null) return (v - low) / (high - low);
  if (low !== null) return (v - low) / (1 + v - low);
  return high === null ? 0.5 + v / (2 * (1 + Math.abs(v))) : 1 - (high - v) / (1 + high - v);
}
const across = (v) => `${(100 * Math.min(1, Math.max(0, v))).toFixed(2)}%`;
const end = (v, infinite) => (v === null ? infinite : String(v));

function bar(cell, row) {
  el("span", { class: "end" }, cell, end(row.range[0], "-∞"));
  const svg = el("svg", { class: "bar", height: 16, "aria-hidden": "true" }, cell);
  el("line", { class: "track", x1: "0%", x2: "100%", y1: 8, y2: 8 }, svg);
  const parts = {
    band: el("rect", { class: "interval", y: 4, height: 8, rx: 2, x: 0, width: 0 }, svg),
    chance: el("line", { class: "chance-mark", y1: 2, y2: 14, x1: -9, x2: -9 }, svg),
    dot: el("circle", { class: "value-mark", cy: 8, cx: -9, r: 4 }, svg),
  };
  el("span", { class: "end" }, cell, end(row.range[1], "∞"));
  return parts;
}

function drawBand(parts, row, low, high) {
  const shown = isNumber(low) && isNumber(high);
  const from = shown ? placed(row, low) : 0, to = shown ? placed(row, high) : 0;
  parts.band.setAttribute("x", across(from));
  parts.band.setAttribute("width", shown ? across(to - from) : 0);
}

function drawMark(parts, row, value, chance) {
  parts.dot.setAttribute("cx", isNumber(value) ? across(placed(row, value)) : -9);
  const at = isNumber(chance) ? across(placed(row, chance)) : -9;
  parts.chance.setAttribute("x1", at);
  parts.chance.setAttribute("x2", at);
}

function readRows(table, list, kept) {
  for (const tr of table.querySelectorAll("tr[data-metric]")) {
    const row = list.get(tr.dataset.metric);
    const [value, barCell, interval, chance] = tr.querySelectorAll("td");
    const parts = bar(barCell, row);
    drawBand(parts, row, row.low, row.high);
    drawMark(parts, row, row.value, row.chance);
    opened(tr, row);
    if (kept) kept.set(row.name, { tr, row, value, interval, chance, parts });
  }
}

// The heading of a row becomes a button that opens what is to be known of the measure.
function opened(tr, row) {
  const head = tr.querySelector("th"), words = head.textContent;
  head.replaceChildren();
  const button = el("button", { type: "button", class: "open", "aria-expanded": "false" }, head, words);
  button.addEventListener("click", () => {
    const shown = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!shown));
    if (shown) tr.nextElementSibling.remove();
    else tr.after(detail(row));
  });
}

function detail(row) {
  const tr = document.createElement("tr");
  tr.className = "detail";
  const cell = el("td", { colspan: 5 }, tr), list = el("dl", {}, cell);
  const told = (term, words) => { if (words) { el("dt", {}, list, term); el("dd", {}, list, words); } };
  told("meaning", row.meaning);
  const formula = el("dd", {});
  el("code", {}, formula, `${row.name} = ${row.formula}`);
  el("dt", {}, list, "formula");
  list.appendChild(formula);
  told("parameters", Object.entries(row.parameters).map(([key, v]) => `${key} = ${v === null ? "from the table" : v}`).join(", "));
  for (const [sign, words] of [["+", "proved"], ["-", "refuted"]]) {
    told(words, D.properties.filter((_, i) => row.holds[i] === sign).join(" · "));
  }
  if (!row.holds) told("properties", row.ranks ? "not decided for measures of scores" : "not decided here; steelyard audit decides them");
  told("interval", row.method);
  told("source", D.sources[row.cite] || row.cite);
  return tr;
}

// The rows beyond the first few are folded away until asked for.
function folded(few) {
  const rest = MEASURES.length - MEASURES.filter((row) => row.first).length;
  host("more").hidden = !rest || rest === MEASURES.length;
  host("measures").classList.toggle("few", few && rest < MEASURES.length);
  host("more").textContent = few ? `Show all ${MEASURES.length} measures` : "Show the first few only";
}

function sorted(by) {
  folded(false);
  const table = host("measures");
  const every = [...rows.values()];
  const groups = new Map();
  const put = (title, entry) => groups.set(title, [...(groups.get(title) || []), entry]);
  if (by === "first") for (const e of every.filter((e) => e.row.first)) put("Read first", e);
  if (by === "first" || by === "family") {
    for (const e of every.filter((e) => by === "family" || !e.row.first)) put(D.families[e.row.family] || e.row.family, e);
  } else {
    const number = (e) => (e.tr.dataset.value === "" ? -Infinity : Number(e.tr.dataset.value));
    const order = by === "name" ? (a, b) => a.row.title.localeCompare(b.row.title) : (a, b) => number(b) - number(a);
    for (const e of every.sort(order)) put("", e);
  }
  for (const body of table.querySelectorAll("tbody")) body.remove();
  for (const [title, entries] of groups) {
    const body = el("tbody", {}, table);
    if (title) {
      const tr = document.createElement("tr");
      tr.className = "family";
      el("th", { scope: "rowgroup", colspan: 5 }, tr, title);
      body.appendChild(tr);
    }
    for (const e of entries) {
      const more = e.tr.nextElementSibling;
      body.appendChild(e.tr);
      if (more && more.className === "detail") body.appendChild(more);
    }
  }
}

// ---------------------------------------------------------------- one update: values at once, intervals at rest

function update(redraw) {
  const began = performance.now();
  if (redraw) WIDTHS.clear();
  const share = shareAt(state.stop), cells = weighed(cellsAt(state.cut), share), start = isStart();
  for (const { tr, row, value, interval, chance, parts: marks } of rows.values()) {
    const v = start ? row.value : valueAt(row, cells, state.stop), c = chanceAt(row, cells, state.stop);
    tr.dataset.value = isNumber(v) ? String(v) : "";
    value.textContent = digits(v);
    chance.textContent = digits(c);
    drawMark(marks, row, v, c);
    const steady = start || (row.ranks && (row.at === undefined || state.stop === START.stop));
    if (!isNumber(v)) interval.textContent = start ? row.why || "undefined" : whyAt(row, cells, state.stop);
    else if (steady) interval.textContent = between(row.low, row.high);
    else interval.textContent = row.ranks ? "not at this prevalence" : "…";
    drawBand(marks, row, steady && isNumber(v) ? row.low : NaN, row.high);
  }
  table(cells);
  picture(cells);
  for (const chart of charts) chart.moved(cells, share, redraw);
  said(cells, share, start);
  controls();
  clearTimeout(resting);
  if (!start) resting = setTimeout(atRest, 60);
  else host("how-intervals").textContent = "";
  document.documentElement.dataset.update = (performance.now() - began).toFixed(3);
}

function atRest() {
  const share = shareAt(state.stop), sample = cellsAt(state.cut), cells = weighed(sample, share);
  const set = drawn(view, sample, possible() ? share : null);
  for (const { row, tr, interval, parts } of rows.values()) {
    if (row.ranks || !FORMULAS[row.name] || tr.dataset.value === "") continue;
    const [low, high] = intervalOf(row, Number(tr.dataset.value), set);
    interval.textContent = between(low, high);
    interval.dataset.low = isNumber(low) ? low : "";
    interval.dataset.high = isNumber(high) ? high : "";
    drawBand(parts, row, low, high);
  }
  host("how-intervals").textContent = "The intervals at these settings were drawn in this page.";
  now(cells, share, set);
  remembered();
  document.documentElement.dataset.rested = `${state.cut === null ? "" : state.cut}/${state.stop}`;
}

function table(cells) {
  ["tp", "fn", "fp", "tn"].forEach((name, i) => {
    const cell = document.querySelector(`[data-cell="${name}"]`);
    cell.textContent = counted(cells[i]);
    cell.dataset.value = String(cells[i]);
  });
  const sums = host("cells").querySelectorAll(".sum");
  sums[0].textContent = counted(cells[0] + cells[1]);
  sums[1].textContent = counted(cells[2] + cells[3]);
}

// What moved, in words; the verdict above stays that of the evaluation and says so.
const AS_EVALUATED = host("now").textContent;
function said(cells, share, start) {
  host("now").classList.toggle("moved", !start);
  document.querySelector(".verdict").classList.toggle("moved", !start);
  if (start) host("now").textContent = AS_EVALUATED;
  else now(cells, share, null);
}

function now(cells, share, set) {
  const told = (name, words) => {
    const v = valueOf(name, cells), row = BY_NAME.get(name) || { name, range: [0, 1] };
    if (!isNumber(v)) return `${words} is undefined (${reasonOf(name, cells)})`;
    const [low, high] = set ? intervalOf(row, v, set) : [NaN, NaN];
    return `${words} ${percent(v)}${isNumber(low) ? ` (${percent(low).slice(0, -2)} to ${percent(high).slice(0, -2)})` : ""}`;
  };
  const where = [
    view === D.view ? "" : `for ${view.label}`, CUTS ? `at ${thresholdWords()}` : "",
    share === null ? "" : `where ${percent(share)} of the rows are positive`,
  ].filter(Boolean).join(", ");
  host("now").textContent = `Now ${where}: ${told("recall", "recall")}, ${told("specificity", "specificity")}, ${told("precision", "precision")}. The sentences above are those of the evaluation.`;
}

function thresholdWords() {
  if (state.cut === null) return "the labels as predicted";
  const t = thresholdAt(state.cut);
  return t === Infinity ? "no threshold (nobody flagged)" : `threshold ${digits(t)}`;
}

function controls() {
  const share = D.stops[state.stop], p = host("prevalence");
  p.value = state.stop;
  p.dataset.prevalence = String(share);
  host("prevalence-shown").textContent = percent(share) + (share === view.share ? " (sample)" : "");
  p.setAttribute("aria-valuetext", percent(share));
  if (!CUTS) return;
  const t = host("threshold"), cut = thresholdAt(state.cut);
  if (state.cut !== null) t.value = CUTS - 1 - state.cut;
  t.dataset.threshold = cut === null ? "" : String(cut);
  const words = cut === null ? "as predicted" : cut === Infinity ? "nobody flagged" : digits(cut);
  host("threshold-shown").textContent = words;
  t.setAttribute("aria-valuetext", words);
}

// ---------------------------------------------------------------- the charts

const charts = [];
const each = (make) => Array.from({ length: CUTS }, (_, i) => make(i));
const rates = (c) => [c[2] / (c[2] + c[3]), c[0] / (c[0] + c[1])];
const SCORES = D.histogram ? ticked(D.histogram.ends[0], D.histogram.ends[1]) : null;
const finiteCut = (i) => D.cuts.threshold[i] !== null;

// A chart over the cuts: drawn anew when its lines change, its point moved at every update.
function chart(id, draw, at, words, fixedShare) {
  if (!host(id)) return;
  let p = null, marks = null, drawnFor = null;
  const self = {
    moved(cells, share, redraw) {
      const key = fixedShare ? view.label : `${state.stop}|${state.chosen}|${view.label}`;
      if (!p || redraw || drawnFor !== key) { p = draw(share); drawnFor = key; marks = [rule(p), dot(p)]; if (at.upright) marks[1].remove(); if (!at.upright) marks[0].remove(); listen(p, self); }
      self.mark(hover === null ? state.cut : hover);
    },
    mark(cut) {
      const c = weighed(cellsAt(cut), shareAt(state.stop)), [x, y] = at(c, cut);
      if (at.upright) place(marks[0], p, x);
      else place(marks[1], p, x, y);
      host(`${id}-readout`).textContent = words(c, cut, x, y);
    },
    nearest(x, y) {
      let best = null, least = Infinity;
      for (let i = 0; i < CUTS; i++) {
        const [u, v] = at(weighed(cutAt(i), shareAt(state.stop)), i);
        if (!isNumber(u) || (!at.upright && !isNumber(v))) continue;
        const away = (p.X(u) - x) ** 2 + (at.upright ? 0 : (p.Y(v) - y) ** 2);
        if (away < least) { least = away; best = i; }
      }
      return best;
    },
  };
  charts.push(self);
}

function listen(p, self) {
  if (!CUTS) return;
  const found = (event) => {
    const box = p.svg.getBoundingClientRect(), k = p.width / box.width;
    return self.nearest((event.clientX - box.left) * k, (event.clientY - box.top) * k);
  };
  const point = (cut) => { hover = cut; for (const chart of charts) if (chart.mark) chart.mark(cut === null ? state.cut : cut); };
  p.svg.addEventListener("pointermove", (event) => point(found(event)));
  p.svg.addEventListener("pointerleave", () => point(null));
  p.svg.addEventListener("click", (event) => { const cut = found(event); hover = null; if (cut !== null) move({ cut }); });
}

const cutWords = (cut) => (cut === null ? "as predicted" : thresholdAt(cut) === Infinity ? "nobody flagged" : `threshold ${digits(thresholdAt(cut))}`);
const upright = (f) => Object.assign(f, { upright: true });

// The band is given as the false positive rate at a recall, from which every curve's band follows.
const rated = (recall, fpr, share) => { const s = share === null ? view.share : share; return [recall * s, (1 - recall) * s, fpr * (1 - s), (1 - fpr) * (1 - s)]; };
function banded(p, share, point) {
  const { recall, low, high } = D.band;
  const side = (fprs) => recall.map((r, i) => point(rated(r, fprs[i], share))).filter(([x, y]) => isNumber(x) && isNumber(y));
  area(p, [...side(low), ...side(high).reverse()], "band");
}
const flagged = (c) => (c[0] + c[2]) / (c[0] + c[1] + c[2] + c[3]);
const precisionOf = (c) => valueOf("precision", c);
const recallOf = (c) => valueOf("recall", c);

chart("roc", (share) => {
  const p = plot("roc", { x: SHARES, y: SHARES, xTitle: "share of negatives flagged", yTitle: "share of positives found" });
  line(p, [[0, 0], [1, 1]], "chance-line");
  banded(p, share, rates);
  line(p, each((i) => rates(cutAt(i))), "curve");
  const auc = BY_NAME.get("roc_auc");
  if (auc && isNumber(auc.value)) el("text", { class: "label", x: p.box.right - 8, y: p.box.bottom - 12, "text-anchor": "end" }, p.svg, `area ${digits(auc.value)}`);
  return p;
}, rates, (c, cut, x, y) => `${cutWords(cut)} · found ${percent(y)} · flagged in error ${percent(x)}`, true);

chart("pr", (share) => {
  const p = plot("pr", { x: SHARES, y: SHARES, xTitle: "share of positives found", yTitle: "share of flags that are right" });
  const grid = Array.from({ length: 61 }, (_, i) => i / 60);
  const least = grid.map((r) => [r, precisionOf(rated(r, 1, share))]).filter(([, y]) => isNumber(y));
  if (least.length) area(p, [[0, 0], ...least, [1, 0]], "unachievable");
  const s = share === null ? view.share : share;
  line(p, [[0, s], [1, s]], "chance-line");
  const point = (c) => [recallOf(c), precisionOf(c)];
  banded(p, share, point);
  line(p, each((i) => point(weighed(cutAt(i), share))).filter(([, y]) => isNumber(y)), "curve");
  if (s > 0.06) el("text", { class: "tick", x: p.box.right - 8, y: p.box.bottom - 6, "text-anchor": "end" }, p.svg, "cannot be reached");
  return p;
}, (c) => [recallOf(c), precisionOf(c)], (c, cut, x, y) => `${cutWords(cut)} · found ${percent(x)} · precision ${percent(y)}`);

chart("gain", (share) => {
  const p = plot("gain", { x: SHARES, y: SHARES, xTitle: "share of all rows flagged", yTitle: "share of positives found" });
  const s = share === null ? view.share : share, point = (c) => [flagged(c), recallOf(c)];
  line(p, [[0, 0], [1, 1]], "chance-line");
  line(p, [[0, 0], [s, 1], [1, 1]], "perfect-line");
  banded(p, share, point);
  line(p, each((i) => point(weighed(cutAt(i), share))), "curve");
  return p;
}, (c) => [flagged(c), recallOf(c)], (c, cut, x, y) => `${cutWords(cut)} · flags ${percent(x)} of the rows, finds ${percent(y)}`);

const atThreshold = upright((c, cut) => [cut === null ? NaN : Math.min(thresholdAt(cut), SCORES.to)]);

chart("scores", () => {
  const h = D.histogram, n = h.positive.length, most = { 1: Math.max(...h.positive), "-1": Math.max(...h.negative) };
  const y = { from: -1, to: 1, ticks: [0], name: () => "" };
  const p = plot("scores", { x: SCORES, y, xTitle: "score", yTitle: "each class to its own highest bar", height: 320 });
  const wide = (p.box.right - p.box.left) / n;
  for (let i = 0; i < n; i++) {
    for (const [share, sign, kind] of [[h.positive[i], 1, "bin-positive"], [h.negative[i], -1, "bin-negative"]]) {
      const tall = Math.abs(p.Y(share / (most[sign] || 1)) - p.Y(0));
      el("rect", { class: kind, x: round(p.box.left + i * wide), width: Math.max(1, round(wide - 1)), y: round(sign > 0 ? p.Y(0) - tall : p.Y(0)), height: round(tall) }, p.svg);
    }
  }
  el("text", { class: "label", x: p.box.right, y: p.box.top + 12, "text-anchor": "end" }, p.svg, "positives");
  el("text", { class: "label", x: p.box.right, y: p.box.bottom - 6, "text-anchor": "end" }, p.svg, "negatives");
  return p;
}, atThreshold, (c, cut) => `${cutWords(cut)} · found ${percent(recallOf(c))} · flagged in error ${percent(rates(c)[0])}`, true);

const short = (row) => (row.title.length > 14 ? `${row.title.slice(0, 13)}…` : row.title);
function spanned(values) {
  const held = values.filter(isNumber);
  return held.some((v) => v < -1e-9) ? { from: -1, to: 1, ticks: [-1, -0.5, 0, 0.5, 1], name: String } : SHARES;
}

function several(id, x, xTitle, points) {
  const lines = state.chosen.map((name) => ({ row: BY_NAME.get(name), points: points(BY_NAME.get(name)) }));
  const y = spanned(lines.flatMap((l) => l.points.map(([, v]) => v)));
  const p = plot(id, { x, y, xTitle, yTitle: "value", right: 112 });
  lines.forEach((l, i) => line(p, l.points.filter(([, v]) => isNumber(v)), `curve colour-${i % 6}`));
  labels(p, lines.map((l, i) => ({ words: short(l.row), kind: `fill-${i % 6}`, y: (l.points.filter(([, v]) => isNumber(v)).slice(-1)[0] || [])[1] })));
  return p;
}
const values = (c, stop) => state.chosen.map((name) => `${BY_NAME.get(name).title} ${digits(valueAt(BY_NAME.get(name), c, stop))}`).join(" · ");

chart("over-threshold", (share) => several("over-threshold", SCORES, "threshold", (row) => {
  const found = [];
  for (let i = CUTS - 1; i >= 0; i--) if (finiteCut(i)) found.push([thresholdAt(i), valueAt(row, weighed(cutAt(i), share), state.stop)]);
  return found;
}), atThreshold, (c, cut) => `${cutWords(cut)} · ${values(c, state.stop)}`);

const logit = (v) => Math.log(v / (1 - v));
const ENDS = [logit(D.stops[0]), logit(D.stops[D.stops.length - 1])];
const PREVALENCE = {
  map: (v) => (logit(v) - ENDS[0]) / (ENDS[1] - ENDS[0]), ticks: [0.0001, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99].filter((t) => t >= D.stops[0]),
  name: (v) => `${Number((100 * v).toPrecision(6))} %`,
};
const overPrevalence = {
  moved(cells, share, redraw) {
    const key = `${state.cut}|${state.chosen}|${view.label}`;
    if (redraw || this.key !== key) { this.key = key; this.draw(); }
    place(this.rule, this.p, D.stops[state.stop]);
    host("over-prevalence-readout").textContent = `prevalence ${percent(D.stops[state.stop])} · ${values(cells, state.stop)}`;
  },
  draw() {
    const base = cellsAt(state.cut);
    const p = several("over-prevalence", PREVALENCE, "share of positives (log scale)", (row) => D.stops.map((s, i) => [s, valueAt(row, weighed(base, shareAt(i)), i)]));
    Object.assign(this, { p, rule: rule(p) });
    p.svg.addEventListener("click", (event) => {
      const box = p.svg.getBoundingClientRect(), x = ((event.clientX - box.left) * p.width) / box.width;
      move({ stop: D.stops.map((s, i) => [Math.abs(p.X(s) - x), i]).sort((a, b) => a[0] - b[0])[0][1] });
    });
  },
};
charts.push(overPrevalence);

if (D.reliability) {
  const scaled = (bin, share) => weighed([bin.p, 0, bin.n, 0], null).map((v, i) => {
    if (share === null) return v;
    return i < 2 ? (v * share) / view.share : (v * (1 - share)) / (1 - view.share);
  });
  const right = (rate, share) => precisionOf(share === null ? [rate, 0, 1 - rate, 0] : [(rate * share) / view.share, 0, ((1 - rate) * (1 - share)) / (1 - view.share), 0]);
  charts.push({
    moved(cells, share, redraw) {
      if (!redraw && this.for === state.stop) return;
      this.for = state.stop;
      const p = plot("reliability", { x: SHARES, y: SHARES, xTitle: "mean score", yTitle: "share that is positive" });
      line(p, [[0, 0], [1, 1]], "chance-line");
      const points = D.reliability.map((bin) => {
        const c = scaled(bin, share), k = [c[0] / (bin.p || 1), c[2] / (bin.n || 1)];
        const mean = ((bin.sp * (bin.p ? k[0] : 0)) + bin.sn * (bin.n ? k[1] : 0)) / (c[0] + c[2]);
        const low = right(bin.low, share), high = right(bin.high, share);
        el("line", { class: "whisker", x1: round(p.X(mean)), x2: round(p.X(mean)), y1: round(p.Y(low)), y2: round(p.Y(high)) }, p.svg);
        return [mean, precisionOf(c)];
      });
      line(p, points, "curve");
      for (const [x, y] of points) place(dot(p, "small-point"), p, x, y);
      host("reliability-readout").textContent = `${points.length} bins of equal width; bars are ${100 * D.level} % intervals`;
    },
  });
  chart("decision", (share) => {
    const benefit = each((i) => [thresholdAt(i), i]).filter(([t]) => t > 0 && t < 1).map(([t, i]) => [t, NET_BENEFIT(...weighed(cutAt(i), share), t)]).reverse();
    const s = share === null ? view.share : share;
    const all = Array.from({ length: 99 }, (_, i) => (i + 1) / 100).map((t) => [t, NET_BENEFIT(s, 0, 1 - s, 0, t)]);
    const top = Math.max(s, 1e-9), y = { ...ticked(-top * 0.25, top * 1.05) };
    const p = plot("decision", { x: SHARES, y, xTitle: "threshold as a probability", yTitle: "net benefit a row" });
    const inside = (points) => points.filter(([, v]) => v >= y.from);
    line(p, [[0, 0], [1, 0]], "chance-line");
    line(p, inside(all), "chance-line");
    line(p, inside(benefit), "curve");
    const last = inside(all).slice(-1)[0] || [0, 0], late = last[0] > 0.6;
    const word = (x, y, end, words) => el("text", { class: "tick", x: round(x), y: round(y), "text-anchor": end ? "end" : "start" }, p.svg, words);
    word(p.X(last[0]) + (late ? -6 : 6), p.Y(last[1]) - 6, late, "flag all");
    word(late ? p.box.left + 6 : p.box.right, p.Y(0) + 16, !late, "flag nobody");
    return p;
  }, (c, cut) => { const t = cut === null ? NaN : thresholdAt(cut); return [t, t > 0 && t < 1 ? NET_BENEFIT(c[0], c[1], c[2], c[3], t) : NaN]; },
  (c, cut, x, y) => `${cutWords(cut)} · net benefit ${digits(y)}`);
}

// ---------------------------------------------------------------- moving

function move(change) {
  Object.assign(state, change);
  update(false);
}

function bestCut(name) {
  const row = BY_NAME.get(name);
  if (D.stops[state.stop] === view.share) return row.best;
  const share = shareAt(state.stop);
  let best = row.best, most = -Infinity;
  for (let i = 0; i < CUTS; i++) {
    const v = row.sign * valueAt(row, weighed(cutAt(i), share), state.stop);
    if (v > most + 1e-12) { most = v; best = i; }
  }
  return best;
}

function remembered() {
  const parts = new URLSearchParams();
  if (CUTS && state.cut !== START.cut && state.cut !== null) parts.set("threshold", String(thresholdAt(state.cut)));
  if (state.stop !== START.stop) parts.set("prevalence", String(D.stops[state.stop]));
  if (host("optimise") && host("optimise").value !== "ac_score") parts.set("optimise", host("optimise").value);
  if (host("sort").value !== "first") parts.set("sort", host("sort").value);
  if (view !== D.view) parts.set("class", view.label);
  try { history.replaceState(null, "", `#${parts}`); } catch { /* a frame of a notebook has no address */ }
}

function recalled() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const nearest = (list, v) => list.reduce((best, item, i) => (Math.abs(item - v) < Math.abs(list[best] - v) ? i : best), 0);
  if (CUTS && parts.has("threshold")) {
    const t = Number(parts.get("threshold"));
    state.cut = t === Infinity ? D.cuts.threshold.indexOf(null) : nearest(D.cuts.threshold.map((v) => (v === null ? 1e300 : v)), t);
    if (state.cut < 0) state.cut = 0;
  }
  if (Number(parts.get("prevalence")) > 0) state.stop = nearest(D.stops, Number(parts.get("prevalence")));
  for (const key of ["optimise", "sort"]) {
    const select = host(key);
    if (select && [...select.options].some((option) => option.value === parts.get(key))) select.value = parts.get(key);
  }
  const shown = D.views.findIndex((v) => v.label === parts.get("class"));
  if (shown >= 0) { host("class").selectedIndex = shown; turned(D.views[shown], parts.has("prevalence")); }
}

// Another class against the rest: its own table at its own share.
function turned(chosen, keepStop) {
  view = chosen.label === D.view.label ? D.view : chosen;
  if (!keepStop) state.stop = Math.max(0, D.stops.indexOf(view.share));
  host("measures").dataset.class = view.label;
}

// ---------------------------------------------------------------- the numbers to take away

function numbers() {
  const start = isStart(), share = shareAt(state.stop), cells = weighed(cellsAt(state.cut), share);
  const number = (v) => (isNumber(v) ? v : null);
  const cut = CUTS ? thresholdAt(state.cut) : null;
  return {
    schema: 1, version: D.version, source: D.source, rows: D.rows, labels: D.labels, positive: view.label,
    threshold: number(cut), prevalence: D.stops[state.stop], level: D.level, seed: D.seed,
    counts: { tp: cells[0], fn: cells[1], fp: cells[2], tn: cells[3] },
    metrics: [...rows.values()].map(({ row, tr, interval }) => {
      const v = tr.dataset.value === "" ? null : Number(tr.dataset.value);
      const steady = start || (row.ranks && (row.at === undefined || state.stop === START.stop));
      const [low, high] = steady ? [row.low, row.high] : row.ranks ? [null, null] : [interval.dataset.low, interval.dataset.high].map((x) => (x ? Number(x) : null));
      return { name: row.name, value: v, low, high, chance: number(chanceAt(row, cells, state.stop)), undefined: v === null ? interval.textContent : null };
    }),
    groups: [], verdict: start ? D.verdict : [host("now").textContent],
  };
}

function markdown() {
  const data = numbers(), cell = (words) => String(words).replace(/\|/g, "\\|");
  const lines = [...data.verdict, "", `| measure | value | ${100 * D.level} % interval | chance |`, "|---|---|---|---|"];
  for (const m of data.metrics) lines.push(`| ${[m.name, digits(m.value), m.undefined || between(m.low, m.high), digits(m.chance)].map(cell).join(" | ")} |`);
  return lines.join("\n");
}

function copied(words) {
  const done = () => { host("copied").textContent = "copied"; setTimeout(() => { host("copied").textContent = ""; }, 1500); };
  const aside = () => {
    const area = el("textarea", { class: "aside", "aria-hidden": "true" }, document.body);
    area.value = words;
    area.select();
    document.execCommand("copy");
    area.remove();
    done();
  };
  if (navigator.clipboard) navigator.clipboard.writeText(words).then(done, aside);
  else aside();
}

// ---------------------------------------------------------------- begin

function choices() {
  const room = document.querySelector("#chosen .choices");
  for (const row of MEASURES.filter(bounded)) {
    const label = el("label", {}, room), box = el("input", { type: "checkbox", value: row.name }, label);
    label.append(` ${row.title}`);
    box.checked = state.chosen.includes(row.name);
    box.addEventListener("change", () => {
      state.chosen = [...room.querySelectorAll("input:checked")].map((input) => input.value);
      update(true);
    });
  }
}

function begin() {
  readRows(host("measures"), BY_NAME, rows);
  if (D.all) readRows(host("all"), new Map(D.all.map((row) => [row.name, row])), null);
  choices();
  recalled();
  const listen = (id, event, act) => { const found = host(id); if (found) found.addEventListener(event, act); };
  listen("threshold", "input", (event) => move({ cut: CUTS - 1 - Number(event.target.value) }));
  listen("prevalence", "input", (event) => move({ stop: Number(event.target.value) }));
  listen("jump", "click", () => move({ cut: bestCut(host("optimise").value) }));
  listen("optimise", "change", remembered);
  listen("reset", "click", () => { turned(D.view, true); if (host("class")) host("class").value = D.view.label; move({ ...START }); remembered(); });
  listen("sort", "change", () => { sorted(host("sort").value); if (host("sort").value === "first") folded(true); remembered(); });
  listen("class", "change", (event) => { turned(D.views[event.target.selectedIndex], false); move({}); });
  listen("more", "click", () => folded(!host("measures").classList.contains("few")));
  listen("print", "click", () => window.print());
  listen("copy-json", "click", () => copied(JSON.stringify(numbers(), null, 1)));
  listen("copy-markdown", "click", () => copied(markdown()));
  folded(true);
  if (host("sort").value !== "first") sorted(host("sort").value);
  let width = window.innerWidth;
  window.addEventListener("resize", () => { if (window.innerWidth !== width) { width = window.innerWidth; update(true); } });
  const printing = (on) => { document.documentElement.classList.toggle("printing", on); update(true); };
  window.addEventListener("beforeprint", () => printing(true));
  window.addEventListener("afterprint", () => printing(false));
  update(true);
  window.steelyard = { numbers, markdown, state, move };
}

begin();
