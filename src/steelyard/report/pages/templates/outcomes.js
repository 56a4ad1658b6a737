// Outcomes: a table in whole rows of the page's denominator, the headline that states them, and where their dots lie.

import { grouped, percent } from "./numbers.js";

export const OUTCOMES = ["tp", "fn", "fp", "tn"];
export const filled = (template, words) => template.replace(/\{(\w+)\}/g, (_, key) => words[key]);

// The table in so many whole rows, the page's denominator at every state, as Python states it.
export function outcomes([tp, fn, fp, tn], share) {
  const { base } = D.headline, total = tp + fn + fp + tn, within = (part, high) => Math.min(Math.floor((part / total) * base + 0.5 + 1e-9), high);
  const positives = within(tp + fn, base), found = fn ? within(tp, positives) : positives, alarms = within(fp, base - positives);
  const counts = { base, positives, flagged: found + alarms, found, missed: positives - found, false_alarms: alarms };
  const cells = { positives: tp + fn, flagged: tp + fp, found: tp, missed: fn, false_alarms: fp };
  return { ...counts, own: share === null && !D.weighted && base === D.rows, scant: Object.keys(cells).filter((key) => cells[key] > 0 && !counts[key]) };
}

// Of what has rows, though fewer than one of so many, never that there is none.
export const phrase = (counts, key, forms) => forms[counts.scant.includes(key) ? 3 : Math.min(counts[key], 2)];
export const fewerThanOne = (counts, key, n) => (counts.scant.includes(key) ? "< 1" : grouped(String(n)));

// The table in so many dots: the rows of the headline, one each, or where they are more than there are dots as Python
// draws it, where what has rows keeps one.
export function dotOutcomes([tp, fn, fp, tn], base, most) {
  if (base <= most) return outcomes([tp, fn, fp, tn], null);
  base = most;
  const total = tp + fn + fp + tn, within = (part, low, high) => Math.max(+low, Math.min(Math.floor((part / total) * base + 0.5 + 1e-9), high));
  const positives = within(tp + fn, tp + fn > 0, base - (fp + tn > 0));
  const found = within(tp, tp > 0, positives - (fn > 0)), alarms = within(fp, fp > 0, base - positives - (tn > 0));
  return { base, positives, flagged: found + alarms, found, missed: positives - found, false_alarms: alarms };
}

export function headline(cells, share) {
  const { starts, parts, some, none, name } = D.headline;
  const counts = outcomes(cells, share), whole = (n) => grouped(String(n));
  const start = starts[share !== null ? "prevalence" : counts.own ? "these" : D.weighted ? "weighted" : "like"];
  const words = { start: start.replace("{base}", whole(counts.base)).replace("{share}", percent(share)) };
  for (const [key, forms] of Object.entries(parts)) {
    words[key] = phrase(counts, key, forms).replace("{n}", whole(counts[key])).replace("{name}", () => name);
  }
  return (counts.flagged || counts.scant.includes("flagged") ? some : none).replace(/\{(\w+)\}/g, (_, key) => words[key]);
}

// The axis of the dots, from 0 to 1: a stretch of it is as wide as its range of scores and its rows of either class make
// it, a third each, so that no column of dots is taller than the room. Thresholds go from the highest down.
export function stretched({ threshold, tp, fp }, { from, to }, isWhole) {
  const last = tp.length - 1, score = (i) => (threshold[i] === null ? to : threshold[i]), along = (v) => Math.min(1, Math.max(0, (v - from) / (to - from || 1)));
  const rows = (i) => (1 - tp[i] / (tp[last] || 1) + 1 - fp[i] / (fp[last] || 1)) / 3;
  const places = threshold.map((_, i) => along(score(i)) / 3 + rows(i));
  // Rows between two thresholds have the score of the lower one where every threshold is here; equal ones lie in a row.
  const between = (i, part) => (i ? (isWhole ? places[i] + (rows(i - 1) - rows(i)) * (1 - part) : places[i - 1] + (places[i] - places[i - 1]) * part) : places[0]);
  const map = (v) => {
    const below = threshold.findIndex((t, i) => score(i) < v);
    return along(v) / 3 + rows(below < 0 ? last : Math.max(0, below - 1));
  };
  return { places, between, map };
}

// Where so many dots of a class lie, from the highest score down: the k-th of m stands for the rows around (k + 0.5) / m.
function dotPlaces(axis, sums, dots) {
  const all = sums[sums.length - 1];
  let i = 0;
  return Array.from({ length: dots }, (_, k) => {
    const rank = ((k + 0.5) / dots) * all;
    while (i < sums.length - 1 && sums[i] < rank) i++;
    const before = i ? sums[i - 1] : 0;
    return axis.between(i, sums[i] > before ? (rank - before) / (sums[i] - before) : 1);
  });
}

// By score: columns of one dot, none of which holds dots of both sides of the threshold: what its column or rounding to
// whole rows leaves on the other side stands beside it.
export function dotsByScore(axis, { tp, fp }, whole, index, { left, right }, size) {
  const wide = right - left, edge = Math.ceil((axis.places[index] * wide) / size - 0.5);
  const columns = [[tp, whole.positives], [fp, whole.base - whole.positives]].map(([sums, dots]) => dotPlaces(axis, sums, dots).map((place) => Math.min(Math.floor(wide / size) - 1, Math.floor((place * wide) / size))));
  const sides = columns.map((list, side) => list.map((column, k) => left + ((k < [whole.found, whole.false_alarms][side] ? Math.max(edge, column) : Math.min(edge - 1, column)) + 0.5) * size));
  return Object.assign(sides, { most: columns.map(tallest) }); // wherever the threshold is, so that the others stay
}

const tallest = (list) => { const counts = new Map(); for (const x of list) counts.set(x, (counts.get(x) || 0) + 1); return Math.max(0, ...counts.values()); };

// Dots on each other, positives upwards and negatives downwards, by one scale: closer where the columns of both are
// taller than the room.
export function stackedDots(whole, sides, box, size) {
  const [up, down] = sides.map((list) => {
    const tall = new Map(), places = list.map((x) => { const key = Math.round(x), n = tall.get(key) || 0; tall.set(key, n + 1); return n; });
    return { places };
  });
  const [above, below] = sides.most || sides.map(tallest);
  const room = box.bottom - box.top - 4, gap = Math.min(size, room / Math.max(1, above + below)), middle = box.top + above * gap + (room - (above + below) * gap) / 2 + 1;
  return sides.flatMap((list, side) => {
    const { places } = side ? down : up, flagged = side ? whole.false_alarms : whole.found;
    return list.map((x, k) => [x, middle + (side ? 1 : -1) * (1 + (places[k] + 0.5) * gap), OUTCOMES[2 * side + (k < flagged ? 0 : 1)]]);
  });
}
