// Many classes: the confusion matrix on a canvas, the list of classes, and the search over both.

const CLASSES = { ...D.classes, names: D.classes.names || D.labels }, CLASS_COUNT = CLASSES.names.length;

// The matrix from its cells that hold anything.
const CLASS_CELLS = new Float64Array(CLASS_COUNT * CLASS_COUNT);
const CLASS_PLACES = new Uint32Array(CLASSES.gaps.length);
CLASSES.gaps.reduce((place, gap, i) => { CLASS_PLACES[i] = place + gap; CLASS_CELLS[place + gap] = CLASSES.counts[i]; return place + gap; }, 0);
const classCell = (i, j) => CLASS_CELLS[i * CLASS_COUNT + j];
const CLASS_SIZES = CLASSES.fn.map((fn, i) => classCell(i, i) + fn);

// Each class against the rest, as the choice of a class shows it.
D.views = CLASSES.names.map((label, i) => {
  const cells = [classCell(i, i), CLASSES.fn[i], CLASSES.fp[i], CLASSES.tn[i]], known = {};
  for (const [name, { low, high, method }] of Object.entries(CLASSES.metrics)) {
    if (isNumber(low[i]) && isNumber(high[i])) known[name] = [low[i], high[i], typeof method === "string" ? method : method[i]];
  }
  const total = cells[0] + cells[1] + cells[2] + cells[3];
  return { label, typed: D.labels[i], cells, one: CLASSES.one ? CLASSES.one[i] : [1, 1], share: total ? CLASS_SIZES[i] / total : 0, known };
});

// The prevalences of the slider: round ones, and the share of the class that is looked at.
const FIRST_STOPS = D.stops;
function classStops() {
  const own = D.view.share, { share } = view, odds = (s) => Math.log(s / (1 - s));
  const round = FIRST_STOPS.filter((s) => s !== own && (!possible() || Math.abs(odds(s) - odds(share)) > 0.02));
  D.stops = view === D.view ? FIRST_STOPS : [...round, ...(possible() ? [share] : [])].sort((a, b) => a - b);
  host("prevalence").max = D.stops.length - 1;
}
for (const { label } of D.views) el("option", { value: label }, host("class"), label);
host("class").value = D.view.label;

// ---------------------------------------------------------------- orders

function classOrder(by) {
  const places = CLASSES.names.map((_, i) => i);
  if (by === "confusion") return CLASSES.order;
  if (by === "given") return places;
  const column = by === "size" ? CLASS_SIZES.map((size) => -size) : CLASSES.metrics[by].value;
  const number = (i) => (isNumber(column[i]) ? column[i] : Infinity);
  return places.sort((a, b) => (number(a) === number(b) ? a - b : number(a) < number(b) ? -1 : 1));
}

const filledWords = (words, parts) => words.replace(/\{(\w+)\}/g, (_, key) => parts[key]);
const quotedName = (i) => (typeof D.labels[i] === "string" ? `"${shortName(i)}"` : shortName(i));
const shortName = (i) => { const letters = [...CLASSES.names[i]]; return letters.length > 24 ? letters.slice(0, 23).join("") + "…" : CLASSES.names[i]; };

// ---------------------------------------------------------------- the heat map

const heat = { by: "confusion", shade: "share", places: [], at: [], cell: null, hover: null, width: 0, height: 0, left: 0, top: 0, zoom: null, image: null, mini: null, waiting: 0 };
const CELL_SIZES = [1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 20, 24, 32, 40, 56, 72, 96];
const LARGEST_CELL = CLASS_CELLS.reduce((most, v) => Math.max(most, v), 0);
const WRITTEN = 12; // classes up to which the cells hold their numbers
const mapFont = (size) => `${size}px ${MAP_FACE}`;
const MAP_FACE = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif", MAP_FONT = `12px ${MAP_FACE}`;

const mapColour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
function heatColours() {
  const named = {};
  for (const name of ["paper", "ink", "soft", "line", "faint", "blue", "other"]) named[name] = mapColour(`--${name}`);
  return named;
}

