"""The tables: what each row is, what it answers, what it may do. (The code is in `tables/`, by family.)"""

from collections.abc import Callable

import peewee as pw

from database import Row, database, follow, keys_after
from tables import files, removal, search
from tables.agents import Choice, Context, Memory, Plugin, Skill, groups, plugin, skill
from tables.assistants import Assistant, Unfit, assistant
from tables.chat import Conversation
from tables.drafts import Draft
from tables.filed import LISTED, LISTS
from tables.files import File
from tables.items import Branch, Item, Piece, Tail, item
from tables.kinds import Kind, Unknown
from tables.path import Path
from tables.people import Membership, Person, Session, Token
from tables.preferences import Preference
from tables.search import Entry
from tables.windows import Window
from tables.wishes import Refused, asked, decided, retried, stopped

# fmt: off
__all__ = [
    "Choice", "Context", "Memory", "Plugin", "Skill", "groups", "plugin", "skill",
    "Assistant", "Unfit", "assistant",
    "Conversation", "Refused", "asked", "decided", "retried", "stopped",
    "LISTED", "LISTS", "Branch", "Item", "Path", "Piece", "Tail", "item",
    "Draft", "Membership", "Person", "Preference", "Session", "Token",
    "Entry", "Window",
    "File", "Kind", "Unknown",
    "TABLES", "Change", "TooNew", "files", "migrate", "removal", "search", "shapes",
]
# fmt: on


class Change(Row):
    """A row changed: `seq` numbers the changes, `born` is the number of the row's first one, `chat` its topic."""

    seq = pw.AutoField()
    born = pw.IntegerField()
    kind = pw.TextField()
    row = pw.TextField()
    chat = pw.TextField()
    gone = pw.BooleanField()
    at = pw.IntegerField(default=0)

    class Meta:
        indexes = ((("row", "kind"), False),)


TABLES = [
    *(Person, Token, Session, Membership, Draft, Preference),
    *(Assistant, Choice, Plugin, Skill, Memory, Context),
    *(Conversation, Branch, Item, Piece, Entry, File),
]

CHANGE_TABLE = """create table change (seq integer primary key autoincrement, born integer not null, kind text not null,
 row text not null, chat text not null, gone integer not null, at integer not null default (unixepoch()))"""

LEFT = """create trigger membership_left after delete on membership
 begin delete from change where row = old.person and kind = 'left' and chat = old.chat;
 insert into change(born, kind, row, chat, gone) values (0, 'left', old.person, old.chat, 1); end"""

# The calls of a conversation that wait for a decision are counted in its row, whoever writes them.
ASKS = [
    f"create trigger item_{name} after {event} on item when {now} <> {before} begin"
    f" update conversation set asks = asks + {now} - {before} where id = {row}.chat; end"
    for name, event, row, now, before in (
        ("asked", "insert", "new", "(new.state = 'approval')", "0"),
        ("decided", "update of state", "new", "(new.state = 'approval')", "(old.state = 'approval')"),
        ("unasked", "delete", "old", "0", "(old.state = 'approval')"),
    )
]

TURNED = """create trigger conversation_turned after update of branch on conversation when old.branch <> new.branch
 begin delete from change where row = new.id and kind = 'turn';
 insert into change(born, kind, row, chat, gone) values (0, 'turn', new.id, new.id, 0); end"""

LIVE = [(Item, "new.chat"), (Conversation, "new.id"), (Membership, "new.chat"), (Session, "new.person")]
LIVE += [(Draft, "new.person")]


def shapes() -> list[type[Row]]:
    """The tables of agents and conversations."""
    return [Assistant, Conversation, Item, Choice, Plugin, Skill, Memory, Context]


class TooNew(Exception):
    """The database was written by a newer Parley."""


def new_file() -> None:
    """All tables as they are now."""
    database.create_tables(TABLES)
    database.execute_sql(CHANGE_TABLE)
    database.execute_sql("create index change_row on change(row, kind)")
    database.execute_sql("create index item_open on item(kind, state, id) where done = 0")
    for table, chat in LIVE:
        for trigger in follow(table, chat):
            database.execute_sql(trigger)
    database.execute_sql(TURNED)
    file_them()
    search.create()


def filed() -> None:
    add_columns(Membership, "pinned real not null default 0", "archived real not null default 0")
    add_columns(Conversation, "models text not null default ''", "asks integer not null default 0")
    add_columns(Conversation, "deleted real not null default 0")
    file_them()


def add_columns(table: type[Row], *columns: str) -> None:
    """Give TABLE the COLUMNS: name, type and default in SQL."""
    for column in columns:
        database.execute_sql(f'alter table "{table._meta.table_name}" add column {column}')


def file_them() -> None:
    """What lists of conversations are found and followed by."""
    database.execute_sql("create index conversation_deleted on conversation(deleted) where deleted > 0")
    for trigger in (LEFT, *ASKS):
        database.execute_sql(trigger)


def drafts_followed() -> None:
    """A draft knows the message it would become, and its person's pages follow it."""
    database.execute_sql("alter table draft add column client_id varchar(64) not null default ''")
    for trigger in follow(Draft, "new.person"):
        database.execute_sql(trigger)


def assistants_go() -> None:
    """A deleted assistant can come back."""
    database.execute_sql("alter table assistant add column gone real not null default 0")


def wordings() -> None:
    """A branch may begin with other words for an earlier message."""
    database.execute_sql("alter table branch add column edits varchar(20) not null default ''")
    database.execute_sql("create index branch_edits on branch(edits)")


def preferences_kept() -> None:
    database.create_tables([Preference])


def directions() -> None:
    """A conversation's texts may run in one direction."""
    database.execute_sql("alter table conversation add column direction varchar(4) not null default ''")


FILE_TABLE = """create table file (id varchar(20) not null primary key, chat varchar(20) not null,
 person varchar(20) not null, item varchar(20) not null, name text not null, kind varchar(40) not null,
 charset varchar(20) not null, size integer not null, hash varchar(64) not null, created real not null);
create index file_person_chat_item on file (person, chat, item);
create index file_chat on file (chat)"""


def attachments() -> None:
    """Files of people; what a model can take; the model chosen in a conversation."""
    for statement in FILE_TABLE.split(";"):
        database.execute_sql(statement)
    for column in ("sees integer not null default 0", "room integer not null default 0"):
        database.execute_sql(f"alter table choice add column {column}")
    database.execute_sql("alter table conversation add column model text not null default ''")


# Number N brings a file from version N to N + 1; only ever appended to. (A new file is made as the tables are now.)
MIGRATIONS = [new_file, drafts_followed, assistants_go, wordings, search.create, preferences_kept, directions, filed]
MIGRATIONS += [attachments]


def migrate() -> None:
    """Bring the open database to this version, each step in a transaction. Raises TooNew for one from the future."""
    version = database.pragma("user_version")
    if version > len(MIGRATIONS):
        raise TooNew(f"The database has version {version}, this Parley knows {len(MIGRATIONS)}. Start the newer one.")
    if not version:
        step(new_file, reached=len(MIGRATIONS))
    for number in range(version or len(MIGRATIONS), len(MIGRATIONS)):
        step(MIGRATIONS[number], reached=number + 1)
    keys_after(max((table.select(pw.fn.max(table.id)).scalar() or "0" for table in (Item, Conversation)), default="0"))


def step(change: Callable[[], None], reached: int) -> None:
    """Do CHANGE; the file has the version REACHED then."""

    def both() -> None:
        change()
        database.execute_sql(f"pragma user_version = {reached}")

    database.run(both, patience=600)
