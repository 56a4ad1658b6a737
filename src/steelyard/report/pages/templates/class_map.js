// Class map: the colours of the heat map, and its room.

import { counted } from "./numbers.js";
import { host } from "./charts.js";
import {
  CLASS_CELLS, CLASS_COUNT, CLASS_SIZES, classCell, CLASSES, endsMatter, LARGEST_CELL, shortName,
} from "./class_cells.js";

// ---------------------------------------------------------------- the heat map

export const heat = { by: "confusion", shade: "share", places: [], at: [], cell: null, hover: null, width: 0, height: 0, left: 0, top: 0, zoom: null, image: null, mini: null, waiting: 0 };
export const CELL_SIZES = [1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 20, 24, 32, 40, 56, 72, 96];
export const WRITTEN = 12; // classes up to which the cells hold their numbers
const MOST_PICTURED = 2000; // classes up to which the whole matrix is one picture; of more the cells in sight are painted
export const mapFont = (size) => `${size}px ${MAP_FACE}`;
export const MAP_FACE = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif", MAP_FONT = `12px ${MAP_FACE}`;

const mapColour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
export const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
export function heatColours() {
  const named = {};
  for (const name of ["paper", "ink", "soft", "line", "faint", "blue", "other"]) named[name] = mapColour(`--${name}`);
  return named;
}

