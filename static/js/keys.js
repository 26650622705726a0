// Keys: Esc closes what is open and stops the run only when nothing is; the list opens on small screens.

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.isComposing) return;
  const open = [...document.querySelectorAll("[data-escape]")].find((part) => part.offsetParent);
  if (document.body.dataset.menu === "open") toggle(false);
  else if (open) open.click();
  else document.querySelector("[data-stop]")?.requestSubmit();
});

document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-menu]")) return;
  event.preventDefault();
  toggle(document.body.dataset.menu !== "open");
});

document.addEventListener("htmx:after:swap", () => {
  const title = document.getElementById("title")?.dataset.title;
  if (title) document.title = title + " · Parley";
});

const list = document.getElementById("conversations");
if (list) {
  const mark = () => {
    document.getElementById("conversation-" + list.dataset.current)?.querySelector("a")?.setAttribute("aria-current", "page");
  };
  new MutationObserver(mark).observe(list, { childList: true, subtree: true });
  mark();
}

function toggle(open) {
  document.body.dataset.menu = open ? "open" : "";
  document.querySelector(open ? "#sidebar a" : "#text")?.focus();
}
