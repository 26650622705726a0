// What is typed is kept on the server for each conversation, and comes to the person's other pages. The newest text
// wins; one that it pushed aside can be brought back.

const DRAFT_AFTER = 600; // ms of quiet before a draft is kept
const SHORT = 30000; // characters that a closing page may still send

const composer = document.getElementById("composer");
const arrived = () => document.getElementById("draft");

if (composer) {
  const box = composer.elements.text;
  const line = document.getElementById("other");
  let known = arrived().textContent; // what the server has, as far as this page knows
  let adopted = known !== ""; // whether the text was typed on another page, or before this one
  let seen = arrived().dataset.changed;
  let timer = 0;
  let saving = false;
  let composing = false;
  let other = "";

  box.addEventListener("compositionstart", () => (composing = true));
  box.addEventListener("compositionend", () => {
    composing = false;
    look();
  });
  box.addEventListener("input", () => {
    if (editing()) return;
    if (adopted) composer.dispatchEvent(new Event("renew"));
    adopted = false;
    later();
  });
  composer.addEventListener("said", () => {
    if (editing()) return;
    known = "";
    adopted = false;
    offer("");
    later();
  });
  composer.addEventListener("edited", () => {
    look();
    later();
  });
  composer.addEventListener("offer", (event) => offer(event.detail.text, event.detail.words));
  document.addEventListener("htmx:after:swap", look);
  document.addEventListener("htmx:ws:after:connection", later);
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-action=bring-back]")) return;
    const back = other;
    offer(box.value, line.dataset.kept);
    box.value = back;
    box.dispatchEvent(new Event("input", { bubbles: true }));
    box.focus();
  });
  addEventListener("beforeunload", (event) => composer.dataset.unsent && box.value && event.preventDefault());
  addEventListener("pagehide", () => dirty() && box.value.length < SHORT && save(true));

  const editing = () => Boolean(composer.dataset.editing);
  const dirty = () => !editing() && box.value !== known;

  function later() {
    clearTimeout(timer);
    if (dirty()) timer = setTimeout(save, DRAFT_AFTER);
  }

  async function save(closing) {
    if ((saving && closing !== true) || !dirty()) return;
    const text = box.value;
    const id = composer.elements.client_id.value;
    const body = new URLSearchParams({ text, client_id: id });
    saving = true;
    try {
      const answer = await fetch(composer.dataset.draft, { method: "POST", body, headers: { "HX-Request": "true" }, keepalive: closing === true });
      if (answer.ok && composer.elements.client_id.value === id) known = text;
    } catch {
      return; // it is kept when the connection is back, or with the next key
    } finally {
      saving = false;
    }
    later();
  }

  // What came from another page: the echo of our own text, or a newer one. Our own typing is newer than that.
  function look() {
    const { changed, client } = arrived().dataset;
    if (changed === seen || editing() || composing) return;
    seen = changed;
    const text = arrived().textContent;
    if (text === box.value) known = text;
    else if (!dirty()) adopt(text, client);
    else if (client !== composer.elements.client_id.value) offer(text);
  }

  function adopt(text, client) {
    const before = box.value;
    box.value = known = text;
    adopted = true;
    if (client) composer.elements.client_id.value = client;
    else composer.dispatchEvent(new Event("renew"));
    offer(client && !text.startsWith(before) ? before : "");
    composer.dispatchEvent(new Event("put"));
  }

  function offer(text, words = line.dataset.newer) {
    other = text.trim() ? text : "";
    line.firstElementChild.textContent = words;
    line.hidden = !other;
  }
}
