// One quiet voice for people who listen: that an answer is being written, and that it is ready; never each word of it.

const voice = document.getElementById("told");
const state = () => document.getElementById("status")?.dataset.status;

if (voice && state()) {
  let last = state();
  let within = false; // whether the focus was on the line that is swapped

  document.addEventListener("focusin", (event) => (within = !!event.target.closest("#status")));
  document.addEventListener("htmx:after:swap", () => {
    const title = document.getElementById("title")?.dataset.title;
    if (title) document.title = title + " · Parley";
    if (state() === last) return;
    last = state();
    voice.textContent = voice.dataset[last] ?? "";
    if (within && document.activeElement === document.body) document.getElementById("text")?.focus();
  });
}
