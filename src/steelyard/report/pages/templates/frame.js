// Frame: what every page does: the state in the address, numbers and charts to take along, paper, the beginning.

import { el, host, SVG } from "./charts.js";

export const kept = [], tables = new Map(), exporters = new Map(), begins = [], redraws = [], settles = [];

// ---------------------------------------------------------------- the address

const FOLDS = [...document.querySelectorAll("main details[id]")].map((fold) => ({ fold, first: fold.open }));
kept.push({
  write(parts) {
    const turned = FOLDS.filter(({ fold, first }) => fold.open !== first).map(({ fold }) => fold.id);
    if (turned.length) parts.set("open", turned.join(" "));
  },
  read(parts) {
    const turned = (parts.get("open") || "").split(" ");
    for (const { fold, first } of FOLDS) fold.open = turned.includes(fold.id) !== first;
  },
});

function address() {
  const parts = new URLSearchParams();
  for (const part of kept) part.write(parts);
  return String(parts) && `#${parts}`;
}

// An address that was just given by hand is followed first, and not written over.
let known = location.hash;
export function remembered() {
  const wanted = address();
  if (location.hash !== known || location.hash === wanted || paper) return;
  try { history.replaceState(null, "", wanted || "#"); } catch { /* a frame of a notebook has no address */ }
  known = location.hash;
}

// What the address does not name is as it was at first.
function recalled() {
  known = location.hash;
  const parts = new URLSearchParams(location.hash.slice(1));
  for (const part of kept) part.read(parts);
  for (const redraw of redraws) redraw();
}

// ---------------------------------------------------------------- taking along

export function copied(words) {
  const done = (message) => { host("copied").textContent = message; setTimeout(() => { host("copied").textContent = ""; }, 1500); };
  const aside = () => {
    const area = el("textarea", { class: "aside", "aria-hidden": "true" }, document.body);
    area.value = words;
    area.select();
    const held = document.execCommand("copy");
    area.remove();
    done(held ? "copied" : "not copied: the browser refused");
  };
  // A frame of a notebook may not use the clipboard itself, and asking is logged as an error.
  if (navigator.clipboard && window === window.top) navigator.clipboard.writeText(words).then(() => done("copied"), aside);
  else aside();
}

function save(name, address) {
  const link = el("a", { href: address, download: `steelyard-${name}` }, document.body);
  link.click();
  link.remove();
}
export const saveText = (name, kind, words) => {
  const address = URL.createObjectURL(new Blob([words], { type: `${kind};charset=utf-8` }));
  save(name, address);
  setTimeout(() => URL.revokeObjectURL(address), 1000);
};

