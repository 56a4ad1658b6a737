// Update: values at once, intervals when the sliders rest.

import {
  between, chanceOf, digits, drawn, intervalOf, isNumber, percent, reasonOf, rowsOfEach, valueOf, valueText,
} from "./numbers.js";
import { el, host, say, widthOf, WIDTHS } from "./charts.js";
import { remembered } from "./frame.js";
import { filled, headline } from "./outcomes.js";
import {
  atPrevalence, BY_NAME, cellsAt, chanceAt, charts, inRows, isStart, isSteady, nearestPlace, placeOf, possible,
  prevalence, rests, rows, shareAt, state, thresholdAt, THRESHOLDS, valueAt, view, whyAt,
} from "./state.js";
import { bar, drawBand, drawMark, sorted } from "./rows.js";

// What is out of view follows when it comes into view, when the sliders rest, or before the numbers are taken away.
const inView = new Set(), late = new Set();
export const watcher = new IntersectionObserver((found) => {
  for (const { target, isIntersecting } of found) isIntersecting ? inView.add(target) : inView.delete(target);
  follow(late, false);
});

export function follow(parts, now, redraw = now) {
  const share = shareAt(state.stop), cells = atPrevalence(cellsAt(state.index), share);
  for (const part of [...parts]) {
    if (!now && part.room && !inView.has(part.room)) late.add(part);
    else { late.delete(part); part.moved(cells, share, redraw); }
  }
}

export const caughtUp = () => follow(late, true, false);

let resting = 0;
export function move(change) {
  Object.assign(state, change);
  update(false);
}

export function update(redraw) {
  if (redraw) WIDTHS.clear();
  const share = shareAt(state.stop), cells = atPrevalence(cellsAt(state.index), share), start = isStart();
  for (const entry of rows.values()) entry.now = start ? entry.row.value : valueAt(entry.row, cells, state.stop);
  describe(cells, share, start);
  controls();
  follow(charts, redraw);
  if (start) say(host("how-intervals"), "");
  clearTimeout(resting);
  resting = setTimeout(atRest, 60);
}

function drawRows(cells) {
  const start = isStart();
  for (const { tr, row, now: v, value, interval, chance, parts: marks } of rows.values()) {
    const c = chanceAt(row, cells, state.stop), steady = isSteady(row, start);
    tr.dataset.value = isNumber(v) ? String(v) : "";
    say(value, valueText(row, v));
    say(chance, valueText(row, c));
    drawMark(marks, row, v, c);
    for (const key of ["low", "high", "method"]) delete interval.dataset[key];
    if (!isNumber(v)) say(interval, start ? row.why || "undefined" : whyAt(row, cells, state.stop));
    else if (steady) say(interval, row.why && !isNumber(row.low) ? row.why : between(row, row.low, row.high));
    else say(interval, row.ranks ? "not at this prevalence" : "…");
    drawBand(marks, row, steady && isNumber(v) ? row.low : NaN, row.high);
  }
}

charts.push({ room: host("metrics"), moved: drawRows }, { room: host("cells"), moved: table }, { room: host("picture"), moved: picture });

// What waits until the sliders rest, at once: before the numbers are taken away.
export function settled() {
  if (!resting) return;
  clearTimeout(resting);
  atRest();
}

function atRest() {
  resting = 0;
  caughtUp();
  if (host("sort").value === "value") sorted("value");
  if (!isStart()) redrawn();
  for (const act of rests) act();
  remembered();
  document.documentElement.dataset.rested = `${state.index === null ? "" : state.index}/${state.stop}`;
}

function redrawn() {
  const share = shareAt(state.stop), sample = cellsAt(state.index), cells = atPrevalence(sample, share);
  const set = { ...drawn(view, sample, possible() ? share : null), known: share === null && state.index === null ? view.known : null };
  for (const { row, tr, interval, parts } of rows.values()) {
    if (row.ranks || !FORMULAS[row.name] || tr.dataset.value === "") continue;
    const [low, high, method] = intervalOf(row, Number(tr.dataset.value), set);
    say(interval, between(row, low, high));
    if (isNumber(low) && isNumber(high)) Object.assign(interval.dataset, { low, high, method });
    drawBand(parts, row, low, high);
  }
  say(host("how-intervals"), D.clustered ? "The page does not keep the clusters: no intervals at these settings." : "The intervals at these settings were drawn in this page.");
  now(cells, share, set);
  sides(cells, set);
}

