// The page follows only a reader who is at the end, and never moves under one who is not.
// Who prefers it is followed until their question has come to the top: then the page stays.

const NEAR_END = 48; // px
const ABOVE = 16; // px over a question that stands at the top

const scroller = document.getElementById("scroll");
const newer = document.getElementById("newer");

if (scroller && newer && document.getElementById("items")) {
  let following = true;

  const atEnd = () => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < NEAR_END;
  const stays = () => document.documentElement.dataset.follow === "top";
  const toEnd = () => (scroller.scrollTop = scroller.scrollHeight);
  const along = () => (scroller.scrollTop = Math.min(scroller.scrollHeight, farthest()));

  scroller.addEventListener("scroll", () => {
    following = atEnd();
    if (following) newer.hidden = true;
  }, { passive: true });
  newer.addEventListener("click", () => {
    toEnd();
    document.getElementById("text")?.focus();
  });

  document.getElementById("composer")?.addEventListener("submit", () => (following ||= stays()));

  new MutationObserver(follow).observe(scroller, { childList: true, subtree: true, characterData: true });
  new ResizeObserver(() => following && along()).observe(scroller);
  const found = document.getElementById(scroller.dataset.at);
  if (found) {
    found.tabIndex = -1;
    found.scrollIntoView({ block: "center" });
    found.focus({ preventScroll: true });
    following = atEnd();
  } else toEnd();

  // How far down the page follows: to its end, or to where the question is at the top.
  function farthest() {
    const question = stays() && [...scroller.querySelectorAll(".user:not([data-state=queued])")].at(-1);
    if (!question) return Infinity;
    return scroller.scrollTop + question.getBoundingClientRect().top - scroller.getBoundingClientRect().top - ABOVE;
  }

  function follow(changes) {
    if (following) along();
    else if (changes.some((change) => change.addedNodes.length && !change.target.closest?.("#more"))) newer.hidden = atEnd();
  }
}