// Text of a table that spreadsheets read; what they would take for a formula is kept from being one.
export function csvText(rows) {
  const cell = (v) => {
    if (v === null || v === undefined || (typeof v === "number" && Number.isNaN(v))) return "";
    const words = typeof v === "string" && /^[=+\-@\t\r]/.test(v) ? `'${v}` : String(v);
    return /[",\n\r]/.test(words) ? `"${words.replace(/"/g, '""')}"` : words;
  };
  return rows.map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

// A chart as a file of its own: its styles written into it, on the colour of the page.
const STYLED = { fill: "", "fill-opacity": "1", stroke: "none", "stroke-width": "1px", "stroke-dasharray": "none", opacity: "1", "text-anchor": "start", display: "inline" };
const LETTERED = { "font-size": "", "font-weight": "400", "font-family": "" };
function drawing(figure) {
  const svg = figure.querySelector(".chart svg"), copy = svg.cloneNode(true);
  const [width, height] = svg.getAttribute("viewBox").split(" ").slice(2).map(Number), top = 28;
  const made = [...copy.querySelectorAll("*")];
  [...svg.querySelectorAll("*")].forEach((from, i) => {
    const style = getComputedStyle(from);
    for (const [key, usual] of Object.entries(from.tagName === "text" ? { ...STYLED, ...LETTERED } : STYLED)) {
      const v = style.getPropertyValue(key);
      v === usual ? made[i].removeAttribute(key) : made[i].setAttribute(key, v);
    }
    for (const key of ["class", "role", "tabindex"]) made[i].removeAttribute(key);
  });
  const page = getComputedStyle(document.body), whole = document.createElementNS(SVG, "svg");
  for (const [key, v] of Object.entries({ xmlns: SVG, width: width + 32, height: height + top + 32, viewBox: `-16 ${-top - 16} ${width + 32} ${height + top + 32}` })) whole.setAttribute(key, v);
  el("rect", { x: -16, y: -top - 16, width: width + 32, height: height + top + 32, fill: page.backgroundColor }, whole);
  el("text", { x: 0, y: -8, fill: page.color, "font-size": 15, "font-weight": 600, "font-family": page.fontFamily }, whole, figure.querySelector("h3, h2").textContent);
  for (const child of [...copy.childNodes]) whole.appendChild(child);
  return { words: new XMLSerializer().serializeToString(whole), width: width + 32, height: height + top + 32 };
}

function savePicture(figure, id) {
  const { words, width, height } = drawing(figure), picture = new Image(), scale = 3;
  picture.onload = () => {
    const canvas = el("canvas", { width: width * scale, height: height * scale }), brush = canvas.getContext("2d");
    brush.scale(scale, scale);
    brush.drawImage(picture, 0, 0);
    save(`${id}.png`, canvas.toDataURL("image/png"));
  };
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(words)}`;
}

// Every chart has a small menu beside its title.
function menus() {
  for (const figure of document.querySelectorAll("figure")) {
    const chart = figure.querySelector(".chart"), title = figure.querySelector("h3, h2");
    if (!chart || !title) continue;
    const id = chart.id, menu = el("details", { class: "menu take" });
    el("summary", { "aria-label": `Export: ${title.textContent}` }, menu, "⋯");
    const room = el("div", {}, menu), act = (words, go) => el("button", { type: "button" }, room, words).addEventListener("click", () => { for (const settle of settles) settle(); go(); });
    title.after(menu);
    title.parentNode.classList.add("takes");
    if (tables.has(id)) act("CSV", () => saveText(`${id}.csv`, "text/csv", csvText(tables.get(id)())));
    if (chart.querySelector("canvas")) act("PNG", () => save(`${id}.png`, (chart.picture ? chart.picture() : chart.querySelector("canvas")).toDataURL("image/png")));
    else {
      act("SVG", () => saveText(`${id}.svg`, "image/svg+xml", drawing(figure).words));
      act("PNG", () => savePicture(figure, id));
    }
  }
}

const KINDS = { json: "application/json", markdown: "text/markdown", csv: "text/csv" };
function exported() {
  for (const button of document.querySelectorAll("[data-export]")) button.addEventListener("click", () => copied(exporters.get(button.dataset.export)()));
  for (const button of document.querySelectorAll("[data-save]")) {
    const name = button.dataset.save;
    button.addEventListener("click", () => saveText(name === "markdown" ? "numbers.md" : `numbers.${name}`, KINDS[name], exporters.get(name)()));
  }
}

// A menu closes with Escape, and where something else is pressed.
function closing() {
  const close = (inside) => { for (const menu of document.querySelectorAll(".menu[open]")) if (!menu.contains(inside)) menu.open = false; };
  document.addEventListener("pointerdown", (event) => close(event.target));
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") close(null); });
}

// ---------------------------------------------------------------- paper and the beginning

// On paper what is folded is open.
let paper = null;
function printing(on) {
  if (on && !paper) {
    paper = [...document.querySelectorAll("main details:not(.menu):not(.screen)")].filter((fold) => !fold.open);
    for (const fold of paper) fold.open = true;
  } else if (!on && paper) {
    for (const fold of paper) fold.open = false;
    paper = null;
  }
  document.documentElement.classList.toggle("printing", on);
  for (const act of [...redraws, ...settles]) act();
}

export const when = (id, event, act) => { const found = host(id); if (found) found.addEventListener(event, act); };

export function begin() {
  for (const act of begins) act();
  menus();
  exported();
  closing();
  when("print", "click", () => window.print());
  when("copy-link", "click", () => { remembered(); copied(location.href); });
  for (const { fold } of FOLDS) fold.addEventListener("toggle", () => remembered());
  let width = window.innerWidth;
  window.addEventListener("resize", () => { if (window.innerWidth !== width) { width = window.innerWidth; for (const redraw of redraws) redraw(); } });
  window.addEventListener("beforeprint", () => printing(true));
  window.addEventListener("afterprint", () => printing(false));
  window.addEventListener("hashchange", recalled);
  recalled();
  document.documentElement.dataset.ready = "";
}
