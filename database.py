"""The database: one SQLite file, one connection for each native thread, and one thread that writes.

SQLite does not yield to gevent, and a writer may have to wait for the disk or for a lock. So every write transaction
runs in one thread of its own (`write`), where it can neither stop the hub nor meet another write; reads are short and
run on the hub. A transaction can hold no network call, since nothing in that thread can switch to another greenlet.
"""

import fcntl
import functools
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import peewee
from gevent import monkey
from gevent.threadpool import ThreadPool

PATIENCE = 5.0  # seconds a write waits for locks of other processes
PRAGMAS = {"journal_mode": "wal", "synchronous": "full", "foreign_keys": 1, "busy_timeout": 5000, "cache_size": -16000}
PRAGMAS |= {"secure_delete": 1}  # what is deleted is overwritten


class Locked(Exception):
    """Another program held the database's lock for too long; the write was not done and may be tried again."""


class Full(Exception):
    """The disk is full, or the quota; the write was not done."""


class _Connections(peewee._ConnectionState, monkey.get_original("threading", "local")):
    """One connection for each native thread, not for each greenlet as peewee's patched `threading.local` would give."""


class Database(peewee.SqliteDatabase):
    """The connections, the write thread, and what is told after each commit."""

    def __init__(self) -> None:
        super().__init__(None, pragmas=PRAGMAS)
        self._state = _Connections()
        self._lock = peewee._NoopLock()
        self.writer: ThreadPool | None = None
        self.refused = 0.0  # when another program's lock was last waited for in vain, on the monotonic clock
        self.committed: Callable[[], None] = lambda: None

    def open(self, path: Path, threaded: bool = False) -> None:
        """Use the file at PATH, made 0600 when new. THREADED: writes go to the write thread (the server)."""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        self.init(str(path))
        self.writer = ThreadPool(1) if threaded else None

    def serve_alone(self) -> None:
        """Be the only server of the file until the process ends: two would answer everything twice. Raises Locked."""
        self.served = open(f"{self.database}.lock", "w")
        try:
            fcntl.flock(self.served, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Locked(f"Another Parley serves {self.database} already. End that one first.") from None

    def run(self, work: Callable[[], object], patience: float = PATIENCE) -> object:
        """Do WORK in one immediate transaction and give its result once that is on disk.

        The writes in front of it take what they need. Raises Locked when another program holds the lock for PATIENCE
        seconds, Full when the disk is full.
        """
        asked = time.monotonic()
        try:
            if self.writer is not None:  # (an idle ThreadPool has the length 0)
                result, why = self.writer.apply(self._outcome, (work, asked, patience))
                if why:
                    raise why
                return result
            return self._transact(work, asked, patience)
        finally:
            self.committed()

    def _outcome(self, *said: object) -> tuple[object, Exception | None]:
        """What became of a write, for the greenlet that waits: what is raised in the thread itself goes to the log."""
        try:
            return self._transact(*said), None
        except Exception as why:
            return None, why

    def _transact(self, work: Callable[[], object], asked: float, patience: float) -> object:
        left = patience - (time.monotonic() - asked if self.refused > asked else 0)
        if left <= 0:
            raise Locked("Another program keeps the database, and others waited for it already.")
        connection = self.connection()
        try:
            connection.execute(f"pragma busy_timeout = {int(left * 1000)}")
            connection.execute("begin immediate")
            self._state.writing = True
            result = work()
            connection.execute("commit")
            return result
        except (peewee.OperationalError, sqlite3.OperationalError) as why:
            error = named(why)
            self.refused = time.monotonic() if isinstance(error, Locked) else self.refused
            raise error from why
        finally:
            self._state.writing = False
            if connection.in_transaction:
                connection.rollback()

    def empty_log(self) -> bool:
        """Bring all of the write-ahead log into the file and cut it to nothing; False when a reader was in the way."""

        def cut() -> bool:
            return not self.execute_sql("pragma wal_checkpoint(truncate)").fetchone()[0]

        return self.writer.apply(cut) if self.writer is not None else cut()

    @property
    def writing(self) -> bool:
        """Whether this thread is inside a write transaction."""
        return getattr(self._state, "writing", False)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """All reads within see one state of the database. Nothing within may wait for anything."""
        connection = self.connection()
        if connection.in_transaction:
            yield
            return
        connection.execute("begin")
        try:
            yield
        finally:
            connection.rollback()


def named(why: Exception) -> Exception:
    """An OperationalError as Locked or Full where it is one of these, else itself."""
    words = str(why)
    if "locked" in words or "busy" in words:
        return Locked(f"Another program keeps the database: {words}.")
    if "full" in words or "disk I/O error" in words:  # (SQLite's words for a quota)
        return Full(words)
    return why


database = Database()


def write(verb: Callable) -> Callable:
    """A verb that changes rows: it runs as one transaction in the write thread, or within the one that called it."""

    @functools.wraps(verb)
    def run(*args, **kwargs):
        if database.writing:
            return verb(*args, **kwargs)
        return database.run(functools.partial(verb, *args, **kwargs))

    return run


class Row(peewee.Model):
    """A row of a table."""

    class Meta:
        database = database
        legacy_table_names = False

    @classmethod
    def find(cls, *where: peewee.Expression) -> "Row | None":
        """The first row that fits, or None."""
        return cls.select().where(*where).first()


ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_newest_key = 0


def new_key() -> str:
    """A key of 20 characters that sorts after every key before it, even when the clock goes back.

    13 characters of microseconds since 1970 in Crockford's base 32, then 7 random ones.
    """
    global _newest_key
    _newest_key = max(_newest_key + 1, time.time_ns() // 1000)
    return spelled(_newest_key, 13) + spelled(int.from_bytes(os.urandom(5)) >> 5, 7)


def keys_after(key: str) -> None:
    """Let every new key sort after KEY, the newest of the database (the clock may have gone back meanwhile)."""
    global _newest_key
    _newest_key = max(_newest_key, functools.reduce(lambda n, c: n * 32 + ALPHABET.index(c), key[:13], 0))


def spelled(number: int, length: int) -> str:
    """NUMBER in base 32, LENGTH characters."""
    return "".join(ALPHABET[number >> 5 * i & 31] for i in reversed(range(length)))


def follow(table: type[Row], chat: str) -> list[str]:
    """The triggers that note each change of TABLE's rows as one self-compacting line of the table `change`.

    A row has one line: a write adds a new one that keeps `born` (the number of the row's first) and drops the older.
    CHAT is the SQL of the topic the line is filed under, with `new.` before columns.
    """
    name, gone = table._meta.table_name, chat.replace("new.", "old.")
    born = f"coalesce((select born from change where row = new.id and kind = '{name}'), 0)"
    drop = f"delete from change where row = {{0}}.id and kind = '{name}' and seq < last_insert_rowid();"
    add = f"insert into change(born, kind, row, chat, gone) values ({{0}}, '{name}', {{1}}.id, {{2}}, {{3}});"
    return [
        f'create trigger {name}_born after insert on "{name}" begin {add.format("0", "new", chat, "0")}'
        " update change set born = seq where seq = last_insert_rowid(); end",
        f'create trigger {name}_grew after update on "{name}" begin {add.format(born, "new", chat, "0")}'
        f" {drop.format('new')} end",
        f'create trigger {name}_gone after delete on "{name}" begin {add.format("0", "old", gone, "1")}'
        f" {drop.format('old')} end",
    ]
