// A mark of a chart says what it is where it is touched or clicked: there is no hover on a phone, and the nearest will do.

const REACH = 30; // pixels that a finger may be away
const SAME = 4; // pixels between marks that are told together

function marksOf(picture) {
  return [...picture.querySelectorAll("title")].map((title) => {
    const box = title.parentElement.getBoundingClientRect();
    return {mark: title.parentElement, x: box.x + box.width / 2, y: box.y + box.height / 2, text: title.textContent};
  });
}

function tell(frame, texts) {
  const next = frame.nextElementSibling;
  const note = next?.classList.contains("touched") ? next : document.createElement("div");
  note.className = "touched";
  note.setAttribute("role", "status");
  note.replaceChildren(...texts.map((text) => Object.assign(document.createElement("p"), {textContent: text})));
  frame.after(note);
}

document.addEventListener("click", (event) => {
  const picture = event.target.closest?.(".scroll > svg");
  if (!picture) return;
  const away = (mark) => Math.hypot(mark.x - event.clientX, mark.y - event.clientY);
  const marks = marksOf(picture).filter((mark) => away(mark) <= REACH);
  document.querySelectorAll("svg .here").forEach((mark) => mark.classList.remove("here"));
  if (!marks.length) return;
  const nearest = marks.reduce((best, mark) => (away(mark) < away(best) ? mark : best));
  const together = marks.filter((mark) => Math.hypot(mark.x - nearest.x, mark.y - nearest.y) <= SAME);
  together.forEach(({mark}) => mark.classList.add("here"));
  tell(picture.parentElement, [...new Set(together.map((mark) => mark.text))]);
});
