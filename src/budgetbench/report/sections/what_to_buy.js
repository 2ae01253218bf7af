// What would I buy? Looks up the chosen budget among the recommendations in the page.
const study = JSON.parse(document.getElementById("study").textContent);
const form = document.getElementById("buying");
const { case: caseInput, run: runInput, budget: budgetInput, amount: amountInput, cheaper, better } = form.elements;
const basket = document.getElementById("basket");
let shown; // index of the offer on display
const labels = new Map(study.methods.map(({ id, label }) => [id, label]));
const affords = (budget, cost) => cost <= budget * (1 + 1e-12); // as budgetlearn.costs.affords

const percent = (value) => `${(100 * value).toFixed(1)}\u00a0%`;
const signed = (value) => `${value <= -0.0005 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;
const interval = (low, high) => (low === null ? "" : ` [${low.toFixed(3)}, ${high.toFixed(3)}]`);
const expected = ({ test, low, high }) => `${test.toFixed(3)}${interval(low, high)}`;
// Four digits, but no digit of a whole number is lost.
const unit = (value) => String(Number(value < 1000 ? value.toPrecision(4) : value.toFixed(0)));

function gainText(offer) {
  if (offer.method === "constant") return "this is the free constant: no method exceeds it by more than chance";
  if (offer.gain === null) return "unknown";
  const text = `${signed(offer.gain)}${interval(offer.gain_low, offer.gain_high)}`;
  return offer.as_good ? `${text}: the free constant may do as well` : text;
}

// The facts about an offer, by the name of their place on the page.
function facts(offer, full) {
  const { method, cost, n_runs: count, valid, valid_sd: sd } = offer;
  const spread = offer.low === null ? "; equal runs have no interval" : " with its 95 % interval";
  const others = offer.runners_up.map((one) => `${labels.get(one.method)} ${expected(one)} for ${percent(one.cost)}`);
  return {
    method: labels.get(method),
    test: `${expected(offer)}, ${count === 1 ? "one run" : `mean of ${count} runs${spread}`}`,
    gain: gainText(offer),
    cost: full === null ? percent(cost) : `${percent(cost)}, ${unit(cost * full)} of ${unit(full)}`,
    others: others.join("; ") || "none beyond chance",
    valid: sd === null ? valid.toFixed(3) : `${valid.toFixed(3)} ± ${sd.toFixed(3)}`,
  };
}

function rowOf([feature, rate], names, prices) {
  const row = document.createElement("tr");
  row.innerHTML = '<th scope="row"></th><td class="number"></td><td class="number"></td>';
  const share = rate === 1 ? "all examples" : rate < 0.001 ? "<\u00a00.1\u00a0%" : percent(rate);
  const texts = [names[feature] ?? `x${feature}`, prices[feature] ?? "unknown", share];
  texts.forEach((text, place) => { row.cells[place].textContent = text; });
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
  const count = `${model.bought.length} variable${model.bought.length === 1 ? "" : "s"}`;
  const setting = model.setting && ` (${model.setting})`;
  basket.textContent = `Run ${runs[turn].run}, ${labels.get(offer.method)}${setting}: ${count}, `
    + `cost ${unit(model.cost)} on validation data, ${percent(model.share)} of all features; `
    + `validation ${model.valid.toFixed(3)}, test ${model.test.toFixed(3)}`;
}

function show() {
  const { recommendations, score } = study.cases[caseInput.value];
  const budget = Number(budgetInput.value) / 100;
  shown = recommendations.offers.findLastIndex((offer) => affords(budget, offer.budget));
  const [offer, next] = [recommendations.offers[shown], recommendations.offers[shown + 1]];
  const full = recommendations.runs[Number(runInput.value)]?.full ?? null;
  document.getElementById("buy-share").textContent = percent(budget);
  amountInput.disabled = full === null;
  if (document.activeElement !== amountInput) amountInput.value = full === null ? "" : unit(budget * full);
  document.getElementById("buy-full").textContent = full === null ? "" : `of ${unit(full)} for all features`;
  budgetInput.setAttribute("aria-valuetext", `${percent(budget)} of the full cost`);
  const said = {
    score,
    next: next ? `${labels.get(next.method)} for ${percent(next.budget)}: ${expected(next)}`
      : "none: no model is better by more than one standard error",
    ...(offer ? facts(offer, full) : { method: "nothing: no method has an affordable model in every run" }),
  };
  for (const place of document.querySelectorAll("#purchase [data-out]")) place.textContent = said[place.dataset.out] ?? "–";
  showBasket(offer, recommendations);
  // A button without a target is hidden; the list below explains why there is no next model.
  cheaper.hidden = shown < 1;
  better.hidden = !next;
}

function jump(step) {
  const { offers } = study.cases[caseInput.value].recommendations;
  budgetInput.value = String(100 * offers[shown + step].budget);
  show();
}

function showCase() {
  const { runs } = study.cases[caseInput.value].recommendations;
  runInput.replaceChildren(...runs.map(({ run }, turn) => new Option(run, turn)));
  show();
}

caseInput.addEventListener("change", showCase);
runInput.addEventListener("change", show);
budgetInput.addEventListener("input", show);
amountInput.addEventListener("input", () => {
  const { full } = study.cases[caseInput.value].recommendations.runs[Number(runInput.value)];
  budgetInput.value = String(Math.min(100, (100 * Number(amountInput.value)) / full));
  show();
});
cheaper.addEventListener("click", () => jump(-1));
better.addEventListener("click", () => jump(1));
form.addEventListener("submit", (event) => event.preventDefault());
showCase();