// The two classes follow the cells; seen from the negatives the table is turned about.
const SIDES = [...document.querySelectorAll(".two-classes tbody tr")].map((tr, i) => {
  const places = [...tr.querySelectorAll("td")].slice(1);
  return { places, turn: D.sides[i] ? (c) => c : (c) => [c[3], c[2], c[1], c[0]], first: places.map((td) => td.textContent) };
});
function sides(cells, set) {
  for (const { places, turn, first } of SIDES) {
    const c = turn(cells), drawn = set && { ...set, draws: turn(set.draws), centre: turn(set.centre) };
    D.class_metrics.forEach((row, i) => {
      const v = valueOf(row.name, c), [low, high] = drawn ? intervalOf(row, v, drawn) : [NaN, NaN];
      const words = isNumber(v) ? valueText(row, v) + (isNumber(low) ? ` (${between(row, low, high).replace(/\s%$/, "")})` : "") : `– ${reasonOf(row.name, c)}`;
      say(places[i], isStart() ? first[i] : words);
    });
  }
}
if (SIDES.length) charts.push({ room: document.querySelector(".two-classes"), moved: (cells) => sides(cells, null) });

function table(cells) {
  ["tp", "fn", "fp", "tn"].forEach((name, i) => {
    const cell = document.querySelector(`[data-cell="${name}"]`);
    say(cell, inRows(cells[i]));
    cell.dataset.value = String(cells[i]);
  });
  const sums = host("cells").querySelectorAll(".sum");
  [0, 2].forEach((i) => say(sums[i / 2], inRows(cells[i] + cells[i + 1])));
}

// What moved, in words: the headline follows, the other sentences stay those of the evaluation and say so.
const AS_EVALUATED = [...host("now").childNodes];
export const LIVE = D.is_live && document.querySelector('h1 [data-code="outcomes"]'), FIRST_HEADLINE = LIVE && LIVE.textContent;
if (LIVE) LIVE.classList.add("live");
const MARKED = document.querySelectorAll(".verdict, .stays"), LEAD = host("lead"), FIRST_LEAD = [...LEAD.childNodes];
function describe(cells, share, start) {
  if (LIVE) say(LIVE, start ? FIRST_HEADLINE : headline(cells, share));
  host("now").classList.toggle("moved", !start);
  for (const part of MARKED) part.classList.toggle("moved", part.className.includes("verdict") || view === D.view ? !start : share !== null);
  if (start) { host("now").replaceChildren(...AS_EVALUATED); LEAD.replaceChildren(...FIRST_LEAD); drawRates(cells, null, true); }
  else now(cells, share, null);
}

export const rateRow = (name) => BY_NAME.get(name) || { name, title: name, range: [0, 1], share: true };

function now(cells, share, set) {
  const { now: forms } = D.headline;
  const rate = (name) => {
    const v = valueOf(name, cells), [low, high] = set && isNumber(v) ? intervalOf(rateRow(name), v, set) : [NaN, NaN];
    if (!isNumber(v)) return filled(forms.undefined, { name, why: reasonOf(name, cells) });
    const ends = isNumber(low) ? filled(forms.interval, { low: percent(low).slice(0, -2), high: percent(high).slice(0, -2) }) : "";
    return filled(forms.rate, { name, value: percent(v) }) + ends;
  };
  const t = thresholdAt(state.index);
  const where = [
    view === D.view ? "" : filled(forms.class, { label: view.label }),
    !THRESHOLDS ? "" : t === null ? forms.predicted : t === Infinity ? forms.nobody : filled(forms.threshold, { threshold: digits(t) }),
    share === null ? "" : filled(forms.share, { share: percent(share) }),
  ].filter(Boolean).join(", ");
  state.now = filled(forms.whole, { where, rates: ["recall", "specificity", "precision"].map(rate).join(", ") });
  say(host("now"), state.now);
  drawRates(cells, set, false);
  const lead = D.all ? LEAD.textContent : accuracyWords(cells, share, set);
  if (lead !== LEAD.textContent) LEAD.replaceChildren(el("p", {}, null, lead));
}

// Accuracy beside always predicting the majority class, in the words of the verdict.
function accuracyWords(cells, share, set) {
  const { accuracy, fair, relations, similar, constants } = D.headline, s = (cells[0] + cells[1]) / (cells[0] + cells[1] + cells[2] + cells[3]);
  const v = valueOf("accuracy", cells), [low, high] = set ? intervalOf(rateRow("accuracy"), v, set) : [NaN, NaN];
  if (s > similar && s < 1 - similar) {
    const ends = isNumber(low) ? filled(D.headline.now.interval, { low: percent(low).slice(0, -2), high: percent(high).slice(0, -2) }) : "";
    return filled(fair, { where: share === null ? "" : " at this prevalence", value: percent(v) + ends }) + ".";
  }
  const most = Math.max(s, 1 - s), relation = high < most ? "below" : low > most ? "above" : v <= most ? "at" : "open";
  return filled(accuracy, { value: percent(v), relation: relations[relation], constant: constants[s > 0.5 ? 1 : 0], share: percent(most) }) + ".";
}

