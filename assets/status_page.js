// What the status page does in a browser: it listens to /events, and changes itself in place so that nothing that is being read jumps.
const REFRESH_MS = 60000;
const connection = document.getElementById("connection");

function morph(from, to) {
  if (from.nodeName !== to.nodeName || from.id !== to.id) return from.replaceWith(to);
  if (from.nodeType === Node.TEXT_NODE) {
    if (from.data !== to.data) from.data = to.data;
    return;
  }
  // What is folded is the reader's business.
  for (const { name } of [...from.attributes])
    if (name !== "open" && !to.hasAttribute(name)) from.removeAttribute(name);
  for (const { name, value } of [...to.attributes])
    if (name !== "open" && from.getAttribute(name) !== value) from.setAttribute(name, value);
  morphChildren(from, to);
}

function morphChildren(from, to) {
  const before = [...from.childNodes];
  const after = [...to.childNodes];
  for (const [index, node] of after.entries()) {
    if (before[index]) morph(before[index], node);
    else from.append(node);
  }
  for (const node of before.slice(after.length)) node.remove();
}

const format = new Intl.DateTimeFormat("en-GB", {
  weekday: "short",
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
});
function local(root) {
  for (const time of root.querySelectorAll("time[data-local]"))
    time.textContent = format.format(new Date(time.dateTime));
  return root;
}

// What is looked for: kept in the address, so that a link to it, going back and loading anew find the same.
const keys = ["q", "only", "order"];
const asked = new URLSearchParams(location.search);
const choice = Object.fromEntries(keys.map(key => [key, asked.get(key) ?? ""]));

const byNumber = name => (a, b) => Number(b.dataset[name]) - Number(a.dataset[name]);
const orders = {
  name: (a, b) => a.dataset.name.localeCompare(b.dataset.name),
  at: (a, b) => a.dataset.at.localeCompare(b.dataset.at),
  changes: byNumber("changes"),
  rows: byNumber("rows"),
  took: byNumber("took"),
};

// The page with the streams that are looked for in one table, in their order; with nothing chosen as the server made it.
function arrange(root) {
  const table = root.getElementById("found");
  if (!table) return root;
  root.getElementById("tools").hidden = false;
  for (const button of root.querySelectorAll("[data-only]"))
    button.setAttribute("aria-pressed", String(button.dataset.only === choice.only));
  const words = choice.q.toLowerCase().split(/\s+/);
  const all = [...root.querySelectorAll("#subjects tbody tr")];
  const found = all.filter(
    ({ cells, dataset }) =>
      (choice.only === "" || dataset.is.split(" ").includes(choice.only)) &&
      words.every(word => cells[0].textContent.toLowerCase().includes(word)),
  );
  const isLooking = keys.some(key => choice[key] !== "");
  root.getElementById("subjects").hidden = isLooking;
  table.hidden = !isLooking || found.length === 0;
  table.tBodies[0].replaceChildren(
    ...(isLooking ? found.sort(orders[choice.order]).map(row => root.importNode(row, true)) : []),
  );
  root.getElementById("matches").textContent = isLooking ? `${found.length} of ${all.length} streams` : "";
  return root;
}

function choose(key, value) {
  choice[key] = value;
  const chosen = new URLSearchParams(keys.filter(each => choice[each] !== "").map(each => [each, choice[each]]));
  history.replaceState(null, "", chosen.size === 0 ? location.pathname : `?${chosen}`);
  arrange(document);
}

// Listens on the document: what is in it comes and goes with a refresh.
document.addEventListener("input", ({ target }) => {
  if (target.id === "search") choose("q", target.value.trim());
  if (target.id === "order") choose("order", target.value);
});
document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-only]");
  if (button) choose("only", choice.only === button.dataset.only ? "" : button.dataset.only);
});

async function refresh() {
  const response = await fetch(location.pathname).catch(() => undefined);
  if (!response?.ok) return;
  const page = arrange(local(new DOMParser().parseFromString(await response.text(), "text/html")));
  document.title = page.title;
  for (const part of ["link[rel=icon]", "header", "main", "#as-of"])
    morph(document.querySelector(part), page.querySelector(part));
}

let events;
function listen() {
  events?.close();
  events = new EventSource("/events");
  events.onopen = () => {
    connection.textContent = "";
  };
  events.onerror = () => {
    connection.textContent =
      events.readyState === EventSource.CLOSED
        ? "The connection was refused: reload the page."
        : "The connection is lost; trying again.";
  };
  events.addEventListener("progress", event => {
    const section = document.getElementById("live");
    if (section) morphChildren(section, local(new DOMParser().parseFromString(event.data, "text/html")).body);
  });
  events.addEventListener("changed", refresh);
}

for (const [id, key] of [
  ["search", "q"],
  ["order", "order"],
])
  if (document.getElementById(id)) document.getElementById(id).value = choice[key];
arrange(local(document));
document.getElementById("zone").textContent = format.resolvedOptions().timeZone;
listen();
setInterval(() => {
  if (!document.hidden) void refresh();
}, REFRESH_MS);
document.addEventListener("visibilitychange", () => {
  if (document.hidden) return events.close();
  listen();
  void refresh();
});
addEventListener("pagehide", () => events.close());
