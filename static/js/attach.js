// Files come by the button, by drop and by paste, with progress and cancel; a long paste becomes one, with undo.

const LONG = 10000; // characters of a paste that is attached as a file
const LINES = 200;
const MEGABYTE = 1 << 20; // bytes
const LATER = /\.(pdf|docx?|xlsx?|pptx?|od[tsp]|epub|zip|gz|7z|rar|mp[34]|m4a|wav|ogg|mov|avi|webm|heic|tiff?)$/i;

const composer = document.getElementById("composer");
const place = document.getElementById("attach");

if (composer && place) {
  const box = composer.elements.text;
  const chooser = document.getElementById("chooser");
  const list = document.getElementById("waiting");
  const refused = document.getElementById("refused");
  const pasted = document.getElementById("pasted");
  const loads = new Map(); // entry: its request
  let wanted = false; // whether the message goes out when the files are there
  let going = []; // the entries that were sent
  let undo = null; // the long paste: its entry, text and place

  const files = () => list.querySelectorAll("[data-file]");

  chooser.addEventListener("change", () => {
    take(chooser.files);
    chooser.value = "";
    box.focus();
  });
  document.addEventListener("dragover", (event) => drag(event, true));
  document.addEventListener("dragleave", (event) => event.relatedTarget || drag(event, false));
  document.addEventListener("drop", (event) => {
    if (drag(event, false)) take(event.dataTransfer.files);
  });
  box.addEventListener("paste", (event) => {
    const came = event.clipboardData;
    const text = came.getData("text/plain");
    if (!text && came.files.length) take(came.files);
    else if (long(text) && !composer.dataset.editing) attach(text);
    else return;
    event.preventDefault();
  });
  document.addEventListener("click", (event) => {
    const entry = event.target.closest("[data-action=cancel-upload]")?.closest("[data-file]");
    if (entry) loads.get(entry)?.abort();
    if (event.target.closest("[data-action=paste-as-text]")) asText();
    else if (event.target.closest("[data-action=remove-file]")?.closest("[data-file]") === undo?.entry) pasted.hidden = true;
  });
  composer.addEventListener("htmx:before:request", (event) => {
    if (event.target !== composer) return;
    going = [...files()];
    wanted = loads.size > 0;
    if (!wanted) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    document.getElementById("sending").textContent = "Sending when the files are there…";
  });
  composer.addEventListener("said", () => {
    if (!composer.dataset.editing) for (const entry of going) entry.remove();
    pasted.hidden = refused.hidden = true;
  });
  new MutationObserver(changed).observe(list, { childList: true });

  function changed() {
    box.required = files().length === 0;
    if (document.activeElement === document.body) box.focus(); // its button went with the entry
    composer.dispatchEvent(new Event("attached"));
  }

  function drag(event, over) {
    if (!event.dataTransfer?.types.includes("Files")) return false;
    event.preventDefault();
    composer.toggleAttribute("data-drop", over);
    return true;
  }

  function take(found) {
    for (const file of found) {
      if (composer.dataset.editing) refuse("Files cannot be added while you edit a message.");
      else if (files().length >= Number(place.dataset.count)) refuse(`A message takes ${place.dataset.count} files. Send these first.`);
      else if (file.size > place.dataset.most * MEGABYTE) refuse(`${file.name} is larger than ${place.dataset.most} MB, which is the most a file may have.`);
      else if (LATER.test(file.name)) refuse(`${file.name} cannot be read here yet. Text, code and pictures can be attached.`);
      else send(file);
    }
  }

  // The entry stands in the list at once; the server's own takes its place.
  function send(file) {
    const entry = document.getElementById("uploading").content.firstElementChild.cloneNode(true);
    entry.querySelector(".file__name").textContent = file.name;
    list.append(entry);
    refused.hidden = true;
    const form = new FormData();
    form.append("file", file, file.name || "picture.png");
    const request = new XMLHttpRequest();
    loads.set(entry, request);
    request.upload.onprogress = (event) => (entry.querySelector("progress").value = event.loaded / event.total);
    request.onload = () => (request.status === 201 ? arrived(entry, request.responseText) : failed(entry, request.responseText));
    request.onerror = () => failed(entry, "");
    request.onabort = () => failed(entry, null);
    request.open("POST", place.action);
    request.setRequestHeader("HX-Request", "true");
    request.send(form);
    return entry;
  }

  async function arrived(entry, html) {
    const at = [...list.children].indexOf(entry);
    await htmx.swap({ sourceElement: composer, target: entry, swap: "outerHTML", text: html });
    if (undo?.entry === entry) undo.entry = list.children[at];
    loads.delete(entry);
    if (wanted && !loads.size) composer.requestSubmit();
  }

  // HTML is the server's refusal, "" that it was not reached, null that the person cancelled.
  function failed(entry, html) {
    loads.delete(entry);
    entry.remove();
    if (undo?.entry === entry) pasted.hidden = true;
    if (wanted) document.getElementById("sending").textContent = "Not sent";
    wanted = false;
    if (html) htmx.swap({ sourceElement: composer, target: refused, swap: "innerHTML", text: html });
    else if (html === "") refuse("The file did not arrive: no connection. Attach it again.");
    if (html) refused.hidden = false;
  }

  function refuse(words) {
    refused.textContent = words;
    refused.hidden = false;
  }

  // A long paste

  function long(text) {
    return text.length > LONG || (text.length > LINES && text.split("\n", LINES + 1).length > LINES);
  }

  function attach(text) {
    const file = new File([text], "pasted.txt", { type: "text/plain" });
    undo = { entry: send(file), text, start: box.selectionStart, end: box.selectionEnd };
    pasted.hidden = false;
    pasted.querySelector("button").hidden = text.length + box.value.length > box.maxLength;
  }

  function asText() {
    if (loads.has(undo.entry)) loads.get(undo.entry).abort();
    else undo.entry.querySelector("[data-action=remove-file]").click();
    box.setRangeText(undo.text, undo.start, undo.end, "end");
    box.dispatchEvent(new Event("input", { bubbles: true }));
    pasted.hidden = true;
    box.focus();
  }
}
