"""The writer in a process as the server is one: under gevent, with a thread that writes. Run with a database file."""

from gevent import monkey

monkey.patch_all()

import sqlite3  # noqa: E402
import sys  # noqa: E402
from pathlib import Path  # noqa: E402

import gevent  # noqa: E402

from database import database  # noqa: E402
from models import Conversation, Item, Person, migrate  # noqa: E402
from runner.writer import SETTLE, Writer  # noqa: E402

TEXT = "".join(f"word{n} " for n in range(SETTLE // 4))  # some pieces, and a tail


class Growing:
    """A text that grows while another program holds the database's lock."""

    def __init__(self) -> None:
        database.open(Path(sys.argv[1]), threaded=True)
        migrate()
        chat = Conversation.begin(Person.join("Ada").id)
        chat.ask(chat.id, "Hello")
        wish = chat.open_wish()
        chat.claim(wish)
        self.item = chat.add(wish, "text")
        self.other = sqlite3.connect(sys.argv[1], isolation_level=None)
        self.writer = Writer()
        gevent.spawn(self.writer.serve)

    def grows(self) -> None:
        self.other.execute("begin immediate")
        for at in range(0, len(TEXT), 1000):
            self.writer.grow(self.item.id, TEXT[at : at + 1000])

    def flushes(self) -> None:
        """Wait until the writer has taken what there is to save."""
        while self.writer.dirty:
            gevent.sleep(0.01)

    def ends(self) -> str:
        self.item.seal()
        return "whole" if Item.get_by_id(self.item.id).text == TEXT else "not what was written"


def ended() -> str:
    """The answer ends while a flush of it is on its way."""
    growing = Growing()
    growing.grows()
    growing.flushes()
    closing = gevent.spawn(growing.writer.close, growing.item.id)
    gevent.sleep(0.05)
    growing.other.execute("commit")
    closing.get()
    return growing.ends()


def given_up() -> str:
    """The last save of the answer is on its way when a stop comes; the next flush saves the same."""
    growing = Growing()
    growing.grows()
    closing = gevent.spawn(growing.writer.close, growing.item.id)
    gevent.sleep(0.01)
    assert not closing.dead, "the last save has ended already"
    closing.kill()
    growing.flushes()
    growing.other.execute("commit")
    growing.writer.close(growing.item.id)
    return growing.ends()


print({"ended": ended, "given up": given_up}[sys.argv[2]]())
