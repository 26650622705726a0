"""The index of titles and messages: what enters it, what leaves it, and what a person finds.

The table `words` is SQLite's FTS5 without contents: no text is kept twice, and a line leaves it by the same words it
came with. `Entry` says what each line stands for, in the order of time. Hits come newest first: so even a word that is
everywhere costs nothing, where a ranking would read all of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import gevent
import peewee as pw

from database import Full, Locked, Row, database, write
from tables.words import Query, spelled

INDEX = """create virtual table words using fts5(title, text, place, content = '', prefix = '3',
 tokenize = "unicode61 remove_diacritics 2 categories 'L* M* N* Co'")"""
KINDS = ("user", "text")  # the items that are found: what people said and what agents answered
BATCH = 200  # entries in one transaction of a long work
ENOUGH = 200_000  # characters after which it ends, too
LATER = 2.0  # seconds until a long work that met a lock or a full disk goes on
FEW = 100  # conversations up to which the index itself is asked for them
MOST = 1000  # hits within one conversation


class Entry(Row):
    """A line of the index: the title of CHAT (`item` is ""), or one of its messages. PENDING: not yet indexed."""

    id = pw.AutoField()
    chat = pw.CharField(20, index=True)
    item = pw.CharField(20, default="")
    pending = pw.BooleanField(default=False)


def create() -> None:
    """The index; what is in the log already waits for `catch_up`."""
    database.create_tables([Entry])
    database.execute_sql("create unique index entry_item on entry(item) where item <> ''")
    database.execute_sql("create index entry_pending on entry(id) where pending")
    database.execute_sql(INDEX)
    database.execute_sql("insert into entry(chat, item, pending) select id, '', 1 from conversation order by id")
    database.execute_sql(
        "insert into entry(chat, item, pending) select chat, id, 1 from item"
        " where kind = 'user' or (kind = 'text' and done) order by id"
    )


# What enters and what leaves; each within a transaction


def add(item: pw.Model) -> None:
    """A message, or an answer that has ended, can be found from now on."""
    if item.kind in KINDS:
        insert(Entry.create(chat=item.chat, item=item.id).id, "", item.text, item.chat)


def entitle(chat: str, old: str, new: str) -> None:
    """CHAT, which was called OLD, is found as NEW."""
    entry = Entry.find(Entry.chat == chat, Entry.item == "")
    if entry is None:
        entry = Entry.create(chat=chat)
    elif not entry.pending:
        delete(entry.id, old, "", chat)
    if not entry.pending:
        insert(entry.id, new, "", chat)


def insert(entry: int, title: str, text: str, chat: str) -> None:
    row = (entry, spelled(title), spelled(text), chat)
    database.execute_sql("insert into words(rowid, title, text, place) values (?, ?, ?, ?)", row)


def delete(entry: int, title: str, text: str, chat: str) -> None:
    row = (entry, spelled(title), spelled(text), chat)
    database.execute_sql("insert into words(words, rowid, title, text, place) values ('delete', ?, ?, ?, ?)", row)


def forget(item: str) -> None:
    """A message is no longer found; to be called before it changes or goes."""
    for row in database.execute_sql(SAID + "entry.item = ?", (item,)).fetchall():
        drop(*row)


def drop(entry: int, title: str, text: str, chat: str, pending: int) -> None:
    if not pending:
        delete(entry, title, text, chat)
    Entry.delete().where(Entry.id == entry).execute()


SAID = """select entry.id, coalesce(conversation.title, ''), coalesce(item.text, ''), entry.chat, entry.pending
 from entry left join item on item.id = entry.item left join conversation on conversation.id = entry.chat
 and entry.item = '' where """


def remove(chat: str) -> None:
    """Nothing of CHAT is found from now on. To be called while its rows are there; `optimize` clears the file."""
    while remove_some(chat):
        pass


@write
def remove_some(chat: str) -> int:
    rows = database.execute_sql(SAID + "entry.chat = ? limit ?", (chat, BATCH)).fetchall()
    for row in rows:
        drop(*row)
    return len(rows)


def optimize() -> None:
    """Bring the index into one piece, in which no word is left of what was removed."""
    while merge():
        pass


@write
def merge(pages: int = 400) -> bool:
    """A step of it; whether more is to do. (A negative number begins with all pieces, as FTS5's `optimize` does.)"""
    before = database.connection().total_changes
    database.execute_sql("insert into words(words, rank) values ('merge', ?)", (-pages,))
    return database.connection().total_changes - before >= 2


def catch_up() -> None:
    """Index what waits, a batch a transaction, oldest first; others write between two of them."""
    while True:
        try:
            if not index_some():
                return
        except (Locked, Full):
            gevent.sleep(LATER)


@write
def index_some() -> int:
    rows = database.execute_sql(SAID + "entry.pending order by entry.id limit ?", (BATCH,)).fetchall()
    done, length = [], 0
    for entry, title, text, place, _ in rows:
        insert(entry, title, text, place)
        done, length = [*done, entry], length + len(text)
        if length > ENOUGH:
            break
    Entry.update(pending=False).where(Entry.id.in_(done)).execute()
    return len(done)


def waiting() -> int:
    """How many entries are not indexed yet."""
    return database.execute_sql("select count(*) from entry where pending").fetchone()[0]  # (as the index says it)


# What a person finds


@dataclass(frozen=True)
class Wanted:
    """What PERSON looks for. WHO: "me", "agent" or "" anybody; AGENT, its key; times in seconds, 0 for none.

    ARCHIVED: also in what they have put apart. What was deleted is not found, also while it can be brought back.
    """

    person: str
    query: Query
    who: str = ""
    agent: str = ""
    since: float = 0
    until: float = 0
    archived: bool = True

    def messages(self, limit: int, before: int = 0) -> list[tuple[int, str]]:
        """The newest LIMIT messages (entry, item) before the entry BEFORE; those of their conversations only."""
        sql = f"select entry.id, entry.item from {FOUND} join item on item.id = entry.item where words match ?"
        return list(self.rows(sql, "text", "item.created", before, limit))

    def titles(self, limit: int) -> list[tuple[int, str]]:
        """The LIMIT conversations (entry, chat) whose titles have the words."""
        if self.who:
            return []
        sql = f"select entry.id, entry.chat from {FOUND} where words match ?"
        return list(self.rows(sql, "title", "conversation.active", 0, limit))

    def rows(self, sql: str, column: str, time: str, before: int, limit: int) -> Iterator[tuple[int, str]]:
        chats = [row[0] for row in database.execute_sql(MINE + " limit ?", (self.person, FEW + 1)).fetchall()]
        if not chats or not self.query:
            return iter(())
        mine = MINE + ("" if self.archived else " and archived = 0")
        where = [(f" and entry.chat in ({mine})", self.person)]
        where += [(" and words.rowid < ?", before)] if before else []
        where += [(" and conversation.agent = ?", self.agent)] if self.agent else []
        where += [(f" and {time} >= ?", self.since)] if self.since else []
        where += [(f" and {time} < ?", self.until)] if self.until else []
        where += [(" and item.kind = 'user' and item.person = ?", self.person)] if self.who == "me" else []
        where += [(" and item.kind = ?", "text")] if self.who == "agent" else []
        sql += "".join(part for part, _ in where) + " order by words.rowid desc limit ?"
        asked = matching(column, self.query, chats if len(chats) <= FEW else [])
        return iter(database.execute_sql(sql, (asked, *(value for _, value in where), limit)).fetchall())


FOUND = "words join entry on entry.id = words.rowid join conversation on conversation.id = entry.chat"
MINE = """select membership.chat from membership join conversation on conversation.id = membership.chat
 where membership.person = ? and conversation.deleted = 0"""


def within(chat: str, query: Query) -> list[str]:
    """The keys of the messages of CHAT that have the words of QUERY, in the order they were made."""
    if not query:
        return []
    sql = "select entry.item from words join entry on entry.id = words.rowid where words match ?"
    sql += " order by words.rowid limit ?"
    return [row[0] for row in database.execute_sql(sql, (matching("text", query, [chat]), MOST)).fetchall()]


def matching(column: str, query: Query, chats: list[str]) -> str:
    """The expression of FTS5: QUERY in COLUMN, and one of CHATS when they are given."""
    places = " OR ".join(f'"{chat}"' for chat in chats)
    return f"{column} : {query.expression}" + (f" AND place : ({places})" if chats else "")
