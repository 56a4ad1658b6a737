// Class moves: pointing at the heat map, moving over it, and the whole as a picture.

import { counted, percent } from "./numbers.js";
import { host } from "./charts.js";
import { remembered } from "./frame.js";
import { CLASS_COUNT, CLASS_SIZES, classCell, CLASSES, classOrder, filledWords, quotedName } from "./class_cells.js";
import {
  CELL_SIZES, heat, heatColours, heatImage, heatLayout, isTiny, mapFont, widestName, WRITTEN,
} from "./class_map.js";
import { heatDrawn, heatPainted, heatSoon, paintHeat } from "./class_paint.js";

// ---------------------------------------------------------------- pointing and moving

function heatWords([i, j]) {
  const count = classCell(i, j), total = CLASS_SIZES[i], { words, least, units } = CLASSES;
  const parts = { count: counted(count), total: counted(total), units, true: quotedName(i), predicted: quotedName(j), share: percent(count / total), least: least === null ? "" : counted(least) };
  return filledWords(!total ? words.absent : count ? (i === j ? words.right : words.cell) : least === null || i === j ? words.empty : words.small, parts);
}

export function heatStatus() {
  const cell = heat.hover || heat.cell;
  host("map-status").textContent = cell ? heatWords(cell) : CLASSES.words.hint;
}

// The cell under a point of the map, or the class whose name is there.
export function heatAt(event) {
  const map = host("class-map"), box = map.getBoundingClientRect();
  const x = event.clientX - box.left - map.clientLeft, y = event.clientY - box.top - map.clientTop;
  const u = Math.floor((x - heat.left + map.scrollLeft) / heat.width), v = Math.floor((y - heat.top + map.scrollTop) / heat.height);
  const inside = (k) => k >= 0 && k < CLASS_COUNT;
  if (x >= heat.seen[0] || y >= heat.seen[1]) return {};
  if (x < heat.left && y < heat.top) return { corner: heat.corner && [(x - heat.corner.x) / heat.corner.side, (y - heat.corner.y) / heat.corner.side] };
  if (x < heat.left) return inside(v) ? { name: heat.places[v] } : {};
  if (y < heat.top) return inside(u) ? { name: heat.places[u] } : {};
  return inside(u) && inside(v) ? { cell: [heat.places[v], heat.places[u]] } : {};
}

// The cell under the keyboard: marked, named and scrolled into view.
export function heatTo(cell, centred) {
  heat.cell = cell;
  heat.hover = null;
  const map = host("class-map"), [v, u] = [heat.at[cell[0]], heat.at[cell[1]]];
  const room = [heat.seen[0] - heat.left, heat.seen[1] - heat.top];
  const into = (place, size, from, seen) => {
    if (centred && (place * size < from || (place + 1) * size > from + seen)) return (place + 0.5) * size - seen / 2;
    return place * size < from ? place * size : (place + 1) * size > from + seen ? (place + 1) * size - seen : from;
  };
  map.scrollTo({ left: into(u, heat.width, map.scrollLeft, room[0]), top: into(v, heat.height, map.scrollTop, room[1]), behavior: "instant" });
  heatStatus();
  heatSoon();
  remembered();
}

export function heatKey(event) {
  const map = host("class-map"), page = [heat.seen[0] - heat.left, heat.seen[1] - heat.top].map((room, k) => Math.max(1, Math.floor(room / [heat.width, heat.height][k]) - 1));
  const [v, u] = heat.cell ? heat.cell.map((i) => heat.at[i]) : [0, 0], far = CLASS_COUNT, by = event.shiftKey ? 10 : 1;
  const moves = { ArrowLeft: [0, -by], ArrowRight: [0, by], ArrowUp: [-by, 0], ArrowDown: [by, 0], Home: [event.ctrlKey ? -far : 0, -far], End: [event.ctrlKey ? far : 0, far], PageUp: [-page[1], 0], PageDown: [page[1], 0] };
  const step = moves[event.key], within = (k) => Math.max(0, Math.min(CLASS_COUNT - 1, k));
  if (event.altKey || event.metaKey) return;
  if (step) heatTo(heat.cell ? [heat.places[within(v + step[0])], heat.places[within(u + step[1])]] : [heat.places[0], heat.places[0]]);
  else if (event.key === "Enter" && heat.cell) classPicked(heat.cell[0]);
  else if (event.key === "+" || event.key === "=") heatZoom(1);
  else if (event.key === "-") heatZoom(-1);
  else if (event.key === "Escape" && heat.cell) { heat.cell = null; heatStatus(); heatSoon(); remembered(); }
  else return;
  event.preventDefault();
  map.focus();
}

// Larger or smaller cells around the one that is marked, or the middle of what is seen.
export function heatZoom(step) {
  const map = host("class-map"), room = [heat.seen[0] - heat.left, heat.seen[1] - heat.top];
  const middle = heat.cell ? [heat.at[heat.cell[1]] + 0.5, heat.at[heat.cell[0]] + 0.5] : [(map.scrollLeft + room[0] / 2) / heat.width, (map.scrollTop + room[1] / 2) / heat.height];
  const sizes = [...CELL_SIZES, heat.own].sort((a, b) => a - b).filter((size) => (step > 0 ? size > heat.width : size < heat.width));
  if (!sizes.length) return;
  const tiny = isTiny();
  const size = step > 0 ? sizes[0] : sizes[sizes.length - 1];
  heat.zoom = size === heat.own ? null : size;
  heatLayout();
  map.scrollTo({ left: middle[0] * heat.width - (heat.seen[0] - heat.left) / 2, top: middle[1] * heat.height - (heat.seen[1] - heat.top) / 2, behavior: "instant" });
  (tiny === isTiny() ? heatDrawn : heatPainted)();
}

export function heatReordered(by) {
  heat.by = by;
  heat.places = classOrder(by);
  heat.at = [];
  heat.places.forEach((i, k) => { heat.at[i] = k; });
  host("class-order").value = by;
}

// The class goes to the choice of one against the rest, wherever that stands.
export function classPicked(i) {
  const pick = host("class");
  if (!pick) return;
  pick.selectedIndex = i;
  pick.dispatchEvent(new Event("change"));
}

// ---------------------------------------------------------------- the whole as a picture, and paper

export function heatPicture(canvas, { wide, cell, sharp }) {
  const names = Math.min(widestName(), 120) + 12, size = cell || (wide - names - 1) / CLASS_COUNT, height = CLASS_COUNT <= WRITTEN ? 48 : size;
  const upright = size >= 72, top = upright ? 28 : names, whole = [names + CLASS_COUNT * size + 1, top + CLASS_COUNT * height + 1];
  canvas.width = Math.ceil(whole[0] * sharp);
  canvas.height = Math.ceil(whole[1] * sharp);
  const context = canvas.getContext("2d"), former = heat.colours, colours = heatColours();
  context.setTransform(sharp, 0, 0, sharp, 0, 0);
  heat.colours = colours;
  paintHeat(context, { ...heat, colours, image: heatImage(colours), left: names, top, width: size, height, upright, x: 0, y: 0, wide: whole[0], tall: whole[1], font: mapFont(Math.max(5, Math.min(12, size - 1))), cell: null, hover: null });
  heat.colours = former;
  return canvas;
}

export function heatPrinted() {
  if (CLASS_COUNT <= WRITTEN || host("map-figure").classList.contains("off-paper")) return;
  host("map-print").hidden = false;
  heatPicture(host("map-print"), { wide: 704, sharp: 3 });
}
