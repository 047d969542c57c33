// What the status page does in a browser: it listens to /events, and changes itself in place so that nothing that is being read jumps.
const REFRESH_MS = 60000;
const connection = document.getElementById("connection");

function morph(from, to) {
  if (from.nodeName !== to.nodeName || from.id !== to.id) return from.replaceWith(to);
  if (from.nodeType === Node.TEXT_NODE) {
    if (from.data !== to.data) from.data = to.data;
    return;
  }
  for (const { name } of [...from.attributes])
    if (name !== "open" && !to.hasAttribute(name)) from.removeAttribute(name);
  for (const { name, value } of [...to.attributes])
    if (from.getAttribute(name) !== value) from.setAttribute(name, value);
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

async function refresh() {
  const response = await fetch(location.pathname).catch(() => undefined);
  if (!response?.ok) return;
  const page = local(new DOMParser().parseFromString(await response.text(), "text/html"));
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

local(document);
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
