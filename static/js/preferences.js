// Preferences: what is chosen is on the page at once, as the next page has it from the server.

document.addEventListener("change", (event) => {
  if (event.target.closest("[data-applies]")) document.documentElement.dataset[event.target.name] = event.target.value;
});
