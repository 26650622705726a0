"""Items, the lines of a conversation's log, and the branches they stand on.

Items are in the order of (run, id): `run` is the key of the wish whose answer they belong to, a wish's own its id. So a
message that was sent while an answer was being written stands behind all of that answer.
"""

import json
import time
from typing import NamedTuple, Self

import peewee as pw

from database import Row, new_key, write
from tables import search
from tables.agents import Choice
from tables.figures import figures, thought, unread
from tables.files import File
from tables.people import Person

LONG, LONG_LINES = 1_500, 20  # characters and lines of a message; of a longer one a page shows the beginning
OPEN = ("text", "reasoning", "call", "plan", "error")  # the kinds a run writes


class Branch(Row):
    """A way a conversation went: it leaves the branch `parent` after the item at (run, item)."""

    id = pw.CharField(20, primary_key=True, default=new_key)
    chat = pw.CharField(20, index=True)
    parent = pw.CharField(20, default="")
    run = pw.CharField(20, default="")
    item = pw.CharField(20, default="", index=True)
    edits = pw.CharField(20, default="", index=True)  # the message that it begins with other words for

    @classmethod
    def tip(cls, branch: str, after: tuple[str, str]) -> str:
        """The newest branch that goes on from BRANCH behind a place; itself when none does."""
        here = pw.Tuple(cls.run, cls.item) > after
        child = cls.select().where(cls.parent == branch, here).order_by(cls.id.desc()).first()
        return cls.tip(child.id, after) if child else branch


