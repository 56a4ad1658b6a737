// Groups: each beside all rows, following the sliders, in the order of what intervals separate.

import {
  between, chanceOf, counted, drawn, intervalOf, isNumber, placed, reasonOf, reweighted, rowsOfEach, valueOf,
  valueText,
} from "./numbers.js";
import { el, host, put, shown } from "./charts.js";
import { begins, kept, remembered, tables } from "./frame.js";
import { filled } from "./outcomes.js";
import { BY_NAME, charts, groupsNow, isStart, rateRow, rests, rows, shareAt, state, THRESHOLDS } from "./state.js";
import { across, bar, drawBand, drawMark } from "./rows.js";
import { atLeast } from "./promises.js";

const groupMetric = (name) => BY_NAME.get(name) || rateRow(name);
const GROUP_ROWS = [...document.querySelectorAll("#group-table tbody tr")].map((tr, i) => {
  const [, , found] = D.groups.parts[i], mark = el("span", { class: "apart" }, tr.querySelector("th"));
  return { tr, i, name: tr.querySelector("th").textContent, mark, now: found.slice(), cells: [...tr.querySelectorAll("td")].slice(1).map((td, k) => groupCell(td, D.groups.names[k])) };
});
groupsNow.push(...GROUP_ROWS);
const runningSums = (steps) => { let all = 0; return steps.map((step) => (all += step)); };
const groupViews = D.groups.follows && D.groups.follows.map((of) => (of.tp ? { ...of, tp: runningSums(of.tp), fp: runningSums(of.fp) } : of));

function groupCell(td, name) {
  const first = [...td.childNodes], row = BY_NAME.get(name), room = el("div", { class: "bar" }, td);
  td.dataset.label = groupMetric(name).title;
  if (!row) return { td, first, room, parts: null };
  const parts = bar(room, row);
  parts.whole = el("line", { class: "whole-mark", y1: 0, y2: 16 }, room.querySelector("svg"));
  return { td, first, room, parts };
}

// The table of a group where the sliders stand; none where a class is missing that another prevalence would reweight.
function groupCells(of, share) {
  const last = THRESHOLDS - 1, i = state.index;
  const own = !THRESHOLDS || i === null ? of.cells : [of.tp[i], of.tp[last] - of.tp[i], of.fp[i], of.fp[last] - of.fp[i]];
  if (share === null) return own;
  return own[0] + own[1] > 0 && own[2] + own[3] > 0 ? reweighted(own, share) : null;
}

// Value, interval and baseline of every metric of a group: Python's as evaluated, the script's elsewhere.
function groupNumbers(group, share, withEnds) {
  const found = D.groups.parts[group.i][2];
  if (isStart() || !groupViews) return found;
  const of = groupViews[group.i], cells = groupCells(of, share), sample = cells && groupCells(of, null);
  const set = withEnds && cells && cells[0] + cells[1] > 0 && cells[2] + cells[3] > 0 ? drawn(of, sample, share) : null;
  return D.groups.names.map((name, k) => {
    if (!FORMULAS[name]) return share === null ? found[k] : [null, null, null, null, 0, "not at this prevalence"];
    if (!cells) return [null, null, null, null, 0, "a class is missing"];
    const v = valueOf(name, cells);
    if (!isNumber(v)) return [null, null, null, null, 0, reasonOf(name, cells)];
    const [low, high] = set ? intervalOf(groupMetric(name), v, set) : [NaN, NaN];
    return [v, low, high, chanceOf(groupMetric(name), cells, rowsOfEach(of)), 0];
  });
}

function drawGroup(group, share, withEnds) {
  group.now = groupNumbers(group, share, withEnds);
  group.cells.forEach((cell, k) => {
    const [v, low, high, chance, , why] = group.now[k], row = groupMetric(D.groups.names[k]);
    if (isStart() || !groupViews) cell.td.replaceChildren(...cell.first, cell.room);
    else {
      cell.td.replaceChildren(isNumber(v) ? `${valueText(row, v)} ` : "– ", cell.room);
      cell.room.before(el("i", {}, null, isNumber(v) ? (isNumber(low) ? between(row, low, high) : "…") : why));
    }
    if (!cell.parts) return;
    drawMark(cell.parts, row, v, chance);
    drawBand(cell.parts, row, low, high);
    const whole = wholeOf(row.name);
    shown(cell.parts.whole, isNumber(whole));
    if (isNumber(whole)) for (const key of ["x1", "x2"]) put(cell.parts.whole, key, across(placed(row, whole)));
  });
}

