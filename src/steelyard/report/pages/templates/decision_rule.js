// Decision rule: the threshold at which errors cost least within limits, by the rule of best_threshold. Nothing here, or
// in promises.js, reads or writes the page.

const SLACK = 1e-12, TIE = 16 * 2 ** -52;

// Of each rate the cell of its hits and that of its other trials; the trials are the same rows at every threshold (0),
// or more (1) or fewer (-1) as more rows are flagged.
export const PARTS = { recall: [0, 1, 0], specificity: [3, 2, 0], precision: [0, 2, 1], negative_predictive_value: [3, 1, -1] };
const total = (c) => c[0] + c[1] + c[2] + c[3];
export const ofClass = ({ name }) => name in PARTS && !PARTS[name][2];
export const boundOf = ({ bound }) => bound - SLACK;
export function parts({ name }, c) {
  if (name === "alerts") return [c[0] + c[2], total(c)];
  const [hits, rest] = PARTS[name];
  return [c[hits], c[hits] + c[rest]];
}
export function valueOfLimit(limit, c) {
  const [hits, trials] = parts(limit, c);
  return trials > 0 ? hits / trials : NaN;
}
const lacks = (limit, c) => (limit.rows ? valueOfLimit(limit, c) - limit.alerts / limit.rows : limit.bound - valueOfLimit(limit, c));

// ---------------------------------------------------------------- the choice

// `there` are the rows at each threshold, from nobody flagged to everybody, at the prevalence; `kept` which of them keep
// the limits on new rows, where that is asked for.
export function decide({ there, cost, limits, kept, plateau }) {
  const costs = there.map((c) => (cost * c[1] + c[2]) / total(c));
  let allowed = costs.map(() => true), unmet = null;
  for (const limit of limits) {
    const gaps = there.map((c, i) => (allowed[i] ? lacks(limit, c) : NaN));
    allowed = gaps.map((gap) => gap <= SLACK);
    if (!allowed.some(Boolean)) {
      const nearest = gaps.reduce((best, gap, i) => (gap < (best < 0 ? Infinity : gaps[best]) ? i : best), -1);
      unmet = { limit, before: limits.slice(0, limits.indexOf(limit)), nearest, value: nearest < 0 ? NaN : valueOfLimit(limit, there[nearest]) };
      break;
    }
  }
  const merits = costs.map((c, i) => (allowed[i] && (!kept || kept[i]) ? c : NaN));
  const least = merits.reduce((a, b) => (b < a ? b : a), Infinity);
  const index = merits.findIndex((c) => c <= least + TIE * Math.max(cost, 1));
  const onlyTrivial = kept !== null && !kept.slice(1, -1).some(Boolean);
  if (index < 0) return { index: null, costs, kept, unmet, onlyTrivial, plateau: null };
  const trivial = Math.min(...[merits[0], merits[merits.length - 1]].filter((c) => !isNaN(c)));
  const width = plateau * Math.max(0, Math.min(merits[index], trivial - merits[index]));
  const near = (i) => merits[i] <= merits[index] + width + SLACK;
  let high = index, low = index;
  while (high > 0 && near(high - 1)) high--;
  while (low < costs.length - 1 && near(low + 1)) low++;
  return { index, costs, kept, unmet, onlyTrivial, plateau: [low, high] };
}
