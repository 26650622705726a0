"""A small page for tests: it takes patches as htmx does and says what it holds."""

import re
from html import escape
from html.parser import HTMLParser

VOID = {"br", "hr", "input"}
STEP = re.compile(r">:(first|last|nth|nth-last)-child(?:\((\d+)\))?")


class Node:
    def __init__(self, tag: str, attributes: list[tuple[str, str | None]], parent: "Node | None") -> None:
        self.tag, self.attributes, self.parent = tag, attributes, parent
        self.children: list[Node | str] = []

    @property
    def elements(self) -> list["Node"]:
        return [child for child in self.children if isinstance(child, Node)]

    @property
    def inner(self) -> str:
        return "".join(c.html if isinstance(c, Node) else escape(c, quote=False) for c in self.children)

    @property
    def html(self) -> str:
        attributes = "".join(f' {name}="{escape(value or "")}"' for name, value in self.attributes)
        return f"<{self.tag}{attributes}>" + ("" if self.tag in VOID else f"{self.inner}</{self.tag}>")

    @property
    def text(self) -> str:
        return "".join(c.text if isinstance(c, Node) else c for c in self.children)

    def walk(self) -> list["Node"]:
        return [self, *(node for child in self.elements for node in child.walk())]


class Tree(HTMLParser):
    """HTML as nodes; a tag that is not closed, or closed twice, is an error."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.root = self.at = Node("body", [], None)
        self.feed(html)
        self.close()
        assert self.at is self.root, f"<{self.at.tag}> is not closed"

    def handle_starttag(self, tag, attrs):
        node = Node(tag, attrs, self.at)
        self.at.children.append(node)
        if tag not in VOID:
            self.at = node

    def handle_endtag(self, tag):
        assert self.at.tag == tag and self.at.parent, f"</{tag}> closes <{self.at.tag}>"
        self.at = self.at.parent

    def handle_data(self, data):
        self.at.children.append(data)


def tree(html: str) -> Node:
    return Tree(html).root


class Page:
    """A container with the DOM id "body", which patches change."""

    def __init__(self) -> None:
        self.container = Node("div", [("id", "body")], None)
        self.bytes = self.frames = 0

    def take(self, patches) -> None:
        self.frames += bool(patches)
        for patch in patches:
            self.bytes += len(patch.html)
            self.swap(self.found(patch.where), patch.how, tree(patch.html).children)

    def swap(self, target: Node, how: str, nodes: list) -> None:
        if how == "beforeend":
            where, start, end = target, len(target.children), len(target.children)
        else:
            assert how in ("outerHTML", "delete") and target is not self.container
            where, start = target.parent, target.parent.children.index(target)
            end = start + 1
        for node in nodes:
            if isinstance(node, Node):
                node.parent = where
        where.children[start:end] = nodes

    def found(self, selector: str) -> Node:
        name = re.match(r"#([\w-]+)", selector)
        node = next(node for node in self.places() if dict(node.attributes).get("id") == name[1])
        at = name.end()
        while at < len(selector):
            step = STEP.match(selector, at)
            assert step, f"no such selector: {selector}"
            number = int(step[2] or 1)
            node = node.elements[-number if "last" in step[1] else number - 1]
            at = step.end()
        return node

    def places(self) -> list[Node]:
        return [self.container, *reversed(self.container.elements)]

    @property
    def html(self) -> str:
        return self.container.inner
