"""Open pages for tests without a browser: they load, take frames as htmx does, leave, and come back."""

import re
from itertools import count

from flask import Flask

import feed
from database import database
from live.bodies import body
from live.follow import Follower, OpenPage
from live.fragments import WINDOW, Drawing
from models import Conversation
from tests.live.dom import Node, Page, tree
from tests.place import ROOT

PARTIAL = re.compile(r'(?s)<hx-partial hx-target="([^"]+)" hx-swap="(\w+)">(.*?)</hx-partial>')


def drawing() -> Drawing:
    """The templates as app.py sets them up."""
    environment = Flask("parley", root_path=str(ROOT)).jinja_env
    environment.trim_blocks = environment.lstrip_blocks = True
    parts = environment.get_template("_parts.html").module
    environment.globals.update(base="", body=body, icon=parts.icon, switch=parts.switch, dots=parts.dots)
    return Drawing(environment)


def loaded(draw: Drawing, chat: str) -> str:
    """What a freshly loaded page of CHAT shows."""
    conversation = Conversation.get_by_id(chat)
    items = conversation.items(WINDOW)
    names = {"conversation": conversation, "items": items, "path": conversation.path(), "more": len(items) == WINDOW}
    parts = [f"conversations/{part}.html" for part in ("_title", "_direction", "_status")]
    rest = "".join(draw.draw(part, conversation=conversation) for part in parts)
    return f'{rest}<div id="items">{draw.draw("items/_items.html", body=body, **names)}</div>'


class Reader(Page):
    """A page of CHAT; its socket is itself."""

    names = count()

    def __init__(self, follower: Follower, chat: str) -> None:
        super().__init__()
        self.follower, self.chat, self.name = follower, chat, next(self.names)
        self.open: OpenPage | None = None
        with database.snapshot():
            self.cursor = feed.latest()
            self.container.children = tree(loaded(follower.drawing, chat)).children
        for child in self.container.elements:
            child.parent = self.container

    def connect(self) -> None:
        self.open = OpenPage("", "", self.chat, self)
        self.follower.join(self.open, self.cursor)

    def leave(self) -> None:
        self.follower.leave(self.open)
        self.open = None

    def send_frame(self, frame: bytes) -> None:
        self.hear(frame[{126: 4, 127: 10}.get(frame[1], 2) :].decode())

    def hear(self, html: str) -> None:
        """Take a frame, or the answer to a poll."""
        since, cursor, news = re.fullmatch(r"(?s)<!--(\d+)-(\d+)-->(.*)", html).groups()
        assert int(since) == self.cursor, "the frame goes on from where the page is"
        assert not PARTIAL.sub("", news), "only swaps"
        for where, how, inside in PARTIAL.findall(news):
            self.apply(where, how, tree(inside).children)
        self.cursor = int(cursor)

    def apply(self, where: str, how: str, nodes: list[Node | str]) -> None:
        target = self.found(where) if self.there(where) else None
        if target is None:
            return
        if how in ("innerMorph", "innerHTML"):
            target.children = []
            self.swap(target, "beforeend", nodes)
        elif how == "afterbegin":
            target.children[:0] = nodes
        elif how == "beforebegin":
            self.put_before(target, nodes)
        else:
            self.swap(target, {"outerMorph": "outerHTML"}.get(how, how), nodes)

    def put_before(self, target: Node, nodes: list[Node | str]) -> None:
        for node in nodes:
            if isinstance(node, Node):
                node.parent = target.parent
        at = target.parent.children.index(target)
        target.parent.children[at:at] = nodes

    def there(self, selector: str) -> bool:
        name = re.match(r"#([\w-]+)", selector)[1]
        return any(dict(node.attributes).get("id") == name for node in self.places())

    def places(self) -> list[Node]:
        return self.container.walk()

    @property
    def fresh(self) -> str:
        return tree(loaded(self.follower.drawing, self.chat)).inner
