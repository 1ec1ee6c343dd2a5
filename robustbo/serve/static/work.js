// The table of what is to be measured, as a spreadsheet: keys, columns that are pasted, and drafts that are not lost.

import {isTyping, merge, post, refresh, say} from "/static/page.js";

const DRAFT = "draft ";
const inputs = (row) => [...row.querySelectorAll("input[form], select[form]")];
const cells = (row) => [...row.querySelectorAll(".entry input")];
const rows = () => [...document.querySelectorAll("#rows tr[data-trial]")];
const isFull = (row) => cells(row).every((input) => input.value.trim());
const isEmpty = (row) => cells(row).every((input) => !input.value.trim());
const keyOf = (input) => DRAFT + input.getAttribute("form") + " " + input.name;

function keep(input) {
  if (input.value) localStorage.setItem(keyOf(input), input.value);
  else localStorage.removeItem(keyOf(input));
}

function forget(row) {
  inputs(row).forEach((input) => localStorage.removeItem(keyOf(input)));
}

function fillDrafts() {
  for (const row of rows()) {
    for (const input of inputs(row)) input.value ||= localStorage.getItem(keyOf(input)) ?? "";
  }
}

function note(row, text, ...buttons) {
  row.nextElementSibling?.classList.contains("row-note") && row.nextElementSibling.remove();
  if (!text) return;
  const line = document.createElement("tr");
  line.className = "row-note";
  const cell = line.insertCell();
  cell.colSpan = row.cells.length;
  const paragraph = document.createElement("p");
  paragraph.setAttribute("role", "alert");
  paragraph.textContent = text;
  cell.append(paragraph, ...buttons);
  row.after(line);
}

function button(text, act) {
  const element = document.createElement("button");
  element.type = "button";
  element.textContent = text;
  element.addEventListener("click", act);
  return element;
}

// Record a row; true where that is done. Whoever comes second is told, and what they typed is still there.
async function record(row) {
  const form = row.querySelector("form.row");
  row.classList.add("busy");
  const result = await post(form.getAttribute("action"), form);
  row.classList.remove("busy");
  if (result.ok) {
    forget(row);
    note(row, "");
    row.remove();
    say(`Trial ${row.dataset.trial}: ${result.content.text}, recorded.`, false);
    return true;
  }
  if (result.status === 409) {
    row.classList.add("conflict");
    note(row, `Trial ${row.dataset.trial} has been recorded meanwhile: ${result.content.text}. What you typed was not recorded.`,
      button("Record mine as one more measurement there", () => again(row)),
      button("Leave it as it is", () => drop(row)));
  } else note(row, result.content.error);
  return false;
}

async function again(row) {
  const form = row.querySelector("form.row");
  const number = document.createElement("input");
  Object.assign(number, {type: "hidden", name: "trial", value: row.dataset.trial});
  form.append(number);
  const result = await post("/measurements", form);
  number.remove();
  if (!result.ok) return note(row, result.content.error);
  say(`One more measurement at the point of trial ${row.dataset.trial}: recorded.`, false);
  drop(row);
}

function drop(row) {
  forget(row);
  note(row, "");
  row.remove();
  refresh();
}

function move(input, step) {
  const all = rows();
  const row = all[all.indexOf(input.closest("tr")) + step];
  const next = row?.querySelector(`input[name="${CSS.escape(input.name)}"]`);
  next?.focus();
  next?.select();
}

document.addEventListener("keydown", async (event) => {
  const input = event.target;
  const row = input.closest?.("#rows tr[data-trial]");
  if (!row || !input.matches("input[form]") || event.isComposing) return;
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    move(input, event.key === "ArrowDown" ? 1 : -1);
  } else if (event.key === "Enter") {
    event.preventDefault();
    const missing = cells(row).find((cell) => !cell.value.trim());
    if (missing) return missing.focus();
    const all = rows();
    const next = all[all.indexOf(row) + 1] ?? all[all.indexOf(row) - 1];
    if (await record(row)) {
      next?.querySelector(`input[name="${CSS.escape(input.name)}"]`)?.focus();
      await refresh();
    }
  } else if (event.key === "Escape") {
    input.value = "";
    keep(input);
  }
});

