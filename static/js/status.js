// One quiet voice for people who listen: that an answer is being written, and that it is ready; never each word of it.

const SHORT = 1000; // ms of waiting for a turn that nobody needs to hear of

const voice = document.getElementById("told");
const state = () => document.getElementById("status")?.dataset.status;

if (voice && state()) {
  let last = state();
  let soon = 0;
  let within = false; // whether the focus was on the line that is swapped

  document.addEventListener("focusin", (event) => (within = !!event.target.closest("#status")));
  document.addEventListener("htmx:after:swap", () => {
    const title = document.getElementById("title")?.dataset.title;
    if (title) document.title = title + " · Parley";
    if (state() === last) return;
    last = state();
    clearTimeout(soon);
    soon = setTimeout(() => (voice.textContent = voice.dataset[last] ?? ""), last === "waiting" ? SHORT : 0);
    if (within && document.activeElement === document.body) document.getElementById("text")?.focus();
  });
}
