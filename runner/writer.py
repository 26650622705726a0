"""Pieces of streams become growing items: the new texts of all runs are saved together, in one transaction a flush.

The front of a long text settles in rows of its own (Piece), so that a flush costs the same however long the text is.
"""

import time
from collections.abc import Callable

import gevent
from gevent.event import Event
from gevent.lock import RLock

from database import Full, Locked, database

SAVE_EVERY = 0.05  # seconds between two flushes, at least
SAVE_EACH = 0.0002  # seconds more for each text that grows, so that many runs share a flush
SETTLE = 8192  # characters of a tail that becomes a piece
INSIST_EVERY = 0.5  # seconds between two tries to save when the disk is full or locked


class Growth:
    """The text of one item: what is settled, what is in the row, what is new."""

    def __init__(self, item: str) -> None:
        self.item = item
        self.start = 0
        self.tail = ""
        self.pieces: list[tuple[str, int, str]] = []  # settled, not yet saved

    def add(self, more: str) -> None:
        self.tail += more
        if len(self.tail) >= SETTLE:
            self.pieces.append((self.item, self.start, self.tail))
            self.start += len(self.tail)
            self.tail = ""


class Writer:
    """Saves growing texts at most every SAVE_EVERY seconds; one for all runs."""

    def __init__(self) -> None:
        self.dirty: dict[str, Growth] = {}
        self.texts: dict[str, Growth] = {}
        self.news = Event()
        self.saving = RLock()  # an older text must never be saved after a newer one, nor a piece twice

    def grow(self, item: str, more: str) -> None:
        """The text of ITEM (its key) goes on with MORE."""
        growth = self.texts.get(item) or self.texts.setdefault(item, Growth(item))
        growth.add(more)
        self.dirty[item] = growth
        self.news.set()

    def close(self, item: str) -> None:
        """Save what is left of ITEM's text; it does not grow any more. Does not return before it is on disk."""
        growth = self.texts.get(item)
        if growth:
            self.keep([growth])
            self.texts.pop(item, None)
            self.dirty.pop(item, None)

    def serve(self) -> None:
        """Save for ever: what comes after a pause at once."""
        due = 0.0
        while True:
            self.news.wait()
            gevent.sleep(max(0.0, due - time.monotonic()))
            due = time.monotonic() + SAVE_EVERY + SAVE_EACH * len(self.texts)
            self.news.clear()
            batch, self.dirty = list(self.dirty.values()), {}
            if batch:
                self.keep(batch)

    def keep(self, batch: list[Growth]) -> None:
        """Save BATCH, however long it takes; what is settled meanwhile is for the next time."""
        with self.saving:
            settled = [(growth, len(growth.pieces)) for growth in batch]
            rows = [(growth.tail, growth.start, growth.item) for growth in batch]
            pieces = [piece for growth in batch for piece in growth.pieces]
            insist(lambda: save(pieces, rows))
            for growth, count in settled:
                del growth.pieces[:count]


def insist(work: Callable[[], object]) -> object:
    """Do WORK in a transaction, however long the disk is full or another program holds the lock."""
    while True:
        try:
            return database.run(work)
        except (Locked, Full):
            gevent.sleep(INSIST_EVERY)


def save(pieces: list[tuple[str, int, str]], rows: list[tuple[str, int, str]]) -> None:
    """Write the new pieces, and the tail and start of each row. What was written by a save that was given up stays."""
    connection = database.connection()
    connection.executemany("insert or ignore into piece(item, start, text) values (?, ?, ?)", pieces)
    connection.executemany("update item set text = ?, start = ? where id = ? and done = 0", rows)
