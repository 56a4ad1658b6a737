// Sentences: the headline, the strip and what holds of the setting that is in force.

import {
  between, chanceOf, digits, grouped, intervalOf, isNumber, percent, reasonOf, rowsOfEach, valueOf, valueText,
} from "./numbers.js";
import { el, host, say } from "./charts.js";
import { redraws } from "./frame.js";
import { filled, headline, outcomes } from "./outcomes.js";
import {
  atPrevalence, BY_NAME, cellsAt, chanceAt, isSteady, rateRow, START, state, thresholdAt, THRESHOLDS, valueAt, view,
  whyAt,
} from "./state.js";
import { bar, drawBand, drawMark } from "./rows.js";

// ---------------------------------------------------------------- the strip

// The rates that a reader looks for first, each with its interval and its no-skill baseline.
const RATES = ["recall", "precision", "specificity"].map((name) => {
  if (!host("rates")) return null;
  const tr = el("tr", {}, host("rates")), title = el("th", { scope: "row" }, tr, rateRow(name).title), value = el("td", { class: "value" }, tr), cell = el("td", { class: "bar" }, tr), ends = el("td", { class: "between" }, tr);
  return { name, title, value, ends, parts: bar(cell, rateRow(name)) };
}).filter(Boolean);
function drawRates(cells, set, start) {
  for (const { name, value, ends, parts } of RATES) {
    const row = rateRow(name), v = valueOf(name, cells), c = chanceOf(row, cells, rowsOfEach(view));
    const [low, high] = start && isNumber(row.value) ? [row.low, row.high] : set && isNumber(v) ? intervalOf(row, v, set) : [NaN, NaN];
    say(value, valueText(row, v));
    say(ends, !isNumber(v) ? reasonOf(name, cells) : isNumber(low) ? between(row, low, high) : "…");
    drawMark(parts, row, v, c);
    if (isNumber(low) || !isNumber(v)) drawBand(parts, row, low, high);
  }
}

// ---------------------------------------------------------------- the sentences

const AS_EVALUATED = host("now") ? [...host("now").childNodes] : [];
export const LIVE = D.is_live && document.querySelector('h1 [data-code="outcomes"]'), FIRST_HEADLINE = LIVE && LIVE.textContent;
if (LIVE) LIVE.classList.add("live");
const MARKED = document.querySelectorAll(".opening, .stays"), LEAD = host("lead"), FIRST_LEAD = [...LEAD.childNodes];
const NUMBERS = Object.entries(D.headline.uses).map(([code, words]) => {
  const node = document.querySelector(`.numbers [data-code="${code}"]`), row = BY_NAME.get(words.name);
  if (!node) return null;
  node.classList.add("live");
  return { node, row, words, first: node.textContent };
}).filter(Boolean);
const unbroken = (words) => words.replace(/ %/g, "\u00a0%");

export function describe(cells, share, start) {
  if (LIVE) say(LIVE, start ? FIRST_HEADLINE : headline(cells, share));
  host("now").classList.toggle("moved", !start);
  for (const part of MARKED) part.classList.toggle("moved", part.className.includes("opening") || view === D.view ? !start : share !== null);
  if (!start) { now(cells, share, null); return; }
  host("now").replaceChildren(...AS_EVALUATED);
  LEAD.replaceChildren(...FIRST_LEAD);
  for (const { node, first } of NUMBERS) { node.hidden = false; say(node, first); }
  drawRates(cells, null, true);
}

// With the intervals of the setting, `set`, when the sliders rest.
export function now(cells, share, set) {
  const { now: forms } = D.headline;
  const rate = (name) => {
    const v = valueOf(name, cells), [low, high] = set && isNumber(v) ? intervalOf(rateRow(name), v, set) : [NaN, NaN];
    if (!isNumber(v)) return filled(forms.undefined, { name, why: reasonOf(name, cells) });
    return filled(forms.rate, { name, value: percent(v) }) + endsOf(low, high);
  };
  const t = thresholdAt(state.index);
  const where = [
    view === D.view ? "" : filled(forms.class, { label: view.label }),
    !THRESHOLDS ? "" : t === null ? forms.predicted : t === Infinity ? forms.nobody : filled(forms.threshold, { threshold: digits(t) }),
    share === null ? "" : filled(forms.share, { share: percent(share) }),
  ].filter(Boolean).join(", ");
  state.now = filled(forms.whole, { where, rates: ["recall", "specificity", "precision"].map(rate).join(", ") });
  say(host("now"), D.classes ? state.now : here(cells, share));
  drawRates(cells, set, false);
  if (D.classes) return;
  const lead = [set ? limiting(cells, set) : "", accuracyWords(cells, share, set)].filter(Boolean);
  if (lead.join("") !== LEAD.textContent) LEAD.replaceChildren(...lead.map((words) => el("p", {}, null, unbroken(words))));
  for (const number of NUMBERS) say(number.node, numberWords(number, cells, set));
}

const endsOf = (low, high) => (isNumber(low) ? filled(D.headline.now.interval, { low: percent(low).slice(0, -2), high: percent(high).slice(0, -2) }) : "");

