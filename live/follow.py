"""One greenlet follows the log for all open pages: each change is read once, drawn once, and sent on."""

import itertools
import logging
from collections.abc import Callable, Iterable

import gevent
from simple_websocket import ConnectionClosed

import feed
from database import database
from live import lists
from live.bodies import warmed
from live.fragments import MANY, Drawing
from live.socket import Socket, text_frame
from live.view import Read, View
from models import Conversation, Draft, Item, Membership

IDLE = 30.0  # seconds between two looks when nothing changes
SURE = 2.0  # seconds after which a page is told how far it is: so it finds out when a frame was lost
BEAT = 10  # times as seldom every page is; it takes 50 s of silence for a loss
SIGNED_OUT = 4401  # close codes the page knows; it does not come back by itself
REMOVED = 4403
DELETED = 4410
TOO_MANY = 4429
AGAIN = 1012  # come back at once

log = logging.getLogger("parley.live")
Told = tuple["OpenPage", str]


class OpenPage:
    """One open page: who looks, at which conversation ("" none), by which session, through which socket.

    `told` is the state it shows when nothing was lost on the way, `sure` whether it knows that.
    """

    def __init__(self, person: str, session: str, chat: str, socket: Socket) -> None:
        self.person, self.session, self.chat, self.socket = person, session, chat, socket
        self.told, self.sure = 0, True

    def send(self, frame: bytes) -> None:
        try:
            self.socket.send_frame(frame)
        except (ConnectionClosed, OSError):
            pass  # the page is gone or too slow; it comes back with its cursor


