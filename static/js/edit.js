// One's own message goes back into the box: its Edit button, or ↑ in the empty box. What stood there comes back after.

const composer = document.getElementById("composer");

if (composer) {
  const { text: box, client_id: id, edits, queued } = composer.elements;
  const line = document.getElementById("editing");
  const files = document.getElementById("attached"); // what is attached belongs to the draft
  const other = document.getElementById("other");
  const draft = document.getElementById("draft");
  let stood = { text: draft.textContent, id: draft.dataset.client }; // what was in the box, and its id

  document.addEventListener("click", (event) => {
    const edit = event.target.closest("[data-action=edit]");
    if (!edit && !event.target.closest("[data-action=cancel]")) return;
    event.preventDefault();
    if (edit) begin(edit.closest(".user"));
    else end();
  });
  box.addEventListener("keydown", (event) => {
    const plain = !(event.shiftKey || event.ctrlKey || event.metaKey || event.altKey || event.isComposing);
    if (event.key !== "ArrowUp" || !plain || box.value || composer.dataset.editing) return;
    const last = [...document.querySelectorAll(".user")].filter(mine).at(-1);
    if (!last) return;
    event.preventDefault();
    begin(last);
  });
  composer.addEventListener("said", () => composer.dataset.editing && end(box.value));
  composer.addEventListener("htmx:after:request", (event) => {
    if (event.detail.ctx?.response?.status === 409) queued.value = ""; // its answer has begun: these are new words for it
  });

  // A message that waited and was taken back goes into the empty box, or stands by.
  document.addEventListener("htmx:after:request", (event) => {
    const { sourceElement: form, response } = event.detail.ctx ?? {}; // (it may be gone from the page already)
    if (!form?.matches?.("[data-unqueue]") || !(response?.status < 300)) return;
    const text = source(form.closest(".user"));
    if (box.value || composer.dataset.editing) offer(text);
    else put(text);
  });

  const mine = (article) => article.dataset.person === document.getElementById("app").dataset.person;
  const source = (article) => article.querySelector("[data-source]").textContent;

  function begin(article) {
    if (composer.dataset.editing) end();
    stood = { text: box.value, id: id.value };
    composer.dataset.editing = edits.value = article.id.replace("item-", "");
    files.disabled = true;
    queued.value = ["queued", "waiting"].includes(article.dataset.state) ? 1 : "";
    line.hidden = false;
    composer.dispatchEvent(new Event("renew"));
    put(source(article));
  }

  // What was typed behind the words that were sent stands by.
  function end(more = "") {
    composer.dataset.editing = edits.value = queued.value = "";
    line.hidden = true;
    files.disabled = false;
    if (stood.id) id.value = stood.id;
    box.value = stood.text;
    composer.dispatchEvent(new Event("put"));
    composer.dispatchEvent(new Event("edited"));
    if (more) offer(more);
    box.focus();
  }

  function put(text) {
    box.value = text;
    box.dispatchEvent(new Event("input", { bubbles: true }));
    box.focus();
    box.setSelectionRange(text.length, text.length);
  }

  function offer(text) {
    composer.dispatchEvent(new CustomEvent("offer", { detail: { text, words: other.dataset.kept } }));
  }
}
