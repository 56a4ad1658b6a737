// Notebook view: a threshold slider for every output that holds this evaluation; what it moves was written by Python.

function begin(root) {
  const part = (name) => root.querySelector(`.sy-${name}`);
  const written = new Map(D.rows.map((row) => [row, root.querySelector(`tr[data-metric="${CSS.escape(row.name)}"]`)]));
  const cells = [...root.querySelectorAll(".sy-matrix td")];
  const first = [...root.querySelectorAll(".sy-metrics td, .sy-matrix td")].map((cell) => [cell, cell.innerHTML]);
  const label = make("label", "threshold "), slider = make("input"), shown = make("output"), reset = make("button", "as evaluated"), now = make("span");
  Object.assign(slider, { type: "range", min: 0, max: D.thresholds.tp.length - 1, step: 1 });
  reset.type = "button";
  label.append(slider);
  now.setAttribute("role", "status");
  part("slider").append(label, shown, reset, now);
  let resting = 0;

  // The slider rises with the threshold; the columns begin with the highest.
  const at = () => D.thresholds.tp.length - 1 - Number(slider.value);

  function move() {
    const i = at(), { threshold, tp, fp } = D.thresholds, last = tp.length - 1;
    const counts = [tp[i], tp[last] - tp[i], fp[i], fp[last] - fp[i]];
    const table = D.share === null ? counts : atPrevalence(counts, D.share);
    const text = threshold[i] === null ? "nobody" : digits(threshold[i]);
    shown.textContent = text;
    slider.setAttribute("aria-valuetext", text);
    part("verdict").classList.add("sy-moved");
    now.textContent = `${counted(counts[0] + counts[2])} flagged: ${counted(counts[0])} true and ${counted(counts[2])} false positives; ${counted(counts[1])} missed.`;
    const [one, other] = [[counts[0], counts[1]], [counts[2], counts[3]]];
    const order = D.positive === 0 ? [...one, ...other] : [other[1], other[0], one[1], one[0]];
    if (cells.length === 4) cells.forEach((cell, k) => { cell.textContent = counted(order[k]); });
    for (const [row, tr] of written) if (FORMULAS[row.name]) fill(row, tr, table);
    clearTimeout(resting);
    resting = setTimeout(() => settle(counts, table), 60);
  }

  function settle(counts, table) {
    const set = drawn(D.view, counts, D.share);
    for (const [row, tr] of written) {
      const value = FORMULAS[row.name] ? valueOf(row.name, table) : NaN;
      if (!isNumber(value)) continue;
      const [low, high] = intervalOf(row, value, set);
      tr.cells[3].textContent = between(row, low, high);
      tr.querySelector(".sy-span").setAttribute("d", `M${place(row, low)} 6H${place(row, high)}`);
    }
  }

  function back() {
    clearTimeout(resting);
    for (const [cell, html] of first) cell.innerHTML = html;
    slider.value = D.thresholds.tp.length - 1 - D.index;
    const threshold = D.thresholds.threshold[D.index];
    shown.textContent = threshold === null ? "nobody" : digits(threshold);
    part("verdict").classList.remove("sy-moved");
    now.textContent = "";
  }

  slider.addEventListener("input", move);
  reset.addEventListener("click", back);
  back();
}

function make(name, text) {
  const element = document.createElement(name);
  if (text) element.textContent = text;
  return element;
}

const place = (row, v) => (4 + (D.wide - 8) * Math.min(1, Math.max(0, placed(row, v)))).toFixed(2);

// Value and baseline at once; the interval follows when the slider rests.
function fill(row, tr, table) {
  const value = valueOf(row.name, table), chance = chanceOf(row, table), circle = tr.querySelector("circle");
  tr.cells[1].textContent = valueText(row, value);
  tr.cells[3].textContent = isNumber(value) ? "…" : reasonOf(row.name, table);
  tr.cells[4].textContent = valueText(row, chance);
  tr.querySelector(".sy-span").removeAttribute("d");
  if (circle) circle.setAttribute("cx", isNumber(value) ? place(row, value) : -99);
  if (isNumber(chance)) tr.querySelector(".sy-chance").setAttribute("d", `M${place(row, chance)} 1V11`);
}

// Every output that is not live yet: the same evaluation may be shown twice.
const here = document.currentScript ? document.currentScript.getRootNode() : document;
for (const root of here.querySelectorAll(`.sy-${KEY}:not(.sy-live)`)) {
  root.classList.add("sy-live");
  begin(root);
}