const wholeOf = (name) => { const { now } = rows.get(name) || {}; return isNumber(now) ? now : NaN; };

// Below the value of all rows, above it, or neither: where the interval does not hold it.
function apart(group, k) {
  const [v, low, high] = group.now[k], whole = wholeOf(D.groups.names[k]);
  return isNumber(v) && high < whole ? -1 : isNumber(v) && low > whole ? 1 : 0;
}

function orderGroups() {
  const k = Number(host("group-order").value), order = (g) => (isNumber(g.now[k][0]) ? g.now[k][0] : Infinity);
  const body = document.querySelector("#group-table tbody");
  for (const group of [...GROUP_ROWS].sort((a, b) => apart(a, k) - apart(b, k) || order(a) - order(b) || a.i - b.i)) body.appendChild(group.tr);
}

// For whom it fails now: nothing is found, or so little as would be found by chance in few of all groups.
const FAILING_FIRST = host("failing") ? [...host("failing").childNodes] : [];
function drawFailing(cells) {
  const { some, group, more, most } = D.groups.failing, found = cells[0] / (cells[0] + cells[1]), few = (1 - D.level) / 2 / D.groups.of;
  const each = GROUP_ROWS.map(({ i }) => {
    const of = groupCells(groupViews[i], null), [tp, fn] = of.map((cell) => cell / groupViews[i].one[0]), rows = Math.round(tp + fn);
    return { i, of, tp, chance: rows && found > 0 ? (fn > 0 ? 1 - atLeast(Math.floor(tp + 0.5) + 1, rows, found) : 1) : Infinity, missed: rows > 0 && tp === 0 };
  }).filter(({ chance, missed }) => chance <= few || missed).sort((a, b) => a.chance - b.chance);
  const words = each.slice(0, most).map(({ i, of }) => filled(group, { label: `\u2068${GROUP_ROWS[i].name}\u2069`, found: counted(of[0]), positives: counted(of[0] + of[1]) }));
  if (each.length > words.length) words.push(filled(more, { n: each.length - words.length }));
  host("failing").replaceChildren(words.length ? filled(some, { groups: words.join("; ") }) : "");
}

function drawGroups(withEnds) {
  const share = shareAt(state.stop), k = Number(host("group-order").value);
  for (const group of GROUP_ROWS) {
    drawGroup(group, share, withEnds);
    if (!withEnds && !isStart()) continue;
    group.mark.textContent = ["− below", "", "+ above"][apart(group, k) + 1];
    group.mark.classList.toggle("worse", apart(group, k) < 0);
  }
}

if (GROUP_ROWS.length) {
  charts.push({ room: host("group-table"), moved() { if (groupViews || isStart()) drawGroups(false); } });
  if (groupViews && host("failing")) charts.push({ room: host("failing"), moved(cells) { if (isStart()) host("failing").replaceChildren(...FAILING_FIRST); else drawFailing(cells); } });
  rests.push(() => { if (!isStart()) drawGroups(true); });
  kept.push({
    write(parts) { if (host("group-order").selectedIndex > 0) parts.set("groups", D.groups.names[host("group-order").selectedIndex]); },
    read(parts) { host("group-order").selectedIndex = Math.max(0, D.groups.names.indexOf(parts.get("groups"))); drawGroups(false); orderGroups(); },
  });
  begins.push(() => {
    host("group-order").addEventListener("change", () => { drawGroups(true); orderGroups(); remembered(); });
  });
  tables.set("group-table", () => [["group", "rows", ...D.groups.names.flatMap((name) => [name, `${name}_low`, `${name}_high`])], ...GROUP_ROWS.map((g) => [D.groups.parts[g.i][0].join(", "), D.groups.parts[g.i][1], ...g.now.flatMap(([v, low, high]) => [v, low, high])])]);
}
