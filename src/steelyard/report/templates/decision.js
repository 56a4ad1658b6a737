// Your decision: costs and limits as entered, the threshold that follows, its sentence, its charts and its commands.
// No template within a template: the minifier takes the blanks out of the inner one.

if (D.decision) (() => {
  const W = D.decision, RATES = ["recall", "precision", "specificity", "npv"], LAST = THRESHOLDS - 1, ROWS_AT = each(countsAt);
  const KEYS = { cost: "cost", alerts: "alerts", rows: "day" };
  for (const name of RATES) KEYS[name] = "min-" + name;
  const entry = (key) => host("decision-" + key), menu = entry("confidence");
  const FIRST = Object.fromEntries(Object.keys(KEYS).map((key) => [key, entry(key).value])), FIRST_MENU = menu && menu.value;
  const filled = (text, words) => text.replace(/\{(\w+)\}/g, (_, key) => words[key]), note = (key, words) => filled(W.notes[key], words);
  const whole = (n) => grouped(String(n)), plain = (v) => String(Number(v.toPrecision(10))), inPercent = (share) => plain(100 * share) + " %";
  const joined = (limits) => limits.map((limit) => limit.text).join(" and "), large = (text) => text[0].toUpperCase() + text.slice(1);
  const isTrivial = (i) => i === 0 || i === LAST;
  const { brokenChance, decide, leastRows, ofClass, valueOfLimit } = decisionRule;
  let answer = null;

  // ---------------------------------------------------------------- what is entered

  const entered = (key) => (entry(key).validity.badInput ? NaN : entry(key).value === "" ? null : Number(entry(key).value));

  function settings() {
    const wrong = {}, limits = [], [cost, alerts, rows] = ["cost", "alerts", "rows"].map(entered);
    const isWhole = (v, low, high) => Number.isInteger(v) && v >= low && v <= high;
    if (!(cost >= 1e-4 && cost <= 1e6)) wrong.cost = W.wrong.cost;
    for (const name of RATES) {
      const v = entered(name);
      if (v !== null && !(v >= 0 && v <= 100)) wrong[name] = W.wrong.share;
      else if (v) limits.push({ name, bound: v / 100, text: name + " >= " + plain(v) + " %", where: name + ">=" + v + "%" });
    }
    if (alerts !== rows && !isWhole(rows, 1, 1e9)) wrong.rows = W.wrong.rows;
    else if (alerts !== null && !isWhole(alerts, 0, rows)) wrong.alerts = W.wrong.alerts;
    else if (alerts < rows && alerts !== null) limits.push({ name: "alerts", alerts, rows, text: `alerts <= ${whole(alerts)} of ${whole(rows)} rows`, where: `alerts<=${alerts} of ${rows}` });
    return { cost, limits, wrong, confidence: limits.length && menu && menu.value ? Number(menu.value) : null };
  }

  // ---------------------------------------------------------------- the answer

  function answered() {
    const asked = settings(), share = shareAt(state.stop), notes = [], there = ROWS_AT.map((c) => atPrevalence(c, share)), bad = Object.keys(asked.wrong).length > 0;
    const drawn = share === null || !asked.confidence ? [] : asked.limits.filter((limit) => !ofClass(limit));
    const found = { ...asked, share, there, notes, bad, stop: state.stop, base: 1000, confidence: drawn.length ? null : asked.confidence };
    Object.assign(found, bad ? { index: null, text: W.notes.mend } : decide({ ...found, tables: ROWS_AT, plateau: W.plateau, starts: W.starts, whole: WHOLE }));
    if (bad) return found;
    if (found.index === null) found.text = noneText(found);
    else described(found);
    if (drawn.length) notes.push(note("shifted", { titles: drawn.map(({ name }) => W.titles[name] || name).join(" and "), confidence: asked.confidence }));
    if (W.why) notes.push(W.why);
    return found;
  }

  function noneText({ unmet, limits, confidence, notes }) {
    if (!unmet) {
      notes.push(...needed(limits, confidence));
      return note("unkept", { limits: joined(limits), confidence: inPercent(confidence) });
    }
    const { limit, before, value } = unmet, others = before.length ? " with " + joined(before) : "";
    const shown = limit.rows ? digits(value * limit.rows) + " alerts" : percent(value);
    return note(isNumber(value) ? "unmet" : "undefined", { limit: limit.text, others, value: shown });
  }

  // The rows of a class that a promise takes at the very least; how many would do, the command finds out.
  function needed(limits, confidence) {
    const lines = limits.filter(ofClass).map((limit) => {
      const least = leastRows(limit, (1 - confidence) / limits.length), there = W.n[limit.name === "recall" ? 0 : 1];
      const words = { limit: limit.text, confidence: inPercent(confidence), rows: whole(least), kind: limit.name === "recall" ? "positives" : "negatives", there: whole(there) };
      return least === Infinity ? note("never", words) : least > there ? note("needed", words) : "";
    }).filter(Boolean);
    return lines.length ? lines : [W.notes.more];
  }

  function described(found) {
    const { index, plateau, limits, confidence, notes, share } = found, counts = outcomes(found.there[index], D.weighted || share !== null ? null : D.rows, W.bases);
    found.base = counts.base;
    found.text = outcomeText(found, counts) + " " + costText(found) + limitsText(found);
    const end = (i) => (i === 0 ? "nobody flagged" : i === LAST ? "everybody flagged" : digits(thresholdAt(i)));
    notes.push(note(plateau[0] === plateau[1] ? "alone" : limits.length ? "limited" : "plateau", { within: inPercent(W.plateau), low: end(plateau[0]), high: end(plateau[1]) }));
    if (!limits.length && isTrivial(index)) notes.push(W.notes.best);
    if (found.onlyTrivial) notes.push(note("trivial", { limits: joined(limits), confidence: inPercent(confidence) }), ...needed(limits, confidence));
    if (limits.length && !WHOLE) notes.push(note("held", { held: whole(THRESHOLDS), all: whole(D.all_thresholds) }));
  }

  function outcomeText({ index, share }, counts) {
    const key = index === 0 ? "nobody" : index === LAST ? "everybody" : "threshold", words = { rule: filled(W.rules[key], { threshold: digits(thresholdAt(index)) }) };
    const rows = share !== null ? "prevalence" : counts.own ? "these" : D.weighted ? "weighted" : "like";
    words.rows = filled(W.rows[rows], { base: whole(counts.base), share: percent(share) });
    for (const [name, forms] of Object.entries(W.parts)) words[name] = filled(forms[Math.min(counts[name], 2)], { n: whole(counts[name]), all: whole(counts.positives) });
    return filled(W.frames[key], words);
  }

  function costText({ cost, costs, index, base }) {
    const [here, nobody, everybody] = [index, 0, LAST].map((i) => digits(costs[i] * base));
    return filled(W.cost, { cost: here, nobody, everybody, base: whole(base), ratio: filled(W.ratio[cost === 1 ? 0 : 1], { n: grouped(plain(cost)) }) });
  }

  function limitsText({ limits, confidence, index, there, share }) {
    if (!limits.length) return "";
    const words = limits.map((limit) => {
      const { name, rows, alerts } = limit, v = valueOfLimit(limit, there[index]), known = W.exact && !isTrivial(index) && (share === null || ofClass(limit));
      const chance = known && !confidence ? filled(W.here[2], { chance: fixed(100 * (1 - brokenChance(limit, ROWS_AT[index])), 0) + " %" }) : "";
      const form = confidence ? [W.least, W.most] : W.here;
      return rows ? filled(form[1], { rows: whole(rows), alerts: whole(alerts), value: digits(v * rows), chance }) : filled(form[0], { title: W.titles[name], bound: inPercent(limit.bound), value: percent(v), chance });
    });
    return " " + large(confidence ? filled(W.promised[words.length > 1 ? 1 : 0], { limits: words.join(" and "), confidence: inPercent(confidence) }) : words.join("; ") + ".");
  }

  function commands({ cost, limits, confidence, share, index, costs, bad }) {
    if (bad) return [[], ""];
    let search = `steelyard threshold ${W.file} --cost-fn ${cost}` + (share === null ? "" : " --prevalence " + share);
    for (const limit of limits) search += ` --where '${limit.where}'`;
    if (confidence) search += " --confidence " + confidence;
    if (limits.length) return [[search + " -o chosen.json", `steelyard gate ${W.file} --promise chosen.json`], ""];
    if (share !== null) return [[search], W.notes.gate];
    const rule = `expected_cost[cost_fn=${cost}]<=${Number(Math.min(costs[0], costs[LAST]).toPrecision(6))}`;
    return [[search, `steelyard gate ${W.file} --threshold ${index === 0 ? "inf" : thresholdAt(index)} --require '${rule}'`], ""];
  }

  // ---------------------------------------------------------------- the charts

  const stepped = (places, value) => places.slice().reverse().flatMap((i) => [...(WHOLE ? [i < LAST ? stepEnd(i + 1) : SCORES.from] : []), stepEnd(i)].map((t) => [t, value(i, t)]));
  const below = (points, top) => above(points.map(([x, y]) => [x, -y]), -top).map((run) => run.map(([x, y]) => [x, -y]));
  const FLAGGING = each((i) => i).slice(1);

  function costChart() {
    const { costs, index, plateau, base } = answer, cost = (i) => costs[i] * base, nobody = cost(0), everybody = cost(LAST);
    const top = 1.05 * Math.min(base * Math.max(...costs), Math.max(1.25 * Math.min(nobody, everybody), 3 * cost(index || 0))) || 1;
    const inside = FLAGGING.filter((i) => cost(i) <= top).map(thresholdAt), low = Math.min(...inside), high = Math.max(...inside), pad = (high - low) * 0.04 || (SCORES.to - SCORES.from) / 20;
    const x = ticked(Math.max(SCORES.from, low - pad), Math.min(SCORES.to, high + pad)), y = ticked(0, top);
    const p = plot("expected-cost", { x, y, xTitle: "Threshold", yTitle: `Expected cost per ${whole(base)} rows, in false alarms`, right: 128 });
    if (index !== null) {
      const [from, to] = [plateau[0] === LAST ? x.from : thresholdAt(plateau[0]), plateau[1] ? thresholdAt(plateau[1]) : x.to];
      area(p, [[from, 0], [from, top], [to, top], [to, 0]], "plateau");
    }
    for (const level of [nobody, everybody]) if (level <= top) line(p, [[x.from, level], [x.to, level]], "chance-line");
    for (const run of below(stepped(FLAGGING, cost).filter(([t]) => t >= x.from && t <= x.to), top)) line(p, run, "curve");
    const label = (words, level) => ({ words: words + digits(level) + (level > top ? " ↑" : ""), kind: "baseline", y: Math.min(level, top) });
    labels(p, [label("nobody ", nobody), label("everybody ", everybody)]);
    const now = rule(p);
    if (index) place(dot(p), p, thresholdAt(index), cost(index));
    return { p, x, now };
  }

  // Over the thresholds at which the model is worth acting on, the prevalence, and what the entered cost implies.
  const INNER = FLAGGING.filter((i) => thresholdAt(i) > 0 && thresholdAt(i) < 1);
  const ofAll = (t) => { const s = D.stops[state.stop]; return s - ((1 - s) * t) / (1 - t); };
  const benefit = (i, t) => NET_BENEFIT(...answer.there[i], t);
  function benefitChart() {
    const s = D.stops[state.stop], implied = 1 / (1 + answer.cost), chosen = answer.index === null ? NaN : benefit(answer.index, implied);
    const worth = INNER.filter((i) => benefit(i, thresholdAt(i)) >= W.worth * s).map(thresholdAt);
    const last = Math.min(1 - 1e-9, 1.02 * Math.max(2 * s, 1.25 * implied, ...worth)), y = ticked(-0.25 * s, 1.05 * s);
    const p = plot("decision-curve", { x: ticked(0, last), y, xTitle: "Threshold probability", yTitle: "Net benefit per row", right: 88 });
    const drawn = (points, kind) => { const runs = above(points.filter(([t]) => t <= last), y.from); for (const run of runs) line(p, run, kind); return runs; };
    drawn([[0, 0], [last, 0]], "chance-line");
    drawn(Array.from({ length: 201 }, (_, k) => (last * k) / 200).map((t) => [t, ofAll(t)]), "chance-line");
    const end = drawn(stepped(INNER, benefit), "curve").flat().slice(-1)[0];
    labels(p, [{ words: "this model", kind: "fill-0", y: end && end[1] }, { words: "treat none", kind: "baseline", y: 0 }, { words: "treat all", kind: "baseline", y: y.from }]);
    place(rule(p, "implied"), p, implied);
    place(dot(p), p, implied, chosen);
    const words = isNumber(chosen) ? " · net benefit " + digits(chosen) + " at the threshold that costs least" : "";
    host("decision-curve-readout").textContent = `${filled(W.ratio[answer.cost === 1 ? 0 : 1], { n: grouped(plain(answer.cost)) })} for a miss: threshold probability ${percent(implied)}${words}`;
  }

  const chart = {
    moved(cells, share, redraw) {
      if (redraw || !answer || answer.stop !== state.stop) {
        answer = answered();
        written();
        if (!answer.bad) { this.drawn = costChart(); listen(this.drawn.p, this); if (host("decision-curve")) benefitChart(); }
      }
      used();
      this.mark(hover === null ? state.index : hover);
    },
    mark(index) {
      if (answer.bad || index === null) return;
      const t = thresholdAt(index), { p, x, now } = this.drawn;
      place(now, p, t >= x.from && t <= x.to ? t : NaN);
      host("expected-cost-readout").textContent = `${thresholdText(index)} · expected cost ${digits(answer.costs[index] * answer.base)} per ${whole(answer.base)} rows`;
    },
    nearest(x) {
      const away = (i) => Math.abs(this.drawn.p.X(thresholdAt(i)) - x);
      return FLAGGING.reduce((best, i) => (away(i) < away(best) ? i : best));
    },
  };

  // ---------------------------------------------------------------- what is written

  // A word beside an entry: what is wrong with it, or what became of it.
  function marked(key, isWrong, words) {
    entry(key).setAttribute("aria-invalid", isWrong);
    entry(key + "-wrong").textContent = words || "";
  }

  function written() {
    const sentence = entry("sentence"), { index, wrong, text, plateau } = answer, unbroken = (words) => words.replace(/ %/g, "\u00a0%");
    for (const key of Object.keys(KEYS)) {
      marked(key, key in wrong, wrong[key]);
    }
    sentence.textContent = unbroken(text);
    for (const key of Object.keys(sentence.dataset)) delete sentence.dataset[key];
    if (index !== null) Object.assign(sentence.dataset, { index, threshold: thresholdAt(index), cost: answer.costs[index], low: thresholdAt(plateau[0]), high: thresholdAt(plateau[1]) });
    entry("notes").replaceChildren(...answer.notes.map((words) => el("p", {}, null, unbroken(words))));
    const [lines, words] = commands(answer);
    entry("commands").textContent = lines.join("\n");
    entry("shell-note").textContent = (words + " " + W.unnamed).trim();
  }

  function used() {
    const { index, bad } = answer, here = index !== null && index === state.index, input = entry("prevalence");
    entry("use").disabled = here || index === null;
    entry("use").textContent = here ? "The page is at this threshold" : "Use this threshold";
    entry("copy").disabled = index === null;
    entry("copy-commands").disabled = bad;
    if (document.activeElement !== input) input.value = Number((100 * D.stops[state.stop]).toPrecision(3));
  }

  // ---------------------------------------------------------------- entries and the address

  function changed() {
    answer = null;
    chart.moved();
    remembered();
  }

  // The slider and this entry are one prevalence, so that it is moved to the nearest step.
  function prevalenceEntered() {
    const v = entered("prevalence"), is = v > 0 && v < 100, away = (i) => Math.abs(logit(D.stops[i]) - logit(v / 100));
    const stop = is ? D.stops.reduce((best, _, i) => (away(i) < away(best) ? i : best), 0) : state.stop, off = is && Math.abs((100 * D.stops[stop]) / v - 1) > 0.005;
    marked("prevalence", !is, is ? off && note("step", { share: percent(D.stops[stop]) }) : W.wrong.prevalence);
    move({ stop });
  }

  kept.push({
    write(parts) {
      for (const [key, name] of Object.entries(KEYS)) if (entry(key).value !== FIRST[key]) parts.set(name, entry(key).value);
      if (menu && menu.value !== FIRST_MENU) parts.set("confidence", menu.value);
    },
    read(parts) {
      for (const [key, name] of Object.entries(KEYS)) entry(key).value = parts.has(name) ? parts.get(name) : FIRST[key];
      const given = parts.has("confidence") ? parts.get("confidence") : FIRST_MENU;
      if (menu && [...menu.options].some((option) => option.value === given)) menu.value = given;
      answer = null;
    },
  });

  tables.set("expected-cost", () => [["threshold", "expected cost per row", "predicted positive rate"], ...each((i) => [thresholdAt(i), answer.costs[i], flagged(answer.there[i])])]);
  tables.set("decision-curve", () => [["threshold probability", "net benefit", "treat all"], ...INNER.map((i) => [thresholdAt(i), benefit(i, thresholdAt(i)), ofAll(thresholdAt(i))])]);
  charts.push(chart);
  begins.push(() => {
    const listenTo = (key, event, act) => entry(key).addEventListener(event, act);
    for (const key of Object.keys(KEYS)) listenTo(key, "input", changed);
    if (menu) listenTo("confidence", "change", changed);
    listenTo("prevalence", "input", prevalenceEntered);
    listenTo("prevalence", "blur", used);
    listenTo("use", "click", () => move({ index: answer.index }));
    listenTo("copy", "click", () => { remembered(); copied(answer.text + " " + location.href); });
    listenTo("copy-commands", "click", () => copied(entry("commands").textContent));
  });
})();
