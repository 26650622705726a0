// Copy: the source of a message or the code of a block, as it was written.

const SAID_FOR = 1600; // ms

document.addEventListener("click", (event) => {
  const button = event.target.closest('[data-action="copy"], [data-action="copy-code"]');
  if (!button) return;
  event.preventDefault();
  put(button.form ? written(button.form.action) : Promise.resolve(code(button))).then(() => said(button), refused);
});

async function written(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(answer.statusText);
  return answer.text();
}

// Without its last line end: a command that is pasted must not run by itself.
function code(button) {
  return button.parentElement.querySelector("code").textContent.replace(/\n$/, "");
}

// The clipboard is asked at once, before the text has come: later the browser would not know the click any more.
async function put(source) {
  if (navigator.clipboard?.write && window.ClipboardItem) {
    const blob = source.then((text) => new Blob([text], { type: "text/plain" }));
    return navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]);
  }
  const text = await source;
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  take(text);
}

// What a page without TLS has in place of a clipboard.
function take(text) {
  const fill = (event) => {
    event.clipboardData.setData("text/plain", text);
    event.preventDefault();
  };
  document.addEventListener("copy", fill, { once: true });
  const taken = document.execCommand("copy");
  document.removeEventListener("copy", fill);
  if (!taken) throw new Error("not allowed");
}

function said(button) {
  document.getElementById("told").textContent = "Copied";
  button.dataset.copied = "";
  setTimeout(() => {
    delete button.dataset.copied;
    document.getElementById("told").textContent = "";
  }, SAID_FOR);
}

function refused() {
  document.getElementById("notice").textContent = "It could not be copied. Select the text and copy it by hand.";
}
