"""What was deleted and can no longer be brought back is really removed: from the rows, and from the file.

The rows go some at a time, each time in a transaction of its own, so that nobody waits for a long one. Then the places
where removed words may still stand are cleaned: the index of the search, and the write-ahead log. (Freed pages are
overwritten by `pragma secure_delete`.)
"""

import logging
import time

import gevent

from database import Full, Locked, database, write
from tables import search
from tables.agents import Context
from tables.chat import Conversation
from tables.drafts import Draft
from tables.filed import KEPT
from tables.files import File
from tables.items import Branch, Item, Piece
from tables.people import Membership

EVERY = 5.0  # seconds between two rounds
SOME = 100  # items that go in one transaction

log = logging.getLogger("parley.removal")


def serve() -> None:
    """Remove what is due, for ever. What an earlier server removed and may not have cleaned up is cleaned up first."""
    clean = not removed()
    while True:
        try:
            clean = scrub() if sweep() or not clean else True
        except (Locked, Full) as why:
            log.warning("waiting for the database: %s", why)
        gevent.sleep(EVERY)


def removed() -> bool:
    """Whether the notes still tell of a conversation that was removed."""
    gone = "select 1 from change where kind = 'conversation' and gone = 1 limit 1"
    return database.execute_sql(gone).fetchone() is not None


def sweep() -> int:
    """Remove the conversations that are due; how many."""
    chats = due()
    for chat in chats:
        remove(chat)
    return len(chats)


def due() -> list[str]:
    """The keys of the conversations whose time is over. One whose run is about to stop waits for that."""
    old = Conversation.select(Conversation.id).where(Conversation.deleted.between(1, time.time() - KEPT))
    return [row.id for row in old if not row.open_wish()]


def remove(chat: str) -> None:
    """Take away every row of the conversation CHAT, and every note of its changes but that it is gone."""
    search.remove(chat)
    while remove_items(chat):
        pass
    File.leave(chat)
    remove_rest(chat)


@write
def remove_items(chat: str) -> int:
    """Take away some items with their pieces; how many."""
    keys = [item.id for item in Item.select(Item.id).where(Item.chat == chat).limit(SOME)]
    Piece.delete().where(Piece.item.in_(keys)).execute()
    Item.delete().where(Item.id.in_(keys)).execute()
    return len(keys)


@write
def remove_rest(chat: str) -> None:
    """Take away the conversation and what belongs to it. (The notes say who was in it, for pages that come back.)"""
    for table in (Branch, Draft, Membership):
        table.delete().where(table.chat == chat).execute()
    for table in (Context, Conversation):
        table.delete().where(table.id == chat).execute()
    notes = "delete from change where chat = ? and kind not in ('conversation', 'left')"
    database.execute_sql(notes, (chat,))


def scrub() -> bool:
    """Clean the places where removed words may still stand; False when a reader was in the way: try again later."""
    search.optimize()
    return database.empty_log()