class Follower:
    """All open pages, and how far they have been told."""

    def __init__(self, drawing: Drawing) -> None:
        self.drawing = drawing
        self.pages: set[OpenPage] = set()
        self.views: dict[str, View] = {}
        self.cursor = feed.latest()

    def serve(self) -> None:
        """Tell the pages for ever. A catch-all: after a fault in reading, all pages come back for what they lack."""
        while True:
            try:
                feed.wait(self.cursor, IDLE)
                self.advance()
            except Exception:
                log.exception("the follower stumbled")
                self.close(list(self.pages), AGAIN)
                gevent.sleep(1)

    def beat(self) -> None:
        """Tell pages for ever how far they are, those soon that were told something."""
        for number in itertools.count(1):
            gevent.sleep(SURE)
            self.tell([(page, "") for page in self.pages if not page.sure or number % BEAT == 0], sure=True)

    # A page comes and goes

    def join(self, page: OpenPage, since: int) -> None:
        """PAGE, which shows the state SINCE, gets what it lacks and follows from now on."""
        self.prepare(page.chat, since)
        with database.snapshot():
            self.advance()
            if page.chat and page.chat not in self.views:
                self.views[page.chat] = View(page.chat, self.drawing).begin()
            news = self.news_since(page.person, page.chat, since)
        self.pages.add(page)
        if page.chat:
            self.views[page.chat].pages.add(page)
        page.told, page.sure = self.cursor, False
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

    # Something changed

    def advance(self) -> None:
        """Tell every page what changed since the last time."""
        with database.snapshot():
            before, changes = self.cursor, feed.since(self.cursor)
            if not changes:
                return
            self.cursor = changes[-1].seq
            news = self.news(changes, before)
        self.tell(news.items())

    def tell(self, news: Iterable[Told], sure: bool = False) -> None:
        """Send each page its NEWS, which bring it to the cursor; pages that are told the same share the bytes."""
        frames: dict[tuple[int, str], bytes] = {}
        for page, html in list(news):
            said = page.told, html
            if said not in frames:
                frames[said] = text_frame(stamped(page.told, self.cursor, html))
            page.told, page.sure = self.cursor, sure
            page.send(frames[said])

    def news(self, changes: list[feed.Change], before: int) -> dict[OpenPage, str]:
        """What CHANGES mean to each page they concern."""
        topics: dict[str, list[feed.Change]] = {}
        for change in changes:
            topics.setdefault(change.chat, []).append(change)
        ours = [change for change in changes if change.chat in self.views]
        read = Read.of(before, ours, lambda change: change.row in self.views[change.chat].growing)
        frames: dict[OpenPage, str] = {}
        told = [self.safely(lambda: self.filed(changes))]  # first, since what follows may close a page
        told += [self.safely(lambda: self.drafts(changes))]
        told += [self.safely(lambda c=chat: self.of(c, topics[c], read), chat) for chat in topics]
        for page, html in itertools.chain.from_iterable(told):
            frames[page] = frames.get(page, "") + html
        return frames

    def safely(self, tell: Callable[[], list[Told]], chat: str = "") -> list[Told]:
        """What TELL says. A catch-all: after a fault in drawing, the pages of CHAT ("" all) come back for all."""
        try:
            return tell()
        except Exception:
            log.exception("conversation %s could not be drawn", chat or "lists")
            self.close([page for page in self.pages if chat in ("", page.chat)], AGAIN)
            return []

    def of(self, chat: str, changes: list[feed.Change], read: Read) -> list[Told]:
        """What each page is told of the conversation CHAT."""
        self.dismiss(changes)
        view = self.views.get(chat)
        html = view.news(changes, read) if view else ""
        return [(page, html) for page in view.pages] if html else []

    def filed(self, changes: list[feed.Change]) -> list[Told]:
        """What the lists on each page are told."""
        its = [change for change in changes if change.kind in lists.KINDS]
        moved = lists.concerned(its, {page.person for page in self.pages}) if its else {}
        news = {person: lists.moved(self.drawing, person, keys) for person, keys in moved.items()}
        return [(page, news[page.person]) for page in self.pages if page.person in news] if news else []

    def drafts(self, changes: list[feed.Change]) -> list[tuple[OpenPage, str]]:
        """What somebody typed, for their own pages of the same conversation."""
        keys = [change.row for change in changes if change.kind == "draft" and not change.gone]
        drafts = {(d.person, d.chat): d for d in Draft.select().where(Draft.id.in_(keys))} if keys else {}
        pages = [page for page in self.pages if (page.person, page.chat) in drafts] if drafts else []
        return [(page, self.drawing.draft(drafts[page.person, page.chat])) for page in pages]

    def dismiss(self, changes: list[feed.Change]) -> None:
        """Close the pages of ended sessions, of people who are no longer members, and of a deleted conversation."""
        for change in changes:
            if change.gone and change.kind == "session":
                self.close([p for p in self.pages if p.session == change.row], SIGNED_OUT)
            elif change.gone and change.kind == "membership":
                members = {m.person for m in Membership.select().where(Membership.chat == change.chat)}
                self.close([p for p in self.pages if p.chat == change.chat and p.person not in members], REMOVED)
            elif change.kind == "conversation" and change.chat in self.views and not Conversation.there(change.chat):
                self.close(list(self.views[change.chat].pages), DELETED)

    def close(self, pages: list[OpenPage], code: int) -> None:
        for page in pages:
            self.leave(page)
            gevent.spawn(page.socket.close, code)

    # Coming back

    def news_since(self, person: str, chat: str, since: int) -> str:
        """What a page that shows the state SINCE lacks, with its stamp; for a socket or a poll."""
        with database.snapshot():
            self.advance()
            view = (self.views.get(chat) or View(chat, self.drawing)) if chat else None
            beside = lists.since(self.drawing, person, since) + self.drafted(person, chat, since)
            return stamped(since, self.cursor, beside + (view.missing(since) if view else ""))

    def drafted(self, person: str, chat: str, since: int) -> str:
        changed = not since or any(change.kind == "draft" for change in feed.since(since, person))
        return self.drawing.draft(Draft.of(chat, person)) if changed else ""


def stamped(since: int, cursor: int, html: str) -> str:
    """HTML as a frame says it: in front, which state it goes on from and which one it leads to."""
    return f"<!--{since}-{cursor}-->{html}"
