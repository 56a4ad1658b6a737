// Rows: the metrics, each with its bar, what opens below it, and the order they stand in.

import { isNumber, placed, valueText } from "./numbers.js";
import { el, host, put, shown } from "./charts.js";
import { METRICS, rows } from "./state.js";

export const across = (v) => `${(100 * Math.min(1, Math.max(0, v))).toFixed(2)}%`;
const end = (v, infinite) => (v === null ? infinite : String(v));

export function bar(cell, row) {
  el("span", { class: "end" }, cell, end(row.range[0], "-∞"));
  const svg = el("svg", { class: "bar", height: 16, "aria-hidden": "true" }, cell);
  el("line", { class: "track", x1: "0%", x2: "100%", y1: 8, y2: 8 }, svg);
  const parts = {
    band: el("rect", { class: "interval", y: 4, height: 8, rx: 2, x: 0, width: 0 }, svg),
    chance: el("line", { class: "chance-mark", y1: 2, y2: 14 }, svg),
    dot: el("circle", { class: "value-mark", cy: 8, r: 4 }, svg),
  };
  el("span", { class: "end" }, cell, end(row.range[1], "∞"));
  return parts;
}

export function drawBand(parts, row, low, high) {
  const known = isNumber(low) && isNumber(high);
  const from = known ? placed(row, low) : 0, to = known ? placed(row, high) : 0;
  put(parts.band, "x", across(from));
  put(parts.band, "width", known ? across(to - from) : 0);
}

export function drawMark(parts, row, value, chance) {
  shown(parts.dot, isNumber(value));
  shown(parts.chance, isNumber(chance));
  if (isNumber(value)) put(parts.dot, "cx", across(placed(row, value)));
  if (isNumber(chance)) for (const key of ["x1", "x2"]) put(parts.chance, key, across(placed(row, chance)));
}

export function readRows(table, list, kept) {
  for (const tr of table.querySelectorAll("tr[data-value]")) {
    const row = list.get(tr.dataset.metric || tr.dataset.classMetric);
    const [value, barCell, interval, chance] = tr.querySelectorAll("td");
    const parts = bar(barCell, row);
    drawBand(parts, row, row.low, row.high);
    drawMark(parts, row, row.value, row.chance);
    opened(tr, row);
    if (kept) kept.set(row.name, { tr, row, now: row.value, value, interval, chance, parts });
  }
}

// The heading of a row becomes a button that opens what is to be known of the metric.
function opened(tr, row) {
  const head = tr.querySelector("th"), button = el("button", { type: "button", class: "open", "aria-expanded": "false" });
  button.append(...head.childNodes);
  head.appendChild(button);
  button.addEventListener("click", () => {
    const shown = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!shown));
    if (shown) tr.nextElementSibling.remove();
    else tr.after(detail(row));
  });
}

function detail(row) {
  const tr = document.createElement("tr");
  tr.className = "detail";
  const list = el("dl", {}, el("td", { colspan: 5 }, tr));
  facts(list, row, D.explained.metrics[row.name]);
  return tr;
}

function facts(list, row, of) {
  const fact = (term, words) => { if (words) { el("dt", {}, list, term); el("dd", {}, list, words); } };
  const listed = (parts) => (parts || []).join(", ");
  el("dt", {}, list, "formula");
  el("code", {}, el("dd", {}, list), `${row.name} = ${of.formula}`);
  fact("also called", listed(of.names));
  fact("meaning", of.meaning);
  fact("parameters", listed(Object.entries(of.parameters || {}).map(([key, v]) => `${key} = ${v === null ? "from the table" : v}`)));
  fact("baseline", isNumber(row.chance) ? `${valueText(row, row.chance)}, a random predictor with the same share of rows flagged` : "");
  fact("use where", (of.fits || []).join("; "));
  fact("not where", (of.fails || []).join("; "));
  for (const [sign, words] of [["+", "always true"], ["-", "not always true"]]) {
    fact(words, of.holds && D.explained.properties.filter((_, i) => of.holds[i] === sign).join(" "));
  }
  if (!of.holds) fact("properties", row.ranks ? "not proven for metrics of scores" : "not proven here; steelyard audit proves or refutes them");
  fact("interval", row.method);
  fact("source", D.explained.sources[of.cite] || of.cite);
}

// The rows beyond the first few are folded away until asked for.
export function folded(few) {
  const rest = METRICS.length - METRICS.filter((row) => row.top).length;
  host("more").hidden = !rest || rest === METRICS.length;
  host("metrics").classList.toggle("few", few && rest < METRICS.length);
  host("more").textContent = few ? `Show all ${METRICS.length} metrics` : "Show the first few only";
}

export function sorted(by) {
  folded(false);
  const table = host("metrics");
  const every = [...rows.values()];
  const groups = new Map();
  const put = (title, entry) => groups.set(title, [...(groups.get(title) || []), entry]);
  if (by === "first") for (const top of D.tops) for (const e of every.filter((e) => e.row.top === top)) put(top, e);
  if (by === "first" || by === "family") {
    for (const e of every.filter((e) => by === "family" || !e.row.top)) put(D.families[e.row.family] || e.row.family, e);
  } else {
    const number = (e) => (e.tr.dataset.value === "" ? -Infinity : Number(e.tr.dataset.value));
    const order = by === "name" ? (a, b) => a.row.title.localeCompare(b.row.title) : (a, b) => number(b) - number(a);
    for (const e of every.sort(order)) put("", e);
  }
  for (const body of table.querySelectorAll("tbody")) body.remove();
  for (const [title, entries] of groups) {
    const body = el("tbody", D.tops.includes(title) ? { class: "top" } : {}, table);
    if (title) {
      const tr = document.createElement("tr");
      tr.className = "family";
      el("th", { scope: "rowgroup", colspan: 5 }, tr, title);
      body.appendChild(tr);
    }
    for (const e of entries) {
      const more = e.tr.nextElementSibling;
      body.appendChild(e.tr);
      if (more && more.className === "detail") body.appendChild(more);
    }
  }
}
