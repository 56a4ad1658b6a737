// Curves: what each chart shows; the point on every one of them is the same threshold.

import { digits, isNumber, percent, valueOf, valueText } from "./numbers.js";
import { area, defined, dot, el, host, labels, line, place, plot, roomOf, round, rule, say, SHARES } from "./charts.js";
import { tables } from "./frame.js";
import {
  atPrevalence, BY_NAME, cellsAt, charts, countsAt, pointer, prevalence, SCORES, shareAt, START, state, thresholdAt,
  THRESHOLDS, thresholdText, valueAt, view, WHOLE,
} from "./state.js";
import { move } from "./update.js";

export const each = (make) => Array.from({ length: THRESHOLDS }, (_, i) => make(i));
const rates = (c) => [c[2] / (c[2] + c[3]), c[0] / (c[0] + c[1])];
const isFiniteThreshold = (i) => D.thresholds.threshold[i] !== null;
// Thresholds lie between scores, so that the next set of flagged rows begins about half-way to the next threshold.
export const stepEnd = (i) => (i < 2 && (WHOLE || !i) ? SCORES.to : WHOLE ? (thresholdAt(i - 1) + thresholdAt(i)) / 2 : thresholdAt(i));

// A chart over the thresholds: drawn anew when its lines change, its point moved at every update.
function chart(id, draw, at, words, fixedShare) {
  if (!host(id)) return;
  let p = null, marks = null, drawnFor = null;
  const self = {
    room: roomOf(id),
    moved(cells, share, redraw) {
      const key = fixedShare ? view.label : `${prevalence()}|${state.chosen}|${view.label}`;
      if (!p || redraw || drawnFor !== key) { p = draw(share); drawnFor = key; marks = [rule(p), dot(p)]; if (at.upright) marks[1].remove(); if (!at.upright) marks[0].remove(); listen(p, self); }
      self.mark(pointer.at === null ? state.index : pointer.at);
    },
    mark(index) {
      const c = atPrevalence(cellsAt(index), shareAt(state.stop)), [x, y] = at(c, index);
      if (at.upright) place(marks[0], p, x);
      else place(marks[1], p, x, y);
      say(host(`${id}-readout`), words(c, index, x, y));
    },
    nearest(x, y) {
      let best = null, least = Infinity;
      for (let i = 0; i < THRESHOLDS; i++) {
        const [u, v] = at(atPrevalence(countsAt(i), shareAt(state.stop)), i);
        if (!isNumber(u) || (!at.upright && !isNumber(v))) continue;
        const away = (p.X(u) - x) ** 2 + (at.upright ? 0 : (p.Y(v) - y) ** 2);
        if (away < least) { least = away; best = i; }
      }
      return best;
    },
  };
  charts.push(self);
}

export function listen(p, self) {
  if (!THRESHOLDS) return;
  const found = (event) => {
    const box = p.svg.getBoundingClientRect(), k = p.width / box.width;
    return self.nearest((event.clientX - box.left) * k, (event.clientY - box.top) * k);
  };
  const point = (index) => { pointer.at = index; for (const chart of charts) if (chart.mark) chart.mark(index === null ? state.index : index); };
  p.svg.addEventListener("pointermove", (event) => point(found(event)));
  p.svg.addEventListener("pointerleave", () => point(null));
  p.svg.addEventListener("click", (event) => { const index = found(event); pointer.at = null; if (index !== null) move({ index }); });
}

const upright = (f) => Object.assign(f, { upright: true });

