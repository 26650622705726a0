"""What the open pages of one conversation show: the branches on show, the texts that grow, and what a change means."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import feed
from live.blocks import Growing, Patch
from live.fragments import MANY, Drawing, swap
from models import Conversation, Item, Tail


@dataclass(frozen=True)
class Read:
    """What the changes after `before` made of the items of the open conversations: only the ends of those that grow."""

    before: int
    tails: dict[str, Tail]
    items: dict[str, Item]

    @classmethod
    def of(cls, before: int, changes: Iterable[feed.Change], grows: Callable[[feed.Change], bool]) -> "Read":
        """Read the items of CHANGES at once; GROWS says whether the pages have the text of one growing."""
        keys = {change.row: grows(change) for change in changes if change.kind == "item"}
        tails = Item.tails([key for key, grown in keys.items() if grown])
        unfinished = {key: tail for key, tail in tails.items() if not tail.done}
        return cls(before, unfinished, Item.of([key for key in keys if key not in unfinished]))


class View:
    """One conversation as its open pages have it."""

    def __init__(self, chat: str, drawing: Drawing) -> None:
        self.chat, self.drawing = chat, drawing
        self.pages: set = set()
        self.growing: dict[str, Growing] = {}
        self.read()

    def read(self) -> None:
        """The conversation as it is now."""
        self.conversation = Conversation.get_by_id(self.chat)
        self.path = self.conversation.path()

    def begin(self) -> "View":
        """This view with the texts that grow right now."""
        self.growing = {}
        open_items = Item.select().where(Item.chat == self.chat, Item.done == 0, Item.kind.in_(("text", "reasoning")))
        for item in Item.whole(list(open_items)):
            self.grow_from(item)
        return self

    def grow_from(self, item: Item) -> None:
        growing = Growing(f"item-{item.id}", f"item-{item.id}-body")
        growing.grow(item.text)
        self.growing[item.id] = growing

    # Something changed

    def news(self, changes: list[feed.Change], read: Read) -> str:
        """The fragments that bring the pages to where READ is."""
        kinds = {change.kind for change in changes}
        if kinds & {"turn", "conversation"}:
            self.read()
        if "turn" in kinds:
            parts = [self.drawing.window(self.conversation, self.path, self.begin().growing)]
        else:
            items = [change for change in changes if change.kind == "item"]
            grown = [self.grew(change.row, read.tails[change.row]) for change in items if change.row in read.tails]
            rest = [change for change in items if change.row not in read.tails]
            rows = {change.row: read.items[change.row] for change in rest if change.row in read.items}
            parts = [*grown, *self.told(rest, read.before, rows)]
        if "conversation" in kinds:
            parts.append(self.drawing.conversation(self.conversation))
        return "".join(parts)

    def told(self, changes: list[feed.Change], since: int, rows: dict[str, Item]) -> list[str]:
        """What changed items mean to pages that show the state SINCE: first what they have, then the line before the
        queue, then what is new to them, in the order of the log."""
        gone = [change.row for change in changes if change.row not in rows]
        shown = sorted((row for row in rows.values() if row.drawn and self.path.shows(row)), key=lambda row: row.place)
        born = {change.row for change in changes if change.born > since}
        old, new = [i for i in shown if i.id not in born], [i for i in shown if i.id in born]
        parts = [*map(self.removed, gone), *map(self.changed, old)]
        if any(item.wish for item in shown):
            parts.append(self.drawing.queue(self.queued(born)))
        return parts + [self.appended(item, old) for item in new]

    def queued(self, born: set[str]) -> Item | None:
        """The first item of the queue that the pages have: one that is not among the keys BORN."""
        waiting = (item for item in self.conversation.queue() if item.drawn and self.path.shows(item))
        return next((item for item in waiting if item.id not in born), None)

    def removed(self, key: str) -> str:
        self.growing.pop(key, None)
        return self.drawing.gone(key)

    def changed(self, item: Item) -> str:
        if item.done and item.id in self.growing:
            return self.ended(item)
        return self.drawing.changed(Item.whole([item])[0], self.path, self.growing)

    def appended(self, item: Item, old: list[Item]) -> str:
        """A new item, in front of a wish among the OLD ones that has just left the queue behind it.

        A page that has the item already, since it was told twice, shows it once.
        """
        if item.grows and item.id not in self.growing:
            self.grow_from(Item.whole([item])[0])
        behind = next((wish for wish in old if wish.wish and not wish.queued and wish.place > item.place), None)
        return self.drawing.gone(item.id) + self.drawing.born(item, behind, self.path, self.growing)

    def grew(self, key: str, tail: Tail) -> str:
        """The new end of a growing text."""
        growing = self.growing[key]
        return swapped(growing.grow(tail.after(len(growing.text))))

    def ended(self, item: Item) -> str:
        """The last end of a text that grew, and what closes it."""
        growing = self.growing.pop(item.id)
        patches = growing.grow(item.text[len(growing.text) :])
        if growing.text != item.text:
            return self.drawing.changed(item, self.path, self.growing)
        return swapped([*patches, *growing.finish()]) + self.drawing.closed(item)

    # Coming back

    def missing(self, since: int) -> str:
        """What a page that shows the state SINCE lacks, from the rows as they are now."""
        changes = feed.since(since, self.chat)
        if not since or feed.forgotten(since) or len(changes) > MANY or any(c.kind == "turn" for c in changes):
            window = self.drawing.window(self.conversation, self.path, self.growing)
            return window + self.drawing.conversation(self.conversation)
        return self.missed(changes, since) if changes or self.growing else ""

    def missed(self, changes: list[feed.Change], since: int) -> str:
        """The fragments of CHANGES. A text that grows is drawn as the others have it, even if it did not change:
        what a text means so far may depend on where it was cut."""
        items = [change for change in changes if change.kind == "item"]
        keys = {change.row for change in items}
        rows = Item.of([*keys, *self.growing])
        Item.whole(list(rows.values()))
        parts = self.told(items, since, rows)
        return "".join(parts) + self.drawing.conversation(self.conversation)


def swapped(patches: Iterable[Patch]) -> str:
    return "".join(swap(patch.how, patch.where, patch.html) for patch in patches)
