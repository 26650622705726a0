// Everything one can do, by its name: what is typed leaves what fits, the arrows go over it, Enter does the first.

const palette = document.getElementById("palette");

if (palette) {
  const typed = document.getElementById("palette-typed");
  const all = () => [...palette.querySelectorAll(".palette__deed")];
  const fitting = () => all().filter((one) => one.checkVisibility());

  // Emptied before it opens: `toggle` comes later than the first letters of somebody who types fast.
  palette.addEventListener("beforetoggle", () => (typed.value = ""));
  palette.addEventListener("toggle", () => palette.open && begin());
  typed.addEventListener("input", sift);
  palette.addEventListener("htmx:after:swap", sift);
  palette.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      const stops = [typed, ...fitting()];
      stops.at((stops.indexOf(document.activeElement) + step) % stops.length).focus();
    } else if (event.key === "Enter" && event.target === typed) {
      event.preventDefault();
      if (!event.isComposing) fitting()[0]?.click();
    } else if (event.key.length === 1 && event.target !== typed && !event.ctrlKey && !event.metaKey) typed.focus();
  });
  palette.addEventListener("click", (event) => {
    const deed = event.target.closest("[data-do]")?.dataset.do;
    if (!deed && event.target !== palette && !event.target.closest("a")) return;
    palette.close();
    if (deed) document.dispatchEvent(new CustomEvent("deed", { detail: deed }));
  });
  palette.addEventListener("submit", (event) => event.preventDefault());

  function begin() {
    for (const one of all()) one.dataset.off = possible(one) ? "" : "off";
    sift();
    typed.form.dispatchEvent(new Event("open"));
  }

  // What has no control on this page cannot be done here.
  function possible(one) {
    const deed = one.dataset.do;
    return !deed || ["write", "list", "new", "search", "keys"].includes(deed) || [...document.querySelectorAll(`[data-action="${deed}"]`)].some((control) => control.checkVisibility());
  }

  function sift() {
    const words = typed.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const one of all()) {
      const name = (one.dataset.name ??= one.textContent.toLowerCase());
      one.parentElement.hidden = one.dataset.off === "off" || !words.every((word) => name.includes(word));
    }
    const none = palette.querySelector(".palette__none");
    none.textContent = fitting().length ? "" : none.parentElement.dataset.none;
  }
}
