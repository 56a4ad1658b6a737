// Numbers: three digits as everywhere in Steelyard, and the intervals at a moved threshold or prevalence.

const DRAWS = D.draws, PRIOR = D.prior, NEAR_KINK = D.near_kink;

export const isNumber = (v) => typeof v === "number" && Number.isFinite(v);

// Python rounds halves to even and toFixed does not; the same number has the same digits everywhere.
export function fixed(v, places) {
  const shown = v.toFixed(places);
  const half = Math.abs(v) * 2 * 10 ** places;
  if (half % 2 !== 1) return shown;
  const exact = Math.abs(v).toFixed(Math.min(100, places + 60));
  const end = exact.indexOf(".") + 1 + places;
  if (!/^50*$/.test(exact.slice(end))) return shown;
  const down = (v < 0 ? "-" : "") + exact.slice(0, places ? end : end - 1);
  return Number(down[down.length - 1]) % 2 ? shown : down;
}

export const grouped = (written) => {
  const [whole, rest] = written.split(".");
  return whole.replace(/\B(?=(\d{3})+$)/g, ",") + (rest === undefined ? "" : "." + rest);
};

export function digits(v) {
  if (!isNumber(v)) return "–";
  if (v === 0) return "0";
  const size = Math.floor(Math.log10(Math.abs(Number(v.toPrecision(3)))));
  if (size < -4 || size >= 6) return v.toExponential(2).replace(/e([+-])(\d)$/, "e$10$2");
  const shown = grouped(fixed(v, Math.max(2 - size, 0))), off = Math.abs(v) - 1;
  return Math.abs(Number(shown)) === 1 && Math.abs(off) > D.digits.rounding ? besideOne(v, off) : shown;
}

// As many digits as distinguish a number from 1, up to some; there never the 1.
function besideOne(v, off) {
  for (let places = 3; places <= D.digits.places; places++) {
    const shown = fixed(v, places);
    if (Math.abs(Number(shown)) !== 1) return shown;
  }
  return fixed(Math.sign(v) * (1 + Math.sign(off) * 10 ** -D.digits.places), D.digits.places);
}

// A share of cases; never rounded to all or none. The space before the sign does not break.
export function percent(share) {
  if (!isNumber(share)) return "–";
  if (share === 0 || Math.abs(share - 1) <= D.digits.rounding) return `${share ? 100 : 0}\u00a0%`;
  const shown = digits(100 * share);
  if (shown !== "100") return `${shown}\u00a0%`;
  return share < 0.9999 ? `${(Math.floor(1e4 * share) / 100).toFixed(2)}\u00a0%` : "above 99.99\u00a0%";
}

export const counted = (v) => {
  const shown = grouped(Number.isInteger(v) ? String(v) : fixed(v, 2));
  return shown === "0.00" || shown === "1.00" ? digits(v) : shown;
};
// A metric's value and the ends of its interval: shares of rows in percent, others as numbers.
export const valueText = (row, v) => (row.share ? percent(v) : digits(v));
const leastEnd = (row) => `< ${Number(((row.share ? 100 : 1) * D.digits.bound).toPrecision(3))}`;
const isSmall = (v) => v > 0 && v < D.digits.end;
export const lowEnd = (row, low, high) => (isSmall(low) || (low > 0 && low < D.digits.bound && high >= D.digits.bound) ? leastEnd(row) : valueText(row, low).replace(/\s%$/, ""));
export const highEnd = (row, low, high) => (isSmall(high) || (low === 0 && valueText(row, high).includes("e-")) ? leastEnd(row) + (row.share ? "\u00a0%" : "") : valueText(row, high));
export const between = (row, low, high) => (isNumber(low) && isNumber(high) ? `${lowEnd(row, low, high)} to ${highEnd(row, low, high)}` : "–");

// A value's place in its range from 0 to 1; an end that is never reached is drawn as far as the bar goes.
export function placed(row, v) {
  const [low, high] = row.range;
  if (low !== null && high !== null) return (v - low) / (high - low);
  if (low !== null) return (v - low) / (1 + v - low);
  return high === null ? 0.5 + v / (2 * (1 + Math.abs(v))) : 1 - (high - v) / (1 + high - v);
}

// ---------------------------------------------------------------- formulas of the registry on a table

export function valueOf(name, c) {
  const v = FORMULAS[name].f(c[0], c[1], c[2], c[3]);
  return Number.isFinite(v) ? v : NaN;
}

