// The page follows only a reader who is at the end, and never moves under one who is not.
// Who prefers it is followed until their question has come to the top: then the page stays.

const NEAR_END = 48; // px
const ABOVE = 16; // px over a question that stands at the top
const UP = ["PageUp", "Home", "ArrowUp"];

const scroller = document.getElementById("scroll");
const newer = document.getElementById("newer");
const items = document.getElementById("items");

if (scroller && newer && items) {
  let following = true;
  let finger = 0; // where it touched
  let last = 0; // where the page was scrolled to, and how high the text was, when that was last looked at
  let height = 0;
  let width = 0; // in another width the text is another one, and nobody has scrolled
  let top = 0; // where it was scrolled to when LINE was noted
  let line = []; // what stands at the first visible line, the smallest part first, and the place of each in the text

  const atEnd = () => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < NEAR_END;
  const stays = () => document.documentElement.dataset.follow === "top";
  const leave = (up) => (following &&= !up || !scroller.scrollTop);
  const edge = (part) => part.getBoundingClientRect().top;
  const place = (part) => edge(part) - edge(scroller) + scroller.scrollTop;

  scroller.addEventListener("scroll", () => {
    const by = scroller.scrollTop - last;
    const shrunk = Math.max(0, height - scroller.scrollHeight); // by so much the text moved, not the reader
    if (by > 0 && atEnd()) following = true;
    if (by < -shrunk - NEAR_END && scroller.clientWidth === width && !atEnd()) following = false;
    if (by > 0 || !following) look();
    if (following) newer.hidden = true;
    if (following) mark();
    else keep(); // something may have come above in the same frame
  }, { passive: true });
  newer.addEventListener("click", () => {
    to(scroller.scrollHeight);
    following = newer.hidden = true;
    document.getElementById("text")?.focus();
  });

  // Who goes up only a little wants to stay there, and a soft scroll that begins would be cut short by following.
  scroller.addEventListener("wheel", (event) => leave(event.deltaY < 0 && !event.ctrlKey), { passive: true });
  scroller.addEventListener("touchstart", (event) => (finger = event.touches[0].clientY), { passive: true });
  scroller.addEventListener("touchmove", (event) => leave(event.touches[0].clientY > finger), { passive: true });
  document.addEventListener("keydown", (event) => leave(UP.includes(event.key) && !event.target.matches("textarea, input, select")));

  document.getElementById("composer")?.addEventListener("submit", () => (following ||= stays()));

  new MutationObserver(tell).observe(items, { childList: true, subtree: true });
  const sizes = new ResizeObserver(() => (following ? along() : keep()));
  sizes.observe(scroller);
  sizes.observe(items);
  const found = document.getElementById(scroller.dataset.at);
  if (found) {
    found.tabIndex = -1;
    found.scrollIntoView({ block: "center" });
    found.focus({ preventScroll: true });
    following = atEnd();
  } else to(scroller.scrollHeight);
  mark();

  function to(where) {
    scroller.scrollTop = where;
    look();
  }

  function look() {
    last = scroller.scrollTop;
    height = scroller.scrollHeight;
    width = scroller.clientWidth;
  }

  function along() {
    to(Math.min(scroller.scrollHeight, farthest()));
    if (!atEnd()) newer.hidden = following = false;
  }

  // How far down the page follows: to its end, or to where the question is at the top.
  function farthest() {
    const question = stays() && [...scroller.querySelectorAll(".user:not([data-state=queued])")].at(-1);
    return question ? place(question) - ABOVE : Infinity;
  }

  // The browser keeps the line by itself, but not at the very top, and Safari never does.
  function keep() {
    const [part, was] = line.find(([part]) => part.isConnected) ?? [];
    const alone = getComputedStyle(scroller).overflowAnchor !== "auto" || scroller.scrollTop === top;
    const moved = part && alone ? place(part) - was : 0;
    if (moved) to(scroller.scrollTop + moved);
    mark();
  }

  function mark() {
    line = [];
    top = scroller.scrollTop;
    for (let part = first(items); part; part = edge(part) < edge(scroller) && first(part)) line.unshift([part, place(part)]);
  }

  // The parts stand one below the other: halving finds it, in a list of thousands, too.
  function first(parent) {
    const parts = parent.children;
    let from = parts[0]?.id === "more" ? 1 : 0;
    for (let to = parts.length; from < to; ) {
      const middle = (from + to) >> 1;
      if (parts[middle].getBoundingClientRect().bottom > edge(scroller)) to = middle;
      else from = middle + 1;
    }
    return parts[from];
  }

  function tell(changes) {
    const below = (node) => !(line[0] && node.compareDocumentPosition(line[0][0]) & Node.DOCUMENT_POSITION_FOLLOWING);
    if (!following && changes.some((change) => [...change.addedNodes].some(below))) newer.hidden = atEnd();
  }
}
