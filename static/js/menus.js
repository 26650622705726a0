// Small menus: one closes when something else is pressed, or by Esc, which then does nothing else.

document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll(".menu[open]")) {
    if (!menu.contains(event.target) || event.target.closest(".menu__panel button")) menu.open = false;
  }
});

document.addEventListener("keydown", (event) => {
  const menu = event.key === "Escape" && document.querySelector(".menu[open]");
  if (!menu) return;
  event.stopImmediatePropagation();
  menu.open = false;
  menu.querySelector("summary").focus();
}, { capture: true });
