// The form is checked as it is typed: what is wrong is said, or else the first points are shown.

const form = document.querySelector("#begin");
const answer = document.querySelector("#answer");
const preview = document.querySelector("#preview");
const more = document.querySelector("#more");
const LINES = 40;
let timer;
let count = 0;

function show(line) {
  const kind = line.querySelector("select").value;
  const isListed = kind === "choice" || kind === "ordinal";
  line.querySelector(".listed").hidden = !isListed;
  line.querySelector(".number").hidden = isListed;
}

const lines = () => [...form.querySelectorAll(".parameter")];

function element(name, text) {
  const node = document.createElement(name);
  node.textContent = text;
  return node;
}

function draw(content) {
  const table = document.createElement("table");
  const head = table.createTHead().insertRow();
  for (const name of content.names) head.append(Object.assign(element("th", name), {scope: "col"}));
  const body = table.createTBody();
  for (const cells of content.rows) {
    const row = body.insertRow();
    for (const cell of cells) row.append(element("td", cell));
  }
  const scroll = document.createElement("div");
  Object.assign(scroll, {className: "scroll", tabIndex: 0});
  scroll.setAttribute("role", "group");
  scroll.setAttribute("aria-label", "table of the first points");
  scroll.append(table);
  const text = `${content.num_initial} points come first that fill the space; then each is chosen by what was measured. Goal: ${content.goal}.`;
  preview.replaceChildren(element("h2", "The first points"), scroll, element("p", text));
}

async function check() {
  const current = ++count;
  const response = await fetch("/begin", {
    method: "POST",
    headers: {Accept: "application/json"},
    body: new URLSearchParams(new FormData(form)),
  }).catch(() => null);
  if (!response || current !== count) return;
  const content = await response.json();
  answer.hidden = response.ok;
  answer.textContent = content.error ?? "";
  if (response.ok) draw(content);
  else preview.replaceChildren();
}

form.addEventListener("input", (event) => {
  const line = event.target.closest(".parameter");
  if (line) show(line);
  clearTimeout(timer);
  timer = setTimeout(check, 600);
});

more.hidden = false;
more.addEventListener("click", () => {
  const last = lines().at(-1);
  const at = lines().length;
  const copy = last.cloneNode(true);
  for (const input of copy.querySelectorAll("input, select")) {
    input.name = input.name.replace(/^p\d+/, `p${at}`);
    if (input.type === "checkbox") input.checked = false;
    else if (input.matches("input")) input.value = "";
  }
  copy.setAttribute("aria-label", `parameter ${at + 1}`);
  last.after(copy);
  show(copy);
  more.hidden = at + 1 >= LINES;
  copy.querySelector("input").focus();
});

lines().forEach(show);