export function reasonOf(name, c) {
  if (c[0] + c[1] + c[2] + c[3] === 0) return "no rows";
  const found = FORMULAS[name].zeros(c[0], c[1], c[2], c[3]).find(([, part]) => part === 0);
  return found ? found[0] : "undefined";
}

// The whole numbers around one, with the probabilities that make it their mean.
function roundings(v) {
  const low = Math.floor(v), over = v - low;
  return over < 1e-9 || over > 1 - 1e-9 ? [[Math.round(v), 1]] : [[low, 1 - over], [low + 1, over]];
}

// The tables that predictions permuted over the rows of the sample may give, each read at the prevalence, with their
// probabilities, the expected one first; that alone where every cell is expected to hold very many rows. Weighted rows
// are as many as they are worth.
function noSkillTables(c, rows) {
  const p = c[0] + c[1], n = c[2] + c[3], [P, N] = rows.map(Math.round), total = P + N;
  const yes = (c[0] + c[2]) / (p + n), flagged = yes * total;
  const tables = [[p * yes, p * (1 - yes), n * yes, n * (1 - yes)]], masses = [];
  if (!(p > 0 && n > 0 && P > 0 && N > 0)) return { tables, masses };
  if (Math.min(P, N) * Math.min(yes, 1 - yes) >= 10000) return { tables, masses };
  for (const [F, first] of roundings(flagged)) {
    const low = Math.max(0, F - N), high = Math.min(F, P), middle = Math.floor((P * F) / total);
    const reach = Math.ceil(9 * Math.sqrt((P / total) * (N / total) * (F / (total - 1)) * (total - F))) + 50;
    const from = Math.max(low, middle - reach), to = Math.min(high, middle + reach), mass = new Map([[middle, 1]]);
    for (let k = middle; k < to; k++) mass.set(k + 1, (mass.get(k) * (P - k) * (F - k)) / ((k + 1) * (N - F + k + 1)));
    for (let k = middle; k > from; k--) mass.set(k - 1, (mass.get(k) * k * (N - F + k)) / ((P - k + 1) * (F - k + 1)));
    const sum = [...mass.values()].reduce((x, y) => x + y, 0);
    for (const [k, m] of mass) {
      tables.push([(k / P) * p, (1 - k / P) * p, ((F - k) / N) * n, (1 - (F - k) / N) * n]);
      masses.push((first * m) / sum);
    }
  }
  return { tables, masses };
}

// The mean of a metric over the random predictions on which it is defined; all metrics of one table share them.
let noSkillFor = "", noSkillNow = null;
export function chanceOf(row, c, rows) {
  const key = [...c, ...rows].join();
  if (key !== noSkillFor) [noSkillFor, noSkillNow] = [key, noSkillTables(c, rows)];
  const { tables, masses } = noSkillNow, exact = valueOf(row.name, tables[0]);
  let sum = 0, mass = 0;
  masses.forEach((m, i) => {
    const v = valueOf(row.name, tables[i + 1]);
    if (isNumber(v)) { sum += m * v; mass += m; }
  });
  const mean = masses.length ? sum / mass : exact, v = Math.abs(mean - exact) <= 1e-9 * Math.max(1, Math.abs(exact)) ? exact : mean;
  return (row.range[0] === null || row.range[0] < 0) && Math.abs(v) < 1e-13 ? 0 : v;
}

// The rows that the classes of a sample are worth.
export const rowsOfEach = (of) => [(of.cells[0] + of.cells[1]) / of.one[0], (of.cells[2] + of.cells[3]) / of.one[1]];

// The same rates where another share of the rows is positive, the total kept.
export function reweighted(c, share) {
  const p = c[0] + c[1], n = c[2] + c[3];
  const up = (share * (p + n)) / p, down = ((1 - share) * (p + n)) / n;
  return [c[0] * up, c[1] * up, c[2] * down, c[3] * down];
}

// ---------------------------------------------------------------- draws from the posterior, with a fixed seed

