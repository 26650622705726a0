"""Conversations: what a person may ask of one. (What the runner tells it is in `answered.py`, lists in `filed.py`.)"""

import time
from collections.abc import Iterable
from typing import Self

import peewee as pw

from database import Row, new_key, write
from tables import search
from tables.answered import Answered
from tables.drafts import Draft
from tables.edited import Edited
from tables.filed import Filed
from tables.files import File
from tables.items import Branch, Item
from tables.path import Path
from tables.people import Membership, Person
from tables.windows import Window
from tables.wishes import Refused, asked, first_words, retried, sent_before, stopped

QUEUE_MAX = 50  # messages that may wait in one conversation
STATUSES = {"idle": "", "waiting": "Waiting for its turn", "working": "Answering"}
STATUSES |= {"stopped": "Stopped", "failed": "Failed"}


class Conversation(Answered, Edited, Filed, Row):
    """A conversation with the agent `agent`.

    `titled` says who named it: "words" (then "kept"), "model" or "person". `branch` is the one on show.
    Its texts run in `direction`: "ltr", "rtl", "" each as its words say.
    Status: idle, waiting (for a free place), working, stopped, failed. `models` are the keys of the models that
    answered, one a line; `asks` (kept by triggers) counts the calls that wait for a decision; `deleted` is when.
    `model` is the one that was chosen here last ("" the agent's).
    """

    id = pw.CharField(20, primary_key=True, default=new_key)
    agent = pw.CharField(20, default="")
    title = pw.TextField(default="")
    titled = pw.CharField(10, default="")
    branch = pw.CharField(20, default="")
    direction = pw.CharField(4, default="")
    model = pw.TextField(default="")
    status = pw.CharField(10, default="idle")
    created = pw.FloatField(default=time.time)
    active = pw.FloatField(default=time.time, index=True)
    models = pw.TextField(default="")
    asks = pw.IntegerField(default=0)
    deleted = pw.FloatField(default=0)

    @classmethod
    @write
    def begin(cls, person: str, agent: str = "", title: str = "") -> Self:
        """A new conversation of PERSON."""
        key = new_key()
        main = Branch.create(chat=key)
        conversation = cls.create(id=key, agent=agent, branch=main.id)
        Membership.create(chat=key, person=person, role="owner")
        if title:
            conversation.entitle(title, "person")
            conversation.refresh()
        return conversation

    @classmethod
    @write
    def begin_with(cls, person: str, agent: str, **message: str) -> Self:
        """A new conversation that begins with PERSON's message; the same message again is in the same one."""
        known = sent_before(person, message.get("client_id", ""), message["text"])
        if known:
            return cls.get_by_id(known.chat)
        conversation = cls.begin(person, agent)
        conversation.choose(message.get("model", ""))
        conversation.ask(person, **message)
        Draft.sent("", person, message["text"], message.get("client_id", ""))
        return conversation

    @property
    def status_words(self) -> str:
        """The status in words, "" when there is nothing to say."""
        return STATUSES[self.status]

    @property
    def label(self) -> str:
        return self.title or "New conversation"

    def members(self) -> list[Person]:
        ids = Membership.select(Membership.person).where(Membership.chat == self.id)
        return list(Person.select().where(Person.id.in_(ids)).order_by(Person.id))

    # What is in it

    def path(self) -> Path:
        """The branches on show, newest first; those of the newest branch when the one on show is gone."""
        path = Path.to(self.branch)
        return path if path.legs else Path.to(self._newest_branch())

    def items(self, limit: int = 0, before: Item | None = None) -> list[Item]:
        """The items on show in order, the LIMIT newest of them, or of those BEFORE one. Growing texts are whole."""
        return Item.whole(self.path().items(limit, before))

    def window(self, limit: int, at: str = "") -> Window:
        """The LIMIT newest items on show, or those around the item AT."""
        return Window.of(self.path(), limit, Item.find(Item.id == at, Item.chat == self.id) if at else None)

    def open_wish(self) -> Item | None:
        """The wish that is being answered or is about to be."""
        return Item.find(Item.chat == self.id, Item.done == 0, Item.state.in_(("waiting", "running")))

    def queue(self) -> list[Item]:
        """The wishes that wait for the one before them."""
        return list(Item.select().where(Item.chat == self.id, Item.done == 0, Item.state == "queued").order_by(Item.id))

    # What a person may wish

    @write
    def ask(self, person: str, text: str, model: str = "", files: str = "", client_id: str = "") -> Item:
        """The message TEXT of PERSON to MODEL ("" the agent's). The same CLIENT_ID again is the same message."""
        known = sent_before(person, client_id, text)
        if known and known.chat != self.id:
            raise Refused("This message was sent before, in another conversation. It was not sent again.")
        if known:
            return known
        if len(self.queue()) >= QUEUE_MAX:
            raise Refused(f"{QUEUE_MAX} messages wait here already. Send more when some of them are answered.")
        if not self.fresh().title:
            self.entitle(first_words(text) or first_words(", ".join(f.name for f in File.named(files))), "words")
        Draft.sent(self.id, person, text, client_id)
        wish = self._wish(asked(text, self.id, model, files), person, client_id)
        File.sent(files, person, wish.id, self.id)
        return wish

    @write
    def again(
        self, person: str, model: str = "", client_id: str = "", onward: bool = False, answer: Item | None = None
    ) -> Item:
        """An ANSWER (None: the last one) again, from MODEL ("" the one it had), or the last ONWARD from where it ended.

        While an "again" is being answered, another one is that one.
        """
        self.refresh()
        last = Item.find(Item.person == person, Item.client_id == client_id) if client_id else None
        wish = last or next((w for w in (self.open_wish(), *self.queue()) if w and w.kind == "retry"), None)
        if wish:
            if wish.queued:
                self._next_wish()
            return wish
        if self.queue():
            raise Refused("Messages wait here for their answers. Let them go out first, then ask for this one again.")
        target = self._asked(answer, onward)
        retry = retried(self.id, model or target.model)
        retry.input, retry.name = target.id, "onward" if onward else ""
        return self._wish(retry, person, client_id)

    @write
    def stop(self, person: str) -> Item:
        """The wish that what goes on here stops: the run, or the making of a title. The queue waits."""
        return self._add(stopped(self.id), person, run=wish.id if (wish := self.open_wish()) else "")

    @write
    def send_now(self) -> None:
        """Let the queue go on after a stop."""
        if self.open_wish() and self.queue():
            raise Refused("An answer is being written. This goes out right after it; stop the answer to send it now.")
        self._next_wish()

    @write
    def choose(self, model: str) -> None:
        """MODEL ("" the agent's) is offered for the next messages here."""
        Conversation.update(model=model).where(Conversation.id == self.id).execute()

    @write
    def rename(self, title: str) -> None:
        """The person's own title; it is never written over."""
        self.entitle(title[:200], "person")

    @write
    def entitle(self, title: str, titled: str) -> None:
        """The title is TITLE, by whom `titled` says; it is found as that from now on."""
        search.entitle(self.id, self.fresh().title, title)
        Conversation.update(title=title, titled=titled).where(Conversation.id == self.id).execute()

    @write
    def turn(self, direction: str) -> None:
        """All texts here run in DIRECTION ("ltr", "rtl"), or each as its words say ("")."""
        Conversation.update(direction=direction).where(Conversation.id == self.id).execute()

    @write
    def show_version(self, after: Item, branch: str) -> None:
        """Show how the conversation went on in BRANCH after an item, with the newest of what followed there."""
        if self.open_wish():
            raise Refused("An answer is being written here. Stop it, or wait for its end, to look at the others.")
        self._show(Branch.tip(branch, after.place))

    @write
    def show_wording(self, message: Item, branch: str) -> None:
        """Show the wording of a message that is in BRANCH, with the newest of what followed it."""
        if self.open_wish():
            raise Refused("An answer is being written here. Stop it, or wait for its end, to look at the others.")
        fork = Branch.get(Branch.edits == message.origin)
        self._show(Branch.tip(branch, (fork.run, fork.item)))

    # Parts

    def _asked(self, answer: Item | None, onward: bool) -> Item:
        """The message that ANSWER (None: the last one) answers."""
        asked = (item for item in self.path().back() if item.kind == "user" and not item.queued)
        wish = answer and Item.find(Item.id == answer.run)
        key = (wish.input if wish.kind == "retry" else wish.id) if wish else ""
        last = next(asked, None)
        target = next((item for item in (last, *asked) if item and (not wish or item.id == key)), None)
        if target is None:
            raise Refused("There is no answer yet to ask for again.")
        if onward and target.id != last.id:
            raise Refused("Only the last answer can go on. Ask for this one again instead.")
        return target

    def _wish(self, item: Item, person: str, client_id: str) -> Item:
        now = self.fresh()
        if now.deleted:
            raise Refused("This conversation was deleted meanwhile. Bring it back first.")
        if not Path.to(now.branch).legs:
            self._show(self._newest_branch())
        item.state = "queued"
        item = self._add(item, person, client_id=client_id)
        self._in_use(person)
        self._next_wish()
        return Item.get_by_id(item.id)

    def _next_wish(self) -> None:
        """The first of the queue waits for a run, when no other wish does."""
        queue = self.queue()
        if queue and not self.open_wish():
            Item.update(state="waiting").where(Item.id == queue[0].id).execute()
            self._now("waiting")

    def _add(self, item: Item, person: str, run: str = "", client_id: str = "") -> Item:
        item.id = new_key()
        item.run = run or item.id
        item.branch = Conversation.select(Conversation.branch).where(Conversation.id == self.id).scalar()
        item.person, item.client_id = person, client_id or None
        item.save(force_insert=True)
        if item.kind == "user":
            search.add(item)
        return item

    def _fork(self, after: Item, moving: Iterable[str] = (), edits: str = "") -> None:
        """Open a branch after an item, other words for EDITS, and show it; the items MOVING come along."""
        branch = Branch.create(chat=self.id, parent=after.branch, run=after.run, item=after.id, edits=edits)
        Item.update(branch=branch.id).where(Item.id.in_(list(moving))).execute()
        self._show(branch.id)

    def _show(self, branch: str) -> None:
        """BRANCH is on show; what waits comes along."""
        Item.update(branch=branch).where(Item.id.in_([item.id for item in self.queue()])).execute()
        Conversation.update(branch=branch).where(Conversation.id == self.id).execute()

    def _newest_branch(self) -> str:
        return Branch.select(pw.fn.max(Branch.id)).where(Branch.chat == self.id).scalar() or ""

    def _now(self, status: str) -> None:
        Conversation.update(status=status, active=time.time()).where(Conversation.id == self.id).execute()

    def fresh(self) -> Self:
        """This row as the database has it now."""
        return Conversation.get_by_id(self.id)

    def refresh(self) -> None:
        self.__data__.update(self.fresh().__data__)
