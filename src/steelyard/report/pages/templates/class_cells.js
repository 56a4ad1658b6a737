// Class cells: the confusion matrix of many classes by the cells that hold anything, and the orders of the classes.

import { isNumber } from "./numbers.js";
import { el, host } from "./charts.js";
import { possible, turns, view } from "./state.js";

export const CLASSES = { ...D.classes, names: D.classes.names || D.labels }, CLASS_COUNT = CLASSES.names.length;

// The matrix from its cells that hold anything, by their places row by row.
export const CLASS_CELLS = new Map();
CLASSES.gaps.reduce((place, gap, i) => { CLASS_CELLS.set(place + gap, CLASSES.counts[i]); return place + gap; }, 0);
export const classCell = (i, j) => CLASS_CELLS.get(i * CLASS_COUNT + j) || 0;
export const LARGEST_CELL = CLASSES.counts.reduce((most, v) => Math.max(most, v), 0);
export const CLASS_SIZES = CLASSES.fn.map((fn, i) => classCell(i, i) + fn);

// Each class against the rest, as the choice of a class shows it.
D.views = CLASSES.names.map((label, i) => {
  const errors = [classCell(i, i), CLASSES.fn[i], CLASSES.fp[i]], known = {};
  const cells = [...errors, CLASSES.tn ? CLASSES.tn[i] : CLASSES.total - errors[0] - errors[1] - errors[2]];
  for (const [name, { low, high, method }] of Object.entries(CLASSES.metrics)) {
    if (isNumber(low[i]) && isNumber(high[i])) known[name] = [low[i], high[i], typeof method === "string" ? method : method[i]];
  }
  const total = cells[0] + cells[1] + cells[2] + cells[3];
  return { label, typed: D.labels[i], cells, one: CLASSES.one ? CLASSES.one[i] : [1, 1], share: total ? CLASS_SIZES[i] / total : 0, known };
});

// The prevalences of the slider: round ones, and the share of the class that is looked at.
const FIRST_STOPS = D.stops;
function classStops() {
  const own = D.view.share, { share } = view, odds = (s) => Math.log(s / (1 - s));
  const round = FIRST_STOPS.filter((s) => s !== own && (!possible() || Math.abs(odds(s) - odds(share)) > 0.02));
  D.stops = view === D.view ? FIRST_STOPS : [...round, ...(possible() ? [share] : [])].sort((a, b) => a - b);
  host("prevalence").max = D.stops.length - 1;
}
turns.push(classStops);
for (const { label } of D.views) el("option", { value: label }, host("class"), label);
host("class").value = D.view.label;

// ---------------------------------------------------------------- orders

export function classOrder(by) {
  const places = CLASSES.names.map((_, i) => i);
  if (by === "confusion") return CLASSES.order;
  if (by === "given") return places;
  const column = by === "size" ? CLASS_SIZES.map((size) => -size) : CLASSES.metrics[by].value;
  const number = (i) => (isNumber(column[i]) ? column[i] : Infinity);
  return places.sort((a, b) => (number(a) === number(b) ? a - b : number(a) < number(b) ? -1 : 1));
}

export const filledWords = (words, parts) => words.replace(/\{(\w+)\}/g, (_, key) => parts[key]);
export const quotedName = (i) => (typeof D.labels[i] === "string" ? `"${shortName(i)}"` : shortName(i));
// Names that begin alike are shortened in the middle.
const beginning = (i) => CLASSES.names[i].slice(0, 12), begun = new Map();
CLASSES.names.forEach((_, i) => begun.set(beginning(i), (begun.get(beginning(i)) || 0) + 1));
export const endsMatter = (i) => begun.get(beginning(i)) > 1;
export const shortName = (i) => { const letters = [...CLASSES.names[i]], end = endsMatter(i) ? letters.slice(-8) : []; return letters.length > 24 ? [...letters.slice(0, 23 - end.length), "…", ...end].join("") : CLASSES.names[i]; };
