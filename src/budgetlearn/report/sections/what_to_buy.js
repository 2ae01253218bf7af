// What would I buy? Looks the chosen budget up among the recommendations that the page carries.
const study = JSON.parse(document.getElementById("study").textContent);
const form = document.getElementById("buying");
const { case: caseInput, run: runInput, budget: budgetInput, cheaper, better } = form.elements;
const share = document.getElementById("buy-share");
const basket = document.getElementById("basket");
const labels = new Map(study.methods.map(({ id, label }) => [id, label]));
const affords = (budget, cost) => cost <= budget * (1 + 1e-12); // as budgetlearn.costs.affords

const percent = (value) => `${(100 * value).toFixed(1)}\u00a0%`;
const plusMinus = (mean, sd) => (sd === null ? mean.toFixed(3) : `${mean.toFixed(3)} ± ${sd.toFixed(3)}`);
const inRuns = (count) => (count === 1 ? "one run" : `mean ± sd over ${count} runs`);

function say(name, text) {
  for (const place of document.querySelectorAll(`#purchase [data-out=${name}]`)) place.textContent = text;
}

function fill(select, entries) {
  select.replaceChildren(...entries.map(([value, text]) => new Option(text, value)));
}

function nextText(offer, next) {
  if (!next) return "none: nothing scores higher on validation data";
  const gain = offer ? ` (+${(next.valid - offer.valid).toFixed(3)})` : "";
  return `${labels.get(next.method)} for ${percent(next.budget)}: ${next.valid.toFixed(3)}${gain} on validation data`;
}

function showOffer(offer, next) {
  say("method", offer ? labels.get(offer.method) : "nothing: no method has an affordable model in every run");
  say("valid", offer ? `${plusMinus(offer.valid, offer.valid_sd)}, ${inRuns(offer.n_runs)}` : "–");
  say("test", offer ? `${plusMinus(offer.test, offer.test_sd)}, ${inRuns(offer.n_runs)}` : "–");
  say("cost", offer ? percent(offer.cost) : "–");
  say("next", nextText(offer, next));
}

function cell(tag, text, className) {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className) made.className = className;
  if (tag === "th") made.scope = "row";
  return made;
}

function rowOf([feature, rate], names, prices) {
  const row = document.createElement("tr");
  row.append(
    cell("th", names[feature] ?? `x${feature}`),
    cell("td", prices[feature] ?? "unknown", "number"),
    cell("td", rate === 1 ? "all examples" : rate < 0.001 ? "<\u00a00.1\u00a0%" : percent(rate), "number"),
  );
  return row;
}

function showBasket(offer, { models, names, runs }) {
  const turn = Number(runInput.value);
  const model = offer && models[offer.models[turn]];
  const body = basket.closest("table").querySelector("tbody");
  body.replaceChildren(...(model?.bought ?? []).map((pair) => rowOf(pair, names, runs[turn].prices)));
  if (!model) {
    basket.textContent = "Nothing to buy";
    return;
  }
  const count = model.bought === null ? "variables not recorded"
    : `${model.bought.length} variable${model.bought.length === 1 ? "" : "s"}`;
  const setting = model.setting === null ? "" : ` (${model.setting})`;
  basket.textContent = `Run ${runs[turn].run}, ${labels.get(offer.method)}${setting}: ${count}, `
    + `cost ${Number(model.cost.toPrecision(4))} on validation data, ${percent(model.share)} of all features; `
    + `validation ${model.valid.toFixed(3)}, test ${model.test.toFixed(3)}`;
}

function show() {
  const { recommendations, score } = study.cases[caseInput.value];
  const budget = Number(budgetInput.value) / 100;
  const place = recommendations.offers.findLastIndex((offer) => affords(budget, offer.budget));
  const [offer, next] = [recommendations.offers[place], recommendations.offers[place + 1]];
  share.textContent = percent(budget);
  budgetInput.setAttribute("aria-valuetext", `${percent(budget)} of the full cost`);
  say("score", score);
  showOffer(offer, next);
  showBasket(offer, recommendations);
  cheaper.disabled = place < 1;
  better.disabled = !next;
}

function jump(step) {
  const { offers } = study.cases[caseInput.value].recommendations;
  const budget = Number(budgetInput.value) / 100;
  const place = offers.findLastIndex((offer) => affords(budget, offer.budget));
  budgetInput.value = String(100 * offers[place + step].budget);
  show();
}

function showCase() {
  fill(runInput, study.cases[caseInput.value].recommendations.runs.map(({ run }, turn) => [turn, run]));
  show();
}

fill(caseInput, Object.entries(study.cases).map(([name, { title }]) => [name, title]));
caseInput.addEventListener("change", showCase);
runInput.addEventListener("change", show);
budgetInput.addEventListener("input", show);
cheaper.addEventListener("click", () => jump(-1));
better.addEventListener("click", () => jump(1));
form.addEventListener("submit", (event) => event.preventDefault());
showCase();