// How deep a cell is, from 0 to 1: errors by the root of their share, so that rare ones are seen; what is right by its
// square, so that good and middling classes differ; or both by the logarithm of the count.
export const DEPTHS = { right: (share) => share ** 2, wrong: Math.sqrt };
export function depthOf(i, j) {
  const v = classCell(i, j);
  if (!v) return 0;
  return heat.shade === "share" ? DEPTHS[i === j ? "right" : "wrong"](Math.min(1, v / CLASS_SIZES[i])) : Math.log1p(v) / Math.log1p(LARGEST_CELL);
}
export const isTiny = () => heat.width < 4; // where a cell is a few pixels, faint ones would not be seen
export const deepened = (depth) => { const least = isTiny() ? 0.4 : 0.1; return least + (1 - least) * depth; };
export const mixed = (paper, ink, part) => paper.map((v, i) => Math.round(v + (ink[i] - v) * part));
export const heatInk = (colour) => {
  const [r, g, b] = colour.map((v) => { const c = v / 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? "#000000" : "#ffffff";
};
export function cellColour(i, j, colours) {
  const depth = depthOf(i, j);
  return depth ? mixed(rgb(colours.paper), rgb(i === j ? colours.blue : colours.other), deepened(depth)) : rgb(colours.paper);
}

// The colours of 256 depths as pixels; errors come second.
function pixelShades(colours) {
  const paper = rgb(colours.paper), packed = ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
  const shades = [colours.blue, colours.other].map((ink) => Uint32Array.from({ length: 256 }, (_, k) => packed(mixed(paper, rgb(ink), deepened(k / 255)))));
  return { paper: packed(paper), shades };
}

function pixelImage(side, colours, act) {
  const image = document.createElement("canvas");
  image.width = image.height = side;
  const context = image.getContext("2d"), data = context.createImageData(side, side), pixels = new Uint32Array(data.data.buffer), { paper, shades } = pixelShades(colours);
  pixels.fill(paper);
  for (const place of CLASS_CELLS.keys()) {
    const i = Math.floor(place / CLASS_COUNT), j = place % CLASS_COUNT, depth = depthOf(i, j);
    act(pixels, heat.at[i], heat.at[j], depth, shades[i === j ? 0 : 1][Math.round(255 * depth)]);
  }
  context.putImageData(data, 0, 0);
  return image;
}

// The whole matrix, a pixel a cell; it is drawn larger without smoothing.
export const heatImage = (colours) => CLASS_COUNT > MOST_PICTURED ? null : pixelImage(CLASS_COUNT, colours, (pixels, y, x, _, shade) => { pixels[y * CLASS_COUNT + x] = shade; });

// The matrix in the corner: a pixel shows the deepest of its cells.
export function miniImage(colours, side) {
  const deepest = new Float64Array(side * side), placed = (k) => Math.min(side - 1, Math.floor((k / CLASS_COUNT) * side));
  return pixelImage(side, colours, (pixels, y, x, depth, shade) => {
    const at = placed(y) * side + placed(x);
    if (depth > deepest[at]) { deepest[at] = depth; pixels[at] = shade; }
  });
}

// ---------------------------------------------------------------- its room

const mapRuler = document.createElement("canvas").getContext("2d");
const cutNames = new Map();
export function nameWithin(i, room, font) {
  const key = `${i}|${Math.round(room)}|${font}`;
  if (!cutNames.has(key)) {
    mapRuler.font = font;
    let words = shortName(i).replace(/\s+/g, " ");
    if (mapRuler.measureText(words).width > room) {
      const letters = [...words.replace("…", "")], end = endsMatter(i) ? letters.splice(-6).join("") : "";
      while (letters.length > 1 && mapRuler.measureText(letters.join("") + "…" + end).width > room) letters.pop();
      words = letters.join("") + "…" + end;
    }
    if (cutNames.size > 6000) cutNames.clear();
    cutNames.set(key, words);
  }
  return cutNames.get(key);
}
export const widestName = (() => {
  let most = null;
  return () => {
    if (most === null) {
      mapRuler.font = MAP_FONT;
      most = CLASSES.names.reduce((widest, _, i) => Math.max(widest, mapRuler.measureText(shortName(i)).width), 0);
    }
    return most;
  };
})();
function widestNumber() {
  mapRuler.font = `600 ${MAP_FONT}`;
  return mapRuler.measureText(counted(LARGEST_CELL)).width;
}

// How wide the cells and the heads are in so much room.
export function heatSizes(room, zoom) {
  const narrow = room < 480, least = CLASS_COUNT > 120 && !narrow ? 96 : 0, names = Math.max(widestName(), least); // room for the whole in the corner
  const left = Math.ceil(Math.min(names, narrow ? 88 : 152)) + 14;
  const written = CLASS_COUNT <= WRITTEN, fit = (room - left - (written ? 2 : 18)) / CLASS_COUNT; // beside a scroll bar
  const smallest = written ? Math.max(44, Math.ceil(widestNumber()) + 12) : 12;
  const own = written ? Math.max(smallest, Math.min(112, Math.floor(fit))) : fit < 10 ? 12 : Math.min(32, Math.floor(fit));
  const width = zoom || own, height = written && !zoom ? Math.min(width, 48) : width;
  const upright = width >= widestName() + 8 || width >= 72;
  const top = upright ? 28 : Math.ceil(Math.min(names, narrow ? 88 : 136)) + 14;
  return { left, top, width, height, upright, own };
}

export function heatLayout() {
  const map = host("class-map"), room = host("map-figure").clientWidth;
  Object.assign(heat, heatSizes(room, heat.zoom));
  const wide = heat.left + CLASS_COUNT * heat.width + 1, tall = heat.top + CLASS_COUNT * heat.height + 1;
  const most = Math.max(320, Math.round(0.8 * window.innerHeight)), bar = map.offsetWidth - map.clientWidth || 16;
  heat.room.style.width = `${wide}px`;
  heat.room.style.height = `${tall}px`;
  map.style.width = `${Math.min(room, wide + (tall > most ? bar : 0))}px`;
  map.style.height = `${Math.min(most, tall + (wide > room ? bar : 0))}px`;
  const ratio = window.devicePixelRatio || 1;
  heat.seen = [Math.min(map.clientWidth, wide), Math.min(map.clientHeight, tall)];
  heat.canvas.style.width = `${heat.seen[0]}px`;
  heat.canvas.style.height = `${heat.seen[1]}px`;
  heat.canvas.width = Math.round(heat.seen[0] * ratio);
  heat.canvas.height = Math.round(heat.seen[1] * ratio);
  heat.ratio = ratio;
}
