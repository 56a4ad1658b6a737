// Many classes: what begins, and what the address remembers.

import { el, host } from "./charts.js";
import { begins, kept, redraws, remembered, tables, when } from "./frame.js";
import { CLASS_CELLS, CLASS_COUNT, CLASS_SIZES, CLASSES } from "./class_cells.js";
import { classesFound, classesListed, classOpened, classRows } from "./class_list.js";
import { heat, heatLayout, heatSizes, WRITTEN } from "./class_map.js";
import {
  classPicked, heatAt, heatKey, heatPicture, heatPrinted, heatReordered, heatStatus, heatTo, heatZoom,
} from "./class_moves.js";
import { heatDrawn, heatPainted, heatSoon } from "./class_paint.js";

// ---------------------------------------------------------------- begin

// One list of pairs on the screen; on paper there is room for both.
function pairsShown() {
  for (const room of document.querySelectorAll(".pair-list")) room.classList.toggle("off-screen", room.id !== `pairs-${host("pair-order").value}`);
}

function pairsOpened() {
  if (host("pair-choice")) { host("pair-choice").hidden = false; when("pair-order", "change", () => { pairsShown(); remembered(); }); }
  for (const tr of document.querySelectorAll(".pair-table tbody tr")) {
    const head = tr.querySelector("th"), button = el("button", { type: "button", class: "open-class" });
    button.append(...head.childNodes);
    head.appendChild(button);
    button.addEventListener("click", () => heatTo(tr.dataset.cell.split(" ").map(Number), true));
  }
}

function heatListens(map) {
  map.addEventListener("scroll", heatSoon, { passive: true });
  map.addEventListener("keydown", heatKey);
  map.addEventListener("pointermove", (event) => {
    if (event.pointerType === "touch") return;
    const { cell, name } = heatAt(event);
    heat.hover = cell || (name === undefined ? null : [name, name]);
    heatStatus();
    heatSoon();
  });
  map.addEventListener("pointerleave", () => { heat.hover = null; heatStatus(); heatSoon(); });
  map.addEventListener("click", (event) => {
    const { cell, name, corner } = heatAt(event), room = [heat.seen[0] - heat.left, heat.seen[1] - heat.top];
    if (cell) heatTo(cell);
    else if (name !== undefined) { heatTo([name, name], true); classPicked(name); }
    else if (corner) map.scrollTo({ left: corner[0] * CLASS_COUNT * heat.width - room[0] / 2, top: corner[1] * CLASS_COUNT * heat.height - room[1] / 2 });
  });
}

function classesBegun() {
  const map = host("class-map");
  document.querySelector(".map-tools").hidden = false;
  document.querySelector("#map-figure .legend").hidden = false;
  map.hidden = false;
  if (host("listed-words")) host("listed-words").className = "on-paper";
  if (host("written-matrix")) host("written-matrix").classList.add("aside-table");
  map.picture = () => heatPicture(document.createElement("canvas"), { cell: CLASS_COUNT <= WRITTEN ? heatSizes(1200).width : CLASS_COUNT > 200 ? Math.min(4, 8000 / CLASS_COUNT) : 12, sharp: CLASS_COUNT > 200 ? 1 : 2 });
  heat.room = el("div", { class: "map-room" }, map);
  heat.canvas = el("canvas", { "aria-hidden": "true" }, heat.room);
  heatReordered(heat.by);
  heatListens(map);
  for (const tr of host("class-list").tBodies[0].rows) { tr.classList.add("printed"); classOpened(tr); }
  pairsOpened();
  classesListed();
  const listen = (id, event, act) => host(id).addEventListener(event, act);
  listen("class-order", "change", () => { heatReordered(host("class-order").value); heatPainted(); if (heat.cell) heatTo(heat.cell, true); remembered(); });
  listen("class-shade", "change", () => { heat.shade = host("class-shade").value; heatPainted(); remembered(); });
  listen("cells-larger", "click", () => heatZoom(1));
  listen("cells-smaller", "click", () => heatZoom(-1));
  listen("list-order", "change", () => { classRows.by = host("list-order").value; classesListed(); remembered(); });
  listen("all-classes", "click", () => { classRows.all = !classRows.all; classesListed(); });
  listen("find-class", "input", () => { const { first } = classesFound(); classesListed(); if (first !== undefined && first !== null) heatTo([first, first], true); });
  new ResizeObserver(() => { heatLayout(); heatDrawn(); }).observe(host("map-figure"));
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", heatPainted);
  window.matchMedia("print").addEventListener("change", (event) => { if (event.matches) heatPrinted(); });
  window.addEventListener("beforeprint", heatPrinted);
  heatLayout();
}

const firstOf = (id) => host(id).options[0].value;
kept.push({
  write(parts) {
    if (heat.by !== firstOf("class-order")) parts.set("order", heat.by);
    if (heat.shade !== firstOf("class-shade")) parts.set("shade", heat.shade);
    if (classRows.by !== firstOf("list-order")) parts.set("list", classRows.by);
    if (host("pair-order") && host("pair-order").value !== firstOf("pair-order")) parts.set("pairs", host("pair-order").value);
    if (heat.cell) parts.set("cell", heat.cell.join(" "));
  },
  read(parts) {
    const chosen = (id, key) => ([...host(id).options].find((option) => option.value === parts.get(key)) || host(id).options[0]).value;
    heatReordered(chosen("class-order", "order"));
    host("class-shade").value = heat.shade = chosen("class-shade", "shade");
    host("list-order").value = classRows.by = chosen("list-order", "list");
    if (host("pair-order")) { host("pair-order").value = chosen("pair-order", "pairs"); pairsShown(); }
    const cell = (parts.get("cell") || "").split(" ").map(Number);
    heat.cell = cell.length === 2 && cell.every((i) => Number.isInteger(i) && i >= 0 && i < CLASS_COUNT) ? cell : null;
    classesListed();
    heatPainted();
    if (heat.cell) heatTo(heat.cell, true);
    heatStatus();
  },
});
tables.set("class-map", () => {
  const lines = [["true", "predicted", CLASSES.unit, "share of the true class"]];
  CLASS_CELLS.forEach((count, k) => {
    const i = Math.floor(k / CLASS_COUNT);
    if (count) lines.push([CLASSES.names[i], CLASSES.names[k % CLASS_COUNT], count, count / CLASS_SIZES[i]]);
  });
  return lines;
});
redraws.push(() => { heatLayout(); heatPainted(); });
begins.push(classesBegun);
