// The page: moving, remembering, taking the numbers away, and the beginning.

// ---------------------------------------------------------------- moving

function move(change) {
  Object.assign(state, change);
  update(false);
}

function bestThreshold(name) {
  const row = BY_NAME.get(name);
  if (D.stops[state.stop] === view.share) return row.best;
  const share = shareAt(state.stop);
  let best = row.best, most = -Infinity;
  for (let i = 0; i < THRESHOLDS; i++) {
    const v = row.sign * valueAt(row, atPrevalence(countsAt(i), share), state.stop);
    if (v > most + 1e-12) { most = v; best = i; }
  }
  return best;
}

function remembered() {
  const parts = new URLSearchParams();
  if (THRESHOLDS && state.index !== START.index && state.index !== null) parts.set("threshold", String(thresholdAt(state.index)));
  if (state.stop !== ownStop()) parts.set("prevalence", String(D.stops[state.stop]));
  if (host("optimise") && !host("optimise").selectedOptions[0].defaultSelected) parts.set("optimise", host("optimise").value);
  if (host("sort").value !== "first") parts.set("sort", host("sort").value);
  if (view !== D.view) parts.set("class", view.label);
  const wanted = String(parts) && `#${parts}`;
  if (location.hash === wanted) return;
  try { history.replaceState(null, "", wanted || "#"); } catch { /* a frame of a notebook has no address */ }
}

function recalled() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const given = (key) => ((parts.get(key) || "").trim() === "" ? NaN : Number(parts.get(key)));
  const nearest = (list, v) => list.reduce((best, item, i) => (Math.abs(item - v) < Math.abs(list[best] - v) ? i : best), 0);
  const t = given("threshold"), share = given("prevalence");
  if (THRESHOLDS && (Number.isFinite(t) || t === Infinity)) {
    state.index = t === Infinity ? D.thresholds.threshold.indexOf(null) : nearest(D.thresholds.threshold.map((v) => (v === null ? 1e300 : v)), t);
    if (state.index < 0) state.index = 0;
  }
  if (share > 0 && share < 1) state.stop = nearest(D.stops, share);
  for (const key of ["optimise", "sort"]) {
    const select = host(key);
    if (select && [...select.options].some((option) => option.value === parts.get(key))) select.value = parts.get(key);
  }
  const shown = D.views.findIndex((v) => v.label === parts.get("class"));
  if (shown >= 0) { host("class").selectedIndex = shown; turned(D.views[shown], share > 0 && share < 1); }
}

// Another address of the same page, by hand or from a bookmark: what it does not name is as evaluated.
function readdressed() {
  Object.assign(state, START);
  turned(D.view, true);
  if (host("class")) host("class").value = D.view.label;
  for (const key of ["optimise", "sort"]) if (host(key)) for (const option of host(key).options) option.selected = option.defaultSelected;
  recalled();
  sorted(host("sort").value);
  folded(host("sort").value === "first");
  update(false);
}

const ownStop = () => (view === D.view ? START.stop : Math.max(0, D.stops.indexOf(view.share)));

// Another class against the rest: its own table at its own share.
function turned(chosen, keepStop) {
  view = chosen.label === D.view.label ? D.view : chosen;
  if (!keepStop) state.stop = ownStop();
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
    metrics, verdict: start ? D.verdict : movedVerdict(), assumed: D.assumed, ...D.written.fixed,
    ...(start ? { ...D.written.as_evaluated, groups: groupRows() } : movedTables(share)), scores: null,
  };
}

// The table of the sample, as in every saved evaluation, whatever the prevalence; that of weights is known as evaluated
// only, as are the intervals of classes, the groups and the test.
function movedTables(share) {
  const [tp, fn, fp, tn] = cellsAt(state.index), two = D.labels.length === 2 && !D.weighted;
  const positive = view.typed, first = JSON.stringify(D.labels[0]) === JSON.stringify(positive), table = { labels: D.labels, positive, rows: first ? [[tp, fn], [fp, tn]] : [[tn, fp], [fn, tp]] };
  return { prevalence: share, counts: { tp, fn, fp, tn }, per_class: [], beats: null, behind: [], groups: [], table: two ? table : null };
}

