// What was found: its words are marked in the text, the field and the keys go from hit to hit, the address follows.

const LATIN = /[\u00c0-\u024f\u1e00-\u1eff]/;

const find = document.getElementById("find");
const marked = document.querySelector("[data-words]");

if (marked && window.Highlight && CSS.highlights) {
  const words = pattern(marked.dataset.words);
  const mark = () => CSS.highlights.set("found", new Highlight(...[...marked.querySelectorAll(".content, .user__text")].flatMap(ranges)));
  if (words) {
    mark();
    document.addEventListener("htmx:after:swap", mark);
  }

  // The words may go over the borders of elements: so the text is read as a whole.
  function ranges(content) {
    const nodes = [], walker = document.createTreeWalker(content, NodeFilter.SHOW_TEXT);
    let text = "";
    for (let node; (node = walker.nextNode()); text += node.data) nodes.push([text.length, node]);
    return [...folded(text).matchAll(words)].map((hit) => {
      const range = new Range();
      range.setStart(...at(nodes, hit.index));
      range.setEnd(...at(nodes, hit.index + hit[0].length - 1, 1));
      return range;
    });
  }

  function at(nodes, place, more = 0) {
    const [start, node] = nodes.findLast(([start]) => start <= place);
    return [node, place - start + more];
  }
}

if (find) {
  const go = (name) => document.querySelector(`[data-action="found-${name}"]`)?.click();
  const field = find.elements.find;

  find.addEventListener("submit", (event) => {
    if (event.submitter?.formAction.endsWith("/at") || field.value !== field.defaultValue || !document.querySelector("[data-action=found-next]")) return;
    event.preventDefault();
    go("previous");
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !event.shiftKey || event.isComposing) return;
    event.preventDefault();
    go("next");
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "F3") return;
    event.preventDefault();
    go(event.shiftKey ? "previous" : "next");
  });
}

document.getElementById("search")?.addEventListener("htmx:after:request", (event) => {
  const asked = [...new FormData(event.currentTarget)].filter(([, value]) => value);
  history.replaceState(null, "", "?" + new URLSearchParams(asked));
});

function pattern(source) {
  try {
    return new RegExp(source, "gv");
  } catch {
    return null; // an older browser: the item is shown, its words are not marked
  }
}

// As the index folds: no case, no Latin accents, and each character stays where it is.
function folded(text) {
  return text.replace(/[^]/g, (one) => (LATIN.test(one) ? one.normalize("NFD")[0] : one).toLowerCase()[0]);
}
