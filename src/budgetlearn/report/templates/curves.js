// Cost–accuracy curves: draws each data set's chart when it comes near the window, in place of its
// still picture, and again whenever a switch or the legend changes.
const study = JSON.parse(document.getElementById("study").textContent);
const controls = document.getElementById("curve-controls");
const BEST = 1; // no score exceeds it
const hidden = new Set();
const drawn = new Set(); // figures that have come near the window

const methods = new Map(study.methods.map((method) => [method.id, method]));

// The channel that shows a method by one of its marks of recognition.
function byMethod(mark) {
  const scale = { domain: [...methods.keys()], range: study.methods.map((method) => method[mark]) };
  return { field: "method", legend: null, scale };
}
const [colour, shape, dash] = ["colour", "shape", "dash"].map(byMethod);


function chosen(name) {
  return controls.elements[name].value;
}

// One row per budget of a curve, with the texts of its tooltip.
function curveRows(curve, unit) {
  const { budget, mean, sd, n_affording, n_runs } = curve[unit];
  const gap = Math.max(1, Math.floor(budget.length / 8));
  return budget.map((x, i) => ({
    method: curve.method, kind: curve.kind, label: methods.get(curve.method).label,
    x, mean: mean[i], low: mean[i] - sd[i], high: Math.min(mean[i] + sd[i], BEST), marked: i % gap === 0,
    spread: sd[i] === null ? "one run" : `± ${sd[i].toFixed(3)}`,
    runs: n_affording[i] < n_runs[i] ? `${n_runs[i]}, ${n_affording[i]} afford a model` : `${n_runs[i]}`,
  }));
}

function pointRows(points, unit) {
  return points.method.map((method, i) => ({ method, x: points[unit][i], mean: points.score[i] }));
}

function layersOf(x, score, share) {
  const y = { field: "mean", type: "quantitative", title: `test ${score}`, scale: { zero: false, domainMax: BEST } };
  const position = { x, y, color: colour };
  const spread = { x, y: { ...y, field: "low" }, y2: { field: "high" }, color: colour };
  const tooltip = [
    { field: "label", title: "Method" },
    { field: "x", title: "Cost", type: "quantitative", format: share ? ".1%" : ",.4~g" },
    { field: "mean", title: `Mean test ${score}`, type: "quantitative", format: ".3f" },
    { field: "spread", title: "sd over runs" },
    { field: "runs", title: "Runs" },
  ];
  const only = (test) => [{ filter: test }];
  const nearest = { type: "point", on: "pointerover", clear: "pointerout", nearest: true };
  return [
    { data: { name: "runs" }, mark: { type: "point", size: 22, opacity: 0.35 },
      encoding: { ...position, shape } },
    { transform: only("datum.kind == 'curve' && datum.low != datum.high"),
      mark: { type: "area", interpolate: "step-after", opacity: 0.14 }, encoding: spread },
    { transform: only("datum.kind == 'level'"), mark: { type: "rule", strokeDash: [5, 4], strokeWidth: 1.5 },
      encoding: { y, color: colour } },
    { transform: only("datum.kind == 'curve'"), mark: { type: "line", interpolate: "step-after", strokeWidth: 2 },
      encoding: { ...position, strokeDash: dash } },
    { transform: only("datum.kind == 'point'"), mark: { type: "rule", strokeWidth: 1.5 }, encoding: spread },
    { transform: only("datum.marked && datum.kind != 'level'"), mark: { type: "point", size: 60, opacity: 1 },
      encoding: { ...position, shape } },
    { transform: only("datum.kind != 'level'"), params: [{ name: "near", select: nearest }],
      mark: { type: "point", size: 90, fillOpacity: 0 }, encoding: {
        ...position, tooltip, opacity: { condition: { param: "near", empty: false, value: 1 }, value: 0 },
      } },
  ];
}

// 1, 2 and 5 times each power of ten within the range of the rows.
function decades(rows) {
  const costs = rows.map(({ x }) => x).filter((x) => x > 0);
  const [least, most] = [Math.min(...costs), Math.max(...costs)];
  const powers = Array.from({ length: 14 }, (_, turn) => 10 ** (turn - 5));
  return powers.flatMap((ten) => [ten, 2 * ten, 5 * ten]).filter((tick) => tick >= least && tick <= most);
}

function specification(name) {
  const { curves, title, score } = study.cases[name];
  const unit = chosen("unit");
  const log = chosen("axis") === "log";
  const visible = ({ method, x, kind }) => !hidden.has(method) && (!log || x > 0 || kind === "level");
  const rows = curves.curves.flatMap((curve) => curveRows(curve, unit)).filter(visible);
  const share = unit === "share";
  const x = {
    field: "x", type: "quantitative", scale: { type: log ? "log" : "linear", nice: !share },
    title: share ? "acquisition cost (share of all features)" : "acquisition cost",
    axis: { format: share ? "~%" : "~g", tickCount: 6, ...(log && { values: decades(rows) }) },
  };
  return {
    description: `Cost–accuracy curves on ${title}`,
    width: "container", height: 330, autosize: { type: "fit", contains: "padding" },
    data: { name: "curves", values: rows },
    datasets: { runs: pointRows(curves.points, unit).filter(visible) },
    layer: layersOf(x, score, share),
    config: {
      aria: false, background: null, font: getComputedStyle(document.body).fontFamily, view: { stroke: null }, point: { filled: true },
      axis: { labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", gridColor: "#e3e6ea" },
    },
  };
}

async function draw(figure) {
  const chart = figure.querySelector(".chart");
  const specified = specification(figure.dataset.curves);
  await vegaEmbed(chart, specified, { mode: "vega-lite", renderer: "svg", actions: false });
  chart.setAttribute("role", "img");
  chart.setAttribute("aria-label", specified.description);
  figure.classList.add("drawn");
}

function drawAll() {
  return Promise.all([...drawn].map(draw));
}

function addLegend() {
  const legend = document.getElementById("curve-legend");
  const present = new Set(Object.values(study.cases).flatMap(({ curves }) => curves.curves.map((c) => c.method)));
  for (const method of study.methods.filter(({ id }) => present.has(id))) {
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.method = method.id;
    button.setAttribute("aria-pressed", "true");
    button.innerHTML = '<svg viewBox="-1.4 -1.4 2.8 2.8" aria-hidden="true"><path stroke-width="0.3"/></svg>';
    const mark = button.querySelector("path");
    mark.setAttribute("d", method.shape);
    mark.setAttribute("fill", method.colour);
    mark.setAttribute("stroke", method.colour);
    button.append(method.label);
    button.addEventListener("click", () => {
      const show = hidden.delete(method.id);
      if (!show) hidden.add(method.id);
      button.setAttribute("aria-pressed", String(show));
      drawAll();
    });
    legend.append(button);
  }
}

addLegend();
controls.addEventListener("change", drawAll);
const watcher = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue;
    watcher.unobserve(target);
    drawn.add(target);
    draw(target);
  }
}, { rootMargin: "400px" });
for (const figure of document.querySelectorAll("[data-curves]")) {
  const { runs_shown: shown, n_runs: all } = study.cases[figure.dataset.curves].curves;
  const some = shown < all ? ` (points: the first ${shown} of ${all} runs)` : ` (${all} runs)`;
  figure.querySelector(".runs").textContent = some;
  watcher.observe(figure);
}
document.documentElement.classList.add("scripted");