// The rates that a reader looks for first, each with its interval and its no-skill baseline.
const RATES = ["recall", "precision", "specificity"].map((name) => {
  if (!host("rates")) return null;
  const tr = el("tr", {}, host("rates")), title = el("th", { scope: "row" }, tr, rateRow(name).title), value = el("td", { class: "value" }, tr), cell = el("td", { class: "bar" }, tr), ends = el("td", { class: "between" }, tr);
  return { name, title, value, ends, parts: bar(cell, rateRow(name)) };
}).filter(Boolean);
function drawRates(cells, set, start) {
  for (const { name, value, ends, parts } of RATES) {
    const row = rateRow(name), v = valueOf(name, cells), c = chanceOf(row, cells, rowsOfEach(view));
    const [low, high] = start && isNumber(row.value) ? [row.low, row.high] : set && isNumber(v) ? intervalOf(row, v, set) : [NaN, NaN];
    say(value, valueText(row, v));
    say(ends, !isNumber(v) ? reasonOf(name, cells) : isNumber(low) ? between(row, low, high) : "…");
    drawMark(parts, row, v, c);
    if (isNumber(low) || !isNumber(v)) drawBand(parts, row, low, high);
  }
}

function controls() {
  const share = prevalence(), p = host("prevalence");
  p.value = state.stop in D.stops ? state.stop : nearestPlace(D.stops, share);
  p.dataset.prevalence = String(share);
  say(host("prevalence-shown"), percent(share));
  if (share === view.share) el("span", { class: "roomy" }, host("prevalence-shown"), " (sample)");
  p.setAttribute("aria-valuetext", percent(share));
  if (!THRESHOLDS) return;
  const t = host("threshold"), threshold = thresholdAt(state.index);
  if (state.index !== null) t.value = Math.round(placeOf(threshold));
  t.dataset.threshold = threshold === null ? "" : String(threshold);
  const words = threshold === null ? "as predicted" : threshold === Infinity ? "nobody flagged" : digits(threshold);
  say(host("threshold-shown"), words);
  t.setAttribute("aria-valuetext", words);
}

// The confusion matrix as areas: the width of a column is the size of its class, its filled height its recall.
const narrow = (share) => percent(share).replace("above ", ">");
function picture(cells) {
  const room = host("picture");
  const width = Math.max(280, widthOf("picture", 480)), height = 232;
  const svg = el("svg", { width: "100%", height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  const [tp, fn, fp, tn] = cells, p = tp + fn, n = fp + tn;
  const side = Math.min(136, Math.max(120, width * 0.26)), gap = 2;
  const inner = width - 2 * side - gap, thin = 3;
  let wide = inner * (p / (p + n));
  wide = Math.min(inner - thin, Math.max(thin, wide));
  const top = 24, tall = height - top - 32;
  const column = (x, w, right, wrong, kind, anchor, at, words) => {
    const caught = right + wrong ? right / (right + wrong) : 0, full = tall * caught;
    el("rect", { class: `${kind} wrong`, x, y: top, width: w, height: tall - full }, svg);
    el("rect", { class: `${kind} right`, x, y: top + tall - full, width: w, height: full }, svg);
    const text = (y, count, name) => {
      const share = narrow(right + wrong ? count / (right + wrong) : NaN);
      el("text", { class: "cell", x: at, y, "text-anchor": anchor }, svg, inRows(count));
      [name, share].forEach((line, i) => el("text", { class: "tick", x: at, y: y + 15 + 14 * i, "text-anchor": anchor }, svg, line));
    };
    const middle = (from, to) => Math.min(top + tall - 32, Math.max(top + 8, (from + to) / 2));
    let upper = middle(top, top + tall - full), lower = middle(top + tall - full, top + tall);
    if (lower - upper < 58) { const mid = Math.min(top + tall - 61, Math.max(top + 37, (upper + lower) / 2)); upper = mid - 29; lower = mid + 29; }
    text(upper, wrong, words[0]);
    text(lower, right, words[1]);
  };
  column(side, wide, tp, fn, "positive", "end", side - 8, ["false negatives", "true positives"]);
  column(side + wide + gap, inner - wide, tn, fp, "negative", "start", width - side + 8, ["false positives", "true negatives"]);
  el("text", { class: "axis", x: side - 8, y: height - 4, "text-anchor": "end" }, svg, `positives ${narrow(p / (p + n))}`);
  el("text", { class: "axis", x: width - side + 8, y: height - 4 }, svg, `negatives ${narrow(n / (p + n))}`);
  el("text", { class: "axis", x: Math.max(0, Math.min(side, width - 232)), y: 12 }, svg, "width: class size · filled: recall");
  room.replaceChildren(svg);
}
