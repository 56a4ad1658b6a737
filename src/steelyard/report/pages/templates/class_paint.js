// Class paint: the heat map drawn on a canvas.

import { counted, percent } from "./numbers.js";
import { el, host } from "./charts.js";
import { CLASS_CELLS, CLASS_COUNT, CLASS_SIZES, classCell, CLASSES, LARGEST_CELL } from "./class_cells.js";
import {
  cellColour, deepened, depthOf, DEPTHS, heat, heatColours, heatImage, heatInk, MAP_FONT, mapFont, miniImage, mixed,
  nameWithin, rgb, WRITTEN,
} from "./class_map.js";

// ---------------------------------------------------------------- drawing

export function heatPainted() {
  heat.colours = heatColours();
  heat.image = heatImage(heat.colours);
  heat.mini = null;
  heatLegend();
  heatDrawn();
}

// At most once a frame, whatever scrolls or points.
export function heatSoon() {
  if (!heat.waiting) heat.waiting = requestAnimationFrame(() => { heat.waiting = 0; heatDrawn(); });
}

export function heatDrawn() {
  const began = performance.now(), map = host("class-map"), context = heat.canvas.getContext("2d");
  context.setTransform(heat.ratio, 0, 0, heat.ratio, 0, 0);
  paintHeat(context, { ...heat, x: map.scrollLeft, y: map.scrollTop, wide: heat.seen[0], tall: heat.seen[1], font: mapFont(heat.height < 14 ? Math.max(10, Math.min(11, heat.height)) : 12) });
  heat.corner = null;
  if (0.6 * CLASS_COUNT * heat.width > heat.seen[0] - heat.left || 0.6 * CLASS_COUNT * heat.height > heat.seen[1] - heat.top) paintCorner(context, map);
  map.dataset.drawn = (performance.now() - began).toFixed(3);
}

export function paintHeat(context, p) {
  const { colours, left, top, width, height, x, y, wide, tall } = p;
  context.fillStyle = colours.paper;
  context.fillRect(0, 0, wide, tall);
  const from = [Math.floor(x / width), Math.floor(y / height)];
  const to = [Math.min(CLASS_COUNT, Math.ceil((x + wide - left) / width)), Math.min(CLASS_COUNT, Math.ceil((y + tall - top) / height))];
  context.save();
  context.beginPath();
  context.rect(left, top, wide - left, tall - top);
  context.clip();
  context.imageSmoothingEnabled = false;
  if (!p.image) paintCells(context, p, from, to);
  else context.drawImage(p.image, from[0], from[1], to[0] - from[0], to[1] - from[1], left + from[0] * width - x, top + from[1] * height - y, (to[0] - from[0]) * width, (to[1] - from[1]) * height);
  if (width >= 6) paintGrid(context, p, from, to);
  if (width >= 36) paintNumbers(context, p, from, to);
  for (const cell of [p.hover, p.cell]) if (cell) paintMark(context, p, cell, cell === p.cell);
  context.restore();
  paintHeads(context, p, from, to);
}

// Cell by cell, where the whole would be too large a picture; a cell is a pixel at least.
function paintCells(context, p, from, to) {
  const shades = [p.colours.blue, p.colours.other].map((ink) => Array.from({ length: 256 }, (_, k) => `rgb(${mixed(rgb(p.colours.paper), rgb(ink), deepened(k / 255))})`));
  for (const place of CLASS_CELLS.keys()) {
    const i = Math.floor(place / CLASS_COUNT), j = place % CLASS_COUNT, v = p.at[i], u = p.at[j];
    if (u < from[0] || u >= to[0] || v < from[1] || v >= to[1]) continue;
    context.fillStyle = shades[i === j ? 0 : 1][Math.round(255 * depthOf(i, j))];
    context.fillRect(p.left + u * p.width - p.x, p.top + v * p.height - p.y, Math.max(1, p.width), Math.max(1, p.height));
  }
}

function paintGrid(context, p, from, to) {
  context.fillStyle = p.colours[p.width < 12 ? "faint" : "line"];
  context.globalAlpha = p.width < 12 ? 1 : 0.55;
  const right = Math.min(p.wide, p.left + CLASS_COUNT * p.width - p.x), bottom = Math.min(p.tall, p.top + CLASS_COUNT * p.height - p.y);
  for (let k = from[0]; k <= to[0]; k++) context.fillRect(Math.round(p.left + k * p.width - p.x), p.top, 1, bottom - p.top);
  for (let k = from[1]; k <= to[1]; k++) context.fillRect(p.left, Math.round(p.top + k * p.height - p.y), right - p.left, 1);
  context.globalAlpha = 1;
}

function paintNumbers(context, p, from, to) {
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (let v = from[1]; v < to[1]; v++) for (let u = from[0]; u < to[0]; u++) {
    const i = p.places[v], j = p.places[u], count = classCell(i, j);
    if (!count && !(CLASS_COUNT <= WRITTEN)) continue;
    const both = p.height >= 40 && p.width >= 56 && count, middle = [p.left + (u + 0.5) * p.width - p.x, p.top + (v + 0.5) * p.height - p.y];
    context.fillStyle = count ? heatInk(cellColour(i, j, p.colours)) : p.colours.soft;
    context.font = (count ? "600 " : "") + MAP_FONT;
    if (context.measureText(counted(count)).width > p.width - 4) continue;
    context.fillText(counted(count), middle[0], middle[1] - (both ? 8 : 0));
    context.font = MAP_FONT;
    if (both) context.fillText(percent(count / CLASS_SIZES[i]), middle[0], middle[1] + 9);
  }
}

