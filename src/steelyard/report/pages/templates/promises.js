// Promises: which thresholds keep limits on new rows with a confidence, by exact binomial tails.

import { boundOf, ofClass, parts, PARTS } from "./decision_rule.js";

const HALF_LOG = 0.5 * Math.log(2 * Math.PI);

// ---------------------------------------------------------------- binomial tails

// What Stirling's formula leaves out of the logarithm of n!.
const SMALL = [0];
for (let n = 1, log = 0; n < 16; n++) { log += Math.log(n); SMALL.push(log - (n + 0.5) * Math.log(n) + n - HALF_LOG); }
const stirling = (n) => { const s = n * n; return n < 16 ? SMALL[n] : (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / s) / s) / s) / s) / n; };

// x log(x / m) + m - x, without the digits that its parts share (Loader 2000).
function deviance(x, m) {
  const v = (x - m) / (x + m);
  if (Math.abs(v) >= 0.1) return x * Math.log(x / m) + m - x;
  let sum = (x - m) * v, term = 2 * x * v;
  for (let k = 3; ; k += 2) {
    term *= v * v;
    const next = sum + term / k;
    if (next === sum) return sum;
    sum = next;
  }
}

function chanceOfHits(k, n, p) {
  if (k === 0) return Math.exp(n * Math.log1p(-p));
  if (k === n) return Math.exp(n * Math.log(p));
  const away = stirling(n) - stirling(k) - stirling(n - k) - deviance(k, n * p) - deviance(n - k, n * (1 - p));
  return Math.exp(away) * Math.sqrt(n / (2 * Math.PI * k * (n - k)));
}

// The chance of k hits or more in n rows at a rate: the shorter tail, summed from its largest term on.
export function atLeast(k, n, p) {
  if (k <= 0 || p >= 1) return 1;
  if (k > n || p <= 0) return 0;
  const up = k > n * p, odds = p / (1 - p);
  let j = up ? k : k - 1, term = chanceOfHits(j, n, p), sum = term;
  while (term > 1e-18 * sum && (up ? j < n : j > 0)) {
    term *= up ? ((n - j) / (j + 1)) * odds : j / ((n - j + 1) * odds);
    j += up ? 1 : -1;
    sum += term;
  }
  return up ? sum : 1 - sum;
}

// The chance that a day has more alerts, where so many of some rows were flagged. The alerts of the day are
// beta-binomial: there are more where at most `flagged` of the highest flagged + 1 + alerts of all rows, those of
// the day among them, are old ones, which is hypergeometric.
export function exceeded(alerts, day, flagged, rows) {
  if (alerts >= day) return 0;
  if (flagged >= rows) return 1;
  const top = flagged + 1 + alerts, low = Math.max(0, top - day), high = Math.min(rows, top);
  const ratio = (j) => ((rows - j) * (top - j)) / ((j + 1) * (day - top + j + 1));
  const start = Math.min(high, Math.max(low, Math.floor(((top + 1) * (rows + 1)) / (rows + day + 2))));
  let all = 1, few = start <= flagged ? 1 : 0;
  const walk = (step) => {
    for (let j = start, term = 1; step > 0 ? j < high : j > low; j += step) {
      term *= step > 0 ? ratio(j) : 1 / ratio(j - 1);
      all += term;
      if (j + step <= flagged) few += term;
      if (term < 1e-18 * all) return;
    }
  };
  walk(1);
  walk(-1);
  return few / all;
}

// ---------------------------------------------------------------- what is kept

export const brokenChance = (limit, c) => (limit.rows ? exceeded(limit.alerts, limit.rows, ...parts(limit, c)) : atLeast(...parts(limit, c), boundOf(limit)));

// A rate out of the same rows only rises or falls with the threshold, so each one's own tail holds for all of them.
function ordered(limit, tables, risk) {
  const isSure = (i, [hits, trials]) => (i === 0 || i === tables.length - 1) && hits === (limit.rows ? 0 : trials);
  return tables.map((c, i) => isSure(i, parts(limit, c)) || brokenChance(limit, c) <= risk);
}

// A share of the flagged rows, or of the others, is shown from few rows to many, each only where all before it were.
// Where thresholds between two are not here, the worst that may lie between is to be shown as well.
function inSequence(limit, tables, risk, { starts, whole }) {
  const [hits, rest, order] = PARTS[limit.name], rate = boundOf(limit), path = order > 0 ? tables : tables.slice().reverse();
  const size = path.length, all = order > 0 ? path[0][0] + path[0][1] : path[0][2] + path[0][3];
  const first = (least) => { const i = path.findIndex((c) => c[hits] + c[rest] >= least); return i < 0 ? size : i; };
  const from = starts.map(([part]) => first((part * all) / Math.max(rate, 1e-9)));
  const isShown = (j, allowed) => { const found = path[whole || !j ? j : j - 1][hits]; return atLeast(found, found + path[j][rest], rate) <= allowed; };
  const kept = path.map(() => false);
  let passed = 0;
  starts.forEach(([, part], s) => {
    const end = s + 1 < starts.length ? from[s + 1] : size;
    passed += part * risk;
    let j = from[s];
    for (; j < end && isShown(j, passed); j++) kept[j] = true;
    const through = j >= end && (whole || end >= size || isShown(end, passed));
    if (!through) passed = 0;
  });
  return order > 0 ? kept : kept.reverse();
}

export function keptBy(limits, tables, confidence, options) {
  const risk = (1 - confidence) / limits.length;
  const each = limits.map((limit) => (limit.rows || ofClass(limit) ? ordered : inSequence)(limit, tables, risk, options));
  return tables.map((_, i) => each.every((kept) => kept[i]));
}

// The rows of its class without which a limit on one class is not promised; none are enough where it leaves no room.
export const leastRows = (limit, risk) => (boundOf(limit) < 1 - 1e-9 ? Math.ceil(Math.log(risk) / Math.log(boundOf(limit))) : Infinity);
