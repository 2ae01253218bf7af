// Cost–accuracy curves: a chart replaces each data set's still picture when it comes near the window,
// and is drawn again whenever a switch or the legend changes.
const study = JSON.parse(document.getElementById("study").textContent);
const controls = document.getElementById("curve-controls");
const CHEAP = 0.1; // if most models cost less than this share, the axis is logarithmic
const SPLIT = 0.2; // otherwise this share of the cost gets half of the axis, as most curves rise there
const hidden = new Set();
const asked = new Map(); // method → whether the reader wants it; null: follow the comparison
const drawn = new Map(); // figure that has been near the window → its latest drawing

const methods = new Map(study.methods.map((method) => [method.id, method]));
const legend = new Map([...controls.querySelectorAll("[data-method]")].map((button) => [button.dataset.method, button]));

// The Vega-Lite channel that distinguishes methods by colour, shape or dash.
function byMethod(mark) {
  const scale = { domain: [...methods.keys()], range: study.methods.map((method) => method[mark]) };
  return { field: "method", legend: null, scale };
}
const [colour, shape, dash] = ["colour", "shape", "dash"].map(byMethod);

// One row for each budget of a curve, with the texts of its tooltip.
function curveRows(curve, unit, floor, [worst, best]) {
  const { budget, mean, sd, n_affording, n_runs } = curve[unit] ?? curve.share;
  const gap = Math.max(1, Math.floor(budget.length / 8));
  return budget.map((x, i) => ({
    method: curve.method, kind: curve.kind, label: methods.get(curve.method).label,
    cost: x, x: Math.max(x, floor), mean: mean[i], low: Math.max(mean[i] - sd[i], worst), high: Math.min(mean[i] + sd[i], best), marked: i % gap === 0,
    spread: sd[i] === null ? "one run" : `± ${sd[i].toFixed(3)}`,
    runs: n_affording[i] < n_runs[i] ? `${n_runs[i]}, ${n_affording[i]} afford a model` : `${n_runs[i]}`,
  }));
}

function pointRows(points, unit, floor) {
  return points.method.map((method, i) => ({ method, x: Math.max(points[unit][i], floor), mean: points.score[i] }));
}

// A layer with its own data; none if there are no rows.
function layer(values, mark, encoding, params = []) {
  return values.length ? [{ data: { values }, mark, encoding, params }] : [];
}

function layersOf(rows, points, x, score, best, share) {
  const of = (kind) => rows.filter((row) => row.kind === kind);
  const curves = of("curve");
  const marked = rows.filter((row) => row.marked && row.kind !== "level");
  const crowd = new Set(curves.map(({ method }) => method)).size;
  const top = Math.max(...rows.map(({ high }) => high), ...points.map(({ mean }) => mean));
  const scale = { zero: false, ...(top > best - 0.1 && { domainMax: best }) };
  const y = { field: "mean", type: "quantitative", title: `test ${score}`, scale };
  const position = { x, y, color: colour };
  const spread = { x, y: { ...y, field: "low" }, y2: { field: "high" }, color: colour };
  // Under `nearest` Vega-Lite 6.4 looks texts up in the wrong place, but not what it has to format.
  const text = { type: "nominal", format: "", formatType: "toString" };
  const tooltip = [
    { field: "label", title: "Method", ...text },
    { field: "cost", title: "Cost", type: "quantitative", format: share ? ".1%" : ",.4~g" },
    { field: "mean", title: `Mean test ${score}`, type: "quantitative", format: ".3f" },
    { field: "spread", title: "sd over runs", ...text },
    { field: "runs", title: "Runs", ...text },
  ];
  const opacity = { condition: { param: "near", empty: false, value: 1 }, value: 0 };
  const near = { name: "near", select: { type: "point", on: "pointerover", clear: "pointerout", nearest: true } };
  const steps = { interpolate: "step-after" };
  return [
    layer(points, { type: "point", size: 22, opacity: 0.35 }, { ...position, shape }),
    layer(curves.filter(({ low, high }) => low !== high),
      { type: "area", ...steps, opacity: Math.min(0.14, 0.7 / crowd) }, spread),
    layer(of("level"), { type: "rule", strokeDash: [5, 4], strokeWidth: 1.5 }, { y, color: colour }),
    layer(curves, { type: "line", ...steps, strokeWidth: 2 }, { ...position, strokeDash: dash }),
    layer(of("point"), { type: "rule", strokeWidth: 1.5 }, spread),
    layer(marked, { type: "point", size: 60, opacity: 1 }, { ...position, shape }),
    layer([...curves, ...of("point")], { type: "point", size: 90, fillOpacity: 0 },
      { ...position, tooltip, opacity }, [near]),
  ].flat();
}