// The band: the rates from each threshold on to the next that hold at all thresholds together, a rectangle each, from
// which every curve's band follows; none where rows are in clusters. Given are the steps of the log odds in hundredths.
// Through tied scores curves run straight, between the lines through the corners of the rectangles.
// Where the page starts at an uncertain prevalence, such as the sample's own, what depends on it has a band of its own.
for (const band of [D.band, D.uncertain && D.uncertain.band]) if (band) for (const name of Object.keys(band)) { let odds = 0; band[name] = band[name].map((step) => 1 / (1 + Math.exp(-(odds += step) / 100))); }
const isUncertain = () => D.uncertain && view === D.view && state.stop === START.stop;
const bandAt = (share, moves) => (moves && isUncertain() ? [D.uncertain.band, D.uncertain.shares] : [D.band, [share]]);
const movesWith = (name) => isUncertain() && D.uncertain.shares.some((s) => Math.abs(valueOf(name, rated(0.7, 0.2, s)) - valueOf(name, rated(0.7, 0.2, null))) > 1e-9);
const rated = (recall, fpr, share) => { const s = share === null ? view.share : share; return [recall * s, (1 - recall) * s, fpr * (1 - s), (1 - fpr) * (1 - s)]; };
const NEAR = 1e-9, inside = (rate) => Math.min(1 - NEAR, Math.max(NEAR, rate));
function banded(p, share, point, moves = false) {
  if (!D.band) return;
  const [{ recall_low, recall_high, fpr_low, fpr_high }, shares] = bandAt(share, moves);
  const at = (recall, fpr, side) => shares.map((s) => point(rated(recall, fpr, s))).reduce((a, b) => (side * (b[1] - b[0]) > side * (a[1] - a[0]) ? b : a));
  const best = [at(0, 0, 1), at(NEAR, 0, 1)], worst = [at(0, 0, -1)];
  for (let i = 0; i < THRESHOLDS; i++) {
    best.push(at(recall_high[i], fpr_low[i], 1));
    worst.push(at(recall_low[i], fpr_high[i], -1));
  }
  area(p, [...best, at(1, 1, 1), at(1, 1, -1), ...worst.reverse()].filter(([x, y]) => isNumber(x) && isNumber(y)), "band");
}
// The ends of a metric within the rectangle of a threshold; one that rises or falls with a rate has them at the corners.
const QUARTERS = [0, 0.25, 0.5, 0.75, 1];
function endsAt(name, i, share) {
  const [{ recall_low, recall_high, fpr_low, fpr_high }, shares] = bandAt(share, movesWith(name)), along = (low, high) => QUARTERS.map((part) => inside(low + (high - low) * part));
  const fprs = along(fpr_low[i], fpr_high[i]);
  const found = along(recall_low[i], recall_high[i]).flatMap((r) => fprs.flatMap((f) => shares.map((s) => valueOf(name, rated(r, f, s))))).filter(isNumber);
  return [Math.min(...found), Math.max(...found)];
}
export const flagged = (c) => (c[0] + c[2]) / (c[0] + c[1] + c[2] + c[3]);
const precisionOf = (c) => valueOf("precision", c);
const recallOf = (c) => valueOf("recall", c);

chart("roc", (share) => {
  const p = plot("roc", { square: true, x: SHARES, y: SHARES, xTitle: "False positive rate", yTitle: "True positive rate (recall)" });
  line(p, [[0, 0], [1, 1]], "chance-line");
  banded(p, share, rates);
  line(p, each((i) => rates(countsAt(i))), "curve");
  const auc = BY_NAME.get("roc_auc");
  if (auc && isNumber(auc.value)) el("text", { class: "label", x: p.box.right - 8, y: p.box.bottom - 12, "text-anchor": "end" }, p.svg, `area ${digits(auc.value)}`);
  return p;
}, rates, (c, index, x, y) => `${thresholdText(index)} · recall ${percent(y)} · false positive rate ${percent(x)}`, true);

chart("pr", (share) => {
  const p = plot("pr", { square: true, x: SHARES, y: SHARES, xTitle: "Recall", yTitle: "Precision" });
  const grid = Array.from({ length: 61 }, (_, i) => i / 60);
  const least = grid.map((r) => [r, precisionOf(rated(r, 1, share))]).filter(([, y]) => isNumber(y));
  if (least.length) area(p, [[0, 0], ...least, [1, 0]], "unachievable");
  const s = share === null ? view.share : share;
  line(p, [[0, s], [1, s]], "chance-line");
  const point = (c) => [recallOf(c), precisionOf(c)];
  banded(p, share, point, true);
  line(p, each((i) => point(atPrevalence(countsAt(i), share))).filter(([, y]) => isNumber(y)), "curve");
  if (s > 0.06) el("text", { class: "tick", x: p.box.right - 8, y: p.box.bottom - 6, "text-anchor": "end" }, p.svg, "unachievable");
  return p;
}, (c) => [recallOf(c), precisionOf(c)], (c, index, x, y) => `${thresholdText(index)} · recall ${percent(x)} · precision ${percent(y)}`);

