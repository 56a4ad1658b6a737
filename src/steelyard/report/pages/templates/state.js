// State: one threshold and one prevalence; every number and every mark follows from the two.

import { chanceOf, counted, digits, reasonOf, reweighted, rowsOfEach, valueOf } from "./numbers.js";
import { host, ticked } from "./charts.js";

export const METRICS = D.metrics;
export const BY_NAME = new Map(METRICS.map((row) => [row.name, row]));
export const THRESHOLDS = D.thresholds ? D.thresholds.tp.length : 0;
export let view = D.view;
export const looksAt = (chosen) => { view = chosen; };
export const START = { index: D.thresholds ? D.index : null, stop: D.stop };
export const state = { ...START, chosen: D.drawn.filter((name) => BY_NAME.has(name)) };
if (!state.chosen.length) state.chosen = METRICS.filter((row) => bounded(row)).slice(0, 4).map((row) => row.name);
export const FIRST_CHOSEN = [...state.chosen];
export const rows = new Map(), charts = [], rests = [];
export const SCORES = D.histogram ? ticked(D.histogram.ends[0], D.histogram.ends[1]) : null;
// Between thresholds that are all here the value is that of the higher one, a step; between others it is not known.
export const WHOLE = THRESHOLDS === D.all_thresholds;
// Where the pointer rests on a curve, what follows a change of class, and the groups as they stand now.
export const pointer = { at: null }, turns = [], groupsNow = [];

export function bounded(row) { return row.range[0] !== null && row.range[1] !== null && (row.ranks ? row.at : FORMULAS[row.name]); }

// ---------------------------------------------------------------- the state, and the table it stands for

// What is left of a class is taken from its last running sum, so that nothing is left where all is flagged.
export const countsAt = (i) => {
  const { tp, fp } = D.thresholds, last = THRESHOLDS - 1;
  return [tp[i], tp[last] - tp[i], fp[i], fp[last] - fp[i]];
};
export const thresholdAt = (i) => (i === null ? null : D.thresholds.threshold[i] === null ? Infinity : D.thresholds.threshold[i]);
export const nearestPlace = (list, v) => list.reduce((best, item, i) => (Math.abs(item - v) < Math.abs(list[best] - v) ? i : best), 0);
export const nearestThreshold = (t) => (t === Infinity ? Math.max(0, D.thresholds.threshold.indexOf(null)) : nearestPlace(D.thresholds.threshold.map((v) => (v === null ? 1e300 : v)), t));
export const cellsAt = (index) => (index === null || !THRESHOLDS ? view.cells : countsAt(index));
// A prevalence that was typed or linked is taken as it was written, beyond the steps of the slider; what reads all scores
// is known at the steps alone.
export const prevalence = (stop = state.stop) => (stop in D.stops ? D.stops[stop] : state.typed);
export const stopOf = (share) => {
  const near = nearestPlace(D.stops, share), is = D.all || Math.abs(D.stops[near] - share) <= 1e-9 * share;
  return is ? { stop: near } : { stop: D.stops.length, typed: share };
};
export const shareAt = (stop) => (prevalence(stop) === view.share || !possible() ? null : prevalence(stop));
export const possible = () => view.share > 0 && view.share < 1;
export const atPrevalence = (cells, share) => (share === null ? cells : reweighted(cells, share));
export const isSteady = (row, start) => start || (row.ranks && (row.at === undefined || state.stop === START.stop));
export const isStart = () => view === D.view && state.index === START.index && state.stop === START.stop;

// Rows are whole, also at another prevalence; the sum of weights is not.
export const inRows = (v) => counted(D.weighted && !D.planned ? v : Math.round(v));

export function valueAt(row, cells, stop) {
  if (!row.ranks) return FORMULAS[row.name] ? valueOf(row.name, cells) : isStart() ? row.value : NaN;
  if (row.at === undefined) return row.value;
  return row.at[stop];
}

export function whyAt(row, cells, stop) {
  if (!row.ranks) return FORMULAS[row.name] ? reasonOf(row.name, cells) : row.why || "computed in Python only";
  return stop in D.stops ? (row.whys && row.whys[stop]) || row.why || "undefined" : "known at steps of the slider alone";
}

export function chanceAt(row, cells, stop) {
  if (isStart()) return row.chance;
  if (row.ranks) return row.baselines ? row.baselines[row.baselines.length === 1 ? 0 : stop] : row.chance;
  return FORMULAS[row.name] ? chanceOf(row, cells, rowsOfEach(view)) : NaN;
}

export const thresholdText = (index) => (index === null ? "as predicted" : thresholdAt(index) === Infinity ? "nobody flagged" : `threshold ${digits(thresholdAt(index))}`);

// The slider is linear in the score, as the dots are; at its right end nobody is flagged.
export const RIGHTMOST = THRESHOLDS && Number(host("threshold").max);
export const scoreAt = (place) => (place >= RIGHTMOST ? Infinity : SCORES.from + ((SCORES.to - SCORES.from) * place) / (RIGHTMOST - 1));
export const placeOf = (threshold) => (threshold === Infinity ? RIGHTMOST : Math.min(RIGHTMOST - 1, Math.max(0, (RIGHTMOST - 1) * (threshold - SCORES.from) / (SCORES.to - SCORES.from || 1))));

export const rateRow = (name) => BY_NAME.get(name) || { name, title: name, range: [0, 1], share: true };

// The best threshold of a metric at the prevalence; none where it has none.
export function bestThreshold(name) {
  const row = BY_NAME.get(name);
  if (prevalence() === view.share) return row.best;
  const share = shareAt(state.stop);
  let best = row.best, most = -Infinity;
  for (let i = 0; i < THRESHOLDS; i++) {
    const v = row.sign * valueAt(row, atPrevalence(countsAt(i), share), state.stop);
    if (v > most + 1e-12) { most = v; best = i; }
  }
  return best;
}
