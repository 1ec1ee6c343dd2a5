// The form is checked as it is typed: what is wrong is said where it is, or else the first points are shown.

const form = document.querySelector("#begin");
const answer = document.querySelector("#answer");
const preview = document.querySelector("#preview");
const more = document.querySelector("#more");
const noTable = document.querySelector("#no-table");
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
  const columns = content.size ? [element("p", `The table has ${content.size} points. Its columns were taken for ${content.columns.join("; ")}.`)] : [];
  preview.replaceChildren(element("h2", "The first points"), scroll, element("p", text), ...columns);
}

// What is wrong stands below the form, and in the row that it is of.
function complain(content) {
  preview.replaceChildren(element("h2", "Not a study yet"), Object.assign(element("p", content.error), {className: "error"}));
  const row = form.querySelector(`[data-field="${content.field}"]`);
  if (!row) return;
  if (row.matches(".parameter, .outcome") && row.contains(document.activeElement)) return; // is being typed
  row.closest("details")?.setAttribute("open", "");
  row.classList.add("wrong");
  row.append(Object.assign(element("p", content.error), {className: "error here"}));
}

function forgive() {
  form.querySelectorAll(".wrong").forEach((row) => row.classList.remove("wrong"));
  form.querySelectorAll(".here").forEach((text) => text.remove());
}

// A table is sent once: the server keeps it for a while, under a word.
function fieldsOf() {
  const fields = new FormData(form);
  if (form.elements.table.value) fields.delete("pool");
  fields.set("do", "look");
  return fields;
}

async function check() {
  const current = ++count;
  const response = await fetch("/begin", {
    method: "POST",
    headers: {Accept: "application/json"},
    body: fieldsOf(),
  }).catch(() => null);
  if (!response || current !== count) return;
  const content = await response.json();
  answer.hidden = true;
  form.elements.table.value = content.table ?? "";
  noTable.hidden = !content.table;
  forgive();
  if (content.error) complain(content);
  else draw(content);
}

form.elements.pool.addEventListener("change", () => (form.elements.table.value = ""));
noTable.addEventListener("click", () => {
  form.elements.pool.value = "";
  form.elements.table.value = "";
  check();
});

// Some browsers say of a choice from a list only that it has changed.
for (const kind of ["input", "change"]) {
  form.addEventListener(kind, (event) => {
    const line = event.target.closest(".parameter");
    if (line) show(line);
    clearTimeout(timer);
    timer = setTimeout(check, 600);
  });
}

form.addEventListener("focusout", (event) => {
  if (event.target.closest(".line") && !event.target.closest(".line").contains(event.relatedTarget) && preview.children.length) {
    clearTimeout(timer);
    timer = setTimeout(check, 100);
  }
});

// Rows that are empty are out of the way until somebody wants them.
function fold(kind, shown, button) {
  const isEmpty = (line) => ![...line.querySelectorAll("input:not([type=checkbox])")].some((input) => input.value);
  const rows = [...form.querySelectorAll(kind)];
  rows.forEach((line, at) => (line.hidden = at >= shown && isEmpty(line)));
  button.hidden = kind === ".outcome" && !rows.some((line) => line.hidden);
}

function unfold(kind, button) {
  const next = form.querySelector(`${kind}[hidden]`);
  if (!next) return false;
  next.hidden = false;
  next.querySelector("input").focus();
  button.hidden = kind === ".outcome" && !form.querySelector(`${kind}[hidden]`);
  return true;
}

const moreOutcomes = document.querySelector("#more-outcomes");
fold(".parameter", 3, more);
fold(".outcome", 1, moreOutcomes);
moreOutcomes.addEventListener("click", () => unfold(".outcome", moreOutcomes));
more.addEventListener("click", () => {
  if (unfold(".parameter", more)) return;
  const last = lines().at(-1);
  const at = lines().length;
  const copy = last.cloneNode(true);
  for (const input of copy.querySelectorAll("input, select")) {
    input.name = input.name.replace(/^p\d+/, `p${at}`);
    if (input.type === "checkbox") input.checked = false;
    else if (input.matches("input")) input.value = "";
  }
  copy.setAttribute("aria-label", `parameter ${at + 1}`);
  copy.dataset.field = `p${at}`;
  copy.classList.remove("wrong");
  copy.querySelector(".here")?.remove();
  last.after(copy);
  show(copy);
  more.hidden = at + 1 >= LINES;
  copy.querySelector("input").focus();
});

lines().forEach(show);
if (form.elements.table.value) check();
