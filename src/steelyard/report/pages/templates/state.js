// State: one threshold and one prevalence; every number and every mark follows from the two.

const METRICS = D.metrics;
const BY_NAME = new Map(METRICS.map((row) => [row.name, row]));
const THRESHOLDS = D.thresholds ? D.thresholds.tp.length : 0;
let view = D.view;
const START = { index: D.thresholds ? D.index : null, stop: D.stop };
const state = { ...START, chosen: D.drawn.filter((name) => BY_NAME.has(name)) };
if (!state.chosen.length) state.chosen = METRICS.filter((row) => bounded(row)).slice(0, 4).map((row) => row.name);
const FIRST_CHOSEN = [...state.chosen];
const rows = new Map(), charts = [], rests = [];
const SCORES = D.histogram ? ticked(D.histogram.ends[0], D.histogram.ends[1]) : null;
// Between thresholds that are all here the value is that of the higher one, a step; between others it is not known.
const WHOLE = THRESHOLDS === D.all_thresholds;
let resting = 0, hover = null;

function bounded(row) { return row.range[0] !== null && row.range[1] !== null && (row.ranks ? row.at : FORMULAS[row.name]); }

// ---------------------------------------------------------------- the state, and the table it stands for

// What is left of a class is taken from its last running sum, so that nothing is left where all is flagged.
const countsAt = (i) => {
  const { tp, fp } = D.thresholds, last = THRESHOLDS - 1;
  return [tp[i], tp[last] - tp[i], fp[i], fp[last] - fp[i]];
};
const thresholdAt = (i) => (i === null ? null : D.thresholds.threshold[i] === null ? Infinity : D.thresholds.threshold[i]);
const nearestPlace = (list, v) => list.reduce((best, item, i) => (Math.abs(item - v) < Math.abs(list[best] - v) ? i : best), 0);
const nearestThreshold = (t) => (t === Infinity ? Math.max(0, D.thresholds.threshold.indexOf(null)) : nearestPlace(D.thresholds.threshold.map((v) => (v === null ? 1e300 : v)), t));
const cellsAt = (index) => (index === null || !THRESHOLDS ? view.cells : countsAt(index));
// A prevalence that was typed or linked is taken as it was written, beyond the steps of the slider; what reads all scores
// is known at the steps alone.
const prevalence = (stop = state.stop) => (stop in D.stops ? D.stops[stop] : state.typed);
const stopOf = (share) => {
  const near = nearestPlace(D.stops, share), is = D.all || Math.abs(D.stops[near] - share) <= 1e-9 * share;
  return is ? { stop: near } : { stop: D.stops.length, typed: share };
};
const shareAt = (stop) => (prevalence(stop) === view.share || !possible() ? null : prevalence(stop));
const possible = () => view.share > 0 && view.share < 1;
const atPrevalence = (cells, share) => (share === null ? cells : reweighted(cells, share));
const isSteady = (row, start) => start || (row.ranks && (row.at === undefined || state.stop === START.stop));
const isStart = () => view === D.view && state.index === START.index && state.stop === START.stop;

// Rows are whole, also at another prevalence; the sum of weights is not.
const inRows = (v) => counted(D.weighted && !D.planned ? v : Math.round(v));

function valueAt(row, cells, stop) {
  if (!row.ranks) return FORMULAS[row.name] ? valueOf(row.name, cells) : isStart() ? row.value : NaN;
  if (row.at === undefined) return row.value;
  return row.at[stop];
}

function whyAt(row, cells, stop) {
  if (!row.ranks) return FORMULAS[row.name] ? reasonOf(row.name, cells) : row.why || "computed in Python only";
  return stop in D.stops ? (row.whys && row.whys[stop]) || row.why || "undefined" : "known at steps of the slider alone";
}

function chanceAt(row, cells, stop) {
  if (isStart()) return row.chance;
  if (row.ranks) return row.baselines ? row.baselines[row.baselines.length === 1 ? 0 : stop] : row.chance;
  return FORMULAS[row.name] ? chanceOf(row, cells, rowsOfEach(view)) : NaN;
}

function move(change) {
  Object.assign(state, change);
  update(false);
}

const thresholdText = (index) => (index === null ? "as predicted" : thresholdAt(index) === Infinity ? "nobody flagged" : `threshold ${digits(thresholdAt(index))}`);
