"""A conversation as a person has filed it: where it stands in their lists, pinned, archived, left, deleted.

A list is one of LISTS, and a conversation stands in one of them at most. All have the newest activity first.
"""

import time
from datetime import UTC, date, datetime
from typing import Self

import peewee as pw

from database import write
from tables.agents import Choice
from tables.assistants import Assistant
from tables.drafts import Draft
from tables.people import Membership
from tables.wishes import Refused

LISTS = ("pinned", "conversations", "archived", "deleted")
LISTED = 50  # conversations of a list that a page shows at first, and that each wish for more brings
KEPT = 7 * 86400  # seconds a deleted conversation can be brought back
NAMED = 3  # models named in a row, the newest ones

M = Membership


class Filed:
    """The part of Conversation that the lists speak to."""

    # Lists

    @classmethod
    def of(cls, person: str) -> pw.ModelSelect:
        """The conversations PERSON is in and nobody deleted, newest first."""
        return cls._places(person).where(cls.deleted == 0).order_by(cls.active.desc(), cls.id.desc())

    @classmethod
    def listed(cls, person: str, where: str, limit: int = 0, below: tuple[float, str] | None = None) -> list[Self]:
        """The conversations of PERSON's list WHERE in order, at most LIMIT (0: all) under the place BELOW."""
        rows = cls._places(person).where(*cls._stands(where)).order_by(cls.active.desc(), cls.id.desc())
        rows = rows.where(pw.Tuple(cls.active, cls.id) < below) if below else rows
        return with_names(list(rows.limit(limit) if limit else rows))

    @classmethod
    def filed(cls, person: str, keys: set[str]) -> list[tuple[Self, str]]:
        """Those of KEYS that stand in a list of PERSON, and in which, in the order of their lists."""
        rows = cls._places(person).select_extend(M.role, M.pinned, M.archived).where(cls.id.in_(list(keys)))
        found = [(row, stands(row, row.membership)) for row in rows.order_by(cls.active.desc(), cls.id.desc())]
        with_names([row for row, where in found if where])
        return [(row, where) for row, where in found if where]

    @classmethod
    def seen_by(cls, person: str, id: str) -> tuple[Self, Membership] | None:
        """The conversation ID and PERSON's place in it. To everybody else it does not exist; a deleted one neither."""
        place = M.find(M.chat == id, M.person == person)
        found = place and cls.find(cls.id == id, cls.deleted == 0)
        return (found, place) if found else None

    @classmethod
    def there(cls, key: str) -> bool:
        """Whether there is a conversation KEY that nobody deleted."""
        return cls.find(cls.id == key, cls.deleted == 0) is not None

    @classmethod
    def owned_by(cls, person: str, key: str) -> Self | None:
        """The conversation KEY that PERSON owns, also a deleted one that can be brought back."""
        found = cls._places(person).where(cls.id == key, M.role == "owner").first()
        return found if found and not found.gone else None

    def above(self, person: str, where: str) -> str:
        """The key of the conversation directly above this one in PERSON's list WHERE; "" when it is the first."""
        cls = type(self)
        higher = pw.Tuple(cls.active, cls.id) > self.listing
        rows = cls._places(person).where(*cls._stands(where), higher).order_by(cls.active, cls.id)
        return rows.select(cls.id).limit(1).scalar() or ""

    @property
    def listing(self) -> tuple[float, str]:
        """Its place in a list."""
        return self.active, self.id

    @property
    def spot(self) -> str:
        """The same as a page writes it."""
        return f"{self.active!r},{self.id}"

    @property
    def needs_you(self) -> bool:
        """Whether an agent waits here for a person's decision."""
        return self.asks > 0

    # What a person may do with it

    @write
    def pin(self, person: str, on: bool) -> None:
        """PERSON, and nobody else, has it among the first."""
        self._file(person, pinned=time.time() if on else 0)

    @write
    def archive(self, person: str, on: bool) -> None:
        """PERSON, and nobody else, has it apart, until they write in it again."""
        self._file(person, archived=time.time() if on else 0)

    @write
    def leave(self, person: str) -> None:
        """PERSON is no longer in it, and what they had half written here goes."""
        if M.find(M.chat == self.id, M.person == person).owns:
            raise Refused("You own this conversation, so you cannot leave it. You can delete it.")
        M.delete().where(M.chat == self.id, M.person == person).execute()
        Draft.delete().where(Draft.chat == self.id, Draft.person == person).execute()

    @write
    def discard(self, person: str) -> None:
        """Its owner PERSON deletes it: it is gone from every list, its run stops, and `restore` can bring it back."""
        if self.open_wish():
            self.stop(person)
        self._deleted(time.time())

    @write
    def restore(self) -> None:
        """It is back where it was. What was stopped stays so."""
        if self.fresh().gone:
            raise Refused("This conversation was deleted for ever. It cannot come back.")
        self._deleted(0)

    @write
    def forget(self) -> None:
        """It cannot be brought back any more; removal.py takes its rows away at its next round."""
        if not self.fresh().deleted:
            raise Refused("Delete this conversation first. Then you can delete it for ever.")
        self._deleted(1)

    @property
    def deleted_on(self) -> date:
        """The day it was deleted (UTC)."""
        return datetime.fromtimestamp(self.deleted, UTC).date()

    @property
    def gone(self) -> bool:
        """Whether nobody can bring it back."""
        return 0 < self.deleted < time.time() - KEPT

    # Parts

    @classmethod
    def _places(cls, person: str) -> pw.ModelSelect:
        return cls.select().join(M, on=(M.chat == cls.id), attr="membership").where(M.person == person)

    @classmethod
    def _stands(cls, where: str) -> list[pw.Expression]:
        """What makes a conversation stand in the list WHERE."""
        if where == "deleted":
            return [M.role == "owner", cls.deleted > time.time() - KEPT]
        if where == "archived":
            return [cls.deleted == 0, M.archived > 0]
        return [cls.deleted == 0, M.archived == 0, M.pinned > 0 if where == "pinned" else M.pinned == 0]

    def _file(self, person: str, **columns: float) -> None:
        M.update(**columns).where(M.chat == self.id, M.person == person).execute()

    def _deleted(self, at: float) -> None:
        type(self).update(deleted=at).where(type(self).id == self.id).execute()

    def _in_use(self, person: str) -> None:
        """PERSON writes in it: it is no longer archived for them."""
        M.update(archived=0).where(M.chat == self.id, M.person == person, M.archived > 0).execute()


def stands(conversation: Filed, place: Membership) -> str:
    """The list in which PLACE has CONVERSATION; "" none."""
    if conversation.deleted:
        return "deleted" if place.owns and not conversation.gone else ""
    if place.archived:
        return "archived"
    return "pinned" if place.pinned else "conversations"


def with_names(rows: list[Filed]) -> list[Filed]:
    """ROWS, each with `by`: the names of its agent, where there are several, and of the models that answered."""
    keys = {key for row in rows for key in row.models.splitlines()}
    models = dict(Choice.select(Choice.id, Choice.name).where(Choice.id.in_(list(keys))).tuples()) if keys else {}
    agents = dict(Assistant.select(Assistant.id, Assistant.name).tuples()) if rows else {}
    for row in rows:
        named = [models.get(key) or key for key in row.models.splitlines()[-NAMED:]]
        agent = agents.get(row.agent, "") if len(agents) > 1 else ""
        row.by = " · ".join(filter(None, [agent, ", ".join(named)]))
    return rows
