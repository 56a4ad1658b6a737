// Audit: a cell of the matrix opens its proof or its smallest table; the rows are found by name and by property.

import { counted } from "./numbers.js";
import { el, host } from "./charts.js";
import { begins, csvText, exporters, kept, remembered, when } from "./frame.js";

const auditRows = [...document.querySelectorAll("#properties tbody tr")];
const auditCells = (tr) => [...tr.querySelectorAll("td")];
const audited = { cell: null };

// One stop of the keyboard for the whole matrix; the arrow keys move inside it.
function auditFocus(td, chosen) {
  if (audited.cell) { audited.cell.tabIndex = -1; audited.cell.removeAttribute("aria-selected"); }
  audited.cell = td;
  td.tabIndex = 0;
  if (chosen) td.setAttribute("aria-selected", "true");
}

function auditProof(td) {
  const metric = td.parentNode.dataset.metric, panel = host("decision"), proof = host(`${metric}:${td.dataset.property}`);
  panel.replaceChildren();
  if (!proof) return;
  auditFocus(td, true);
  el("h3", {}, panel, `${td.parentNode.querySelector("th").textContent} · ${proof.previousElementSibling.textContent}`);
  const words = el("div", {}, panel);
  for (const part of proof.childNodes) words.appendChild(part.cloneNode(true));
  panel.hidden = false;
  remembered();
}

function auditKey(event) {
  const td = event.target.closest("td");
  if (!td) return;
  const shown = auditRows.filter((tr) => !tr.hidden), v = shown.indexOf(td.parentNode), u = auditCells(td.parentNode).indexOf(td), last = auditCells(td.parentNode).length - 1;
  const to = { ArrowLeft: [v, u - 1], ArrowRight: [v, u + 1], ArrowUp: [v - 1, u], ArrowDown: [v + 1, u], Home: [v, 0], End: [v, last] }[event.key];
  if (event.key === "Enter" || event.key === " ") auditProof(td);
  else if (event.key === "Escape") auditClosed();
  else if (to && shown[to[0]] && auditCells(shown[to[0]])[to[1]]) {
    const next = auditCells(shown[to[0]])[to[1]];
    auditFocus(next, false);
    next.focus();
    if (!host("decision").hidden) auditProof(next);
  } else return;
  event.preventDefault();
}

function auditClosed() {
  host("decision").hidden = true;
  if (audited.cell) audited.cell.removeAttribute("aria-selected");
  remembered();
}

function auditFound() {
  const words = host("find-metric").value.trim().toLowerCase(), property = host("with-property").value;
  for (const tr of auditRows) {
    const name = `${tr.dataset.metric} ${tr.querySelector("th").textContent}`.toLowerCase(), td = property && auditCells(tr).find((cell) => cell.dataset.property === property);
    tr.hidden = !name.includes(words) || Boolean(property && !(td && td.className === "yes"));
  }
  const shown = auditRows.filter((tr) => !tr.hidden);
  host("found-metrics").textContent = words || property ? `${counted(shown.length)} of ${counted(auditRows.length)} metrics` : "";
  if (shown.length && !shown.includes(audited.cell.parentNode)) auditFocus(auditCells(shown[0])[0], false);
}

const auditTable = () => {
  const titles = [...document.querySelectorAll("#properties thead th")].slice(1).map((th) => th.textContent);
  return auditRows.flatMap((tr) => auditCells(tr).map((td, i) => {
    const proof = host(`${tr.dataset.metric}:${td.dataset.property}`);
    return proof && { metric: tr.dataset.metric, property: td.dataset.property, title: titles[i], verdict: proof.querySelector("b").textContent, words: proof.textContent.replace(/\s+/g, " ") };
  }).filter(Boolean));
};
exporters.set("json", () => JSON.stringify(auditTable(), null, 1));
exporters.set("csv", () => csvText([["metric", "property", "verdict", "words"], ...auditTable().map((row) => [row.metric, row.property, row.verdict, row.words])]));
kept.push({
  write(parts) {
    if (host("find-metric").value) parts.set("find", host("find-metric").value);
    if (host("with-property").value) parts.set("with", host("with-property").value);
    if (!host("decision").hidden) parts.set("cell", `${audited.cell.parentNode.dataset.metric} ${audited.cell.dataset.property}`);
  },
  read(parts) {
    host("find-metric").value = parts.get("find") || "";
    host("with-property").value = parts.get("with") || "";
    if (host("with-property").selectedIndex < 0) host("with-property").selectedIndex = 0;
    auditFound();
    const [metric, property] = (parts.get("cell") || "").split(" "), tr = auditRows.find((row) => row.dataset.metric === metric);
    const td = tr && auditCells(tr).find((cell) => cell.dataset.property === property);
    if (!td) return auditClosed();
    const room = host("properties").parentNode;
    room.scrollTo({ top: tr.offsetTop - room.clientHeight / 2, left: td.offsetLeft - room.clientWidth / 2 });
    auditProof(td);
  },
});
begins.push(() => {
  document.querySelector(".audit-tools").hidden = false;
  host("properties").setAttribute("role", "grid");
  for (const tr of auditRows) for (const td of auditCells(tr)) td.tabIndex = -1;
  auditFocus(auditCells(auditRows[0])[0], false);
  host("properties").addEventListener("click", (event) => { const td = event.target.closest("td[data-property]"); if (td) { auditProof(td); td.focus(); } });
  host("properties").addEventListener("keydown", auditKey);
  when("find-metric", "input", () => { auditFound(); remembered(); });
  when("with-property", "change", () => { auditFound(); remembered(); });
});
