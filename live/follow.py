"""One greenlet follows the log for all open pages: each change is read once, drawn once, and sent on."""

import logging

import gevent
from simple_websocket import ConnectionClosed

import feed
from database import database
from live.blocks import Growing, Patch
from live.bodies import warmed
from live.fragments import MANY, Drawing, swap
from live.socket import Socket, text_frame
from models import Conversation, Item, Membership

IDLE = 30.0  # seconds between two looks when nothing changes
BEAT = 20.0  # seconds between two signs of life to every page; the page takes 50 s of silence for a loss
SIGNED_OUT = 4401  # close codes the page knows; it does not come back by itself
REMOVED = 4403
AGAIN = 1012  # come back at once

log = logging.getLogger("parley.live")


class OpenPage:
    """One open page: who looks, at which conversation ("" none), by which session, through which socket."""

    def __init__(self, person: str, session: str, chat: str, socket: Socket) -> None:
        self.person, self.session, self.chat, self.socket = person, session, chat, socket

    def send(self, frame: bytes) -> None:
        try:
            self.socket.send_frame(frame)
        except (ConnectionClosed, OSError):
            pass  # the page is gone or too slow; it comes back with its cursor


class View:
    """What the open pages of one conversation have in common: the branches on show and the texts that grow."""

    def __init__(self, chat: str) -> None:
        self.chat = chat
        self.pages: set[OpenPage] = set()
        self.growing: dict[str, Growing] = {}
        self.read()

    def read(self) -> None:
        """The conversation as it is now."""
        self.conversation = Conversation.get_by_id(self.chat)
        self.path = self.conversation.path()