// What the setting does in the rows of the headline, and how much more or less that is than as evaluated.
function here(cells, share) {
  const { here: forms } = D.headline, t = thresholdAt(state.index), whole = outcomes(cells, share), shownAs = (n) => grouped(String(n));
  const place = t === null ? forms.predicted : t === Infinity ? forms.nobody : filled(forms.threshold, { threshold: digits(t) });
  const first = outcomes(atPrevalence(cellsAt(START.index), share), share);
  const parts = ["found", "false_alarms"].filter((key) => whole[key] !== first[key]).map((key) => {
    const n = Math.abs(whole[key] - first[key]);
    return filled(forms.more[whole[key] > first[key] ? 0 : 1], { n: shownAs(n), what: forms.what[key][n === 1 ? 0 : 1] });
  });
  const than = state.index === START.index ? "" : parts.length ? filled(forms.than, { parts: parts.join(" and ") }) : forms.same;
  return filled(forms.whole, {
    where: place + (share === null ? "" : filled(forms.share, { share: percent(share) })), than,
    found: filled(forms.found[Math.min(whole.found, 2)], { n: shownAs(whole.found), positives: shownAs(whole.positives) }),
    false_alarms: filled(forms.false_alarms[Math.min(whole.false_alarms, 2)], { n: shownAs(whole.false_alarms) }),
  });
}

// What limits it, where recall and specificity differ beyond their intervals.
function limiting(cells, set) {
  const { limiting: forms } = D.headline;
  const rates = ["recall", "specificity"].map((name) => { const v = valueOf(name, cells); return { name, v, ends: isNumber(v) ? intervalOf(rateRow(name), v, set) : [NaN, NaN] }; });
  const [low, high] = rates.sort((a, b) => a.v - b.v);
  if (!(low.ends[1] < high.ends[0])) return "";
  const first = filled(forms.rate, { title: rateRow(low.name).title, value: percent(low.v), far: forms.words[high.v - low.v > forms.far ? 1 : 0], other: high.name, high: percent(high.v) });
  if (!THRESHOLDS) return `${first} ${forms.labels}`;
  const auc = BY_NAME.get("roc_auc"), v = auc ? valueAt(auc, cells, state.stop) : NaN, balanced = FORMULAS.balanced_accuracy ? valueOf("balanced_accuracy", cells) : NaN;
  return v - balanced >= forms.unused_at ? `${first} ${filled(forms.unused, { auc: digits(v), other: forms[low.name] })}` : first;
}

// The number of a use, with its interval once it is known.
function numberWords({ row, words, first, node }, cells, set) {
  node.hidden = !row && state.stop !== START.stop; // of all scores, and known as evaluated alone
  if (!row) return first;
  const v = valueAt(row, cells, state.stop), chance = chanceAt(row, cells, state.stop);
  if (isSteady(row, false)) return first;
  if (!isNumber(v)) return `${words.head}– (${whyAt(row, cells, state.stop)}).`;
  const [low, high] = set && !row.ranks && FORMULAS[row.name] ? intervalOf(row, v, set) : [NaN, NaN], none = isNumber(chance) ? `${words.none} ${valueText(row, chance)}` : "";
  const inside = [isNumber(low) ? between(row, low, high) : "", none].filter(Boolean).join("; ");
  return unbroken(`${words.head}${valueText(row, v)}${inside && ` (${inside})`}${words.tail}`);
}

// Accuracy beside always predicting the majority class, in the words of the verdict.
function accuracyWords(cells, share, set) {
  const { accuracy, fair, relations, similar, constants } = D.headline, s = (cells[0] + cells[1]) / (cells[0] + cells[1] + cells[2] + cells[3]);
  const v = valueOf("accuracy", cells), [low, high] = set ? intervalOf(rateRow("accuracy"), v, set) : [NaN, NaN];
  if (s > similar && s < 1 - similar) {
    return filled(fair, { where: share === null ? "" : " at this prevalence", value: percent(v) + endsOf(low, high) }) + ".";
  }
  const most = Math.max(s, 1 - s), relation = high < most ? "below" : low > most ? "above" : v <= most ? "at" : "open";
  return filled(accuracy, { value: percent(v), relation: relations[relation], constant: constants[s > 0.5 ? 1 : 0], share: percent(most) }) + ".";
}

// Nothing below moves when a sentence takes a line more or fewer: there is room for the longest headline, and for the
// sentences as evaluated.
redraws.push(() => {
  const head = document.querySelector("h1"), rooms = [head, LEAD, ...document.querySelectorAll(".numbers")], stated = LIVE && LIVE.textContent;
  for (const room of rooms) room.style.minHeight = "";
  if (LIVE) LIVE.textContent = headline([222, 222, 222, 334], 0.0123);
  const tall = rooms.map((room) => room.offsetHeight);
  if (LIVE) LIVE.textContent = stated;
  rooms.forEach((room, i) => { room.style.minHeight = `${Math.max(tall[i], room.offsetHeight)}px`; });
});
