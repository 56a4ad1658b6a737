// Dots: a thousand rows by score and outcome, in the whole rows of the headline, and the threshold one can drag.

import { grouped, percent } from "./numbers.js";
import { el, host, plot, round, say, shown, ticked } from "./charts.js";
import { tables } from "./frame.js";
import { dotOutcomes, dotsByScore, fewerThanOne, outcomes, OUTCOMES, stackedDots, stretched } from "./outcomes.js";
import {
  charts, nearestPlace, pointer, prevalence, RIGHTMOST, SCORES, shareAt, state, thresholdAt, THRESHOLDS, thresholdText,
  WHOLE,
} from "./state.js";
import { move } from "./update.js";

const DOT = 6, BLOCK_DOT = 7, TALL = 232;
// Ticks between those of other charts, where there is room for them.
const AXIS = THRESHOLDS > 0 && stretched(D.thresholds, SCORES, WHOLE), FINER = THRESHOLDS > 0 ? ticked(SCORES.from, SCORES.from + (SCORES.to - SCORES.from) / 5).ticks.filter((t) => t <= SCORES.to) : [];
const OUTCOME_WORDS = ["found (true positives)", "missed (false negatives)", "false alarms (false positives)", "correctly rejected (true negatives)"];
const dots = {
  room: host("dots"),
  moved(cells, share, redraw) {
    if (!host("dots")) return;
    const byScore = THRESHOLDS > 0 && state.index !== null;
    if (redraw || !this.p || this.byScore !== byScore) this.draw(byScore);
    const drawn = dotOutcomes(cells, D.headline.base, D.dots);
    this.place(drawn, byScore ? this.byScores(drawn) : this.byPrediction(drawn));
    this.words(outcomes(cells, share), drawn);
    if (!byScore) return;
    const { left, right: end } = this.p.box, x = round(thresholdAt(state.index) === Infinity ? end + 6 : left + (end - left) * AXIS.places[state.index]);
    this.handle.setAttribute("transform", `translate(${x} 0)`);
    this.handle.setAttribute("aria-valuenow", String(Number(host("threshold").value)));
    this.handle.setAttribute("aria-valuetext", thresholdText(state.index));
    const right = x > this.p.width - 132;
    for (const [part, side] of [[this.flags, 8], [this.spares, -8]]) part.setAttribute("x", side);
    shown(this.flags, !right);
    shown(this.spares, x > 132);
  },
  draw(byScore) {
    this.byScore = byScore;
    const y = { from: 0, to: 1, ticks: [], name: String };
    const x = byScore ? { ...SCORES, ticks: [...new Set([...SCORES.ticks, ...FINER])].sort((a, b) => a - b), map: AXIS.map } : { from: 0, to: 1, ticks: [0.25, 0.75], name: (v) => (v < 0.5 ? "predicted negative" : "predicted positive") };
    const p = this.p = plot("dots", { x, y, xTitle: byScore ? "Score, wider where rows are many" : "", yTitle: "", right: 16, left: 8, height: TALL + 72 });
    this.size = byScore ? DOT : BLOCK_DOT;
    this.circles = Array.from({ length: D.dots }, () => el("circle", {}, p.svg));
    this.seen = [];
    if (!byScore) return;
    p.svg.removeAttribute("aria-hidden");
    const handle = this.handle = el("g", { class: "handle", tabindex: 0, role: "slider", "aria-label": "threshold", "aria-orientation": "horizontal", "aria-valuemin": 0, "aria-valuemax": RIGHTMOST }, p.svg);
    el("rect", { x: -12, y: p.box.top - 24, width: 24, height: p.box.bottom - p.box.top + 24, class: "grip" }, handle);
    el("line", { class: "rule", y1: p.box.top - 16, y2: p.box.bottom }, handle);
    el("path", { class: "knob", d: `M-7 ${p.box.top - 24}H7L0 ${p.box.top - 12}Z` }, handle);
    this.flags = el("text", { class: "tick", y: p.box.top - 8 }, handle, "flagged →");
    this.spares = el("text", { class: "tick", y: p.box.top - 8, "text-anchor": "end" }, handle, "← not flagged");
    handle.addEventListener("keydown", stepped);
    dragged(p);
  },
  byScores(whole) {
    return dotsByScore(AXIS, D.thresholds, whole, state.index, this.p.box, DOT);
  },
  // By prediction, where there is no score: two blocks, as wide as their rows need.
  byPrediction(whole) {
    const { box } = this.p, wide = box.right - box.left, negatives = whole.base - whole.positives;
    const block = (dots, flagged) => Array.from({ length: dots }, (_, k) => {
      const count = k < flagged ? flagged : dots - flagged, columns = Math.max(1, Math.min(Math.floor(wide * 0.46 / BLOCK_DOT), Math.ceil(Math.sqrt(count * 1.4))));
      return box.left + wide * (k < flagged ? 0.75 : 0.25) + ((k < flagged ? k : k - flagged) % columns - (columns - 1) / 2) * BLOCK_DOT;
    });
    return [block(whole.positives, whole.found), block(negatives, whole.false_alarms)];
  },
  // Only what changed is written.
  place(whole, sides) {
    const places = stackedDots(whole, sides, this.p.box, this.size);
    const r = this.size / 2 - 0.6;
    const last = this.circles.length - 1, { positives } = whole;
    // From the two ends, so that where a class has a dot more those of the other stay.
    places.forEach(([x, y, kind], i) => this.put(i < positives ? i : last - i + positives, round(x), round(y), kind, r));
    for (let i = places.length; i <= last; i++) this.put(last - i + positives, 0, 0, "", r);
  },
  put(i, x, y, kind, r) {
    const circle = this.circles[i], old = this.seen[i] || [];
    if (old[3] !== r) circle.setAttribute("r", r);
    if (old[0] !== x) circle.setAttribute("cx", x);
    if (old[1] !== y) circle.setAttribute("cy", y);
    if (old[2] !== kind) { circle.setAttribute("class", kind); shown(circle, kind); }
    this.seen[i] = [x, y, kind, r];
  },
  words(whole, drawn) {
    const negatives = whole.base - whole.positives, counts = [whole.found, whole.missed, whole.false_alarms, negatives - whole.false_alarms];
    const start = whole.own ? `These ${grouped(String(whole.base))} rows` : `${grouped(String(whole.base))} rows like these`, each = whole.base / drawn.base;
    const title = shareAt(state.stop) === null ? start : `${grouped(String(whole.base))} rows at a prevalence of ${percent(prevalence())}`;
    say(host("dots-title"), each > 1 ? `${title}, ${grouped(String(each))} to a dot` : title);
    if (!this.legend) this.legend = OUTCOMES.map((kind, i) => {
      const part = el("span", {}, host("legend")), mark = el("svg", { class: "key", width: 12, height: 12, "aria-hidden": "true" }, part);
      el("circle", { class: kind, cx: 6, cy: 6, r: 4 }, mark);
      const count = el("b", {}, part);
      const [plain, term] = OUTCOME_WORDS[i].split(" (");
      part.append(` ${plain}`);
      el("span", { class: "term" }, part, ` (${term}`);
      return count;
    });
    const keys = ["found", "missed", "false_alarms", ""];
    counts.forEach((n, i) => say(this.legend[i], fewerThanOne(whole, keys[i], n)));
    host("dots").setAttribute("role", this.byScore ? "group" : "img");
    host("dots").setAttribute("aria-label", `${host("dots-title").textContent} as dots: ${counts.map((n, i) => `${fewerThanOne(whole, keys[i], n)} ${OUTCOME_WORDS[i]}`).join(", ")}`);
  },
};
charts.unshift(dots);
tables.set("dots", () => [["outcome", "rows"], ...OUTCOMES.map((kind, i) => [OUTCOME_WORDS[i], dots.legend[i].textContent.replace(/,/g, "")])]);

