// Monitor: each rule over the batches; pointing at a chart, or its arrow keys, show the numbers of a batch.

import { digits, highEnd, isNumber, lowEnd, percent } from "./numbers.js";
import { area, brief, dot, el, host, labels, line, place, plot, round, say, ticked } from "./charts.js";
import { redraws, tables } from "./frame.js";

(() => {
  const M = D.monitor;
  if (!M) return;
  const last = M.numbers.length - 1;
  const written = (track, v) => (track.share ? percent(v) : digits(v));

  function span(track) {
    const values = [...track.low, ...track.high, ...track.by_batch, ...track.recent, track.limit].filter(isNumber);
    const low = Math.min(...values), high = Math.max(...values), room = (high - low) * 0.04 || 0.01;
    const ends = track.share || (low >= 0 && high <= 1) ? [Math.max(0, low - room), Math.min(1, high + room)] : [low - room, high + room];
    const axis = ticked(...ends);
    return track.share ? { ...axis, name: (v) => `${brief(Number((100 * v).toPrecision(6)))} %` } : axis;
  }

  function readout(id, track, i) {
    const batch = isNumber(track.by_batch[i]) ? ` · alone ${written(track, track.by_batch[i])}` : "";
    const number = track.recent_batches[i], words = number === 1 ? "last batch" : `last ${number} batches`;
    const recent = isNumber(track.recent[i]) && number < M.numbers[i] ? ` · recent ${written(track, track.recent[i])} (${words})` : "";
    const ends = isNumber(track.low[i]) ? ` (${lowEnd(track, track.low[i], track.high[i])} to ${highEnd(track, track.low[i], track.high[i]).replace(/\s%$/, "")})` : "";
    say(host(`${id}-readout`), `\u2068${M.names[i]}\u2069: so far ${written(track, track.value[i])}${ends}${recent}${batch}`);
  }

  function draw(track, n) {
    const id = `track-${n}`, first = M.numbers[0], end = M.numbers[last];
    const x = { ...ticked(first - 0.5, Math.max(end, first + 1) + 0.5), name: (v) => (Number.isInteger(v) ? String(v) : "") };
    const p = plot(id, { x, y: span(track), xTitle: "Batch", yTitle: track.title, left: 48, right: 72 });
    if (track.since !== null) el("rect", { class: "broken", x: round(p.X(track.since - 0.5)), y: p.box.top, width: round(p.X(end + 0.5) - p.X(track.since - 0.5)), height: p.box.bottom - p.box.top }, p.svg);
    const at = M.numbers.map((b, i) => [b, i]).filter(([, i]) => isNumber(track.value[i]));
    area(p, [...at.map(([b, i]) => [b, track.high[i]]), ...at.slice().reverse().map(([b, i]) => [b, track.low[i]])], "band");
    line(p, [[first - 0.5, track.limit], [end + 0.5, track.limit]], "limit-line");
    line(p, at.filter(([, i]) => isNumber(track.recent[i])).map(([b, i]) => [b, track.recent[i]]), "recent-line");
    line(p, at.map(([b, i]) => [b, track.value[i]]), "curve");
    if (M.numbers.length <= 120) M.numbers.forEach((b, i) => { if (isNumber(track.by_batch[i])) el("circle", { class: "batch-dot", r: 2.5, cx: round(p.X(b)), cy: round(p.Y(track.by_batch[i])) }, p.svg); });
    labels(p, [{ words: "limit", kind: "limit", y: track.limit }, { words: "so far", kind: "fill-0", y: track.value[last] }]);
    if (track.alarm !== null) {
      const mark = round(p.X(track.alarm));
      el("line", { class: "alarm-line", x1: mark, x2: mark, y1: p.box.top, y2: p.box.bottom }, p.svg);
      el("text", { class: "tick alarm-word", x: mark - 4, y: p.box.top + 12, "text-anchor": "end" }, p.svg, "alarm");
    }
    const mark = dot(p);
    let chosen = last;
    const choose = (i) => { chosen = Math.min(last, Math.max(0, i)); place(mark, p, M.numbers[chosen], track.value[chosen]); readout(id, track, chosen); };
    const near = (event) => { const box = p.svg.getBoundingClientRect(), at = ((event.clientX - box.left) * p.width) / box.width; choose(M.numbers.reduce((best, b, i) => (Math.abs(p.X(b) - at) < Math.abs(p.X(M.numbers[best]) - at) ? i : best), 0)); };
    p.svg.addEventListener("pointermove", near);
    p.svg.addEventListener("pointerdown", near);
    const room = host(id);
    room.tabIndex = 0;
    room.onkeydown = (event) => { const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]; if (step) { choose(chosen + step); event.preventDefault(); } };
    choose(last);
  }

  if (last < 0) return;
  M.tracks.forEach((track, n) => {
    tables.set(`track-${n}`, () => [["batch", "so far", "low", "high", "recent", "alone", "limit"], ...M.names.map((name, i) => [name, track.value[i], track.low[i], track.high[i], track.recent[i], track.by_batch[i], track.limit])]);
    redraws.push(() => draw(track, n));
  });
})();
