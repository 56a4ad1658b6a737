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

// The table in so many dots, as Python draws it: what has rows keeps one.
export function dotOutcomes([tp, fn, fp, tn], base) {
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

// Scores of so many dots of a class, from the highest down: the k-th of m lies at the quantile (k - 0.5) / m. Where not
// every score is held, a dot lies between the two thresholds whose counts it lies between.
function dotScores(threshold, sums, dots, isWhole, top) {
  const all = sums[sums.length - 1], found = [], at = (i) => (threshold[i] === null ? top : threshold[i]);
  let i = 0;
  for (let k = 0; k < dots; k++) {
    const rank = isWhole ? all - Math.floor((1 - (k + 0.5) / dots) * all) : ((k + 0.5) / dots) * all;
    while (i < sums.length - 1 && sums[i] < rank) i++;
    const before = i ? sums[i - 1] : 0, part = sums[i] > before ? (rank - before) / (sums[i] - before) : 1;
    const high = isWhole || !i ? at(i) : at(i - 1);
    found.push(high + (at(i) - high) * part);
  }
  return found;
}

// By score: columns of one dot, none of which holds dots of both sides of the threshold: what its column or rounding to
// whole rows leaves on the other side stands beside it.
export function dotsByScore({ threshold: thresholds, tp, fp, whole, isWhole, axis, X, left, right, size, now }) {
  const last = Math.floor((right - left) / size), edge = now === Infinity ? last + 1 : Math.ceil((X(Math.min(now, axis.to)) - left) / size - 0.5);
  return [[tp, whole.positives, whole.found], [fp, whole.base - whole.positives, whole.false_alarms]].map(([sums, dots, flagged]) =>
    dotScores(thresholds, sums, dots, isWhole, axis.to).map((score, k) => {
      const column = Math.floor((X(Math.min(axis.to, Math.max(axis.from, score))) - left) / size);
      return left + ((k < flagged ? Math.max(edge, column) : Math.min(edge - 1, column)) + 0.5) * size;
    }));
}

// Dots on each other, positives upwards and negatives downwards, closer where a column is taller than the room.
export function stackedDots(whole, sides, box, size) {
  const height = box.bottom - box.top;
  const [up, down] = sides.map((list) => {
    const tall = new Map(), places = list.map((x) => { const key = Math.round(x), n = tall.get(key) || 0; tall.set(key, n + 1); return n; });
    return { places, most: Math.max(1, ...tall.values()) };
  });
  const above = Math.min(Math.max(up.most * size, 24), Math.max(height * 0.4, height - down.most * size - 8));
  const middle = box.top + Math.min(above + 8, height * 0.6), rooms = [middle - box.top - 4, box.bottom - middle - 4];
  return sides.flatMap((list, side) => {
    const { places, most } = side ? down : up, gap = Math.min(size, (rooms[side] - size) / Math.max(1, most - 1)), flagged = side ? whole.false_alarms : whole.found;
    return list.map((x, k) => [x, middle + (side ? 1 : -1) * (size / 2 + 1 + places[k] * gap), OUTCOMES[2 * side + (k < flagged ? 0 : 1)]]);
  });
}
