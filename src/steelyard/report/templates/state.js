// State: one cut and one prevalence; every number and every mark follows from the two.

const METRICS = D.metrics.map((row) => ({ ...Object.fromEntries(D.keys.map((key, i) => [key, row[i]])), ...row[D.keys.length] }));
const BY_NAME = new Map(METRICS.map((row) => [row.name, row]));
const CUTS = D.cuts ? D.cuts.tp.length : 0;
let view = D.view;
const START = { cut: D.cuts ? D.cut : null, stop: D.stop };
const state = { ...START, chosen: D.drawn.filter((name) => BY_NAME.has(name)) };
if (!state.chosen.length) state.chosen = METRICS.filter((row) => bounded(row)).slice(0, 4).map((row) => row.name);
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
const isSteady = (row, start) => start || (row.ranks && (row.at === undefined || state.stop === START.stop));
const isStart = () => view === D.view && state.cut === START.cut && state.stop === START.stop;

function valueAt(row, cells, stop) {
  if (!row.ranks) return FORMULAS[row.name] ? valueOf(row.name, cells) : isStart() ? row.value : NaN;
  if (row.at === undefined) return row.value;
  return row.at[stop];
}

function whyAt(row, cells, stop) {
  if (!row.ranks) return FORMULAS[row.name] ? reasonOf(row.name, cells) : row.why || "computed in Python only";
  return (row.whys && row.whys[stop]) || row.why || "undefined";
}

function chanceAt(row, cells, stop) {
  if (isStart()) return row.chance;
  if (row.ranks) return row.guesses ? row.guesses[row.guesses.length === 1 ? 0 : stop] : row.chance;
  return FORMULAS[row.name] ? chanceOf(row, cells) : NaN;
}