document.addEventListener("input", (event) => {
  if (event.target.closest?.("#rows tr[data-trial]") && event.target.matches("[form]")) keep(event.target);
});

// A pasted block: lines go down, tabs go to the right. What does not fit is said, and nothing is filled in.
document.addEventListener("paste", (event) => {
  const input = event.target;
  const text = event.clipboardData?.getData("text/plain") ?? "";
  const lines = text.replace(/\r/g, "").replace(/\n+$/, "").split("\n").map((line) => line.split("\t"));
  if (!input.closest?.("#rows .entry") || (lines.length < 2 && lines[0].length < 2)) return;
  event.preventDefault();
  const all = rows();
  const first = all.indexOf(input.closest("tr"));
  const column = cells(all[first]).indexOf(input);
  const room = cells(all[first]).length - column;
  const isHeader = lines.length > 1 && lines[0].every((cell, right) => isTitle(cell, cells(all[first])[column + right]));
  const block = isHeader ? lines.slice(1) : lines;
  const width = Math.max(...block.map((line) => line.length));
  if (width > room) return say(`What you copied has ${width} columns, and there is room for ${room}: copy the values alone. Nothing was filled in.`);
  if (block.length > all.length - first) {
    return say(`What you copied has ${count(block.length, "line")}, and there ${all.length - first === 1 ? "is" : "are"} ${count(all.length - first, "row")} from here on. Nothing was filled in.`);
  }
  let [filled, words] = [0, 0];
  block.forEach((line, down) => line.forEach((cell, right) => {
    if (!cell.trim()) return;
    const target = cells(all[first + down])[column + right];
    target.value = cell.trim();
    keep(target);
    filled += 1;
    words += /[0-9]/.test(cell) ? 0 : 1;
  }));
  const left = isHeader ? " The first line, with the names, was left out." : "";
  const told = words ? ` Of these ${count(words, "cell")} ${words === 1 ? "is" : "are"} words, which will be recorded as the reason why there is no value.` : "";
  say(`${count(filled, "cell")} filled in.${left}${told} Look at them, then record all.`, words > 0);
  document.querySelector("#all")?.focus();
});

const count = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;

// Whether a text is the name of the column that it would go into, with its unit or without it.
function isTitle(text, input) {
  const title = (input?.closest("td").dataset.label ?? "").toLowerCase();
  return Boolean(title) && [title, title.replace(/\s*\([^)]*\)$/, "")].includes(text.trim().toLowerCase());
}

document.addEventListener("submit", async (event) => {
  const row = event.target.matches("form.row") && event.target.closest("tr");
  if (!row) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  if (await record(row)) await refresh();
}, true);

document.addEventListener("click", async (event) => {
  if (event.target.id !== "all") return;
  event.target.disabled = true;
  let [recorded, refused] = [0, 0];
  for (const row of rows()) {
    if (isEmpty(row)) continue;
    if (isFull(row) && (await record(row))) recorded += 1;
    else refused += 1;
  }
  event.target.disabled = false;
  say(`${recorded} recorded${refused ? `; ${count(refused, "row")} could not be: look there` : ""}.`, refused > 0);
  await refresh();
});

document.addEventListener("change", (event) => {
  if (event.target.id === "sds") document.body.classList.toggle("with-sds", event.target.checked);
});

// Rows come and go as others ask and record; what is being typed stays, and whoever was too late is told.
merge("table", (part, next) => {
  const body = part.querySelector("#rows");
  const fresh = next.querySelector("#rows");
  if (!body || !fresh) {
    if (!isTyping(part)) {
      part.replaceWith(next);
      fillDrafts();
    }
    return;
  }
  const known = new Set([...fresh.rows].map((row) => row.id));
  for (const row of rows()) {
    if (known.has(row.id) || row.classList.contains("conflict")) continue;
    if (isEmpty(row)) row.remove();
    else if (!row.classList.contains("busy")) {
      row.classList.add("conflict");
      note(row, `Trial ${row.dataset.trial} has been recorded or taken away by somebody else meanwhile. What you typed is still here.`,
        button("Record mine all the same", () => record(row)), button("Leave it as it is", () => drop(row)));
    }
  }
  for (const row of [...fresh.rows]) if (!document.getElementById(row.id)) body.append(row); // which takes it out of fresh
  fillDrafts();
});

fillDrafts();
