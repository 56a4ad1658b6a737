// The page: moving, remembering, taking the numbers away, and the beginning.

import { between, counted, digits, isNumber, percent, valueText } from "./numbers.js";
import { el, host } from "./charts.js";
import { begins, csvText, exporters, kept, redraws, remembered, settles, when } from "./frame.js";
import { headline } from "./outcomes.js";
import {
  atPrevalence, bestThreshold, bounded, BY_NAME, cellsAt, chanceAt, charts, FIRST_CHOSEN, groupsNow, isStart, isSteady,
  looksAt, METRICS, nearestPlace, nearestThreshold, prevalence, rows, scoreAt, shareAt, START, state, stopOf,
  thresholdAt, THRESHOLDS, turns, view,
} from "./state.js";
import { folded, readRows, sorted } from "./rows.js";
import { caughtUp, move, settled, update, watcher } from "./update.js";
import { stepped } from "./dots.js";
import { LIVE } from "./sentences.js";

kept.push({
  write(parts) {
    if (THRESHOLDS && state.index !== START.index && state.index !== null) parts.set("threshold", String(thresholdAt(state.index)));
    if (state.stop !== ownStop()) parts.set("prevalence", String(prevalence()));
    if (host("optimise") && !host("optimise").selectedOptions[0].defaultSelected) parts.set("optimise", host("optimise").value);
    if (host("sort").value !== "first") parts.set("sort", host("sort").value);
    if (String(state.chosen) !== String(FIRST_CHOSEN)) parts.set("metrics", state.chosen.join(" "));
    if (view !== D.view) parts.set("class", view.label);
  },
  read(parts) {
    Object.assign(state, START, { chosen: [...FIRST_CHOSEN] });
    turned(D.view, true);
    if (host("class")) host("class").value = D.view.label;
    const given = (key) => ((parts.get(key) || "").trim() === "" ? NaN : Number(parts.get(key)));
    const t = given("threshold"), share = given("prevalence");
    if (THRESHOLDS && t > -Infinity) state.index = nearestThreshold(t);
    if (share > 0 && share < 1) Object.assign(state, stopOf(share));
    for (const key of ["optimise", "sort"]) if (host(key)) {
      const named = [...host(key).options].find((option) => option.value === parts.get(key));
      for (const option of host(key).options) option.selected = named ? option === named : option.defaultSelected;
    }
    const named = (parts.get("metrics") || "").split(" ").filter((name) => BY_NAME.has(name) && bounded(BY_NAME.get(name)));
    if (named.length) state.chosen = named;
    for (const box of document.querySelectorAll("#chosen input")) box.checked = state.chosen.includes(box.value);
    const shown = D.views.findIndex((v) => v.label === parts.get("class"));
    if (shown >= 0) { host("class").selectedIndex = shown; turned(D.views[shown], share > 0 && share < 1); }
    sorted(host("sort").value);
    folded(host("sort").value === "first");
  },
});
redraws.push(() => update(true));
settles.push(settled);

const ownStop = () => (view === D.view ? START.stop : Math.max(0, D.stops.indexOf(view.share)));

// Another class against the rest: its own table at its own share.
function turned(chosen, keepStop) {
  const share = D.stops[state.stop];
  looksAt(chosen.label === D.view.label ? D.view : chosen);
  for (const act of turns) act();
  state.stop = keepStop ? nearestPlace(D.stops, share) : ownStop();
  host("metrics").dataset.class = view.label;
}

// ---------------------------------------------------------------- the numbers to take away

function numbers() {
  settled();
  const start = isStart(), share = shareAt(state.stop), cells = atPrevalence(cellsAt(state.index), share);
  const number = (v) => (isNumber(v) ? v : null);
  const threshold = THRESHOLDS ? thresholdAt(state.index) : null, methods = new Set();
  const metrics = [...rows.values()].map(({ row, tr, interval }) => {
    const v = tr.dataset.value === "" ? null : Number(tr.dataset.value), { low, high, method } = interval.dataset;
    const steady = isSteady(row, start), drawn = low !== undefined;
    const ends = v === null ? [null, null] : steady ? [row.low, row.high] : drawn ? [Number(low), Number(high)] : [null, null];
    const how = (steady ? row.method : ends[0] === null ? "" : method) || "";
    if (ends[0] !== null) methods.add(how);
    return {
      name: row.name, value: v, low: ends[0], high: ends[1], chance: number(chanceAt(row, cells, state.stop)),
      // The draws at a moved slider are not counted by whether the metric is defined.
      undefined_share: steady ? row.undefined_share || 0 : null, undefined: v === null ? interval.textContent : null, method: how,
      ...(steady && row.chance_high !== undefined ? { chance_high: row.chance_high } : {}),
      ...(steady && row.no_interval ? { no_interval: row.no_interval } : {}),
    };
  });
  return {
    schema: 2, version: D.version, source: D.source, rows: D.rows, labels: D.labels, positive: view.typed,
    threshold: number(threshold), ...(threshold === Infinity ? { infinite: { threshold: 1 } } : {}),
    level: D.level, method: start ? D.method : [...methods].filter(Boolean).join(", "), seed: D.seed,
    metrics, verdict: start ? D.verdict : movedVerdict(), assumed: state.index === START.index ? D.assumed : D.assumed_moved, ...D.written.fixed,
    ...(start ? { ...D.written.as_evaluated, groups: groupRows() } : movedTables(share)), scores: null,
  };
}

