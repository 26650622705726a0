// Keys: what each does, as the person has bound them. Each presses a control that is on the page.
// Esc closes what is open, stops the answer only when nothing is, and else leaves the box or comes back to it.

const GO_FOR = 1500; // ms in which the letter of a place may follow g
const bound = JSON.parse(document.documentElement.dataset.keys || "{}");
const letters = document.documentElement.dataset.letters !== "off";
const deeds = Object.fromEntries(Object.entries(bound).map(([deed, key]) => [key, deed]));
const box = document.getElementById("text");
let going = 0;

document.addEventListener("keydown", (event) => {
  if (event.isComposing || event.defaultPrevented || event.repeat && !["next", "previous"].includes(deeds[named(event)])) return;
  if (event.key === "Escape") return escape();
  const key = named(event);
  if (key.length === 1 && (!letters || writes(event.target) || open())) return;
  const place = Date.now() < going && document.querySelector(`[data-go="${CSS.escape(key)}"]`);
  going = key === "g" ? Date.now() + GO_FOR : 0;
  if (place ? (place.click(), true) : deeds[key] && act(deeds[key])) event.preventDefault();
});

// The palette asks for a deed by its name.
document.addEventListener("deed", (event) => act(event.detail));

function act(deed) {
  if (deed === "next" || deed === "previous") return step(deed === "next" ? 1 : -1);
  if (deed === "write") return box ? (box.focus(), true) : press(document.querySelector('[data-go="c"]'));
  if (deed === "list") return toList();
  if (deed === "palette" || deed === "keys") return show(document.getElementById(deed));
  return press(control(deed) ?? document.querySelector(`[data-go="${{ new: "c", search: "s" }[deed]}"]`));
}

// The control of a deed: that of the message in focus, else the last one there is.
function control(deed) {
  const all = [...document.querySelectorAll(`[data-action="${deed}"]`)].filter((one) => one.checkVisibility() && !one.disabled);
  const item = document.activeElement.closest(".item");
  const its = item && all.filter((one) => item.contains(one));
  if (its?.length) return its[0];
  const inItems = all.filter((one) => one.closest(".item"));
  return inItems.at(-1) ?? (document.querySelector("#main, #page")?.contains(all.at(-1)) ? all.at(-1) : all[0]);
}

function press(one) {
  one?.click();
  return !!one;
}

function show(dialog) {
  if (!dialog) return false;
  if (!dialog.open) dialog.showModal();
  return true;
}

// j and k: over the messages, or over the list where the focus is in it.
function step(by) {
  const inList = document.activeElement.closest("#sidebar");
  const all = [...document.querySelectorAll(inList ? "#sidebar .row__link" : "#items > .item, .hit")];
  const at = all.findIndex((one) => one === document.activeElement || (!inList && one.contains(document.activeElement)));
  const next = at < 0 ? inView(all, by) : all[at + by];
  if (next) reach(next);
  else if (by < 0) press(document.getElementById("more"));
  return true;
}

function inView(all, by) {
  const seen = all.filter((one) => {
    const { top, bottom } = one.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  });
  return by > 0 ? seen[0] : seen.at(-1);
}

function reach(one) {
  const target = one.matches("a, [tabindex]") ? one : one.querySelector("a");
  target.focus({ preventScroll: true });
  one.scrollIntoView({ block: one.offsetHeight > innerHeight / 2 ? "start" : "nearest" });
}

function toList() {
  const sidebar = document.getElementById("sidebar");
  if (!sidebar) return press(document.querySelector('[data-go="c"]'));
  if (!sidebar.checkVisibility({ visibilityProperty: true })) menu(true);
  (sidebar.querySelector('.row__link[aria-current="page"]') ?? sidebar.querySelector("a.row__link, a.sidebar__new"))?.focus();
  return true;
}

function escape() {
  if (open()) return; // the browser closes it
  const part = [...document.querySelectorAll("[data-escape]")].find((one) => one.offsetParent);
  const stop = document.querySelector("[data-stop]");
  if (document.body.dataset.menu === "open") menu(false);
  else if (part) part.click();
  else if (stop) stop.requestSubmit();
  else if (document.activeElement === box) ([...document.querySelectorAll("#items > .item")].at(-1) ?? document.getElementById("scroll")).focus({ preventScroll: true });
  else box?.focus();
}

const open = () => document.querySelector("dialog[open], :popover-open");
const writes = (element) => element.closest?.("textarea, select, [contenteditable], input:not([type=checkbox], [type=radio], [type=button], [type=submit])");

// A key as it is bound: j, ?, Ctrl+K. ⌘ is Ctrl; where the keyboard writes no Latin letter, its place counts.
function named(event) {
  const held = [event.ctrlKey || event.metaKey ? "Ctrl" : "", event.altKey ? "Alt" : ""].filter(Boolean);
  if (event.getModifierState("AltGraph")) held.length = 0;
  const latin = event.key.length > 1 || event.key.charCodeAt(0) < 128 ? event.key : event.code.replace("Key", "");
  if (!held.length && latin.length === 1) return latin.toLowerCase();
  if (event.shiftKey) held.push("Shift");
  return [...held, latin[0].toUpperCase() + latin.slice(1)].join("+");
}

// The list over a small screen: what is behind it is out of reach meanwhile.
document.addEventListener("click", (event) => {
  const control = event.target.closest("a[data-menu], [data-action=palette], [data-action=keys]");
  if (!control || event.ctrlKey || event.metaKey) return;
  if (!control.matches("[data-menu]")) {
    if (show(document.getElementById(control.dataset.action))) event.preventDefault();
    return;
  }
  event.preventDefault();
  menu(document.body.dataset.menu !== "open");
});

function menu(open) {
  const main = document.getElementById("main");
  const opener = main.querySelector("[data-menu]");
  document.body.dataset.menu = open ? "open" : "";
  main.inert = open;
  opener?.setAttribute("aria-expanded", open);
  if (open) document.querySelector("#sidebar a").focus();
  else opener?.focus();
}