class Item(Row):
    """One line of a conversation's log. The kinds and states are those of DESIGN §3.

    The text of a growing item is its pieces and then `text`, which begins at character `start`; `done` joins them.
    The state of an ended text says why it is not whole: cut, incomplete, stopped, length, filtered; "" it is whole.
    """

    id = pw.CharField(20, primary_key=True, default=new_key)
    chat = pw.CharField(20)
    kind = pw.CharField(10)
    text = pw.TextField(default="")
    name = pw.TextField(default="")
    input = pw.TextField(default="")
    output = pw.TextField(default="")
    file = pw.TextField(default="")
    files = pw.TextField(default="")
    model = pw.TextField(default="")
    state = pw.CharField(12, default="")
    done = pw.BooleanField(default=False)
    run = pw.CharField(20, default="")
    branch = pw.CharField(20, default="")
    person = pw.CharField(20, default="")
    client_id = pw.CharField(64, null=True)
    created = pw.FloatField(default=time.time)
    sources = pw.TextField(default="")
    start = pw.IntegerField(default=0)
    extra = pw.TextField(default="")  # JSON: what the model server wants back with a call
    usage = pw.TextField(default="")  # JSON: tokens and times of an answer

    class Meta:
        indexes = (
            (("branch", "run", "id"), False),
            (("run", "id"), False),
            (("chat", "done"), False),
            (("person", "client_id"), True),
        )

    @classmethod
    def of(cls, keys: list[str]) -> dict[str, Self]:
        """The items of these KEYS that are there, by key."""
        return {item.id: item for item in cls.select().where(cls.id.in_(keys))} if keys else {}

    @classmethod
    def tails(cls, keys: list[str]) -> dict[str, "Tail"]:
        """The ends of growing texts, by key; cheap, for many at once."""
        rows = cls.select(cls.id, cls.start, cls.text, cls.done).where(cls.id.in_(keys)).tuples() if keys else ()
        return {row[0]: Tail(*row) for row in rows}

    @staticmethod
    def whole(items: list["Item"]) -> list["Item"]:
        """ITEMS, the settled pieces of growing ones before their text."""
        growing = {item.id: item for item in items if item.start}
        pieces: dict[str, list[str]] = {}
        for piece in Piece.select().where(Piece.item.in_(list(growing))).order_by(Piece.start) if growing else ():
            pieces.setdefault(piece.item, []).append(piece.text)
        for key, texts in pieces.items():
            growing[key].text, growing[key].start = "".join(texts) + growing[key].text, 0
        return items

    @write
    def seal(self, state: str = "", usage: str = "") -> bool:
        """The item ends with STATE and USAGE; True when it shows something. An empty answer, or a notice, goes."""
        item = Item.whole([Item.get_by_id(self.id)])[0]
        Piece.delete().where(Piece.item == self.id).execute()
        if item.kind == "error" or (item.kind in ("text", "reasoning") and not item.text.strip()):
            item.delete_instance()
            return False
        if item.kind == "call":
            state, item.text = "failed", CUT_CALLS.get(state, CUT_CALLS["cut"])
        if item.kind == "reasoning" and not usage and state != "cut":
            usage = json.dumps({"took": round(time.time() - item.created, 1)})
        item.state, item.usage, item.done = state, usage, True
        item.save()
        search.add(item)
        return True

    @property
    def place(self) -> tuple[str, str]:
        return self.run, self.id

    @property
    def wish(self) -> bool:
        """Whether a run answers it."""
        return self.kind in ("user", "retry")

    @property
    def queued(self) -> bool:
        return self.state == "queued"

    @property
    def waits(self) -> bool:
        """Whether its answer has not begun."""
        return self.state in ("queued", "waiting")

    @property
    def drawn(self) -> bool:
        """Whether a page shows it."""
        return self.kind not in ("retry", "stop")

    @property
    def attached(self) -> list[File]:
        """The files that came with it."""
        return File.named(self.files)

    @property
    def author(self) -> str:
        """The name of the person whose message it is."""
        return Person.select(Person.name).where(Person.id == self.person).scalar() or ""

    @property
    def ending(self) -> str:
        """Why an ended text is not whole, in words; "" when it is."""
        return ENDINGS.get(self.state, "") if self.done else ""

    @property
    def model_name(self) -> str:
        """What the model is called that wrote it."""
        return Choice.select(Choice.name).where(Choice.id == self.model).scalar() or self.model

    @property
    def grows(self) -> bool:
        return not self.done and self.kind in ("text", "reasoning")

    @property
    def used(self) -> dict:
        """Tokens and times of an answer, {} where nothing is known."""
        return json.loads(self.usage or "{}")

    @property
    def figures(self) -> tuple[str, str]:
        """Tokens and times in one line, and all of them."""
        return figures(self.used)

    @property
    def unread(self) -> str:
        """What is to be said of a server that cut off what it was sent."""
        return unread(self.used)

    @property
    def thought(self) -> str:
        """How long the reasoning took, in words."""
        return thought(self.used, over=self.done)

    @property
    def folds(self) -> bool:
        """Whether a page shows only the beginning of it at first."""
        return len(self.text) > LONG or self.text.count("\n") >= LONG_LINES

    def versions(self) -> list[str]:
        """The branches that go on after this item, oldest first; [] when only its own does."""
        forks = Branch.select().where(Branch.item == self.id, Branch.edits == "").order_by(Branch.id)
        return [self.branch, *(branch.id for branch in forks)] if forks else []

    @property
    def origin(self) -> str:
        """The first wording of this message, or of the one that is asked for again; itself when it is that."""
        return self.input or self.id

    def wordings(self) -> list[str]:
        """The branches with the wordings of this message, the first one first; [] when there is only one."""
        forks = [branch.id for branch in Branch.select().where(Branch.edits == self.origin).order_by(Branch.id)]
        return [Item.get_by_id(self.origin).branch, *forks] if forks else []


ENDINGS = {
    "stopped": "You stopped this answer.",
    "cut": "The server restarted while this was written.",
    "incomplete": "This answer was cut off.",
    "length": "The model reached its length limit.",
    "filtered": "The model's provider stopped this answer.",
}


class Tail(NamedTuple):
    """The end of a growing text: `text` begins at character `start`."""

    item: str
    start: int
    text: str
    done: bool

    def after(self, have: int) -> str:
        """The text from character HAVE on."""
        if have >= self.start:
            return self.text[have - self.start :]
        return Item.whole([Item.get_by_id(self.item)])[0].text[have:]


CUT_CALLS = {
    "stopped": "Stopped by the person while this ran; it may have taken effect.",
    "cut": "The server restarted while this ran; it may have taken effect.",
    "failed": "The run ended while this ran; it may have taken effect.",
}


class Piece(Row):
    """A settled part of a growing item's text, from the character `start` on."""

    id = pw.AutoField()
    item = pw.CharField(20)
    start = pw.IntegerField()
    text = pw.TextField()

    class Meta:
        indexes = ((("item", "start"), True),)


def item(kind: str, text: str, chat: str = "") -> Item:
    """A new item of KIND with TEXT in the conversation CHAT; not saved."""
    return Item(kind=kind, text=text, chat=chat)
