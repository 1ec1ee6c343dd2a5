// What every page does: it knows who you are, sends forms, and shows at once what others have recorded.
// Without it each form is sent as forms are, and a page is loaded again.

const live = document.querySelector("#live");
const answer = document.querySelector("#answer");
const who = document.querySelector("#who");
let version = live.dataset.version;
let was = "";
let silence;
const SAID_MS = 15_000;

who.value = localStorage.getItem("who") ?? "";
who.addEventListener("change", () => localStorage.setItem("who", who.value.trim()));

// Say how it went, wherever the page is scrolled to; what went well goes again by itself.
export function say(text, isError = true) {
  clearTimeout(silence);
  if (text && !isError) silence = setTimeout(() => (answer.hidden = true), SAID_MS);
  answer.hidden = !text;
  answer.textContent = text;
  answer.classList.toggle("error", isError);
}

// Post the fields of a form; gives {status, content}. The status is 0 where the server does not answer.
export async function post(address, form, submitter) {
  const fields = new URLSearchParams(new FormData(form, submitter));
  fields.set("who", who.value.trim());
  try {
    const response = await fetch(address, {method: "POST", headers: {Accept: "application/json"}, body: fields});
    const content = await response.json().catch(() => ({error: response.statusText}));
    return {status: response.status, ok: response.ok, content};
  } catch {
    return {status: 0, ok: false, content: {error: "The server does not answer, so that it is not certain whether this was recorded. Try again: the same value counts once."}};
  }
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.elements.who && form.elements.who !== who) form.elements.who.value = who.value.trim();
  if (form.method !== "post" || "plain" in form.dataset || event.defaultPrevented) return;
  event.preventDefault();
  const {submitter} = event;
  const buttons = [...form.querySelectorAll("button")];
  buttons.forEach((button) => (button.disabled = true));
  const address = submitter?.getAttribute("formaction") ?? form.getAttribute("action");
  const result = await post(address, form, submitter);
  buttons.forEach((button) => (button.disabled = false));
  if (result.ok) {
    say(outcomeOf(address, result.content, submitter), false);
    form.closest("details")?.removeAttribute("open");
    form.querySelectorAll("input:not([type=hidden])").forEach((input) => {
      if (input.name !== "n") input.value = "";
    });
    await refresh(true);
  } else {
    const recorded = result.content.text ? ` Recorded is: ${result.content.text}.` : "";
    say(`${result.content.error}${recorded}`);
  }
});

function outcomeOf(address, content, submitter) {
  if (address === "/ask") return "";
  if (address.endsWith("/measure-again")) return `Trial ${content.trial} waits on the page Work: it measures this point again.`;
  return `${submitter?.textContent.trim() ?? "Done"}: recorded.`;
}

// Whether somebody is typing in a part of the page: it is left alone then.
export function isTyping(part) {
  return [...part.querySelectorAll("input:not([type=hidden]), select")].some(
    (input) => input === document.activeElement || (input.type !== "checkbox" && input.value && isChanged(input)),
  );
}

function isChanged(input) {
  if (!input.matches("select")) return input.value !== input.defaultValue;
  return [...input.options].some((option) => option.selected !== option.defaultSelected);
}

// Times as the clock on the wall has them.
function localize(part) {
  for (const time of part.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    const isToday = at.toDateString() === new Date().toDateString();
    if (!Number.isNaN(at.valueOf())) time.textContent = isToday ? at.toLocaleTimeString() : at.toLocaleString();
  }
}

const merges = new Map(); // by the id of a part, what brings it up to date where that is more than putting it in place
const served = new Map(); // by the same, the part as it came, whatever has been touched in it since

export function merge(id, how) {
  merges.set(id, how);
}

// Bring the page up to date; after one's own word its other forms have seen that word, too.
export async function refresh(isOwn = false) {
  if (!document.querySelector("[data-live]")) return;
  const response = await fetch(location.pathname + location.search, {headers: {Accept: "text/html"}}).catch(() => null);
  if (!response?.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  localize(page);
  if (isOwn) {
    for (const form of document.querySelectorAll("form[action]")) {
      const next = page.querySelector(`form[action="${form.getAttribute("action")}"] input[name=seen]`);
      if (next && form.elements.seen) form.elements.seen.value = next.value;
    }
  }
  for (const part of document.querySelectorAll("[data-live]")) {
    const next = page.getElementById(part.id);
    if (!next) continue;
    if (merges.has(part.id)) {
      if (next.innerHTML !== part.innerHTML) merges.get(part.id)(part, next);
    } else if (next.innerHTML !== served.get(part.id) && !isTyping(part)) {
      served.set(part.id, next.innerHTML);
      part.replaceWith(next);
    }
  }
}

localize(document);
for (const part of document.querySelectorAll("[data-live]")) served.set(part.id, part.innerHTML);
const stream = new EventSource("/events");
stream.addEventListener("state", (event) => {
  const state = JSON.parse(event.data);
  const open = (state.trials.pending ?? 0) + (state.trials.queued ?? 0);
  const points = state.asks.reduce((sum, ask) => sum + ask.n, 0);
  const thinking = points ? `, deciding on ${points} point${points > 1 ? "s" : ""}` : "";
  live.textContent = state.error ?? `${open} to measure, ${state.trials.told ?? 0} recorded${thinking}`;
  live.classList.toggle("error", Boolean(state.error));
  const now = JSON.stringify([state.version, state.asks.length, state.computing, state.error]);
  // What this page has begun to compute is done, though the study is as it was.
  const isDone = document.querySelector(".asking") && !state.computing.length && !state.asks.length;
  if (isDone || (now !== was && (was || state.version !== version))) refresh();
  [was, version] = [now, state.version];
});
stream.addEventListener("error", () => {
  live.textContent = "The server does not answer.";
  live.classList.add("error");
});
