"""A conversation as the runner has it: which wishes wait for answers, how a run begins and ends, what a crash left."""

import itertools

from database import database, write
from tables.items import OPEN, Item

DUE = """select 1 from item where done = 0 and kind = 'stop' union all
 select 1 from item where done = 0 and kind in ('user', 'retry') and state = 'waiting' limit 1"""


class Answered:
    """The part of Conversation that the runner speaks to."""

    @classmethod
    def due(cls) -> bool:
        """Whether a wish waits for its run or its stop. It is asked after every commit, so it is written by hand."""
        return database.connection().execute(DUE).fetchone() is not None

    @classmethod
    def stops(cls) -> list[Item]:
        """The wishes to stop that nobody has seen to."""
        return list(Item.select().where(Item.done == 0, Item.kind == "stop"))

    @classmethod
    def waiting(cls) -> list[Item]:
        """The wishes whose turn it is, oldest first."""
        return cls.wishes("waiting")

    @classmethod
    def wishes(cls, state: str) -> list[Item]:
        """The wishes in STATE (queued, waiting, running), oldest first. (The kind leads to the index item_open.)"""
        these = (Item.done == 0, Item.kind.in_(("user", "retry")), Item.state == state)
        return list(Item.select().where(*these).order_by(Item.id))

    @write
    def claim(self, wish: Item) -> bool:
        """The run of WISH begins; False when it is no longer waiting. "Again" and an edit open their branch now."""
        if not Item.update(state="running").where(Item.id == wish.id, Item.state == "waiting").execute():
            return False
        if wish.kind == "retry" and wish.name != "onward":
            self._fork(Item.get_by_id(wish.input), moving=[wish.id])
        elif wish.kind == "user" and wish.input:
            self._open_wording(wish)
        self._now("working")
        return True

    @write
    def add(self, wish: Item, kind: str, **columns: object) -> Item:
        """A new item of the run that answers WISH, on the branch on show when it began."""
        return self._add(Item(kind=kind, chat=self.id, **columns), wish.person, run=wish.id)

    @write
    def finish(self, wish: Item, status: str = "idle", outcome: str = "", error: Item | None = None) -> None:
        """The run of WISH ends: what still grows is sealed with OUTCOME, ERROR is added, the next wish's turn comes.

        Once it has ended, ending it again changes nothing.
        """
        if Item.get_by_id(wish.id).done:
            return
        for item in Item.select().where(Item.run == wish.id, Item.done == 0, Item.kind.in_(OPEN)):
            item.seal(outcome)
        Item.update(done=True, state="").where(
            (Item.id == wish.id) | ((Item.run == wish.id) & (Item.kind == "stop"))
        ).execute()
        if error:
            error.chat = self.id
            self._add(error, wish.person, run=wish.id)
        self._answered_by(wish)
        self._now(status)
        if status != "stopped" or self._replaced(wish):
            self._next_wish()

    def _replaced(self, wish: Item) -> bool:
        """Whether WISH was stopped for another wording of it, which is the next one."""
        return any(later.kind == "user" and later.input == wish.origin for later in self.queue()[:1])

    @write
    def recover(self) -> None:
        """After a crash: what grew is marked as cut, and the wish waits for a new run whose answer is a sibling."""
        self.refresh()
        wish = self.open_wish()
        if wish is None:
            return
        if Item.find(Item.run == wish.id, Item.kind == "stop", Item.done == 0):
            self.finish(wish, "stopped", "stopped")
            return
        before = self._cut(wish)
        if before:
            self._fork(before)
        Item.update(state="waiting").where(Item.id == wish.id).execute()
        self._now("waiting")

    def _answered_by(self, wish: Item) -> None:
        """Note the models that wrote the texts of WISH's run."""
        texts = Item.select(Item.model).where(Item.run == wish.id, Item.kind == "text", Item.model != "")
        before = self.fresh().models
        models = "\n".join(dict.fromkeys([*before.splitlines(), *(text.model for text in texts.order_by(Item.id))]))
        if models != before:
            type(self).update(models=models).where(type(self).id == self.id).execute()

    def _cut(self, wish: Item) -> Item | None:
        """Seal what WISH's run left unfinished; the item before it when anything of it was shown as an answer."""
        before, shown = wish, False
        for item in self._of_run(wish):
            if item.done or item.kind not in OPEN:
                before = before if shown else item
            else:
                shown = item.seal("cut") or shown
        return before if shown else None

    def _of_run(self, wish: Item) -> list[Item]:
        """The items on show of the run that answers WISH, in order; nothing stands behind them but what waits."""
        behind = itertools.takewhile(lambda item: item.run >= wish.id, self.path().back())
        return [item for item in behind if item.run == wish.id][::-1]
