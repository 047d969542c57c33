// What the report does in a browser: all of it can be read without.

// A link into a chapter opens it.
function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const chapter = target?.closest("details");
  if (!chapter || chapter.open) return;
  chapter.open = true;
  target.scrollIntoView();
}
addEventListener("hashchange", openTarget);
openTarget();

// A drawing tells what is pointed at, or where the arrow keys have come to.
const said = document.createElement("p");
said.className = "said";
said.setAttribute("role", "status");
said.hidden = true;
document.body.append(said);
let told;
function tell(point) {
  told?.classList.remove("told");
  told = point;
  said.hidden = point === undefined;
  if (point === undefined) return;
  point.classList.add("told");
  said.textContent = point.dataset.note;
  const box = point.getBoundingClientRect();
  const left = Math.min(box.left + box.width / 2, innerWidth - said.offsetWidth - 8);
  said.style.left = `${Math.max(8, left) + scrollX}px`;
  said.style.top = `${Math.max(4, box.top - said.offsetHeight - 6) + scrollY}px`;
}
for (const point of document.querySelectorAll(".point")) {
  const title = point.querySelector("title");
  point.dataset.note = title.textContent;
  title.remove();
}
for (const picture of document.querySelectorAll(".picture:has(.point)")) {
  const points = [...picture.querySelectorAll(".point")];
  picture.tabIndex = 0;
  picture.addEventListener("pointerover", event => tell(event.target.closest(".point") ?? undefined));
  picture.addEventListener("pointerleave", () => tell());
  picture.addEventListener("focus", () => picture.matches(":focus-visible") && tell(points[0]));
  picture.addEventListener("blur", () => tell());
  picture.addEventListener("keydown", event => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") return tell();
    if (step === undefined) return;
    event.preventDefault();
    tell(points[Math.min(points.length - 1, Math.max(0, points.indexOf(told) + step))]);
  });
}

// Filters: what rows and drawings are about stands at them.
const filters = document.getElementById("filters");
const valuesOf = name =>
  [...new Set([...document.querySelectorAll(`[data-${name}]`)].map(each => each.dataset[name]))].sort();
const labels = {
  company: "Company",
  currency: "Currency",
  party: filters.dataset.partyLabel,
  from: "From month",
  to: "To month",
};
const months = valuesOf("month").filter(month => month !== "");
const choices = {
  company: valuesOf("company"),
  currency: valuesOf("currency"),
  party: valuesOf("party"),
  from: months,
  to: months,
};
for (const [name, values] of Object.entries(choices)) {
  if (values.length < 2) continue;
  const label = document.createElement("label");
  const select = document.createElement("select");
  select.name = name;
  select.append(new Option("all", "*"), ...values.map(value => new Option(value || "unknown", value)));
  label.append(labels[name], select);
  filters.append(label);
}
const reset = document.createElement("button");
reset.type = "reset";
reset.textContent = "Show all";
const note = document.createElement("p");
note.className = "quiet";
note.setAttribute("role", "status");
filters.append(reset, note);
document.getElementById("filtering").hidden = filters.querySelector("select") === null;

function filter() {
  const chosen = Object.fromEntries(new FormData(filters));
  const { company = "*", currency = "*", party = "*", from = "*", to = "*" } = chosen;
  const is = (value, wanted) => value === undefined || wanted === "*" || value === wanted;
  const isWithin = month => !month || ((from === "*" || month >= from) && (to === "*" || month <= to));
  const isMeant = ({ dataset }) =>
    is(dataset.currency, currency) && is(dataset.party, party) && isWithin(dataset.month);
  for (const article of document.querySelectorAll("[data-company]"))
    article.hidden = !is(article.dataset.company, company);
  for (const one of document.querySelectorAll(
    "tr[data-currency], tr[data-party], tr[data-month], figure[data-currency]",
  ))
    one.hidden = !isMeant(one);
  for (const picture of document.querySelectorAll(".picture")) {
    const points = [...picture.querySelectorAll(".point")];
    // Only where the party is among the bars do the others step back.
    const isAmong = points.some(({ dataset }) => dataset.name === party);
    for (const point of points) {
      const { name, month } = point.dataset;
      point.classList.toggle("beside-it", (isAmong && name !== party) || !isWithin(month));
    }
  }
  const isAll = [currency, party, from, to].every(value => value === "*");
  note.textContent = isAll ? "" : "Tables and drawings show what is chosen; sums stay those of everything.";
}
filters.addEventListener("input", filter);
filters.addEventListener("reset", () => setTimeout(filter));
