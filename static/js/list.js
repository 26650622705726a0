// The lists of conversations: the one on show is marked, its menu opens beside its dots, and "Undo" goes after a while.

const UNDO_FOR = 30000; // ms

const listed = document.querySelector("[data-current]");
const menu = document.getElementById("menu");
const undo = document.getElementById("undo");

if (listed) {
  const mark = () => {
    const row = document.getElementById("conversation-" + listed.dataset.current);
    row?.querySelector("a:first-child:not([aria-current])")?.setAttribute("aria-current", "page");
  };
  new MutationObserver(mark).observe(listed, { childList: true, subtree: true, attributeFilter: ["aria-current"] });
  mark();
}

if (menu) {
  let dots = null;

  document.addEventListener("htmx:after:swap", (event) => {
    if (event.detail.ctx?.target !== menu) return;
    dots = event.detail.ctx.sourceElement;
    if (!dots.isConnected) return;
    menu.showPopover({ source: dots });
    dots.setAttribute("aria-expanded", "true");
    menu.querySelector("button, summary")?.focus();
  });
  document.addEventListener("htmx:after:request", (event) => {
    if (menu.contains(event.detail.ctx?.sourceElement)) menu.hidePopover();
  });
  menu.addEventListener("toggle", (event) => {
    if (event.target !== menu) event.target.querySelector("input")?.select();
    else if (event.newState === "closed") dots.removeAttribute("aria-expanded");
  }, true);

  // The same dots once more close the menu; the press itself has done so before the click comes.
  let pressed = null;
  document.addEventListener("pointerdown", () => (pressed = menu.matches(":popover-open") ? dots : null), true);
  document.addEventListener("htmx:before:request", (event) => {
    if (pressed && event.detail.ctx?.sourceElement === pressed) event.preventDefault();
  });
  menu.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || event.target.matches("input")) return;
    event.preventDefault();
    const deeds = [...menu.querySelectorAll("button, summary, input")].filter((one) => one.checkVisibility());
    deeds.at((deeds.indexOf(document.activeElement) + step) % deeds.length).focus();
  });
}

if (undo) {
  let timer = 0;

  new MutationObserver(offer).observe(undo, { childList: true });
  offer();

  function offer() {
    clearTimeout(timer);
    if (!undo.firstElementChild) return;
    if (document.activeElement === document.body) undo.querySelector("button").focus();
    timer = setTimeout(away, UNDO_FOR);
  }

  function away() {
    if (undo.firstElementChild?.matches(":hover")) timer = setTimeout(away, UNDO_FOR);
    else undo.textContent = "";
  }
}
