// Labels: found by name, ordered by a metric or by size; of very many the weakest first, then all.

import { counted } from "./numbers.js";
import { el, host } from "./charts.js";
import { begins, csvText, exporters, kept, remembered, when } from "./frame.js";

if (D.labels) (() => {
  const labelRows = { all: D.labels.length <= 100, made: new Map() };
  const labelBody = host("label-list").querySelector("tbody");
  for (const tr of labelBody.querySelectorAll("tr")) labelRows.made.set(Number(tr.dataset.label), tr);
  const labelModel = [...labelRows.made.values()].find((tr) => tr.querySelector("svg"));

  // A row like those that stand without the script; words are put in as text.
  function labelRow(line) {
    if (labelRows.made.has(line.place)) return labelRows.made.get(line.place);
    const tr = el("tr", { "data-label": line.place }), head = el("th", { scope: "row" }, tr);
    el("bdi", { class: "name24", title: line.label }, head, line.label);
    for (const words of line.words) {
      const [value, ends] = words.split(" ("), td = el("td", {}, tr, ends ? `${value} ` : words);
      if (ends) el("span", { class: "ends" }, td, `(${ends}`);
    }
    const cell = el("td", { class: "span-cell" }, tr);
    if (line.at && labelModel) {
      const svg = labelModel.querySelector("svg").cloneNode(true), [value, low, width] = line.at;
      svg.querySelector("rect").setAttribute("x", `${low}%`);
      svg.querySelector("rect").setAttribute("width", `${width}%`);
      svg.querySelector("circle").setAttribute("cx", `${value}%`);
      cell.appendChild(svg);
    }
    labelRows.made.set(line.place, tr);
    return tr;
  }

  function labelsInOrder(by) {
    const lines = [...D.labels], last = (v) => (v === null ? Infinity : v);
    if (by === "given") return lines.sort((a, b) => a.place - b.place);
    if (by === "rows") return lines.sort((a, b) => a.rows - b.rows);
    if (by === "common") return lines.sort((a, b) => b.rows - a.rows);
    const at = 3 * Number(by);
    return lines.sort((a, b) => last(a.numbers[at]) - last(b.numbers[at]));
  }

  function labelsListed() {
    const words = host("find-label").value.trim().toLowerCase();
    const found = labelsInOrder(host("label-order").value).filter((line) => line.label.toLowerCase().includes(words));
    const shown = labelRows.all ? found : found.slice(0, 50);
    labelBody.replaceChildren(...shown.map(labelRow));
    host("found-labels").textContent = words ? `${counted(found.length)} of ${counted(D.labels.length)} labels` : "";
    if (host("listed-labels")) host("listed-labels").textContent = shown.length < found.length ? `The first ${shown.length} of ${counted(found.length)} labels are listed.` : "";
    host("all-labels").hidden = shown.length >= found.length;
    host("all-labels").textContent = `Show all ${counted(found.length)}`;
  }

  const labelHeads = ["label", "rows", "predicted", "share", "imbalance", ...D.label_metrics.flatMap((name) => [name, `${name}_low`, `${name}_high`])];
  exporters.set("json", () => JSON.stringify({ metrics: D.metrics, labels: D.labels.map((line) => Object.fromEntries(labelHeads.map((head, i) => [head, i < 5 ? line[head] : line.numbers[i - 5]]))), pairs: D.pairs }, null, 1));
  exporters.set("csv", () => csvText([labelHeads, ...D.labels.map((line) => [line.label, line.rows, line.predicted, line.share, line.imbalance, ...line.numbers])]));
  const labelFirst = host("label-order").value;
  kept.push({
    write(parts) {
      if (host("find-label").value) parts.set("find", host("find-label").value);
      if (host("label-order").value !== labelFirst) parts.set("order", host("label-order").value);
      if (labelRows.all && D.labels.length > 100) parts.set("all", "1");
    },
    read(parts) {
      host("find-label").value = parts.get("find") || "";
      host("label-order").value = parts.get("order") || labelFirst;
      if (host("label-order").selectedIndex < 0) host("label-order").value = labelFirst;
      labelRows.all = D.labels.length <= 100 || parts.has("all");
      labelsListed();
    },
  });
  begins.push(() => {
    document.querySelector(".label-tools").hidden = false;
    when("find-label", "input", () => { labelsListed(); remembered(); });
    when("label-order", "change", () => { labelsListed(); remembered(); });
    when("all-labels", "click", () => { labelRows.all = true; labelsListed(); remembered(); });
  });
})();
