// Your decision: costs and limits as entered, the threshold that follows, its sentence, its charts and its commands.

import { digits, fixed, grouped, isNumber, percent } from "./numbers.js";
import { above, area, dot, el, host, labels, line, place, plot, put, roomOf, rule, say, ticked } from "./charts.js";
import { begins, copied, kept, remembered, tables, when } from "./frame.js";
import { outcomes, phrase } from "./outcomes.js";
import {
  atPrevalence, bestThreshold, BY_NAME, charts, countsAt, pointer, prevalence, SCORES, shareAt, START, state, stopOf,
  thresholdAt, THRESHOLDS, thresholdText, WHOLE,
} from "./state.js";
import { follow, move, settled } from "./update.js";
import { each, flagged, isRare, listen, logitAxis, stepEnd } from "./curves.js";
import { decide, ofClass, valueOfLimit } from "./decision_rule.js";
import { brokenChance, keptBy, leastRows } from "./promises.js";

if (D.decision) (() => {
  const W = D.decision, LAST = THRESHOLDS - 1, FLAGGING = each((i) => i).slice(1), ROWS_AT = each(countsAt), at = thresholdAt;
  const KEYS = ["cost", "alerts", "rows", ...Object.keys(W.titles)];
  const entry = (key) => host("decision-" + key), menu = entry("confidence"), ENTRIES = KEYS.map(entry).concat(menu || []), FIRST = ENTRIES.map((box) => box.value);
  const filled = (text, words) => text.replace(/\{(\w+)\}/g, (_, key) => words[key]), note = (key, words) => filled(W.notes[key], words);
  const whole = (n) => grouped(String(n)), plain = (v) => String(Number(v.toPrecision(10))), inPercent = (share) => plain(100 * share) + " %";
  const joined = (limits) => limits.map(({ text }) => text).join(" and ");
  const kindOf = (i) => (i === 0 ? "nobody" : i === LAST ? "everybody" : "threshold"), sure = ({ limits, confidence }) => ({ limits: joined(limits), confidence: inPercent(confidence) });
  const ratio = ({ cost }) => filled(W.ratio[cost === 1 ? 0 : 1], { n: grouped(plain(cost)) });
  let answer = null, wrongAt = null;

  // ---------------------------------------------------------------- what is entered

  const entered = (key) => (entry(key).validity.badInput ? NaN : entry(key).value === "" ? null : Number(entry(key).value));

  function settings() {
    const wrong = {}, limits = [], [given, alerts, typed] = KEYS.map(entered), rows = typed === null ? D.headline.base : typed, isWhole = (v, low, high) => Number.isInteger(v) && v >= low && v <= high;
    if (given !== null && !(given >= 1e-4 && given <= 1e6)) wrong.cost = W.wrong.cost;
    for (const name of KEYS.slice(3)) {
      const v = entered(name);
      if (v !== null && !(v >= 0 && v <= 100)) wrong[name] = W.wrong.share;
      else if (v) limits.push({ name, bound: v / 100, text: name + " >= " + plain(v) + " %", where: name + ">=" + v + "%" });
    }
    if (typed !== null && !isWhole(rows, 1, 1e9)) wrong.rows = W.wrong.rows;
    else if (alerts !== null && !isWhole(alerts, 0, rows)) wrong.alerts = W.wrong.alerts;
    else if (alerts !== null && alerts < rows) limits.push({ name: "alerts", alerts, rows, text: `alerts <= ${whole(alerts)} of ${whole(rows)} rows`, where: `alerts<=${alerts} of ${rows}` });
    // Without a cost as much is found as the limits allow, or where these ask for that with as few false alarms.
    const aim = given !== null ? "cost" : limits.some(({ name }) => !["recall", "negative_predictive_value"].includes(name)) ? "recall" : "specificity";
    return { given, aim, cost: given === null ? 1 : given, limits, wrong, nothing: given === null && !limits.length, confidence: limits.length && menu && menu.value ? Number(menu.value) : null };
  }

  // ---------------------------------------------------------------- the answer

  function answered() {
    const asked = settings(), share = shareAt(state.stop), notes = [], bad = Object.keys(asked.wrong).length > 0;
    const drawn = share === null || !asked.confidence ? [] : asked.limits.filter((limit) => !ofClass(limit));
    const found = { ...asked, share, notes, bad, at: prevalence(), base: D.headline.base, index: null, text: bad ? mended(Object.entries(asked.wrong)[0]) : "", there: ROWS_AT.map((c) => atPrevalence(c, share)), confidence: drawn.length ? null : asked.confidence };
    if (bad) return found;
    if (found.nothing) return Object.assign(found, { text: W.nothing, costs: costsOf(found), notes: W.why ? [W.why] : [] });
    const kept = found.confidence && found.limits.length ? keptBy(found.limits, ROWS_AT, found.confidence, { starts: W.starts, whole: WHOLE }) : null;
    Object.assign(found, decide({ ...found, cost: { cost: found.cost, recall: 1e6, specificity: 0 }[found.aim], kept, plateau: W.plateau }));
    if (found.aim !== "cost") Object.assign(found, { costs: costsOf(found), plateau: null });
    (found.index === null ? refused : described)(found);
    if (drawn.length) notes.push(note("shifted", { titles: drawn.map(({ name }) => W.titles[name] || name).join(" and "), confidence: asked.confidence }));
    if (W.why) notes.push(W.why);
    return found;
  }

  const costsOf = ({ there, cost }) => there.map((c) => (cost * c[1] + c[2]) / (c[0] + c[1] + c[2] + c[3]));
  const mended = ([key, why]) => note("mend", { entry: entry(key).labels[0].textContent, why: why.slice(0, 1).toLowerCase() + why.slice(1) });

  function refused(found) {
    if (found.unmet) {
      const { limit, before, value } = found.unmet, shown = limit.rows ? digits(value * limit.rows) + " alerts" : percent(value);
      found.text = note("unmet", { limit: limit.text, others: before.length ? " with " + joined(before) : "", value: shown });
    } else {
      found.text = note("unkept", sure(found));
      found.notes.push(...needed(found));
    }
  }

  // The rows of a class that a promise takes at the very least; how many would do, the command finds out.
  function needed({ limits, confidence }) {
    const lines = limits.filter(ofClass).map((limit) => {
      const least = leastRows(limit, (1 - confidence) / limits.length), of = limit.name === "recall" ? 0 : 1;
      return least > W.n[of] && note(least < Infinity ? "needed" : "never", { ...sure({ limits: [limit], confidence }), rows: whole(least), kind: ["positives", "negatives"][of], there: whole(W.n[of]) });
    }).filter(Boolean);
    return lines.length ? lines : [W.notes.more];
  }

  function described(found) {
    const { limits, notes, share, plateau } = found, counts = outcomes(found.there[found.index], share);
    found.text = [outcomeText(found, counts), found.aim === "cost" ? costText(found) : "", limitsText(found)].filter(Boolean).join(" ").trim();
    const [low, high] = (plateau || []).map((i) => (kindOf(i) === "threshold" ? digits(at(i)) : kindOf(i) + " flagged"));
    if (plateau) notes.push(note(plateau[0] === plateau[1] ? "alone" : "plateau", { with: limits.length ? W.notes.limited : "The", within: inPercent(W.plateau), low, high }));
    if (found.onlyTrivial) notes.push(note("trivial", sure(found)), ...needed(found));
    if (limits.length && !WHOLE) notes.push(note("held", { held: whole(THRESHOLDS), all: whole(D.all_thresholds) }));
  }

  function outcomeText({ index, share }, counts) {
    const key = kindOf(index), rows = share !== null ? "prevalence" : counts.own ? "these" : D.weighted ? "weighted" : "like";
    const words = { rule: filled(W.rules[key], { threshold: digits(at(index)) }), rows: filled(W.rows[rows], { base: whole(counts.base), share: percent(share) }) };
    for (const [name, forms] of Object.entries(W.parts)) words[name] = filled(phrase(counts, name, forms), { n: whole(counts[name]), all: whole(counts.positives) });
    return filled(W.frames[key], words);
  }

  function costText(found) {
    const [cost, nobody, everybody] = [found.index, 0, LAST].map((i) => found.costs[i] * found.base).map((v) => (v >= 1e6 ? whole(Math.round(v)) : digits(v)));
    return filled(W.cost, { cost, nobody, everybody, base: whole(found.base), ratio: ratio(found) });
  }

  function limitsText({ limits, confidence, index, there, share }) {
    const words = limits.map((limit) => {
      const { name, rows, alerts, bound } = limit, v = valueOfLimit(limit, there[index]), known = W.exact && !confidence && kindOf(index) === "threshold" && (share === null || ofClass(limit));
      const chance = known ? filled(W.here[2], { chance: fixed(100 * (1 - brokenChance(limit, ROWS_AT[index])), 0) + " %" }) : "", forms = confidence ? W.least : W.here;
      return rows ? filled(forms[1], { rows: whole(rows), alerts: whole(alerts), value: digits(v * rows), chance }) : filled(forms[0], { title: W.titles[name], bound: inPercent(bound), value: percent(v), chance });
    });
    const text = confidence ? filled(W.promised[words.length > 1 ? 1 : 0], { limits: words.join(" and "), confidence: inPercent(confidence) }) : words.join("; ") + (words.length ? "." : "");
    return text.slice(0, 1).toUpperCase() + text.slice(1);
  }

  function commands({ cost, aim, limits, confidence, share, index, costs, bad, nothing }) {
    if (bad) return [];
    let search = `steelyard threshold ${W.file}` + (nothing ? "" : aim === "cost" ? ` --cost-fn ${cost}` : ` --metric ${aim}`) + (share === null ? "" : " --prevalence " + share);
    for (const { where } of limits) search += ` --where '${where}'`;
    if (confidence) search += " --confidence " + confidence;
    if (nothing || !W.is_gated) return [search];
    if (limits.length) return [search + " -o chosen.json", `steelyard gate ${W.file} --guarantee chosen.json`];
    if (share !== null) return [search];
    const least = Number(Math.min(costs[0], costs[LAST]).toPrecision(6));
    return [search, `steelyard gate ${W.file} --threshold ${index === 0 ? "inf" : at(index)} --require 'expected_cost[cost_fn=${cost}]<=${least}'`];
  }

  // ---------------------------------------------------------------- the charts

  const stepped = (places, value) => places.slice().reverse().flatMap((i) => [...(WHOLE ? [i < LAST ? stepEnd(i + 1) : SCORES.from] : []), stepEnd(i)].map((t) => [t, value(i, t)]));
  const turned = (points) => points.map(([x, y]) => [x, -y]);

  function costChart(self) {
    const { costs, index, plateau, base } = answer, cost = (i) => costs[i] * base, levels = [cost(0), cost(LAST)];
    const top = 1.05 * Math.min(base * Math.max(...costs), Math.max(1.25 * Math.min(...levels), 3 * cost(index || 0))) || 1;
    const cheap = FLAGGING.filter((i) => cost(i) <= top), inside = (cheap.length ? cheap : FLAGGING).map(at), low = Math.min(...inside), high = Math.max(...inside), pad = (high - low) / 25 || (SCORES.to - SCORES.from) / 20;
    const x = ticked(Math.max(SCORES.from, low - pad), Math.min(SCORES.to, high + pad));
    const p = plot("expected-cost", { x, y: ticked(0, top), xTitle: "Threshold", yTitle: `Expected cost per ${whole(base)} rows, in false alarms`, right: 128 });
    if (plateau) {
      const from = plateau[0] === LAST ? x.from : at(plateau[0]), to = plateau[1] ? at(plateau[1]) : x.to;
      area(p, [[from, 0], [from, top], [to, top], [to, 0]], "plateau");
    }
    for (const level of levels) if (level <= top) line(p, [[x.from, level], [x.to, level]], "chance-line");
    for (const run of above(turned(stepped(FLAGGING, cost).filter(([t]) => t >= x.from && t <= x.to)), -top)) line(p, turned(run), "curve");
    labels(p, levels.map((level, i) => ({ words: ["nobody ", "everybody "][i] + digits(level) + (level > top ? " ↑" : ""), kind: "baseline", y: Math.min(level, top) })));
    const now = rule(p);
    listen(p, self);
    if (index) place(dot(p), p, at(index), cost(index));
    return { p, x, now };
  }

  // Over the thresholds at which the model is worth acting on, the prevalence, and what the entered cost implies.
  const INNER = FLAGGING.filter((i) => at(i) > 0 && at(i) < 1), benefit = (i, t) => NET_BENEFIT(...answer.there[i], t);
  const ofAll = (t) => prevalence() - ((1 - prevalence()) * t) / (1 - t);
  function benefitChart() {
    const s = prevalence(), implied = 1 / (1 + answer.cost), chosen = answer.index === null ? NaN : benefit(answer.index, implied);
    const worth = INNER.filter((i) => benefit(i, at(i)) >= W.worth * s).map(at), y = ticked(-0.25 * s, 1.05 * s);
    const last = Math.min(1 - 1e-9, 1.02 * Math.max(2 * s, 1.25 * implied, ...worth));
    const rare = isRare(), x = rare ? logitAxis(Math.max(1e-5, s / 20), last) : ticked(0, last), along = (k) => (rare ? 1 / (1 + ((1 - x.from) / x.from) * (((1 - last) / last) / ((1 - x.from) / x.from)) ** (k / 200)) : (last * k) / 200);
    const p = plot("decision-curve", { x, y, xTitle: rare ? "Threshold probability (logit scale)" : "Threshold probability", yTitle: "Net benefit per row", right: 88 });
    const drawn = (points, kind) => above(points.filter(([t]) => t <= last), y.from).map((run) => { line(p, run, kind); return run; });
    drawn([[0, 0], [last, 0]], "chance-line");
    drawn(Array.from({ length: 201 }, (_, k) => [along(k), ofAll(along(k))]), "chance-line");
    const steps = stepped(INNER, benefit), end = drawn(steps, "curve").flat().slice(-1)[0];
    const next = steps.findIndex(([t]) => t > implied), [[u, low], [v, high]] = next > 0 ? steps.slice(next - 1, next + 1) : [[0, NaN], [1, NaN]], here = low + ((high - low) * (implied - u)) / (v - u);
    labels(p, [{ words: "this model", kind: "fill-0", y: end && end[1] }, { words: "treat none", kind: "baseline", y: 0 }, { words: "treat all", kind: "baseline", y: y.from }]);
    if (answer.given !== null) { place(rule(p, "implied"), p, implied); place(dot(p), p, implied, here); }
    const words = (isNumber(here) ? " · net benefit " + digits(here) : "") + (isNumber(chosen) ? " · " + digits(chosen) + " at the threshold that costs least" : "");
    host("decision-curve-readout").textContent = answer.given === null ? "" : `${ratio(answer)} for a miss: threshold probability ${percent(implied)}${words}`;
  }

  // The answer follows the prevalence, and what is drawn follows the answer.
  const following = (room, draw) => ({
    room,
    moved(cells, share, redraw) {
      if (!answer || answer.at !== prevalence()) { answer = answered(); written(); }
      if (this.for !== answer || redraw) { this.for = answer; if (!answer.bad) this.drawn = draw(this); }
      if (this.mark) this.mark(pointer.at === null ? state.index : pointer.at);
    },
  });
  const words = Object.assign(following(entry("sentence").parentNode, () => {}), { mark: used });
  const chart = Object.assign(following(roomOf("expected-cost"), costChart), {
    mark(index) {
      if (this.for !== answer || answer.bad || index === null) return;
      const { p, x, now } = this.drawn, { base, costs } = answer;
      place(now, p, at(index) >= x.from && at(index) <= x.to ? at(index) : NaN);
      say(host("expected-cost-readout"), `${thresholdText(index)} · expected cost ${digits(costs[index] * base)} per ${whole(base)} rows`);
    },
    nearest(x) {
      const away = (i) => Math.abs(this.drawn.p.X(at(i)) - x);
      return FLAGGING.reduce((best, i) => (away(i) < away(best) ? i : best));
    },
  });

  const PARTS = [words, chart, ...(host("decision-curve") ? [following(roomOf("decision-curve"), benefitChart)] : [])];

  // ---------------------------------------------------------------- what is written

  const unbroken = (words) => words.replace(/ %/g, "\u00a0%");

  // A word below an entry: what is wrong with it, or what became of it.
  function marked(key, isWrong, words) {
    put(entry(key), "aria-invalid", isWrong);
    say(entry(key).parentNode.querySelector("b"), unbroken(words || ""));
  }

  function written() {
    const { index, wrong, plateau, costs, text } = answer, sentence = entry("sentence"), lines = commands(answer);
    for (const key of KEYS) marked(key, key in wrong, wrong[key]);
    say(sentence, unbroken(text));
    sentence.classList.toggle("soft", answer.nothing === true);
    sentence.dataset.answer = index === null ? "" : JSON.stringify({ index, cost: costs[index], plateau });
    const notes = answer.notes.map(unbroken);
    if (notes.join("") !== entry("notes").textContent) entry("notes").replaceChildren(...notes.map((words) => el("p", {}, null, words)));
    say(entry("commands"), lines.join("\n"));
    say(entry("shell-note"), (lines.length === 1 && !answer.nothing ? W.notes.gate + " " : "") + W.unnamed);
  }

  function used() {
    const { index, bad } = answer, here = index !== null && index === state.index, box = entry("prevalence");
    entry("use").disabled = here || index === null;
    for (const key of ["use", "copy"]) entry(key).hidden = answer.nothing === true;
    say(entry("use"), here ? "The page is at this threshold" : "Use this threshold");
    entry("copy").disabled = index === null;
    entry("copy-commands").disabled = bad;
    if (wrongAt !== null && wrongAt !== prevalence()) { wrongAt = null; marked("prevalence", false, ""); }
    if (document.activeElement !== box && wrongAt === null) box.value = plain(Number((100 * prevalence()).toPrecision(state.stop in D.stops ? 3 : 10)));
  }

  // ---------------------------------------------------------------- the menu of operating points

  function points() {
    const { there } = answer, { cost, recall, confidence } = W.menu, limit = { name: "recall", bound: recall }, costing = (c, limits = [], kept = null) => decide({ there, cost: c, limits, kept, plateau: 0 }).index;
    const nearest = FLAGGING.reduce((best, i) => { const off = (k) => Math.abs(there[k][0] + there[k][2] - there[k][0] - there[k][1]); return off(i) < off(best) ? i : best; }, 1);
    const kept = W.exact ? costing(0, [limit], keptBy([limit], ROWS_AT, confidence, { starts: W.starts, whole: WHOLE })) : null;
    const best = (name) => (BY_NAME.has(name) && isNumber(BY_NAME.get(name).best) ? bestThreshold(name) : null);
    return [
      ["as evaluated", START.index], ["best F1", best("f1")], ["best AC-score", best("ac_score")], [`recall of ${inPercent(recall)} guaranteed`, kept],
      ["as many alerts as positives", nearest], [`a miss costs ${cost} false alarms`, costing(cost)], ["flag nobody", 0], ["flag everybody", LAST],
    ].filter(([, i]) => i !== null);
  }

  function offered() {
    const room = host("points").querySelector("div");
    room.replaceChildren(...points().map(([name, index]) => {
      const counts = outcomes(answer.there[index], answer.share), button = el("button", { type: "button", value: String(index) });
      el("b", {}, button, name);
      el("span", {}, button, unbroken(`${kindOf(index) === "threshold" ? `at ${digits(at(index))}: ` : ""}${whole(counts.found)} of ${whole(counts.positives)} found, ${whole(counts.false_alarms)} false ${counts.false_alarms === 1 ? "alarm" : "alarms"}`));
      button.addEventListener("click", () => { host("points").open = false; move({ index }); });
      return button;
    }));
  }

  // ---------------------------------------------------------------- entries and the address

  function changed() {
    answer = null;
    follow(PARTS, true, false);
    remembered();
  }

  // An entry that is no prevalence stays as it was written, until the slider is moved.
  function prevalenceEntered() {
    const v = entered("prevalence"), is = v > 0 && v < 100;
    wrongAt = is ? null : prevalence();
    marked("prevalence", !is, is ? "" : W.wrong.prevalence);
    move(is ? stopOf(Number((v / 100).toPrecision(12))) : {});
  }

  kept.push({
    write(parts) { ENTRIES.forEach((box, i) => { if (box.value !== FIRST[i]) parts.set(box.id, box.value); }); },
    read(parts) {
      ENTRIES.forEach((box, i) => { const given = parts.get(box.id); box.value = given === null || (box !== menu && !isNumber(Number(given || NaN))) ? FIRST[i] : given; });
      if (menu && menu.selectedIndex < 0) menu.value = FIRST[KEYS.length];
      answer = null;
    },
  });

  tables.set("expected-cost", () => [["threshold", "expected cost per row", "predicted positive rate"], ...each((i) => [at(i), answer.costs[i], flagged(answer.there[i])])]);
  tables.set("decision-curve", () => [["threshold probability", "net benefit", "treat all"], ...INNER.map((i) => [at(i), benefit(i, at(i)), ofAll(at(i))])]);
  charts.push(...PARTS);
  begins.push(() => {
    for (const box of ENTRIES) box.addEventListener("input", changed);
    when("decision-prevalence", "input", prevalenceEntered);
    when("decision-prevalence", "blur", used);
    host("points").addEventListener("toggle", () => { if (host("points").open) { settled(); offered(); } });
    when("decision-use", "click", () => { settled(); move({ index: answer.index }); });
    when("decision-copy", "click", () => { settled(); remembered(); copied(answer.text + " " + location.href); });
    when("decision-copy-commands", "click", () => copied(entry("commands").textContent));
  });
})();
