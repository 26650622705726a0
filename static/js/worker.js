// The worker that shows a page when the server cannot be reached; and that page, which tries again by itself.

const AGAIN_EVERY = 5000; // ms

const path = document.documentElement.dataset.worker;
const offline = document.querySelector("[data-health]");

if (path) addEventListener("load", () => navigator.serviceWorker?.register(path).catch(() => {}));

if (offline) {
  addEventListener("online", again);
  setInterval(again, AGAIN_EVERY);
}

async function again() {
  try {
    const answer = await fetch(offline.dataset.health, { cache: "no-store" });
    if (answer.ok) location.replace(location.pathname === offline.dataset.own ? offline.dataset.home : location.href);
  } catch {
    return; // still away
  }
}
