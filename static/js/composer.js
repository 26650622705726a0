// The message box: Enter sends, it grows, and a message is never lost and never sent twice.
// It tells the other scripts "said" when the server has the message, and gives it a new id when they say "renew".

const composer = document.getElementById("composer");

if (composer) {
  const box = composer.elements.text;
  const state = document.getElementById("sending");
  let sent = "";
  let tried = ""; // what was sent and not answered: the server may have it
  let composing = false;

  box.addEventListener("compositionstart", () => (composing = true));
  box.addEventListener("compositionend", () => setTimeout(() => (composing = false)));
  box.addEventListener("keydown", (event) => {
    const word = composing || event.isComposing || event.keyCode === 229;
    if (event.key !== "Enter" || word || event.altKey || !sends(event)) return;
    event.preventDefault();
    if (!event.repeat && (box.value.trim() || composer.querySelector("[data-file]"))) composer.requestSubmit();
  });
  box.addEventListener("input", () => {
    if (tried && !sent) renew();
    grow();
  });

  composer.addEventListener("htmx:before:request", (event) => {
    if (event.target !== composer) return;
    if (sent) {
      event.preventDefault();
      return;
    }
    sent = tried = box.value;
    state.textContent = "Sending…";
  });
  composer.addEventListener("htmx:after:request", (event) => {
    if (event.target !== composer) return;
    const status = event.detail.ctx?.response?.status ?? 0;
    if (status) delete composer.dataset.unsent;
    if (status === 204 || status === 303) taken();
    else if (status === 409) renew();
    tried = "";
    settle(status >= 400 ? "Not sent" : "");
  });
  composer.addEventListener("htmx:error", (event) => {
    if (event.target !== composer) return;
    composer.dataset.unsent = "yes"; // leaving the page asks first
    settle("Not sent yet: no connection");
  });
  composer.addEventListener("renew", renew);
  composer.addEventListener("put", grow);
  addEventListener("online", resend);
  document.addEventListener("htmx:ws:after:connection", resend);
  document.addEventListener("htmx:after:request", (event) => {
    if (event.detail.ctx?.response?.status < 400) document.getElementById("notice").textContent = "";
  });

  // Enter alone sends and Shift+Enter breaks the line, or the other way round; Ctrl or ⌘ with Enter always sends.
  function sends(event) {
    if (event.ctrlKey || event.metaKey) return true;
    return event.shiftKey === Boolean(document.querySelector("[data-enter=break]"));
  }

  function taken() {
    if (box.value === sent) box.value = "";
    renew();
    grow();
    composer.dispatchEvent(new Event("said"));
  }

  // Only what the person has sent already, and has not touched since.
  function resend() {
    if (tried && !sent && box.value === tried) composer.requestSubmit();
  }

  // What is sent from now on is another message.
  function renew() {
    const bytes = crypto.getRandomValues(new Uint8Array(15));
    composer.elements.client_id.value = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    tried = "";
  }

  function settle(words) {
    sent = "";
    state.textContent = words;
  }

  function grow() {
    if (CSS.supports("field-sizing", "content")) return;
    box.style.height = "auto";
    box.style.height = box.scrollHeight + "px";
  }

  grow();
}
