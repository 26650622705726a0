// The page follows only a reader who is at the end, and never moves under one who is not.

const NEAR_END = 48; // px

const scroller = document.getElementById("scroll");
const newer = document.getElementById("newer");

if (scroller && newer && document.getElementById("items")) {
  let following = true;

  const atEnd = () => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < NEAR_END;
  const toEnd = () => (scroller.scrollTop = scroller.scrollHeight);

  scroller.addEventListener("scroll", () => {
    following = atEnd();
    if (following) newer.hidden = true;
  }, { passive: true });
  newer.addEventListener("click", () => {
    toEnd();
    document.getElementById("text")?.focus();
  });

  new MutationObserver(follow).observe(scroller, { childList: true, subtree: true, characterData: true });
  new ResizeObserver(() => following && toEnd()).observe(scroller);
  const found = document.getElementById(scroller.dataset.at);
  if (found) {
    found.tabIndex = -1;
    found.scrollIntoView({ block: "center" });
    found.focus({ preventScroll: true });
    following = atEnd();
  } else toEnd();

  function follow(changes) {
    if (following) toEnd();
    else if (changes.some((change) => change.addedNodes.length && !change.target.closest?.("#more"))) newer.hidden = atEnd();
  }
}