class Follower:
    """All open pages, and how far they have been told."""

    def __init__(self, drawing: Drawing) -> None:
        self.drawing = drawing
        self.pages: set[OpenPage] = set()
        self.views: dict[str, View] = {}
        self.cursor = feed.latest()

    def serve(self) -> None:
        """Tell the pages for ever. A change that cannot be drawn sends its pages to load again."""
        while True:
            feed.wait(self.cursor, IDLE)
            self.advance()

    def beat(self) -> None:
        """Tell all pages for ever that they are still heard, and how far they are."""
        while True:
            gevent.sleep(BEAT)
            frame = text_frame(f"<!--{self.cursor}-->")
            for page in list(self.pages):
                page.send(frame)

    # A page comes and goes

    def join(self, page: OpenPage, since: int) -> None:
        """PAGE, which shows the state SINCE, gets what it lacks and follows from now on."""
        self.prepare(page.chat, since)
        with database.snapshot():
            self.advance()
            if page.chat and page.chat not in self.views:
                self.views[page.chat] = self.begin(View(page.chat))
            news = self.news_since(page.person, page.chat, since)
        self.pages.add(page)
        if page.chat:
            self.views[page.chat].pages.add(page)
        page.send(text_frame(news))

    def leave(self, page: OpenPage) -> None:
        self.pages.discard(page)
        view = self.views.get(page.chat)
        if view:
            view.pages.discard(page)
            if not view.pages:
                del self.views[page.chat]

    def prepare(self, chat: str, since: int) -> None:
        """Draw big texts that PAGE will need in the thread pool, so that joining does not stop the hub."""
        rows = [change.row for change in feed.since(since, chat) if change.kind == "item"] if chat else []
        warmed(Item.whole(list(Item.select().where(Item.id.in_(rows[:MANY])))) if rows else [])

    def begin(self, view: View) -> View:
        """VIEW with the texts that grow right now."""
        open_items = Item.select().where(Item.chat == view.chat, Item.done == 0, Item.kind.in_(("text", "reasoning")))
        for item in Item.whole(list(open_items)):
            view.growing[item.id] = Growing(f"item-{item.id}", f"item-{item.id}-body")
            view.growing[item.id].grow(item.text)
        return view

    # Something changed

    def advance(self) -> None:
        """Tell every page what changed since the last time."""
        with database.snapshot():
            before, changes = self.cursor, feed.since(self.cursor)
            if not changes:
                return
            self.cursor = changes[-1].seq
            news = self.news(changes, before)
        for page, parts in news.items():
            page.send(parts)

    def news(self, changes: list[feed.Change], before: int) -> dict[OpenPage, bytes]:
        """The frame of each page that CHANGES concern."""
        topics: dict[str, list[feed.Change]] = {}
        for change in changes:
            topics.setdefault(change.chat, []).append(change)
        frames: dict[OpenPage, str] = {}
        for chat, its in topics.items():
            for page, html in self.safely(chat, its, before):
                frames[page] = frames.get(page, "") + html
        shared = {html: text_frame(f"<!--{self.cursor}-->{html}") for html in set(frames.values())}
        return {page: shared[html] for page, html in frames.items()}

    def safely(self, chat: str, changes: list[feed.Change], before: int) -> list[tuple[OpenPage, str]]:
        """What each page is told of CHAT. A catch-all: after a fault in drawing its pages come back for all."""
        view = self.views.get(chat)
        try:
            self.dismiss(changes)
            html = self.drawn(view, changes, before) if view else ""
            pages = view.pages if html else ()
            return [*((page, html) for page in pages), *self.rows(chat, changes, before)]
        except Exception:
            log.exception("conversation %s could not be drawn", chat)
            self.close(list(view.pages) if view else [], AGAIN)
            return []

    def drawn(self, view: View, changes: list[feed.Change], before: int) -> str:
        """The fragments that bring the pages of VIEW from BEFORE to now."""
        kinds = {change.kind for change in changes}
        if kinds & {"turn", "conversation"}:
            view.read()
        if "turn" in kinds:
            self.begin(view)
            parts = [self.drawing.window(view.conversation, view.path, view.growing)]
        else:
            keys = [change.row for change in changes if change.kind == "item"]
            rows = {item.id: item for item in Item.select().where(Item.id.in_(keys))} if keys else {}
            parts = [self.part(view, c, rows.get(c.row), before) for c in changes if c.kind == "item"]
            if any(item.wish for item in rows.values()):
                parts.append(self.drawing.queue(view.conversation))
        if "conversation" in kinds:
            parts.append(self.drawing.conversation(view.conversation))
        return "".join(parts)

    def part(self, view: View, change: feed.Change, item: Item | None, before: int) -> str:
        """What one changed item means to the pages of VIEW."""
        if item is None:
            view.growing.pop(change.row, None)
            return self.drawing.gone(change.row)
        if not item.drawn or not view.path.shows(item):
            return ""
        if change.born > before:
            return self.appended(view, item)
        if item.id in view.growing:
            return self.grew(view, item)
        return self.drawing.changed(Item.whole([item])[0], view.path, view.growing)

    def appended(self, view: View, item: Item) -> str:
        if item.grows:
            view.growing[item.id] = Growing(f"item-{item.id}", f"item-{item.id}-body")
            view.growing[item.id].grow(Item.whole([item])[0].text)
        return self.drawing.born(item, view.path, view.growing)

    def grew(self, view: View, item: Item) -> str:
        """The new end of a growing text; at its end also what closes it."""
        growing = view.growing[item.id]
        patches = growing.grow(lacking(item, len(growing.text)))
        if not item.done:
            return "".join(swapped(patch) for patch in patches)
        del view.growing[item.id]
        if growing.text != item.text:
            return self.drawing.changed(item, view.path, view.growing)
        return "".join(swapped(patch) for patch in [*patches, *growing.finish()]) + self.drawing.foot(item)

    def rows(self, chat: str, changes: list[feed.Change], before: int) -> list[tuple[OpenPage, str]]:
        """The conversation's row in the lists of its members."""
        change = next((c for c in changes if c.kind in ("conversation", "membership") and not c.gone), None)
        if change is None or not self.pages:
            return []
        members = {m.person for m in Membership.select().where(Membership.chat == chat)}
        pages = [page for page in self.pages if page.person in members]
        if not pages:
            return []
        html = self.drawing.row(Conversation.get_by_id(chat), born=any(c.born > before for c in changes))
        return [(page, html) for page in pages]

    def dismiss(self, changes: list[feed.Change]) -> None:
        """Close the pages of ended sessions and of people who are no longer members."""
        for change in changes:
            if change.gone and change.kind == "session":
                self.close([p for p in self.pages if p.session == change.row], SIGNED_OUT)
            elif change.gone and change.kind == "membership":
                members = {m.person for m in Membership.select().where(Membership.chat == change.chat)}
                self.close([p for p in self.pages if p.chat == change.chat and p.person not in members], REMOVED)

    def close(self, pages: list[OpenPage], code: int) -> None:
        for page in pages:
            self.leave(page)
            gevent.spawn(page.socket.close, code)

    # Coming back

    def news_since(self, person: str, chat: str, since: int) -> str:
        """What a page that shows the state SINCE lacks, and its new cursor in front; for a socket or a poll."""
        with database.snapshot():
            self.advance()
            return f"<!--{self.cursor}-->{self.listed(person, since)}{self.missing(chat, since) if chat else ''}"

    def missing(self, chat: str, since: int) -> str:
        view = self.views.get(chat) or View(chat)
        changes = feed.since(since, chat)
        if not since or feed.forgotten(since) or len(changes) > MANY or any(change.kind == "turn" for change in changes):
            return self.whole(view)
        return self.missed(view, changes, since) if changes or view.growing else ""

    def missed(self, view: View, changes: list[feed.Change], since: int) -> str:
        """The fragments of CHANGES. A text that grows is drawn as the others have it, even if it did not change:
        what a text means so far may depend on where it was cut."""
        keys = [change.row for change in changes if change.kind == "item"]
        rows = {item.id: item for item in Item.whole(list(Item.select().where(Item.id.in_([*keys, *view.growing]))))}
        told = (self.drawing.changed(rows[key], view.path, view.growing) for key in view.growing if key not in keys)
        parts = list(told)
        for change in changes:
            item = rows.get(change.row)
            if change.kind == "item" and item is None:
                parts.append(self.drawing.gone(change.row))
            elif change.kind == "item" and item.drawn and view.path.shows(item):
                draw = self.drawing.born if change.born > since else self.drawing.changed
                parts.append(draw(item, view.path, view.growing))
        return "".join(parts) + self.drawing.queue(view.conversation) + self.drawing.conversation(view.conversation)

    def whole(self, view: View) -> str:
        return self.drawing.window(view.conversation, view.path, view.growing) + self.drawing.conversation(
            view.conversation
        )

    def listed(self, person: str, since: int) -> str:
        changed = {c.row: c for c in feed.since(since) if c.kind == "conversation" and not c.gone} if since else {}
        rows = Conversation.of(person).where(Conversation.id.in_(list(changed)[:500])) if changed else ()
        return "".join(self.drawing.row(row, born=changed[row.id].born > since) for row in rows)


def swapped(patch: Patch) -> str:
    return swap(patch.how, patch.where, patch.html)


def lacking(item: Item, have: int) -> str:
    """The end of ITEM's text from the character HAVE on."""
    if have >= item.start:
        return item.text[have - item.start :]
    return Item.whole([item])[0].text[have:]