function uniforms(seed) {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

// Marsaglia and Tsang's draw of a gamma variable.
function gammas(shape, count, seed) {
  const uniform = uniforms(seed);
  const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  const boosted = shape < 1 ? shape + 1 : shape;
  const d = boosted - 1 / 3, c = 1 / Math.sqrt(9 * d);
  return Float64Array.from({ length: count }, () => {
    for (;;) {
      const x = normal(), v = (1 + c * x) ** 3;
      if (v > 0 && Math.log(1 - uniform()) < 0.5 * x * x + d - d * v + d * Math.log(v)) {
        return d * v * (shape < 1 ? (1 - uniform()) ** (1 / shape) : 1);
      }
    }
  });
}

export function drawn(view, cells, share) {
  const one = [view.one[0], view.one[0], view.one[1], view.one[1]];
  const worth = cells.map((cell, i) => cell / one[i]);
  const raw = worth.map((rows, i) => gammas(rows + PRIOR, DRAWS, 1000003 * (i + 1)));
  const total = cells[0] + cells[1] + cells[2] + cells[3];
  if (D.stratified) moveTo(raw, worth[0] + worth[1], worth[2] + worth[3]);
  const deviance = deviances(raw, worth);
  const draws = raw.map((column, i) => column.map((v) => v * one[i]));
  const centre = worth.map((rows, i) => Float64Array.of((rows + PRIOR) * one[i]));
  if (D.stratified) moveTo(centre, cells[0] + cells[1], cells[2] + cells[3]);
  if (share !== null) [draws, centre].forEach((tables) => moveTo(tables, total * share, total * (1 - share)));
  return { draws, deviance, centre: centre.map(([cell]) => cell) };
}

// Tables with these totals of the two classes.
function moveTo(tables, positives, negatives) {
  for (let j = 0; j < tables[0].length; j++) {
    const up = positives / (tables[0][j] + tables[1][j]);
    const down = negatives / (tables[2][j] + tables[3][j]);
    tables[0][j] *= up; tables[1][j] *= up; tables[2][j] *= down; tables[3][j] *= down;
  }
}

// How unlikely each draw makes the table.
function deviances(raw, worth) {
  const all = worth[0] + worth[1] + worth[2] + worth[3];
  return Float64Array.from({ length: DRAWS }, (_, j) => {
    const sum = raw[0][j] + raw[1][j] + raw[2][j] + raw[3][j];
    let twice = 0;
    for (let i = 0; i < 4; i++) {
      if (worth[i] > 0) twice += 2 * worth[i] * Math.log(worth[i] / all / (raw[i][j] / sum));
    }
    return twice;
  });
}

function quantile(sorted, q) {
  const at = (sorted.length - 1) * q, low = Math.floor(at);
  const high = Math.min(low + 1, sorted.length - 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (at - low);
}

// An end of draws around a centre, moved as the value is, and never past the limit.
function moved(end, value, centre, limit) {
  return limit === null ? end + value - centre : limit + (end - limit) * ((value - limit) / (centre - limit)) ** 2;
}

// The same method as in Python: quantiles of the draws, and of the draws moved to the value; near a kink the range over
// the likely ones.
export function intervalOf(row, value, set) {
  if (!isNumber(value)) return [NaN, NaN];
  if (set.known && set.known[row.name]) return set.known[row.name];
  if (D.clustered) return [NaN, NaN]; // the clusters are not kept, and without them an interval would be too narrow
  const { f, kinks = () => [] } = FORMULAS[row.name];
  const [tp, fn, fp, tn] = set.draws;
  const values = new Float64Array(DRAWS);
  let held = 0;
  const below = kinks(1, 1, 1, 1).map(() => 0);
  for (let j = 0; below.length && j < DRAWS; j++) {
    kinks(tp[j], fn[j], fp[j], tn[j]).forEach((part, i) => { below[i] += part < 0; });
  }
  const nearKink = below.some((share) => share > NEAR_KINK * DRAWS && share < (1 - NEAR_KINK) * DRAWS);
  for (let j = 0; j < DRAWS; j++) {
    if (nearKink && set.deviance[j] > D.limit) continue;
    const v = f(tp[j], fn[j], fp[j], tn[j]);
    if (Number.isFinite(v)) values[held++] = v;
  }
  if (!held) return [NaN, NaN];
  const sorted = values.subarray(0, held).sort();
  const ends = nearKink
    ? [sorted[0], sorted[held - 1]]
    : [quantile(sorted, (1 - D.level) / 2), quantile(sorted, (1 + D.level) / 2)];
  const centre = f(...set.centre);
  if (!nearKink && value < centre) ends[0] = moved(ends[0], value, centre, row.range[0]);
  if (!nearKink && value > centre) ends[1] = moved(ends[1], value, centre, row.range[1]);
  const low = Math.min(ends[0], value), high = Math.max(ends[1], value);
  return [row.range[0] === null ? low : Math.max(low, row.range[0]), row.range[1] === null ? high : Math.min(high, row.range[1]), nearKink ? "deviance" : D.stratified ? "stratified" : "posterior"];
}