function movedVerdict() {
  const texts = { outcomes: LIVE ? LIVE.textContent : "", rates: state.now };
  return Object.values(D.moved).map((sentence) => ({ ...sentence, text: texts[sentence.code].replace(/\u00a0%/g, " %") })).filter((sentence) => sentence.text);
}

function groupRows() {
  const { by, names, methods, parts } = D.groups;
  return parts.map(([key, rows, found]) => ({
    group: Object.fromEntries(by.map((name, i) => [name, key[i]])), rows,
    metrics: found.map(([value, low, high, chance, method, why], i) => ({ name: names[i], value, low, high, chance, undefined_share: null, undefined: why || null, method: methods[method] })),
    table: null,
  }));
}

function markdown() {
  const data = numbers(), row = (m) => BY_NAME.get(m.name), cell = (words) => String(words).replace(/\|/g, "\\|");
  const lines = [...data.verdict.map((sentence) => sentence.text), "", `| metric | value | ${100 * D.level} % interval | chance |`, "|---|---|---|---|"];
  for (const m of data.metrics) lines.push(`| ${[m.name, valueText(row(m), m.value), m.undefined || between(row(m), m.low, m.high), valueText(row(m), m.chance)].map(cell).join(" | ")} |`);
  return lines.join("\n").replace(/\u00a0%/g, " %");
}

function copied(words) {
  const done = (message) => { host("copied").textContent = message; setTimeout(() => { host("copied").textContent = ""; }, 1500); };
  const aside = () => {
    const area = el("textarea", { class: "aside", "aria-hidden": "true" }, document.body);
    area.value = words;
    area.select();
    const held = document.execCommand("copy");
    area.remove();
    done(held ? "copied" : "not copied: the browser refused");
  };
  // A frame of a notebook may not use the clipboard itself, and asking is logged as an error.
  if (navigator.clipboard && window === window.top) navigator.clipboard.writeText(words).then(() => done("copied"), aside);
  else aside();
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
    });
  }
}

function begin() {
  readRows(host("metrics"), BY_NAME, rows);
  if (D.all) readRows(host("all"), new Map(D.all.map((row) => [row.name, row])), null);
  choices();
  recalled();
  const listen = (id, event, act) => { const found = host(id); if (found) found.addEventListener(event, act); };
  listen("threshold", "input", (event) => move({ index: THRESHOLDS - 1 - Number(event.target.value) }));
  listen("prevalence", "input", (event) => move({ stop: Number(event.target.value) }));
  listen("jump", "click", () => move({ index: bestThreshold(host("optimise").value) }));
  listen("optimise", "change", remembered);
  listen("reset", "click", () => { turned(D.view, true); if (host("class")) host("class").value = D.view.label; move({ ...START }); remembered(); });
  listen("sort", "change", () => { sorted(host("sort").value); if (host("sort").value === "first") folded(true); remembered(); });
  listen("class", "change", (event) => { turned(D.views[event.target.selectedIndex], false); move({}); });
  listen("more", "click", () => folded(!host("metrics").classList.contains("few")));
  listen("print", "click", () => window.print());
  listen("copy-json", "click", () => copied(JSON.stringify(numbers(), null, 1)));
  listen("copy-markdown", "click", () => copied(markdown()));
  folded(true);
  if (host("sort").value !== "first") sorted(host("sort").value);
  let width = window.innerWidth;
  window.addEventListener("resize", () => { if (window.innerWidth !== width) { width = window.innerWidth; update(true); } });
  const printing = (on) => { document.documentElement.classList.toggle("printing", on); update(true); };
  window.addEventListener("beforeprint", () => printing(true));
  window.addEventListener("afterprint", () => printing(false));
  window.addEventListener("hashchange", readdressed);
  update(true);
  window.steelyard = { headline: D.headline && headline, numbers, markdown, state, move, digits, percent, counted };
}

begin();
