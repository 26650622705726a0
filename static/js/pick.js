// The model is chosen for one conversation and stays so; what it cannot do, and what fits into it, is told beside it.

const SHOWN_FROM = 500; // tokens of a draft that are worth a word
const CHARACTERS = 4; // of a token, about
const MOST = 100000; // characters of attached texts that a model is given

const composer = document.getElementById("composer");

if (composer) {
  const box = composer.elements.text;
  const { model, agent } = composer.elements;
  const tokens = document.getElementById("tokens");
  const blind = document.getElementById("blind");
  const list = document.getElementById("waiting");

  model?.addEventListener("change", () => {
    const body = new URLSearchParams({ model: model.value });
    if (model.dataset.choose) fetch(model.dataset.choose, { method: "POST", body, headers: { "HX-Request": "true" } }).catch(() => {});
    look();
  });
  agent?.addEventListener?.("change", look);
  for (const news of ["said", "put", "attached", "edited"]) composer.addEventListener(news, look);
  box.addEventListener("input", count);
  look();

  // The option of the model that will answer; the form itself says it of the usual one.
  function chosen() {
    const key = model?.value || agent?.selectedOptions?.[0].dataset.model;
    const option = key && [...(model?.options ?? [])].find((one) => one.value === key);
    return option ? { ...option.dataset, name: option.text } : { ...composer.dataset, name: composer.dataset.usual };
  }

  function look() {
    const { sees, name } = chosen();
    blind.hidden = Boolean(sees) || !list.querySelector("[data-kind^=image]");
    if (blind.querySelector("bdi").textContent !== name) blind.querySelector("bdi").textContent = name;
    count();
  }

  function count() {
    const attached = [...list.querySelectorAll("[data-size]")].reduce((sum, entry) => sum + Number(entry.dataset.size), 0);
    const about = Math.ceil((box.value.length + Math.min(attached, MOST)) / CHARACTERS);
    const room = Number(chosen().room);
    tokens.hidden = about < SHOWN_FROM;
    tokens.toggleAttribute("data-over", room > 0 && about > room);
    tokens.textContent = `about ${about.toLocaleString()}${room ? ` of ${room.toLocaleString()}` : ""} tokens`;
  }
}
