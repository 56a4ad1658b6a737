// Notebook view: dots and sliders for every output that holds this evaluation; what they move was written by Python.

import {
  between, chanceOf, counted, digits, drawn, intervalOf, isNumber, percent, placed, reasonOf, reweighted, valueOf,
  valueText,
} from "./numbers.js";
import { dotOutcomes, dotsByScore, headline, OUTCOMES, outcomes, stackedDots, stretched } from "./outcomes.js";

const STEPS = 1000, WIDE = 560, TALL = 150, DOT = 5, { threshold: THRESHOLDS, tp: TPS, fp: FPS } = D.thresholds, LAST = TPS.length - 1;
const thresholdAt = (i) => (THRESHOLDS[i] === null ? Infinity : THRESHOLDS[i]);
const partOf = (t) => Math.min(1, Math.max(0, (t - D.axis.from) / (D.axis.to - D.axis.from || 1)));
const nearestThreshold = (t) => (t > D.axis.to ? 0 : THRESHOLDS.reduce((best, v, i) => (Math.abs((v === null ? 1e300 : v) - t) < Math.abs((THRESHOLDS[best] === null ? 1e300 : THRESHOLDS[best]) - t) ? i : best), 0));

function begin(root) {
  const part = (name) => root.querySelector(`.sy-${name}`), head = part("verdict").querySelector("b"), first = head.textContent;
  const written = new Map(D.lines.map((row) => [row, root.querySelector(`tr[data-metric="${CSS.escape(row.name)}"]`)]));
  const others = [...root.querySelectorAll(".sy-metrics tr[data-prevalence]")], cells = [...root.querySelectorAll(".sy-matrix td")];
  const before = [...root.querySelectorAll(".sy-metrics td, .sy-matrix td")].map((cell) => [cell, cell.innerHTML]);
  const sliders = ["threshold", "prevalence"].map((name) => {
    const label = make("label", `${name} `), input = make("input"), shown = make("output");
    Object.assign(input, { type: "range", min: 0, max: name === "threshold" ? STEPS : D.stops.length - 1, step: 1 });
    label.append(input, shown);
    part("slider").append(label);
    return { input, show(text) { shown.textContent = text; input.setAttribute("aria-valuetext", text); } };
  });
  const reset = make("button", "as evaluated"), dots = drawing(part("dots"));
  reset.type = "button";
  part("slider").append(reset);
  let index = D.index, stop = D.stop, resting = 0;
  const share = () => (D.stops[stop] === D.view.share ? null : D.stops[stop]);
  const isStart = () => index === D.index && stop === D.stop;

  function show() {
    const counts = [TPS[index], TPS[LAST] - TPS[index], FPS[index], FPS[LAST] - FPS[index]], table = share() === null ? counts : reweighted(counts, share());
    sliders[0].input.value = thresholdAt(index) === Infinity ? STEPS : Math.round(partOf(thresholdAt(index)) * (STEPS - 1));
    sliders[0].input.dataset.threshold = String(thresholdAt(index));
    sliders[0].show(thresholdAt(index) === Infinity ? "nobody" : digits(thresholdAt(index)));
    sliders[1].input.value = stop;
    sliders[1].show(percent(D.stops[stop]));
    dots(table, share(), index);
    part("verdict").classList.toggle("sy-moved", !isStart());
    head.textContent = isStart() || !D.is_live ? first : headline(table, share());
    clearTimeout(resting);
    if (isStart()) { for (const [cell, html] of before) cell.innerHTML = html; return; }
    const [one, other] = [[counts[0], counts[1]], [counts[2], counts[3]]];
    const order = D.positive === 0 ? [...one, ...other] : [other[1], other[0], one[1], one[0]];
    if (cells.length === 4) cells.forEach((cell, k) => { cell.textContent = counted(order[k]); });
    for (const [row, tr] of written) if (FORMULAS[row.name]) fill(row, tr, table);
    for (const tr of others) tr.cells[3].textContent = share() === D.share ? before.find(([cell]) => cell === tr.cells[3])[1] : "not at this prevalence";
    resting = setTimeout(() => settle(counts, table), 60);
  }

  function settle(counts, table) {
    const set = drawn(D.view, counts, share());
    for (const [row, tr] of written) {
      const value = FORMULAS[row.name] ? valueOf(row.name, table) : NaN;
      if (!isNumber(value)) continue;
      const [low, high] = intervalOf(row, value, set);
      tr.cells[3].textContent = between(row, low, high);
      if (isNumber(low)) tr.querySelector(".sy-span").setAttribute("d", `M${place(row, low)} 6H${place(row, high)}`);
    }
  }

  const turn = (i) => { index = Math.min(LAST, Math.max(0, i)); show(); };
  sliders[0].input.addEventListener("input", (event) => { const v = Number(event.target.value); turn(v >= STEPS ? 0 : nearestThreshold(D.axis.from + ((D.axis.to - D.axis.from) * v) / (STEPS - 1))); });
  sliders[0].input.addEventListener("keydown", (event) => {
    const by = { ArrowRight: -1, ArrowUp: -1, ArrowLeft: 1, ArrowDown: 1 }[event.key];
    if (by) { event.preventDefault(); turn(index + by); }
  });
  sliders[1].input.addEventListener("input", (event) => { stop = Number(event.target.value); show(); });
  dots.dragged(turn);
  reset.addEventListener("click", () => { index = D.index; stop = D.stop; show(); });
  show();
}