// Ticks at 1, 2 and 5 times the powers of ten within the range of the costs above 0. Free models have no
// place on a logarithmic axis, so they are drawn at an extra tick below all others, labelled "≤".
function logAxis(curves, unit) {
  const costs = curves.filter(({ kind }) => kind !== "level").flatMap((curve) => curve[unit].budget);
  const paid = costs.filter((cost) => cost > 0);
  const [least, most] = paid.length ? [Math.min(...paid), Math.max(...paid)] : [1, 1];
  const powers = Array.from({ length: 14 }, (_, turn) => Number(`1e${turn - 5}`));
  const steps = powers.flatMap((ten) => [ten, 2 * ten, 5 * ten]);
  const values = steps.filter((step) => step >= least && step <= most);
  if (paid.length === costs.length) return { floor: 0, axis: { values } };
  const floor = steps.findLast((step) => step < least) ?? least / 2;
  return { floor, axis: { values: [floor, ...values], labelExpr: `(datum.value <= ${floor} ? "≤ " : "") + datum.label` } };
}

// The kind of axis: the reader's choice, or else the one that suits the models' costs.
function kindOfAxis({ points }) {
  const axis = controls.elements.axis.value;
  if (axis !== "auto") return axis;
  if (window.comparison.horizon === "log") return "log";
  const paid = points.share.filter((share) => share > 0);
  return paid.filter((share) => share < CHEAP).length > paid.length / 2 ? "log" : "split";
}

// A linear scale that changes at a fifth of the largest cost, with ticks on both sides of it.
function splitAxis(curves, unit) {
  const most = unit === "cost" ? Math.max(...curves.flatMap((curve) => curve.cost.budget)) : 1;
  const values = [0, 0.05, 0.1, 0.15, 0.2, 0.4, 0.6, 0.8, 1].map((share) => Number((share * most).toPrecision(3)));
  const scale = { type: "linear", domain: [0, SPLIT * most, most], range: [0, { expr: "width / 2" }, { expr: "width" }] };
  return { axis: { values }, scale };
}