// How deep a cell is, from 0 to 1: errors by the root of their share, so that rare ones are seen; what is right by its
// square, so that good and middling classes differ; or both by the logarithm of the count.
const DEPTHS = { right: (share) => share ** 2, wrong: Math.sqrt };
function depthOf(i, j) {
  const v = classCell(i, j);
  if (!v) return 0;
  return heat.shade === "share" ? DEPTHS[i === j ? "right" : "wrong"](Math.min(1, v / CLASS_SIZES[i])) : Math.log1p(v) / Math.log1p(LARGEST_CELL);
}
const isTiny = () => heat.width < 4; // where a cell is a few pixels, faint ones would not be seen
const deepened = (depth) => { const least = isTiny() ? 0.4 : 0.1; return least + (1 - least) * depth; };
const mixed = (paper, ink, part) => paper.map((v, i) => Math.round(v + (ink[i] - v) * part));
const heatInk = (colour) => {
  const [r, g, b] = colour.map((v) => { const c = v / 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? "#000000" : "#ffffff";
};
function cellColour(i, j, colours) {
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
  for (const place of CLASS_PLACES) {
    const i = Math.floor(place / CLASS_COUNT), j = place % CLASS_COUNT, depth = depthOf(i, j);
    act(pixels, heat.at[i], heat.at[j], depth, shades[i === j ? 0 : 1][Math.round(255 * depth)]);
  }
  context.putImageData(data, 0, 0);
  return image;
}

// The whole matrix, a pixel a cell; it is drawn larger without smoothing.
const heatImage = (colours) => pixelImage(CLASS_COUNT, colours, (pixels, y, x, _, shade) => { pixels[y * CLASS_COUNT + x] = shade; });

// The matrix in the corner: a pixel shows the deepest of its cells.
function miniImage(colours, side) {
  const deepest = new Float64Array(side * side), placed = (k) => Math.min(side - 1, Math.floor((k / CLASS_COUNT) * side));
  return pixelImage(side, colours, (pixels, y, x, depth, shade) => {
    const at = placed(y) * side + placed(x);
    if (depth > deepest[at]) { deepest[at] = depth; pixels[at] = shade; }
  });
}

// ---------------------------------------------------------------- its room

const mapRuler = document.createElement("canvas").getContext("2d");
const cutNames = new Map();
function nameWithin(i, room, font) {
  const key = `${i}|${Math.round(room)}|${font}`;
  if (!cutNames.has(key)) {
    mapRuler.font = font;
    let words = shortName(i).replace(/\s+/g, " ");
    if (mapRuler.measureText(words).width > room) {
      const letters = [...words];
      while (letters.length > 1 && mapRuler.measureText(letters.join("") + "…").width > room) letters.pop();
      words = letters.join("") + "…";
    }
    if (cutNames.size > 6000) cutNames.clear();
    cutNames.set(key, words);
  }
  return cutNames.get(key);
}
const widestName = (() => {
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
function heatSizes(room, zoom) {
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

function heatLayout() {
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

// ---------------------------------------------------------------- drawing

function heatPainted() {
  heat.colours = heatColours();
  heat.image = heatImage(heat.colours);
  heat.mini = null;
  heatLegend();
  heatDrawn();
}

// At most once a frame, whatever scrolls or points.
function heatSoon() {
  if (!heat.waiting) heat.waiting = requestAnimationFrame(() => { heat.waiting = 0; heatDrawn(); });
}

function heatDrawn() {
  const began = performance.now(), map = host("class-map"), context = heat.canvas.getContext("2d");
  context.setTransform(heat.ratio, 0, 0, heat.ratio, 0, 0);
  paintHeat(context, { ...heat, x: map.scrollLeft, y: map.scrollTop, wide: heat.seen[0], tall: heat.seen[1], font: mapFont(heat.height < 14 ? Math.max(10, Math.min(11, heat.height)) : 12) });
  heat.corner = null;
  if (0.6 * CLASS_COUNT * heat.width > heat.seen[0] - heat.left || 0.6 * CLASS_COUNT * heat.height > heat.seen[1] - heat.top) paintCorner(context, map);
  map.dataset.drawn = (performance.now() - began).toFixed(3);
}

function paintHeat(context, p) {
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
  context.drawImage(p.image, from[0], from[1], to[0] - from[0], to[1] - from[1], left + from[0] * width - x, top + from[1] * height - y, (to[0] - from[0]) * width, (to[1] - from[1]) * height);
  if (width >= 6) paintGrid(context, p, from, to);
  if (width >= 36) paintNumbers(context, p, from, to);
  for (const cell of [p.hover, p.cell]) if (cell) paintMark(context, p, cell, cell === p.cell);
  context.restore();
  paintHeads(context, p, from, to);
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

// ---------------------------------------------------------------- pointing and moving

function heatWords([i, j]) {
  const count = classCell(i, j), total = CLASS_SIZES[i], { words, least, units } = CLASSES;
  const parts = { count: counted(count), total: counted(total), units, true: quotedName(i), predicted: quotedName(j), share: percent(count / total), least: least === null ? "" : counted(least) };
  return filledWords(!total ? words.absent : count ? (i === j ? words.right : words.cell) : least === null || i === j ? words.empty : words.small, parts);
}

function heatStatus() {
  const cell = heat.hover || heat.cell;
  host("map-status").textContent = cell ? heatWords(cell) : CLASSES.words.hint;
}

// The cell under a point of the map, or the class whose name is there.
function heatAt(event) {
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
function heatTo(cell, centred) {
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

function heatKey(event) {
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
function heatZoom(step) {
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

function heatReordered(by) {
  heat.by = by;
  heat.places = classOrder(by);
  heat.at = [];
  heat.places.forEach((i, k) => { heat.at[i] = k; });
  host("class-order").value = by;
}

// The class goes to the choice of one against the rest, wherever that stands.
function classPicked(i) {
  const pick = host("class");
  if (!pick) return;
  pick.selectedIndex = i;
  pick.dispatchEvent(new Event("change"));
}

// ---------------------------------------------------------------- the whole as a picture, and paper

function heatPicture(canvas, { wide, cell, sharp }) {
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

function heatPrinted() {
  if (CLASS_COUNT <= WRITTEN || host("map-figure").classList.contains("off-paper")) return;
  host("map-print").hidden = false;
  heatPicture(host("map-print"), { wide: 704, sharp: 3 });
}

// ---------------------------------------------------------------- the list of classes

const FEW_CLASSES = 20;
const classRows = { by: "recall", all: false, lines: new Map() };

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
function classOpened(tr) {
  const i = Number(tr.dataset.class), name = tr.querySelector("th bdi"), button = el("button", { type: "button", class: "open-class", title: CLASSES.names[i] });
  name.removeAttribute("title");
  name.replaceWith(button);
  button.appendChild(name);
  button.addEventListener("click", () => { heatTo([i, i], true); classPicked(i); });
  classRows.lines.set(i, tr);
}

function classesFound() {
  const words = host("find-class").value.trim().toLowerCase();
  const lower = (i) => CLASSES.names[i].toLowerCase();
  const found = words ? classOrder("given").filter((i) => lower(i).includes(words)) : null;
  const first = found && (found.find((i) => lower(i) === words) ?? found.find((i) => lower(i).startsWith(words)) ?? found[0]);
  return { found, first };
}

function classesListed() {
  const { found } = classesFound(), body = host("class-list").tBodies[0], kept = found && new Set(found);
  const order = classOrder(classRows.by).filter((i) => !kept || kept.has(i)), few = classRows.all || kept ? order : order.slice(0, FEW_CLASSES);
  const most = kept ? 100 : CLASS_COUNT, lines = few.slice(0, most).map((i) => {
    if (!classRows.lines.has(i)) classOpened(classLine(i));
    return classRows.lines.get(i);
  });
  const shown = new Set(lines), onPaper = [...classRows.lines.values()].filter((tr) => tr.classList.contains("printed") && !shown.has(tr));
  for (const tr of classRows.lines.values()) tr.classList.toggle("beyond", !shown.has(tr));
  body.replaceChildren(...lines, ...onPaper);
  const more = host("all-classes");
  more.hidden = Boolean(kept) || CLASS_COUNT <= FEW_CLASSES;
  more.textContent = classRows.all ? filledWords(CLASSES.words.fewer, { few: FEW_CLASSES }) : filledWords(CLASSES.words.more, { all: counted(CLASS_COUNT) });
  host("found-classes").textContent = kept ? (kept.size ? filledWords(CLASSES.words.matches, { found: counted(kept.size), all: counted(CLASS_COUNT) }) : CLASSES.words.none) : "";
}

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
  map.picture = () => heatPicture(document.createElement("canvas"), { cell: CLASS_COUNT <= WRITTEN ? heatSizes(1200).width : CLASS_COUNT > 200 ? 4 : 12, sharp: CLASS_COUNT > 200 ? 1 : 2 });
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