const atThreshold = upright((c, index) => [index === null ? NaN : Math.min(thresholdAt(index), SCORES.to)]);

const short = (row) => (row.title.length > 14 ? `${row.title.slice(0, 13)}…` : row.title);
function spanned(values) {
  const held = values.filter(isNumber);
  return held.some((v) => v < -1e-9) ? { from: -1, to: 1, ticks: [-1, -0.5, 0, 0.5, 1], name: String } : SHARES;
}

function several(id, x, xTitle, points, bands = () => []) {
  const lines = state.chosen.map((name) => ({ row: BY_NAME.get(name), points: points(BY_NAME.get(name)) }));
  const y = spanned(lines.flatMap((l) => l.points.map(([, v]) => v)));
  const p = plot(id, { x, y, xTitle, yTitle: "value", right: 112 });
  lines.forEach((l, i) => bands(l.row).forEach((outline) => area(p, outline, `band fill-${i % 6}`)));
  lines.forEach((l, i) => defined(l.points).forEach((run) => line(p, run, `curve colour-${i % 6} dash-${Math.floor(i / 6)}`)));
  labels(p, lines.map((l, i) => ({ words: short(l.row), kind: `fill-${i % 6}`, y: (l.points.filter(([, v]) => isNumber(v)).slice(-1)[0] || [])[1] })));
  return p;
}
const values = (c, stop) => state.chosen.map((name) => `${BY_NAME.get(name).title} ${valueText(BY_NAME.get(name), valueAt(BY_NAME.get(name), c, stop))}`).join(" · ");

// More than two bands cover each other.
const hasBands = () => D.band && state.chosen.length <= 2;
const bandWords = () => (hasBands() ? ` · shaded: ${100 * D.level} % simultaneous confidence band` : D.band ? ` · choose one or two metrics below for their ${100 * D.level} % simultaneous confidence bands` : "");
chart("over-threshold", (share) => several("over-threshold", SCORES, "threshold", (row) => {
  const steps = [];
  for (let i = THRESHOLDS - 1; i >= 0; i--) {
    const v = valueAt(row, atPrevalence(countsAt(i), share), state.stop), from = steps.length ? steps[steps.length - 1][0] : SCORES.from;
    if (from >= SCORES.to) break;
    if (WHOLE || !steps.length || !isFiniteThreshold(i)) steps.push([from, v]);
    steps.push([stepEnd(i), v]);
  }
  return steps;
}, (row) => {
  if (!hasBands() || !FORMULAS[row.name]) return [];
  const low = [], high = [];
  for (let i = THRESHOLDS - 1, from = SCORES.from; i >= 0 && from < SCORES.to; i--) {
    const to = Math.min(stepEnd(i), SCORES.to), ends = endsAt(row.name, i, share);
    if (ends.every(isNumber)) { low.push([from, ends[0]], [to, ends[0]]); high.push([from, ends[1]], [to, ends[1]]); }
    from = Math.max(from, to);
  }
  return [[...low, ...high.reverse()]];
}), atThreshold, (c, index) => `${thresholdText(index)} · ${values(c, state.stop)}${bandWords()}`);

const logit = (v) => Math.log(v / (1 - v));
// An axis of shares in log-odds, from one to another.
export function logitAxis(from, to) {
  const [low, high] = [logit(from), logit(to)], within = (v) => Math.min(to, Math.max(from, v));
  const ticks = [0.0001, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999].filter((t) => t >= from && t <= to);
  return { from, to, map: (v) => (logit(within(v)) - low) / (high - low), ticks, name: (v) => `${Number((100 * v).toPrecision(6))} %` };
}
const PREVALENCE = logitAxis(D.stops[0], D.stops[D.stops.length - 1]);
// Where positives are rare, what matters lies at small probabilities.
export const isRare = () => prevalence() < 0.05;
const overPrevalence = {
  room: roomOf("over-prevalence"),
  moved(cells, share, redraw) {
    const key = `${state.index}|${state.chosen}|${view.label}`;
    if (redraw || this.key !== key) { this.key = key; this.draw(); }
    place(this.rule, this.p, prevalence());
    say(host("over-prevalence-readout"), `prevalence ${percent(prevalence())} · ${values(cells, state.stop)}`);
  },
  draw() {
    const base = cellsAt(state.index);
    const p = several("over-prevalence", PREVALENCE, "Prevalence (logit scale)", (row) => D.stops.map((s, i) => [s, valueAt(row, atPrevalence(base, shareAt(i)), i)]));
    Object.assign(this, { p, rule: rule(p) });
    p.svg.addEventListener("click", (event) => {
      const box = p.svg.getBoundingClientRect(), x = ((event.clientX - box.left) * p.width) / box.width;
      move({ stop: D.stops.map((s, i) => [Math.abs(p.X(s) - x), i]).sort((a, b) => a[0] - b[0])[0][1] });
    });
  },
};
charts.push(overPrevalence);

