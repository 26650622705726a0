"""Finding within one conversation: its hits in order, and where the reader is among them."""

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote

from gevent.threadpool import ThreadPool

from models import Conversation, Item
from tables.search import within
from tables.words import LONGEST, Query

threads = ThreadPool(2)  # a slow look-up holds up others like it, and nobody else


def read(look: Callable, *what: object) -> object:
    """What LOOK gives; it reads in a thread of its own, since SQLite does not yield."""
    return threads.apply(look, what)


@dataclass(frozen=True)
class Place:
    """Where the reader is among the hits of one conversation: number N of them (0: at none), the neighbours' keys.

    OPEN: they look for something, or are about to.
    """

    open: bool
    text: str
    query: Query
    hits: list[str]
    at: str

    def link_to(self, item: str) -> str:
        """Where the page shows ITEM."""
        return f"?find={quote(self.text)}&at={item}#item-{item}"

    @property
    def n(self) -> int:
        return self.hits.index(self.at) + 1 if self.at in self.hits else 0

    @property
    def before(self) -> str:
        return self.hits[((self.n or 1) - 2) % len(self.hits)] if self.hits else ""

    @property
    def after(self) -> str:
        return self.hits[self.n % len(self.hits)] if self.hits else ""


def place(conversation: Conversation, text: str | None, at: str) -> Place:
    """The hits of TEXT (None: nothing is looked for) in CONVERSATION as it is on show, and the reader AT an item."""
    query = Query.of(text or "")
    hits = read(hits_of, conversation, query) if query else []
    return Place(text is not None, (text or "")[:LONGEST], query, hits, at)


def hits_of(conversation: Conversation, query: Query) -> list[str]:
    path, keys = conversation.path(), within(conversation.id, query)
    found = Item.select(Item.id, Item.run, Item.branch).where(Item.id.in_(keys))
    return [item.id for item in sorted(found, key=lambda item: item.place) if path.shows(item)]
