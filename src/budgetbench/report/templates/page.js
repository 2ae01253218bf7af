// Every table with column headings can be sorted by clicking a heading or pressing Enter on it.
// "−0.12", "1,234", "<0.1 %" and "1.2e-05 ± 3e-06" count as numbers; a text that begins with a word does not.
const number = (text) => Number.parseFloat(text.replace("−", "-").replace(/,(?=\d{3})|^</g, ""));

function valueOf(row, column) {
  const text = row.cells[column]?.textContent.trim() ?? "";
  const value = number(text);
  return Number.isNaN(value) ? text : value;
}

function compare(a, b) {
  if (typeof a === typeof b) return typeof a === "number" ? a - b : a.localeCompare(b);
  return typeof a === "number" ? -1 : 1; // cells without a number come last
}

function sortBy(table, head) {
  const column = head.cellIndex;
  const direction = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
  for (const body of table.tBodies) {
    const rows = [...body.rows].map((row) => [valueOf(row, column), row]);
    rows.sort(([a], [b]) => (typeof a === typeof b ? direction : 1) * compare(a, b));
    body.append(...rows.map(([, row]) => row));
  }
  for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", direction === 1 ? "ascending" : "descending");
}

function makeSortable() {
  for (const head of document.querySelectorAll("thead tr:only-child > th:not(:has(button))")) {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "sort" });
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => sortBy(head.closest("table"), head));
  }
}

// On a phone sections are folded, so that readers find the one they want without much scrolling.
const OPEN = new Set(["overview", "areas"]);

function fold(section) {
  const [heading, ...rest] = section.children;
  const folded = Object.assign(document.createElement("details"), { className: "fold" });
  const line = document.createElement("summary");
  line.append(heading);
  folded.append(line, ...rest);
  section.append(folded);
}

function unfold() {
  const folded = document.getElementById(location.hash.slice(1).split("?")[0])?.querySelector(":scope > .fold");
  if (!folded) return;
  folded.open = true;
  folded.scrollIntoView();
}

if (matchMedia("(max-width: 34rem)").matches) {
  for (const section of document.querySelectorAll("section")) if (!OPEN.has(section.id)) fold(section);
  addEventListener("hashchange", unfold);
  unfold();
}

makeSortable();
document.addEventListener("table", makeSortable);
document.documentElement.classList.add("scripted");