// A thousand dots, and the line of the threshold.
const NS = "http://www.w3.org/2000/svg";
function drawing(room) {
  const svg = document.createElementNS(NS, "svg"), box = { left: 8, right: WIDE - 8, top: 8, bottom: TALL - 4 }, axis = stretched(D.thresholds, D.axis, D.is_whole);
  const add = (name, kind) => { const made = document.createElementNS(NS, name); made.setAttribute("class", kind); svg.append(made); return made; };
  const paths = Object.fromEntries(OUTCOMES.map((kind) => [kind, add("path", `sy-${kind}`)])), line = add("path", "sy-line");
  svg.setAttribute("viewBox", `0 0 ${WIDE} ${TALL}`);
  svg.setAttribute("role", "img");
  room.append(svg);
  const draw = (cells, share, index) => {
    const whole = dotOutcomes(cells, D.headline.base, D.dots), stated = outcomes(cells, share), drawn = Object.fromEntries(OUTCOMES.map((kind) => [kind, ""]));
    const sides = dotsByScore(axis, D.thresholds, whole, index, box, DOT), r = DOT / 2 - 0.5;
    for (const [x, y, kind] of stackedDots(whole, sides, box, DOT)) drawn[kind] += `M${(x - r).toFixed(1)} ${y.toFixed(1)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;
    for (const kind of OUTCOMES) paths[kind].setAttribute("d", drawn[kind]);
    line.setAttribute("d", `M${(box.left + (box.right - box.left) * axis.places[index]).toFixed(1)} 0V${TALL}`);
    svg.setAttribute("aria-label", `${stated.base} rows by score: ${stated.found} true positives, ${stated.missed} false negatives, ${stated.false_alarms} false positives`);
  };
  draw.dragged = (act) => {
    const go = (event) => { const at = svg.getBoundingClientRect(); const part = (((event.clientX - at.left) * WIDE) / at.width - box.left) / (box.right - box.left); act(axis.places.reduce((best, place, i) => (Math.abs(place - part) < Math.abs(axis.places[best] - part) ? i : best), 0)); };
    svg.addEventListener("pointerdown", (event) => { svg.setPointerCapture(event.pointerId); go(event); });
    svg.addEventListener("pointermove", (event) => { if (svg.hasPointerCapture(event.pointerId)) go(event); });
  };
  return draw;
}

function make(name, text) {
  const element = document.createElement(name);
  if (text) element.textContent = text;
  return element;
}

const place = (row, v) => (4 + (D.wide - 8) * Math.min(1, Math.max(0, placed(row, v)))).toFixed(2);

// Value and baseline at once; the interval follows when the slider rests.
function fill(row, tr, table) {
  const value = valueOf(row.name, table), chance = chanceOf(row, table, [TPS[LAST] / D.view.one[0], FPS[LAST] / D.view.one[1]]), circle = tr.querySelector("circle");
  tr.cells[1].textContent = valueText(row, value);
  tr.cells[3].textContent = isNumber(value) ? "…" : reasonOf(row.name, table);
  tr.cells[4].textContent = valueText(row, chance);
  tr.querySelector(".sy-span").removeAttribute("d");
  if (circle) circle.setAttribute("cx", isNumber(value) ? place(row, value) : -99);
  if (isNumber(chance)) tr.querySelector(".sy-chance").setAttribute("d", `M${place(row, chance)} 1V11`);
}

// Every output that is not live yet: the same evaluation may be shown twice.
const here = document.currentScript ? document.currentScript.getRootNode() : document;
for (const root of here.querySelectorAll(`.sy-${KEY}:not(.sy-live)`)) {
  root.classList.add("sy-live");
  begin(root);
}