// ---------------------------------------------------------------- the threshold, dragged or by keyboard


// Arrows go from threshold to threshold, however close they lie.
const STEPS = { ArrowRight: -1, ArrowUp: -1, ArrowLeft: 1, ArrowDown: 1 };
export function stepped(event) {
  const last = THRESHOLDS - 1, from = state.index === null ? D.near : state.index, far = Math.max(1, Math.round(last / 20));
  const to = { Home: last, End: 0, PageUp: from - far, PageDown: from + far, ...Object.fromEntries(Object.entries(STEPS).map(([key, by]) => [key, from + by])) }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  move({ index: Math.min(last, Math.max(0, to)) });
}

// Press anywhere in the dots, and the threshold comes along.
function dragged(p) {
  const go = (event) => {
    const box = p.svg.getBoundingClientRect(), x = ((event.clientX - box.left) * p.width) / box.width;
    move({ index: nearestPlace(AXIS.places, (x - p.box.left) / (p.box.right - p.box.left)) });
  };
  p.svg.classList.add("drags");
  p.svg.addEventListener("pointerdown", (event) => { if (event.button) return; p.svg.setPointerCapture(event.pointerId); pointer.at = null; go(event); });
  p.svg.addEventListener("pointermove", (event) => { if (p.svg.hasPointerCapture(event.pointerId)) go(event); });
}
