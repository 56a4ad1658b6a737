// A study: its claims to take along, and each table as a file.

import { el } from "./charts.js";
import { begins, csvText, exporters, saveText } from "./frame.js";

const studyClaims = () => [...document.querySelectorAll(".claim")].map((claim) => {
  const words = (part) => { const found = claim.querySelector(part); return found ? found.textContent.replace(/\s+/g, " ").trim() : ""; };
  return { claim: words(".claimed"), place: words(".place"), paper: words(".paper"), ours: words(".ours"), verdict: words(".verdict-word"), why: words("dd:last-child") };
});
exporters.set("json", () => JSON.stringify(studyClaims(), null, 1));
exporters.set("csv", () => { const rows = studyClaims(); return csvText([["claim", "place", "paper", "ours", "verdict", "why"], ...rows.map((row) => Object.values(row))]); });
begins.push(() => {
  for (const table of document.querySelectorAll(".tables table")) {
    const section = table.closest("section[id]"), button = el("button", { type: "button", class: "screen save-table", "aria-label": `Save the table ${section.querySelector("h3").textContent} as CSV` }, null, "CSV");
    const number = (words) => (/^[−+]?[\d,.]+(e-?\d+)?$/.test(words) ? words.replace("−", "-").replace(/,/g, "") : words);
    button.addEventListener("click", () => saveText(`${section.id}.csv`, "text/csv", csvText([...table.rows].map((tr) => [...tr.cells].map((cell) => { const words = number(cell.textContent.trim()); return words !== "" && Number.isFinite(Number(words)) ? Number(words) : words; })))));
    table.closest("details").append(button);
  }
});
