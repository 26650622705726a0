"""Which rows changed since N, and the wait for the next. The page, the runner, the interface and the tests read this.

A reader remembers one number, its cursor. Each changed row comes once, in its newest form: `born > cursor` says that
the reader has not seen it, `gone` that it was deleted. Reading from an older number is all there is to reconnecting.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from gevent.event import Event

from database import database, write

POLL = 0.5  # seconds until a change made by another program is noticed
KEEP = 86400  # seconds a deleted row is remembered; a reader who was away longer has to load again

_ears: set[Event] = set()


@dataclass(frozen=True, slots=True)
class Change:
    """Row ROW of the table KIND changed; CHAT is its topic."""

    seq: int
    born: int
    kind: str
    row: str
    chat: str
    gone: int


def latest() -> int:
    """The number of the newest change."""
    return database.execute_sql("select coalesce(max(seq), 0) from change").fetchone()[0]


def since(cursor: int, chat: str = "") -> list[Change]:
    """The changes after CURSOR in order, of one topic or of all."""
    sql = "select seq, born, kind, row, chat, gone from change where seq > ?"
    found = database.execute_sql(sql + (" and chat = ?" if chat else ""), (cursor, chat) if chat else (cursor,))
    return [Change(*row) for row in found.fetchall()]


def forgotten(cursor: int) -> bool:
    """Whether a reader at CURSOR may have missed a deletion that is no longer known, or comes from another database."""
    swept = database.execute_sql("select coalesce(max(born), 0) from change where kind = 'sweep'").fetchone()[0]
    return cursor < swept or cursor > latest()


@write
def sweep(older: float = KEEP) -> None:
    """Forget deletions of more than OLDER seconds ago."""
    old = ("gone = 1 and at < ?", (int(time.time() - older),))
    last = database.execute_sql(f"select max(seq) from change where {old[0]}", old[1]).fetchone()[0]
    if last:
        database.execute_sql(f"delete from change where kind = 'sweep' or ({old[0]})", old[1])
        database.execute_sql(
            "insert into change(born, kind, row, chat, gone) values (?, 'sweep', 'sweep', '', 0)", (last,)
        )


def ring() -> None:
    """Something was committed."""
    for ear in _ears:
        ear.set()


@contextmanager
def bell() -> Iterator[Event]:
    """An event that is set at each ring from now on."""
    ear = Event()
    _ears.add(ear)
    try:
        yield ear
    finally:
        _ears.discard(ear)


def wait(cursor: int, seconds: float) -> bool:
    """Wait until something changed after CURSOR, at most SECONDS; whether it did."""
    deadline = time.monotonic() + seconds
    with bell() as ear:
        while latest() <= cursor:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            ear.clear()
            if latest() <= cursor:
                ear.wait(min(POLL, left))
        return True
