// Comparison: the leaderboard of the chosen metric, the pairs of models, and the numbers to take along.

import { between, digits, isNumber, valueText } from "./numbers.js";
import { el, host } from "./charts.js";
import { begins, csvText, exporters, kept, remembered } from "./frame.js";

export const C = D.comparison;
const boardMetric = host("board-metric");

function showBoard(name) {
  for (const part of document.querySelectorAll("[data-board]")) part.hidden = part.dataset.board !== name;
}
if (boardMetric) {
  boardMetric.addEventListener("change", () => { showBoard(boardMetric.value); remembered(); });
  kept.push({
    write(parts) { if (!boardMetric.selectedOptions[0].defaultSelected) parts.set("metric", boardMetric.value); },
    read(parts) {
      const named = [...boardMetric.options].find((option) => option.value === parts.get("metric"));
      for (const option of boardMetric.options) option.selected = named ? option === named : option.defaultSelected;
      showBoard(boardMetric.value);
    },
  });
}

// ---------------------------------------------------------------- pairs

const pDigits = (p) => (isNumber(p) && p < 0.001 ? "< 0.001" : digits(p));
const acrossShare = (share) => `${(100 * Math.min(1, Math.max(0, share))).toFixed(2)}%`;

// The difference and its interval, zero in the middle.
function gapPicture(cell, [difference, low, high], most) {
  const svg = el("svg", { height: 16, "aria-hidden": "true" }, cell), at = (v) => acrossShare((v / most + 1) / 2);
  el("line", { class: "zero", x1: "50%", x2: "50%", y1: 0, y2: 16 }, svg);
  if (isNumber(low) && isNumber(high)) el("rect", { class: "gap", x: at(low), width: acrossShare((high - low) / (2 * most)), y: 4, height: 8, rx: 2 }, svg);
  el("circle", { class: "gap-mark", cx: at(difference), cy: 8, r: 3 }, svg);
}

function fillPair(pair) {
  const table = document.querySelector(`#pair-${pair.a}-${pair.b} table`), body = table.tBodies[0];
  const most = Math.max(...pair.rows.flatMap((row) => [row[3], row[4], row[5]].filter(isNumber).map(Math.abs)), 0) || 1;
  const scale = table.querySelector("thead .scale");
  el("span", {}, scale, digits(-most));
  el("span", {}, scale, digits(most));
  for (const [place, a, b, difference, low, high, p, holm, why] of pair.rows) {
    const metric = C.metrics[place], defined = isNumber(difference);
    const tr = el("tr", { "data-metric": metric.name, "data-value": defined ? String(difference) : "" }, body);
    el("th", { scope: "row" }, tr, metric.title);
    for (const words of [valueText(metric, a), valueText(metric, b), digits(difference)]) el("td", {}, tr, words);
    el("td", {}, tr, defined && isNumber(low) ? `${digits(low)} to ${digits(high)}` : why || "–");
    const picture = el("td", { class: "picture" }, tr);
    if (defined) gapPicture(picture, [difference, low, high], most);
    for (const value of [p, holm]) el("td", {}, tr, pDigits(value));
  }
}

begins.push(() => {
  C.pairs.forEach(fillPair);
  for (const button of document.querySelectorAll("[data-opens]")) button.addEventListener("click", () => {
    const fold = host(button.dataset.opens);
    fold.open = true;
    fold.scrollIntoView({ block: "start" });
    fold.querySelector("summary").focus({ preventScroll: true });
  });
});

// ---------------------------------------------------------------- taking along

function comparedRows() {
  const rows = [["metric", "model", "place", "value", "low", "high", "letters"]];
  for (const [metric, models] of Object.entries(C.boards)) for (const [model, place, value, low, high, letters] of models) rows.push([metric, C.models[model].name, place, value, low, high, letters]);
  return rows;
}
function comparedNumbers() {
  const [head, ...rows] = comparedRows(), named = (i) => C.models[i].name;
  const leaderboards = rows.map((row) => Object.fromEntries(head.map((key, i) => [key, row[i]])));
  const keys = ["value_a", "value_b", "difference", "low", "high", "p_value", "p_holm", "why"];
  const differences = C.pairs.flatMap((pair) => pair.rows.map(([metric, ...numbers]) => ({ a: named(pair.a), b: named(pair.b), metric: C.metrics[metric].name, ...Object.fromEntries(keys.map((key, i) => [key, numbers[i] === undefined ? null : numbers[i]])) })));
  return { version: D.version, source: C.source, rows: C.rows, level: C.level, models: C.models.map((model) => model.name), leaderboards, differences };
}
// A name as Markdown shows it: no sign of it is markup.
const markdownText = (words) => String(words).replace(/[\r\n]+/g, " ").replace(/[\\`*_{}[\]<>()#+!|~&-]/g, (sign) => `\\${sign}`);
function comparedMarkdown() {
  const chosen = boardMetric ? boardMetric.value : null, metric = C.metrics.find((row) => row.name === chosen);
  if (!metric) return "";
  const lines = C.boards[chosen].map(([model, place, value, low, high, letters]) => `| ${isNumber(place) ? place : "–"} | ${markdownText(C.models[model].name)} | ${valueText(metric, value)} | ${between(metric, low, high)} | ${letters} |`);
  const shown = [...document.querySelectorAll("#leaderboard [data-board]")].find((part) => part.dataset.board === chosen);
  const sentences = [...shown.querySelectorAll(".board-words p")].map((part) => markdownText(part.textContent));
  return [sentences.join(" "), "", `| place | model | ${metric.title} | ${100 * C.level} % interval | letters |`, "|---:|---|---:|---|---|", ...lines, ""].join("\n");
}
exporters.set("json", () => JSON.stringify(comparedNumbers(), null, 1));
exporters.set("csv", () => csvText(comparedRows()));
exporters.set("markdown", comparedMarkdown);
