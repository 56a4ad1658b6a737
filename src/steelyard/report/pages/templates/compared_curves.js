// Compared curves: the curves of all models together, one threshold for each or the same recall, and the values there.

import { digits, isNumber, reasonOf, valueOf, valueText } from "./numbers.js";
import { above, el, host, line, path, place, plot, round, SHARES, ticked, widthOf, WIDTHS } from "./charts.js";
import { begins, kept, redraws, remembered, tables } from "./frame.js";
import { C } from "./comparison.js";

if (C.curves) (() => {
  const COMPARED_COUNT = C.models.length, COMPARED_LAST = C.curves.map((curve) => curve.tp.length - 1);
  const compared = { places: [...C.start], mode: "own", recall: 80, chosen: [...C.chosen], only: null };
  let comparedHover = null;
  const SHOWN_BY_NAME = new Map(C.shown.map((row) => [row.name, row]));

  const countsOf = (m, i) => {
    const { tp, fp } = C.curves[m], last = COMPARED_LAST[m];
    return [tp[i], tp[last] - tp[i], fp[i], fp[last] - fp[i]];
  };
  const thresholdOf = (m, i) => (C.curves[m].threshold[i] === null ? Infinity : C.curves[m].threshold[i]);
  const everyPlace = (m) => C.curves[m].tp.map((_, i) => i);
  const comparedShare = (m) => { const [tp, fn, fp, tn] = countsOf(m, 0); return (tp + fn) / (tp + fn + fp + tn); };
  // The highest threshold with so much recall: the fewest rows flagged for it.
  const placeOfRecall = (m, recall) => {
    const { tp } = C.curves[m], needed = (recall / 100) * tp[COMPARED_LAST[m]] * (1 - 1e-12);
    return tp.findIndex((found) => found >= needed);
  };
  const placesNow = () => (compared.mode === "own" ? compared.places : C.models.map((_, m) => placeOfRecall(m, compared.recall)));

  // ---------------------------------------------------------------- curves

  const COMPARED_CHARTS = [];
  const clippedName = (name, most) => { const signs = [...name]; return signs.length > most ? `${signs.slice(0, most - 1).join("")}…` : name; };

  // The models in the order of a number, named beside the lines; on a narrow screen the names above do.
  function besideLines(p, words, order) {
    const room = p.width - p.box.right;
    if (room < 100) return;
    const gap = Math.min(16, (p.box.bottom - p.box.top) / COMPARED_COUNT);
    order.forEach((m, i) => {
      const y = round(p.box.top + gap * (i + 0.5)), x = p.box.right + 10, group = el("g", { class: C.models[m].kind, "data-line": m }, p.svg);
      el("polyline", { class: "model-line", points: `${x},${y} ${x + 18},${y}` }, group);
      // Isolated, so that a name from right to left does not turn what follows.
      el("text", { class: "model-words", x: x + 23, y: y + 4 }, group, `${C.models[m].number} \u2068${clippedName(C.models[m].name, room > 180 ? 15 : 9)}\u2069 ${words(m)}`);
    });
  }

  function comparedChart(key, axes, curve, at, words, order, before = () => {}) {
    const id = `compared-${key}`;
    if (!host(id)) return;
    const self = {
      draw() {
        WIDTHS.delete(id);
        const wide = widthOf(id, 480), p = plot(id, { ...axes(), right: wide > 520 ? 192 : wide > 440 ? 152 : 16, height: 320 });
        before(p);
        self.p = p;
        self.marks = C.models.map((model, m) => {
          const group = el("g", { class: model.kind, "data-line": m }, p.svg);
          for (const run of curve(m, p)) el("polyline", { class: "model-line", points: path(run.map(([x, y]) => [p.X(x), p.Y(y)])) }, group);
          return at ? el("circle", { class: "model-point", r: 5, display: "none" }, group) : null;
        });
        besideLines(p, words, order());
        p.svg.addEventListener("pointermove", (event) => isolate(self.nearest(event)));
        p.svg.addEventListener("pointerleave", () => isolate(null));
        self.move();
      },
      move() {
        if (at) placesNow().forEach((i, m) => { const [x, y] = at(m, i); place(self.marks[m], self.p, x, y); });
      },
      nearest(event) {
        const { p } = self, box = p.svg.getBoundingClientRect(), k = p.width / box.width;
        const x = (event.clientX - box.left) * k, y = (event.clientY - box.top) * k;
        let best = null, least = 18 ** 2;
        C.models.forEach((_, m) => {
          for (const run of curve(m, p)) run.forEach(([u, v], i) => {
            const [a, b] = i ? run[i - 1] : [u, v], away = besideSegment([x, y], [p.X(a), p.Y(b)], [p.X(u), p.Y(v)]);
            if (away < least) { least = away; best = m; }
          });
        });
        return best;
      },
    };
    COMPARED_CHARTS.push(self);
    tables.set(id, () => [["model", ...axes().csv], ...C.models.flatMap((model, m) => curve(m, self.p).flat().map(([x, y]) => [model.name, x, y]))]);
  }

  // The squared distance of a point from a segment.
  function besideSegment([x, y], [a, b], [c, d]) {
    const long = (c - a) ** 2 + (d - b) ** 2, t = long ? Math.min(1, Math.max(0, ((x - a) * (c - a) + (y - b) * (d - b)) / long)) : 0;
    return (x - a - t * (c - a)) ** 2 + (y - b - t * (d - b)) ** 2;
  }

  function isolate(m) {
    comparedHover = m;
    const one = m === null ? compared.only : m;
    for (const group of document.querySelectorAll("[data-line]")) group.classList.toggle("faded", one !== null && Number(group.dataset.line) !== one);
  }

  const rateOf = (c) => [c[2] / (c[2] + c[3]), c[0] / (c[0] + c[1])];
  const recallPrecision = (c) => [c[0] / (c[0] + c[1]), c[0] / (c[0] + c[2])];
  const byNumber = () => C.models.map((_, m) => m).sort((a, b) => C.models[a].number - C.models[b].number);
  const byArea = (key) => () => byNumber().sort((a, b) => C.areas[key][b] - C.areas[key][a]);

  comparedChart("roc", () => ({ x: SHARES, y: SHARES, xTitle: "False positive rate", yTitle: "True positive rate (recall)", csv: ["false_positive_rate", "recall"] }),
    (m) => [everyPlace(m).map((i) => rateOf(countsOf(m, i)))], (m, i) => rateOf(countsOf(m, i)),
    (m) => digits(C.areas.roc[m]), byArea("roc"), (p) => { line(p, [[0, 0], [1, 1]], "chance-line"); });

  comparedChart("pr", () => ({ x: SHARES, y: SHARES, xTitle: "Recall", yTitle: "Precision", csv: ["recall", "precision"] }),
    (m) => [everyPlace(m).map((i) => recallPrecision(countsOf(m, i))).filter(([, y]) => isNumber(y))], (m, i) => recallPrecision(countsOf(m, i)),
    (m) => digits(C.areas.pr[m]), byArea("pr"), (p) => { line(p, [[0, comparedShare(0)], [1, comparedShare(0)]], "chance-line"); });

  comparedChart("reliability", () => ({ x: SHARES, y: SHARES, xTitle: "Predicted probability", yTitle: "Share of positives", csv: ["mean_probability", "share_of_positives"] }),
    (m) => [C.reliability[m].map((bin) => [(bin.sp + bin.sn) / (bin.p + bin.n), bin.p / (bin.p + bin.n)])], null,
    () => "", byNumber, (p) => { line(p, [[0, 0], [1, 1]], "chance-line"); });

  // The thresholds at which a decision can matter: as far as some model is better than treating nobody.
  const benefitOf = (m, i, t) => NET_BENEFIT(...countsOf(m, i), t);
  const openPlaces = (m) => everyPlace(m).filter((i) => thresholdOf(m, i) > 0 && thresholdOf(m, i) < 1).reverse();
  function benefitAxes() {
    let far = comparedShare(0), top = 0;
    C.models.forEach((_, m) => { for (const i of openPlaces(m)) { const t = thresholdOf(m, i), v = benefitOf(m, i, t); top = Math.max(top, v); if (v > 0) far = Math.max(far, t); } });
    top = Math.max(top, comparedShare(0), 1e-9);
    return { x: ticked(0, Math.min(1, far * 1.05)), y: ticked(-0.25 * top, 1.05 * top), xTitle: "Threshold probability", yTitle: "Net benefit per row", csv: ["threshold", "net_benefit"] };
  }
  let benefitFrame = null;
  comparedChart("decision", () => (benefitFrame = benefitFrame || benefitAxes()),
    (m) => {
      const { x, y } = benefitFrame, found = openPlaces(m);
      const steps = found.flatMap((i, j) => [...(C.whole[m] ? [[j ? thresholdOf(m, found[j - 1]) : 0, i]] : []), [thresholdOf(m, i), i]]);
      return above(steps.filter(([t]) => t <= x.to && t < 1).map(([t, i]) => [t, benefitOf(m, i, t)]), y.from);
    },
    (m, i) => { const t = thresholdOf(m, i); return t > 0 && t < 1 && t <= benefitFrame.x.to ? [t, benefitOf(m, i, t)] : [NaN, NaN]; },
    () => "", byNumber, (p) => {
      const { x, y } = benefitFrame, s = comparedShare(0), all = Array.from({ length: 100 }, (_, i) => (x.to * i) / 100).map((t) => [t, NET_BENEFIT(s, 0, 1 - s, 0, t)]);
      line(p, [[0, 0], [x.to, 0]], "chance-line");
      for (const run of above(all, y.from)) line(p, run, "chance-line");
      el("text", { class: "tick", x: p.box.right - 4, y: round(p.Y(0)) + 14, "text-anchor": "end" }, p.svg, "treat none");
      const end = above(all, y.from)[0].slice(-1)[0];
      el("text", { class: "tick", x: round(Math.min(p.X(end[0]) + 6, p.box.right - 52)), y: p.box.bottom - 6 }, p.svg, "treat all");
    });

  // ---------------------------------------------------------------- values at the thresholds

  function comparedCells() {
    const table = host("at-thresholds"), head = table.tHead.rows[0];
    for (const cell of [...table.querySelectorAll("[data-shown]")]) cell.remove();
    for (const name of compared.chosen) {
      el("th", { scope: "col", "data-shown": name }, head, SHOWN_BY_NAME.get(name).title);
      for (const tr of table.tBodies[0].rows) el("td", { "data-shown": name, "data-title": SHOWN_BY_NAME.get(name).title }, tr);
    }
  }

  function comparedMoved() {
    const places = placesNow();
    for (const tr of host("at-thresholds").tBodies[0].rows) {
      const m = Number(tr.dataset.at), i = places[m], t = thresholdOf(m, i), c = countsOf(m, i), input = tr.querySelector("input");
      const words = t === Infinity ? "nobody flagged" : digits(t);
      tr.querySelector(".threshold").textContent = words;
      tr.dataset.threshold = String(t);
      input.disabled = compared.mode === "recall";
      input.value = String(COMPARED_LAST[m] - i);
      input.setAttribute("aria-valuetext", words);
      for (const cell of tr.querySelectorAll("[data-shown]")) {
        const row = SHOWN_BY_NAME.get(cell.dataset.shown), v = valueOf(row.name, c);
        cell.textContent = valueText(row, v);
        cell.dataset.number = isNumber(v) ? String(v) : "";
        cell.title = isNumber(v) ? "" : reasonOf(row.name, c);
      }
    }
    host("same-recall-control").hidden = compared.mode === "own";
    host("same-recall-shown").textContent = `${compared.recall}\u00a0%`;
    for (const chart of COMPARED_CHARTS) chart.move();
  }

  const pressOnly = () => { for (const button of document.querySelectorAll("[data-only]")) button.setAttribute("aria-pressed", String(Number(button.dataset.only) === compared.only)); isolate(comparedHover); };

  kept.push({
    write(parts) {
      if (compared.mode === "recall") parts.set("recall", String(compared.recall));
      else if (String(compared.places) !== String(C.start)) parts.set("thresholds", compared.places.map((i, m) => thresholdOf(m, i)).join(" "));
      if (String(compared.chosen) !== String(C.chosen)) parts.set("metrics", compared.chosen.join(" "));
      if (compared.only !== null) parts.set("only", String(compared.only));
    },
    read(parts) {
      const recall = Number(parts.get("recall")), given = (parts.get("thresholds") || "").split(" ").map(Number);
      Object.assign(compared, { places: [...C.start], mode: recall >= 1 && recall <= 100 ? "recall" : "own", only: null, chosen: [...C.chosen] });
      compared.recall = compared.mode === "recall" ? Math.round(recall) : 80;
      if (parts.has("thresholds") && given.length === COMPARED_COUNT && given.every((t) => !Number.isNaN(t))) {
        // As written a threshold flags the rows at and above it: the lowest place that is not below it.
        compared.places = given.map((t, m) => { const found = everyPlace(m).filter((i) => thresholdOf(m, i) >= t); return found.length ? found[found.length - 1] : 0; });
      }
      const named = (parts.get("metrics") || "").split(" ").filter((name) => SHOWN_BY_NAME.has(name));
      if (named.length) compared.chosen = named;
      const only = parts.has("only") ? Number(parts.get("only")) : NaN;
      if (Number.isInteger(only) && only >= 0 && only < COMPARED_COUNT) compared.only = only;
      for (const input of document.querySelectorAll("[name=compared-mode]")) input.checked = input.value === compared.mode;
      for (const box of document.querySelectorAll("#compared-choice input")) box.checked = compared.chosen.includes(box.value);
      host("same-recall").value = String(compared.recall);
      comparedCells();
      comparedMoved();
      pressOnly();
    },
  });
  redraws.push(() => { for (const chart of COMPARED_CHARTS) chart.draw(); isolate(null); });

  begins.push(() => {
    const changed = () => { comparedMoved(); remembered(); };
    for (const chart of COMPARED_CHARTS) chart.draw();
    for (const input of document.querySelectorAll("[data-own]")) {
      const m = Number(input.dataset.own);
      input.max = String(COMPARED_LAST[m]);
      input.addEventListener("input", () => { compared.places[m] = COMPARED_LAST[m] - Number(input.value); changed(); });
      input.addEventListener("focus", () => isolate(m));
      input.addEventListener("blur", () => isolate(null));
    }
    for (const input of document.querySelectorAll("[name=compared-mode]")) input.addEventListener("change", () => { compared.mode = input.value; changed(); });
    host("same-recall").addEventListener("input", () => { compared.recall = Number(host("same-recall").value); changed(); });
    host("compared-reset").addEventListener("click", () => {
      Object.assign(compared, { places: [...C.start], mode: "own", recall: 80 });
      host("same-recall").value = "80";
      for (const input of document.querySelectorAll("[name=compared-mode]")) input.checked = input.value === "own";
      changed();
    });
    for (const box of document.querySelectorAll("#compared-choice input")) box.addEventListener("change", () => {
      compared.chosen = C.shown.map((row) => row.name).filter((name) => document.querySelector(`#compared-choice input[value="${CSS.escape(name)}"]`).checked);
      if (!compared.chosen.length) { compared.chosen = [box.value]; box.checked = true; }
      comparedCells();
      changed();
    });
    for (const button of document.querySelectorAll("[data-only]")) {
      const m = Number(button.dataset.only);
      button.addEventListener("pointerenter", () => isolate(m));
      button.addEventListener("pointerleave", () => isolate(null));
      button.addEventListener("focus", () => { if (button.matches(":focus-visible")) isolate(m); });
      button.addEventListener("blur", () => isolate(null));
      button.addEventListener("click", () => { compared.only = compared.only === m ? null : m; pressOnly(); remembered(); });
    }
  });
})();
