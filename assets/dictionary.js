// What the dictionary does in a browser: it finds tables and columns by name and description. Without it everything is there to be read.
const MOST = 60;
const input = document.getElementById("search");
const list = document.getElementById("found");
const hits = document.getElementById("hits");
input.closest("search").hidden = false;

let entries;
function index() {
  entries ??= [...document.querySelectorAll("[data-entry]")].map(element => {
    const name = element.dataset.entry;
    const told = element.matches("tr")
      ? element.cells[Math.min(2, element.cells.length - 1)]
      : element.querySelector(".lead");
    const text = told.textContent.trim();
    return {
      id: element.id,
      name,
      text,
      lower: name.toLowerCase(),
      all: `${name} ${name.replace(/[_.]/g, " ")} ${text}`.toLowerCase(),
    };
  });
  return entries;
}

function weight({ lower }, query, words) {
  const last = lower.slice(lower.lastIndexOf(".") + 1);
  const column = lower.includes(".") ? 1 : 0;
  const joined = query.replace(/\s+/g, "_");
  if (lower === query || lower === joined) return 0;
  if (last === joined) return 1 + column;
  if (last.startsWith(joined)) return 3 + column;
  if (words.every(word => lower.includes(word))) return 5 + column;
  return 7 + column;
}

function search() {
  const query = input.value.trim().toLowerCase();
  const words = query.split(/\s+/).filter(word => word !== "");
  list.replaceChildren();
  hits.textContent = "";
  if (words.length === 0) return;
  const found = index()
    .filter(({ all }) => words.every(word => all.includes(word)))
    .map(entry => ({ entry, weight: weight(entry, query, words) }))
    .sort((a, b) => a.weight - b.weight);
  hits.textContent =
    found.length === 0
      ? "Nothing has these words."
      : found.length > MOST
        ? `The first ${MOST} of ${found.length}.`
        : `${found.length} found.`;
  list.append(
    ...found.slice(0, MOST).map(({ entry }) => {
      const link = document.createElement("a");
      link.href = `#${entry.id}`;
      const name = document.createElement("code");
      name.textContent = entry.name;
      const text = document.createElement("span");
      text.className = "quiet";
      text.textContent = entry.text.length > 160 ? `${entry.text.slice(0, 159)}…` : entry.text;
      link.append(name, text);
      const item = document.createElement("li");
      item.append(link);
      return item;
    }),
  );
}

input.addEventListener("input", search);
// Whoever has gone to a find, or elsewhere, wants to read.
list.addEventListener("click", () => {
  list.replaceChildren();
  hits.textContent = "";
});
input.addEventListener("focus", () => {
  if (list.childElementCount === 0) search();
});
document.addEventListener("pointerdown", event => {
  if (!event.target.closest("search")) {
    list.replaceChildren();
    hits.textContent = "";
  }
});
document.addEventListener("keydown", event => {
  const links = [...list.querySelectorAll("a")];
  const at = links.indexOf(document.activeElement);
  if (event.key === "/" && document.activeElement !== input && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    input.focus();
    input.select();
  } else if (event.key === "Escape" && (document.activeElement === input || at >= 0)) {
    input.value = "";
    search();
    input.focus();
  } else if (event.key === "ArrowDown" && (document.activeElement === input || at >= 0) && links[at + 1]) {
    event.preventDefault();
    links[at + 1].focus();
  } else if (event.key === "ArrowUp" && at >= 0) {
    event.preventDefault();
    (links[at - 1] ?? input).focus();
  } else if (event.key === "Enter" && document.activeElement === input && links[0]) {
    links[0].click();
  }
});

// A drawing of where a view comes from shows the way of one column, if one is picked.
for (const drawn of document.querySelectorAll(".lineage")) drawn.addEventListener("toggle", offerWays, { once: true });

function offerWays({ currentTarget: drawn }) {
  const select = drawn.querySelector("select");
  const picture = drawn.querySelector("svg");
  const ways = new Map([["all columns", ""]]);
  for (const row of drawn.closest("section").querySelectorAll("tr[data-way]"))
    if (row.dataset.way !== "") ways.set(row.cells[0].firstElementChild.textContent, row.dataset.way);
  select.append(...[...ways].map(([name, way]) => new Option(name, way)));
  select.addEventListener("change", () => {
    const on = new Set(select.value.split(" "));
    picture.classList.toggle("picked", select.value !== "");
    for (const box of picture.querySelectorAll("[data-box]")) box.classList.toggle("on", on.has(box.dataset.box));
    for (const line of picture.querySelectorAll("[data-ends]"))
      line.classList.toggle(
        "on",
        line.dataset.ends.split(" ").every(end => on.has(end)),
      );
  });
  drawn.querySelector(".pick").hidden = false;
}