// The table of the sample, as in every saved evaluation, whatever the prevalence; that of weights is known as evaluated
// only, as are the intervals of classes, the groups and the test.
function movedTables(share) {
  const [tp, fn, fp, tn] = cellsAt(state.index), two = D.labels.length === 2 && !D.weighted;
  const positive = view.typed, first = JSON.stringify(D.labels[0]) === JSON.stringify(positive), table = { labels: D.labels, positive, rows: first ? [[tp, fn], [fp, tn]] : [[tn, fp], [fn, tp]] };
  return { prevalence: share, counts: { tp, fn, fp, tn }, per_class: [], beats: null, behind: [], groups: liveGroups(), table: two ? table : null };
}

function movedVerdict() {
  const texts = { outcomes: LIVE ? LIVE.textContent : "", rates: state.now };
  return Object.values(D.moved).map((sentence) => ({ ...sentence, text: texts[sentence.code].replace(/\u00a0%/g, " %") })).filter((sentence) => sentence.text);
}

// The groups where the sliders stand, as far as they follow.
const liveGroups = () => (D.groups.follows ? groupRows(groupsNow.map(({ now }) => now)) : []);

function groupRows(live) {
  const { by, names, methods, parts } = D.groups, number = (v) => (isNumber(v) ? v : null), drawn = D.stratified ? "stratified" : "posterior";
  return parts.map(([key, rows, first], g) => ({
    group: Object.fromEntries(by.map((name, i) => [name, key[i]])), rows,
    metrics: (live ? live[g] : first).map(([value, low, high, chance, method, why], i) => ({
      name: names[i], value: number(value), low: number(low), high: number(high), chance: number(chance),
      undefined_share: null, undefined: why || null, method: live && FORMULAS[names[i]] ? (isNumber(low) ? drawn : "") : methods[method],
    })),
    table: null,
  }));
}

function markdown() {
  const data = numbers(), row = (m) => BY_NAME.get(m.name), cell = (words) => String(words).replace(/\|/g, "\\|");
  const lines = [...data.verdict.map((sentence) => sentence.text), "", `| metric | value | ${100 * D.level} % interval | chance |`, "|---|---|---|---|"];
  for (const m of data.metrics) lines.push(`| ${[m.name, valueText(row(m), m.value), m.undefined || between(row(m), m.low, m.high), valueText(row(m), m.chance)].map(cell).join(" | ")} |`);
  return lines.join("\n").replace(/\u00a0%/g, " %");
}

// ---------------------------------------------------------------- begin

function choices() {
  const room = document.querySelector("#chosen .choices");
  for (const row of METRICS.filter(bounded)) {
    const label = el("label", {}, room), box = el("input", { type: "checkbox", value: row.name }, label);
    label.append(` ${row.title}`);
    box.checked = state.chosen.includes(row.name);
    box.addEventListener("change", () => {
      state.chosen = [...room.querySelectorAll("input:checked")].map((input) => input.value);
      update(true);
      remembered();
    });
  }
}

exporters.set("json", () => JSON.stringify(numbers(), null, 1));
exporters.set("markdown", markdown);
exporters.set("csv", () => csvText([["metric", "value", "low", "high", "chance", "method", "undefined"], ...numbers().metrics.map((m) => [m.name, m.value, m.low, m.high, m.chance, m.method, m.undefined])]));

begins.push(() => {
  for (const { room } of charts) if (room) watcher.observe(room);
  readRows(host("metrics"), BY_NAME, rows);
  if (D.all) readRows(host("all"), new Map(D.all.map((row) => [row.name, row])), null);
  choices();
  when("threshold", "input", (event) => move({ index: nearestThreshold(scoreAt(Number(event.target.value))) }));
  when("threshold", "keydown", stepped);
  when("prevalence", "input", (event) => move({ stop: Number(event.target.value) }));
  when("jump", "click", () => move({ index: bestThreshold(host("optimise").value) }));
  when("optimise", "change", remembered);
  when("reset", "click", () => { turned(D.view, true); if (host("class")) host("class").value = D.view.label; move({ ...START }); remembered(); });
  when("sort", "change", () => { sorted(host("sort").value); if (host("sort").value === "first") folded(true); remembered(); });
  when("class", "change", (event) => { turned(D.views[event.target.selectedIndex], false); move({}); });
  when("more", "click", () => folded(!host("metrics").classList.contains("few")));
  window.steelyard = { last: THRESHOLDS - 1, headline: D.is_live && headline, numbers, markdown, state, move, caughtUp, digits, percent, counted };
});
