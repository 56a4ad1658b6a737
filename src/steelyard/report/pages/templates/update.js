// Update: values at once, intervals when the sliders rest.

import {
  between, digits, drawn, grouped, intervalOf, isNumber, percent, reasonOf, valueOf, valueText,
} from "./numbers.js";
import { el, host, say, WIDTHS } from "./charts.js";
import { remembered } from "./frame.js";
import { fewerThanOne, outcomes, OUTCOMES } from "./outcomes.js";
import {
  atPrevalence, cellsAt, chanceAt, charts, inRows, isStart, isSteady, nearestPlace, placeOf, possible, prevalence,
  rests, rows, shareAt, state, thresholdAt, THRESHOLDS, valueAt, view, whyAt,
} from "./state.js";
import { drawBand, drawMark, sorted } from "./rows.js";
import { describe, now } from "./sentences.js";

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

charts.push({ room: host("metrics"), moved: drawRows }, { room: host("cells"), moved: table });

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

// The matrix of two classes is in the whole rows of the headline; what it is exactly a machine reads.
function table(cells, share) {
  const whole = D.classes ? null : outcomes(cells, share), negatives = whole && whole.base - whole.positives;
  const shown = whole ? [fewerThanOne(whole, "found", whole.found), fewerThanOne(whole, "missed", whole.missed), fewerThanOne(whole, "false_alarms", whole.false_alarms), grouped(String(negatives - whole.false_alarms))] : cells.map(inRows);
  OUTCOMES.forEach((name, i) => {
    const cell = document.querySelector(`[data-cell="${name}"]`);
    say(cell, shown[i]);
    cell.dataset.value = String(cells[i]);
  });
  const sums = host("cells").querySelectorAll(".sum");
  [0, 2].forEach((i) => say(sums[i / 2], whole ? grouped(String(i ? negatives : whole.positives)) : inRows(cells[i] + cells[i + 1])));
  if (whole && !whole.own) say(host("cells-unit"), `of ${grouped(String(whole.base))} rows`);
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