function paintMark(context, p, [i, j], chosen) {
  const u = p.at[j], v = p.at[i];
  context.strokeStyle = p.colours.ink;
  context.lineWidth = chosen ? 2 : 1;
  const x = p.left + u * p.width - p.x, y = p.top + v * p.height - p.y, least = 6;
  const w = Math.max(least, p.width), h = Math.max(least, p.height);
  context.strokeRect(x - (w - p.width) / 2 + 0.5, y - (h - p.height) / 2 + 0.5, w, h);
}

// The names stay where they are while the cells move under them; where they would overlap every so many are left out.
function paintHeads(context, p, from, to) {
  context.fillStyle = p.colours.paper;
  context.fillRect(0, 0, p.wide, p.top);
  context.fillRect(0, 0, p.left, p.tall);
  context.fillStyle = p.colours.line;
  context.fillRect(p.left, p.top, p.wide - p.left, 1);
  context.fillRect(p.left, p.top, 1, p.tall - p.top);
  const marked = p.hover || p.cell, size = Number.parseFloat(p.font), step = [p.width, p.height].map((room) => Math.max(1, Math.ceil(size / room)));
  context.save();
  context.beginPath();
  context.rect(0, p.top, p.left, p.tall - p.top);
  context.clip();
  for (let v = from[1]; v < to[1]; v++) if (v % step[1] === 0 && !(marked && Math.abs(p.at[marked[0]] - v) * p.height < size - 1)) rowHead(context, p, v, false);
  if (marked) rowHead(context, p, p.at[marked[0]], true);
  context.restore();
  context.save();
  context.beginPath();
  context.rect(p.left, 0, p.wide - p.left, p.top);
  context.clip();
  for (let u = from[0]; u < to[0]; u++) if ((p.upright || u % step[0] === 0) && !(marked && (p.upright ? p.at[marked[1]] === u : Math.abs(p.at[marked[1]] - u) * p.width < size - 1))) columnHead(context, p, u, false);
  if (marked) columnHead(context, p, p.at[marked[1]], true);
  context.restore();
}

function rowHead(context, p, v, marked) {
  context.font = (marked ? "600 " : "") + p.font;
  context.fillStyle = marked ? p.colours.ink : p.colours.soft;
  context.textAlign = "right";
  context.textBaseline = "middle";
  context.fillText(nameWithin(p.places[v], p.left - 12, context.font), p.left - 8, p.top + (v + 0.5) * p.height - p.y + 0.5);
}

function columnHead(context, p, u, marked) {
  const x = p.left + (u + 0.5) * p.width - p.x;
  context.font = (marked ? "600 " : "") + p.font;
  context.fillStyle = marked ? p.colours.ink : p.colours.soft;
  context.textBaseline = "middle";
  if (p.upright) {
    context.textAlign = "center";
    context.fillText(nameWithin(p.places[u], p.width - 8, context.font), x, p.top - 12);
    return;
  }
  context.save();
  context.translate(x + 0.5, p.top - 8);
  context.rotate(-Math.PI / 2);
  context.textAlign = "left";
  context.fillText(nameWithin(p.places[u], p.top - 12, context.font), 0, 0);
  context.restore();
}

// In the corner the whole matrix, and which part of it is seen.
function paintCorner(context, map) {
  const side = Math.floor(Math.min(heat.left, heat.top) - 16);
  if (side < 40) return;
  if (!heat.mini) heat.mini = miniImage(heat.colours, Math.min(CLASS_COUNT, Math.round(side * heat.ratio)));
  const x = 4, y = 4, scale = [side / (CLASS_COUNT * heat.width), side / (CLASS_COUNT * heat.height)];
  context.imageSmoothingEnabled = false;
  context.drawImage(heat.mini, x, y, side, side);
  context.strokeStyle = heat.colours.line;
  context.lineWidth = 1;
  context.strokeRect(x - 0.5, y - 0.5, side + 1, side + 1);
  context.strokeStyle = heat.colours.ink;
  const seen = [heat.seen[0] - heat.left, heat.seen[1] - heat.top];
  context.strokeRect(x + map.scrollLeft * scale[0], y + map.scrollTop * scale[1], Math.min(side, seen[0] * scale[0]), Math.min(side, seen[1] * scale[1]));
  heat.corner = { x, y, side };
}

function heatLegend() {
  const parts = { right: [0.2, 0.4, 0.6, 0.8, 1], wrong: [0.01, 0.05, 0.2, 0.5, 1] };
  for (const [kind, colour] of [["right", heat.colours.blue], ["wrong", heat.colours.other]]) {
    const room = document.querySelector(`#map-figure .swatches.${kind}`);
    room.replaceChildren();
    const depths = heat.shade === "share" ? parts[kind].map(DEPTHS[kind]) : parts.right;
    for (const depth of depths) el("b", {}, room).style.background = `rgb(${mixed(rgb(heat.colours.paper), rgb(colour), deepened(depth))})`;
  }
  host("shade-words").textContent = heat.shade === "share" ? "of the true class: right 20, 40, 60, 80, 100 %, errors 1, 5, 20, 50, 100 %" : `up to ${counted(LARGEST_CELL)} ${CLASSES.unit}, by the logarithm`;
}
