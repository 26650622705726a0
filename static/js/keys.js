// Keys: Esc closes what is open and stops the run only when nothing is; the list opens on small screens.

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.isComposing || document.querySelector(":popover-open")) return;
  const open = [...document.querySelectorAll("[data-escape]")].find((part) => part.offsetParent);
  if (document.body.dataset.menu === "open") toggle(false);
  else if (open) open.click();
  else document.querySelector("[data-stop]")?.requestSubmit();
});

document.addEventListener("click", (event) => {
  if (!event.target.closest("a[data-menu]")) return;
  event.preventDefault();
  toggle(document.body.dataset.menu !== "open");
});

document.addEventListener("htmx:after:swap", () => {
  const title = document.getElementById("title")?.dataset.title;
  if (title) document.title = title + " · Parley";
});

function toggle(open) {
  document.body.dataset.menu = open ? "open" : "";
  document.querySelector(open ? "#sidebar a" : "#text")?.focus();
}
