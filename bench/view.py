"""What a page of Parley shows, from its frames: enough of htmx 4's partials to count what is visible."""

import re

from lxml import html as lx

PARTIAL = re.compile(r'<hx-partial hx-target="([^"]*)" hx-swap="(\w+)">(.*?)</hx-partial>', re.S)
STEP = re.compile(r"(?P<tag>[a-z0-9]*)(?::(?P<how>[a-z-]+)(?:\((?P<n>\d+)\))?)?")


class Seen:
    """The answers of one page; `shown` counts their visible letters and digits."""

    def __init__(self) -> None:
        self.ids: dict[str, lx.HtmlElement] = {}
        self.shown = 0

    def apply(self, frame: str) -> int:
        """Apply a frame; the visible letters and digits of the answers after it."""
        for target, how, content in PARTIAL.findall(frame):
            target = target.replace("&gt;", ">")
            if how == "beforebegin" and 'class="content"' in content:
                self.born(content)
            elif target.startswith("#item-"):
                self.swap(target, how, content)
        return self.shown

    def born(self, content: str) -> None:
        article = lx.fragment_fromstring(content)
        self.index(article)
        self.shown += letters(article)

    def swap(self, target: str, how: str, content: str) -> None:
        old = self.find(target)
        if old is None:
            return
        new = children(content)
        if how == "beforeend":
            self.append(old, new)
        elif how == "delete":
            self.shown -= letters(old)
            old.getparent().remove(old)
        elif how.startswith("outer") and len(new) == 1 and not isinstance(new[0], str):
            self.shown += letters(new[0]) - letters(old)
            new[0].tail = old.tail
            old.getparent().replace(old, new[0])
            self.index(new[0])

    def append(self, old: lx.HtmlElement, new: list) -> None:
        hidden = not counted(old)
        for node in new:
            if isinstance(node, str):
                last = old[-1] if len(old) else None
                if last is None:
                    old.text = (old.text or "") + node
                else:
                    last.tail = (last.tail or "") + node
                self.shown += 0 if hidden else sum(map(str.isalnum, node))
            else:
                old.append(node)
                self.index(node)
                self.shown += 0 if hidden else letters(node)

    def index(self, node: lx.HtmlElement) -> None:
        for element in node.iter():
            if isinstance(element.tag, str) and element.get("id"):
                self.ids[element.get("id")] = element

    def find(self, selector: str) -> lx.HtmlElement | None:
        """The element of a selector such as #item-x-3>ul>li:last-child>:nth-child(2)."""
        first, *steps = selector.split(">")
        at = self.ids.get(first[1:])
        for step in steps:
            if at is None:
                return None
            part = STEP.fullmatch(step)
            at = child(at, part["how"], int(part["n"] or 0), part["tag"])
        return at


def child(parent: lx.HtmlElement, how: str | None, n: int, tag: str) -> lx.HtmlElement | None:
    kids = [kid for kid in parent if isinstance(kid.tag, str)]
    places = {"first-child": 0, "last-child": -1, "nth-child": n - 1, "nth-last-child": -n}
    if how:
        place = places[how]
        return kids[place] if -len(kids) <= place < len(kids) else None
    return next((kid for kid in kids if kid.tag == tag), None)


def children(content: str) -> list:
    """The nodes of CONTENT: elements without their tail, and strings."""
    if "<" not in content:
        return [lx.fromstring(f"<p>{content}</p>").text or ""] if content else []
    wrap = "table" if content.startswith("<tr") else "div"
    root = lx.fragment_fromstring(content, create_parent=wrap)
    if wrap == "table" and len(root) and root[0].tag == "tbody":
        root = root[0]
    found: list = [root.text] if root.text else []
    for kid in list(root):
        tail, kid.tail = kid.tail, None
        found += [kid, tail] if tail else [kid]
    return found


def counted(element: lx.HtmlElement) -> bool:
    """Whether ELEMENT is part of an answer's text: not of a code block's head, nor of an item's foot."""
    while element is not None:
        if element.tag in ("figcaption", "footer", "h2") and "item-" not in (element.get("class") or ""):
            return element.tag == "h2" and "for-screen-reader" not in (element.get("class") or "")
        element = element.getparent()
    return True


def letters(node: lx.HtmlElement) -> int:
    """The visible letters and digits of an answer in NODE."""
    if not isinstance(node.tag, str) or node.tag in ("figcaption", "footer"):
        return 0
    if node.tag == "h2" and "for-screen-reader" in (node.get("class") or ""):
        return 0
    own = sum(map(str.isalnum, node.text or ""))
    return own + sum(letters(kid) + sum(map(str.isalnum, kid.tail or "")) for kid in node)
