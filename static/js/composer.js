// The message box: Enter sends, it grows, its draft is kept, and a message is never lost and never sent twice.

const DRAFT_AFTER = 600; // ms of quiet before a draft is kept

const composer = document.getElementById("composer");

if (composer) {
  const box = composer.elements.text;
  const state = document.getElementById("sending");
  let sent = "";
  let tried = ""; // what was sent and not answered: the server may have it
  let saving = 0;
  let composing = false;

  box.addEventListener("compositionstart", () => (composing = true));
  box.addEventListener("compositionend", () => setTimeout(() => (composing = false)));
  box.addEventListener("keydown", (event) => {
    const word = composing || event.isComposing || event.keyCode === 229;
    if (event.key !== "Enter" || event.shiftKey || word) return;
    event.preventDefault();
    if (!event.repeat && box.value.trim()) composer.requestSubmit();
  });
  box.addEventListener("input", () => {
    if (tried && !sent) renew();
    grow();
    clearTimeout(saving);
    saving = setTimeout(keep, DRAFT_AFTER);
  });

  composer.addEventListener("htmx:before:request", (event) => {
    if (sent) {
      event.preventDefault();
      return;
    }
    sent = tried = box.value;
    clearTimeout(saving);
    state.textContent = "Sending…";
  });
  composer.addEventListener("htmx:after:request", (event) => {
    const status = event.detail.ctx?.response?.status ?? 0;
    if (status === 204 || status === 303) {
      if (box.value === sent) box.value = "";
      renew();
      grow();
    } else if (status === 409) renew();
    tried = "";
    settle(status >= 400 ? "Not sent" : "");
  });
  composer.addEventListener("htmx:error", () => {
    settle("Not sent yet: no connection. It goes out when you press Enter again, or by itself when you are back online.");
  });
  addEventListener("online", resend);
  document.addEventListener("htmx:ws:after:connection", resend);
  document.addEventListener("htmx:after:request", (event) => {
    if (event.detail.ctx?.response?.status < 400) document.getElementById("notice").textContent = "";
  });

  // Only what the person has sent already, and has not touched since.
  function resend() {
    if (tried && !sent && box.value === tried) composer.requestSubmit();
  }

  // What is sent from now on is another message.
  function renew() {
    composer.elements.client_id.value = fresh();
    tried = "";
  }

  function settle(words) {
    sent = "";
    state.textContent = words;
  }

  function keep() {
    const body = new URLSearchParams({ text: box.value });
    fetch(composer.dataset.draft, { method: "POST", body, headers: { "HX-Request": "true" }, keepalive: box.value.length < 30000 }).catch(() => {});
  }

  function grow() {
    if (CSS.supports("field-sizing", "content")) return;
    box.style.height = "auto";
    box.style.height = box.scrollHeight + "px";
  }

  function fresh() {
    const bytes = crypto.getRandomValues(new Uint8Array(15));
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  addEventListener("pagehide", () => saving && box.value !== box.defaultValue && keep());
  grow();
}