if (D.reliability) {
  const scaled = (bin, share) => atPrevalence([bin.p, 0, bin.n, 0], null).map((v, i) => {
    if (share === null) return v;
    return i < 2 ? (v * share) / view.share : (v * (1 - share)) / (1 - view.share);
  });
  const right = (rate, share) => precisionOf(share === null ? [rate, 0, 1 - rate, 0] : [(rate * share) / view.share, 0, ((1 - rate) * (1 - share)) / (1 - view.share), 0]);
  charts.push({
    room: host("reliability"),
    moved(cells, share, redraw) {
      if (!redraw && this.for === prevalence()) return;
      this.for = prevalence();
      const means = D.reliability.map((bin) => (bin.sp + bin.sn) / (bin.p + bin.n)).filter((v) => v > 0 && v < 1);
      const axis = isRare() && means.length ? logitAxis(Math.max(1e-4, Math.min(prevalence(), ...means) / 4), Math.min(0.999, 1 - (1 - Math.max(...means)) / 4)) : SHARES;
      const scale = axis.map ? " (logit scale)" : "";
      const p = plot("reliability", { x: axis, y: axis, xTitle: `Predicted probability${scale}`, yTitle: "Share of positives", left: 48 });
      line(p, [[axis.from, axis.from], [axis.to, axis.to]], "chance-line");
      const points = D.reliability.map((bin) => {
        const c = scaled(bin, share), k = [c[0] / (bin.p || 1), c[2] / (bin.n || 1)];
        const mean = ((bin.sp * (bin.p ? k[0] : 0)) + bin.sn * (bin.n ? k[1] : 0)) / (c[0] + c[2]);
        const low = right(bin.low, share), high = right(bin.high, share);
        el("line", { class: "whisker", x1: round(p.X(mean)), x2: round(p.X(mean)), y1: round(p.Y(low)), y2: round(p.Y(high)) }, p.svg);
        return [mean, precisionOf(c)];
      });
      line(p, points, "curve");
      for (const [x, y] of points) place(dot(p, "small-point"), p, x, y);
      host("reliability-readout").textContent = `${points.length} ${points.length === 1 ? "bin" : "bins"} of equal width; bars are ${100 * D.level} % intervals`;
    },
  });
}

// ---------------------------------------------------------------- the numbers behind the charts

const shifted = (i) => atPrevalence(countsAt(i), shareAt(state.stop));
const overThresholds = (head, make) => () => [["threshold", ...head], ...each((i) => [thresholdAt(i), ...make(shifted(i), i)])];
if (THRESHOLDS) {
  tables.set("roc", overThresholds(["false_positive_rate", "recall"], rates));
  tables.set("pr", overThresholds(["recall", "precision"], (c) => [recallOf(c), precisionOf(c)]));
  tables.set("over-threshold", () => overThresholds(state.chosen, (c) => state.chosen.map((name) => valueAt(BY_NAME.get(name), c, state.stop)))());
  tables.set("reliability", () => [["predicted", "positives", "negatives", "low", "high"], ...D.reliability.map((bin) => [(bin.sp + bin.sn) / (bin.p + bin.n), bin.p, bin.n, bin.low, bin.high])]);
}
tables.set("over-prevalence", () => [["prevalence", ...state.chosen], ...D.stops.map((s, i) => [s, ...state.chosen.map((name) => valueAt(BY_NAME.get(name), atPrevalence(cellsAt(state.index), shareAt(i)), i))])]);
