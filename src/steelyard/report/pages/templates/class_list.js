// Class list: the classes in rows, and the search over them.

import { between, counted, isNumber, valueText } from "./numbers.js";
import { el, host } from "./charts.js";
import { CLASS_COUNT, CLASSES, classOrder, filledWords } from "./class_cells.js";
import { classPicked, heatTo } from "./class_moves.js";

// ---------------------------------------------------------------- the list of classes

const FEW_CLASSES = 20, MOST_CLASSES = 1000; // in the list; the search finds any
export const classRows = { by: "recall", all: false, lines: new Map() };

function classSpan(cell, value, low, high) {
  const svg = el("svg", { class: "span", height: 16, "aria-hidden": "true" }, cell), at = (v) => `${(100 * v).toFixed(2)}%`;
  el("line", { class: "track", x1: 0, x2: "100%", y1: 8, y2: 8 }, svg);
  el("rect", { class: "interval", y: 4, height: 8, rx: 2, x: at(low), width: at(high - low) }, svg);
  el("circle", { class: "value-mark", cx: at(value), cy: 8, r: 4 }, svg);
}

function classLine(i) {
  const tr = document.createElement("tr");
  tr.dataset.class = i;
  const head = el("th", { scope: "row" }, tr);
  el("bdi", { class: "name24", title: CLASSES.names[i] }, head, CLASSES.names[i]);
  el("td", {}, tr, counted(CLASSES.rows[i]));
  for (const row of D.class_metrics) {
    const { value, low, high, whys } = CLASSES.metrics[row.name], cell = el("td", {}, tr, isNumber(value[i]) ? valueText(row, value[i]) : `– ${whys[i] || ""}`);
    if (!isNumber(value[i]) || !isNumber(low[i])) continue;
    cell.append(" ");
    el("span", { class: "ends" }, cell, `(${between(row, low[i], high[i]).replace(/\s%$/, "")})`);
  }
  const cell = el("td", { class: "span-cell" }, tr), { value, low, high } = CLASSES.metrics.recall;
  if (isNumber(value[i])) classSpan(cell, value[i], isNumber(low[i]) ? low[i] : value[i], isNumber(high[i]) ? high[i] : value[i]);
  return tr;
}

// The name of a class becomes a button that finds it in the map and puts it against the rest.
export function classOpened(tr) {
  const i = Number(tr.dataset.class), name = tr.querySelector("th bdi"), button = el("button", { type: "button", class: "open-class", title: CLASSES.names[i] });
  name.removeAttribute("title");
  name.replaceWith(button);
  button.appendChild(name);
  button.addEventListener("click", () => { heatTo([i, i], true); classPicked(i); });
  classRows.lines.set(i, tr);
}

export function classesFound() {
  const words = host("find-class").value.trim().toLowerCase();
  const lower = (i) => CLASSES.names[i].toLowerCase();
  const found = words ? classOrder("given").filter((i) => lower(i).includes(words)) : null;
  const first = found && (found.find((i) => lower(i) === words) ?? found.find((i) => lower(i).startsWith(words)) ?? found[0]);
  return { found, first };
}

export function classesListed() {
  const { found } = classesFound(), body = host("class-list").tBodies[0], kept = found && new Set(found);
  const order = classOrder(classRows.by).filter((i) => !kept || kept.has(i)), few = classRows.all || kept ? order : order.slice(0, FEW_CLASSES);
  const most = kept ? 100 : MOST_CLASSES, lines = few.slice(0, most).map((i) => {
    if (!classRows.lines.has(i)) classOpened(classLine(i));
    return classRows.lines.get(i);
  });
  const shown = new Set(lines), onPaper = [...classRows.lines.values()].filter((tr) => tr.classList.contains("printed") && !shown.has(tr));
  for (const tr of classRows.lines.values()) tr.classList.toggle("beyond", !shown.has(tr));
  body.replaceChildren(...lines, ...onPaper);
  const more = host("all-classes");
  more.hidden = Boolean(kept) || CLASS_COUNT <= FEW_CLASSES;
  more.textContent = classRows.all ? filledWords(CLASSES.words.fewer, { few: FEW_CLASSES }) : filledWords(CLASS_COUNT > MOST_CLASSES ? CLASSES.words.first : CLASSES.words.more, { all: counted(CLASS_COUNT), most: counted(MOST_CLASSES) });
  host("found-classes").textContent = kept ? (kept.size ? filledWords(CLASSES.words.matches, { found: counted(kept.size), all: counted(CLASS_COUNT) }) : CLASSES.words.none) : "";
}
