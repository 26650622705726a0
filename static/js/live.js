// The socket: where it goes on from, what a loss looks like, and what replaces it when it stays away.

const SHOUT_AFTER = 2000; // ms of loss before the page says so
const POLL_AFTER = 10000; // ms of loss before the page asks by itself
const POLL_EVERY = 2000; // ms
const END = "</hx-partial>";
const SILENT = 50000; // ms without a frame after which the socket is taken for dead; the server beats every 20 s
const CHECK_EVERY = 5000; // ms
const START_OVER_AFTER = 1000; // ms
const SIGNED_OUT = 4401;
const REMOVED = 4403;
const DELETED = 4410;
const TOO_MANY = 4429;

const SIGNED_OUT_WORDS = "You are signed out. What you typed is kept: sign in again to go on.";
const DELETED_WORDS = "This conversation was deleted. Its owner can bring it back for a while.";
const TOO_MANY_WORDS = "You have too many pages open, so this one does not follow. Close some and load it again.";
const REMOVED_WORDS = "You are no longer in this conversation.";

const main = document.querySelector("#main[data-cursor]");

if (main) {
  let lost = 0;
  let reached = false; // whether the server was reached since the loss
  let shout = 0;
  let poll = 0;
  let heard = Date.now();
  let ended = false;
  let swaps = Promise.resolve();

  document.addEventListener("htmx:ws:before:connection", (event) => {
    const connection = event.detail.connection;
    connection.url = connection.url.split("?")[0] + "?since=" + main.dataset.cursor;
    if (ended) event.preventDefault();
  });
  document.addEventListener("htmx:ws:after:connection", back);
  document.addEventListener("htmx:ws:close", (event) => {
    const code = event.detail.code;
    if (code === SIGNED_OUT) end(SIGNED_OUT_WORDS);
    else if (code === REMOVED) end(REMOVED_WORDS);
    else if (code === DELETED) end(DELETED_WORDS);
    else if (code === TOO_MANY) end(TOO_MANY_WORDS);
    else gone();
  });
  document.addEventListener("htmx:ws:before:message:incoming", (event) => {
    event.preventDefault();
    heard = Date.now();
    take(event.detail.message.data);
  });

  // The socket opens once this script hears it; htmx is ready before or after, by how fast the scripts came.
  if (main._htmx?.ws?.initialized) wake();
  else document.addEventListener("htmx:after:process", wake, { once: true });

  // A page that comes back from the back-forward cache, from sleep or from no network connects at once.
  addEventListener("pageshow", (event) => event.persisted && wake());
  addEventListener("online", wake);
  document.addEventListener("visibilitychange", () => document.hidden || check());
  setInterval(check, CHECK_EVERY);

  // A phone that slept, or a network that died without a word, leaves a socket that only looks open.
  function check() {
    if (ended || Date.now() - heard < SILENT) return;
    heard = Date.now();
    hangUp();
    wake();
  }

  function hangUp() {
    const connection = main._htmx?.ws?.connection;
    if (!connection?.socket) return;
    connection.abortController?.abort();
    connection.socket.close();
    forget(connection);
    gone();
  }

  // htmx finds all targets of a text before it swaps the first one, and a swap may need what the one before it brought:
  // so each goes by itself, in order.
  // A page that comes back meanwhile goes on behind them, so its cursor moves at once.
  function take(frame) {
    const [since, cursor, news] = /^<!--(\d+)-(\d+)-->([^]*)/.exec(frame).slice(1);
    if (since !== main.dataset.cursor) {
      if (+cursor > +main.dataset.cursor) comeBack();
      return;
    }
    main.dataset.cursor = cursor;
    swaps = swaps.then(() => put(news)).catch(startOver);
  }

  // A frame that does not go on from here: one was lost on the way, or overtaken. The socket opens anew for the rest.
  function comeBack() {
    hangUp();
    wake();
  }

  async function put(news) {
    for (const part of news.split(END)) {
      if (part) await htmx.swap({ sourceElement: main, target: main, swap: "none swapEmpty:false", text: part + END });
    }
  }

  // Something could not be put in: the server draws the whole list for a page that knows nothing.
  function startOver() {
    main.dataset.cursor = 0;
    hangUp();
    setTimeout(wake, START_OVER_AFTER);
  }

  function wake() {
    const socket = main._htmx?.ws?.connection?.socket;
    if (ended || (socket && socket.readyState <= WebSocket.OPEN)) return;
    const connection = main._htmx?.ws?.connection;
    if (connection) forget(connection);
    main.dispatchEvent(new CustomEvent("wake"));
  }

  function forget(connection) {
    clearTimeout(connection.timer);
    delete main._htmx.ws.connection;
  }

  function gone() {
    if (lost) return;
    lost = Date.now();
    reached = false;
    shout = setTimeout(() => show(true), SHOUT_AFTER);
    poll = setTimeout(ask, POLL_AFTER);
  }

  function back() {
    lost = 0;
    clearTimeout(shout);
    clearTimeout(poll);
    show(false);
  }

  async function ask() {
    poll = setTimeout(ask, POLL_EVERY);
    try {
      const answer = await fetch(main.dataset.news + "?since=" + main.dataset.cursor, { headers: { "HX-Request": "true" } });
      if (answer.status === 401) end(SIGNED_OUT_WORDS);
      if (answer.status === 404) end(REMOVED_WORDS);
      if (!answer.ok || !lost) return;
      const text = await answer.text();
      if (!lost) return;
      take(text);
      if (!reached) wake(); // the network is back, however long the next try would have waited
      reached = true;
    } catch {
      reached = false;
    }
  }

  function end(words) {
    ended = true;
    clearTimeout(poll);
    const banner = document.getElementById("offline");
    banner.textContent = words;
    banner.hidden = false;
  }

  function show(away) {
    if (!ended) document.getElementById("offline").hidden = !away;
  }
}
