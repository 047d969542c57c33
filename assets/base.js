// On paper everything stands open but what is only for machines to read.
const opened = [];
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details:not([open], .sql)")) {
    details.open = true;
    opened.push(details);
  }
});
addEventListener("afterprint", () => {
  for (const details of opened.splice(0)) details.open = false;
});
const print = document.getElementById("print");
print.hidden = false;
print.addEventListener("click", () => window.print());
