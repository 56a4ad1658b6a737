// History: one chart for each metric over the evaluations; one slider, whose stop is the same evaluation in all of them.

import { between, isNumber, valueText } from "./numbers.js";
import { brief, defined, dot, el, host, line, place, plot, round, rule, say, SHARES, ticked } from "./charts.js";
import { begins, csvText, exporters, kept, redraws, remembered, tables } from "./frame.js";

(() => {
  const H = D.history, slider = host("evaluation");
  if (!H || !slider) return;
  const LAST = H.names.length - 1, drawn = new Map();
  let chosen = LAST;
  const key = (i) => `trend-${i}`;
  const isolated = (words) => `\u2068${words}\u2069`;

  function words(chart, i) {
    if (!isNumber(chart.value[i])) return `${isolated(H.names[i])} · not evaluated, or undefined`;
    const ends = isNumber(chart.low[i]) ? ` (${between(chart, chart.low[i], chart.high[i]).replace(/\s%$/, "")})` : "";
    const baseline = isNumber(chart.chance[i]) ? ` · no-skill baseline ${valueText(chart, chart.chance[i])}` : "";
    return `${isolated(H.names[i])} · ${valueText(chart, chart.value[i])}${ends}${baseline}`;
  }

  function marked(to) {
    H.charts.forEach((chart, i) => {
      const { p, mark, at } = drawn.get(i);
      place(mark, p, to, chart.value[to]);
      place(at, p, to);
      say(host(`${key(i)}-readout`), words(chart, to));
    });
  }

  function moved(to) {
    chosen = Math.min(LAST, Math.max(0, to));
    slider.value = chosen;
    host("evaluation-shown").textContent = isolated(H.names[chosen]);
    slider.setAttribute("aria-valuetext", H.names[chosen]);
    marked(chosen);
  }

  // Round ends around all that is drawn, within the range of the metric.
  function axis(chart) {
    const held = ["value", "low", "high", "chance"].flatMap((name) => chart[name]).filter(isNumber);
    const least = Math.min(...held), most = Math.max(...held), room = 0.06 * (most - least) || 0.05;
    const [low, high] = chart.range, from = low === null ? least - room : Math.max(low, least - room), to = high === null ? most + room : Math.min(high, most + room);
    return held.length ? { ...ticked(from, to > from ? to : from + room), ...(chart.share ? { name: (v) => `${brief(100 * v)} %` } : {}) } : SHARES;
  }

  function draw() {
    H.charts.forEach((chart, i) => {
      const x = { from: -0.5, to: LAST + 0.5, ticks: H.ticks.map((_, j) => j), name: (j) => H.ticks[j] };
      const p = plot(key(i), { x, y: axis(chart), xTitle: "", yTitle: "", left: 48, right: 8, height: 232 });
      const at = rule(p, "grid-line"), points = (name) => defined(chart[name].map((v, j) => [j, v]));
      for (const run of points("chance")) line(p, run.length > 1 ? run : [[run[0][0] - 0.3, run[0][1]], [run[0][0] + 0.3, run[0][1]]], "chance-line");
      for (const run of points("value")) line(p, run, "trend-line");
      chart.value.forEach((v, j) => {
        if (!isNumber(v)) return;
        if (isNumber(chart.low[j])) el("line", { class: "whisker", x1: round(p.X(j)), x2: round(p.X(j)), y1: round(p.Y(chart.low[j])), y2: round(p.Y(chart.high[j])) }, p.svg);
        el("circle", { class: "dot", cx: round(p.X(j)), cy: round(p.Y(v)), r: LAST > 60 ? 1.5 : 3 }, p.svg);
      });
      drawn.set(i, { p, at, mark: dot(p) });
      listen(p);
    });
    moved(chosen);
  }

  function listen(p) {
    const found = (event) => {
      const box = p.svg.getBoundingClientRect(), x = ((event.clientX - box.left) * p.width) / box.width;
      return Math.min(LAST, Math.max(0, Math.round(((x - p.box.left) / (p.box.right - p.box.left)) * (LAST + 1) - 0.5)));
    };
    p.svg.addEventListener("pointermove", (event) => marked(found(event)));
    p.svg.addEventListener("pointerleave", () => marked(chosen));
    p.svg.addEventListener("click", (event) => { moved(found(event)); remembered(); });
  }

  const columns = ["value", "low", "high", "chance"];
  const numbers = (charts) => [["evaluation", "id", "metric", ...columns], ...charts.flatMap((chart) => H.names.map((name, j) => [name, H.ids[j], chart.name, ...columns.map((c) => chart[c][j])]))];
  H.charts.forEach((chart, i) => tables.set(key(i), () => numbers([chart])));
  exporters.set("csv", () => csvText(numbers(H.charts)));
  kept.push({
    write(parts) { if (chosen !== LAST) parts.set("evaluation", H.ids[chosen]); },
    read(parts) { const found = H.ids.indexOf(parts.get("evaluation")); chosen = found < 0 ? LAST : found; },
  });
  redraws.push(draw);
  begins.push(() => slider.addEventListener("input", () => { moved(Number(slider.value)); remembered(); }));
})();