function specification(name) {
  const { curves, title, score, bounded, best } = study.cases[name];
  const { horizon, hard } = window.comparison;
  const unit = hard ? "hard" : controls.elements.unit.value;
  const share = unit !== "cost";
  const most = share && horizon !== "log" ? Number.parseFloat(horizon) / 100 : Infinity;
  const kind = kindOfAxis(curves);
  const [log, split] = [kind === "log", kind === "split" && most >= 1];
  const visible = (row) => !hidden.has(row.method) && (row.x === undefined || row.x <= most);
  const axisOf = log ? logAxis : split ? splitAxis : () => ({});
  const { floor = 0, axis, scale } = axisOf(curves.curves, share ? "share" : "cost");
  const rows = curves.curves.flatMap((curve) => curveRows(curve, unit, floor, [bounded ? 0 : -Infinity, best])).filter(visible);
  const points = hard ? [] : pointRows(curves.points, unit, floor).filter(visible);
  const ends = most < 1 ? { domainMax: most } : {};
  const x = {
    field: "x", type: "quantitative", scale: { type: log ? "log" : "linear", nice: !share, ...ends, ...scale },
    title: `acquisition cost${hard ? " of the most expensive example" : ""}${share ? " (share of all features)" : ""}`,
    axis: { format: share ? "~%" : "~g", tickCount: 6, ...axis },
  };
  return {
    description: `Cost–accuracy curves on ${title}`,
    width: "container", height: 330, autosize: { type: "fit", contains: "padding" },
    layer: layersOf(rows, points, x, score, best, share),
    config: {
      aria: false, background: null, customFormatTypes: true, view: { stroke: null }, point: { filled: true },
      font: getComputedStyle(document.body).fontFamily,
      axis: { labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", gridColor: "#e3e6ea" },
    },
  };
}

// Fades all lines except the one under the pointer. (A selection by fields does not work with `nearest`
// in Vega-Lite 6.4.)
function setBack(chart, item) {
  let row = item;
  while (row && !methods.has(row.method)) row = row.datum;
  const own = row?.kind === "curve" && methods.get(row.method);
  for (const path of chart.querySelectorAll(".mark-line path")) {
    const same = own && path.getAttribute("stroke") === own.colour
      && path.getAttribute("stroke-dasharray") === own.dash.join(",");
    path.style.opacity = !own || same ? "" : "0.2";
  }
}

async function embed(figure) {
  const chart = figure.querySelector(".chart");
  const specified = specification(figure.dataset.curves);
  if (!specified.layer.length) {
    specified.layer = [{ data: { values: [{}] }, mark: { type: "text", text: "No method is shown." } }];
  }
  chart.setAttribute("aria-busy", "true");
  const { view } = await vegaEmbed(chart, specified, { mode: "vega-lite", renderer: "svg", actions: false });
  view.addEventListener("pointerover", (_, item) => setBack(chart, item));
  chart.setAttribute("role", "img");
  chart.setAttribute("aria-label", specified.description);
  chart.setAttribute("aria-busy", "false");
  figure.classList.add("drawn");
}

// Drawings of a figure are made one after another, so that the last one shows the last choice.
function draw(figure) {
  drawn.set(figure, (drawn.get(figure) ?? Promise.resolve()).then(() => embed(figure)));
}

function drawAll() {
  [...drawn.keys()].forEach(draw);
}

// Shows the controls, the five best methods of the comparison, and the methods chosen by the reader.
function update() {
  const { order, cases } = window.comparison;
  const best = order.filter((id) => legend.has(id)).slice(0, 5);
  const rivals = new Set(Object.values(study.cases).flatMap(({ compare }) => Object.keys(compare.mean)));
  hidden.clear();
  for (const { id } of study.methods) {
    if (!(asked.get(id) ?? (!rivals.has(id) || best.includes(id)))) hidden.add(id);
  }
  for (const figure of document.querySelectorAll("[data-curves]")) {
    figure.hidden = !cases.includes(figure.dataset.curves);
  }
  for (const [id, button] of legend) button.setAttribute("aria-pressed", String(!hidden.has(id)));
  drawAll();
}

for (const [id, button] of legend) {
  button.addEventListener("click", () => {
    asked.set(id, hidden.has(id));
    update();
  });
}
for (const [name, wanted] of [["all", true], ["none", false], ["best", null]]) {
  controls.elements[name].addEventListener("click", () => {
    for (const id of legend.keys()) asked.set(id, wanted);
    update();
  });
}
update();
controls.addEventListener("change", drawAll);
document.addEventListener("comparison", update);
const watcher = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue;
    watcher.unobserve(target);
    draw(target);
  }
}, { rootMargin: "400px" });
for (const figure of document.querySelectorAll("[data-curves]")) {
  const { runs_shown: shown, n_runs: all, absent } = study.cases[figure.dataset.curves].curves;
  const some = shown < all ? ` (points: the first ${shown} of ${all} runs)` : ` (${all} ${all === 1 ? "run" : "runs"})`;
  figure.querySelector(".runs").textContent = some;
  figure.querySelector(".absent").textContent = absent.length ? ` No line: ${absent.join("; ")}.` : "";
  watcher.observe(figure);
}
