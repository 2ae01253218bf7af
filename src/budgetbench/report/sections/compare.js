// Compare: ranks and areas of the chosen data sets, methods and budgets; the curves follow the choice.
const study = JSON.parse(document.getElementById("study").textContent);
const form = document.getElementById("filter");
const table = document.getElementById("compare-table");
const compared = document.getElementById("compared");
const cases = Object.keys(study.cases);
const horizons = [...form.elements.horizon].map(({ value }) => value);
const PREFIX = "#compare?";
// Names of the choices in the page's address, which omits defaults.
const FIELDS = { spend: "horizon", charge: "charge", data: "filter-cases", methods: "filter-methods" };

const make = (tag, facts = {}) => Object.assign(document.createElement(tag), facts);

const all = (name) => [...form.querySelectorAll(`[name=${name}]`)];
const picked = (name) => all(name).filter(({ checked }) => checked).map(({ value }) => value);
const short = (value) => value.replace(" %", "");

function toFragment() {
  const parts = new URLSearchParams();
  for (const [key, name] of Object.entries(FIELDS)) {
    const changed = all(name).some(({ checked, defaultChecked }) => checked !== defaultChecked);
    if (changed) parts.set(key, picked(name).map(short).join(" "));
  }
  const text = parts.toString();
  const here = location.pathname + location.search;
  if (text || location.hash.startsWith(PREFIX)) history.replaceState(null, "", text ? PREFIX + text : here);
}

function fromFragment() {
  if (!location.hash.startsWith(PREFIX)) return;
  form.reset();
  for (const [key, text] of new URLSearchParams(location.hash.slice(PREFIX.length))) {
    const wanted = text.split(" ");
    for (const input of all(FIELDS[key])) {
      const chosen = wanted.includes(short(input.value));
      // A radio button is unset only by setting another, so an unknown word changes nothing.
      if (chosen || input.type === "checkbox") input.checked = chosen;
    }
  }
}

// Ranks of numbers (areas are rounded already), the largest first; ties share their mean rank.
function ranksOf(values) {
  return values.map((own) => {
    const ahead = values.filter((other) => other > own).length;
    const equal = values.filter((other) => other === own).length;
    return ahead + (equal + 1) / 2;
  });
}

const dataSets = (names) => [...new Set(names.map((name) => study.cases[name].dataset))];
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

// As `ranking_of`: ranks only the data sets with the most methods, and only methods that all of these have. If fewer
// than two methods are left, as with data sets of two tasks, it ranks those data sets that most often share methods.
// All mean areas are over the same data sets, so that they can be compared.
function standings(chosen, methods, charge, place) {
  const area = (name, id) => study.cases[name].compare[charge][id]?.[place] ?? null;
  const shared = (names) => methods.filter(({ id }) => names.every((name) => area(name, id) !== null));
  const most = Math.max(...chosen.map((name) => shared([name]).length));
  const full = chosen.filter((name) => shared([name]).length === most);
  const alike = full.map((name) => full.filter((other) => shared([name, other]).length === most));
  const ranked = shared(full).length < Math.min(most, 2) ? alike.sort((a, b) => b.length - a.length)[0] : full;
  const complete = shared(ranked);
  // A data set is one observation, with all kinds of its costs.
  const ranks = dataSets(ranked).map((set) => {
    const own = ranked.filter((name) => study.cases[name].dataset === set);
    const each = own.map((name) => ranksOf(complete.map(({ id }) => area(name, id))));
    return complete.map((_, turn) => mean(each.map((values) => values[turn])));
  });
  const rows = methods.map((method) => {
    const turn = complete.indexOf(method);
    const over = turn < 0 || !ranks.length ? () => null : mean;
    return {
      method, areas: chosen.map((name) => area(name, method.id)),
      rank: over(ranks.map((own) => own[turn])), mean: over(ranked.map((name) => area(name, method.id))),
    };
  });
  rows.sort((a, b) => (a.rank ?? Infinity) - (b.rank ?? Infinity));
  return { rows, ranked };
}

function numberCell(value, digits, best = false) {
  const text = value === null ? "–" : value.toFixed(digits);
  return make("td", { textContent: best ? `${text} ★` : text, className: best ? "number best" : "number" });
}

function fillTable(rows, chosen) {
  const heads = ["Method", "Mean rank", "Mean AUP", ...chosen.map((name) => study.cases[name].title)];
  const top = make("tr");
  top.append(...heads.map((textContent, turn) => make("th", { textContent, scope: "col", className: turn ? "number" : "" })));
  table.tHead.replaceChildren(top);
  const most = chosen.map((_, turn) => {
    const known = rows.map(({ areas }) => areas[turn]).filter((area) => area !== null);
    return known.length > 1 ? Math.max(...known) : null; // a method alone is not the best
  });
  table.tBodies[0].replaceChildren(...rows.map(({ method, rank, areas, mean: average }) => {
    const row = make("tr");
    row.append(make("th", { textContent: method.label, scope: "row" }), numberCell(rank, 2), numberCell(average, 3),
      ...areas.map((value, turn) => numberCell(value, 3, value !== null && value === most[turn])));
    row.dataset.method = method.id;
    return row;
  }));
  document.dispatchEvent(new Event("table"));
}

function words(rows, ranked, chosen, methods) {
  const { horizon, charge } = form.elements;
  if (!all(FIELDS.methods).length) return "The study has only controls, so there is nothing to compare.";
  if (!chosen.length || !methods.length) return "Nothing is chosen: pick a data set and a method.";
  const where = horizon.value === "log" ? "on a logarithmic cost axis" : `when at most ${horizon.value.replace(" ", "\u00a0")} of the full cost may be spent`;
  const hard = charge.value === "hard" ? ", by the most expensive example" : "";
  // Rows are sorted by rank. All methods that share the first rank are named.
  const competing = rows.filter(({ rank }) => rank !== null);
  const best = competing.filter(({ rank }) => rank < rows[0].rank + 1e-9).map(({ method }) => method.label);
  if (competing.length === 1) return `${best[0]} is alone, so there is nothing to compare.`;
  const first = best.length
    ? `${new Intl.ListFormat("en-GB").format(best)} ${best.length > 1 ? "share" : "has"} the best mean rank (${rows[0].rank.toFixed(2)} of ${competing.length})`
    : "No method has an area on all of these data sets";
  const others = ranked.length < chosen.length ? " (those with the most methods)" : "";
  return `${first} over ${ranked.length} of ${compared.dataset.all}${others}, ${where}${hard}.`;
}

function update() {
  const chosen = picked("filter-cases");
  const names = new Set(picked("filter-methods"));
  const methods = study.methods.filter(({ id }) => names.has(id));
  const { horizon, charge } = form.elements;
  const { rows, ranked } = standings(chosen, methods, charge.value, horizons.indexOf(horizon.value));
  fillTable(rows, chosen);
  compared.textContent = words(rows, ranked, chosen, methods);
  window.comparison = {
    cases: chosen, order: rows.map(({ method }) => method.id),
    horizon: horizon.value, hard: charge.value === "hard",
  };
  document.dispatchEvent(new Event("comparison"));
}

function changed() {
  toFragment();
  update();
}

fromFragment();
update();
form.addEventListener("change", changed);
form.elements.everything.addEventListener("click", () => {
  form.reset();
  changed();
});
addEventListener("hashchange", () => {
  fromFragment();
  update();
});
