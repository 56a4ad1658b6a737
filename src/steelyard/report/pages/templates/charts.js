// Charts: hand-written SVG. Sizes are in CSS pixels of the room there is, so that text is never scaled.

import { isNumber } from "./numbers.js";

export const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 264;

export function el(name, attributes, parent, words) {
  const drawn = name === "svg" || parent instanceof SVGElement;
  const made = drawn ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  if (words !== undefined) made.textContent = words;
  if (parent) parent.appendChild(made);
  return made;
}

export const round = (v) => Math.round(v * 10) / 10;
export const path = (points) => points.map(([x, y]) => `${round(x)},${round(y)}`).join(" ");
export const host = (id) => document.getElementById(id);

// What is as it was is not written again, so that nothing is laid out anew for it.
export const say = (node, words) => { if (node.textContent !== words) node.textContent = words; };
export const roomOf = (id) => host(id) && host(id).closest("figure");
export const put = (node, key, v) => { if (node.getAttribute(key) !== String(v)) node.setAttribute(key, v); };

// The room of each chart is read once, and again when the window changes: reading it makes the browser lay out the page.
export const WIDTHS = new Map();
export function widthOf(id, usual) {
  if (!WIDTHS.has(id)) WIDTHS.set(id, host(id).clientWidth || usual);
  return WIDTHS.get(id);
}

// A plot with axes: `x` and `y` turn values into pixels; `right` leaves room for labels at the ends of lines.
export function plot(id, { x, y, xTitle, yTitle, left = 40, right = 16, height: tall = HEIGHT, square = false }) {
  const room = host(id);
  const width = Math.max(200, widthOf(id, 360)), height = square ? width - left - right + 72 : tall;
  const svg = el("svg", { width: "100%", height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  const box = { left, right: width - right, top: 32, bottom: height - 40 };
  const scale = (axis, from, to) => {
    const to01 = axis.map || ((v) => (v - axis.from) / (axis.to - axis.from || 1));
    return (v) => from + (to - from) * Math.min(1, Math.max(0, to01(v)));
  };
  const X = scale(x, box.left, box.right), Y = scale(y, box.bottom, box.top);
  for (const tick of y.ticks) {
    el("line", { class: "grid-line", x1: box.left, x2: box.right, y1: round(Y(tick)), y2: round(Y(tick)) }, svg);
    el("text", { class: "tick", x: box.left - 8, y: round(Y(tick)) + 4, "text-anchor": "end" }, svg, y.name(tick));
  }
  let free = 0;
  for (const tick of x.ticks) {
    const words = x.name(tick), half = 3.4 * words.length;
    if (X(tick) - half < free) continue;
    el("line", { class: "grid-line", x1: round(X(tick)), x2: round(X(tick)), y1: box.top, y2: box.bottom }, svg);
    el("text", { class: "tick", x: round(X(tick)), y: box.bottom + 16, "text-anchor": "middle" }, svg, words);
    free = X(tick) + half + 6;
  }
  el("text", { class: "axis", x: 0, y: 16 }, svg, yTitle);
  el("text", { class: "axis", x: box.right, y: height - 4, "text-anchor": "end" }, svg, xTitle);
  room.replaceChildren(svg);
  const holds = (v) => y.map || (v >= y.from - 1e-12 && v <= y.to + 1e-12);
  return { id, svg, box, X, Y, width, holds };
}

export const line = (p, points, kind) => el("polyline", { class: kind, points: path(points.map(([x, y]) => [p.X(x), p.Y(y)])) }, p.svg);
export const area = (p, points, kind) => el("polygon", { class: kind, points: path(points.map(([x, y]) => [p.X(x), p.Y(y)])) }, p.svg);
export const dot = (p, kind = "point") => el("circle", { class: kind, r: kind === "point" ? 5 : 3, display: "none" }, p.svg);
export const rule = (p, kind = "rule") => el("line", { class: kind, y1: p.box.top, y2: p.box.bottom, display: "none" }, p.svg);
export const shown = (mark, is) => (is ? mark.removeAttribute("display") : put(mark, "display", "none"));

// What is undefined, or lies beyond the axis, has no mark.
export function place(mark, p, x, y) {
  const is = isNumber(x) && (y === undefined || (isNumber(y) && p.holds(y)));
  shown(mark, is);
  if (!is) return;
  const at = mark.tagName === "line" ? { x1: p.X(x), x2: p.X(x) } : { cx: p.X(x), cy: p.Y(y) };
  for (const [key, v] of Object.entries(at)) put(mark, key, round(v));
}

// The parts of a line at or above a level: where it crosses, it ends there and is not joined to what comes later.
export function above(points, level) {
  const runs = [[]];
  points.forEach(([x, y], i) => {
    const [u, v] = i ? points[i - 1] : [x, y], part = (level - v) / (y - v);
    if (i && v >= level !== y >= level) runs[runs.length - 1].push([u + (x - u) * part, level]);
    if (y >= level) runs[runs.length - 1].push([x, y]);
    else if (runs[runs.length - 1].length) runs.push([]);
  });
  return runs.filter((run) => run.length);
}

// The parts of a line where it is defined.
export function defined(points) {
  const runs = [[]];
  for (const point of points) isNumber(point[1]) ? runs[runs.length - 1].push(point) : runs.push([]);
  return runs.filter((run) => run.length);
}

// Labels at the ends of lines, moved apart where they would overlap.
export function labels(p, wanted) {
  const gap = 15;
  const sorted = wanted.filter((w) => isNumber(w.y)).map((w) => ({ ...w, at: p.Y(w.y) })).sort((a, b) => a.at - b.at);
  let low = p.box.top;
  for (const w of sorted) { w.at = Math.max(w.at, low); low = w.at + gap; }
  let high = p.box.bottom;
  for (const w of sorted.slice().reverse()) { w.at = Math.min(w.at, high); high = w.at - gap; }
  for (const w of sorted) {
    el("circle", { class: w.kind, cx: p.box.right + 8, cy: round(w.at), r: 3 }, p.svg);
    el("text", { class: "label", x: p.box.right + 15, y: round(w.at) + 4 }, p.svg, w.words);
  }
}

export const SHARES = { from: 0, to: 1, ticks: [0, 0.25, 0.5, 0.75, 1], name: (v) => String(v) };

// Round ticks over a range of scores.
export function ticked(from, to) {
  const raw = (to - from) / 4, size = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((k) => k * size).find((k) => k >= raw);
  const ticks = [];
  for (let t = Math.ceil(from / step) * step; t <= to + step * 1e-9; t += step) ticks.push(Math.abs(t) < step * 1e-9 ? 0 : t);
  return { from, to, ticks, name: brief };
}

// A tick has room for six signs.
export function brief(v) {
  const written = String(Number(v.toPrecision(6)));
  return written.length > 6 && Math.abs(v) < 0.01 ? String(Number(v.toPrecision(2)).toExponential()) : written;
}
