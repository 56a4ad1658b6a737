// Rows sent to a person: one slider, whose stops are the points of the curve.

import { percent } from "./numbers.js";
import { area, dot, host, labels, line, place, plot, SHARES, ticked } from "./charts.js";
import { begins, kept, redraws, remembered, tables } from "./frame.js";

(() => {
  const R = D.risk, slider = host("risk-share");
  if (!R || !slider) return;
  const FIRST_STOP = Number(slider.value), LAST_STOP = R.asked.length - 1;
  let stop = FIRST_STOP, drawn = null;
  const filled = (words, values) => words.replace(/\{(\w+)\}/g, (_, key) => values[key]);
  const bare = (share) => percent(share).replace(/\s%$/, "");

  const ends = (i) => (R.low[i] === null ? "" : filled(R.sentences.ends, { low: bare(R.low[i]), high: percent(R.high[i]), level: R.level }));
  const sentence = (i) => filled(1 - R.coverage[i] < 1e-12 ? R.sentences.all : R.sentences.some, { sent: percent(1 - R.coverage[i]), risk: percent(R.risk[i]), kept: percent(R.coverage[i]), ends: ends(i), before: percent(R.whole) });

  function written() {
    slider.value = stop;
    host("risk-output").textContent = `at most ${percent(R.asked[stop])}`;
    slider.setAttribute("aria-valuetext", `at most ${percent(R.asked[stop])} of the rows`);
    const words = host("risk-sentence");
    words.textContent = sentence(stop);
    words.dataset.value = JSON.stringify({ coverage: R.coverage[stop], risk: R.risk[stop], low: R.low[stop], high: R.high[stop] });
    const label = R.names[R.least[stop]], name = label.length > 24 ? label.slice(0, 23) + "…" : label;
    host("risk-least").textContent = 1 - R.coverage[stop] < 1e-12 ? "" : filled(R.sentences.least, { label: `\u2068${name}\u2069`, share: percent(1 - R.least_coverage[stop]) });
    host("risk-curve-readout").textContent = `coverage ${percent(R.coverage[stop])} · error ${percent(R.risk[stop])}`;
    if (drawn) place(drawn.mark, drawn.p, R.coverage[stop], R.risk[stop]);
  }

  function draw() {
    const at = R.coverage.map((x, i) => [x, R.risk[i]]), tops = R.high.map((v, i) => (v === null ? R.risk[i] : v)).filter((v, i) => R.coverage[i] >= 0.3);
    const top = Math.min(1, 1.1 * Math.max(R.whole, ...tops)) || 0.01, y = ticked(0, top);
    const p = plot("risk-curve", { x: SHARES, y, xTitle: "Coverage (share of rows decided)", yTitle: "Error of the rows decided", right: 104 });
    const sides = R.coverage.map((x, i) => [x, i]).filter(([, i]) => R.low[i] !== null);
    if (sides.length) area(p, [...sides.map(([x, i]) => [x, Math.min(R.high[i], top)]), ...sides.reverse().map(([x, i]) => [x, R.low[i]])], "band");
    line(p, [[0, R.whole], [1, R.whole]], "chance-line");
    line(p, at, "curve");
    labels(p, [{ words: "random order", kind: "baseline", y: R.whole }]);
    drawn = { p, mark: dot(p) };
    p.svg.addEventListener("click", (event) => {
      const box = p.svg.getBoundingClientRect(), x = ((event.clientX - box.left) * p.width) / box.width;
      moved(R.coverage.reduce((best, c, i) => (Math.abs(p.X(c) - x) < Math.abs(p.X(R.coverage[best]) - x) ? i : best), 0));
    });
    written();
  }

  function moved(to) {
    stop = Math.min(LAST_STOP, Math.max(0, to));
    written();
    remembered();
  }

  kept.push({
    write(parts) { if (stop !== FIRST_STOP) parts.set("sent", String(R.asked[stop])); },
    read(parts) { const given = parts.get("sent"), found = given === null ? -1 : R.asked.indexOf(Number(given)); stop = found < 0 ? FIRST_STOP : found; },
  });
  tables.set("risk-curve", () => [["sent at most", "coverage", "error", "low", "high"], ...R.asked.map((v, i) => [v, R.coverage[i], R.risk[i], R.low[i], R.high[i]])]);
  redraws.push(draw);
  begins.push(() => slider.addEventListener("input", () => moved(Number(slider.value))));
})();
